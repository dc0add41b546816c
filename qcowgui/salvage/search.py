"""The search for candidates: one scan, then from the geometry to the tables to what they map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import NotQcow2Error, UnsupportedError
from qcowgui.format.finding import Refusal
from qcowgui.format.geometry import COMPRESSED, ENTRY_BYTES, READS_ZERO, Geometry
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import ByteSource
from qcowgui.salvage.candidate_builder import CandidateBuilder
from qcowgui.salvage.candidates import (
    Candidate,
    Origin,
    Orphans,
    Overrides,
    SalvageReport,
    l1_title,
    snapshot_title,
)
from qcowgui.salvage.census import Census
from qcowgui.salvage.geometry_guess import GeometryScore, guess_geometry
from qcowgui.salvage.orphans import count_orphans
from qcowgui.salvage.scan import Scan, scan_source
from qcowgui.salvage.structures import FoundL1, Structures, find_structures, found_l1
from qcowgui.salvage.words import fits_geometry, offset_limit
from qcowgui.units import align_up, format_size

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport

_MAX_CANDIDATES: Final = 16
_GOOD_SCORE: Final = 0.5
_WEAK_SCORE: Final = 0.1
_NO_ORPHANS: Final = Orphans((), None, 0, ())


def search_candidates(
    source: ByteSource,
    token: CancelToken,
    *,
    counter: Counter | None = None,
    overrides: Overrides | None = None,
) -> SalvageReport:
    """Everything that could be made of a damaged image, without writing anything.

    Args:
        source: The damaged image.
        token: Stops the search.
        counter: Gets the bytes of the file that were scanned.
        overrides: What the user knows better.

    Raises:
        UnsupportedError: When the guest's data lies in another file: that one can be read as it is.
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    return _Search(source, token, overrides or Overrides()).run(counter)


@dataclass(frozen=True, slots=True)
class _HeaderState:
    """What became of the header.

    Attributes:
        report: The report, when the header can be believed; None else.
        sentence: The same for people.
    """

    report: ImageReport | None
    sentence: str


class _Search:
    """One run of `search_candidates`."""

    def __init__(self, source: ByteSource, token: CancelToken, overrides: Overrides) -> None:
        self._source = source
        self._token = token
        self._overrides = overrides
        self._header = _look_at_header(source)
        self._notes: list[str] = []

    def run(self, counter: Counter | None) -> SalvageReport:
        scan = scan_source(self._source, self._token, counter)
        if not scan.complete:
            self._notes.append("More of the file looks like tables than is looked at.")
        geometry, scores = self._geometry(scan)
        structures = None
        candidates: list[Candidate] = []
        orphans = _NO_ORPHANS
        if geometry is not None:
            header = None if self._header.report is None else self._header.report.header
            said = (
                (header.refcount_table_offset, header.refcount_order)
                if header is not None and header.cluster_bits == geometry.cluster_bits
                else None
            )
            structures = find_structures(
                self._source, scan, geometry, self._token, refcounts_said=said
            )
            structures = self._with_header_order(structures)
            listed = self._header_l1(structures)
            if listed is not None:
                # One that names a lone cluster of zeros is shaped like an L2 table as well.
                end = listed.host_offset + max(1, len(listed.words)) * ENTRY_BYTES
                structures = structures.without_l2(listed.host_offset, end)
            made = self._candidates(structures, listed)
            if any(made):
                report = self._header.report
                census = Census(self._source, scan, structures, report, self._token)
                candidates = _ranked(*made, census)
                orphans = count_orphans(self._source, structures, candidates[0], census)
        return SalvageReport(
            self._source.name,
            self._source.size_bytes,
            self._header.sentence,
            scan,
            scores,
            structures,
            tuple(replace(c, number=n) for n, c in enumerate(candidates, start=1)),
            orphans,
            tuple(self._notes),
        )

    def _geometry(self, scan: Scan) -> tuple[Geometry | None, tuple[GeometryScore, ...]]:
        given = self._overrides.cluster_bits
        report = self._header.report
        if report is not None and report.header.geometry is not None:
            geometry = report.header.geometry
            if given in (None, geometry.cluster_bits):
                return geometry, ()
        scores = guess_geometry(self._source, scan, self._token, cluster_bits=given)
        if scores:
            return scores[0].geometry, scores
        return (None if given is None else Geometry(given)), scores

    def _with_header_order(self, structures: Structures) -> Structures:
        """The width of the refcounts as the header says, whatever was found."""
        report = self._header.report
        if report is None or structures.refcounts is not None:
            return structures
        order = report.header.refcount_order
        return replace(structures, geometry=replace(structures.geometry, refcount_order=order))

    def _candidates(
        self, structures: Structures, listed: FoundL1 | None
    ) -> tuple[list[Candidate], list[Candidate]]:
        """The candidates by the header's L1 table, and all others."""
        builder = CandidateBuilder(
            self._source, structures, self._header.report, self._overrides, self._token
        )
        listed_offset = -1 if listed is None else listed.host_offset
        found: list[Candidate] = []
        first: list[Candidate] = []
        if listed is not None and listed.named:
            # The header's word is more than any score.
            title = "the L1 table that the header names"
            first = self._of_l1(builder, listed, Origin.HEADER, title)
        for table in structures.l1_tables[:_MAX_CANDIDATES]:
            if table.host_offset != listed_offset:
                found += self._of_l1(builder, table, Origin.FOUND, l1_title(table.host_offset))
        if not first and not any(candidate.score >= _GOOD_SCORE for candidate in found):
            found += builder.from_order()
        for snapshot in structures.snapshots[:_MAX_CANDIDATES]:
            table = found_l1(
                self._source, snapshot.l1_table_offset, snapshot.l1_size, structures.l2_tables
            )
            found.append(builder.from_snapshot(table, snapshot))
            if snapshot.l1_size and table.found < max(1, table.named):
                title = snapshot_title(snapshot)
                completed = builder.completed(table, title, snapshot=snapshot)
                found += [] if completed is None else [completed]
        return first, found

    def _of_l1(
        self, builder: CandidateBuilder, table: FoundL1, origin: Origin, title: str
    ) -> list[Candidate]:
        """The candidate that an L1 table makes, and what completes it."""
        made = [builder.from_l1(table, origin, title), builder.completed(table, title)]
        return [candidate for candidate in made if candidate is not None]

    def _header_l1(self, structures: Structures) -> FoundL1 | None:
        """The L1 table that the header names, or None when it names none that can be read."""
        report = self._header.report
        if report is None or self._overrides.cluster_bits not in (
            None,
            report.header.cluster_bits,
        ):
            return None
        header = report.header
        if not header.l1_table_offset or not structures.geometry.is_aligned(header.l1_table_offset):
            return None
        table = found_l1(self._source, header.l1_table_offset, header.l1_size, structures.l2_tables)
        if table.named and not self._is_l1(table, structures):
            self._notes.append(
                "What stands where the header says that the L1 table is, is none: it is "
                "overwritten."
            )
            return None
        return table

    def _is_l1(self, table: FoundL1, structures: Structures) -> bool:
        """Whether what the header calls the L1 table can be one, though L2 tables be lost."""
        if table.found * 2 >= table.named:
            # Flipped bits in words that lead to tables make no other thing of them.
            return True
        geometry = structures.geometry
        limit = offset_limit(self._source.size_bytes)
        good = fits_geometry(table.words, Geometry(geometry.cluster_bits), limit)
        good &= (table.words & np.uint64(COMPRESSED | READS_ZERO)) == 0
        good |= (table.offsets != 0) & (structures.l2_tables.index_of(table.offsets) >= 0)
        if np.count_nonzero(~good) * 16 > table.named:
            return False
        if table.found * 4 >= table.named - table.beyond:
            return True
        return table.copied * 2 >= table.named and not self._is_l2(table, structures)

    def _is_l2(self, table: FoundL1, structures: Structures) -> bool:
        """Whether a supposed L1 table, none of whose tables is left, is rather an L2 table."""
        if any(table.host_offset in found.offsets for found in structures.l1_tables):
            return True
        start = table.host_offset + len(table.words) * ENTRY_BYTES
        end = align_up(start, structures.geometry.cluster_bytes)
        # An L2 table has entries up to the end of its cluster, an L1 table only as many as it has.
        return any(self._source.read_at(start, end - start))


def _ranked(first: list[Candidate], found: list[Candidate], census: Census) -> list[Candidate]:
    """The candidates, the most plausible first, scored by which share of the data they reach.

    Args:
        first: Those by the header's L1 table: its word is more than any score, but for a wreck.
        found: All others.
        census: The file's clusters.
    """
    if census.possible:
        looked = max([*first, *found], key=lambda candidate: candidate.score)
        census.look(census.named_by(looked))
    first = sorted((_weighed(c, census) for c in first), key=lambda c: -c.score)
    found = sorted((_weighed(c, census) for c in found), key=_rank)
    better = bool(found) and found[0].score >= _GOOD_SCORE and not found[0].of_snapshot
    if better and first and first[0].score < _WEAK_SCORE:
        first, found = found[:1], [*first, *found[1:]]
    return [*first, *found][:_MAX_CANDIDATES]


def _weighed(candidate: Candidate, census: Census) -> Candidate:
    """A candidate with what it leaves unowned; a snapshot leaves to the active disk what is its."""
    if candidate.of_snapshot:
        return candidate
    if not census.possible:
        return replace(candidate, unowned_clusters=None)
    owned, unowned = census.count_owned(census.named_by(candidate))
    share = owned / max(1, owned + unowned) if unowned else 1.0
    return replace(candidate, score=round(candidate.score * share, 3), unowned_clusters=unowned)


def _rank(candidate: Candidate) -> tuple[bool, float]:
    """Snapshots come behind the active disk, unless next to nothing is left of that."""
    weak = candidate.score < _WEAK_SCORE
    return (candidate.of_snapshot or weak), -candidate.score


def _look_at_header(source: ByteSource) -> _HeaderState:
    """What became of the header.

    Raises:
        UnsupportedError: When it names an external data file.
        SourceError: When the operating system refuses a read.
    """
    try:
        report = inspect_source(source)
    except NotQcow2Error:
        return _HeaderState(
            None, "The header is gone: the file does not begin with the magic number of qcow2."
        )
    header = report.header
    wrong = [
        found
        for found in report.findings
        if found.refusal is Refusal.READER and found.code in _UNBELIEVABLE
    ]
    if header.geometry is None or wrong:
        why = " ".join(found.message for found in wrong[:3])
        return _HeaderState(
            None, f"The header has the magic number, but its fields can't be believed. {why}"
        )
    if header.has_data_file:
        raise UnsupportedError(
            f"the guest's data lies in another file ({report.data_file_name})",
            path=source.name,
            hint="that file has the disk's bytes in their order; read it as raw",
        )
    return _HeaderState(
        report,
        f"The header can be read: version {header.version}, clusters of "
        f"{format_size(header.geometry.cluster_bytes)}, "
        f"virtual size {format_size(report.virtual_bytes)}.",
    )


_UNBELIEVABLE: Final = frozenset(
    {
        "header-truncated",
        "header-version",
        "header-cluster-bits",
        "header-length",
        "header-refcount-order",
        "header-crypt-method",
        "unknown-incompatible",
        "compression-type-unknown",
        "extended-l2-cluster",
    }
)
