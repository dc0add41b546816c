"""Passes over all L1 and L2 tables that collect fixes: of the entries themselves, and of COPIED."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.l1_rules import judge_l1
from qcowgui.check.l2_places import PlaceCollector
from qcowgui.check.l2_references import find_references, find_run
from qcowgui.check.l2_rules import judge_l2
from qcowgui.check.l2_tables import L2TableReader
from qcowgui.check.overwritten import Flags
from qcowgui.check.refcount_rules import CopiedHit, CopiedRules
from qcowgui.check.roles import L2_BITS, Role, use_bit
from qcowgui.check.rule_context import RuleContext
from qcowgui.check.stored import NarrowRefcounts, StoredRefcounts
from qcowgui.check.told_entries import without_overwritten
from qcowgui.check.walk import L1Table, L2Table, iter_l1_tables
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.tables import Words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.repair.entry_fixes import Fix, Fixes, fixes_for
from qcowgui.repair.table_book import TableBook, TablePlace
from qcowgui.repair.zero_flag_proof import ZeroFlagProof
from qcowgui.units import ceil_div

_Indices = npt.NDArray[np.intp]
_NOTHING: Final[_Indices] = np.zeros(0, dtype=np.intp)


class View(NamedTuple):
    """An image as it is after some of its edits.

    Attributes:
        source: Its bytes.
        report: What an open says of it.
    """

    source: ByteSource
    report: ImageReport


class Editable:
    """Which tables may be edited: those whose clusters hold nothing else.

    What looks like an entry of a contested table may be a byte of the guest's.

    Attributes:
        contested_tables: How many tables were asked for that may not be.
    """

    def __init__(self, ownership: Ownership, cluster_bits: int) -> None:
        """The editable tables of an image whose references were counted.

        Args:
            ownership: Who owns each cluster.
            cluster_bits: Of the image.
        """
        self._uses = ownership.uses
        self._conflicts = ownership.conflicts
        self._cluster_bits = cluster_bits
        self.contested_tables = 0

    def allows_l1(self, l1: L1Table) -> bool:
        """Whether an L1 table may be edited."""
        role = Role.ACTIVE_L1 if l1.owner.snapshot is None else Role.SNAPSHOT_L1
        first = l1.host_offset >> self._cluster_bits
        end = l1.host_offset + len(l1.words) * ENTRY_BYTES
        last = ceil_div(end, 1 << self._cluster_bits)
        alone = bool((self._uses[first:last] == use_bit(role)).all())
        contested = np.searchsorted(self._conflicts, (first, last))
        allowed = first > 0 and alone and bool(contested[0] == contested[1])
        self.contested_tables += not allowed
        return allowed

    def allows_l2(self, host_offset: int) -> bool:
        """Whether the L2 table at an aligned offset may be edited."""
        uses = int(self._uses[host_offset >> self._cluster_bits])
        allowed = bool(uses) and not uses & ~L2_BITS
        self.contested_tables += not allowed
        return allowed


def collect_entry_fixes(
    view: View, book: TableBook, editable: Editable, token: CancelToken
) -> None:
    """Enter into `book` what can be put right in single entries. Spec: 2.2 (R3 to R11)

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    context = RuleContext.of(view.report, file_bytes=view.source.size_bytes)
    if context is None:
        return
    version = view.report.header.version
    zero_flags = ZeroFlagProof(*view)
    walk = _Walk(view, token)
    for l1 in walk.iter_l1():
        hits = judge_l1(l1.words, context)
        fixes = fixes_for(
            without_overwritten(hits, l1.overwritten), len(l1.words), is_l1=True, version=version
        )
        if fixes is not None and editable.allows_l1(l1):
            book.add(_place_of_l1(l1), fixes)
    for table in walk.iter_l2():
        if find_run(table, view.source.size_bytes) is not None:
            continue
        hits = judge_l2(table.decoded(), context, first_guest_offset=table.first_guest_offsets)
        if hits:
            hits = without_overwritten(hits, find_references(table).overwritten)
            hits = zero_flags.proven(hits, table)
        fixes = fixes_for(hits, len(table.words), is_l1=False, version=version)
        if fixes is not None:
            _add_l2(book, editable, table, fixes)


def collect_copied_fixes(
    view: View,
    book: TableBook,
    editable: Editable,
    token: CancelToken,
    *,
    since: View | None = None,
) -> None:
    """Enter into `book` the COPIED flags that contradict the refcounts. Spec: 2.2 (R24, R25)

    Args:
        view: The image with all other edits, those of refcounts included.
        book: Takes the fixes.
        editable: Says which tables may be edited.
        token: Looked at for each table.
        since: The image before. When given, flags that were wrong in it already stay so.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    judges = [_CopiedJudge(part) for part in (view, since) if part is not None]
    walk = _Walk(view, token)
    for l1 in walk.iter_l1():
        wrong = _newly_wrong([judge.l1(l1) for judge in judges])
        if len(wrong) and editable.allows_l1(l1):
            book.add(_place_of_l1(l1), _copied_fixes(l1.words, wrong))
    for table in walk.iter_l2():
        wrong = _newly_wrong([judge.l2(table) for judge in judges])
        if len(wrong):
            _add_l2(book, editable, table, _copied_fixes(table.words, wrong))


class _Walk:
    """Goes through all L1 tables, then through the L2 tables that they name, each once."""

    def __init__(self, view: View, token: CancelToken) -> None:
        self._view = view
        self._token = token
        self._places: PlaceCollector | None = None

    def iter_l1(self) -> Iterator[L1Table]:
        geometry = self._view.report.header.geometry
        if geometry is None:
            return
        self._places = PlaceCollector(geometry)
        for l1 in iter_l1_tables(*self._view):
            self._token.raise_if_cancelled()
            self._places.add(l1)
            yield l1

    def iter_l2(self) -> Iterator[L2Table]:
        """The tables that the L1 tables seen so far name."""
        if self._places is None:
            return
        for table in L2TableReader(*self._view).iter_tables(self._places.places().sound):
            self._token.raise_if_cancelled()
            yield table


class _CopiedJudge:
    """Judges COPIED flags by the refcounts of one view."""

    def __init__(self, view: View) -> None:
        stored = StoredRefcounts(view.source, view.report)
        clusters = stored.geometry.clusters(view.source.size_bytes)
        self._file_bytes = view.source.size_bytes
        # Without a usable table no flag can be said to be wrong.
        self._rules = CopiedRules(NarrowRefcounts(stored, clusters)) if stored.usable else None

    def l1(self, l1: L1Table) -> _Indices:
        if self._rules is None:
            return _NOTHING
        return _indices(self._rules.judge_l1(l1), l1.overwritten)

    def l2(self, table: L2Table) -> _Indices:
        if self._rules is None:
            return _NOTHING
        run = find_run(table, self._file_bytes)
        if run is not None:
            return _indices(self._rules.judge_run(table, run), None)
        found = find_references(table)
        return _indices(self._rules.judge_entries(table, found), found.overwritten)


def _indices(copied: CopiedHit | None, overwritten: Flags | None) -> _Indices:
    if copied is None:
        return _NOTHING
    hits = without_overwritten([copied.hit], overwritten)
    return hits[0].indices if hits else _NOTHING


def _newly_wrong(wrong: list[_Indices]) -> _Indices:
    """The first of one or two sets of indices, without the second."""
    return wrong[0] if len(wrong) == 1 else np.setdiff1d(wrong[0], wrong[1], assume_unique=True)


def _copied_fixes(words: Words, wrong: _Indices) -> Fixes:
    """For each of the `wrong` entries, the other state of its flag."""
    fixes = np.zeros(len(words), dtype=np.uint16)
    is_set = words[wrong] >= np.uint64(geo.COPIED)
    fixes[wrong] = np.where(is_set, np.uint16(Fix.CLEAR_COPIED), np.uint16(Fix.SET_COPIED))
    return fixes


def _place_of_l1(l1: L1Table) -> TablePlace:
    return TablePlace(l1.host_offset, True, l1.owner.snapshot, 0)


def _add_l2(book: TableBook, editable: Editable, table: L2Table, fixes: Fixes) -> None:
    """Enter the fixes of a run of tables, table by table."""
    per_table = table.geometry.l2_entries
    for index in range(table.tables):
        part = fixes[index * per_table : (index + 1) * per_table]
        host_offset = int(table.host_offsets[index])
        if part.any() and editable.allows_l2(host_offset):
            l1_index = int(table.l1_indices[index])
            book.add(TablePlace(host_offset, False, table.owner.snapshot, l1_index), part)
