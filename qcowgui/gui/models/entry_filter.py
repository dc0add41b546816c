"""Which entries of a table are shown, and in which order: by numpy, over millions at once.

Knows no widgets; meant for a thread beside the window where a table is large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.roles import (
    ROLE_NAMES,
    SNAPSHOT_PAYLOAD_BIT,
    Role,
    role_of_uses,
    use_bit,
)
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.finding import CODES
from qcowgui.gui.models.entry_arrays import EntryArrays
from qcowgui.gui.models.entry_rows import EntryColumn, EntryRows, kind_words, raw_digits
from qcowgui.gui.structures import StructureKey

RowNumbers = npt.NDArray[np.int32]
"""Entries of the file, in the order in which they are shown."""
_Flags = npt.NDArray[np.bool_]

_MIN_WORD: Final = 2
_HEX: Final = re.compile(r"(0x)?([0-9a-f_]+)")
_DECIMAL: Final = re.compile(r"[0-9][0-9,]*")
_MAX_DIGITS: Final = 16
_CHUNK_ROWS: Final = 1 << 14
"""Looked through at a time: as many as a core's cache holds."""
_RESERVED: Final = {
    StructureKey.L1: geo.L1_RESERVED_MASK,
    StructureKey.L2: geo.L2_RESERVED_MASK,
    StructureKey.REFCOUNT_TABLE: geo.REFCOUNT_RESERVED_MASK,
    StructureKey.BITMAP_TABLE: geo.BITMAP_RESERVED_MASK,
}


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """What an entry must be like to be shown.

    Attributes:
        kind: A value of `EntryArrays.kinds`; None for any.
        text: Words, all of which must be in an entry: of its kind, its flags, what its cluster is
            used for or what is wrong with it; its number; or hexadecimal digits of its raw words
            or its offsets. With 0x these are the first digits of an offset.
        only_allocated: Whether it must name a cluster, or count one in use.
        only_findings: Whether something must be wrong with it.
    """

    kind: int | None = None
    text: str = ""
    only_allocated: bool = False
    only_findings: bool = False

    @property
    def terms(self) -> list[str]:
        """The words of `text`, as they are compared."""
        return self.text.casefold().split()

    @property
    def shows_all(self) -> bool:
        """Whether nothing is left out."""
        return self == EntryFilter(text=self.text) and not self.terms


@dataclass(frozen=True, slots=True)
class EntryOrder:
    """What a table is sorted by.

    Attributes:
        column: None for the order of the file.
        descending: Largest first; equal ones keep the order of the file in any case.
    """

    column: EntryColumn | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderWork:
    """Filters and sorts a table.

    Attributes:
        rows: The table.
        wanted: What is left of it.
        order: In which order.
    """

    rows: EntryRows
    wanted: EntryFilter
    order: EntryOrder

    def __call__(self, token: CancelToken) -> RowNumbers | None:
        """The entries to show; None for all of them in the order of the file.

        Raises:
            Cancelled: When the token asks for it.
        """
        chosen = None if self.wanted.shows_all else self._chosen(token)
        column = self.order.column
        values = None if column is None else self.rows.sort_values(column)
        token.raise_if_cancelled()
        if values is None:
            if not self.order.descending or column is None:
                return chosen
            everything = np.arange(len(self.rows.arrays), dtype=np.int32)
            return (everything if chosen is None else chosen)[::-1]
        if chosen is not None:
            values = values[chosen]
        places = _sorted_places(values, descending=self.order.descending)
        return places.astype(np.int32) if chosen is None else chosen[places]

    def _chosen(self, token: CancelToken) -> RowNumbers:
        arrays, wanted = self.rows.arrays, self.wanted
        flags: _Flags = np.ones(len(arrays), dtype=np.bool_)
        if wanted.kind is not None:
            flags &= arrays.kinds == wanted.kind
        if wanted.only_allocated:
            flags &= arrays.allocated
        if wanted.only_findings:
            flags &= arrays.flagged
        for term in wanted.terms:
            token.raise_if_cancelled()
            flags &= _matches(self.rows, term, token)
        return np.flatnonzero(flags).astype(np.int32)


def _sorted_places(values: npt.NDArray[Any], *, descending: bool) -> npt.NDArray[np.intp]:
    if not descending:
        return np.argsort(values, kind="stable")
    # Backwards twice, so that equal ones keep their order.
    last = len(values) - 1
    places: npt.NDArray[np.intp] = last - np.argsort(values[::-1], kind="stable")[::-1]
    return places


def _matches(rows: EntryRows, term: str, token: CancelToken) -> _Flags:
    """Which entries have `term` in one of their cells, or in what is wrong with them."""
    arrays = rows.arrays
    flags: _Flags = np.zeros(len(arrays), dtype=np.bool_)
    if len(term) >= _MIN_WORD:
        _match_words(rows.key, arrays, term, flags)
    if _DECIMAL.fullmatch(term):
        number = int(term.replace(",", ""))
        for first in {0, arrays.first_cluster}:
            if 0 <= number - first < len(arrays):
                flags[number - first] = True
    found = _HEX.fullmatch(term)
    if found is not None:
        digits = found[2].replace("_", "")
        if digits and len(digits) <= _MAX_DIGITS:
            _match_digits(arrays, digits, leading=bool(found[1]), flags=flags, token=token)
    return flags


def _match_words(key: StructureKey, arrays: EntryArrays, term: str, flags: _Flags) -> None:
    words = kind_words(key)
    kinds = np.array([term in word.casefold() for word in words], dtype=np.bool_)
    if kinds.any():
        flags |= kinds[arrays.kinds]
    uses = arrays.refcounts.uses
    if uses is not None:
        flags |= _uses_named(term)[uses] & arrays.refcounts.about
    if term in "copied" and key in (StructureKey.L1, StructureKey.L2):
        flags |= arrays.words >= np.uint64(geo.COPIED)
    if term in "reserved" and key in _RESERVED:
        reserved = (arrays.words & np.uint64(_RESERVED[key])) != 0
        if arrays.payload_bytes is not None:
            reserved &= arrays.payload_bytes == 0  # these bits are the descriptor's there
        flags |= reserved
    for hit in arrays.hits:
        if term in hit.code or term in CODES[hit.code].casefold():
            flags[hit.indices] = True


def _uses_named(term: str) -> _Flags:
    """Of each set of uses, whether one of its names has `term` in it."""
    named = [role for role, name in ROLE_NAMES.items() if term in name.casefold()]
    sets = np.arange(len(role_of_uses()), dtype=np.uint32)
    bits = 0
    for role in named:
        bits |= use_bit(role)
    if Role.SNAPSHOT_DATA in named:
        bits |= SNAPSHOT_PAYLOAD_BIT
    flags: _Flags = (sets & np.uint32(bits)) != 0
    flags[0] = Role.FREE in named
    return flags


def _match_digits(
    arrays: EntryArrays, digits: str, *, leading: bool, flags: _Flags, token: CancelToken
) -> None:
    """Set the flags of entries that have hexadecimal `digits` in a raw word or an offset."""
    for first in range(0, len(arrays), _CHUNK_ROWS):
        token.raise_if_cancelled()
        last = min(first + _CHUNK_ROWS, len(arrays))
        part = flags[first:last]
        for offsets in _iter_offsets(arrays, first, last):
            part |= _starts_with(offsets, digits) if leading else _has_digits(offsets, digits)
        for raw in () if leading else (arrays.words, arrays.bitmaps):
            if raw is not None:
                words = raw[first:last].astype(np.uint64)
                part |= _has_digits(words, digits, width=raw_digits(arrays))


def _iter_offsets(arrays: EntryArrays, first: int, last: int) -> Iterator[npt.NDArray[np.uint64]]:
    """The offsets that the rows [first, last) show: in the file, pointed to, of the guest."""
    rows = np.arange(first, last, dtype=np.uint64)
    place = arrays.place
    yield np.uint64(place.host_offset) + rows * np.uint64(place.entry_bits) // np.uint64(8)
    if arrays.hosts is not None:
        yield arrays.hosts[first:last]
    else:
        yield (rows + np.uint64(arrays.first_cluster)) << np.uint64(arrays.geometry.cluster_bits)
    if arrays.guest_bytes:
        yield np.uint64(arrays.first_guest_offset) + rows * np.uint64(arrays.guest_bytes)


def _has_digits(values: npt.NDArray[np.uint64], digits: str, width: int = 0) -> _Flags:
    """Which values have `digits` somewhere in their hexadecimal text.

    The text has `width` digits; with 0 it has no leading zeros, and that of 0 is empty.
    """
    pattern, mask = np.uint64(int(digits, 16)), np.uint64((1 << 4 * len(digits)) - 1)
    flags: _Flags = np.zeros(len(values), dtype=np.bool_)
    for start in range((width or _MAX_DIGITS) - len(digits) + 1):
        shifted = values >> np.uint64(4 * start)
        found = (shifted & mask) == pattern
        if not width and digits[0] == "0":
            found &= shifted > mask  # a zero is text only behind another digit
        flags |= found
    return flags


def _starts_with(values: npt.NDArray[np.uint64], digits: str) -> _Flags:
    """Which values begin with `digits` in hexadecimal; leading zeros don't count."""
    pattern = np.uint64(int(digits, 16))
    flags: _Flags = np.zeros(len(values), dtype=np.bool_)
    if not pattern:
        flags |= values == 0
        return flags
    for start in range(_MAX_DIGITS - len(digits.lstrip("0")) + 1):
        flags |= (values >> np.uint64(4 * start)) == pattern
    return flags
