"""The tables of persistent bitmaps, as far as an open looks at them. Spec: 1.12

QEMU loads every bitmap that is not in use when it opens an image, and refuses the image because of
one bad table entry. So a report must have looked at the tables too; their bits stay unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qcowgui.format import limits
from qcowgui.format.bitmaps import BitmapClusterKind, BitmapEntry, decode_bitmap_table
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB

_WINDOW_BYTES = MIB
_LEAST_COST_BYTES = 4096


def iter_bitmap_table_findings(
    source: ByteSource, entries: Sequence[BitmapEntry], *, cluster_bits: int
) -> Iterator[Finding]:
    """A finding for each bitmap whose table has entries that contradict the format.

    Reads at most `limits.MAX_BITMAP_TABLES_READ_BYTES`: a crafted directory may name one large
    table 65,535 times. What lies behind the end of the file counts as zeros, as in QEMU.

    Args:
        source: The image.
        entries: Bitmaps of its directory, whose places and sizes the caller has tested.
        cluster_bits: Of the image.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    budget_bytes = limits.MAX_BITMAP_TABLES_READ_BYTES
    for entry in entries:
        table_bytes = entry.bitmap_table_size * ENTRY_BYTES
        budget_bytes -= max(table_bytes, _LEAST_COST_BYTES)
        if budget_bytes < 0:
            return
        first, count = _invalid_entries(
            source, entry.bitmap_table_offset, table_bytes, cluster_bits
        )
        if count:
            yield Finding(
                "bitmap-table",
                Severity.CORRUPTION,
                f"Entry {first:,} of the table of bitmap {entry.index} (“{entry.name[:40]}”) has "
                "reserved bits or an impossible offset.",
                "bitmap table",
                host_offset=entry.bitmap_table_offset + first * ENTRY_BYTES,
                entry=first,
                spec="1.12",
                count=count,
                refusal=Refusal.QEMU,
            )


def _invalid_entries(
    source: ByteSource, table_offset: int, table_bytes: int, cluster_bits: int
) -> tuple[int, int]:
    """The index of the first invalid entry (0 when there is none), and how many there are."""
    first, count = 0, 0
    for start in range(0, table_bytes, _WINDOW_BYTES):
        wanted = min(_WINDOW_BYTES, table_bytes - start)
        data = source.read_at(table_offset + start, wanted)
        kinds = decode_bitmap_table(data, cluster_bits=cluster_bits).kind
        invalid = np.flatnonzero(kinds == BitmapClusterKind.INVALID)
        if len(invalid) and not count:
            first = start // ENTRY_BYTES + int(invalid[0])
        count += len(invalid)
        if len(data) < wanted:
            break
    return first, count
