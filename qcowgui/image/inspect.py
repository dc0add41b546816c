"""The tolerant open: all that the metadata at the front of an image says, and what is wrong.

It always answers unless the file can't be read or has no qcow2 magic. "Parsed" and "readable" are
two answers: the report says by itself whether, and why, QEMU would refuse the image.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qcowgui.errors import NotQcow2Error
from qcowgui.format import limits
from qcowgui.format.extensions import Extension, ExtensionType, first_of, parse_extensions
from qcowgui.format.feature_rules import check_features
from qcowgui.format.features import Autoclear, Feature, decode_features, parse_feature_names
from qcowgui.format.finding import Finding, Refusal, Severity, fold
from qcowgui.format.geometry import ENTRY_BYTES, cluster_bits_valid
from qcowgui.format.header import MAGIC_BYTES, Header, parse_header
from qcowgui.format.header_rules import check_header
from qcowgui.format.text import decode_name
from qcowgui.image.overlaps import header_ranges, iter_l2_overlaps, iter_overlaps
from qcowgui.image.source import ByteSource, FileSource
from qcowgui.units import KIB, SECTOR_BYTES, align_down, format_offset

# Structures that most images lack are parsed by modules that are imported when one is met: a start
# of the command line costs some 15 ms less (2026-11-30).
if TYPE_CHECKING:
    from qcowgui.format.bitmaps import BitmapEntry, BitmapsExtension
    from qcowgui.format.encryption import EncryptionHeaderPointer, LuksHeader
    from qcowgui.format.snapshots import Snapshot

_SNAPSHOT_READ_BYTES = 64 * KIB
_LUKS_HEADER_BYTES = 4 * KIB


@dataclass(frozen=True, slots=True)
class ImageReport:
    """What `inspect` found. Nothing in it is validated beyond what its findings say.

    Attributes:
        name: The path as given.
        file_bytes: The file's length.
        disk_bytes: What the file system has set aside for it, or None.
        header: The header.
        extensions: The header extensions, end marker excluded.
        feature_names: The image's own names for feature bits.
        features: Every feature bit that is known or set.
        backing_name: The backing file's name, fit to be shown; None when there is none or it is
            not to be trusted. `backing_name_raw` has the bytes.
        backing_name_raw: The name as stored.
        backing_format: The recorded format of the backing file, fit to be shown, or None.
        data_file_name: The external data file's name, fit to be shown, or None.
        data_file_name_raw: The name as stored.
        snapshots: The internal snapshots, as far as the table can be read.
        bitmaps_extension: Where the bitmap directory is, or None.
        bitmaps: The bitmap directory's entries.
        encryption_pointer: Where the encryption header is, or None.
        luks: The LUKS header, or None.
        findings: Everything noticed, worst first.
    """

    name: str
    file_bytes: int
    disk_bytes: int | None
    header: Header
    extensions: tuple[Extension, ...]
    feature_names: dict[tuple[int, int], str]
    features: tuple[Feature, ...]
    backing_name: str | None
    backing_name_raw: bytes
    backing_format: str | None
    data_file_name: str | None
    data_file_name_raw: bytes
    snapshots: tuple[Snapshot, ...]
    bitmaps_extension: BitmapsExtension | None
    bitmaps: tuple[BitmapEntry, ...]
    encryption_pointer: EncryptionHeaderPointer | None
    luks: LuksHeader | None
    findings: tuple[Finding, ...]

    @property
    def virtual_bytes(self) -> int:
        """The size of the guest's disk: whole sectors, as QEMU counts."""
        return align_down(self.header.size, SECTOR_BYTES)

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Why QEMU would refuse to open the image; empty when it would not. Spec: 1.5"""
        return tuple(found for found in self.findings if found.refusal is not Refusal.NONE)

    @property
    def readable(self) -> bool:
        """Whether QEMU would open the image."""
        return not self.refusals

    @property
    def mapping_refusals(self) -> tuple[Finding, ...]:
        """Why this program can't present guest data either; empty when it can."""
        return tuple(found for found in self.findings if found.refusal is Refusal.READER)


def inspect(path: str | os.PathLike[str]) -> ImageReport:
    """The report on the image file at `path`.

    Raises:
        NotQcow2Error: When the file has no qcow2 magic, or is of the older qcow format; it says
            what the file is instead.
        SourceError: When the file can't be opened or read.
    """
    with FileSource(path) as source:
        return inspect_source(source)


def inspect_source(source: ByteSource) -> ImageReport:
    """The report on an image that is open already. See `inspect`."""
    head = source.read_at(0, limits.FIRST_READ_BYTES)
    header = parse_header(head)
    # Version 1 has the same magic, but it is another format with other fields.
    if head[:4] != MAGIC_BYTES or header.version == 1:
        raise not_qcow2_error(source)
    cluster_bytes = (
        1 << header.cluster_bits
        if cluster_bits_valid(header.cluster_bits)
        else limits.FIRST_READ_BYTES
    )
    if cluster_bytes > len(head) == limits.FIRST_READ_BYTES:
        head = source.read_at(0, cluster_bytes)
        header = parse_header(head)
    return _Inspection(source, header, head[:cluster_bytes], cluster_bytes).report()


def not_qcow2_error(source: ByteSource) -> NotQcow2Error:
    """The error that says what a file that is no qcow2 image is instead."""
    from qcowgui.image.identify import identify

    found = identify(source, name=source.name)
    sentences = [f"not a qcow2 image: this is {found.title}", found.detail, found.expected_by_name]
    return NotQcow2Error(
        ". ".join(text.rstrip(".") for text in sentences if text),
        path=source.name,
        detected=found.kind.value,
        hint=found.hint.rstrip("."),
    )


class _Inspection:
    """One run of `inspect_source`: each step adds to the findings."""

    def __init__(self, source: ByteSource, header: Header, head: bytes, cluster_bytes: int) -> None:
        self._source = source
        self._header = header
        self._head = head
        self._cluster_bytes = cluster_bytes
        self._snapshot_table_bytes = 0
        self._findings: list[Finding] = check_header(header, available_bytes=source.size_bytes)

    def report(self) -> ImageReport:
        header = self._header
        extensions = self._extensions()
        names_extension = first_of(extensions, ExtensionType.FEATURE_NAMES)
        names, found = parse_feature_names(names_extension.data if names_extension else b"")
        self._findings += found
        self._findings += check_features(header, names)
        backing_raw = self._backing_name()
        data_file_raw = self._data_file_name(extensions)
        snapshots = self._snapshots()
        bitmaps_extension, bitmaps = self._bitmaps(extensions)
        pointer, luks = self._encryption(extensions)
        self._check_overlaps(bitmaps_extension, pointer)
        backing_format = first_of(
            extensions, ExtensionType.BACKING_FORMAT, ExtensionType.CROSVM_BACKING_FORMAT
        )
        return ImageReport(
            name=self._source.name,
            file_bytes=self._source.size_bytes,
            disk_bytes=self._source.disk_bytes,
            header=header,
            extensions=tuple(extensions),
            feature_names=names,
            features=tuple(
                decode_features(
                    header.incompatible_features,
                    header.compatible_features,
                    header.autoclear_features,
                    names,
                )
                if header.version >= 3
                else ()
            ),
            backing_name=decode_name(backing_raw)[0] if backing_raw else None,
            backing_name_raw=backing_raw,
            backing_format=decode_name(backing_format.data)[0] if backing_format else None,
            data_file_name=decode_name(data_file_raw)[0] if data_file_raw else None,
            data_file_name_raw=data_file_raw,
            snapshots=snapshots,
            bitmaps_extension=bitmaps_extension,
            bitmaps=bitmaps,
            encryption_pointer=pointer,
            luks=luks,
            findings=tuple(sorted(fold(self._findings), key=lambda finding: -finding.severity)),
        )

    def _extensions(self) -> list[Extension]:
        header = self._header
        if header.version not in (2, 3) or not cluster_bits_valid(header.cluster_bits):
            return []
        if header.end > self._cluster_bytes or len(self._head) < header.end:
            return []
        end = self._cluster_bytes
        if header.end <= header.backing_file_offset <= end:
            end = header.backing_file_offset
        extensions, findings = parse_extensions(self._head, start=header.end, end=end)
        self._findings += findings
        return extensions

    def _backing_name(self) -> bytes:
        """The name's bytes, empty when there is none or its place is not to be trusted."""
        offset, length = self._header.backing_file_offset, self._header.backing_file_size
        codes = {found.code for found in self._findings}
        distrusted = codes & {"backing-name-location", "backing-name-length"}
        if not offset or distrusted or not cluster_bits_valid(self._header.cluster_bits):
            return b""
        raw = self._head[offset : offset + length]
        if len(raw) < length:
            self._findings.append(
                Finding(
                    "backing-name-location",
                    Severity.FATAL,
                    f"The file ends at {format_offset(len(self._head))}, inside the backing file "
                    "name.",
                    "header",
                    host_offset=offset,
                    spec="1.2",
                    refusal=Refusal.READER,
                )
            )
            return b""
        if not decode_name(raw)[1]:
            self._findings.append(
                Finding(
                    "backing-name-text",
                    Severity.SUSPICIOUS,
                    "The backing file name holds bytes that are no printable UTF-8 text.",
                    "header",
                    host_offset=offset,
                    spec="1.2",
                )
            )
        return raw

    def _data_file_name(self, extensions: list[Extension]) -> bytes:
        extension = first_of(extensions, ExtensionType.DATA_FILE)
        raw = extension.data if extension else b""
        if self._header.has_data_file and not raw:
            self._findings.append(
                Finding(
                    "data-file-missing-name",
                    Severity.CORRUPTION,
                    "Guest data lies in an external data file, but the image does not name it.",
                    "header",
                    host_offset=72,
                    spec="1.14",
                    refusal=Refusal.READER,
                )
            )
        if extension and not self._header.has_data_file:
            self._findings.append(
                Finding(
                    "data-file-unused-name",
                    Severity.SUSPICIOUS,
                    "The image names an external data file but says that it uses none.",
                    "header extension",
                    host_offset=extension.offset,
                    spec="1.14",
                )
            )
        return raw

    def _snapshots(self) -> tuple[Snapshot, ...]:
        header = self._header
        geometry = header.geometry
        if not header.nb_snapshots or geometry is None:
            return ()
        from qcowgui.format.snapshots import SnapshotTableParser, check_snapshot_l1

        if header.has_data_file:
            self._findings.append(
                Finding(
                    "snapshots-with-data-file",
                    Severity.CORRUPTION,
                    "The image has internal snapshots although its data lies in another file.",
                    "header",
                    host_offset=60,
                    raw=header.nb_snapshots,
                    spec="1.14",
                )
            )
        if any(found.code == "snapshot-table-offset" for found in self._findings):
            return ()
        parser = SnapshotTableParser(
            table_offset=header.snapshots_offset,
            nb_snapshots=header.nb_snapshots,
            version=header.version,
        )
        while parser.wanted_bytes:
            data = self._source.read_at(
                parser.next_offset, max(parser.wanted_bytes, _SNAPSHOT_READ_BYTES)
            )
            if not data:
                break
            parser.feed(data)
        table = parser.finish()
        self._findings += table.findings
        self._snapshot_table_bytes = table.table_bytes
        checks = (
            check_snapshot_l1(
                snapshot,
                geometry,
                virtual_bytes=header.size,
                file_bytes=self._source.size_bytes,
            )
            for snapshot in table.snapshots
        )
        self._findings += fold(found for found in checks if found)
        return table.snapshots

    def _bitmaps(
        self, extensions: list[Extension]
    ) -> tuple[BitmapsExtension | None, tuple[BitmapEntry, ...]]:
        header = self._header
        extension = first_of(extensions, ExtensionType.BITMAPS)
        if extension is None:
            return None, ()
        from qcowgui.format.bitmap_directory import parse_bitmap_directory
        from qcowgui.format.bitmaps import parse_bitmaps_extension
        from qcowgui.image.bitmap_tables import iter_bitmap_table_findings

        loaded = bool(header.autoclear_features & Autoclear.BITMAPS)
        pointer, findings = parse_bitmaps_extension(
            extension.data,
            cluster_bits=header.cluster_bits,
            host_offset=extension.offset + 8,
            loaded=loaded,
        )
        self._findings += findings
        if not loaded:
            self._findings.append(
                Finding(
                    "bitmaps-not-consistent",
                    Severity.SUSPICIOUS,
                    "The image has bitmaps, but a writer that does not know them changed it: "
                    "they can't be trusted, and QEMU drops them at the next write.",
                    "header",
                    host_offset=88,
                    raw=header.autoclear_features,
                    spec="1.12",
                )
            )
        if pointer is None or findings:
            return pointer, ()
        data = self._source.read_at(pointer.bitmap_directory_offset, pointer.bitmap_directory_size)
        entries, found = parse_bitmap_directory(
            data,
            directory_offset=pointer.bitmap_directory_offset,
            nb_bitmaps=pointer.nb_bitmaps,
            cluster_bits=header.cluster_bits,
            virtual_bytes=header.size,
            directory_size=pointer.bitmap_directory_size,
            loaded=loaded,
        )
        self._findings += found
        if loaded and all(finding.refusal is Refusal.NONE for finding in found):
            self._findings += iter_bitmap_table_findings(
                self._source,
                [entry for entry in entries if not entry.in_use],
                cluster_bits=header.cluster_bits,
            )
        return pointer, tuple(entries)

    def _encryption(
        self, extensions: list[Extension]
    ) -> tuple[EncryptionHeaderPointer | None, LuksHeader | None]:
        header = self._header
        extension = first_of(extensions, ExtensionType.ENCRYPTION_HEADER)
        if not header.crypt_method and extension is None:
            return None, None
        from qcowgui.format.encryption import (
            check_crypt_method,
            parse_encryption_extension,
            parse_luks_header,
        )

        self._findings += check_crypt_method(
            header.crypt_method, has_encryption_header=extension is not None
        )
        if extension is None:
            return None, None
        pointer, findings = parse_encryption_extension(
            extension.data,
            crypt_method=header.crypt_method,
            cluster_bits=header.cluster_bits,
            host_offset=extension.offset + 8,
            file_bytes=self._source.size_bytes,
        )
        self._findings += findings
        if pointer is None or header.crypt_method != 2:
            return pointer, None
        luks, found = parse_luks_header(
            self._source.read_at(pointer.offset, _LUKS_HEADER_BYTES),
            host_offset=pointer.offset,
            area_bytes=pointer.length,
        )
        self._findings += found
        return pointer, luks

    def _check_overlaps(
        self, bitmaps: BitmapsExtension | None, encryption: EncryptionHeaderPointer | None
    ) -> None:
        header, geometry = self._header, self._header.geometry
        if geometry is None:
            return
        ranges = header_ranges(
            header, geometry, self._snapshot_table_bytes, bitmaps=bitmaps, encryption=encryption
        )
        self._findings += iter_overlaps(ranges, geometry)
        if geometry.is_aligned(header.l1_table_offset):
            self._findings += iter_l2_overlaps(
                self._source,
                ranges,
                geometry,
                l1_table_offset=header.l1_table_offset,
                l1_size=min(header.l1_size, limits.MAX_L1_BYTES // ENTRY_BYTES),
            )
