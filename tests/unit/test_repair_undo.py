"""Undo files are whole or refused, used once, and only on the image they are for."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.errors import OutputError, SourceError
from qcowgui.format.finding import Repair
from qcowgui.image.patched import Edit
from qcowgui.image.source import FileSource
from qcowgui.repair.apply import apply_in_place
from qcowgui.repair.edits import Fingerprint, RepairPlan, take_fingerprint
from qcowgui.repair.undo import undo_repair
from qcowgui.repair.undo_file import (
    MAX_RECORD_BYTES,
    Record,
    UndoFile,
    UndoState,
    propose_undo_path,
    write_undo_file,
)
from tests.support import damage

OLD = b"0123456789" * 60
NEW = b"AB" + OLD[2:590] + b"xyz" + OLD[593:] + b"\0\0end"
"""In the header, elsewhere, and behind the end after a gap."""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def undo_path(tmp_path: Path) -> Path:
    return tmp_path / "disk.img.undo"


@pytest.fixture
def repaired(image: Path, undo_path: Path) -> Path:
    edits = [
        Edit(0, b"01", b"AB", "One."),
        Edit(590, b"012", b"xyz", "Two."),
        Edit(602, b"", b"end", "Three."),
    ]
    with FileSource(image) as source:
        plan = RepairPlan(str(image), take_fingerprint(source), edits, len(NEW), Repair.ALL)
    apply_in_place(plan, image, undo_path, token=CancelToken())
    assert image.read_bytes() == NEW
    return image


@pytest.fixture
def broken_off(image: Path, undo_path: Path) -> Path:
    """An image whose repair came to nothing; the undo file is complete."""
    records = [
        Record(0, b"01", b"AB"),
        Record(590, b"012", b"xyz"),
        Record(602, b"", b"end"),
    ]
    write_undo_file(undo_path, image, Fingerprint((1, 2), len(OLD), 3), len(NEW), records)
    return image


def test_what_is_written_is_read(undo_path: Path) -> None:
    records = [
        Record(0, b"a", b"b"),
        Record(7, bytes(MAX_RECORD_BYTES), b"\1" * MAX_RECORD_BYTES),
        Record(MAX_RECORD_BYTES + 7, b"cd", b"efg"),
        Record((1 << 40) - 1, b"", b"h"),
    ]
    fingerprint = Fingerprint((5, 6), MAX_RECORD_BYTES + 9, -7)
    image = Path("/somewhere/d\udce9sk.qcow2")
    write_undo_file(undo_path, image, fingerprint, 1 << 40, records)
    with UndoFile(undo_path) as undo:
        assert undo.image_path == image
        assert undo.fingerprint == fingerprint
        assert undo.new_file_bytes == 1 << 40
        assert undo.record_count == 4
        assert undo.state is UndoState.WRITTEN
        assert list(undo.iter_records()) == records
        assert list(undo.iter_records(7, MAX_RECORD_BYTES + 7)) == records[1:2]
        assert list(undo.iter_records(MAX_RECORD_BYTES + 8)) == records[3:]
        assert [record.end_offset for record in records[2:]] == [MAX_RECORD_BYTES + 10, 1 << 40]


def test_states_are_kept(undo_path: Path) -> None:
    write_undo_file(undo_path, Path("/disk"), Fingerprint((1, 2), 3, 4), 5, [])
    whole = undo_path.stat().st_size
    for number, state in enumerate((UndoState.APPLIED, UndoState.UNDOING, UndoState.UNDONE)):
        with UndoFile(undo_path) as undo:
            undo.note_state(state, Fingerprint((1, 2), 10 + number, 20 + number))
            undo.note_state(state, Fingerprint((1, 2), 0, 0))
            assert undo.state is state
        with UndoFile(undo_path) as undo:
            assert undo.state is state
            assert undo.left_as == Fingerprint(None, 10 + number, 20 + number)
            assert list(undo.iter_records()) == []
    # The space was there from the beginning: a full disk can't prevent it.
    assert undo_path.stat().st_size == whole


@pytest.mark.usefixtures("repaired")
def test_half_a_state_does_not_count(undo_path: Path) -> None:
    whole = undo_path.read_bytes()
    start = whole.index(b"REPAIRED")
    for place in range(start, start + 28):
        undo_path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with UndoFile(undo_path) as undo:
            assert undo.state is UndoState.WRITTEN
    undo_path.write_bytes(whole[: start + 27])
    with UndoFile(undo_path) as undo:
        assert undo.state is UndoState.WRITTEN
    undo_repair(undo_path)
    with UndoFile(undo_path) as undo:
        assert undo.state is UndoState.UNDONE


def test_every_damaged_byte_is_seen(repaired: Path, undo_path: Path) -> None:
    whole = undo_path.read_bytes()
    end = whole.index(b"REPAIRED")
    for place in range(end):
        undo_path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        with pytest.raises(SourceError) as caught:
            undo_repair(undo_path, repaired)
        assert caught.value.path == str(undo_path)
    assert repaired.read_bytes() == NEW


def test_every_cut_is_seen(repaired: Path, undo_path: Path) -> None:
    whole = undo_path.read_bytes()
    for length in range(whole.index(b"REPAIRED")):
        undo_path.write_bytes(whole[:length])
        with pytest.raises(SourceError, match=r"is no undo file|ends too early"):
            undo_repair(undo_path, repaired)
    assert repaired.read_bytes() == NEW


@pytest.mark.parametrize(
    ("record", "size"),
    [
        (Record(0, b"", b""), 100),
        (Record(5, b"ab", b"abc"), 100),
        (Record(98, b"abc", b"abc"), 100),
        (Record(199, b"", b"abc"), 100),
        (Record(0, bytes(MAX_RECORD_BYTES + 1), bytes(MAX_RECORD_BYTES + 1)), MAX_RECORD_BYTES * 2),
    ],
)
def test_impossible_records(record: Record, size: int, undo_path: Path) -> None:
    new_size = size + 100
    write_undo_file(undo_path, Path("/disk"), Fingerprint((1, 2), size, 3), new_size, [record])
    with pytest.raises(SourceError, match="impossible record"):
        UndoFile(undo_path)


def test_records_out_of_order(undo_path: Path) -> None:
    records = [Record(5, b"ab", b"cd"), Record(6, b"a", b"b")]
    write_undo_file(undo_path, Path("/disk"), Fingerprint((1, 2), 9, 3), 9, records)
    with pytest.raises(SourceError, match="impossible record for offset 0x6"):
        UndoFile(undo_path)


def test_other_files_are_none(image: Path, tmp_path: Path) -> None:
    for content in (b"", b"QCOWUNDO", OLD):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(SourceError, match="is no undo file"):
            undo_repair(tmp_path / "other", image)
    with pytest.raises(SourceError, match="No such file"):
        undo_repair(tmp_path / "none", image)
    with pytest.raises(SourceError, match="is a folder"):
        undo_repair(tmp_path, image)


@pytest.mark.usefixtures("repaired")
def test_a_version_of_the_future(undo_path: Path) -> None:
    damage.poke_file(undo_path, 8, (2).to_bytes(4, "big"))
    with pytest.raises(SourceError, match="has the unknown version 2"):
        undo_repair(undo_path)


def test_an_undo_cannot_be_undone(repaired: Path, undo_path: Path) -> None:
    undo_repair(undo_path)
    assert repaired.read_bytes() == OLD
    with pytest.raises(OutputError, match="was used already") as caught:
        undo_repair(undo_path)
    assert "an undo can't be undone" in caught.value.hint
    assert repaired.read_bytes() == OLD


def test_an_image_that_was_moved(repaired: Path, undo_path: Path, tmp_path: Path) -> None:
    moved = repaired.rename(tmp_path / "moved.img")
    with pytest.raises(OutputError, match="No such file"):
        undo_repair(undo_path)
    assert undo_repair(undo_path, moved).image_path == moved
    assert moved.read_bytes() == OLD


def test_an_image_that_was_copied(repaired: Path, undo_path: Path, tmp_path: Path) -> None:
    with_times = Path(shutil.copy2(repaired, tmp_path / "a"))
    os.utime(with_times, ns=(0, repaired.stat().st_mtime_ns))
    second = Path(shutil.copy(undo_path, tmp_path / "second.undo"))
    undo_repair(second, with_times)
    assert with_times.read_bytes() == OLD
    without = Path(shutil.copyfile(repaired, tmp_path / "b"))
    os.utime(without, ns=(0, 0))
    with pytest.raises(OutputError, match="was changed after the repair, or is a copy"):
        undo_repair(undo_path, without)
    assert without.read_bytes() == NEW
    undo_repair(undo_path, without, even_if_changed=True)
    assert without.read_bytes() == OLD


@pytest.mark.parametrize("even_if_changed", [False, True])
@pytest.mark.parametrize("place", [1, 591, 600, 604])
def test_an_image_that_was_changed_there(
    place: int, even_if_changed: bool, repaired: Path, undo_path: Path
) -> None:
    damage.poke_file(repaired, place, b"?")
    os.utime(repaired, ns=(0, 0))
    changed = repaired.read_bytes()
    with pytest.raises(OutputError) as caught:
        undo_repair(undo_path, even_if_changed=even_if_changed)
    assert ("at offset 0x" in str(caught.value)) == even_if_changed
    assert repaired.read_bytes() == changed


def test_an_image_that_was_changed_elsewhere(repaired: Path, undo_path: Path) -> None:
    damage.poke_file(repaired, 300, b"?")
    os.utime(repaired, ns=(0, 0))
    with pytest.raises(OutputError, match="to put back old metadata under newer data"):
        undo_repair(undo_path)
    undo_repair(undo_path, even_if_changed=True)
    assert repaired.read_bytes() == OLD[:300] + b"?" + OLD[301:]


@pytest.mark.parametrize("size", [0, len(OLD) - 1, len(OLD), len(NEW) - 1, len(NEW) + 1])
def test_a_repaired_image_of_another_size(size: int, repaired: Path, undo_path: Path) -> None:
    os.truncate(repaired, size)
    with pytest.raises(OutputError, match=f"has {size:,} bytes, and the repair left {len(NEW)}"):
        undo_repair(undo_path, even_if_changed=True)
    assert repaired.stat().st_size == size


def test_nothing_was_changed_yet(broken_off: Path, undo_path: Path) -> None:
    before = broken_off.stat().st_mtime_ns
    assert undo_repair(undo_path).restored_bytes == 0
    assert broken_off.read_bytes() == OLD
    assert broken_off.stat().st_mtime_ns == before
    with pytest.raises(OutputError, match="was used already"):
        undo_repair(undo_path)


@pytest.mark.parametrize("size", [len(OLD), len(OLD) + 1, len(OLD) + 3, len(NEW)])
def test_any_mixture_is_put_back(size: int, broken_off: Path, undo_path: Path) -> None:
    mixed = bytearray(NEW[:size])
    mixed[1:2] = OLD[1:2]
    mixed[590:592] = OLD[590:592]
    if size == len(NEW):
        mixed[602] = 0
    broken_off.write_bytes(mixed)
    assert undo_repair(undo_path).restored_bytes == 2 + size - len(OLD)
    assert broken_off.read_bytes() == OLD


@pytest.mark.parametrize("place", [0, 592, 601, 603])
def test_a_mixture_with_something_else(place: int, broken_off: Path, undo_path: Path) -> None:
    broken_off.write_bytes(NEW)
    damage.poke_file(broken_off, place, b"?")
    mixed = broken_off.read_bytes()
    with pytest.raises(OutputError, match=f"at offset {place:#x}|at offset 0x258") as caught:
        undo_repair(undo_path)
    assert caught.value.hint == "nothing was put back"
    assert broken_off.read_bytes() == mixed


@pytest.mark.parametrize("size", [len(OLD) - 1, len(NEW) + 1])
def test_a_broken_off_image_of_another_size(size: int, broken_off: Path, undo_path: Path) -> None:
    os.truncate(broken_off, size)
    with pytest.raises(OutputError, match="it is another image, or was changed since"):
        undo_repair(undo_path)
    assert broken_off.stat().st_size == size


def test_an_undo_file_that_cannot_be_written(
    repaired: Path, undo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a note of it, an undo must not begin: it could not be repeated."""
    real = Path.open

    def refuse(self: Path, mode: str = "r") -> object:
        if self == undo_path and "+" in mode:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(self, mode)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(OutputError, match="Read-only file system"):
        undo_repair(undo_path)
    assert repaired.read_bytes() == NEW


def test_names_for_undo_files(tmp_path: Path) -> None:
    image = tmp_path / "disk.qcow2"
    assert propose_undo_path(image) == tmp_path / "disk.qcow2.undo"
    (tmp_path / "disk.qcow2.undo").symlink_to("nowhere")
    (tmp_path / "disk.qcow2.undo.2").touch()
    assert propose_undo_path(image) == tmp_path / "disk.qcow2.undo.3"
