"""Encryption as an image describes it: the header extension, the LUKS1 header, legacy AES.

Nothing here decrypts; it tells what protects the guest data and whether its header is intact.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qcowgui.format import fields
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.text import decode_name
from qcowgui.units import SECTOR_BYTES, format_offset

CRYPT_AES: Final = 1
CRYPT_LUKS: Final = 2

LUKS_MAGIC: Final = b"LUKS\xba\xbe"
LUKS1_HEADER_BYTES: Final = 592
LUKS1_KEY_SLOTS: Final = 8
LUKS1_STRIPES: Final = 4000
"""The only number of anti-forensic stripes that LUKS1 writers use, and QEMU accepts."""
MAX_MASTER_KEY_BYTES: Final = 512
"""QEMU."""

KEY_SLOT_ENABLED: Final = 0x00AC_71F3
KEY_SLOT_DISABLED: Final = 0x0000_DEAD

_EXTENSION_BYTES: Final = fields.ENCRYPTION_EXTENSION_FIELDS[-1].end
_LUKS_VERSION: Final = struct.Struct(">6sH")
_LUKS1_FIXED: Final = struct.Struct(">6sH32s32s32sII20s32sI40s")
_LUKS1_KEY_SLOT: Final = struct.Struct(">II32sII")


@dataclass(frozen=True, slots=True)
class EncryptionHeaderPointer:
    """The content of the full disk encryption header extension.

    Attributes:
        offset: Host offset of the encryption header, cluster-aligned when valid.
        length: Bytes of the header with its key material.
    """

    offset: int
    length: int


def parse_encryption_extension(
    data: bytes, *, crypt_method: int, cluster_bits: int, host_offset: int, file_bytes: int
) -> tuple[EncryptionHeaderPointer | None, list[Finding]]:
    """The pointer in `data`, None when it is shorter than 16 bytes, and what is wrong with it.

    Args:
        data: The extension's data, without its type and length.
        crypt_method: From the header.
        cluster_bits: Of the image.
        host_offset: Where `data` lies in the file.
        file_bytes: The file's length.

    Spec: 1.4, 1.5
    """
    pointer = None
    problems: list[_PointerProblem] = []
    if crypt_method != CRYPT_LUKS:
        message = f"An encryption header is named though crypt_method is {crypt_method}."
        expected = f"crypt_method {CRYPT_LUKS} (LUKS)"
        problems.append((0, message, crypt_method, expected))
    if len(data) != _EXTENSION_BYTES:
        message = f"The encryption header pointer has {len(data):,} bytes, not {_EXTENSION_BYTES}."
        problems.append((0, message, len(data), f"{_EXTENSION_BYTES} bytes"))
    if len(data) >= _EXTENSION_BYTES:
        numbers = fields.parse_fields(fields.ENCRYPTION_EXTENSION_FIELDS, data)
        pointer = EncryptionHeaderPointer(**numbers)
        problems += _iter_pointer_problems(pointer, 1 << cluster_bits, file_bytes)
    findings = [
        Finding(
            "encryption-header-location"
            if crypt_method == CRYPT_LUKS
            else "encryption-unexpected-header",
            Severity.CORRUPTION,
            message,
            "full disk encryption header pointer",
            host_offset=host_offset + field_offset,
            raw=raw,
            expected=expected,
            spec="1.4",
            refusal=Refusal.QEMU,
        )
        for field_offset, message, raw, expected in problems
    ]
    return pointer, findings


_PointerProblem = tuple[int, str, int, str]
"""Field offset, message, value found and value expected."""


def _iter_pointer_problems(
    pointer: EncryptionHeaderPointer, cluster_bytes: int, file_bytes: int
) -> Iterator[_PointerProblem]:
    offset, length = pointer.offset, pointer.length
    if offset == 0 or offset % cluster_bytes:
        message = f"The encryption header's offset {format_offset(offset)} is no usable cluster."
        yield 0, message, offset, f"a multiple of {cluster_bytes:,}, not 0"
    if length < LUKS1_HEADER_BYTES:
        message = f"The encryption header is said to have {length:,} bytes."
        yield 8, message, length, f"{LUKS1_HEADER_BYTES} or more"
    if offset + length > file_bytes:
        message = (
            f"The encryption header would end at {format_offset(offset + length)}, beyond the end "
            f"of the file at {format_offset(file_bytes)}."
        )
        yield 8, message, length, "inside the file"


def check_crypt_method(crypt_method: int, *, has_encryption_header: bool) -> list[Finding]:
    """What the encryption method by itself gives reason to say.

    Values that the format does not define are the header's business.

    Spec: 1.13
    """
    if crypt_method == CRYPT_AES:
        return [
            Finding(
                "aes-legacy",
                Severity.SUSPICIOUS,
                "The guest data is encrypted with the old AES method (weak: AES-128-CBC, the key "
                "is the password's first 16 bytes, predictable IVs). Virtual machines no longer "
                "start from it, but qemu-img still reads it: convert it with the password to an "
                "image with LUKS or with none. A wrong password can't be detected; it gives "
                "garbage, so look at the result.",
                "header",
                host_offset=32,
                raw=crypt_method,
                expected="0 (none) or 2 (LUKS)",
                spec="1.13",
            )
        ]
    if crypt_method == CRYPT_LUKS and not has_encryption_header:
        return [
            Finding(
                "encryption-without-header",
                Severity.CORRUPTION,
                "The image is LUKS-encrypted but names no encryption header: without it no "
                "password can open the data.",
                "header",
                host_offset=32,
                raw=crypt_method,
                expected="a full disk encryption header pointer",
                spec="1.4",
                refusal=Refusal.READER,
            )
        ]
    return []


@dataclass(frozen=True, slots=True)
class LuksKeySlot:
    """One key slot of a LUKS1 header.

    Attributes:
        index: From 0.
        state: As stored: `KEY_SLOT_ENABLED`, `KEY_SLOT_DISABLED` or damage.
        iterations: PBKDF2 iterations.
        salt: 32 bytes.
        key_material_offset: In bytes from the start of the LUKS header.
        stripes: Anti-forensic stripes.
    """

    index: int
    state: int
    iterations: int
    salt: bytes
    key_material_offset: int
    stripes: int

    @property
    def active(self) -> bool:
        """Whether a password can open this slot."""
        return self.state == KEY_SLOT_ENABLED


@dataclass(frozen=True, slots=True)
class LuksHeader:
    """A LUKS1 header.

    Attributes:
        version: Always 1.
        cipher_name: Such as "aes".
        cipher_mode: Such as "xts-plain64": chaining and the IV's generator.
        hash_spec: Such as "sha256".
        payload_offset: In bytes; qcow2 does not use it for guest data.
        key_bytes: Length of the master key.
        mk_digest: Checksum of the master key, 20 bytes.
        mk_digest_salt: 32 bytes.
        mk_digest_iterations: PBKDF2 iterations of that checksum.
        uuid: As text.
        key_slots: Eight, fewer when the header is cut short.
    """

    version: int
    cipher_name: str
    cipher_mode: str
    hash_spec: str
    payload_offset: int
    key_bytes: int
    mk_digest: bytes
    mk_digest_salt: bytes
    mk_digest_iterations: int
    uuid: str
    key_slots: tuple[LuksKeySlot, ...]

    @property
    def cipher(self) -> str:
        """Cipher, key length and mode in one word, such as "aes-256-xts-plain64"."""
        # XTS splits the key in two halves, so half of it counts.
        halves = 2 if self.cipher_mode.startswith("xts") else 1
        return f"{self.cipher_name}-{self.key_bytes * 8 // halves}-{self.cipher_mode}"


def parse_luks_header(
    data: bytes, *, host_offset: int, area_bytes: int
) -> tuple[LuksHeader | None, list[Finding]]:
    """The LUKS1 header in `data`, None when it is no such header, and what is wrong with it.

    Args:
        data: Bytes from the header's start on, 592 or more unless the file ends.
        host_offset: Where `data` lies in the file.
        area_bytes: Length of the whole encryption header, from the extension.

    Spec: 1.13; LUKS On-Disk Format 1.2.3
    """
    problem = _foreign_header(data)
    if problem:
        return None, [_luks_finding(problem, host_offset, expected="a LUKS1 header")]
    (
        _magic,
        version,
        cipher_name,
        cipher_mode,
        hash_spec,
        payload_sectors,
        key_bytes,
        mk_digest,
        mk_digest_salt,
        mk_digest_iterations,
        uuid,
    ) = _LUKS1_FIXED.unpack_from(data)
    header = LuksHeader(
        version=version,
        cipher_name=_text(cipher_name),
        cipher_mode=_text(cipher_mode),
        hash_spec=_text(hash_spec),
        payload_offset=payload_sectors * SECTOR_BYTES,
        key_bytes=key_bytes,
        mk_digest=mk_digest,
        mk_digest_salt=mk_digest_salt,
        mk_digest_iterations=mk_digest_iterations,
        uuid=_text(uuid),
        key_slots=_parse_key_slots(data),
    )
    return header, _judge_luks(header, host_offset, area_bytes)


def _foreign_header(data: bytes) -> str:
    """Why `data` can't be parsed as a LUKS1 header, or an empty string."""
    if len(data) < _LUKS_VERSION.size:
        return f"The file ends after {len(data)} bytes of the LUKS header."
    magic, version = _LUKS_VERSION.unpack_from(data)
    if magic != LUKS_MAGIC:
        return f"The encryption header starts with {magic.hex(' ')}, which is no LUKS header."
    if version == 2:
        return "The encryption header is LUKS version 2; the format and QEMU know version 1 only."
    if version != 1:
        return f"The LUKS header has the unknown version {version}."
    if len(data) < _LUKS1_FIXED.size:
        return f"The file ends after {len(data)} bytes of the LUKS header."
    return ""


def _text(field: bytes) -> str:
    return decode_name(field.partition(b"\0")[0])[0]


def _parse_key_slots(data: bytes) -> tuple[LuksKeySlot, ...]:
    complete = (len(data) - _LUKS1_FIXED.size) // _LUKS1_KEY_SLOT.size
    slots = []
    for index in range(min(complete, LUKS1_KEY_SLOTS)):
        state, iterations, salt, material_sectors, stripes = _LUKS1_KEY_SLOT.unpack_from(
            data, _LUKS1_FIXED.size + index * _LUKS1_KEY_SLOT.size
        )
        slots.append(
            LuksKeySlot(index, state, iterations, salt, material_sectors * SECTOR_BYTES, stripes)
        )
    return tuple(slots)


def _luks_finding(
    message: str,
    host_offset: int,
    *,
    entry: int | None = None,
    raw: int | None = None,
    expected: str = "",
) -> Finding:
    return Finding(
        "luks-header",
        Severity.CORRUPTION,
        message,
        "LUKS header",
        host_offset=host_offset,
        entry=entry,
        raw=raw,
        expected=expected,
        spec="1.13",
    )


def _judge_luks(header: LuksHeader, host_offset: int, area_bytes: int) -> list[Finding]:
    findings = []
    if not 0 < header.key_bytes <= MAX_MASTER_KEY_BYTES:
        findings.append(
            _luks_finding(
                f"The LUKS master key is said to have {header.key_bytes:,} bytes.",
                host_offset + 108,
                raw=header.key_bytes,
                expected=f"1 to {MAX_MASTER_KEY_BYTES}",
            )
        )
    if not (header.cipher_name and header.cipher_mode and header.hash_spec):
        findings.append(
            _luks_finding("The LUKS header names no cipher, mode or hash.", host_offset + 8)
        )
    for slot in header.key_slots:
        findings += _judge_key_slot(slot, header.key_bytes, host_offset, area_bytes)
    if len(header.key_slots) < LUKS1_KEY_SLOTS:
        findings.append(
            _luks_finding(
                f"The file ends inside the LUKS header: {len(header.key_slots)} of "
                f"{LUKS1_KEY_SLOTS} key slots are there.",
                host_offset,
                expected=f"{LUKS1_HEADER_BYTES} bytes",
            )
        )
    elif not any(slot.active for slot in header.key_slots):
        findings.append(
            _luks_finding(
                "No key slot of the LUKS header is active: no password can open the data.",
                host_offset + _LUKS1_FIXED.size,
                expected="an active key slot",
            )
        )
    return findings


def _judge_key_slot(
    slot: LuksKeySlot, key_bytes: int, host_offset: int, area_bytes: int
) -> list[Finding]:
    slot_offset = host_offset + _LUKS1_FIXED.size + slot.index * _LUKS1_KEY_SLOT.size
    if slot.state not in (KEY_SLOT_ENABLED, KEY_SLOT_DISABLED):
        return [
            _luks_finding(
                f"Key slot {slot.index} is neither active nor disabled (state {slot.state:#010x}).",
                slot_offset,
                entry=slot.index,
                raw=slot.state,
                expected=f"{KEY_SLOT_ENABLED:#010x} or {KEY_SLOT_DISABLED:#010x}",
            )
        ]
    if not slot.active:
        return []
    findings = []
    if slot.stripes != LUKS1_STRIPES:
        findings.append(
            _luks_finding(
                f"Key slot {slot.index} has {slot.stripes:,} stripes.",
                slot_offset + 44,
                entry=slot.index,
                raw=slot.stripes,
                expected=str(LUKS1_STRIPES),
            )
        )
    material_end = slot.key_material_offset + key_bytes * slot.stripes
    if slot.key_material_offset < LUKS1_HEADER_BYTES or material_end > area_bytes:
        findings.append(
            _luks_finding(
                f"The key material of slot {slot.index} (bytes {slot.key_material_offset:,} to "
                f"{material_end:,} of the encryption header) does not lie inside it.",
                slot_offset + 40,
                entry=slot.index,
                raw=slot.key_material_offset // SECTOR_BYTES,
                expected=f"between {LUKS1_HEADER_BYTES} and {area_bytes:,}",
            )
        )
    return findings
