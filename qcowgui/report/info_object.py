"""The JSON object of one file, for `qcowgui info --json` and for reports.

It has the keys and truth values of `qemu-img info --output=json` up to 7.2, without the `children`
that 8.0 added: they repeat what the other keys say. Everything of ours is under the key "qcowgui".
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.encryption import CRYPT_AES, CRYPT_LUKS, LuksHeader, LuksKeySlot
from qcowgui.format.features import Autoclear, Compatible
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.snapshots import Snapshot
from qcowgui.image.inspect import ImageReport
from qcowgui.image.references import resolve_reference
from qcowgui.image.summary import MappingSummary
from qcowgui.report.inspected import Inspected, Qcow2File, RawFile
from qcowgui.report.schema import SCHEMA

_NANOSECONDS: Final = 1_000_000_000
_XTS: Final = "xts"


def image_info(found: Inspected) -> dict[str, Any]:
    """The JSON object of one file; sizes are in bytes."""
    if isinstance(found, RawFile):
        return _raw_info(found)
    return _qcow2_info(found)


def _raw_info(raw: RawFile) -> dict[str, Any]:
    info: dict[str, Any] = {
        "filename": raw.name,
        "format": "raw",
        "virtual-size": raw.virtual_bytes,
    }
    if raw.disk_bytes is not None:
        info["actual-size"] = raw.disk_bytes
    info["dirty-flag"] = False
    info["qcowgui"] = {
        "schema": SCHEMA,
        "readable": True,
        "refusals": [],
        "findings": [],
        "file-bytes": raw.file_bytes,
        "content": raw.found.kind.value,
    }
    return info


def _qcow2_info(found: Qcow2File) -> dict[str, Any]:
    report = found.report
    header = report.header
    info: dict[str, Any] = {
        "filename": report.name,
        "format": "qcow2",
        "virtual-size": report.virtual_bytes,
    }
    if report.disk_bytes is not None:
        info["actual-size"] = report.disk_bytes
    if header.geometry is not None:
        info["cluster-size"] = header.geometry.cluster_bytes
    if header.crypt_method:
        info["encrypted"] = True
    info["dirty-flag"] = header.dirty
    if report.backing_name_raw:
        name = os.fsdecode(report.backing_name_raw)
        info["backing-filename"] = name
        info["full-backing-filename"] = full_backing_name(report.name, name)
        if report.backing_format is not None:
            info["backing-filename-format"] = report.backing_format
    if report.snapshots:
        info["snapshots"] = [_snapshot(snapshot) for snapshot in report.snapshots]
    info["format-specific"] = {"type": "qcow2", "data": _format_specific(report)}
    info["qcowgui"] = {
        "schema": SCHEMA,
        "readable": report.readable,
        "refusals": [refusal.message for refusal in report.refusals],
        "findings": [finding_object(finding) for finding in found.findings],
        "file-bytes": report.file_bytes,
        "version": header.version,
    }
    if found.summary is not None:
        info["qcowgui"]["clusters"] = _clusters(found.summary)
    return info


def _clusters(summary: MappingSummary) -> dict[str, int]:
    """How the guest clusters of the active disk are stored; the rest is not allocated."""
    return {
        "total": summary.total_clusters,
        "normal": summary.normal_clusters,
        "compressed": summary.compressed_clusters,
        "zero": summary.zero_clusters,
        "unusable": summary.unusable_clusters,
        "host-end-offset": summary.host_end_offset,
    }


def full_backing_name(image: str, name: str) -> str:
    """The backing file's name as seen from the current folder, as qemu-img writes it.

    Nothing is normalised: a name relative to the image gets the image's folder in front.
    """
    reference = resolve_reference("backing file", name, Path(image))
    if reference.path is None or Path(name).is_absolute():
        return name
    folder = image[: image.rfind("/") + 1]
    return folder + name


def _snapshot(snapshot: Snapshot) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": snapshot.id,
        "name": snapshot.name,
        "vm-state-size": snapshot.vm_state_bytes,
        "date-sec": snapshot.date_seconds,
        "date-nsec": snapshot.date_nanoseconds,
        "vm-clock-sec": snapshot.vm_clock_nanoseconds // _NANOSECONDS,
        "vm-clock-nsec": snapshot.vm_clock_nanoseconds % _NANOSECONDS,
    }
    if snapshot.icount is not None:
        fields["icount"] = snapshot.icount
    return fields


def _format_specific(report: ImageReport) -> dict[str, Any]:
    header = report.header
    data: dict[str, Any] = {}
    if header.version in (2, 3):
        data["compat"] = header.compat
    data["compression-type"] = header.compression_name
    if header.version >= 3:
        data["lazy-refcounts"] = bool(header.compatible_features & Compatible.LAZY_REFCOUNTS)
    if header.geometry is not None:
        data["refcount-bits"] = header.geometry.refcount_bits
    if header.version >= 3:
        data["corrupt"] = header.corrupt
        data["extended-l2"] = header.extended_l2
        if header.has_data_file:
            data["data-file"] = os.fsdecode(report.data_file_name_raw)
            data["data-file-raw"] = header.data_file_raw
        # Without the bit QEMU does not even look at them: they may be stale.
        if report.bitmaps and header.autoclear_features & Autoclear.BITMAPS:
            data["bitmaps"] = [_bitmap(bitmap) for bitmap in report.bitmaps]
    encryption = _encryption(report)
    if encryption:
        data["encrypt"] = encryption
    return data


def _bitmap(bitmap: BitmapEntry) -> dict[str, Any]:
    flags = {"in-use": bitmap.in_use, "auto": bitmap.auto}
    return {
        "name": bitmap.name,
        "granularity": bitmap.granularity_bytes,
        "flags": [flag for flag, is_set in flags.items() if is_set],
    }


def _encryption(report: ImageReport) -> dict[str, Any]:
    method = report.header.crypt_method
    if method == CRYPT_AES:
        return {"format": "aes"}
    if method != CRYPT_LUKS:
        return {}
    return {"format": "luks"} | (_luks(report.luks) if report.luks else {})


def _luks(luks: LuksHeader) -> dict[str, Any]:
    mode, _, generator = luks.cipher_mode.partition("-")
    generator, _, generator_hash = generator.partition(":")
    key_bits = luks.key_bytes * 8 // (2 if mode == _XTS else 1)
    fields: dict[str, Any] = {
        "cipher-alg": f"{luks.cipher_name}-{key_bits}",
        "cipher-mode": mode,
        "ivgen-alg": generator,
    }
    if generator_hash:
        fields["ivgen-hash-alg"] = generator_hash
    fields |= {
        "hash-alg": luks.hash_spec,
        "payload-offset": luks.payload_offset,
        "master-key-iters": luks.mk_digest_iterations,
        "uuid": luks.uuid,
        "slots": [_key_slot(slot) for slot in luks.key_slots],
    }
    return fields


def _key_slot(slot: LuksKeySlot) -> dict[str, Any]:
    fields: dict[str, Any] = {"active": slot.active, "key-offset": slot.key_material_offset}
    if slot.active:
        fields |= {"iters": slot.iterations, "stripes": slot.stripes}
    return fields


def finding_object(found: Finding) -> dict[str, Any]:
    """A finding as JSON; what is not known is left out. Offsets are in bytes."""
    fields: dict[str, Any] = {
        "code": found.code,
        "severity": Severity(found.severity).name.lower(),
        "message": found.message,
        "structure": found.structure,
        "host-offset": found.host_offset,
        "entry": found.entry,
        "guest-start": found.guest_start,
        "guest-end": found.guest_end,
        "raw": found.raw,
        "expected": found.expected or None,
        "spec": found.spec or None,
        "count": found.count,
        "refused-by": found.refusal.name.lower(),
    }
    return {key: value for key, value in fields.items() if value is not None}
