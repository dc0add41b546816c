"""What can be put right in L1 and L2 entries without a guest byte being read differently.

An entry gets a set of fixes, as bits: what it becomes follows from them and from what it is. So a
million broken entries take two bytes each, and their edits are made when they are asked for.
Spec: 1.7 to 1.9, 2.2 (R3 to R11, R24, R25)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.rule_context import Hit
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import Geometry
from qcowgui.format.tables import Words

Fixes = npt.NDArray[np.uint16]
"""Sets of fixes (`Fix`), one element an entry."""


class Fix(IntFlag):
    """What is done to an entry; later ones are done after earlier ones."""

    EMPTY = 1
    """The L1 entry becomes zero: it names no table."""
    CLEAR_RESERVED = 1 << 1
    PLAIN_ZERO = 1 << 2
    """The cluster reads as zeros without having a place; what an extended entry's bitmap says of
    zeros stays."""
    CLEAR_ZERO_FLAG = 1 << 3
    """Bit 0 of an extended entry."""
    SECTORS = 1 << 4
    """The compressed descriptor gets the sector count that its payload has."""
    CLEAR_COPIED = 1 << 5
    SET_COPIED = 1 << 6
    DROP_BITMAP = 1 << 7
    """A compressed entry's subcluster bitmap becomes zero."""
    DROP_ALLOCATED = 1 << 8
    """No subcluster of an entry without a cluster is said to have data."""
    KEEP_DATA = 1 << 9
    """A subcluster that has data and reads as zeros has data."""
    CLEAR_V2_ZERO_FLAG = 1 << 10
    """Bit 0 of an entry of version 2 whose cluster holds zeros."""


class Reason(NamedTuple):
    """Why an entry is edited.

    Attributes:
        code: The finding that the fix answers.
        text: What happens to the entry, a clause.
    """

    code: str
    text: str


_L1_FIXES: Final = {
    "l1-reserved-bits": Fix.CLEAR_RESERVED,
    "l1-flags-only": Fix.EMPTY,
}
_L2_FIXES: Final = {
    "l2-reserved-bits": Fix.CLEAR_RESERVED,
    "zero-cluster-unaligned": Fix.PLAIN_ZERO,
    "extended-zero-flag": Fix.CLEAR_ZERO_FLAG,
    "zero-flag-v2": Fix.CLEAR_V2_ZERO_FLAG,
    "copied-without-cluster": Fix.CLEAR_COPIED,
    "compressed-copied": Fix.CLEAR_COPIED,
    "compressed-subclusters": Fix.DROP_BITMAP,
    "subclusters-without-cluster": Fix.DROP_ALLOCATED,
    "subcluster-conflict": Fix.KEEP_DATA,
}

FIXABLE_CODES: Final = frozenset(_L1_FIXES | _L2_FIXES)
"""The findings on entries that `fixes_for` knows a fix for."""

_REASONS: Final = (
    (Fix.EMPTY, Reason("l1-flags-only", "names no table, so its flags are cleared")),
    (Fix.PLAIN_ZERO, Reason("zero-cluster-unaligned", "reads as zeros without an unaligned place")),
    (Fix.SECTORS, Reason("payload-sectors-short", "gets the sector count that its payload has")),
    (Fix.KEEP_DATA, Reason("subcluster-conflict", "keeps the data of subclusters marked zero too")),
    (
        Fix.DROP_ALLOCATED,
        Reason("subclusters-without-cluster", "has no cluster, so no subcluster has data"),
    ),
    (Fix.DROP_BITMAP, Reason("compressed-subclusters", "is compressed and has no subclusters")),
    (Fix.CLEAR_ZERO_FLAG, Reason("extended-zero-flag", "leaves zeros to its subcluster bitmap")),
    (
        Fix.CLEAR_V2_ZERO_FLAG,
        Reason("zero-flag-v2", "has the zero flag cleared: without it zeros are read, too"),
    ),
    (Fix.CLEAR_RESERVED, Reason("l2-reserved-bits", "has reserved bits cleared")),
    (Fix.SET_COPIED, Reason("l2-copied", "says COPIED: the refcount is 1")),
    (Fix.CLEAR_COPIED, Reason("l2-copied", "no longer says COPIED")),
)
"""The weightiest first: an edit has one code."""

_BITMAP_FIXES: Final = Fix.DROP_BITMAP | Fix.DROP_ALLOCATED | Fix.KEEP_DATA
_LOW_32: Final = np.uint64(0xFFFF_FFFF)
_COPIED: Final = np.uint64(geo.COPIED)


@dataclass(frozen=True, slots=True)
class TableFixes:
    """The fixes of one L1 or L2 table.

    Attributes:
        host_offset: Where the table lies.
        is_l1: Whether it is an L1 table.
        snapshot: Index of the snapshot whose table it is, or None for the active disk's.
        l1_index: Of an L2 table, the first L1 entry that names it; else 0.
        fixes: One element an entry that is inside the file.
        sector_words: Entry → its descriptor with the right sector count, where SECTORS is set.
    """

    host_offset: int
    is_l1: bool
    snapshot: int | None
    l1_index: int
    fixes: Fixes
    sector_words: dict[int, int]

    @property
    def changed(self) -> npt.NDArray[np.intp]:
        """The indices of the entries that have a fix."""
        return np.flatnonzero(self.fixes)

    def add(self, indices: npt.NDArray[np.intp], fix: Fix) -> None:
        """Give a fix to some entries."""
        self.fixes[indices] |= np.uint16(fix)


def fixes_for(hits: Iterable[Hit], entries: int, *, is_l1: bool, version: int) -> Fixes | None:
    """The fixes for what rules found in a table, or None when nothing can be fixed.

    Args:
        hits: What `judge_l1` or `judge_l2` found; of zero flags in version 2, only those that
            `ZeroFlagProof` allows to clear.
        entries: How many entries they judged.
        is_l1: Which of the two it was.
        version: Of the image: version 2 has no cluster that reads as zeros.
    """
    known = _L1_FIXES if is_l1 else _L2_FIXES
    fixes: Fixes | None = None
    for code, indices in hits:
        fix = known.get(code)
        if fix is None or (fix is Fix.PLAIN_ZERO and version < 3):
            continue
        if fixes is None:
            fixes = np.zeros(entries, dtype=np.uint16)
        fixes[indices] |= np.uint16(fix)
    return fixes


def fixed_words(words: Words, table: TableFixes, first: int, geometry: Geometry) -> Words:
    """What some entries become.

    Args:
        words: Their words as they are, from entry `first` on.
        table: The fixes of the whole table.
        first: Index of the first of them.
        geometry: The image's.
    """
    fixes = table.fixes[first : first + len(words)]
    fixed = words.copy()

    def has(fix: Fix) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = (fixes & np.uint16(fix)) != 0
        return flags

    reserved = geo.L1_RESERVED_MASK if table.is_l1 else geo.L2_RESERVED_MASK
    fixed[has(Fix.EMPTY)] = 0
    fixed[has(Fix.CLEAR_RESERVED)] &= ~np.uint64(reserved)
    fixed[has(Fix.PLAIN_ZERO)] = 0 if geometry.extended_l2 else geo.READS_ZERO
    fixed[has(Fix.CLEAR_ZERO_FLAG | Fix.CLEAR_V2_ZERO_FLAG)] &= ~np.uint64(geo.READS_ZERO)
    for index, word in table.sector_words.items():
        if first <= index < first + len(words):
            fixed[index - first] = word
    fixed[has(Fix.CLEAR_COPIED)] &= ~_COPIED
    fixed[has(Fix.SET_COPIED)] |= _COPIED
    return fixed


def fixed_bitmaps(bitmaps: Words, table: TableFixes, first: int) -> Words:
    """What the subcluster bitmaps of some entries become; arguments as of `fixed_words`."""
    fixes = table.fixes[first : first + len(bitmaps)]
    fixed = bitmaps.copy()
    if not (fixes & np.uint16(_BITMAP_FIXES)).any():
        return fixed
    fixed[(fixes & np.uint16(Fix.DROP_BITMAP)) != 0] = 0
    fixed[(fixes & np.uint16(Fix.DROP_ALLOCATED)) != 0] &= ~_LOW_32
    kept = (fixes & np.uint16(Fix.KEEP_DATA)) != 0
    fixed[kept] &= ~((fixed[kept] & _LOW_32) << np.uint64(32))
    return fixed


def reasons_for(fixes: int, table: TableFixes, word: int, fixed_word: int) -> list[Reason]:
    """Why an entry is edited, the weightiest reason first.

    Args:
        fixes: Its fixes.
        table: Its table.
        word: The entry as it is.
        fixed_word: What it becomes.
    """
    return [
        Reason(_code_for(fix, reason.code, table, (word, fixed_word)), reason.text)
        for fix, reason in _REASONS
        if fixes & fix
    ]


def _code_for(fix: Fix, code: str, table: TableFixes, words: tuple[int, int]) -> str:
    word, fixed_word = words
    # The sector count lies above the offset, so that the larger word has the larger count.
    if fix is Fix.SECTORS and fixed_word & ~geo.COPIED < word & ~geo.COPIED:
        return "payload-sectors-long"
    if fix is Fix.CLEAR_RESERVED and table.is_l1:
        return "l1-reserved-bits"
    if fix not in (Fix.SET_COPIED, Fix.CLEAR_COPIED):
        return code
    if table.is_l1:
        return "l1-copied" if table.snapshot is None else "snapshot-copied"
    if fix is Fix.CLEAR_COPIED and word & geo.COMPRESSED:
        return "compressed-copied"
    if fix is Fix.CLEAR_COPIED and not word & geo.OFFSET_MASK:
        return "copied-without-cluster"
    return code if table.snapshot is None else "snapshot-copied"
