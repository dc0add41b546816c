"""Persistent bitmaps: whether they must go, and bits behind the end of the disk. Spec: 1.12"""

from __future__ import annotations

from collections.abc import Iterator

from qcowgui.check.checker import CheckReport
from qcowgui.check.roles import Role, use_bit
from qcowgui.format.finding import Refusal, Severity
from qcowgui.image.patched import Edit
from qcowgui.image.source import ByteSource
from qcowgui.repair.edits import edits_between
from qcowgui.units import align_up, ceil_div


def reason_to_drop(checked: CheckReport) -> str:
    """The code of the finding for which all bitmaps are to be taken out; empty when they can stay.

    QEMU drops those that a program has made stale, at its next write. It opens no image with one
    that is damaged, or finds errors in it that only a new bitmap removes.
    """
    codes = {group.code: group for group in checked.groups}
    if "bitmaps-not-consistent" in codes:
        return "bitmaps-not-consistent"
    for code, group in codes.items():
        if code.startswith("bitmap") and (
            group.severity >= Severity.CORRUPTION
            or any(finding.refusal is not Refusal.NONE for finding in group.first)
        ):
            return code
    beyond = codes.get("metadata-beyond-eof")
    if beyond and any(finding.structure.startswith("bitmap") for finding in beyond.first):
        return "metadata-beyond-eof"
    return ""


def iter_bitmap_edits(source: ByteSource, checked: CheckReport) -> Iterator[Edit]:
    """The edits of the bitmaps that a check has found such bits in.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    ownership, report = checked.ownership, checked.image
    entries = {entry.index: entry for entry in report.bitmaps}
    done: set[int] = set()
    for group in checked.groups:
        if group.code != "bitmap-tail":
            continue
        for finding in group.first:
            entry = entries.get(-1 if finding.entry is None else finding.entry)
            start = finding.host_offset
            if entry is None or start is None or start in done:
                continue
            done.add(start)
            cluster = start // ownership.cluster_bytes
            uses, references = int(ownership.uses[cluster]), int(ownership.computed[cluster])
            if uses != use_bit(Role.BITMAP_DATA) or references != 1:
                continue
            before = source.read_at(start, align_up(start + 1, ownership.cluster_bytes) - start)
            used_bits = ceil_div(report.virtual_bytes, 1 << entry.granularity_bits) % 8
            after = bytes([before[0] & ((1 << used_bits) - 1)]) + bytes(len(before) - 1)
            yield from edits_between(
                start,
                before,
                after,
                f"Bits of bitmap {entry.index} behind the end of the disk become zero.",
                "bitmap-tail",
            )
