"""What the active mapping amounts to: clusters by kind, and whether the file has them all.

Reads every L2 table once, and no data: a terabyte of 64 KiB clusters has 128 MiB of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.errors import LimitError
from qcowgui.format.entries import ClusterKind
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
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
        unusable_clusters: With an entry that contradicts the format or can't be read.
        host_end_offset: End (exclusive) of the last host byte that a stored cluster uses.
        cut_clusters: Stored clusters that lie, in whole or in part, beyond the end of the file.
        file_bytes: The length of the file that holds them.
    """

    total_clusters: int
    normal_clusters: int
    compressed_clusters: int
    zero_clusters: int
    unusable_clusters: int
    host_end_offset: int
    cut_clusters: int
    file_bytes: int

    @property
    def stored_clusters(self) -> int:
        """Guest clusters that have bytes in the file."""
        return self.normal_clusters + self.compressed_clusters

    @property
    def missing_bytes(self) -> int:
        """Bytes that the file lacks at its end; at least so many were lost."""
        return max(0, self.host_end_offset - self.file_bytes)

    def findings(self) -> list[Finding]:
        """A finding when the file is cut short."""
        if not self.cut_clusters:
            return []
        percent = 100 * self.cut_clusters / max(1, self.stored_clusters)
        return [
            Finding(
                "file-shorter-than-image",
                Severity.CORRUPTION,
                f"The file is cut short: at least {format_size(self.missing_bytes)} more are "
                f"needed; {self.cut_clusters:,} of {self.stored_clusters:,} stored clusters "
                f"({percent:.1f} %) are missing or incomplete.",
                "file",
                host_offset=self.file_bytes,
                raw=self.file_bytes,
                expected=f"at least {self.host_end_offset:,} bytes",
                spec="2.5",
            )
        ]


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
    for span in mapping.iter_spans(0, mapping.virtual_bytes):
        if token is not None:
            token.raise_if_cancelled()
        if span.view is not None:
            counts += np.bincount(span.view.kinds, minlength=len(ClusterKind))
            end, missing = _reach(span.view, geometry, file_bytes, source.size_bytes)
            host_end, cut = max(host_end, end), cut + missing
    return MappingSummary(
        total_clusters=geometry.clusters(report.virtual_bytes),
        normal_clusters=int(counts[ClusterKind.NORMAL] + counts[ClusterKind.MIXED]),
        compressed_clusters=int(counts[ClusterKind.COMPRESSED]),
        zero_clusters=int(counts[ClusterKind.ZERO_PLAIN] + counts[ClusterKind.ZERO_ALLOC]),
        unusable_clusters=int(counts[ClusterKind.INVALID] + counts[ClusterKind.MISSING]),
        host_end_offset=host_end,
        cut_clusters=cut,
        file_bytes=file_bytes,
    )


def l2_table_bytes(report: ImageReport) -> int:
    """Upper bound of what `summarise_mapping` reads: L2 tables for the whole L1 table."""
    geometry = report.header.geometry
    return 0 if geometry is None else report.header.l1_size * (geometry.cluster_bytes + ENTRY_BYTES)


def _reach(
    view: L2View, geometry: Geometry, file_bytes: int, compressed_file_bytes: int
) -> tuple[int, int]:
    """(end of the last stored byte, stored clusters that the file does not hold in full)."""
    end, cut = 0, 0
    plain = (view.kinds == ClusterKind.NORMAL) | (view.kinds == ClusterKind.MIXED)
    hosts = view.host_offsets[plain & (view.host_offsets > 0)]
    if len(hosts):
        end = int(hosts.max()) + geometry.cluster_bytes
        cut = int(np.count_nonzero(hosts + geometry.cluster_bytes > file_bytes))
    packed = view.kinds == ClusterKind.COMPRESSED
    starts = view.host_offsets[packed]
    if len(starts):
        # The descriptor's last sector is normally cut: only its first byte surely exists.
        lasts = starts + view.payload_bytes[packed] - SECTOR_BYTES
        end = max(end, int(lasts.max()) + 1)
        cut += int(np.count_nonzero(lasts >= compressed_file_bytes))
    return end, cut
