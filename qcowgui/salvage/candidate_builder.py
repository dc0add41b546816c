"""Turns L1 tables, or L2 tables in some order, into candidates with reasons and doubts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from qcowgui.codec.registry import CompressionType
from qcowgui.engine.work import CancelToken
from qcowgui.format import limits
from qcowgui.format.geometry import ENTRY_BYTES, OFFSET_MASK
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.layer import LostRange
from qcowgui.image.source import ByteSource
from qcowgui.salvage.assemble import SalvagedImage, open_candidate
from qcowgui.salvage.candidate_words import (
    agreement_words,
    guessed_ranges,
    placement_words,
    reserved_words,
)
from qcowgui.salvage.candidates import Candidate, Origin, Overrides, snapshot_title
from qcowgui.salvage.found_snapshots import load_l1
from qcowgui.salvage.guest_hints import GuestHints, read_hints
from qcowgui.salvage.l2_rows import CleanedTables, clean_tables
from qcowgui.salvage.ordering import Placement
from qcowgui.salvage.payloads import PayloadVerdict, judge_payloads
from qcowgui.salvage.placer import TablePlacer, l1_of
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.structures import FoundL1, Structures
from qcowgui.salvage.table_pool import TablePool
from qcowgui.units import SECTOR_BYTES, align_up, format_count, format_size

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport

_MAX_L1_ENTRIES: Final = limits.MAX_L1_BYTES // ENTRY_BYTES
_STALE: Final = 0.3
"""What the score of an L1 table is worth whose cluster the refcounts call free."""


@dataclass(slots=True)
class _Draft:
    """A candidate while it is made.

    Attributes:
        origin: Where the L1 table comes from.
        title: What it is, a noun phrase.
        l1: The host offset of the L2 table of each entry.
        disk_bytes: The disk's size, when it is recorded; None else.
        weight: What its score is multiplied by.
        reasons: Why it is plausible.
        undecidable: What nothing tells.
        unused: Believable L2 tables that it does not use.
        guessed: L1 indices whose tables nothing proves to belong there.
        unsure_start: Whether its first entry may not be the disk's first.
        missing: Why all of the disk is lost, or nothing.
        size_recorded: Whether the disk's size is recorded.
        of_snapshot: Whether it is a snapshot.
    """

    origin: Origin
    title: str
    l1: Indices
    disk_bytes: int | None = None
    weight: float = 1.0
    reasons: list[str] = field(default_factory=list)
    undecidable: list[str] = field(default_factory=list)
    unused: int = 0
    guessed: tuple[int, ...] = ()
    unsure_start: bool = False
    missing: str = ""
    size_recorded: bool = True
    of_snapshot: bool = False

    def tell_placement(self, placement: Placement, known: int) -> None:
        """Note what a placement, of which `known` tables had their places before, rests on."""
        reasons, doubts = placement_words(placement, known)
        self.reasons += reasons
        self.undecidable += doubts
        self.guessed = placement.guessed_at


class CandidateBuilder:
    """Makes the candidates of one damaged image."""

    def __init__(
        self,
        source: ByteSource,
        structures: Structures,
        report: ImageReport | None,
        overrides: Overrides,
        token: CancelToken,
    ) -> None:
        """A builder for what `structures` holds.

        Args:
            source: The damaged image.
            structures: Its tables.
            report: What the header says, when it can be believed.
            overrides: What the user knows better.
            token: Stops the work.
        """
        self._source = source
        self._structures = structures
        self._geometry = structures.geometry
        header_fits = report is not None and report.header.geometry is not None
        if report is not None and report.header.cluster_bits != self._geometry.cluster_bits:
            header_fits = False
        self._report = report if header_fits else None
        self._overrides = overrides
        self._token = token
        self._pool = TablePool(source, structures, token)
        self._placer = TablePlacer(source, structures, self._pool, token, self._open_tables)

    def from_l1(self, table: FoundL1, origin: Origin, title: str) -> Candidate:
        """The candidate that an L1 table makes as it stands."""
        draft = _Draft(origin, title, _trimmed(table.offsets, _MAX_L1_ENTRIES))
        draft.unused = len(self._pool.unused_by(draft.l1))
        draft.reasons.append(
            f"{format_count(table.found, 'entry', 'entries')} of {table.named:,} that name a table "
            f"lead to one; {table.copied:,} have the COPIED flag, which the active table has."
        )
        if origin is Origin.FOUND:
            draft.unsure_start = self._may_begin_before(table.host_offset)
        draft.reasons += reserved_words(table)
        self._weigh_l1(draft, table.host_offset)
        if draft.unused:
            draft.undecidable.append(
                f"No L1 table names {format_count(draft.unused, 'L2 table')} more: part of what is "
                "missing, or left over from earlier."
            )
        return self._finish(draft)

    def _may_begin_before(self, host_offset: int) -> bool:
        """Whether the cluster before an L1 table could be entries of it that name no table."""
        cluster_bytes = self._geometry.cluster_bytes
        if host_offset < 2 * cluster_bytes:
            return False
        if any(self._source.read_at(host_offset - cluster_bytes, cluster_bytes)):
            return False
        refcounts = self._structures.refcounts
        cluster = np.array([(host_offset >> self._geometry.cluster_bits) - 1])
        return refcounts is None or bool(refcounts.at(self._source, cluster)[0])

    def _weigh_l1(self, draft: _Draft, host_offset: int) -> None:
        """Ask the refcounts whether an L1 table is in use."""
        refcounts = self._structures.refcounts
        if refcounts is None:
            return
        cluster = np.array([host_offset >> self._geometry.cluster_bits])
        if refcounts.at(self._source, cluster)[0]:
            draft.reasons.append("The refcounts say that its cluster is in use.")
        else:
            draft.weight = _STALE
            draft.reasons.append(
                "The refcounts call its cluster free: this may be an earlier version."
            )

    def from_snapshot(self, table: FoundL1, snapshot: Snapshot) -> Candidate:
        """The candidate that a snapshot's L1 table makes."""
        l1 = _trimmed(table.offsets, _MAX_L1_ENTRIES)
        title = snapshot_title(snapshot)
        draft = _Draft(Origin.SNAPSHOT, title, l1, snapshot.disk_bytes, of_snapshot=True)
        draft.reasons.append(
            f"The snapshot table names it; {table.found:,} of {table.named:,} entries that name a "
            "table lead to one."
        )
        if not table.named and snapshot.l1_size and len(self._of_lost_snapshots(l1)):
            draft.missing = (
                "the snapshot's L1 table is nothing but zeros, and L2 tables that nothing names "
                "are left: it is probably lost"
            )
        return self._finish(draft)

    def completed(
        self, table: FoundL1, title: str, *, snapshot: Snapshot | None = None
    ) -> Candidate | None:
        """An L1 table with unused L2 tables where it has none; None when none fits.

        Args:
            table: The L1 table.
            title: What it is, a noun phrase.
            snapshot: Whose table it is; what other L1 tables name is then none of it.
        """
        l1 = table.offsets[:_MAX_L1_ENTRIES]
        unused = self._pool.unused_by(l1)
        if snapshot is not None:
            unused = self._of_lost_snapshots(l1)
        usable = self._structures.l2_tables.index_of(l1) >= 0
        if not len(unused):
            return None
        offsets = self._placer.in_data_order(np.unique(np.concatenate((l1[usable], unused))))
        numbers = {offset: number for number, offset in enumerate(offsets.tolist())}
        fixed = {index: numbers[int(l1[index])] for index in np.flatnonzero(usable).tolist()}
        slots = self._slots(snapshot) or len(l1)
        placement = self._placer.place(offsets, fixed, slots)
        added = placement.exact - len(fixed) + placement.guessed
        if not added:
            return None
        draft = _Draft(
            Origin.COMPLETED,
            f"{title}, completed with {format_count(added, 'L2 table')} that nothing names",
            l1_of(placement, offsets),
            None if snapshot is None else snapshot.disk_bytes,
            of_snapshot=snapshot is not None,
        )
        draft.unused = len(unused) - added
        draft.tell_placement(placement, len(fixed))
        if placement.guessed > placement.between + placement.by_usage:
            # Tables put anywhere do more harm than those left out.
            draft.weight = 0.5
        return self._finish(draft)

    def from_order(self) -> list[Candidate]:
        """The candidate of an image whose L1 table is gone, or none."""
        offsets = self._pool.offsets
        if not len(offsets):
            return []
        known = self._placer.known_places(offsets)
        # What a snapshot alone has, the active disk having a later version, is not of it.
        older = self._structures.l2_tables.offsets[
            np.array(sorted(self._pool.snapshot_places), dtype=np.int64)
        ]
        offsets = np.setdiff1d(offsets, np.setdiff1d(older, list(known.values())))
        offsets = self._placer.in_data_order(offsets)
        numbers = {offset: number for number, offset in enumerate(offsets.tolist())}
        fixed = {index: numbers[offset] for index, offset in known.items()}
        placement = self._placer.place(offsets, fixed, self._slots())
        draft = _Draft(Origin.ORDERED, "the L2 tables, put in order", l1_of(placement, offsets))
        draft.unused = placement.left_over
        if fixed:
            draft.reasons.append(
                f"{format_count(len(fixed), 'table')} placed by L1 tables of snapshots."
            )
        draft.tell_placement(placement, len(fixed))
        draft.reasons += agreement_words(offsets)
        share = (placement.exact + placement.between) / len(offsets)
        draft.weight = 0.5 + share / 2
        return [self._finish(draft)]

    def _of_lost_snapshots(self, l1: Indices) -> Indices:
        """Host offsets of L2 tables that neither `l1` nor anything else names."""
        unused = np.union1d(self._pool.unused_by(l1), np.setdiff1d(self._pool.shared, l1))
        return np.setdiff1d(unused, self._named_elsewhere())

    def _named_elsewhere(self) -> Indices:
        """Host offsets that the active disk's L1 tables name, the header's and those found."""
        parts = [table.offsets for table in self._structures.l1_tables]
        if self._report is not None:
            header = self._report.header
            words = load_l1(self._source, header.l1_table_offset, header.l1_size)
            parts.append((words & np.uint64(OFFSET_MASK)).astype(np.int64))
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _slots(self, snapshot: Snapshot | None = None) -> int | None:
        """L1 entries that the disk has, or None when its size is not recorded."""
        virtual_bytes = self._overrides.virtual_bytes
        if snapshot is not None and snapshot.disk_bytes is not None:
            virtual_bytes = snapshot.disk_bytes
        if virtual_bytes is None and self._report is not None:
            virtual_bytes = self._report.virtual_bytes
        if virtual_bytes is None:
            return None
        return min(self._geometry.l1_entries_needed(virtual_bytes), _MAX_L1_ENTRIES)

    def _open_tables(self, offsets: Indices) -> SalvagedImage:
        """A disk that the tables at `offsets` map, one behind the other."""
        virtual_bytes = len(offsets) * self._geometry.l1_coverage_bytes
        row = self._candidate(_Draft(Origin.ORDERED, "", offsets), virtual_bytes)
        # What is encrypted tells nothing, but harms nothing either.
        return open_candidate(self._source, replace(row, crypt_method=0))

    def _candidate(
        self,
        draft: _Draft,
        virtual_bytes: int,
        cleaned: CleanedTables | None = None,
        verdict: PayloadVerdict | None = None,
    ) -> Candidate:
        """A candidate without a number and a score."""
        l1 = draft.l1 if cleaned is None else cleaned.l1
        if verdict is None:
            verdict = self._judge_payloads(l1)
        refcounts = self._structures.refcounts
        report = self._report
        return Candidate(
            number=0,
            origin=draft.origin,
            title=draft.title,
            geometry=self._geometry,
            version=self._version(l1, verdict),
            compression_type=verdict.compression_type,
            virtual_bytes=virtual_bytes,
            l1=_trimmed(l1, self._geometry.l1_entries_needed(virtual_bytes)),
            patches=() if cleaned is None else cleaned.patches,
            lost=() if cleaned is None else cleaned.lost,
            score=0.0,
            reasons=(),
            undecidable=(),
            whole_tables=0 if cleaned is None else cleaned.whole,
            damaged_tables=0 if cleaned is None else cleaned.damaged,
            lost_tables=0 if cleaned is None else cleaned.gone,
            keeps_header=report is not None,
            crypt_method=0 if report is None else report.header.crypt_method,
            refcount_table_offset=0 if refcounts is None else refcounts.table_offset,
            refcount_table_clusters=0 if refcounts is None else refcounts.table_clusters,
            size_recorded=draft.size_recorded,
            of_snapshot=draft.of_snapshot,
        )

    def _judge_payloads(self, l1: Indices) -> PayloadVerdict:
        """The compression type: what the user says, else the payloads, else the header."""
        verdict = judge_payloads(self._source, self._structures.l2_tables, l1, self._token)
        chosen = self._overrides.compression_type
        if chosen is None and self._report is not None and not verdict.decided:
            chosen = _known_type(self._report.header.compression_type)
        return verdict if chosen is None else replace(verdict, compression_type=chosen)

    def _version(self, l1: Indices, verdict: PayloadVerdict) -> int:
        """The least version that has what the tables use, or the header's."""
        if self._report is not None:
            return self._report.header.version
        tables = self._structures.l2_tables
        places = tables.index_of(l1)
        newer = (
            tables.flagged[places[places >= 0]].any()
            or self._geometry.extended_l2
            or self._geometry.refcount_order != limits.V2_REFCOUNT_ORDER
            or verdict.zstd
            or any(s.extra_data_size for s in self._structures.snapshots)
        )
        return 3 if newer else 2

    def _finish(self, draft: _Draft) -> Candidate:
        """Size, compression, what is lost, what the guest's disk says of itself, and the score."""
        coverage = self._geometry.l1_coverage_bytes
        verdict = self._judge_payloads(draft.l1)
        whole = self._candidate(draft, max(1, len(draft.l1)) * coverage, verdict=verdict)
        hints, agreement = GuestHints(), 1.0
        if not whole.crypt_method:
            hints, agreement = self._ask_guest(draft, whole)
        virtual_bytes = self._virtual_bytes(draft, hints)
        cleaned = clean_tables(
            self._source, draft.l1, self._structures.l2_tables, virtual_bytes, self._token
        )
        if draft.missing:
            everything = LostRange(0, virtual_bytes, draft.missing, "lost-table")
            needed = self._geometry.l1_entries_needed(virtual_bytes)
            cleaned = replace(cleaned, lost=(everything,), gone=needed)
        candidate = self._candidate(draft, virtual_bytes, cleaned, verdict)
        if draft.unsure_start and not hints.labels:
            draft.guessed = tuple(np.flatnonzero(draft.l1).tolist())
            draft.undecidable.append(
                "Where the L1 table begins: the zeros before it may be entries of it. Then all of "
                "the guest's data belongs further back."
            )
        self._tell_doubts(draft, candidate, verdict)
        usable = cleaned.whole + cleaned.damaged / 2
        named = max(1, cleaned.whole + cleaned.damaged + cleaned.gone)
        score = usable / named * usable / max(1, usable + draft.unused)
        return replace(
            candidate,
            score=round(score * draft.weight * agreement, 3),
            reasons=tuple(draft.reasons),
            undecidable=tuple(draft.undecidable),
            guessed=guessed_ranges(self._geometry, cleaned.l1, draft.guessed, virtual_bytes),
        )

    def _ask_guest(self, draft: _Draft, candidate: Candidate) -> tuple[GuestHints, float]:
        """What the disk says of itself, and which share of what it promises is there."""
        with open_candidate(self._source, candidate) as image:
            hints = read_hints(image.read)
            if hints.labels:
                draft.reasons.append(f"The disk begins with {', '.join(hints.labels[:4])}.")
            usable = self._structures.l2_tables.index_of(draft.l1) >= 0
            there = set(np.flatnonzero(usable).tolist())
            index = self._geometry.l1_index
            marks = [mark for mark in hints.marks if index(mark.guest_offset) in there]
            good = sum(mark.check(image.read(mark.guest_offset, mark.length)) for mark in marks)
        if marks:
            draft.reasons.append(
                f"{good} of {len(marks)} copies of its structures are where they must be."
            )
        return hints, 0.5 + good / len(marks) / 2 if marks else 1.0

    def _virtual_bytes(self, draft: _Draft, hints: GuestHints) -> int:
        """The disk's size in whole sectors, by the best that tells it."""
        given = self._overrides.virtual_bytes
        if given is not None:
            return self._bounded(align_up(given, SECTOR_BYTES))
        if draft.disk_bytes is not None:
            return self._bounded(draft.disk_bytes)
        if self._report is not None:
            return self._bounded(self._report.virtual_bytes)
        used = self._pool.used_guest_bytes(draft.l1)
        said = align_up(hints.least_bytes, SECTOR_BYTES)
        if hints.exact and said >= used:
            draft.reasons.append(f"The GPT says that the disk has {format_size(said)}.")
            return self._bounded(said)
        recorded = max((s.disk_bytes or 0 for s in self._structures.snapshots), default=0)
        chosen = max(used, said, recorded)
        if self._bounded(chosen) < chosen:
            chosen = used
        draft.size_recorded = False
        draft.undecidable.append(
            f"The disk's size is not recorded: it is at least {format_size(used)}, where the last "
            f"cluster in use ends; {format_size(chosen)} is taken."
        )
        return self._bounded(max(chosen, SECTOR_BYTES))

    def _bounded(self, virtual_bytes: int) -> int:
        """A size for which QEMU would read an L1 table, in whole sectors."""
        most = _MAX_L1_ENTRIES * self._geometry.l1_coverage_bytes
        return min(virtual_bytes - virtual_bytes % SECTOR_BYTES, most, limits.MAX_OFFSET >> 9 << 9)

    def _tell_doubts(self, draft: _Draft, candidate: Candidate, verdict: PayloadVerdict) -> None:
        """What the file can't tell, whatever the tables are."""
        if verdict.tried:
            draft.reasons.append(
                f"Of {format_count(verdict.tried, 'compressed cluster')} tried, {verdict.zlib} "
                f"decode with zlib and {verdict.zstd} with zstd."
            )
            if not verdict.decided:
                draft.undecidable.append("No compressed cluster decodes: the type is a guess.")
        if candidate.keeps_header:
            return
        draft.undecidable.append(
            "Whether there was a backing file: what the tables leave to one reads as zeros."
        )
        if candidate.version == 2:
            draft.undecidable.append(
                "Whether it was version 2 or 3: nothing uses what only version 3 has."
            )


def _trimmed(l1: Indices, entries: int) -> Indices:
    """`l1` up to its last entry that names a table, and no more than `entries` of it."""
    used = np.flatnonzero(l1[:entries])
    return l1[: int(used[-1]) + 1 if len(used) else 0]


def _known_type(number: int) -> CompressionType | None:
    """The compression type with this number; None for one that a damaged header may well name."""
    return CompressionType(number) if number in set(CompressionType) else None
