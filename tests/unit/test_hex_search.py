"""Finding bytes: patterns, both directions, borders, holes, the other end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, UsageError
from qcowgui.gui import hex_search
from qcowgui.gui.hex_search import Match, Pattern, PatternKind, Search, parse_pattern
from qcowgui.image.source import BytesSource, FileSource


def hex_pattern(text: str) -> Pattern:
    return parse_pattern(text, PatternKind.HEX)


def find(data: bytes, text: str, start: int, *, forward: bool = True) -> Match | None:
    return Search(BytesSource(data), hex_pattern(text), start, forward)(CancelToken())


@pytest.mark.parametrize(
    "text", ["514649fb", "51 46 49 FB", "0x51, 0x46,0x49, 0xfb", "51:46:49:fb"]
)
def test_bytes_can_be_written_in_many_ways(text: str) -> None:
    assert hex_pattern(text) == Pattern(b"QFI\xfb", b"\xff" * 4)


def test_question_marks_leave_digits_open() -> None:
    assert hex_pattern("51 ?? f? ?a") == Pattern(b"\x51\0\xf0\x0a", b"\xff\0\xf0\x0f")


def test_text_is_encoded() -> None:
    assert parse_pattern("Kä", PatternKind.UTF8).values == b"K\xc3\xa4"
    assert parse_pattern("Kä", PatternKind.UTF16).values == b"K\0\xe4\0"


@pytest.mark.parametrize("text", ["5", "51 4", "xy", "51 4g"])
def test_what_is_no_bytes_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a row of bytes"):
        hex_pattern(text)


def test_a_pattern_must_say_something() -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        hex_pattern("  ")
    with pytest.raises(UsageError, match="nothing to look for"):
        parse_pattern("", PatternKind.UTF8)
    with pytest.raises(UsageError, match="match everywhere"):
        hex_pattern("?? ??")
    with pytest.raises(UsageError, match="allowed"):
        hex_pattern("00" * 5000)


def test_forward_begins_at_the_start_given() -> None:
    data = b"..ab..ab.."
    assert find(data, "61 62", 0) == Match(2, 4, wrapped=False)
    assert find(data, "61 62", 2) == Match(2, 4, wrapped=False)
    assert find(data, "61 62", 3) == Match(6, 8, wrapped=False)
    assert find(data, "61 62", 7) == Match(2, 4, wrapped=True)
    assert find(data, "61 62", 99) == Match(2, 4, wrapped=True)


def test_backward_begins_at_the_start_given() -> None:
    data = b"..ab..ab.."
    assert find(data, "61 62", 9, forward=False) == Match(6, 8, wrapped=False)
    assert find(data, "61 62", 6, forward=False) == Match(6, 8, wrapped=False)
    assert find(data, "61 62", 5, forward=False) == Match(2, 4, wrapped=False)
    assert find(data, "61 62", 1, forward=False) == Match(6, 8, wrapped=True)
    assert find(data, "61 62", -1, forward=False) == Match(6, 8, wrapped=True)


def test_what_is_not_there_is_not_found() -> None:
    assert find(b"abc", "64", 0) is None
    assert find(b"", "64", 0) is None
    assert find(b"abc", "61626364", 0) is None
    assert find(b"abc", "64", 2, forward=False) is None


def test_line_breaks_and_special_characters_are_bytes_as_any() -> None:
    data = b"a\nb" + b".*[x]" + b"\\"
    assert find(data, "61 ?? 62", 0) == Match(0, 3, wrapped=False)
    assert find(data, "2e 2a ?? 78", 0) == Match(3, 7, wrapped=False)
    assert find(data, "5? 5?", 0) == Match(7, 9, wrapped=False)


PATTERNS = st.lists(
    st.tuples(st.sampled_from([0, 1, 0x10, 0x5D]), st.sampled_from([0xFF, 0xFF, 0xF0, 0x0F, 0])),
    min_size=1,
    max_size=4,
).filter(lambda pairs: any(mask for _, mask in pairs))


class Holey(BytesSource):
    """Bytes whose blocks of zeros are holes."""

    BLOCK = 8

    def iter_data_ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        end = min(end, self.size_bytes)
        for block in range(start - start % self.BLOCK, end, self.BLOCK):
            if any(self.read_at(block, self.BLOCK)):
                yield max(block, start), min(block + self.BLOCK, end)


@given(
    data=st.lists(st.sampled_from([b"\0" * 8, b"\0", b"\1", b"\x10", b"\x5d\x11"]), max_size=40),
    pairs=PATTERNS,
    start=st.integers(-2, 140),
    forward=st.booleans(),
    chunk=st.integers(1, 9),
)
def test_chunks_windows_and_holes_change_nothing(
    data: list[bytes], pairs: list[tuple[int, int]], start: int, forward: bool, chunk: int
) -> None:
    disk = b"".join(data)
    pattern = Pattern(bytes(v & m for v, m in pairs), bytes(m for _, m in pairs))
    hits = [
        place
        for place in range(len(disk) - len(pattern) + 1)
        if all(
            byte & mask == value & mask
            for byte, (value, mask) in zip(disk[place:], pairs, strict=False)
        )
    ]
    ahead = [hit for hit in hits if (hit >= start if forward else hit <= start)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hex_search, "_CHUNK_BYTES", chunk)
        patch.setattr(hex_search, "_WINDOW_BYTES", 3 * chunk)
        patch.setattr(hex_search, "_HOLE_BYTES", 2)
        found = Search(Holey(disk), pattern, start, forward)(CancelToken())
    if not hits:
        assert found is None
        return
    assert found is not None
    assert found.start == ((ahead or hits)[0] if forward else (ahead or hits)[-1])
    assert found.end == found.start + len(pattern)
    assert found.wrapped is (not ahead)


def test_a_match_across_a_chunk_is_found_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    border = 3 << 20
    path.write_bytes(b"x" * (border - 2) + b"abcd" + b"x" * border)
    with FileSource(path) as source:
        pattern = parse_pattern("abcd", PatternKind.UTF8)
        expected = Match(border - 2, border + 2, wrapped=False)
        assert Search(source, pattern, 0)(CancelToken()) == expected
        assert Search(source, pattern, 1 << 40, forward=False)(CancelToken()) == expected


class Counting(FileSource):
    """Counts what is read."""

    bytes_read = 0

    def read_at(self, offset: int, length: int) -> bytes:
        self.bytes_read += length
        return super().read_at(offset, length)


@pytest.mark.parametrize("forward", [True, False])
def test_a_terabyte_of_holes_is_not_read(tmp_path: Path, *, forward: bool) -> None:
    path = tmp_path / "disk"
    size, place = 1 << 40, (1 << 39) + 12_345
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(place)
        file.write(b"needle")
    with Counting(path) as source:
        search = Search(source, parse_pattern("needle", PatternKind.UTF8), size // 2, forward)
        assert search(CancelToken()) == Match(place, place + 6, wrapped=not forward)
        nowhere = Search(source, parse_pattern("needles", PatternKind.UTF8), 7, forward)
        assert nowhere(CancelToken()) is None
        # Of the last bytes none begins a match.
        assert nowhere.passed.value == size - 6
        assert source.bytes_read < 1 << 20


def test_zeros_are_looked_for_in_holes_too() -> None:
    disk = b"\1" * 8 + b"\0" * 16 + b"\1"
    search = Search(Holey(disk), hex_pattern("00 00"), 0)
    assert search(CancelToken()) == Match(8, 10, wrapped=False)


def test_a_cancelled_search_ends() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        Search(BytesSource(b"abc"), hex_pattern("64"), 0)(token)
