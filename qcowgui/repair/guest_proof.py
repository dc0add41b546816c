"""The proof that a repair leaves the guest's data alone: what could be read before reads the same.

No edit writes into a guest's cluster, so that equal extents mean equal bytes; only of compressed
clusters whose descriptor changes the bytes themselves are compared, unless more is asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from qcowgui.check.cluster_ownership import Ownership
from qcowgui.check.roles import PAYLOAD_BITS, WHOLE_CLUSTER_BITS
from qcowgui.codec.registry import CompressionType
from qcowgui.convert.compare import compare_pieces
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ImageError, ProofError
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.chain import require_mappable
from qcowgui.image.layer import Extent, LostRange, ReadContext
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.patched import Edit
from qcowgui.image.qcow2_layer import Qcow2Layer
from qcowgui.image.reader import GuestImage
from qcowgui.repair.entry_pass import View
from qcowgui.repair.table_book import GuestRange
from qcowgui.units import MIB, format_offset

_READ_BYTES: Final = 4 * MIB

GUEST_BITS: Final = WHOLE_CLUSTER_BITS | PAYLOAD_BITS
"""The uses of a cluster that holds guest data."""

Range = tuple[int, int]


def first_contested(edits: Iterable[Edit], ownership: Ownership, file_bytes: int) -> Edit | None:
    """The first edit in a cluster that an L2 entry claims for guest data as well, or None.

    Args:
        edits: What is to be written.
        ownership: Who claims the clusters of the file as it is.
        file_bytes: Its length: what is written behind its end is nobody's data, whatever claims
            the cluster. An unaligned entry near the end does.

    Raises:
        ProofError: When an edit touches a cluster that holds nothing but guest data.
    """
    uses = ownership.uses
    for edit in edits:
        if edit.offset >= file_bytes:
            continue
        first = edit.offset // ownership.cluster_bytes
        last = (edit.end_offset - 1) // ownership.cluster_bytes + 1
        touched = uses[first:last]
        of_guest = (touched & GUEST_BITS) != 0
        if (of_guest & ((touched & GUEST_BITS) == touched)).any():
            raise ProofError(
                f"the edit at {format_offset(edit.offset)} would write into guest data"
            )
        if of_guest.any():
            return edit
    return None


@dataclass(frozen=True, slots=True)
class GuestProof:
    """Compares what a guest reads from an image before and after its repair.

    Attributes:
        before: The image as it is.
        after: The image with all edits.
        token: Looked at now and then.
        tick: Called now and then.
    """

    before: View
    after: View
    token: CancelToken
    tick: Callable[[], None] | None = None

    def require_equal(self, ranges: Sequence[GuestRange], payloads: Sequence[GuestRange]) -> None:
        """Return when the extents of `ranges` and the bytes of `payloads` are the same.

        What could not be read before may become anything.

        Raises:
            ProofError: When some are not.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        for snapshot in sorted({found.snapshot for found in ranges}, key=_owner_order):
            pair = self._open(snapshot)
            if pair is None:
                continue
            for start, end in _merged(ranges, snapshot):
                self._compare_extents(pair, start, end)
            for start, end in _merged(payloads, snapshot):
                self._compare_bytes(pair, start, end)
            pair.require_no_new_losses()

    def require_all_equal(self) -> None:
        """The same of every guest byte, read from both; of internal snapshots, too.

        What lies in other files is not read. Raises as `require_equal`.
        """
        snapshots = [None, *(snapshot.index for snapshot in self.before.report.snapshots)]
        for snapshot in snapshots:
            pair = self._open(snapshot)
            if pair is None:
                continue
            size_bytes = pair.before.size_bytes
            self._compare_extents(pair, 0, size_bytes)
            if not self.before.report.header.has_data_file:
                self._compare_bytes(pair, 0, size_bytes)
            pair.require_no_new_losses()

    def _open(self, snapshot_index: int | None) -> _Pair | None:
        """The disk before and after; None when it could not be read before."""
        snapshot = None
        if snapshot_index is not None:
            by_index = {found.index: found for found in self.before.report.snapshots}
            snapshot = by_index.get(snapshot_index)
            if snapshot is None:
                return None
        try:
            before = _open_disk(self.before, snapshot)
        except ImageError:
            return None
        try:
            return _Pair(before, _open_disk(self.after, snapshot))
        except ImageError as error:
            raise ProofError(f"the repaired image could not be read: {error.message}") from error

    def _compare_extents(self, pair: _Pair, start: int, end: int) -> None:
        for first, last in _extent_differences(
            pair.before.iter_extents(start, end), pair.after.iter_extents(start, end)
        ):
            self._breathe()
            pair.differences.append((first, last))

    def _compare_bytes(self, pair: _Pair, start: int, end: int) -> None:
        for extent in list(pair.before.iter_extents(start, end, with_hosts=False)):
            for first in range(extent.start, extent.end, _READ_BYTES):
                self._breathe()
                last = min(first + _READ_BYTES, extent.end)
                found = compare_pieces(
                    pair.before.read_pieces(first, last, pair.contexts[0]),
                    pair.after.read_pieces(first, last, pair.contexts[1]),
                )
                if found is not None:
                    pair.differences.append((found, last))

    def _breathe(self) -> None:
        self.token.raise_if_cancelled()
        if self.tick is not None:
            self.tick()


class _Pair:
    """One disk before and after, and where the two differ."""

    def __init__(self, before: GuestImage, after: GuestImage) -> None:
        self.before = before
        self.after = after
        self.differences: list[Range] = []

    @cached_property
    def contexts(self) -> tuple[ReadContext, ReadContext]:
        """For reading from the one and from the other."""
        return self.before.context(), self.after.context()

    def require_no_new_losses(self) -> None:
        """Return when all differences lie where nothing could be read before."""
        was_lost = _lost(self.before)
        changed = sorted([*self.differences, *_lost(self.after)])
        for start, end in changed:
            found = _first_outside(start, end, was_lost)
            if found is not None:
                raise ProofError(f"guest offset {format_offset(found)} would read differently")


def _lost(image: GuestImage) -> list[Range]:
    losses: list[LostRange] = [] if image.losses is None else image.losses.ranges()
    return [(lost.start, lost.end) for lost in losses]


def _first_outside(start: int, end: int, ranges: list[Range]) -> int | None:
    """The first byte of [start, end) that lies in none of `ranges`, which are sorted."""
    for first, last in ranges[max(0, bisect_right(ranges, (start,)) - 1) :]:
        if start >= end or first > start:
            break
        start = max(start, last)
    return start if start < end else None


def _open_disk(view: View, snapshot: Snapshot | None) -> GuestImage:
    """A disk of an image alone, without backing file; a snapshot's with its VM state.

    Raises:
        ImageError: When it can't be read at all.
    """
    header = view.report.header
    geometry = require_mappable(view.report)
    l1_size = header.l1_size if snapshot is None else snapshot.l1_size
    mapping = GuestMapping(
        view.source,
        geometry,
        version=header.version,
        l1_table_offset=header.l1_table_offset if snapshot is None else snapshot.l1_table_offset,
        l1_size=l1_size,
        virtual_bytes=(
            view.report.virtual_bytes if snapshot is None else l1_size * geometry.l1_coverage_bytes
        ),
        has_data_file=header.has_data_file,
    )
    compression_type = CompressionType(header.compression_type)
    layer = Qcow2Layer(view.source, view.source, mapping, compression_type=compression_type)
    return GuestImage([layer], sources=[], salvage=True)


def _merged(ranges: Iterable[GuestRange], snapshot: int | None) -> list[Range]:
    """The ranges of one disk, in order, joined where they overlap or touch."""
    merged: list[Range] = []
    for start, end in sorted((f.start, f.end) for f in ranges if f.snapshot == snapshot):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _owner_order(snapshot: int | None) -> int:
    return -1 if snapshot is None else snapshot


def _extent_differences(left: Iterator[Extent], right: Iterator[Extent]) -> Iterator[Range]:
    """Where two rows of extents over the same range differ in kind or place."""
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        start, end = max(one.start, other.start), min(one.end, other.end)
        if one.kind is not other.kind or _host_at(one, start) != _host_at(other, start):
            yield start, end
        one = next(left, None) if one.end == end else one
        other = next(right, None) if other.end == end else other


def _host_at(extent: Extent, start: int) -> int | None:
    return None if extent.host_offset is None else extent.host_offset + start - extent.start
