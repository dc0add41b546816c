"""One traversal of all mapping tables of an image: the L1 tables, then the L2 tables they name.

Many L1 entries may name one L2 table: that is what internal snapshots do. So each table is read
and judged once, with the number of entries that name it. The work is bounded by the length of the
file, whatever the entries claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from qcowgui.check.l1_tables import (
    ACTIVE,
    L1Place,
    L1Table,
    MappingOwner,
    l1_places,
    load_l1_table,
)
from qcowgui.check.l2_places import L2Places, PlaceCollector
from qcowgui.check.l2_tables import L2Table, L2TableReader
from qcowgui.check.snapshot_list import SnapshotList, load_snapshot_list
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource

__all__ = [
    "ACTIVE",
    "L1Place",
    "L1Table",
    "L2Places",
    "L2Table",
    "MappingOwner",
    "iter_distinct_l2_tables",
    "iter_l1_tables",
    "iter_l2_tables",
]


def iter_l1_tables(
    source: ByteSource, report: ImageReport, snapshots: SnapshotList | None = None
) -> Iterator[L1Table]:
    """Every L1 table once: the active one, then those of the snapshots.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        snapshots: Its snapshot table, when that is loaded already.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    snapshots = snapshots or load_snapshot_list(source, report)
    for place in l1_places(report, snapshots).places:
        yield load_l1_table(source, place)


def iter_l2_tables(source: ByteSource, report: ImageReport, l1: L1Table) -> Iterator[L2Table]:
    """Every L2 table of one L1 table once, in the order of the L1 entries that name it first.

    Tables that are no clusters of the file (unaligned, at offset 0, beyond its end) are left out,
    and so are those that lie in a hole of the file: they have no entries.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    return _iter_tables(source, report, [l1])


def iter_distinct_l2_tables(
    source: ByteSource, report: ImageReport, snapshots: SnapshotList | None = None
) -> Iterator[L2Table]:
    """Every L2 table of the image once, those of the active disk first. See `iter_l2_tables`.

    Args:
        source: The image.
        report: What `inspect_source` says of it.
        snapshots: Its snapshot table, when that is loaded already.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    return _iter_tables(source, report, iter_l1_tables(source, report, snapshots))


def _iter_tables(
    source: ByteSource, report: ImageReport, l1_tables: Iterator[L1Table] | list[L1Table]
) -> Iterator[L2Table]:
    geometry = report.header.geometry
    if geometry is None:
        return
    collector = PlaceCollector(geometry, source.size_bytes, sound_only=True)
    for l1 in l1_tables:
        collector.add(l1)
    yield from L2TableReader(source, report).iter_tables(collector.places())
