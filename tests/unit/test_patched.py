"""What a file would read as with some bytes replaced."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.errors import SourceError
from qcowgui.image.inspect import inspect_source
from qcowgui.image.patched import Deferred, Edit, Patch, PatchedSource, read_content
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import b0
from tests.support.options import KIB, MIB


@st.composite
def patched(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, bytes]], int | None]:
    """A base, patches that don't overlap in any order, and perhaps a length."""
    base = draw(st.binary(max_size=40))
    patches = []
    position = 0
    for gap, data in draw(
        st.lists(st.tuples(st.integers(0, 9), st.binary(max_size=9)), max_size=6)
    ):
        patches.append((position + gap, data))
        position += gap + len(data)
    last = max((offset + len(data) for offset, data in patches if data), default=0)
    size = draw(st.none() | st.integers(last, last + 50))
    return base, draw(st.permutations(patches)), size


def expected(base: bytes, patches: list[tuple[int, bytes]], size: int | None) -> bytes:
    last = max((offset + len(data) for offset, data in patches if data), default=0)
    length = max(len(base), last) if size is None else size
    whole = bytearray(base[:length].ljust(length, b"\0"))
    for offset, data in patches:
        whole[offset : offset + len(data)] = data
    return bytes(whole)


@given(patched(), st.booleans(), st.integers(-3, 90), st.integers(0, 90))
def test_every_read_shows_the_patches(
    case: tuple[bytes, list[tuple[int, bytes]], int | None],
    deferred: bool,
    offset: int,
    length: int,
) -> None:
    base, patches, size = case
    whole = expected(base, patches, size)
    contents: list[Patch] = [(o, Deferred.of_buffer(d) if deferred else d) for o, d in patches]
    source = PatchedSource(BytesSource(base), contents, size_bytes=size)
    assert source.size_bytes == len(whole)
    assert source.read_at(0, len(whole) + 5) == whole
    wanted = whole[offset : offset + length] if offset >= 0 else b""
    assert source.read_at(offset, length) == wanted
    buffer = bytearray(b"\xaa" * length)
    assert source.read_into(offset, memoryview(buffer)) == len(wanted)
    assert buffer == wanted + b"\xaa" * (length - len(wanted))


@given(patched(), st.integers(0, 90), st.integers(0, 90))
def test_data_ranges_leave_out_nothing_but_zeros(
    case: tuple[bytes, list[tuple[int, bytes]], int | None], start: int, end: int
) -> None:
    base, patches, size = case
    whole = expected(base, patches, size)
    source = PatchedSource(BytesSource(base), patches, size_bytes=size)
    position = start
    for a, b in source.iter_data_ranges(start, end):
        assert position <= a < b <= min(end, len(whole))
        assert not any(whole[position:a])
        position = b
    assert not any(whole[position:end])


def test_holes_of_the_file_are_known(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(4 * MIB)
        file.seek(MIB)
        file.write(b"x" * (64 * KIB))
    with FileSource(path) as base:
        source = PatchedSource(base, [(2 * MIB, b"patch"), (5 * MIB, b"y")], size_bytes=6 * MIB)
        data = MIB, MIB + 64 * KIB
        patches = [(2 * MIB, 2 * MIB + 5), (5 * MIB, 5 * MIB + 1)]
        assert list(source.iter_data_ranges(0, 6 * MIB)) == [data, *patches]
        assert list(source.iter_data_ranges(MIB + 10, 2 * MIB + 2)) == [
            (MIB + 10, MIB + 64 * KIB),
            (2 * MIB, 2 * MIB + 2),
        ]
        assert list(source.iter_data_ranges(5 * MIB + 1, 9 * MIB)) == []
        assert source.disk_bytes == base.disk_bytes
        assert source.identity == base.identity
        assert source.name == str(path)
        assert PatchedSource(base, [], name="header rebuilt").name == "header rebuilt"


def test_the_base_is_watched_and_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with FileSource(path) as base:
        source = PatchedSource(base, [(2, b"AB")], size_bytes=12)
        source.require_unchanged()
        source.close()
        assert base.read_at(0, 3) == b"012"
        path.write_bytes(b"01234567")
        with pytest.raises(SourceError, match="was cut"):
            source.require_unchanged()
        # What the file no longer has is missing, and is not taken for zeros.
        assert source.read_at(0, 12) == b"01AB"
        assert source.read_at(4, 8) == b""


def test_what_is_replaced_is_not_read() -> None:
    class Broken(BytesSource):
        def read_at(self, offset: int, length: int) -> bytes:
            if offset < 4 < offset + length:
                raise SourceError("a bad block")
            return super().read_at(offset, length)

    source = PatchedSource(Broken(b"0123456789"), [(3, b"ABC")])
    assert source.read_at(0, 10) == b"012ABC6789"


@pytest.mark.parametrize(
    ("patches", "size"),
    [([(0, b"abc"), (2, b"d")], None), ([(8, b"abc")], 10), ([(-1, b"a")], None)],
)
def test_impossible_patches(patches: list[Patch], size: int | None) -> None:
    with pytest.raises(ValueError, match="patch"):
        PatchedSource(BytesSource(b"0123456789"), patches, size_bytes=size)


def test_a_deferred_run_is_made_in_parts() -> None:
    asked: list[tuple[int, int]] = []

    def make(start: int, length: int) -> bytes:
        asked.append((start, length))
        return bytes((start + i) % 251 for i in range(length))

    source = PatchedSource(BytesSource(b""), [(1 << 40, Deferred(1 << 40, make))])
    assert source.size_bytes == 2 << 40
    assert source.read_at((1 << 40) + 251, 3) == b"\0\1\2"
    assert source.read_at((1 << 40) - 1, 3) == b"\0\0\1"
    assert asked == [(251, 3), (0, 2)]


def test_contents_from_arrays_and_sources() -> None:
    words = np.arange(4, dtype=">u2")
    content = Deferred.of_buffer(words.data)
    assert content.size_bytes == 8
    assert read_content(content, 2, 4) == b"\0\1\0\2"
    assert read_content(content, 6, 9) == b"\0\3"
    assert read_content(content, 8, 1) == b""
    of_source = Deferred.of_source(BytesSource(b"0123456789"), 4, 5)
    assert read_content(of_source, 1, 3) == b"567"
    beyond = Deferred.of_source(BytesSource(b"0123", "disk"), 2, 5)
    with pytest.raises(SourceError, match="disk ends before offset 0x7"):
        read_content(beyond, 0, 5)
    with pytest.raises(ValueError, match="2 bytes were asked for, 3 were made"):
        read_content(Deferred(5, lambda *_: b"abc"), 0, 2)


def test_an_edit_knows_its_place() -> None:
    edit = Edit(10, b"ab", b"abcd", "Because.", "dirty")
    assert (edit.length_bytes, edit.end_offset, edit.patch) == (4, 14, (10, b"abcd"))
    for offset, before, after in [(-1, b"", b"a"), (0, b"", b""), (0, b"ab", b"a")]:
        with pytest.raises(ValueError, match="edit"):
            Edit(offset, before, after, "Because.")


def test_an_image_is_read_through_patches() -> None:
    image = b0()
    offset, _ = image.layout.header_field("incompatible_features")
    dirty = PatchedSource(BytesSource(image.file.to_bytes()), [(offset + 7, b"\1")])
    assert "dirty" in {finding.code for finding in inspect_source(dirty).findings}
    plain = inspect_source(PatchedSource(BytesSource(image.file.to_bytes()), []))
    assert "dirty" not in {finding.code for finding in plain.findings}
