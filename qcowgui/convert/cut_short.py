"""Where a source's file ends before what its tables point to: reading it fails there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from qcowgui.convert.plan import is_stored
from qcowgui.errors import TruncatedError
from qcowgui.format.entries import ClusterKind
from qcowgui.image.layer import ExtentKind
from qcowgui.image.qcow2_layer import Qcow2Layer
from qcowgui.units import format_offset

if TYPE_CHECKING:
    from qcowgui.engine.work import CancelToken
    from qcowgui.image.chain import OpenedImage


def find_cut(source: OpenedImage, token: CancelToken) -> TruncatedError | None:
    """The first guest range found whose clusters lie beyond the end of their file, or None.

    Looks through the tables of every qcow2 file of the chain, and at no data. A compressed cluster
    counts only when it begins beyond the end: how long it is, only decoding it tells. Clusters in
    an external data file are left out.

    Raises:
        ImageError: When the source's mapping can't be used.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    for depth, layer in enumerate(source.layers):
        if not isinstance(layer, Qcow2Layer):
            continue
        opened = source.chain[depth]
        if opened.report is not None and opened.report.header.has_data_file:
            continue
        for guest_offset, payload_offset in _iter_suspects(layer, opened.file_bytes, token):
            guest_end = guest_offset + layer.cluster_bytes
            error = _cut_in(source, depth, guest_offset, guest_end, payload_offset)
            if error is not None:
                return error
    return None


def _iter_suspects(
    layer: Qcow2Layer, file_bytes: int, token: CancelToken
) -> Iterator[tuple[int, int]]:
    """The layer's clusters that reach beyond the end; another layer may hide them.

    Each with its guest offset and the host offset of its first byte.
    """
    cluster_bytes = layer.cluster_bytes
    for span in layer.mapping.iter_spans(0, layer.size_bytes):
        token.raise_if_cancelled()
        view = span.view
        if view is None:
            continue
        compressed = view.kinds == ClusterKind.COMPRESSED
        needed = view.host_offsets + np.where(compressed, 1, cluster_bytes)
        stored = compressed | (view.kinds == ClusterKind.NORMAL) | (view.kinds == ClusterKind.MIXED)
        beyond = stored & (needed > file_bytes)
        for index in np.flatnonzero(beyond).tolist():
            token.raise_if_cancelled()
            yield (span.first_cluster + index) * cluster_bytes, int(view.host_offsets[index])


def _cut_in(
    source: OpenedImage, depth: int, start: int, end: int, payload_offset: int
) -> TruncatedError | None:
    """The error of reading the guest range [start, end) of one cluster, if there is one.

    Args:
        source: The source.
        depth: The layer that is suspected.
        start: First guest byte.
        end: End (exclusive).
        payload_offset: Where the payload begins in the layer's file, if that is what it holds.
    """
    opened = source.chain[depth]
    for extent in source.iter_extents(start, end):
        if extent.depth != depth or not is_stored(extent):
            continue
        compressed = extent.kind is ExtentKind.COMPRESSED
        host_offset = payload_offset if compressed else extent.host_offset
        if host_offset is None:
            continue
        length = 1 if compressed else extent.length
        found = max(0, opened.file_bytes - host_offset)
        if found < length:
            return TruncatedError(
                f"guest offset {format_offset(extent.start + found)} lies at host offset "
                f"{format_offset(host_offset + found)}, beyond the end of the file "
                f"({format_offset(opened.file_bytes)})",
                path=str(opened.path),
                guest_offset=extent.start + found,
                needed_offset=host_offset + length,
                file_bytes=opened.file_bytes,
            )
    return None
