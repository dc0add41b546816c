"""Zstd as QEMU reads it: frame after frame until the cluster is full, bounded by the cluster."""

from __future__ import annotations

import os
import random
import resource
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from qcowgui.codec.cluster import CodecError
from qcowgui.codec.zstd import ZstdDecoder
from qcowgui.codec.zstd_frame import narrow_window, parse_frame, strip_prerelease_length
from tests.support.payload import packed

CLUSTER_BYTES = 65536
MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 5) + b"notes"


def frame(data: bytes, *, declared: bool = True, checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(
        level=3, write_content_size=declared, write_checksum=checksum
    ).compress(data)


def wide_frame(data: bytes, window_log: int, *, declared: bool) -> bytes:
    """A frame whose header asks for a window of 1 << window_log bytes."""
    header = MAGIC + (bytes([0xC0]) if declared else b"\x00") + bytes([window_log - 10 << 3])
    if declared:
        header += struct.pack("<Q", len(data))
    inner = frame(data, declared=False)
    return header + inner[6:]


def bomb(declared_bytes: int | None, blocks: int = 512, window_log: int = 27) -> bytes:
    """A frame of 4 bytes per 128 KiB: RLE blocks."""
    header = MAGIC + (b"\x00" if declared_bytes is None else b"\xc0")
    header += bytes([window_log - 10 << 3])
    if declared_bytes is not None:
        header += struct.pack("<Q", declared_bytes)
    rle = (1 << 17) << 3 | 1 << 1
    body = struct.pack("<I", rle)[:3] + b"\x00"
    last = struct.pack("<I", rle | 1)[:3] + b"\x00"
    return header + body * (blocks - 1) + last


@pytest.fixture
def cluster() -> bytes:
    return random.Random(1).randbytes(8192) * 2 + bytes(49152)


@pytest.fixture
def reader() -> ZstdDecoder:
    return ZstdDecoder(CLUSTER_BYTES)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
def test_frames_follow_each_other(
    reader: ZstdDecoder, cluster: bytes, declared: bool, checksum: bool
) -> None:
    def one(data: bytes) -> bytes:
        return frame(data, declared=declared, checksum=checksum)

    empty = one(b"")
    whole = one(cluster)
    for payload in (
        whole,
        one(cluster[:10]) + one(cluster[10:300]) + one(cluster[300:]),
        empty + SKIPPABLE + one(cluster[:20000]) + empty + SKIPPABLE + one(cluster[20000:]),
        SKIPPABLE + whole,
        frame(cluster[:9], declared=not declared) + one(cluster[9:]),
    ):
        for tail in (b"", b"\x00" * 300, MAGIC, whole, SKIPPABLE):
            assert reader.decode(payload + tail) == cluster
            assert reader.end_of_payload(memoryview(payload + tail)) == len(payload)
    assert reader.prerelease_seen == 0


def test_frame_that_is_not_finished_when_the_cluster_is_full(
    reader: ZstdDecoder, cluster: bytes
) -> None:
    for payload in (
        frame(cluster + b"x"),
        frame(cluster + b"x", declared=False),
        frame(cluster[:1000]) + frame(cluster[1000:] + b"x"),
        frame(cluster[:1000]) + frame(cluster[1000:] + b"x", declared=False),
    ):
        with pytest.raises(CodecError):
            reader.decode(payload)
        assert reader.end_of_payload(payload) is None


def test_payload_that_ends_early(reader: ZstdDecoder, cluster: bytes) -> None:
    first = frame(cluster[:5000])
    second = frame(cluster[5000:])
    for cut in (0, 1, 4, 7, len(second) - 1):
        with pytest.raises(CodecError, match=r"ends|begins") as caught:
            reader.decode(first + second[:cut])
        assert caught.value.produced_bytes == 5000
    with pytest.raises(CodecError, match="ends before the cluster is full"):
        reader.decode(b"")


def test_checksum_is_looked_at(reader: ZstdDecoder, cluster: bytes) -> None:
    payload = bytearray(frame(cluster, checksum=True))
    payload[-1] ^= 1
    with pytest.raises(CodecError):
        reader.decode(payload)
    with pytest.raises(CodecError):
        reader.decode(frame(cluster, checksum=True)[:-1])


def test_declared_size_that_is_a_lie(reader: ZstdDecoder, cluster: bytes) -> None:
    for actual in (cluster[:-1], cluster + b"x", b""):
        payload = bytearray(wide_frame(actual, 20, declared=True))
        payload[6:14] = struct.pack("<Q", CLUSTER_BYTES)
        with pytest.raises(CodecError):
            reader.decode(payload)


def test_frame_that_needs_a_dictionary(reader: ZstdDecoder, cluster: bytes) -> None:
    trained = zstandard.train_dictionary(
        4096, [random.Random(seed).randbytes(20) * 50 for seed in range(300)]
    )
    assert trained.dict_id() != 0
    payload = zstandard.ZstdCompressor(dict_data=trained).compress(cluster)
    with pytest.raises(CodecError):
        reader.decode(payload)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("window_log", [10, 17, 20, 25, 27])
def test_wide_windows_of_honest_frames(
    reader: ZstdDecoder, cluster: bytes, window_log: int, declared: bool
) -> None:
    data = cluster if window_log >= 17 else bytes(CLUSTER_BYTES)
    if window_log < 17:
        block = struct.pack("<I", (1024 << 3) | 2)[:3] + b"\x00"
        header = MAGIC + (b"\xc0" if declared else b"\x00") + b"\x00"
        header += struct.pack("<Q", CLUSTER_BYTES) if declared else b""
        payload = header + block * 63 + bytes([block[0] | 1]) + block[1:]
    else:
        payload = wide_frame(data, window_log, declared=declared)
    assert parse_frame(payload, 0).window_bytes == 1 << window_log
    assert reader.decode(payload) == data
    assert reader.end_of_payload(payload + b"tail") == len(payload)


def test_window_beyond_qemus_limit(reader: ZstdDecoder, cluster: bytes) -> None:
    # One pass needs no window, so a declared size that fits is read, as libzstd does.
    assert reader.decode(wide_frame(cluster, 31, declared=True)) == cluster
    for window_log in (28, 31, 41):
        with pytest.raises(CodecError, match="window"):
            reader.decode(wide_frame(cluster, window_log, declared=False))


def test_level_22_with_long_distance_matching(reader: ZstdDecoder, cluster: bytes) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        22, window_log=27, enable_ldm=True, write_content_size=False, hash_log=10, chain_log=10
    )
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    payload = stream.compress(cluster) + stream.flush()
    assert parse_frame(payload, 0).window_bytes == 1 << 27
    assert reader.decode(payload) == cluster


@pytest.mark.parametrize(
    "payload",
    [
        bomb(512 << 17),
        bomb(1 << 40),
        bomb(CLUSTER_BYTES),
        bomb(None),
        bomb(None, window_log=41),
        bomb(CLUSTER_BYTES)[:-1],
        frame(b"begin") + bomb(512 << 17),
        frame(b"begin") + bomb(None),
    ],
    ids=["64M", "1T", "lie", "undeclared", "window", "cut", "second-64M", "second-undeclared"],
)
def test_bombs_cost_neither_memory_nor_time(reader: ZstdDecoder, payload: bytes) -> None:
    assert len(payload) < 2100
    tracemalloc.start()
    try:
        begin = time.monotonic()
        with pytest.raises(CodecError):
            reader.decode(payload)
        assert reader.end_of_payload(payload) is None
        seconds = time.monotonic() - begin
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4 * CLUSTER_BYTES
    assert seconds < 1


def test_the_windows_of_libzstd_stay_small(cluster: bytes) -> None:
    # tracemalloc doesn't see what libzstd allocates; the size of the address space does.
    page_bytes = resource.getpagesize()

    def address_space() -> int:
        return int(Path("/proc/self/statm").read_text().split()[0]) * page_bytes

    readers = [ZstdDecoder(CLUSTER_BYTES) for _ in range(8)]
    before = address_space()
    for reader in readers:
        assert reader.decode(wide_frame(cluster, 27, declared=False)) == cluster
        with pytest.raises(CodecError):
            reader.decode(bomb(None))
    assert address_space() - before < 8 * (4 << 20)


def test_many_tiny_frames_end_soon() -> None:
    reader = ZstdDecoder(1 << 21)
    empty = MAGIC + b"\x00\x00" + b"\x01\x00\x00"
    begin = time.monotonic()
    with pytest.raises(CodecError, match="ends before"):
        reader.decode(empty * 50_000)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("order", ["big", "little"])
def test_prerelease_length(reader: ZstdDecoder, cluster: bytes, order: str) -> None:
    body = frame(cluster)
    prefix = len(body).to_bytes(4, "big" if order == "big" else "little")
    for tail in (b"", b"\x00" * 400, b"\xff" * 100_000):
        payload = prefix + body + tail
        found = strip_prerelease_length(payload)
        assert found is not None
        assert found[0] == body
        assert found[1] == order
        assert reader.decode(memoryview(payload)) == cluster
        assert reader.end_of_payload(payload) == 4 + len(body)
    assert reader.prerelease_seen == 3


def test_prerelease_length_of_either_order_goes_by_the_frame() -> None:
    # 00 00 01 00 fits as 256 (big) and as 65536 (little); the frame says which.
    raw_bytes = 65536 - 9
    body = MAGIC + b"\x00\x38" + struct.pack("<I", raw_bytes << 3 | 1)[:3]
    body += random.Random(2).randbytes(raw_bytes)
    assert parse_frame(body, 0).frame_bytes == 65536
    found = strip_prerelease_length(struct.pack("<I", 65536) + body)
    assert found is not None
    assert (len(found[0]), found[1]) == (65536, "little")


def test_prerelease_length_before_a_damaged_frame_is_taken_as_big_endian() -> None:
    found = strip_prerelease_length(b"\x00\x00\x01\x00" + MAGIC + b"\xff" * 70_000)
    assert found is not None
    assert (len(found[0]), found[1]) == (256, "big")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        MAGIC,
        MAGIC + MAGIC,
        b"\x00\x00\x00\x09" + MAGIC[:3],
        b"\x00\x00\x00\x09" + MAGIC + b"\x00" * 4,
        b"\x7f\x00\x00\x7f" + MAGIC + b"\x00" * 40,
    ],
)
def test_no_prerelease_length(payload: bytes) -> None:
    assert strip_prerelease_length(payload) is None


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 65791, 65792, 300_000])
def test_parse_frame_agrees_with_libzstd(length: int, declared: bool, checksum: bool) -> None:
    data = random.Random(length).randbytes(length // 2) + bytes(length - length // 2)
    encoded = frame(data, declared=declared, checksum=checksum)
    parameters = zstandard.get_frame_parameters(encoded)
    parsed = parse_frame(b"123" + encoded + b"tail", 3)
    assert parsed.frame_bytes == len(encoded)
    assert parsed.content_bytes == (length if declared else None)
    assert parsed.window_bytes == parameters.window_size
    assert length <= parsed.bound_bytes
    assert parameters.has_checksum is checksum


@pytest.mark.parametrize("window_bytes", [512, 1024, 1025, 65536, 1 << 21])
def test_narrow_window(window_bytes: int) -> None:
    wide = wide_frame(b"abc", 27, declared=False)
    narrowed = parse_frame(narrow_window(wide, window_bytes), 0).window_bytes
    assert window_bytes <= narrowed < max(2 * window_bytes, 1025)


@pytest.mark.parametrize("descriptor", range(0, 256, 7))
def test_window_descriptor_agrees_with_libzstd(descriptor: int) -> None:
    encoded = bytearray(wide_frame(b"abc", 20, declared=False))
    encoded[5] = descriptor
    if descriptor >> 3 > 21:  # libzstd reads no header beyond 2 GiB
        assert parse_frame(encoded, 0).window_bytes >= 1 << 32
        return
    parsed = parse_frame(encoded, 0).window_bytes
    assert parsed == zstandard.get_frame_parameters(encoded).window_size


def test_reserved_block_type(reader: ZstdDecoder) -> None:
    with pytest.raises(CodecError, match="reserved"):
        reader.decode(MAGIC + b"\x00\x38" + b"\x07\x00\x00")


@pytest.mark.parametrize("count", [1, 2, 5, 16, 129])
def test_many_at_once_are_what_each_is(count: int) -> None:
    """The library puts them into several buffers, of which only the segments are to be had."""
    clusters = [bytes([index]) * 1000 + os.urandom(3096) for index in range(count)]
    payloads = [frame(cluster) + b"what follows in the file" for cluster in clusters]
    decoder = ZstdDecoder(4096)
    decoded = decoder.decode_many(*packed(payloads))
    assert decoded is not None
    assert [bytes(cluster) for cluster in decoded.each(4096)] == clusters


@pytest.mark.parametrize(
    "odd",
    [
        frame(bytes(4096))[:-1],
        frame(bytes(4095)),
        frame(bytes(4097)),
        frame(bytes(2048)) * 2,
        b"",
        b"no frame at all",
        (20).to_bytes(4, "big") + frame(bytes(4096)),
    ],
)
def test_one_that_needs_a_closer_look_makes_many_one_by_one(odd: bytes) -> None:
    assert ZstdDecoder(4096).decode_many(*packed([frame(bytes(4096)), odd])) is None


def test_payloads_beyond_what_was_read_are_looked_at_one_by_one() -> None:
    area, segments = packed([frame(bytes(4096))])
    segments[0, 1] += 1
    assert ZstdDecoder(4096).decode_many(area, segments) is None


def test_many_at_once_take_room_for_a_cluster_each_whatever_they_declare() -> None:
    bomb = bytearray(frame(bytes(4096)))
    bomb[4:] = b"\xe0" + (1 << 40).to_bytes(8, "little") + bomb[7:]  # an 8-byte content size
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert ZstdDecoder(4096).decode_many(*packed([bytes(bomb)])) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024
