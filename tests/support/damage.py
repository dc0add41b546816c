"""Edits of built images, and a registry of named damages.

Every edit takes an image and returns another one; it refuses to change nothing, so that no test
passes because its damage did not happen.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.built import BuiltImage


class NoDamageError(AssertionError):
    """A damage left the bytes as they were."""


def poke(image: BuiltImage, offset: int, data: bytes) -> BuiltImage:
    """Return the image with `data` at a host offset.

    Raises:
        NoDamageError: The bytes are already there.
    """
    if image.read(offset, len(data)) == data:
        raise NoDamageError(f"{data.hex()} is already at {offset:#x}")
    return image.edited(offset, data)


def poke_file(path: Path, offset: int, data: bytes) -> None:
    """Overwrite bytes of a file in place.

    Raises:
        NoDamageError: The bytes are already there.
    """
    with path.open("r+b") as file:
        file.seek(offset)
        if file.read(len(data)) == data:
            raise NoDamageError(f"{path}: {data.hex()} is already at {offset:#x}")
        file.seek(offset)
        file.write(data)


def flip_bits(image: BuiltImage, offset: int, length: int = 1, mask: int = 0xFF) -> BuiltImage:
    """Return the image with the bits of `mask` flipped in each of `length` bytes.

    Raises:
        NoDamageError: The mask or the range is empty, or the range ends past the file.
    """
    old = image.read(offset, length)
    if not mask & 0xFF or length < 1 or len(old) < length:
        raise NoDamageError(f"nothing to flip in {length} bytes at {offset:#x}")
    return image.edited(offset, bytes(byte ^ mask & 0xFF for byte in old))


def truncate_at(image: BuiltImage, length: int) -> BuiltImage:
    """Return the image cut at `length` bytes; NoDamageError if it is not longer than that."""
    if length >= len(image.file):
        raise NoDamageError(f"the file has only {len(image.file)} bytes")
    return image.resized(length)


def append(image: BuiltImage, data: bytes) -> BuiltImage:
    """Return the image with `data` behind its end; NoDamageError if that is nothing."""
    if not data:
        raise NoDamageError("nothing to append")
    return image.edited(len(image.file), data)


def set_integer(image: BuiltImage, offset: int, width: int, value: int) -> BuiltImage:
    """Return the image with a big-endian integer of `width` bytes at a host offset."""
    return poke(image, offset, value.to_bytes(width, "big"))


def get_field(image: BuiltImage, name: str) -> int:
    """Return a header field by its name in the specification."""
    return image.read_integer(*image.layout.header_field(name))


def set_field(image: BuiltImage, name: str, value: int) -> BuiltImage:
    """Return the image with another value in a header field."""
    return set_integer(image, *image.layout.header_field(name), value)


def set_feature_bit(image: BuiltImage, field_name: str, bit: int) -> BuiltImage:
    """Return the image with a bit set in one of the three feature fields."""
    return set_field(image, field_name, get_field(image, field_name) | 1 << bit)


def get_l1_entry(image: BuiltImage, l1_index: int) -> int:
    """Return a word of the active L1."""
    return image.read_integer(image.layout.l1_entry_offset(l1_index), 8)


def set_l1_entry(image: BuiltImage, l1_index: int, word: int) -> BuiltImage:
    """Return the image with another word in the active L1."""
    return set_integer(image, image.layout.l1_entry_offset(l1_index), 8, word)


def get_l2_entry(image: BuiltImage, guest_cluster_index: int) -> int:
    """Return the descriptor of a guest cluster in the active L2 table."""
    return image.read_integer(image.layout.l2_entry_offset(guest_cluster_index), 8)


def set_l2_entry(
    image: BuiltImage, guest_cluster_index: int, word: int, bitmap: int | None = None
) -> BuiltImage:
    """Return the image with another descriptor, and subcluster bitmap if one is given."""
    data = word.to_bytes(8, "big") + (b"" if bitmap is None else bitmap.to_bytes(8, "big"))
    return poke(image, image.layout.l2_entry_offset(guest_cluster_index), data)


def get_refcount(image: BuiltImage, host_cluster_index: int) -> int:
    """Return the stored refcount of a host cluster."""
    slot = image.layout.refcount_slot(host_cluster_index)
    return image.read_integer(slot.offset, slot.width) >> slot.shift & (1 << slot.bits) - 1


def set_refcount(image: BuiltImage, host_cluster_index: int, count: int) -> BuiltImage:
    """Return the image with another stored refcount."""
    slot = image.layout.refcount_slot(host_cluster_index)
    mask = ((1 << slot.bits) - 1) << slot.shift
    others = image.read_integer(slot.offset, slot.width) & ~mask
    return set_integer(image, slot.offset, slot.width, others | count << slot.shift & mask)
