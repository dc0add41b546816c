"""Compressed descriptors whose sector count is not that of their payload. Spec: 1.9"""

from __future__ import annotations

from collections.abc import Sequence

from qcowgui.check.payloads import PayloadJudge
from qcowgui.codec.registry import CompressionType
from qcowgui.format.entries import L2Entry
from qcowgui.format.finding import Finding
from qcowgui.format.geometry import COPIED
from qcowgui.repair.entry_pass import Editable, View
from qcowgui.repair.table_book import TableBook, TablePlace

SECTOR_CODES = frozenset({"payload-sectors-short", "payload-sectors-long"})


def collect_sector_fixes(
    view: View, findings: Sequence[Finding], book: TableBook, editable: Editable
) -> None:
    """Enter the right sector counts for what a deep check found.

    Args:
        view: The image.
        findings: Those of a deep check; only the ones of `SECTOR_CODES` matter.
        book: Takes the fixes.
        editable: Says which tables may be edited.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    geometry = view.report.header.geometry
    if geometry is None or not findings:
        return
    judge = PayloadJudge(
        CompressionType(view.report.header.compression_type), geometry.cluster_bytes
    )
    for finding in findings:
        if finding.code not in SECTOR_CODES or finding.host_offset is None or finding.raw is None:
            continue
        index = finding.entry or 0
        host_offset = finding.host_offset - index * geometry.l2_entry_bytes
        entry = L2Entry(finding.raw, 0, geometry)
        window = view.source.read_at(entry.host_offset, 2 * geometry.cluster_bytes)
        true_end = judge.judge(window, entry.compressed).true_end
        if true_end is None or not editable.allows_l2(host_offset):
            continue
        # The flags of the entry are another matter.
        word = geometry.compressed_descriptor(entry.host_offset, true_end)
        word |= finding.raw & COPIED
        l1_index = 0 if finding.guest_start is None else geometry.l1_index(finding.guest_start)
        place = TablePlace(host_offset, False, finding.snapshot, l1_index)
        book.add_sectors(place, index, word)
