"""What of the header's numbers QEMU refuses, or nobody expects. Spec: 1.2, 1.5"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qcowgui.format import fields, limits
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.geometry import ENTRY_BYTES, Geometry, cluster_bits_valid
from qcowgui.format.header import CRYPT_METHODS, Header
from qcowgui.units import SECTOR_BYTES, format_offset, format_size

_SNAPSHOT_BYTES: Final = fields.SNAPSHOT_FIELDS[-1].end


def check_header(header: Header, *, available_bytes: int) -> list[Finding]:
    """Findings about the header alone, with who refuses the image for each. Spec: 1.2, 1.5

    Args:
        header: What `parse_header` returned.
        available_bytes: The file's length.
    """
    findings = list(_check_shape(header, available_bytes))
    if cluster_bits_valid(header.cluster_bits):
        findings += _check_backing_name(header, 1 << header.cluster_bits)
    geometry = header.geometry
    if geometry is not None:
        findings += _check_virtual_size(header, geometry)
        findings += _check_tables(header, geometry, available_bytes)
    return findings


def _check_shape(header: Header, available_bytes: int) -> Iterator[Finding]:
    def fatal(code: str, message: str, field: str, *, refusal: Refusal = Refusal.READER) -> Finding:
        return field_finding(header, code, Severity.FATAL, message, field, refusal)

    minimum = limits.V2_HEADER_BYTES if header.version < 3 else limits.V3_MIN_HEADER_BYTES
    if available_bytes < minimum:
        yield Finding(
            "header-truncated",
            Severity.FATAL,
            f"The file has {available_bytes} bytes; its header needs {minimum}.",
            "header",
            host_offset=available_bytes,
            raw=available_bytes,
            expected=f"at least {minimum} bytes",
            spec="1.2",
            refusal=Refusal.READER,
        )
    if header.version not in (2, 3):
        yield fatal(
            "header-version", f"Version {header.version} is unknown; 2 and 3 exist.", "version"
        )
    if not cluster_bits_valid(header.cluster_bits):
        low, high = limits.MIN_CLUSTER_BITS, limits.MAX_CLUSTER_BITS
        yield fatal(
            "header-cluster-bits",
            f"cluster_bits is {header.cluster_bits}; {low} to {high} are allowed.",
            "cluster_bits",
        )
    if header.version >= 3:
        yield from _check_length(header)
    if header.refcount_order > limits.MAX_REFCOUNT_ORDER:
        yield fatal(
            "header-refcount-order",
            f"refcount_order is {header.refcount_order}; at most 6 is allowed.",
            "refcount_order",
        )
    if header.crypt_method not in CRYPT_METHODS:
        yield fatal(
            "header-crypt-method",
            f"crypt_method is {header.crypt_method}; 0, 1 and 2 are defined.",
            "crypt_method",
        )
    if any(header.padding.to_bytes(7, "big")):
        yield field_finding(
            header,
            "header-padding",
            Severity.SUSPICIOUS,
            "The seven bytes behind compression_type should be zero.",
            "padding",
        )


def _check_length(header: Header) -> Iterator[Finding]:
    length = header.header_length
    cluster_bytes = (
        1 << header.cluster_bits
        if cluster_bits_valid(header.cluster_bits)
        else 1 << limits.MAX_CLUSTER_BITS
    )
    if not limits.V3_MIN_HEADER_BYTES <= length <= cluster_bytes:
        yield field_finding(
            header,
            "header-length",
            Severity.FATAL,
            f"header_length is {length}; 104 to the cluster size ({cluster_bytes}) is allowed.",
            "header_length",
            Refusal.READER,
        )
        return
    if length % 8:
        yield field_finding(
            header,
            "header-length-alignment",
            Severity.SUSPICIOUS,
            f"header_length is {length}, not a multiple of 8.",
            "header_length",
        )
    if any(header.tail):
        yield Finding(
            "header-tail",
            Severity.INFO,
            f"The header has {len(header.tail)} bytes beyond the fields known today.",
            "header",
            host_offset=limits.KNOWN_HEADER_BYTES,
            spec="1.2",
        )


def _check_backing_name(header: Header, cluster_bytes: int) -> Iterator[Finding]:
    offset, length = header.backing_file_offset, header.backing_file_size
    if not offset:
        return
    inside_header = header.end <= cluster_bytes and offset < header.end
    if offset > cluster_bytes or inside_header:
        yield field_finding(
            header,
            "backing-name-location",
            Severity.FATAL,
            f"The backing file name is said to be at {format_offset(offset)}, "
            f"{'inside the header' if inside_header else 'outside the first cluster'}; "
            "it is not trusted.",
            "backing_file_offset",
            Refusal.READER,
        )
    elif length > min(limits.MAX_BACKING_NAME_BYTES, cluster_bytes - offset):
        allowed = min(limits.MAX_BACKING_NAME_BYTES, cluster_bytes - offset)
        yield field_finding(
            header,
            "backing-name-length",
            Severity.FATAL,
            f"The backing file name has {length} bytes; at most {allowed} fit here.",
            "backing_file_size",
            Refusal.READER,
        )


def _check_virtual_size(header: Header, geometry: Geometry) -> Iterator[Finding]:
    needed = geometry.l1_entries_needed(header.size)
    if needed > limits.MAX_L1_ENTRIES:
        yield field_finding(
            header,
            "header-virtual-size",
            Severity.FATAL,
            f"A virtual size of {format_size(header.size)} needs {needed:,} L1 entries.",
            "size",
            Refusal.READER,
        )
    elif header.l1_size < needed:
        yield field_finding(
            header,
            "l1-too-small",
            Severity.FATAL,
            f"The L1 table has {header.l1_size:,} entries; the virtual size needs {needed:,}.",
            "l1_size",
            Refusal.READER,
        )
    if header.size % SECTOR_BYTES:
        yield field_finding(
            header,
            "header-virtual-size-alignment",
            Severity.SUSPICIOUS,
            f"The virtual size, {header.size:,} bytes, is not a multiple of 512: QEMU and this "
            "program use the whole sectors.",
            "size",
        )


def _check_tables(header: Header, geometry: Geometry, available_bytes: int) -> Iterator[Finding]:
    l1_bytes = header.l1_size * ENTRY_BYTES
    if l1_bytes > limits.MAX_L1_BYTES:
        yield field_finding(
            header,
            "l1-too-large",
            Severity.FATAL,
            f"The L1 table has {header.l1_size:,} entries ({format_size(l1_bytes)}); "
            "QEMU allows 32 MiB.",
            "l1_size",
            Refusal.READER,
        )
    yield from _check_table_place(
        header, geometry, "l1", "l1_table_offset", l1_bytes, available_bytes, Refusal.READER
    )
    table_bytes = header.refcount_table_clusters * geometry.cluster_bytes
    if not table_bytes:
        yield field_finding(
            header,
            "refcount-table-missing",
            Severity.CORRUPTION,
            "The image has no refcount table: it can be read, but not written.",
            "refcount_table_clusters",
            Refusal.QEMU,
        )
    if table_bytes > limits.MAX_REFCOUNT_TABLE_BYTES:
        yield field_finding(
            header,
            "refcount-table-too-large",
            Severity.CORRUPTION,
            f"The refcount table has {format_size(table_bytes)}; QEMU allows 8 MiB.",
            "refcount_table_clusters",
            Refusal.QEMU,
        )
    if table_bytes:
        yield from _check_table_place(
            header,
            geometry,
            "refcount-table",
            "refcount_table_offset",
            table_bytes,
            available_bytes,
            Refusal.QEMU,
        )
    yield from _check_snapshot_place(header, geometry)


def _check_table_place(
    header: Header,
    geometry: Geometry,
    table: str,
    field: str,
    table_bytes: int,
    available_bytes: int,
    refusal: Refusal,
) -> Iterator[Finding]:
    offset = getattr(header, field)
    title = {"l1": "L1 table", "refcount-table": "refcount table"}[table]
    severity = Severity.FATAL if refusal is Refusal.READER else Severity.CORRUPTION
    end = offset + table_bytes
    if not geometry.is_aligned(offset) or end > limits.MAX_OFFSET:
        yield field_finding(
            header,
            f"{table}-offset",
            severity,
            f"The {title} is said to be at {format_offset(offset)}, "
            + (
                "which is no cluster boundary."
                if not geometry.is_aligned(offset)
                else "beyond any possible file."
            ),
            field,
            refusal,
        )
    elif table_bytes and not offset:
        yield field_finding(
            header,
            f"{table}-offset",
            Severity.CORRUPTION,
            f"The {title} is said to be at offset 0, where the header is.",
            field,
        )
    elif end > available_bytes:
        # Some writers stop without the unused rest of the last cluster, which counts as zeros.
        only_rest = table == "refcount-table" and end - available_bytes < geometry.cluster_bytes
        yield field_finding(
            header,
            f"{table}-truncated",
            Severity.SUSPICIOUS if only_rest else Severity.CORRUPTION,
            f"The file ends at {format_offset(available_bytes)} but the {title} needs bytes up to "
            f"{format_offset(end)}.",
            field,
        )


def _check_snapshot_place(header: Header, geometry: Geometry) -> Iterator[Finding]:
    if header.nb_snapshots > limits.MAX_SNAPSHOTS:
        yield field_finding(
            header,
            "snapshot-count",
            Severity.CORRUPTION,
            f"The header counts {header.nb_snapshots:,} snapshots; QEMU allows 65,536.",
            "nb_snapshots",
            Refusal.QEMU,
        )
    offset = header.snapshots_offset
    if not geometry.is_aligned(offset):
        problem = "which is no cluster boundary"
    elif offset + header.nb_snapshots * _SNAPSHOT_BYTES > limits.MAX_OFFSET:
        problem = "beyond any possible file"
    elif header.nb_snapshots and not offset:
        problem = "where the header is"
    else:
        return
    # QEMU tests the alignment even where there is no snapshot, but accepts offset 0.
    yield field_finding(
        header,
        "snapshot-table-offset",
        Severity.CORRUPTION,
        f"The snapshot table is said to be at {format_offset(offset)}, {problem}.",
        "snapshots_offset",
        Refusal.QEMU if offset else Refusal.NONE,
    )


def field_finding(
    header: Header,
    code: str,
    severity: Severity,
    message: str,
    field: str,
    refusal: Refusal = Refusal.NONE,
) -> Finding:
    """A finding about the header field of that name, with its place and its value."""
    row = fields.field_named(fields.HEADER_FIELDS, field)
    return Finding(
        code,
        severity,
        message,
        "header",
        host_offset=row.offset,
        raw=getattr(header, field),
        spec=row.spec,
        refusal=refusal,
    )
