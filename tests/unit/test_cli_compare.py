"""`qcowgui compare`: qemu-img's exit codes, and one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.cli.compare import CompareCode
from qcowgui.cli.main import run
from tests.support.base_images import b0, b0_builder, pattern
from tests.support.damage import set_l2_entry

Capture = pytest.CaptureFixture[str]
CLUSTER = 65536
SIZE = 4 * CLUSTER


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return b0(size=SIZE).write_to(tmp_path / "image.qcow2")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes(pattern(CLUSTER).ljust(SIZE, b"\0"))
    return path


@pytest.mark.parametrize("threads", ["1", "2"])
def test_equal(threads: str, image: Path, raw: Path, capsys: Capture) -> None:
    assert run(["compare", "-m", threads, str(image), str(raw)]) == CompareCode.SAME
    captured = capsys.readouterr()
    assert captured.out == "Images are equal.\n"
    assert captured.err == ""


def test_the_first_byte_that_differs(image: Path, raw: Path, capsys: Capture) -> None:
    with raw.open("r+b") as file:
        file.seek(CLUSTER * 2 + 5)
        file.write(b"!")
    assert run(["compare", str(image), str(raw)]) == CompareCode.DIFFERENT
    assert capsys.readouterr().out == "Content differs at guest offset 131077 (0x2_0005).\n"
    assert run(["compare", "-q", str(image), str(raw)]) == CompareCode.DIFFERENT
    assert capsys.readouterr().out == ""


def test_formats_can_be_told(image: Path, raw: Path) -> None:
    assert run(["compare", "-f", "raw", "-F", "raw", str(raw), str(raw)]) == CompareCode.SAME
    assert run(["compare", "-f", "raw", str(image), str(raw)]) == CompareCode.DIFFERENT
    assert run(["compare", "-F", "qcow2", str(image), str(raw)]) == CompareCode.NOT_OPENED


def test_a_tail_of_zeros_is_a_difference_only_when_strict(
    image: Path, tmp_path: Path, capsys: Capture
) -> None:
    longer = b0(size=2 * SIZE).write_to(tmp_path / "longer.qcow2")
    assert run(["compare", str(image), str(longer)]) == CompareCode.SAME
    assert "ends with zeros" in capsys.readouterr().out
    assert run(["compare", "-s", str(image), str(longer)]) == CompareCode.DIFFERENT
    assert "sizes differ" in capsys.readouterr().out


def test_strict_looks_at_allocation(image: Path, tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder(size=SIZE)
    builder.write(CLUSTER, bytes(CLUSTER))
    path = builder.build().write_to(tmp_path / "zeros.qcow2")
    assert run(["compare", str(image), str(path)]) == CompareCode.SAME
    assert run(["compare", "-s", str(image), str(path)]) == CompareCode.DIFFERENT
    assert "0x1_0000" in capsys.readouterr().out


def test_what_cannot_be_opened(image: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["compare", str(image), str(tmp_path / "none")]) == CompareCode.NOT_OPENED
    assert "can't be opened" in capsys.readouterr().err
    top = b0(backing_file="base.raw", backing_format="raw").write_to(tmp_path / "top.qcow2")
    assert run(["compare", str(image), str(top)]) == CompareCode.NOT_OPENED
    assert "--allow-backing" in capsys.readouterr().err


def test_what_cannot_be_read(image: Path, tmp_path: Path, capsys: Capture) -> None:
    path = set_l2_entry(b0(size=SIZE), 2, 0x50200).write_to(tmp_path / "bad.qcow2")
    assert run(["compare", str(image), str(path)]) == CompareCode.NOT_READ
    assert "guest offset 0x2_0000 can't be read" in capsys.readouterr().err


def test_progress_on_request(image: Path, raw: Path, capsys: Capture) -> None:
    assert run(["compare", "-p", str(image), str(raw)]) == CompareCode.SAME
    captured = capsys.readouterr()
    assert "comparing [########################] 100 %" in captured.err
    assert captured.out == "Images are equal.\n"


@pytest.mark.parametrize("error", [MemoryError(), ZeroDivisionError(), OSError(5, "I/O error")])
def test_what_is_no_answer_does_not_read_as_different(
    error: Exception, image: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("qcowgui.convert.compare.compare_images", fail)
    assert run(["compare", str(image), str(image)]) == CompareCode.NOT_READ
    assert capsys.readouterr().err
