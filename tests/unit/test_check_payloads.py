"""The verdicts on compressed payloads: what is wrong, and where the stream ends."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check import payloads
from qcowgui.check.payloads import PayloadJudge, PayloadKind, PayloadVerdict
from qcowgui.codec.cluster import CodecError
from qcowgui.codec.registry import CompressionType, decoder
from qcowgui.format.entries import CompressedDescriptor
from tests.support.base_images import pattern, text
from tests.support.payload import deflate_stream, with_length_prefix, zstd_stream

CLUSTER_BYTES = 65536
ZLIB, ZSTD = CompressionType.ZLIB, CompressionType.ZSTD
BOTH = pytest.mark.parametrize("compression_type", [ZLIB, ZSTD])
OFFSETS = pytest.mark.parametrize("host_offset", [0x10000, 0x10001, 0x101FF, 0x10200 - 7])

Encoder = Callable[[bytes], bytes]
ENCODERS: dict[CompressionType, Encoder] = {ZLIB: deflate_stream, ZSTD: zstd_stream}


def descriptor_of(host_offset: int, payload_bytes: int, more: int = 0) -> CompressedDescriptor:
    """The descriptor that QEMU's writer makes, with `more` sectors."""
    sectors = (host_offset + payload_bytes - 1) // 512 - host_offset // 512 + 1
    return CompressedDescriptor(host_offset, sectors + more)


def window_of(stream: bytes, descriptor: CompressedDescriptor, *, extra_bytes: int = 0) -> bytes:
    """What the file holds there: the stream, then another payload's bytes."""
    return (stream + pattern(2 * CLUSTER_BYTES, 77))[: descriptor.max_payload_bytes + extra_bytes]


def suspects(
    judged: PayloadJudge, payloads: list[bytes], descriptors: list[CompressedDescriptor]
) -> list[int]:
    """What the quick way suspects of payloads that lie one after another."""
    lengths = [len(payload) for payload in payloads]
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    return judged.suspects(
        memoryview(b"".join(payloads)),
        np.array([starts, lengths], dtype=np.uint64).T.copy(),
        [descriptor.max_payload_bytes - 512 for descriptor in descriptors],
    )


def judge(
    window: bytes, descriptor: CompressedDescriptor, compression_type: CompressionType
) -> PayloadVerdict:
    """The verdict, and a test that the quick way agrees with the thorough one."""
    judged = PayloadJudge(compression_type, CLUSTER_BYTES)
    verdict = judged.judge(window, descriptor)
    payload = window[: descriptor.max_payload_bytes]
    if not suspects(judged, [payload], [descriptor]):
        assert verdict.kind is PayloadKind.OK
    return verdict


@BOTH
@OFFSETS
def test_whole_payload(compression_type: CompressionType, host_offset: int) -> None:
    stream = ENCODERS[compression_type](text(CLUSTER_BYTES))
    descriptor = descriptor_of(host_offset, len(stream))
    window = window_of(stream, descriptor, extra_bytes=3000)
    assert judge(window, descriptor, compression_type) == PayloadVerdict(
        PayloadKind.OK, len(stream), descriptor.sectors, CLUSTER_BYTES
    )
    payload = window[: descriptor.max_payload_bytes]
    assert suspects(PayloadJudge(compression_type, CLUSTER_BYTES), [payload], [descriptor]) == []


@BOTH
@OFFSETS
@pytest.mark.parametrize("more", [1, 4, 30])
def test_too_many_sectors(compression_type: CompressionType, host_offset: int, more: int) -> None:
    stream = ENCODERS[compression_type](text(CLUSTER_BYTES))
    right = descriptor_of(host_offset, len(stream))
    wrong = descriptor_of(host_offset, len(stream), more)
    verdict = judge(window_of(stream, wrong), wrong, compression_type)
    assert verdict.kind is PayloadKind.SECTORS_LONG
    assert (verdict.true_end, verdict.right_sectors) == (len(stream), right.sectors)
    assert f"{right.sectors} sectors, not {wrong.sectors}" in verdict.reason


@BOTH
@OFFSETS
@pytest.mark.parametrize("fewer", [1, 2, 20])
def test_too_few_sectors(compression_type: CompressionType, host_offset: int, fewer: int) -> None:
    stream = ENCODERS[compression_type](text(CLUSTER_BYTES))
    right = descriptor_of(host_offset, len(stream))
    wrong = descriptor_of(host_offset, len(stream), -fewer)
    window = window_of(stream, wrong, extra_bytes=2 * CLUSTER_BYTES)
    verdict = judge(window, wrong, compression_type)
    assert verdict.kind is PayloadKind.SECTORS_SHORT
    assert (verdict.true_end, verdict.right_sectors) == (len(stream), right.sectors)
    # Without the bytes behind it nothing better can be said than that it is not whole.
    alone = judge(window_of(stream, wrong), wrong, compression_type)
    assert alone.kind is PayloadKind.DAMAGED
    assert 0 <= alone.produced_bytes < CLUSTER_BYTES


@pytest.mark.parametrize("overhang_bytes", [0, 1])
def test_a_last_sector_is_rounded_up(overhang_bytes: int) -> None:
    """A stream that ends on a sector's border, and one that ends a byte behind it."""
    stream = deflate_stream(text(CLUSTER_BYTES))
    host_offset = 0x20000 - (len(stream) - overhang_bytes) % 512
    descriptor = descriptor_of(host_offset, len(stream))
    assert judge(window_of(stream, descriptor), descriptor, ZLIB).kind is PayloadKind.OK
    longer = CompressedDescriptor(host_offset, descriptor.sectors + 1)
    verdict = judge(window_of(stream, longer), longer, ZLIB)
    assert verdict.kind is PayloadKind.SECTORS_LONG
    assert verdict.right_sectors == descriptor.sectors


@BOTH
def test_highly_compressible_payload_in_one_sector(compression_type: CompressionType) -> None:
    stream = ENCODERS[compression_type](bytes(CLUSTER_BYTES))
    descriptor = descriptor_of(0x10000, len(stream))
    assert descriptor.sectors == 1
    assert judge(window_of(stream, descriptor), descriptor, compression_type).kind is PayloadKind.OK


@BOTH
@pytest.mark.parametrize("given_bytes", [1, 700, CLUSTER_BYTES - 1])
def test_short_stream(compression_type: CompressionType, given_bytes: int) -> None:
    stream = ENCODERS[compression_type](text(given_bytes))
    descriptor = descriptor_of(0x10003, len(stream))
    for extra_bytes in (0, CLUSTER_BYTES):
        window = window_of(stream, descriptor, extra_bytes=extra_bytes)
        verdict = judge(window, descriptor, compression_type)
        assert verdict.kind is PayloadKind.SHORT
        assert verdict.produced_bytes == given_bytes
        assert verdict.right_sectors is None


@BOTH
def test_flipped_bytes(compression_type: CompressionType) -> None:
    """BL-O14: the guest cluster is lost, and how much came out before is told."""
    stream = bytearray(ENCODERS[compression_type](text(CLUSTER_BYTES)))
    position = len(stream) // 2 if compression_type is ZLIB else 12
    stream[position : position + 8] = bytes(byte ^ 0xFF for byte in stream[position : position + 8])
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(
        window_of(bytes(stream), descriptor, extra_bytes=CLUSTER_BYTES),
        descriptor,
        compression_type,
    )
    # A deflate stream that lost its step mostly goes on and ends somewhere.
    expected = PayloadKind.SHORT if compression_type is ZLIB else PayloadKind.DAMAGED
    assert verdict.kind is expected
    assert verdict.produced_bytes < CLUSTER_BYTES


def test_bytes_before_a_deflate_error_are_counted_exactly() -> None:
    good = text(30000)
    stored = zlib.compressobj(0, zlib.DEFLATED, -15)
    stream = stored.compress(good) + stored.flush(zlib.Z_FULL_FLUSH) + b"\x07" * 2000
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(stream.ljust(descriptor.max_payload_bytes, b"\7"), descriptor, ZLIB)
    assert verdict.kind is PayloadKind.DAMAGED
    assert verdict.produced_bytes == len(good)
    assert verdict.reason == "the deflate stream is damaged: invalid block type"


def test_bytes_before_a_damaged_zstd_frame() -> None:
    first, second = zstd_stream(text(20000)), bytearray(zstd_stream(text(CLUSTER_BYTES - 20000, 1)))
    second[9:15] = b"\xff" * 6
    stream = first + bytes(second)
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(window_of(stream, descriptor), descriptor, ZSTD)
    assert verdict.kind is PayloadKind.DAMAGED
    assert verdict.produced_bytes == 20000


@BOTH
def test_zeros_where_the_payload_should_be(compression_type: CompressionType) -> None:
    descriptor = CompressedDescriptor(0x10000, 20)
    verdict = judge(bytes(3 * CLUSTER_BYTES), descriptor, compression_type)
    assert verdict.kind is PayloadKind.DAMAGED
    assert verdict.reason == "all its bytes are zeros"


@BOTH
def test_payload_of_the_other_type(compression_type: CompressionType) -> None:
    other = ZSTD if compression_type is ZLIB else ZLIB
    stream = ENCODERS[other](text(CLUSTER_BYTES))
    descriptor = descriptor_of(0x10007, len(stream))
    verdict = judge(window_of(stream, descriptor), descriptor, compression_type)
    assert verdict.kind is PayloadKind.OTHER_TYPE
    assert verdict.true_end == len(stream)
    assert ("zstd" if other is ZSTD else "deflate") in verdict.reason
    assert judge(window_of(stream, descriptor), descriptor, other).kind is PayloadKind.OK


@BOTH
@pytest.mark.parametrize("window_bits", [15, 31])
def test_wrapped_deflate(compression_type: CompressionType, window_bits: int) -> None:
    wrapper = zlib.compressobj(6, zlib.DEFLATED, window_bits)
    stream = wrapper.compress(text(CLUSTER_BYTES)) + wrapper.flush()
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(window_of(stream, descriptor), descriptor, compression_type)
    assert verdict.kind is PayloadKind.OTHER_TYPE
    assert verdict.true_end == len(stream)
    assert "zlib or gzip header" in verdict.reason


@pytest.mark.parametrize("byteorder", ["big", "little"])
def test_prerelease_layout(byteorder: str) -> None:
    order = "big" if byteorder == "big" else "little"
    stream = with_length_prefix(zstd_stream(text(CLUSTER_BYTES)), order)  # type: ignore[arg-type]
    descriptor = descriptor_of(0x10000, len(stream), 3)
    verdict = judge(window_of(stream, descriptor), descriptor, ZSTD)
    assert verdict.kind is PayloadKind.PRERELEASE
    assert verdict.true_end == len(stream)
    assert verdict.right_sectors == descriptor.sectors - 3


def test_several_zstd_frames_and_a_frame_without_a_size() -> None:
    data = text(CLUSTER_BYTES)
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 300) + bytes(300)
    for stream in (
        zstd_stream(data, frames=5),
        zstd_stream(data, content_size=False),
        skippable + zstd_stream(data),
    ):
        descriptor = descriptor_of(0x10000, len(stream))
        assert judge(window_of(stream, descriptor), descriptor, ZSTD) == PayloadVerdict(
            PayloadKind.OK, len(stream), descriptor.sectors, CLUSTER_BYTES
        )
        longer = descriptor_of(0x10000, len(stream), 2)
        verdict = judge(window_of(stream, longer), longer, ZSTD)
        assert verdict.kind is PayloadKind.SECTORS_LONG


def test_deflate_streams_without_an_end_and_with_more_than_a_cluster() -> None:
    """QEMU reads both, their cluster being full; no writer makes such streams."""
    open_ended = zlib.compressobj(6, zlib.DEFLATED, -15)
    for stream in (
        open_ended.compress(text(CLUSTER_BYTES)) + open_ended.flush(zlib.Z_SYNC_FLUSH),
        deflate_stream(text(CLUSTER_BYTES) + b"more"),
    ):
        descriptor = descriptor_of(0x10000, len(stream), 4)
        # More literals in fixed codes follow.
        verdict = judge(stream.ljust(descriptor.max_payload_bytes, b"\2"), descriptor, ZLIB)
        assert verdict == PayloadVerdict(
            PayloadKind.UNENDED,
            None,
            None,
            CLUSTER_BYTES,
            "the cluster is full before the stream ends",
        )


def test_end_of_block_code_alone_in_a_sector_more() -> None:
    """QEMU reads a cluster without the last code; the sector count is too small all the same."""
    data = text(CLUSTER_BYTES)
    stream = deflate_stream(data)
    host_offset = 0x20000 - (len(stream) - 1)
    descriptor = descriptor_of(host_offset, len(stream), -1)
    verdict = judge(window_of(stream, descriptor, extra_bytes=512), descriptor, ZLIB)
    assert verdict.kind is PayloadKind.SECTORS_SHORT
    assert verdict.true_end == len(stream)


@BOTH
def test_file_that_ends_inside_the_payload(compression_type: CompressionType) -> None:
    stream = ENCODERS[compression_type](text(CLUSTER_BYTES))
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(stream[: len(stream) * 2 // 3], descriptor, compression_type)
    assert verdict.kind is PayloadKind.TRUNCATED
    assert verdict.reason == "the file ends inside the stream"
    # The last sector of a file is normally cut: nothing is missing then.
    assert judge(stream, descriptor, compression_type).kind is PayloadKind.OK


def test_damage_before_the_end_of_the_file_is_named() -> None:
    stream = bytearray(deflate_stream(text(CLUSTER_BYTES)))
    stream[100:120] = b"\xff" * 20
    descriptor = descriptor_of(0x10000, len(stream))
    verdict = judge(bytes(stream[:9000]), descriptor, ZLIB)
    assert verdict.kind is PayloadKind.DAMAGED
    assert verdict.reason.startswith("the deflate stream is damaged: ")


def test_a_missing_last_byte_that_is_zero_is_what_qemu_reads() -> None:
    """The file ends one byte early, and QEMU reads zeros there: the stream is whole again."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -12, 9, zlib.Z_FIXED)
    stream = packer.compress(text(CLUSTER_BYTES)) + packer.flush()
    assert stream[-1] == 0, "the end-of-block code of fixed Huffman codes is seven zero bits"
    descriptor = descriptor_of(0x10000, len(stream))
    assert judge(stream[:-1], descriptor, ZLIB).kind is PayloadKind.OK


def test_bombs_cost_no_more_than_a_cluster() -> None:
    rle = struct.pack("<I", (1 << 17) << 3 | 2)[:3] + b"\0"
    declared = b"\x28\xb5\x2f\xfd\xc0" + bytes([17 << 3]) + struct.pack("<Q", 1 << 40)
    undeclared = b"\x28\xb5\x2f\xfd\x00" + bytes([17 << 3])
    for header in (declared, undeclared):
        descriptor = CompressedDescriptor(0x10000, 8)
        verdict = judge((header + rle * 5000)[:4096], descriptor, ZSTD)
        assert verdict.kind is PayloadKind.DAMAGED
        assert verdict.produced_bytes <= CLUSTER_BYTES


@BOTH
def test_one_bad_payload_among_good_ones(compression_type: CompressionType) -> None:
    streams = [ENCODERS[compression_type](text(CLUSTER_BYTES, seed)) for seed in range(5)]
    descriptors = [descriptor_of(0x10000, len(stream)) for stream in streams]
    windows = [
        window_of(stream, descriptor)
        for stream, descriptor in zip(streams, descriptors, strict=True)
    ]
    flipped = bytearray(windows[2])
    flipped[9:40] = b"\xff" * 31
    windows[2] = bytes(flipped)
    descriptors[4] = descriptor_of(0x10000, len(streams[4]), 1)
    windows[4] = window_of(streams[4], descriptors[4])
    judged = PayloadJudge(compression_type, CLUSTER_BYTES)
    assert suspects(judged, windows, descriptors) == [2, 4]


def test_the_function_is_the_method() -> None:
    stream = deflate_stream(text(4096))
    descriptor = descriptor_of(0x1000, len(stream))
    assert payloads.judge(stream, descriptor, ZLIB, 4096).kind is PayloadKind.OK


@BOTH
@given(
    seed=st.integers(0, 1 << 32),
    flips=st.integers(0, 3),
    more=st.integers(-3, 3),
    host_offset=st.integers(0x1000, 0x1400),
)
def test_verdict_agrees_with_the_reader(
    compression_type: CompressionType, seed: int, flips: int, more: int, host_offset: int
) -> None:
    """Whatever the bytes: what the reader's decoder refuses is bad, and nothing else."""
    chance = random.Random(seed)
    stream = bytearray(ENCODERS[compression_type](text(4096, seed % 7)))
    for _ in range(flips):
        stream[chance.randrange(len(stream))] ^= 1 << chance.randrange(8)
    right = descriptor_of(host_offset, len(stream))
    descriptor = CompressedDescriptor(host_offset, max(1, min(16, right.sectors + more)))
    window = (bytes(stream) + chance.randbytes(8192))[: chance.choice([8192, 5000])]
    judged = PayloadJudge(compression_type, 4096)
    verdict = judged.judge(window, descriptor)
    payload = window[: descriptor.max_payload_bytes]
    try:
        decoder(compression_type, 4096).decode(payload)
    except CodecError:
        assert verdict.kind > PayloadKind.PRERELEASE
        assert suspects(judged, [payload], [descriptor]) == [0]
    else:
        assert verdict.produced_bytes == 4096
        assert verdict.kind in (
            PayloadKind.OK,
            PayloadKind.SECTORS_LONG,
            PayloadKind.UNENDED,
            PayloadKind.SECTORS_SHORT,  # an end-of-block code alone in the next sector
        )
        suspected = suspects(judged, [payload], [descriptor]) == [0]
        assert suspected or verdict.kind is PayloadKind.OK
    if not flips:
        expected = (
            PayloadKind.OK
            if descriptor == right
            else PayloadKind.SECTORS_LONG
            if descriptor.sectors > right.sectors
            else PayloadKind.SECTORS_SHORT
        )
        assert verdict.kind is expected
        assert verdict.right_sectors == right.sectors


def test_frames_with_a_checksum() -> None:
    packer = zstandard.ZstdCompressor(write_checksum=True)
    stream = bytearray(packer.compress(text(CLUSTER_BYTES)))
    descriptor = descriptor_of(0x10000, len(stream))
    assert judge(bytes(stream), descriptor, ZSTD).true_end == len(stream)
    stream[-1] ^= 1
    assert judge(bytes(stream), descriptor, ZSTD).kind is PayloadKind.DAMAGED


@given(
    level=st.sampled_from([1, 3, 19]),
    checksum=st.booleans(),
    sized=st.booleans(),
    cluster_bits=st.sampled_from([9, 10, 12, 16, 18]),
    seed=st.integers(0, 5),
    more=st.integers(-1, 1),
    flip=st.none() | st.tuples(st.integers(0, 16), st.integers(0, 7)),
)
def test_frames_are_parsed_alike_one_by_one_and_many_at_once(
    level: int,
    checksum: bool,
    sized: bool,
    cluster_bits: int,
    seed: int,
    more: int,
    flip: tuple[int, int] | None,
) -> None:
    """The quick way through frame headers passes nothing that `parse_frame` does not."""
    cluster_bytes = 1 << cluster_bits
    packer = zstandard.ZstdCompressor(
        level=level, write_checksum=checksum, write_content_size=sized
    )
    data = bytes(cluster_bytes) if seed == 0 else text(cluster_bytes, seed)
    stream = bytearray(packer.compress(data))
    if flip is not None and flip[0] < len(stream):
        stream[flip[0]] ^= 1 << flip[1]
    descriptor = descriptor_of(0x1003, len(stream), more)
    payload = (bytes(stream) + pattern(700, 8))[: max(0, descriptor.max_payload_bytes)]
    if descriptor.sectors < 1:
        return
    judged = PayloadJudge(ZSTD, cluster_bytes)
    is_suspect = suspects(judged, [payload], [descriptor]) == [0]
    verdict = judged.judge(payload, descriptor)
    if not is_suspect:
        assert verdict.kind is PayloadKind.OK
    if flip is None and sized and more == 0:
        assert not is_suspect
    if more == 1 and flip is None:
        assert is_suspect
