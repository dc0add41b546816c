"""Where zstd frames begin and end, found from their headers alone: nothing is decompressed.

Spec: RFC 8878, 3.1 (frames, blocks, skippable frames).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from qcowgui.codec.cluster import Buffer, CodecError

MAGIC: Final = b"\x28\xb5\x2f\xfd"
PRERELEASE_LENGTH_BYTES: Final = 4
_SKIPPABLE_MAGIC: Final = b"\x2a\x4d\x18"  # after one byte from 0x50 to 0x5F
_MAGIC_BYTES: Final = 4
_BLOCK_HEADER_BYTES: Final = 3
_CHECKSUM_BYTES: Final = 4
_RLE_BLOCK: Final = 1
_COMPRESSED_BLOCK: Final = 2
_RESERVED_BLOCK: Final = 3
_MAX_BLOCK_BYTES: Final = 1 << 17
_DICTIONARY_ID_BYTES: Final = (0, 1, 2, 4)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a payload.

    Attributes:
        frame_bytes: Its length, headers and checksum included.
        content_bytes: What it declares to decode to; None when it declares nothing. Not verified.
        bound_bytes: What it can decode to at the most, by its blocks.
        window_bytes: How far back its matches may reach.
    """

    frame_bytes: int
    content_bytes: int | None
    bound_bytes: int
    window_bytes: int


def parse_frame(payload: Buffer, offset: int) -> Frame:
    """The frame that begins at `offset` of `payload`.

    Raises:
        CodecError: When no whole frame begins there.
    """
    magic = bytes(payload[offset : offset + _MAGIC_BYTES])
    if magic == MAGIC:
        return _parse_content_frame(payload, offset)
    if magic[1:] == _SKIPPABLE_MAGIC and magic[0] & 0xF0 == 0x50:
        size_offset = offset + _MAGIC_BYTES
        user_bytes = _little(payload, size_offset, 4)
        end = size_offset + 4 + user_bytes
        _require(payload, end)
        return Frame(end - offset, content_bytes=0, bound_bytes=0, window_bytes=0)
    if offset == len(payload):
        raise CodecError("the payload ends before the cluster is full")
    raise CodecError("no zstd frame begins where one should")


def _parse_content_frame(payload: Buffer, offset: int) -> Frame:
    descriptor = _little(payload, offset + _MAGIC_BYTES, 1)
    position = offset + _MAGIC_BYTES + 1
    is_single_segment = bool(descriptor & 0x20)
    window_bytes = 0
    if not is_single_segment:
        window_bytes = _window_bytes(_little(payload, position, 1))
        position += 1
    position += _DICTIONARY_ID_BYTES[descriptor & 3]
    content_bytes, position = _content_bytes(payload, position, descriptor >> 6, is_single_segment)
    if is_single_segment and content_bytes is not None:
        window_bytes = content_bytes
    end, bound_bytes = _walk_blocks(payload, position)
    if descriptor & 0x04:
        end += _CHECKSUM_BYTES
        _require(payload, end)
    return Frame(end - offset, content_bytes, bound_bytes, window_bytes)


def _window_bytes(descriptor: int) -> int:
    base = 1 << (10 + (descriptor >> 3))
    return base + base // 8 * (descriptor & 7)


def _content_bytes(
    payload: Buffer, position: int, size_flag: int, is_single_segment: bool
) -> tuple[int | None, int]:
    if size_flag == 0 and not is_single_segment:
        return None, position
    width = 1 << size_flag
    size = _little(payload, position, width)
    # Two bytes count from 256: smaller sizes fit in one.
    return size + (256 if width == 2 else 0), position + width


def _walk_blocks(payload: Buffer, position: int) -> tuple[int, int]:
    """The offset behind the last block, and what all of them can decode to at the most."""
    bound_bytes = 0
    is_last = False
    while not is_last:
        header = _little(payload, position, _BLOCK_HEADER_BYTES)
        is_last = bool(header & 1)
        block_type = header >> 1 & 3
        if block_type == _RESERVED_BLOCK:
            raise CodecError("a zstd block has the reserved type")
        size = header >> 3
        bound_bytes += _MAX_BLOCK_BYTES if block_type == _COMPRESSED_BLOCK else size
        position += _BLOCK_HEADER_BYTES + (1 if block_type == _RLE_BLOCK else size)
        _require(payload, position)
    return position, bound_bytes


def _little(payload: Buffer, offset: int, width: int) -> int:
    _require(payload, offset + width)
    return int.from_bytes(payload[offset : offset + width], "little")


def _require(payload: Buffer, end: int) -> None:
    if end > len(payload):
        raise CodecError("the payload ends inside a zstd frame")


def narrow_window(frame: Buffer, window_bytes: int) -> bytearray:
    """A copy of `frame` whose header asks for the smallest window not below `window_bytes`.

    The content is the same as long as it is not longer than `window_bytes`: no match can reach
    back further than the beginning. The frame must not be of the single-segment kind.
    """
    exponent = max(window_bytes - 1, (1 << 10) - 1).bit_length()
    narrowed = bytearray(frame)
    narrowed[_MAGIC_BYTES + 1] = exponent - 10 << 3
    return narrowed


def strip_prerelease_length(
    payload: Buffer,
) -> tuple[memoryview, Literal["big", "little"]] | None:
    """The frame behind a 4-byte length, and the byte order of the length; None without one.

    Images written by patched QEMUs before zstd was released (5.1) have it. When both orders give
    a length that fits, the one that ends where the frame ends is taken.
    """
    begin = PRERELEASE_LENGTH_BYTES
    if payload[:begin] == MAGIC or payload[begin : begin + _MAGIC_BYTES] != MAGIC:
        return None
    view = memoryview(payload)
    lengths: dict[Literal["big", "little"], int] = {
        "big": int.from_bytes(view[:begin], "big"),
        "little": int.from_bytes(view[:begin], "little"),
    }
    fitting = [order for order, length in lengths.items() if begin + length <= len(view)]
    if not fitting:
        return None
    order = fitting[0]
    if len(fitting) > 1:
        try:
            frame_bytes = parse_frame(view, begin).frame_bytes
        except CodecError:
            frame_bytes = lengths[order]
        order = next((each for each in fitting if lengths[each] == frame_bytes), order)
    return view[begin : begin + lengths[order]], order
