"""Reports: the objects for programs, the page for people, the files they go into."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.cli.main import run
from qcowgui.engine.work import CancelToken
from qcowgui.errors import OutputError
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from qcowgui.image.summary import summarise_mapping
from qcowgui.report.content import LegendEntry, MapPicture, ReportContent, content_object
from qcowgui.report.inspected import Qcow2File
from qcowgui.report.page import MAX_EXAMPLES, report_page
from qcowgui.report.png import indexed_png
from qcowgui.report.write import report_json, write_report
from tests.support.base_images import b0, b0_builder, rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES

MADE_AT = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)
WITHOUT_MAGIC = {"header_magic", "header_version_1", "first_cluster_wiped"}
VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """A page taken apart; it must be well formed and refer to nothing outside itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def content_of(
    path: Path,
    *,
    checked: bool = True,
    check_note: str = "",
    usage: str = "",
    maps: tuple[MapPicture, ...] = (),
) -> ReportContent:
    with FileSource(path) as source:
        report = inspect_source(source)
        summary = None if report.mapping_refusals else summarise_mapping(source, report)
        check = check_image(source, report, token=CancelToken()) if checked else None
    return ReportContent(Qcow2File(report, summary), MADE_AT, check, check_note, usage, maps)


def check_of(content: ReportContent) -> CheckReport:
    assert content.check is not None
    return content.check


@pytest.fixture
def picture() -> MapPicture:
    png = indexed_png(np.zeros((2, 3), dtype=np.uint8), ["#102030"])
    entry = LegendEntry("#102030", "contested <", "Two owners.", 1, 4096, fault=True)
    return MapPicture("the file’s clusters", png, 3, 2, (entry,))


@pytest.mark.parametrize("damage", ["", "table_data_on_refcount_block", "header_refcount_order_7"])
def test_the_json_is_what_the_command_line_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    image = DAMAGES[damage].apply(rich()) if damage else rich()
    path = image.write_to(tmp_path / "rich.qcow2")
    found = json.loads(report_json(content_of(path)))
    run(["info", "--json", str(path)])
    assert found["info"] == json.loads(capsys.readouterr().out)
    run(["check", "--json", str(path)])
    assert found["check"] == json.loads(capsys.readouterr().out)
    assert found["filename"] == str(path)
    assert found["made-at"] == "2026-11-30T17:00:00+00:00"


def test_without_a_check_the_json_says_why(tmp_path: Path) -> None:
    path = b0().write_to(tmp_path / "b0.qcow2")
    content = content_of(path, checked=False, check_note="the check was cancelled")
    found = content_object(content)
    assert found["check"] is None
    assert found["check-note"] == "the check was cancelled"
    assert found["usage"] is None


@pytest.mark.parametrize("name", [name for name in DAMAGES if name not in WITHOUT_MAGIC])
def test_every_damage_makes_a_well_formed_page(tmp_path: Path, name: str) -> None:
    content = content_of(DAMAGES[name].apply(rich()).write_to(tmp_path / "damaged.qcow2"))
    page = Page(report_page(content))
    for group in check_of(content).groups:
        assert group.code in page.text
    assert page.links == []


def test_a_page_tells_what_the_check_tells(tmp_path: Path, picture: MapPicture) -> None:
    builder = ImageBuilder(cluster_bits=12, size=1 << 20)
    builder.write(0, b"x" * 4096)
    builder.leak(3)
    path = builder.build().write_to(tmp_path / "leaks.qcow2")
    content = content_of(path, maps=(picture,), usage="The file is locked.")
    page = Page(report_page(content))
    assert "Metadata consistent but for 3 leaks" in page.text
    assert "The file is locked." in page.text
    assert "consistent metadata does not mean intact data" in page.text
    assert "refcount_table_offset" in page.text
    assert "contested <" in page.text
    assert page.links[0].startswith("data:image/png;base64,")
    assert len(page.links) == 1
    assert "script" not in page.tags


def test_names_from_the_image_are_never_markup(tmp_path: Path) -> None:
    builder = b0_builder(backing_file="<script>alert(1)</script>", backing_format="raw")
    builder.snapshot("<img src=x onerror=1>\x1b[31m")
    path = builder.build().write_to(tmp_path / "a&<b>.qcow2")
    text = report_page(content_of(path))
    page = Page(text)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "b" not in page.tags
    assert "\x1b" not in text
    assert "<script>alert(1)</script>" in page.text
    assert "a&<b>.qcow2" in page.text


def test_a_file_name_that_is_no_unicode_can_be_reported(tmp_path: Path) -> None:
    path = b0().write_to(tmp_path / "bad\udcff.qcow2")
    content = content_of(path)
    assert "bad\\xff.qcow2" in Page(report_page(content)).text
    write_report(content, page=tmp_path / "r.html", data=tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text("ascii"))["filename"].endswith(
        "bad\udcff.qcow2"
    )


def test_many_findings_of_a_kind_are_told_by_some(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=1 << 20)
    builder.write(0, b"x" * 4096)
    for _ in range(MAX_EXAMPLES + 4):
        builder.leak(1)
        builder.gap(1)
    content = content_of(builder.build().write_to(tmp_path / "many.qcow2"))
    group = next(group for group in check_of(content).groups if group.count > MAX_EXAMPLES)
    page = Page(report_page(content))
    assert f"… and {group.count - MAX_EXAMPLES:,} more." in page.text
    assert f"(×{group.count:,})" in page.text


# -------------------------------------------------------------------- files


def test_both_files_or_none(tmp_path: Path) -> None:
    content = content_of(b0().write_to(tmp_path / "b0.qcow2"))
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    data.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write_report(content, page=page, data=data)
    assert not page.exists()
    assert data.read_text() == "mine"
    assert {found.name for found in tmp_path.iterdir()} == {"b0.qcow2", "r.json"}
    write_report(content, page=page, data=data, overwrite=True)
    assert page.read_text("utf-8") == report_page(content)
    assert data.read_text("ascii") == report_json(content)
    assert {found.name for found in tmp_path.iterdir()} == {"b0.qcow2", "r.html", "r.json"}


def test_the_image_itself_is_never_replaced(tmp_path: Path) -> None:
    path = b0().write_to(tmp_path / "b0.qcow2")
    before = path.read_bytes()
    link = tmp_path / "report.html"
    link.symlink_to(path)
    status = path.stat()
    sources = frozenset({(status.st_dev, status.st_ino)})
    with pytest.raises(OutputError, match="source itself"):
        write_report(content_of(path), page=link, overwrite=True, sources=sources)
    assert path.read_bytes() == before


# -------------------------------------------------------------------- pictures


def test_a_picture_is_a_png_of_these_pixels() -> None:
    pixels = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.uint8)
    png = indexed_png(pixels, ["#000000", "#ff8000", "#0000ff"])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert bytes.fromhex("000000 ff8000 0000ff") in png
    start = png.index(b"IDAT") + 4
    rows = zlib.decompress(png[start:])
    assert rows == b"\0\x00\x01\x02" + b"\0\x02\x01\x00"


@pytest.mark.parametrize(
    ("shape", "colours"), [((0, 3), ["#000000"]), ((1, 1), []), ((1, 1), ["#000000"] * 257)]
)
def test_what_is_no_picture_is_refused(shape: tuple[int, int], colours: list[str]) -> None:
    with pytest.raises(ValueError, match="pixel"):
        indexed_png(np.zeros(shape, dtype=np.uint8), colours)
