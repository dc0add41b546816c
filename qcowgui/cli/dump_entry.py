"""`qcowgui dump IMAGE entry OFFSET`: the way from a guest byte to its host byte, step by step."""

from __future__ import annotations

from collections.abc import Iterator

from qcowgui.cli.dump_fields import BIT_COLUMNS, bit_rows
from qcowgui.cli.dump_tables import geometry_of, l1_word
from qcowgui.cli.output import Column, Table
from qcowgui.errors import CorruptError, UsageError
from qcowgui.format import describe, fields
from qcowgui.format.entries import ClusterKind, L1Entry, L2Entry, SubclusterKind
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.tables import decode_l2, parse_words
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import format_count, format_hex, format_offset

_LEFT_TO_OTHERS = "not allocated: it reads from the backing file, or as zeros where none has it"


def entry_tables(source: ByteSource, report: ImageReport, guest_offset: int) -> Iterator[Table]:
    """The L1 entry, the L2 entry and the place of one guest byte, as tables.

    Raises:
        UsageError: When the disk ends before `guest_offset`.
        CorruptError: When the file ends before an entry.
    """
    geometry = geometry_of(report)
    if guest_offset >= report.virtual_bytes:
        raise UsageError(
            f"guest offset {format_offset(guest_offset)} lies beyond the end of the disk "
            f"({format_offset(report.virtual_bytes)})"
        )
    l1_index, l2_index = geometry.l1_index(guest_offset), geometry.l2_index(guest_offset)
    l1_offset = report.header.l1_table_offset + l1_index * ENTRY_BYTES
    word = l1_word(source, report, l1_index)
    yield _word_table("l1-entry", f"L1[{l1_index}]", fields.L1_BITS, word, l1_offset)
    table_offset = L1Entry(word).l2_table_offset
    if not table_offset:
        yield _conclusion(guest_offset, _LEFT_TO_OTHERS, None)
        return
    entry_offset = table_offset + l2_index * geometry.l2_entry_bytes
    raw = source.read_at(entry_offset, geometry.l2_entry_bytes)
    if len(raw) < geometry.l2_entry_bytes:
        raise CorruptError(
            f"L1[{l1_index}]/L2[{l2_index}] would be at {format_offset(entry_offset)}, beyond the "
            f"end of the file ({format_offset(source.size_bytes)})",
            path=source.name,
        )
    bitmap = int.from_bytes(raw[ENTRY_BYTES:], "big")
    entry = L2Entry(int.from_bytes(raw[:ENTRY_BYTES], "big"), bitmap, geometry)
    bits = (
        fields.compressed_bits(geometry.cluster_bits)
        if entry.is_compressed
        else fields.L2_STANDARD_BITS
    )
    name = f"L1[{l1_index}]/L2[{l2_index}]"
    yield _word_table("l2-entry", name, bits, entry.word, entry_offset)
    if geometry.extended_l2:
        title = f"{name}, subclusters"
        bitmap_offset = entry_offset + ENTRY_BYTES
        yield _word_table("subclusters", title, fields.SUBCLUSTER_BITS, bitmap, bitmap_offset)
    yield _conclusion(guest_offset, *_place(report, geometry, entry, raw, guest_offset))


def _word_table(
    key: str, name: str, bits: tuple[fields.BitField, ...], word: int, host_offset: int
) -> Table:
    title = f"{name} at {format_offset(host_offset)}: {format_hex(word)}"
    return Table(key, title, BIT_COLUMNS, bit_rows(bits, word, host_offset))


def _place(
    report: ImageReport, geometry: Geometry, entry: L2Entry, raw: bytes, guest_offset: int
) -> tuple[str, int | None]:
    """What the entry says of one guest byte, in words, and its host offset where it has one."""
    words = parse_words(raw)
    cluster_offset = guest_offset - geometry.offset_in_cluster(guest_offset)
    view = decode_l2(
        words[:1],
        words[1:] if geometry.extended_l2 else None,
        geometry,
        version=report.header.version,
        data_file_guest_offset=cluster_offset if report.header.has_data_file else None,
    )
    kind = ClusterKind(int(view.kinds[0]))
    if kind is ClusterKind.MIXED:
        index = geometry.offset_in_cluster(guest_offset) // geometry.subcluster_bytes
        kind = _SUBCLUSTER_KINDS[entry.subclusters()[index]]
    if kind is ClusterKind.COMPRESSED:
        payload = entry.compressed
        size = format_count(payload.max_payload_bytes, "byte")
        return f"inside a compressed cluster; its payload has at most {size}", payload.host_offset
    if kind is ClusterKind.NORMAL:
        where = "stored in the data file" if report.header.has_data_file else "stored"
        return where, entry.host_offset + geometry.offset_in_cluster(guest_offset)
    if kind is ClusterKind.ZERO_ALLOC:
        return "reads as zeros; its host cluster is kept for later", entry.host_offset
    if kind is ClusterKind.ZERO_PLAIN:
        return "reads as zeros", None
    if kind is ClusterKind.UNALLOCATED:
        return _LEFT_TO_OTHERS, None
    return "the entry contradicts the format; reading it is an error", None


_SUBCLUSTER_KINDS = {
    SubclusterKind.UNALLOCATED: ClusterKind.UNALLOCATED,
    SubclusterKind.ZERO: ClusterKind.ZERO_PLAIN,
    SubclusterKind.NORMAL: ClusterKind.NORMAL,
    SubclusterKind.INVALID: ClusterKind.INVALID,
}


def _conclusion(guest_offset: int, where: str, host_offset: int | None) -> Table:
    title = f"Guest byte {describe.offset_text(guest_offset)}"
    columns = (
        Column("guest-offset", None),
        Column("where", "it is"),
        Column("host-offset", None),
        Column("host-text", "host offset"),
    )
    text = "" if host_offset is None else describe.offset_text(host_offset)
    return Table("place", title, columns, [(guest_offset, where, host_offset, text)])
