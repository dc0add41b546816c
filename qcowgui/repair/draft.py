"""The edits that a repair comes to, before they are proven. Nothing is written.

Each step sees the image as the steps before leave it: entries first, then the snapshot table, then
the refcounts that these ask for, last the COPIED flags that follow from the refcounts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

import numpy as np

from qcowgui.check.checker import CheckReport
from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.ownership import build
from qcowgui.check.reference_counts import Clusters
from qcowgui.check.roles import Role, use_bit
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.format.finding import CODES, REPAIRS, Finding, Repair
from qcowgui.format.geometry import Geometry
from qcowgui.format.header import Header
from qcowgui.image.inspect import inspect_source
from qcowgui.image.patched import Edit, PatchedSource
from qcowgui.image.source import ByteSource
from qcowgui.repair.bitmap_fixes import iter_bitmap_edits, reason_to_drop
from qcowgui.repair.entry_fixes import FIXABLE_CODES, Fix
from qcowgui.repair.entry_pass import (
    Editable,
    View,
    collect_copied_fixes,
    collect_entry_fixes,
)
from qcowgui.repair.feature_fixes import iter_feature_edits
from qcowgui.repair.free_space import DanglingReferences, FreeSpace, NoSpaceError
from qcowgui.repair.refcount_rebuild import (
    RefcountEdits,
    RefcountError,
    lower_counts,
    rebuild,
)
from qcowgui.repair.refcount_targets import (
    SoundStructures,
    Targets,
    find_sound,
    keep_high_counts,
    named_structure_clusters,
    targets_of,
)
from qcowgui.repair.sector_fixes import collect_sector_fixes
from qcowgui.repair.snapshot_fixes import needs_snapshot_fixes, plan_snapshot_edits
from qcowgui.repair.table_book import GuestRange, TableBook
from qcowgui.units import format_count

_CONTESTED_HEADER: Final = "the header's cluster is said to hold something else, too"
_WORTH_A_LOOK: Final = frozenset(
    code for code in CODES if REPAIRS.get(code) in (Repair.LEAKS, Repair.ALL)
) | frozenset(code for code in CODES if code.startswith(("bitmap", "snapshot", "metadata")))
"""Without a finding of these no edit would come out; walking the tables again would take time."""


def header_is_editable(ownership: Ownership) -> bool:
    """Whether nothing says that the first cluster holds anything but the header.

    Refcount table and blocks don't count: a table or block that is said to be there is made anew.
    """
    moved = use_bit(Role.REFCOUNT_TABLE) | use_bit(Role.REFCOUNT_BLOCK)
    return not int(ownership.uses[0]) & ~moved


@dataclass(frozen=True, slots=True)
class Draft:
    """Edits, and what they do to the guest's tables.

    Attributes:
        edits: By ascending offset.
        new_file_bytes: The file's length afterwards.
        changes: How many entries, refcounts or fields change, by finding code.
        guest_ranges: What the edited table entries map.
        payload_ranges: The compressed clusters whose descriptor gets another sector count.
        notes: Sentences on what the edits mean for the user.
        refused: Sentences on what could have been repaired and was not.
        kept_leaks: How many clusters stay counted as used though nothing refers to them.
    """

    edits: tuple[Edit, ...]
    new_file_bytes: int
    changes: dict[str, int]
    guest_ranges: Sequence[GuestRange] = ()
    payload_ranges: Sequence[GuestRange] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    kept_leaks: int = 0


class Drafting:
    """Collects the edits for one image. For one thread."""

    def __init__(
        self,
        source: ByteSource,
        before: CheckReport,
        geometry: Geometry,
        token: CancelToken,
        tick: Callable[[], None] | None,
        *,
        keep_leaks: bool,
        free_unowned: bool,
        mark_kept: bool = False,
    ) -> None:
        """Start with no edit.

        Args:
            source: The image.
            before: What a check of it found.
            geometry: Its geometry.
            token: Looked at in every pass.
            tick: Called now and then.
            keep_leaks: Whether no refcount falls, because references are known to be lost.
            free_unowned: Whether they fall even then, and where tables were overwritten.
            mark_kept: Whether leaks that are kept are marked for the next repair, because the edits
                take away what told this one to keep them. See `refcount_targets`.
        """
        self._source = source
        self._before = before
        self._geometry = geometry
        self._token = token
        self._tick = tick
        self._keep_leaks = keep_leaks and not free_unowned
        self._free_unowned = free_unowned
        self._mark_kept = mark_kept
        self._book = TableBook(source, geometry)
        self._editable = Editable(before.ownership, geometry.cluster_bits)
        self._header_is_editable = header_is_editable(before.ownership)
        self._edits: list[Edit] = []
        self._new_file_bytes = source.size_bytes
        self._changes: dict[str, int] = {}
        self._notes: list[str] = []
        self._refused: list[str] = []
        self._kept_leaks = 0

    def draft_leaks(self) -> Draft:
        """The edits that lower refcounts which are too high.

        Of COPIED flags those are edited that were right before, and would be wrong then.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        start = View(self._source, self._before.image)
        stored = StoredRefcounts(*start)
        header = start.report.header
        if stored.usable:
            targets, sound = self._targets(self._references(start), stored, header)
            self._take(lower_counts(self._source, stored, sound, targets, header))
            if self._edits:
                self._collect_copied(self._view(), since=start)
        return self._draft()

    def draft_all(self, findings: Sequence[Finding]) -> Draft:
        """The edits that put right whatever can be.

        Args:
            findings: Those of a deep check on payloads, if there was one.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        if not any(group.code in _WORTH_A_LOOK for group in self._before.groups):
            return self._draft()
        start = View(self._source, self._before.image)
        if self._header_is_editable:
            self._fix_features(start)
        if any(group.code in FIXABLE_CODES for group in self._before.groups):
            collect_entry_fixes(start, self._book, self._editable, self._token)
        collect_sector_fixes(start, findings, self._book, self._editable)
        self._note_entry_fixes()
        view = self._view()
        dangling = DanglingReferences(
            self._geometry, self._source.size_bytes, start.report.virtual_bytes
        )
        ownership = self._references(view, dangling)
        space = FreeSpace(
            self._source, ownership, self._geometry.cluster_bits, dangling.first_offset
        )
        stored = StoredRefcounts(*view)
        space.exclude(named_structure_clusters(stored, start.report.header))
        wanted = self._header_is_editable and needs_snapshot_fixes(start.report)
        if wanted and self._fix_snapshots(space):
            view = self._view()
            ownership = self._references(view)
        self._fix_refcounts(view, ownership, space)
        self._collect_copied(self._view())
        return self._draft()

    def _add(self, edit: Edit) -> None:
        self._edits.append(edit)
        self._changes[edit.code] = self._changes.get(edit.code, 0) + 1

    def _take(self, found: RefcountEdits) -> None:
        self._edits += found.edits
        for code, count in found.changed.items():
            self._changes[code] = self._changes.get(code, 0) + count

    def _view(self) -> View:
        """The image with all edits so far."""
        if not self._edits and not len(self._book):
            return View(self._source, self._before.image)
        edits = (*self._edits, *self._book.iter_edits())
        source = PatchedSource(
            self._source, (edit.patch for edit in edits), size_bytes=self._new_file_bytes
        )
        return View(source, inspect_source(source))

    def _references(self, view: View, dangling: DanglingReferences | None = None) -> Ownership:
        """The references to each cluster but for those of refcount table and blocks."""
        header = replace(view.report.header, refcount_table_offset=0, refcount_table_clusters=0)
        ownership = build(
            view.source,
            replace(view.report, header=header),
            token=self._token,
            on_l1=dangling.on_l1 if dangling else None,
            on_l2=dangling.on_l2 if dangling else None,
            tick=self._tick,
        )
        if dangling is not None:
            dangling.look_at_regions(ownership)
        return ownership

    def _fix_features(self, start: View) -> None:
        drop_bitmaps = reason_to_drop(self._before)
        for edit in iter_feature_edits(*start, drop_bitmaps=drop_bitmaps):
            self._add(edit)
        if not drop_bitmaps:
            for edit in iter_bitmap_edits(self._source, self._before):
                self._add(edit)
            return
        self._notes.append(
            "All bitmaps are taken out: what they say can't be relied on, or keeps QEMU from "
            "opening the image. The next backup must be a full one."
        )

    def _fix_snapshots(self, space: FreeSpace) -> bool:
        """Add the edits of the snapshot table; whether there are some."""
        try:
            found = plan_snapshot_edits(self._source, self._before.image, space)
        except NoSpaceError as error:
            self._refused.append(f"The snapshot table is not written anew: {error}.")
            return False
        for edit in found.edits:
            self._add(edit)
        self._new_file_bytes = space.new_file_bytes
        if found.dropped:
            entries = format_count(found.dropped, "snapshot entry", "snapshot entries")
            self._notes.append(
                f"{entries} that can't be read dropped from the snapshot table; what only they "
                "referred to stays counted as used, unless --free-unowned is given."
            )
        return bool(found.edits)

    def _fix_refcounts(self, view: View, ownership: Ownership, space: FreeSpace) -> None:
        if not ownership.complete:
            self._refused.append(
                "The refcounts are not rebuilt: the tables claim more than the file can hold, so "
                "not all references can be counted."
            )
            return
        header = view.report.header
        stored = StoredRefcounts(view.source, view.report)
        targets, sound = self._targets(ownership, stored, header)
        try:
            found = rebuild(self._source, stored, sound, targets, space, header)
        except (NoSpaceError, RefcountError) as error:
            self._refused.append(f"The refcounts are not rebuilt: {error}.")
            return
        if found.new_table and not self._header_is_editable:
            self._refused.append(f"The refcounts are not rebuilt: {_CONTESTED_HEADER}.")
            return
        self._take(found)
        self._new_file_bytes = space.new_file_bytes
        if found.new_table or found.new_blocks:
            blocks = format_count(found.new_blocks, "refcount block") if found.new_blocks else ""
            table = "the refcount table" if found.new_table else ""
            made = f"{blocks} and {table}" if blocks and table else blocks or table
            self._notes.append(f"Made anew: {made}.")

    def _targets(
        self, ownership: Ownership, stored: StoredRefcounts, header: Header
    ) -> tuple[Targets, SoundStructures]:
        """The refcounts to be, and what of their structures is to be believed."""
        targets = targets_of(ownership)
        sound = find_sound(stored, ownership, header, self._source.size_bytes)
        # A table that was overwritten has lost what it mapped.
        if self._keep_leaks or (len(ownership.conflicts) and not self._free_unowned):
            keep_high_counts(
                targets,
                self._source,
                stored,
                sound,
                self._abandoned(ownership),
                self._before.refcounts.overwritten,
                mark=self._mark_kept,
            )
            self._tell_kept(targets)
        return targets, sound

    def _abandoned(self, ownership: Ownership) -> Clusters:
        """The clusters of a snapshot table that is written anew elsewhere, and of nothing else."""
        before = self._before.ownership
        clusters = np.flatnonzero(before.uses == use_bit(Role.SNAPSHOT_TABLE))
        clusters = clusters[clusters < ownership.clusters]
        only_it = (before.computed[clusters] == 1) & (ownership.computed[clusters] == 0)
        abandoned: Clusters = clusters[only_it]
        return abandoned

    def _collect_copied(self, view: View, since: View | None = None) -> None:
        collect_copied_fixes(view, self._book, self._editable, self._token, since=since)

    def _tell_kept(self, targets: Targets) -> None:
        self._kept_leaks = targets.kept_leaks
        if targets.kept_leaks:
            size_bytes = targets.kept_leaks * self._geometry.cluster_bytes
            stay = "stays" if targets.kept_leaks == 1 else "stay"
            self._refused.append(
                f"{format_count(targets.kept_leaks, 'cluster')} ({size_bytes:,} bytes) to which "
                f"nothing refers {stay} counted as used: references may be lost, and what they "
                "named be there. `qcowgui salvage` looks for it; --free-unowned frees them."
            )
        if targets.kept_high:
            keep = "keeps its refcount" if targets.kept_high == 1 else "keep their refcounts"
            self._refused.append(
                f"{format_count(targets.kept_high, 'cluster')} with fewer references than are "
                f"counted {keep}: a snapshot or a table may be lost that needs them. "
                "`qcowgui salvage` looks for it; --free-unowned lowers the counts."
            )

    def _note_entry_fixes(self) -> None:
        if self._book.has(Fix.KEEP_DATA):
            self._notes.append(
                "Subclusters that had data and were marked as zeros, and that no program could "
                "read, keep their data: the guest sees it again."
            )
        if self._book.has(Fix.DROP_ALLOCATED):
            self._notes.append(
                "Subclusters said to have data, though their entry has no cluster, read as never "
                "written from now on: what they may have held is not to be found by the entry."
            )

    def _draft(self) -> Draft:
        if self._editable.contested_tables:
            self._refused.append(
                "Entries of tables whose clusters are used for something else, too, are not "
                "edited: what looks like an entry may be the guest's data."
            )
        for code, count in self._book.counts().items():
            self._changes[code] = self._changes.get(code, 0) + count
        by_offset = attrgetter("offset")
        edits = heapq.merge(
            sorted(self._edits, key=by_offset), self._book.iter_edits(), key=by_offset
        )
        return Draft(
            tuple(edits),
            self._new_file_bytes,
            {code: count for code, count in self._changes.items() if code},
            self._book.guest_ranges(),
            self._book.payload_ranges(),
            tuple(self._notes),
            tuple(self._refused),
            self._kept_leaks,
        )
