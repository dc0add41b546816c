"""What the active mapping amounts to: clusters by kind, and whether the file has them all.

Reads every L2 table once, a terabyte of 64 KiB clusters has 128 MiB of them, and no data but the
first bytes of one zstd payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qcowgui.codec.registry import CompressionType
from qcowgui.codec.zstd_frame import strip_prerelease_length
from qcowgui.engine.work import CancelToken
from qcowgui.errors import LimitError
from qcowgui.format.entries import ClusterKind
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import COPIED, ENTRY_BYTES, Geometry
from qcowgui.format.tables import L2View
from qcowgui.image.inspect import ImageReport
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.source import ByteSource
from qcowgui.units import SECTOR_BYTES, align_up, format_size


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """Guest clusters of the active disk by kind, and how far the file has to reach.

    Attributes:
        total_clusters: Guest clusters of the virtual disk.
        normal_clusters: Stored as they are, in whole or (with subclusters) in part.
        compressed_clusters: Stored compressed.
        zero_clusters: Said to read as zeros.
        unusable_clusters: With an entry that contradicts the format.
        unmapped_clusters: Whose entry can't be read: its table lies beyond the end of the file, or
            at an impossible offset.
        host_end_offset: End (exclusive) of the last host byte that a stored cluster uses.
        cut_clusters: Stored clusters that lie, in whole or in part, beyond the end of the file.
        file_bytes: The length of the file that holds them.
        prerelease_offset: Host offset of the first compressed cluster when it has the layout from
            before zstd's release in QEMU, else None.
    """

    total_clusters: int
    normal_clusters: int
    compressed_clusters: int
    zero_clusters: int
    unusable_clusters: int
    unmapped_clusters: int
    host_end_offset: int
    cut_clusters: int
    file_bytes: int
    prerelease_offset: int | None

    @property
    def stored_clusters(self) -> int:
        """Guest clusters that have bytes in the file."""
        return self.normal_clusters + self.compressed_clusters

    @property
    def missing_bytes(self) -> int:
        """Bytes that the file lacks at its end; at least so many were lost."""
        return max(0, self.host_end_offset - self.file_bytes)

    def findings(self) -> list[Finding]:
        """What is wrong: a file that is cut short, tables that are gone, an old zstd layout."""
        return [*self._iter_cut(), *self._iter_unmapped(), *self._iter_prerelease()]

    def _iter_cut(self) -> Iterator[Finding]:
        if not self.cut_clusters:
            return
        percent = 100 * self.cut_clusters / max(1, self.stored_clusters)
        yield Finding(
            "file-shorter-than-image",
            Severity.CORRUPTION,
            f"The file is cut short: at least {format_size(self.missing_bytes)} more are needed; "
            f"{self.cut_clusters:,} of {self.stored_clusters:,} stored clusters ({percent:.1f} %) "
            "are missing or incomplete.",
            "file",
            host_offset=self.file_bytes,
            raw=self.file_bytes,
            expected=f"at least {self.host_end_offset:,} bytes",
            spec="2.5",
        )

    def _iter_unmapped(self) -> Iterator[Finding]:
        if not self.unmapped_clusters:
            return
        percent = 100 * self.unmapped_clusters / self.total_clusters
        yield Finding(
            "l2-truncated",
            Severity.CORRUPTION,
            f"Where {self.unmapped_clusters:,} of {self.total_clusters:,} guest clusters "
            f"({percent:.1f} %) are stored can't be read: their L2 tables lie beyond the end of "
            "the file or at impossible offsets.",
            "L2 table",
            spec="2.5",
        )

    def _iter_prerelease(self) -> Iterator[Finding]:
        if self.prerelease_offset is None:
            return
        yield Finding(
            "prerelease-zstd",
            Severity.SUSPICIOUS,
            "Zstd clusters have a 4-byte length before the frame, a layout from before QEMU 5.1: "
            "this program reads them, QEMU does not.",
            "compressed cluster",
            host_offset=self.prerelease_offset,
            spec="1.9",
        )


def summarise_mapping(
    source: ByteSource,
    report: ImageReport,
    *,
    data_file_bytes: int | None = None,
    token: CancelToken | None = None,
) -> MappingSummary:
    """Count the guest clusters of the active disk.

    Args:
        source: The image.
        report: What `inspect` found about it.
        data_file_bytes: Length of the external data file, when there is one and it is known.
        token: Stops the work.

    Raises:
        LimitError: When the header allows no mapping at all.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    header = report.header
    geometry = header.geometry
    if geometry is None or report.mapping_refusals:
        raise LimitError("the header allows no mapping", path=report.name)
    mapping = GuestMapping(
        source,
        geometry,
        version=header.version,
        l1_table_offset=header.l1_table_offset,
        l1_size=header.l1_size,
        virtual_bytes=align_up(report.virtual_bytes, geometry.cluster_bytes),
        has_data_file=header.has_data_file,
    )
    file_bytes = source.size_bytes
    if header.has_data_file:
        # Without the data file nobody knows where it ends.
        file_bytes = data_file_bytes if data_file_bytes is not None else 1 << 63
    counts = np.zeros(len(ClusterKind), dtype=np.int64)
    host_end, cut = 0, 0
    sample: tuple[int, int] | None = None
    for span in mapping.iter_spans(0, mapping.virtual_bytes):
        if token is not None:
            token.raise_if_cancelled()
        if span.missing:
            counts[ClusterKind.MISSING] += geometry.clusters(span.end - span.start)
        elif span.view is not None:
            counts += np.bincount(span.view.kinds, minlength=len(ClusterKind))
            sample = sample or _first_payload(span.view)
            beyond_disk = max(0, span.end - report.virtual_bytes)
            end, missing = _reach(span.view, geometry, file_bytes, beyond_disk)
            host_end, cut = max(host_end, end), cut + missing
    return MappingSummary(
        total_clusters=geometry.clusters(report.virtual_bytes),
        normal_clusters=int(counts[ClusterKind.NORMAL] + counts[ClusterKind.MIXED]),
        compressed_clusters=int(counts[ClusterKind.COMPRESSED]),
        zero_clusters=int(counts[ClusterKind.ZERO_PLAIN] + counts[ClusterKind.ZERO_ALLOC]),
        unusable_clusters=int(counts[ClusterKind.INVALID]),
        unmapped_clusters=int(counts[ClusterKind.MISSING]),
        host_end_offset=host_end,
        cut_clusters=cut,
        file_bytes=file_bytes,
        prerelease_offset=(
            _prerelease_offset(source, *sample)
            if sample and header.compression_type == CompressionType.ZSTD
            else None
        ),
    )


def l2_table_bytes(report: ImageReport) -> int:
    """Upper bound of what `summarise_mapping` reads: L2 tables for the whole L1 table."""
    geometry = report.header.geometry
    return 0 if geometry is None else report.header.l1_size * (geometry.cluster_bytes + ENTRY_BYTES)


def _first_payload(view: L2View) -> tuple[int, int] | None:
    """(host offset, bytes at the most) of the first compressed cluster, or None."""
    packed = np.flatnonzero(view.kinds == ClusterKind.COMPRESSED)
    if not len(packed):
        return None
    return int(view.host_offsets[packed[0]]), int(view.payload_bytes[packed[0]])


def _prerelease_offset(source: ByteSource, host_offset: int, payload_bytes: int) -> int | None:
    payload = source.read_at(host_offset, payload_bytes)
    return host_offset if strip_prerelease_length(payload) is not None else None


def _reach(view: L2View, geometry: Geometry, file_bytes: int, beyond_disk: int) -> tuple[int, int]:
    """(end of the last stored byte, stored clusters that the file does not hold in full).

    The last cluster's `beyond_disk` bytes behind the end of the guest's disk need not exist.
    """
    mixed = view.kinds == ClusterKind.MIXED
    # Without data, a mixed cluster needs no host cluster; an external data file begins with one.
    placed = (view.host_offsets > 0) | ((view.words & np.uint64(COPIED)) != 0)
    plain = (view.kinds == ClusterKind.NORMAL) | (mixed & placed)
    ends = view.host_offsets + geometry.cluster_bytes
    ends[-1] -= beyond_disk
    packed = view.kinds == ClusterKind.COMPRESSED
    # The descriptor's last sector is normally cut: only its first byte surely exists.
    lasts = view.host_offsets + view.payload_bytes - SECTOR_BYTES
    ends[packed] = np.maximum(lasts, view.host_offsets)[packed] + 1
    ends = ends[plain | packed]
    if not len(ends):
        return 0, 0
    return int(ends.max()), int(np.count_nonzero(ends > file_bytes))
