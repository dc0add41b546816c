"""The tables of an image entry by entry: L1, L2, refcount table, refcount blocks.

A table is read in parts and its empty entries are skipped by numpy, so that one of 32 MiB prints
its first entries at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.cli.dump_fields import show_offset
from qcowgui.cli.output import Cell, Column, Table
from qcowgui.errors import CorruptError, UsageError
from qcowgui.format import geometry as geo
from qcowgui.format import limits
from qcowgui.format.entries import ClusterKind, L1Entry
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.refcounts import unpack_refcounts
from qcowgui.format.tables import decode_l2, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import KIB, format_count, format_hex, format_offset

_PART_BYTES: Final = 64 * KIB

Row = tuple[Cell, ...]


@dataclass(slots=True)
class Selection:
    """Which entries of a table are printed, and whether that left some out.

    Attributes:
        first: Index of the first one.
        count: How many from there on, empty ones too; None: to the end, without empty ones.
        limit: The largest number of entries that are not empty; None for all.
        cut: Set once a table has more entries than `limit`.
    """

    first: int
    count: int | None
    limit: int | None
    cut: bool = False


def show_word(cell: Cell) -> str:
    """A 64-bit word as hexadecimal digits."""
    return format_hex(int(cell or 0))


def geometry_of(report: ImageReport) -> Geometry:
    """The image's geometry.

    Raises:
        CorruptError: When the header's numbers allow none, so that no table can be found.
    """
    geometry = report.header.geometry
    if geometry is None:
        raise CorruptError(
            "the header's cluster_bits or refcount_order is impossible, so no table can be found",
            path=report.name,
        )
    return geometry


def l1_word(source: ByteSource, report: ImageReport, l1_index: int) -> int:
    """An entry of the active L1 table.

    Raises:
        UsageError: When the table has no such entry.
        CorruptError: When the file ends before it.
    """
    header = report.header
    if l1_index >= header.l1_size:
        entries = format_count(header.l1_size, "entry", "entries")
        raise UsageError(f"the L1 table has {entries}, counted from 0; there is no {l1_index:,}")
    return _word_at(source, header.l1_table_offset + l1_index * ENTRY_BYTES, f"L1[{l1_index}]")


def _word_at(source: ByteSource, offset: int, name: str) -> int:
    raw = source.read_at(offset, ENTRY_BYTES)
    if len(raw) < ENTRY_BYTES:
        raise CorruptError(
            f"{name} would be at {format_offset(offset)}, beyond the end of the file "
            f"({format_offset(source.size_bytes)})",
            path=source.name,
        )
    return int.from_bytes(raw, "big")


def l1_table(source: ByteSource, report: ImageReport, selection: Selection) -> Table:
    """The active L1 table."""
    geometry = geometry_of(report)
    columns = (
        Column("index", "L1", right=True),
        Column("offset", "offset", show=show_offset, right=True),
        Column("word", "raw", show=show_word, whole=True),
        Column("guest-offset", "guest offset", show=show_offset, right=True),
        Column("l2-table-offset", "L2 table at", show=show_offset, right=True),
        Column("copied", "copied"),
        Column("reserved", "reserved bits", show=_show_reserved),
    )

    def row(index: int, offset: int, word: int) -> Row:
        entry = L1Entry(word)
        guest_offset = geometry.guest_offset(index)
        table = entry.l2_table_offset
        return index, offset, word, guest_offset, table, entry.copied, entry.reserved

    header = report.header
    entries = min(header.l1_size, limits.MAX_L1_BYTES // ENTRY_BYTES)
    rows = _word_rows(source, header.l1_table_offset, entries, selection, row)
    title = f"Active L1 table, {format_count(header.l1_size, 'entry', 'entries')}"
    return Table("l1", title, columns, rows, _NONE_SET)


_NONE_SET: Final = "no entry that is not zero"


def _show_reserved(cell: Cell) -> str:
    return show_word(cell) if cell else ""


def _word_rows(
    source: ByteSource,
    table_offset: int,
    entries: int,
    selection: Selection,
    make_row: Callable[[int, int, int], Row],
) -> Iterator[Row]:
    """Rows of a table of 64-bit words; `make_row` gets index, host offset and word."""
    left = selection.limit
    end = entries if selection.count is None else min(entries, selection.first + selection.count)
    for start in range(selection.first, end, _PART_BYTES // ENTRY_BYTES):
        size = min(_PART_BYTES // ENTRY_BYTES, end - start) * ENTRY_BYTES
        words = parse_words(source.read_at(table_offset + start * ENTRY_BYTES, size))
        chosen = np.arange(len(words)) if selection.count is not None else np.flatnonzero(words)
        for position in chosen.tolist():
            if left == 0:
                selection.cut = True
                return
            left = None if left is None else left - 1
            index = start + position
            yield make_row(index, table_offset + index * ENTRY_BYTES, int(words[position]))


def l2_table(source: ByteSource, report: ImageReport, l1_index: int, selection: Selection) -> Table:
    """The L2 table that an entry of the active L1 table names.

    Raises:
        UsageError: When there is no such L1 entry, or it names no table.
    """
    geometry = geometry_of(report)
    offset = L1Entry(l1_word(source, report, l1_index)).l2_table_offset
    if not offset:
        raise UsageError(f"L1[{l1_index}] names no L2 table: its guest range is not allocated")
    columns = (
        Column("index", "L2", right=True),
        Column("offset", "offset", show=show_offset, right=True),
        Column("word", "raw", show=show_word, whole=True),
        Column("bitmap", "subclusters" if geometry.extended_l2 else None, show=show_word),
        Column("guest-offset", "guest offset", show=show_offset, right=True),
        Column("kind", "kind"),
        Column("host-offset", "host offset", show=show_offset, right=True),
        Column("payload-bytes", "payload", right=True),
        Column("copied", "copied"),
    )
    rows = _l2_rows(source, report, geometry, l1_index, offset, selection)
    title = f"L2 table of L1[{l1_index}] at {format_offset(offset)}"
    return Table("l2", title, columns, rows, _NONE_SET)


def _l2_rows(
    source: ByteSource,
    report: ImageReport,
    geometry: Geometry,
    l1_index: int,
    table_offset: int,
    selection: Selection,
) -> Iterator[Row]:
    words = parse_words(source.read_at(table_offset, geometry.cluster_bytes))
    bitmaps = None
    if geometry.extended_l2:
        pairs = len(words) // 2
        words, bitmaps = words[: 2 * pairs : 2].copy(), words[1 : 2 * pairs : 2].copy()
    guest_start = geometry.guest_offset(l1_index)
    view = decode_l2(
        words,
        bitmaps,
        geometry,
        version=report.header.version,
        data_file_guest_offset=guest_start if report.header.has_data_file else None,
    )
    used = words != 0 if bitmaps is None else (words | bitmaps) != 0
    for index in _chosen(used, selection):
        kind = ClusterKind(int(view.kinds[index]))
        payload = int(view.payload_bytes[index]) if kind is ClusterKind.COMPRESSED else None
        word = int(words[index])
        yield (
            index,
            table_offset + index * geometry.l2_entry_bytes,
            word,
            None if bitmaps is None else int(bitmaps[index]),
            geometry.guest_offset(l1_index, index),
            kind.name.lower().replace("_", " "),
            int(view.host_offsets[index]) or None,
            payload,
            bool(word & geo.COPIED),
        )


def _chosen(
    used: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], selection: Selection
) -> list[int]:
    """The indexes that `selection` names of a table whose entries are all in memory."""
    if selection.count is not None:
        last = min(len(used), selection.first + selection.count)
        return list(range(selection.first, last))
    found = np.flatnonzero(used[selection.first :]) + selection.first
    selection.cut = selection.limit is not None and len(found) > selection.limit
    return [int(index) for index in found[: selection.limit]]


def refcount_table(source: ByteSource, report: ImageReport, selection: Selection) -> Table:
    """The refcount table."""
    geometry = geometry_of(report)
    columns = (
        Column("index", "entry", right=True),
        Column("offset", "offset", show=show_offset, right=True),
        Column("word", "raw", show=show_word, whole=True),
        Column("block-offset", "block at", show=show_offset, right=True),
        Column("first-cluster", "first cluster", right=True),
        Column("host-offset", "counts from", show=show_offset, right=True),
        Column("reserved", "reserved bits", show=_show_reserved),
    )

    def row(index: int, offset: int, word: int) -> Row:
        cluster = index * geometry.refcounts_per_block
        block = word & geo.REFCOUNT_OFFSET_MASK
        reserved = word & geo.REFCOUNT_RESERVED_MASK
        return index, offset, word, block, cluster, cluster << geometry.cluster_bits, reserved

    header = report.header
    entries = _refcount_table_entries(report, geometry)
    rows = _word_rows(source, header.refcount_table_offset, entries, selection, row)
    title = f"Refcount table, {entries:,} entries"
    return Table("refcount-table", title, columns, rows, _NONE_SET)


def _refcount_table_entries(report: ImageReport, geometry: Geometry) -> int:
    size = report.header.refcount_table_clusters * geometry.cluster_bytes
    return min(size, limits.MAX_REFCOUNT_TABLE_BYTES) // ENTRY_BYTES


def refcount_block(
    source: ByteSource, report: ImageReport, table_index: int, selection: Selection
) -> Table:
    """The refcount block that an entry of the refcount table names.

    Raises:
        UsageError: When there is no such entry, or it names no block.
    """
    geometry = geometry_of(report)
    entries = _refcount_table_entries(report, geometry)
    if table_index >= entries:
        raise UsageError(f"the refcount table has {entries:,} entries; there is no {table_index:,}")
    entry_offset = report.header.refcount_table_offset + table_index * ENTRY_BYTES
    word = _word_at(source, entry_offset, f"refcount table entry {table_index}")
    offset = word & geo.REFCOUNT_OFFSET_MASK
    if not offset:
        raise UsageError(f"entry {table_index} of the refcount table names no block")
    counts = unpack_refcounts(
        source.read_at(offset, geometry.cluster_bytes), geometry.refcount_order
    )
    first_cluster = table_index * geometry.refcounts_per_block
    columns = (
        Column("index", "entry", right=True),
        Column("cluster", "cluster", right=True),
        Column("host-offset", "host offset", show=show_offset, right=True),
        Column("refcount", "refcount", right=True),
    )
    rows = (
        (
            index,
            first_cluster + index,
            (first_cluster + index) << geometry.cluster_bits,
            int(counts[index]),
        )
        for index in _chosen(counts != 0, selection)
    )
    title = f"Refcount block {table_index} at {format_offset(offset)}"
    return Table("refcount-block", title, columns, rows, _NONE_SET)
