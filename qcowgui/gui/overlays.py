"""What can be laid over the guest's disk: differences, a snapshot, a bitmap. Knows no widgets.

Each is a `MapLayer` in guest order, so that any map can show it, explain it and list it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
from PySide6.QtCore import QCoreApplication

from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.convert.differences import Difference, Differences
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ImageError, UnsupportedError
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.geometry import Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.heatmap.layers import ColourMode, Key, MapLayer, Order
from qcowgui.gui.heatmap.palette import named_colour
from qcowgui.image.bitmap_bits import Mark, cluster_marks
from qcowgui.image.inspect import ImageReport
from qcowgui.image.snapshot_sharing import Sharing, sharing_cells
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div, format_count, format_size

translate = QCoreApplication.translate

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
    layer = _layer(found.cells, _difference_keys(left, right), found.unit_bytes, found.size_bytes)
    return Overlay(
        OverlayKind.IMAGE,
        layer,
        frozenset(value for value in Difference if value > Difference.SAME),
        _difference_sentence(found, layer),
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
        layer = _layer(cells, _sharing_keys(), size, disk_bytes)
        notable = frozenset(value for value in Sharing if value > Sharing.SAME)
        sentence = _snapshot_sentence(self.snapshot, layer)
        return Overlay(OverlayKind.SNAPSHOT, layer, notable, sentence)


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
        layer = _layer(cells, _mark_keys(), size, disk_bytes)
        notable = frozenset({int(Mark.DIRTY), int(Mark.UNKNOWN)})
        return Overlay(OverlayKind.BITMAP, layer, notable, _bitmap_sentence(self.bitmap, layer))


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


def _layer(cells: Cells, keys: tuple[Key, ...], cluster_bytes: int, end_bytes: int) -> MapLayer:
    return MapLayer(Order.GUEST, ColourMode.STATE, cells, keys, cluster_bytes, end_bytes)


def _geometry(report: ImageReport) -> Geometry:
    geometry = report.header.geometry
    if geometry is None:
        raise UnsupportedError("the header allows no cluster size", path=report.name)
    if report.mapping_refusals:
        raise ImageError(report.mapping_refusals[0].message.rstrip("."), path=report.name)
    return geometry


def _cluster_bytes(report: ImageReport) -> int:
    return _geometry(report).cluster_bytes


# -------------------------------------------------------------------- words and colours


def _key(value: int, name: str, meaning: str, colour: str, *, fault: bool = False) -> Key:
    return Key(value, name, meaning, named_colour(colour), fault)


def _difference_keys(left: str, right: str) -> tuple[Key, ...]:
    return (
        _key(
            Difference.SAME,
            translate("overlays", "the same"),
            translate("overlays", "A guest reads the same bytes from both."),
            "free",
        ),
        _key(
            Difference.UNKNOWN,
            translate("overlays", "can’t be read"),
            translate("overlays", "One of the two is damaged here: nobody can say."),
            "snapshot-only",
        ),
        _key(
            Difference.LEFT_ONLY,
            translate("overlays", "only in {name}").format(name=left),
            translate("overlays", "The other one reads as zeros."),
            "compressed",
            fault=True,
        ),
        _key(
            Difference.RIGHT_ONLY,
            translate("overlays", "only in {name}").format(name=right),
            translate("overlays", "This image reads as zeros."),
            "leaked",
            fault=True,
        ),
        _key(
            Difference.BOTH,
            translate("overlays", "different"),
            translate("overlays", "Both have data here, and not the same."),
            "contested",
            fault=True,
        ),
    )


def _sharing_keys() -> tuple[Key, ...]:
    return (
        _key(
            Sharing.NEITHER,
            translate("overlays", "in neither"),
            translate("overlays", "Neither the snapshot nor the active disk stores anything."),
            "free",
        ),
        _key(
            Sharing.SAME,
            translate("overlays", "shared"),
            translate("overlays", "The active disk has the same mapping: unchanged since."),
            "data",
        ),
        _key(
            Sharing.ACTIVE_ONLY,
            translate("overlays", "written since"),
            translate("overlays", "The active disk has an entry; the snapshot stores nothing."),
            "active-l2",
        ),
        _key(
            Sharing.KEPT_ELSEWHERE,
            translate("overlays", "changed, kept by others"),
            translate("overlays", "A further snapshot leads to the old data, too."),
            "snapshot-only",
        ),
        _key(
            Sharing.ONLY_HERE,
            translate("overlays", "only in this snapshot"),
            translate("overlays", "No other disk leads to it: deleting the snapshot frees it."),
            "leaked",
        ),
        _key(
            Sharing.UNREADABLE,
            translate("overlays", "can’t be told"),
            translate("overlays", "A table is missing, or an entry contradicts the format."),
            "contested",
            fault=True,
        ),
    )


def _mark_keys() -> tuple[Key, ...]:
    return (
        _key(
            Mark.CLEAN,
            translate("overlays", "clean"),
            translate("overlays", "No bit is set: not written since the bitmap was cleared."),
            "free",
        ),
        _key(
            Mark.DIRTY,
            translate("overlays", "dirty"),
            translate("overlays", "A bit is set: an incremental backup would copy it."),
            "active-l2",
        ),
        _key(
            Mark.UNKNOWN,
            translate("overlays", "bits can’t be read"),
            translate("overlays", "The bitmap’s table or its cluster is damaged or cut off."),
            "contested",
            fault=True,
        ),
    )


def _amount(layer: MapLayer, *values: int) -> tuple[int, str]:
    """(clusters, "3 clusters (192 KiB)") of values."""
    found = layer.tally()
    clusters = sum(found[value].clusters for value in values if value in found)
    size = sum(found[value].bytes for value in values if value in found)
    return clusters, f"{format_count(clusters, 'cluster')} ({format_size(size)})"


def _difference_sentence(found: Differences, layer: MapLayer) -> str:
    d = Difference
    count, differing = _amount(layer, d.LEFT_ONLY, d.RIGHT_ONLY, d.BOTH)
    unread, unknown = _amount(layer, d.UNKNOWN)
    if count:
        text = translate("overlays", "{amount} differ in what a guest reads.").format(
            amount=differing
        )
    elif unread:
        text = translate("overlays", "What can be read of both is the same.")
    else:
        text = translate("overlays", "A guest reads the same from both.")
    parts = [text]
    if unread:
        parts.append(
            translate("overlays", "{amount} can’t be read in one of them.").format(amount=unknown)
        )
    if found.left_bytes != found.right_bytes:
        sizes = translate("overlays", "The disks are {left} and {right} large.")
        parts.append(
            sizes.format(left=format_size(found.left_bytes), right=format_size(found.right_bytes))
        )
    return " ".join(parts)


def _snapshot_sentence(snapshot: Snapshot, layer: MapLayer) -> str:
    alone = _amount(layer, Sharing.ONLY_HERE)[1]
    changed = _amount(layer, Sharing.ACTIVE_ONLY, Sharing.KEPT_ELSEWHERE, Sharing.ONLY_HERE)[1]
    return translate(
        "overlays",
        "Snapshot “{name}”: {changed} of the guest’s disk have another mapping now; {alone} are"
        " held by this snapshot only.",
    ).format(name=snapshot.name, changed=changed, alone=alone)


def _bitmap_sentence(bitmap: BitmapEntry, layer: MapLayer) -> str:
    dirty = _amount(layer, Mark.DIRTY)[1]
    text = translate("overlays", "Bitmap “{name}” marks {amount}.").format(
        name=bitmap.name, amount=dirty
    )
    if bitmap.in_use:
        text += " " + translate(
            "overlays", "It was not saved cleanly (in use): QEMU does not trust its bits."
        )
    return text
