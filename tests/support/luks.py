"""A LUKS1 header with the right structure and no key that opens it."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection

LUKS_MAGIC = b"LUKS\xba\xbe"
SLOT_ENABLED = 0x00AC71F3
SLOT_DISABLED = 0x0000DEAD
SLOTS = 8
STRIPES = 4000
MATERIAL_OFFSET = 4096
SECTOR_BYTES = 512

_HEADER = struct.Struct(">6sH32s32s32sII20s32sI40s")
_SLOT = struct.Struct(">II32sII")


def luks1_area(
    *,
    cipher_name: str = "aes",
    cipher_mode: str = "xts-plain64",
    hash_spec: str = "sha256",
    key_bytes: int = 64,
    uuid: str = "9f1c6f5e-53a3-4b4b-8d1d-0d6f3ad6f0c2",
    active_slots: Collection[int] = (0,),
    iterations: int = 1000,
) -> bytes:
    """Return the header and all eight areas of key material, whole 4 KiB blocks.

    The key material is a fixed pseudo-random stream: slots look used, and no passphrase opens one.
    """
    slot_bytes = -(-key_bytes * STRIPES // MATERIAL_OFFSET) * MATERIAL_OFFSET
    total_bytes = MATERIAL_OFFSET + SLOTS * slot_bytes
    header = _HEADER.pack(
        LUKS_MAGIC,
        1,
        cipher_name.encode(),
        cipher_mode.encode(),
        hash_spec.encode(),
        total_bytes // SECTOR_BYTES,
        key_bytes,
        hashlib.sha256(b"digest").digest()[:20],
        hashlib.sha256(b"digest salt").digest(),
        iterations,
        uuid.encode(),
    )
    area = bytearray(total_bytes)
    area[: len(header)] = header
    for slot in range(SLOTS):
        active = slot in active_slots
        material = MATERIAL_OFFSET + slot * slot_bytes
        record = _SLOT.pack(
            SLOT_ENABLED if active else SLOT_DISABLED,
            iterations if active else 0,
            hashlib.sha256(b"slot %d" % slot).digest() if active else b"",
            material // SECTOR_BYTES,
            STRIPES,
        )
        start = _HEADER.size + slot * _SLOT.size
        area[start : start + _SLOT.size] = record
        if active:
            stream = hashlib.shake_256(b"material %d" % slot).digest(key_bytes * STRIPES)
            area[material : material + len(stream)] = stream
    return bytes(area)
