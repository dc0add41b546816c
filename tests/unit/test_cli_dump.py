"""`qcowgui dump` against what the builder wrote, and where a table ends or is missing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from tests.support.base_images import b0, b0_builder, rich, s0_builder
from tests.support.builder import ImageBuilder
from tests.support.damage import set_field, truncate_at
from tests.support.layout import HEADER_FIELDS

Capture = pytest.CaptureFixture[str]
COPIED = 1 << 63


def dump(capsys: Capture, path: Path, *arguments: str) -> dict[str, Any]:
    assert run(["dump", str(path), "--json", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def text(capsys: Capture, path: Path, *arguments: str) -> str:
    assert run(["dump", str(path), *arguments]) == 0
    return capsys.readouterr().out


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return b0().write_to(tmp_path / "image.qcow2")


def test_the_header_field_by_field(image: Path, capsys: Capture) -> None:
    rows = {row["field"]: row for row in dump(capsys, image, "header")["header"]}
    content = image.read_bytes()
    for name, (offset, width) in HEADER_FIELDS.items():
        raw = content[offset : offset + width]
        assert rows[name]["offset"] == offset
        assert bytes.fromhex(rows[name]["raw"]) == raw
        assert rows[name]["value"] == int.from_bytes(raw, "big")
        assert rows[name]["meaning"]
    assert "  l1_table_offset            0x28  00000000 00030000" in text(capsys, image, "header")


@pytest.mark.parametrize("columns", [80, 99, 100, 160])
def test_a_narrow_terminal_leaves_out_the_meanings(
    columns: int, image: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for what the image says; files and pipes get everything."""
    everything = text(capsys, image, "header")
    assert "  where the active L1 table starts\n" in everything
    monkeypatch.setenv("COLUMNS", f"{columns}")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = re.sub(r"\x1b\[[\d;]*m", "", text(capsys, image, "header"))
    lines = shown.splitlines()
    assert all(len(line.rstrip()) <= columns for line in lines)
    assert ("meaning" in shown) is (columns >= 100)
    (line,) = [line for line in lines if "l1_table_offset" in line]
    assert line.split()[:6] == [
        "l1_table_offset", "0x28", "00000000", "00030000", "0x3_0000", "(196,608)"
    ]  # fmt: skip
    rows = dump(capsys, image, "header")["header"]
    assert all(row["meaning"] for row in rows)
    if columns < 100:  # title, headings and a rule; only a long size may need a second line
        assert len(lines) <= len(rows) + 4


def test_without_a_structure_what_lies_at_the_front(image: Path, capsys: Capture) -> None:
    found = dump(capsys, image)
    assert list(found) == ["schema", "filename", "header", "features", "extensions", "more"]
    assert found["filename"] == str(image)


def test_fields_that_version_2_lacks_are_absent(tmp_path: Path, capsys: Capture) -> None:
    """BL-O20."""
    path = b0(version=2).write_to(tmp_path / "image.qcow2")
    rows = {row["field"]: row for row in dump(capsys, path, "header")["header"]}
    assert rows["refcount_order"]["value"] is None
    assert rows["refcount_order"]["raw"] == ""
    assert rows["refcount_order"]["text"] == "absent"
    assert rows["snapshots_offset"]["text"] == "none"


def test_a_cut_field_says_so(tmp_path: Path, capsys: Capture) -> None:
    path = truncate_at(b0(), 30).write_to(tmp_path / "image.qcow2")
    rows = {row["field"]: row for row in dump(capsys, path, "header")["header"]}
    assert rows["cluster_bits"]["value"] == 16
    assert rows["size"]["text"] == "cut off"
    assert rows["l1_size"]["text"] == "absent"


def test_extensions_show_names_as_text(tmp_path: Path, capsys: Capture) -> None:
    path = rich().write_to(tmp_path / "image.qcow2")
    rows = {row["type"]: row for row in dump(capsys, path, "extensions")["extensions"]}
    assert rows[0xE2792ACA]["data"] == "“raw”"
    assert bytes.fromhex(rows[0x12345678]["data"]) == b"unknown, to be kept"
    assert rows[0x12345678]["length"] == 19


def test_l1_and_l2(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.zero(2)
    builder.zero(3, allocated=True)
    builder.write_compressed(5, b"text " * 1000)
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    (l1,) = dump(capsys, path, "l1")["l1"]
    assert (l1["index"], l1["offset"], l1["word"]) == (0, 0x30000, COPIED | 0x40000)
    assert (l1["l2-table-offset"], l1["copied"], l1["reserved"]) == (0x40000, True, 0)
    rows = {row["index"]: row for row in dump(capsys, path, "l2", "0")["l2"]}
    assert {index: row["kind"] for index, row in rows.items()} == {
        0: "normal",
        2: "zero plain",
        3: "zero alloc",
        5: "compressed",
    }
    assert rows[0]["host-offset"] == 0x50000
    assert rows[5]["guest-offset"] == 5 * 65536
    assert rows[5]["offset"] == 0x40000 + 5 * 8
    assert rows[5]["word"] == image.read_integer(0x40000 + 5 * 8, 8)
    assert rows[5]["payload-bytes"] > 0
    assert rows[5]["copied"] is False


def test_bounds_of_a_table(tmp_path: Path, capsys: Capture) -> None:
    """The first 64 that are not empty, unless told otherwise; what is left out is said."""
    builder = b0_builder()
    for index in range(0, 200, 2):
        builder.zero(index)
    path = builder.build().write_to(tmp_path / "image.qcow2")

    def indexes(*arguments: str) -> tuple[list[int], bool]:
        found = dump(capsys, path, "l2", "0", *arguments)
        return [row["index"] for row in found["l2"]], found["more"]

    assert indexes() == (list(range(0, 128, 2)), True)
    assert indexes("--first", "180") == (list(range(180, 200, 2)), False)
    assert indexes("--first", "3", "--count", "4") == ([3, 4, 5, 6], False)
    assert indexes("--all") == (list(range(0, 200, 2)), False)
    assert "there are more: --all" in text(capsys, path, "l2", "0")
    assert "there are more" not in text(capsys, path, "l2", "0", "--all")


def test_bounds_of_a_long_l1_table(tmp_path: Path, capsys: Capture) -> None:
    """Entries beyond the first part that is read at once (64 KiB) are found all the same."""
    builder = ImageBuilder(cluster_bits=9, size=512 << 20, l1_size=20000)
    for table in (0, 8191, 8192, 16000):
        builder.write(table * 64 * 512, b"x" * 512)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    found = dump(capsys, path, "l1")
    assert [row["index"] for row in found["l1"]] == [0, 8191, 8192, 16000]
    assert found["l1"][2]["guest-offset"] == 8192 * 64 * 512
    part = dump(capsys, path, "l1", "--first", "8190", "--count", "4")["l1"]
    assert [(row["index"], bool(row["word"])) for row in part] == [
        (8190, False),
        (8191, True),
        (8192, True),
        (8193, False),
    ]


def test_a_table_beyond_the_end_of_the_file_is_empty(tmp_path: Path, capsys: Capture) -> None:
    path = truncate_at(b0(), 0x30000).write_to(tmp_path / "image.qcow2")
    assert dump(capsys, path, "l1")["l1"] == []
    assert run(["dump", str(path), "l2", "0"]) == ExitCode.CORRUPT
    assert "L1[0] would be at 0x3_0000, beyond the end of the file" in capsys.readouterr().err


@pytest.mark.parametrize("order", range(7))
def test_refcounts_of_every_width(order: int, tmp_path: Path, capsys: Capture) -> None:
    image = b0(refcount_order=order)
    path = image.write_to(tmp_path / "image.qcow2")
    (entry,) = dump(capsys, path, "refcounts")["refcount-table"]
    assert entry["block-offset"] == image.read_integer(entry["offset"], 8)
    block = dump(capsys, path, "refcounts", "0", "--count", "8")["refcount-block"]
    clusters = len(image.file) >> 16
    assert [row["refcount"] for row in block] == [1] * clusters + [0] * (8 - clusters)
    assert [row["host-offset"] for row in block] == [index << 16 for index in range(8)]


def test_the_second_block_counts_from_where_the_first_ends(tmp_path: Path, capsys: Capture) -> None:
    builder = s0_builder()
    builder.write(0, b"x" * 512 * 300)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    rows = dump(capsys, path, "refcounts", "1")["refcount-block"]
    assert rows[0]["cluster"] == 256
    assert rows[0]["host-offset"] == 256 * 512


def test_snapshots(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.snapshot("one", vm_clock_nanoseconds=5)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    rows = {row["field"]: row for row in dump(capsys, path, "snapshots")["snapshot-0"]}
    assert rows["name_size"]["value"] == 3
    assert rows["vm_clock_nsec"]["value"] == 5
    assert rows["disk_size"]["value"] == 64 << 20
    content = path.read_bytes()
    for row in rows.values():
        raw = bytes.fromhex(row["raw"])
        assert content[row["offset"] : row["offset"] + len(raw)] == raw


def test_bitmaps(tmp_path: Path, capsys: Capture) -> None:
    path = rich().write_to(tmp_path / "image.qcow2")
    found = dump(capsys, path, "bitmaps")
    extension = {row["field"]: row["value"] for row in found["bitmaps-extension"]}
    assert extension["nb_bitmaps"] == 2
    second = {row["field"]: row["value"] for row in found["bitmap-1"]}
    assert (second["granularity_bits"], second["flags"], second["name_size"]) == (9, 2, 4)


def test_encryption(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.luks(active_slots=(2,))
    path = builder.build().write_to(tmp_path / "image.qcow2")
    found = dump(capsys, path, "encryption")
    assert [row["active"] for row in found["key-slots"]] == [index == 2 for index in range(8)]
    assert {row["name"]: row["value"] for row in found["luks"]}["cipher-mode"] == "xts-plain64"
    assert found["encryption-pointer"][0]["field"] == "offset"


@pytest.mark.parametrize("structure", ["snapshots", "bitmaps", "encryption"])
def test_what_is_not_there(structure: str, image: Path, capsys: Capture) -> None:
    assert dump(capsys, image, structure)[structure] == []
    assert "\n  no" in text(capsys, image, structure)


def place(found: dict[str, Any]) -> tuple[str, int | None]:
    (row,) = found["place"]
    return row["where"], row["host-offset"]


def test_the_way_of_a_guest_byte(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.zero(2)
    builder.zero(3, allocated=True)
    builder.write_compressed(5, b"text " * 1000)
    path = builder.build().write_to(tmp_path / "image.qcow2")

    found = dump(capsys, path, "entry", "0x1234")
    assert place(found) == ("stored", 0x51234)
    fields = {row["field"]: row for row in found["l1-entry"]}
    assert fields["l2_table_offset"]["text"] == "0x4_0000 (262,144)"
    assert fields["copied"]["value"] == 1
    assert place(dump(capsys, path, "entry", "64k"))[0].startswith("not allocated")
    assert place(dump(capsys, path, "entry", "128k")) == ("reads as zeros", None)
    assert place(dump(capsys, path, "entry", "192k"))[0].startswith("reads as zeros; its host")
    compressed = dump(capsys, path, "entry", "320k")
    assert place(compressed)[0].startswith("inside a compressed cluster")
    sectors = {row["field"]: row for row in compressed["l2-entry"]}
    assert sectors["compressed"]["value"] == 1
    assert sectors["host_offset"]["value"] == place(compressed)[1]


def test_the_way_of_a_byte_in_a_subcluster(tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(extended_l2=True, size=1 << 20)
    builder.subclusters(0, alloc_mask=0b001, zero_mask=0b010, data=b"d" * 65536)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    host = place(dump(capsys, path, "entry", "5"))
    assert host[0] == "stored"
    assert place(dump(capsys, path, "entry", "2k")) == ("reads as zeros", None)
    assert place(dump(capsys, path, "entry", "4k"))[0].startswith("not allocated")
    bitmap = {row["field"]: row["value"] for row in dump(capsys, path, "entry", "5")["subclusters"]}
    assert bitmap == {"allocated": 0b001, "reads_zero": 0b010}
    assert "subclusters" in text(capsys, path, "l2", "0")


def test_the_way_into_a_data_file(tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(data_file="data.raw", size=1 << 20)
    builder.write(0, b"d" * 65536)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert place(dump(capsys, path, "entry", "7")) == ("stored in the data file", 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["l2"], "L1INDEX is missing"),
        (["l2", "x"], "L1INDEX: 'x' is not a size"),
        (["l2", "1"], "the L1 table has 1 entry, counted from 0; there is no 1"),
        (["entry"], "OFFSET is missing"),
        (["entry", "64M"], "beyond the end of the disk"),
        (["refcounts", "9999"], "the refcount table has 8,192 entries; there is no 9,999"),
        (["refcounts", "1"], "entry 1 of the refcount table names no block"),
        (["header", "1"], "dump header takes no further argument"),
        (["l1", "--all", "--count", "1"], "--all and --count contradict each other"),
    ],
)
def test_questions_that_have_no_answer(
    arguments: list[str], message: str, image: Path, capsys: Capture
) -> None:
    assert run(["dump", str(image), *arguments]) == ExitCode.FAILED
    assert message in capsys.readouterr().err


def test_no_geometry_no_tables(tmp_path: Path, capsys: Capture) -> None:
    """BL-O27: the header is shown, and what depends on the cluster size refused."""
    path = set_field(b0(), "cluster_bits", 64).write_to(tmp_path / "image.qcow2")
    assert dump(capsys, path)["header"]
    for structure in (["l1"], ["refcounts"], ["entry", "0"]):
        assert run(["dump", str(path), *structure]) == ExitCode.CORRUPT
        assert "impossible, so no table can be found" in capsys.readouterr().err
