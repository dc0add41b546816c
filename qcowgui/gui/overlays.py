"""What can be laid over the guest's disk: differences, a snapshot, a bitmap. Knows no widgets.

Each is a `MapLayer` in guest order, so that any map can show it, explain it and list it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.convert.differences import Difference, Differences
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ImageError, UnsupportedError
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.geometry import Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.heatmap.layers import ColourMode, Key, MapLayer, Order
from qcowgui.gui.overlay_texts import (
    bitmap_sentence,
    difference_keys,
    difference_sentence,
    mark_keys,
    sharing_keys,
    snapshot_sentence,
)
from qcowgui.image.bitmap_bits import Mark, cluster_marks
from qcowgui.image.inspect import ImageReport
from qcowgui.image.snapshot_sharing import Sharing, sharing_cells
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div

_CHUNK_CELLS: Final = 1 << 20


class OverlayKind(Enum):
    """What an overlay shows."""

    IMAGE = "image"
    """Where another image differs."""
    SNAPSHOT = "snapshot"
    BITMAP = "bitmap"


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Something that lies over the guest's disk.

    Attributes:
        kind: What it shows.
        layer: Its cells.
        notable: The values that somebody looks for.
        sentence: What it comes to.
    """

    kind: OverlayKind
    layer: MapLayer
    notable: frozenset[int]
    sentence: str

    def next_notable(self, cluster: int | None, step: int) -> int | None:
        """The next run of notable cells behind a cell (step 1) or before it (-1), or None.

        A run is entered at its first cell, whichever way.
        """
        return next_run(self.layer.cells, cluster, self.notable, step)


def difference_overlay(found: Differences, *, left: str, right: str) -> Overlay:
    """Where two images differ; `left` and `right` are what they are called."""
    return _overlay(
        OverlayKind.IMAGE,
        found.cells,
        difference_keys(left, right),
        (found.unit_bytes, found.size_bytes),
        [value for value in Difference if value > Difference.SAME],
        lambda layer: difference_sentence(found, layer),
    )


@dataclass(frozen=True, slots=True)
class SnapshotWork:
    """Finds what only a snapshot holds.

    Attributes:
        source: The image; stays open.
        report: What an open says of it.
        snapshot: Which one.
    """

    source: ByteSource
    report: ImageReport
    snapshot: Snapshot

    def __call__(self, token: CancelToken) -> Overlay:
        """The overlay, of the first `MAX_CELLS` clusters of the larger disk.

        Raises:
            ImageError: When its tables can't be in the file.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        size = _cluster_bytes(self.report)
        disk_bytes = max(self.report.virtual_bytes, self.snapshot.disk_bytes or 0)
        last = min(ceil_div(disk_bytes, size), MAX_CELLS)
        cells = sharing_cells(
            self.source, self.report, self.snapshot, first=0, last=last, token=token
        )
        return _overlay(
            OverlayKind.SNAPSHOT,
            cells,
            sharing_keys(),
            (size, disk_bytes),
            [value for value in Sharing if value > Sharing.SAME],
            lambda layer: snapshot_sentence(self.snapshot, layer),
        )


@dataclass(frozen=True, slots=True)
class BitmapWork:
    """Finds what a bitmap marks.

    Attributes:
        source: The image; stays open.
        report: What an open says of it.
        bitmap: Which one.
    """

    source: ByteSource
    report: ImageReport
    bitmap: BitmapEntry

    def __call__(self, token: CancelToken) -> Overlay:
        """The overlay, of the first `MAX_CELLS` clusters.

        Raises:
            ImageError: When it has no size or granularity that could be right.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        geometry = _geometry(self.report)
        size, disk_bytes = geometry.cluster_bytes, self.report.virtual_bytes
        cells = cluster_marks(
            self.source,
            self.bitmap,
            geometry,
            disk_bytes,
            first=0,
            last=min(ceil_div(disk_bytes, size), MAX_CELLS),
            token=token,
        )
        return _overlay(
            OverlayKind.BITMAP,
            cells,
            mark_keys(),
            (size, disk_bytes),
            [Mark.DIRTY, Mark.UNKNOWN],
            lambda layer: bitmap_sentence(self.bitmap, layer),
        )


def next_run(cells: Cells, position: int | None, values: Collection[int], step: int) -> int | None:
    """The first cell of the next run of cells with one of `values`, or of the one before.

    Args:
        cells: The cells.
        position: Where to start; its own run is left first. None: from the end that `step` leaves.
        values: What is looked for; neighbours with different ones of them are one run.
        step: 1 or -1.
    """
    wanted = np.zeros(256, dtype=np.bool_)
    wanted[list(values)] = True
    if step > 0:
        start = 0 if position is None else position + 1
        inside = position is not None and bool(wanted[cells[position]])
        return _next_start(cells, wanted, start, inside=inside)
    end = len(cells) if position is None else position
    # Leave the run that `position` is in, then find where the run before it begins.
    if position is not None and wanted[cells[position]]:
        end = _previous(cells, wanted, end, value=False)
    found = _previous(cells, wanted, end, value=True)
    return None if found < 0 else _previous(cells, wanted, found, value=False) + 1


_Table = np.ndarray[tuple[int], np.dtype[np.bool_]]


def _next_start(cells: Cells, wanted: _Table, start: int, *, inside: bool) -> int | None:
    while start < len(cells):
        part = wanted[cells[start : start + _CHUNK_CELLS]]
        hits = np.flatnonzero(part != inside)
        if not len(hits):
            start += len(part)
        elif inside:
            start, inside = start + int(hits[0]), False
        else:
            return start + int(hits[0])
    return None


def _previous(cells: Cells, wanted: _Table, end: int, *, value: bool) -> int:
    """The last index before `end` whose cell is wanted (`value`) or not; -1 when there is none."""
    while end > 0:
        begin = max(0, end - _CHUNK_CELLS)
        hits = np.flatnonzero(wanted[cells[begin:end]] == value)
        if len(hits):
            return begin + int(hits[-1])
        end = begin
    return -1


def _overlay(
    kind: OverlayKind,
    cells: Cells,
    keys: tuple[Key, ...],
    sizes: tuple[int, int],
    notable: Iterable[int],
    say: Callable[[MapLayer], str],
) -> Overlay:
    """An overlay of the guest's disk; `sizes` are the bytes of a cell and of the whole disk."""
    layer = MapLayer(Order.GUEST, ColourMode.STATE, cells, keys, *sizes)
    return Overlay(kind, layer, frozenset(map(int, notable)), say(layer))


def _geometry(report: ImageReport) -> Geometry:
    geometry = report.header.geometry
    if geometry is None:
        raise UnsupportedError("the header allows no cluster size", path=report.name)
    if report.mapping_refusals:
        raise ImageError(report.mapping_refusals[0].message.rstrip("."), path=report.name)
    return geometry


def _cluster_bytes(report: ImageReport) -> int:
    return _geometry(report).cluster_bytes
