"""`qcowgui info` for people: what an image is, section by section."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from qcowgui.cli.layers import probe_backing
from qcowgui.cli.output import (
    Cell,
    Column,
    Table,
    facts,
    print_facts,
    print_line,
    print_table,
)
from qcowgui.errors import QcowError
from qcowgui.format import describe
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.features import Feature
from qcowgui.format.finding import Severity
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.inspect import ImageReport
from qcowgui.image.references import Gate, Reference, backing_reference, data_file_reference
from qcowgui.image.summary import MappingSummary
from qcowgui.report.inspected import Inspected, Qcow2File, RawFile
from qcowgui.units import format_count, format_offset

_SEVERITY_STYLES: Final = {
    Severity.FATAL: "bold red",
    Severity.CORRUPTION: "red",
    Severity.SUSPICIOUS: "yellow",
    Severity.LEAK: "cyan",
    Severity.INFO: "",
}
_FACTS_COLUMNS: Final = 2


def print_info(found: Inspected, gate: Gate, *, depth: int | None = None) -> None:
    """Print everything known of one file; `depth` is its place in a chain that is shown.

    Backing files are looked at only where `gate` permits it.
    """
    title = found.name if depth is None else f"[{depth}] {found.name}"
    if isinstance(found, RawFile):
        print_facts(facts("image", title, _raw_facts(found)))
        return
    report = found.report
    print_facts(facts("image", title, _iter_identity(found)))
    for table in _iter_sections(report, gate):
        print_line()
        if len(table.columns) == _FACTS_COLUMNS:
            print_facts(table)
        else:
            print_table(table)
    print_line()
    _print_findings(found)


def _iter_sections(report: ImageReport, gate: Gate) -> Iterator[Table]:
    """The sections behind the image's identity, those without content left out."""
    yield facts("header", "Header", _iter_header(report))
    references = list(_iter_references(report, gate))
    if references:
        yield facts("references", "Referenced files", references)
    if report.features:
        yield features_table(report.features, only_set=True)
    if report.extensions:
        yield _extensions_table(report)
    if report.snapshots:
        yield _snapshots_table(report.snapshots)
    if report.bitmaps:
        yield _bitmaps_table(report.bitmaps)
    if report.header.crypt_method:
        yield facts("encryption", "Encryption", _iter_encryption(report))


def _raw_facts(raw: RawFile) -> Iterator[tuple[str, str]]:
    yield "format", "raw"
    yield "content", raw.found.title
    if raw.found.detail:
        yield "detail", raw.found.detail
    yield "virtual size", describe.size_text(raw.virtual_bytes)
    yield "file length", describe.size_text(raw.file_bytes)
    yield from _iter_blocks_used(raw.disk_bytes)


def _iter_blocks_used(disk_bytes: int | None) -> Iterator[tuple[str, str]]:
    if disk_bytes is not None:
        yield "blocks used", f"{describe.size_text(disk_bytes)} of the file system"


def _iter_identity(found: Qcow2File) -> Iterator[tuple[str, str]]:
    report = found.report
    header = report.header
    yield "format", f"qcow2, version {describe.version_text(header.version)}"
    yield "virtual size", describe.size_text(report.virtual_bytes)
    yield "file length", describe.size_text(report.file_bytes)
    yield from _iter_blocks_used(report.disk_bytes)
    yield from _iter_clusters(found.summary)
    yield "QEMU accepts it", "yes" if report.readable else "no, see the findings"


def _iter_clusters(summary: MappingSummary | None) -> Iterator[tuple[str, str]]:
    if summary is None:
        return
    stored, total = summary.stored_clusters, summary.total_clusters
    share = f"{stored:,} of {format_count(total, 'cluster')} ({describe.share_text(stored, total)})"
    yield "stored", f"{share}, {summary.compressed_clusters:,} compressed"
    if summary.zero_clusters:
        yield "zero clusters", f"{summary.zero_clusters:,}"


def _iter_header(report: ImageReport) -> Iterator[tuple[str, str]]:
    header = report.header
    geometry = header.geometry
    if geometry is not None:
        yield "cluster size", describe.size_text(geometry.cluster_bytes)
        yield "refcounts", format_count(geometry.refcount_bits, "bit") + " each"
    else:
        yield "cluster_bits", f"{header.cluster_bits:,} (not possible)"
    yield "compression type", header.compression_name
    yield "encryption", describe.crypt_method_text(header.crypt_method)
    if header.version >= 3:
        yield "closed cleanly", "no: the dirty bit is set" if header.dirty else "yes"
        yield "marked corrupt", "yes" if header.corrupt else "no"
        yield "extended L2", "yes" if header.extended_l2 else "no"
    entries = format_count(header.l1_size, "entry", "entries")
    yield "L1 table", f"{entries} at {format_offset(header.l1_table_offset)}"
    clusters = format_count(header.refcount_table_clusters, "cluster")
    yield "refcount table", f"{clusters} at {format_offset(header.refcount_table_offset)}"
    yield "snapshots", f"{header.nb_snapshots:,}"


def _iter_references(report: ImageReport, gate: Gate) -> Iterator[tuple[str, str]]:
    backing = backing_reference(report)
    if backing is not None:
        yield "backing file", report.backing_name or ""
        yield from _iter_place(backing)
        yield "backing format", report.backing_format or _guessed_format(report, gate)
    data_file = data_file_reference(report)
    if data_file is not None:
        alone = ", by itself a raw image" if report.header.data_file_raw else ""
        yield "data file", (report.data_file_name or "") + alone
        yield from _iter_place(data_file)


def _iter_place(reference: Reference) -> Iterator[tuple[str, str]]:
    path = reference.path
    if path is None:
        yield "leads to", "no plain file name: it is shown only, never opened"
        return
    state = "not opened" if os.path.lexists(path) else "nothing is there"
    where = "" if reference.in_folder else ", outside the image's folder"
    note = f"; {reference.note}" if reference.note else ""
    yield "leads to", f"{path} ({state}{where}{note})"


def _guessed_format(report: ImageReport, gate: Gate) -> str:
    try:
        looks_like = probe_backing(report, gate)
    except QcowError as error:
        return f"not recorded; looking failed: {error.message}"
    if looks_like is None:
        return "not recorded (with --allow-backing its content is looked at)"
    return f"not recorded; looks like: {looks_like}"


def features_table(features: tuple[Feature, ...], *, only_set: bool) -> Table:
    """The feature bits, all that are known or only those that are set."""
    columns = (
        Column("class", "set of bits"),
        Column("bit", "bit", right=True),
        Column("set", None if only_set else "set"),
        Column("known", None),
        Column("name", "name"),
        Column("meaning", "meaning"),
    )
    rows = [
        (
            describe.feature_class_text(feature.feature_class),
            feature.bit,
            feature.is_set,
            feature.known,
            feature.name,
            feature.meaning,
        )
        for feature in features
        if feature.is_set or not only_set
    ]
    title = "Features set" if only_set else "Features"
    return Table("features", title, columns, rows)


def _extensions_table(report: ImageReport) -> Table:
    columns = (
        Column("offset", "offset", show=_show_offset, right=True),
        Column("name", "header extension"),
        Column("length", "bytes", right=True),
    )
    rows = [(item.offset, item.name, item.length) for item in report.extensions]
    return Table("extensions", "Header extensions", columns, rows)


def _show_offset(cell: Cell) -> str:
    return format_offset(cell) if isinstance(cell, int) else ""


def _snapshots_table(snapshots: tuple[Snapshot, ...]) -> Table:
    columns = (
        Column("id", "id"),
        Column("name", "name"),
        Column("date", "taken (UTC)"),
        Column("vm-state-size", "VM state", right=True),
        Column("vm-clock", "VM clock", right=True),
        Column("disk-size", "disk size", right=True),
    )
    rows = [
        (
            snapshot.id,
            snapshot.name,
            describe.snapshot_date_text(snapshot),
            describe.snapshot_vm_state_text(snapshot),
            describe.snapshot_clock_text(snapshot),
            describe.snapshot_disk_text(snapshot),
        )
        for snapshot in snapshots
    ]
    return Table("snapshots", "Internal snapshots", columns, rows)


def _bitmaps_table(bitmaps: tuple[BitmapEntry, ...]) -> Table:
    columns = (
        Column("name", "bitmap"),
        Column("granularity", "granularity", right=True),
        Column("state", "state"),
        Column("type", "type"),
    )
    rows = [
        (
            bitmap.name,
            describe.bitmap_granularity_text(bitmap),
            describe.bitmap_state_text(bitmap),
            describe.bitmap_type_text(bitmap),
        )
        for bitmap in bitmaps
    ]
    return Table("bitmaps", "Bitmaps", columns, rows)


def _iter_encryption(report: ImageReport) -> Iterator[tuple[str, str]]:
    yield "method", describe.crypt_method_text(report.header.crypt_method)
    pointer, luks = report.encryption_pointer, report.luks
    if pointer is not None:
        yield "header", f"{describe.size_text(pointer.length)} at {format_offset(pointer.offset)}"
    if luks is not None:
        yield "cipher", luks.cipher
        yield "hash", luks.hash_spec
        yield "UUID", luks.uuid
        yield "active key slots", describe.key_slots_text(luks)


def _print_findings(image: Qcow2File) -> None:
    if not image.findings:
        unseen = describe.unseen_text(mapping_read=image.summary is not None)
        print_line(f"Findings: none when opening ({unseen} were not looked at)")
        return
    for severity, group in groupby(image.findings, key=lambda found: found.severity):
        title = describe.SEVERITY_WORDS[severity].capitalize()
        print_line(title, style=_SEVERITY_STYLES[severity])
        for found in group:
            place = f"{found.code} · {describe.place_text(found)}"
            print_line(f"  {describe.finding_text(found)} [{place}]")
    if image.report.refusals:
        print_line(f"QEMU would refuse this image: {_reasons(image.report)}", style="bold red")


def _reasons(report: ImageReport) -> str:
    return ", ".join(dict.fromkeys(found.code for found in report.refusals))
