"""Deflate as QEMU reads it: the cluster must be full, nothing else is asked."""

from __future__ import annotations

import os
import random
import zlib

import pytest

from qcowgui.codec.cluster import CodecError
from qcowgui.codec.deflate import DeflateDecoder
from tests.support.payload import packed

CLUSTER_BYTES = 4096


def raw_deflate(data: bytes, level: int = 6) -> bytes:
    stream = zlib.compressobj(level, zlib.DEFLATED, -15, 9)
    return stream.compress(data) + stream.flush()


@pytest.fixture
def cluster() -> bytes:
    return random.Random(1).randbytes(1024) * 2 + bytes(2048)


def test_stream_without_an_end_is_enough(cluster: bytes) -> None:
    stream = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    payload = stream.compress(cluster) + stream.flush(zlib.Z_SYNC_FLUSH)
    reader = DeflateDecoder(CLUSTER_BYTES)
    assert reader.decode(payload) == cluster
    assert reader.end_of_payload(payload) is None


def test_stream_that_goes_on_is_cut(cluster: bytes) -> None:
    payload = raw_deflate(cluster + b"more than one cluster")
    reader = DeflateDecoder(CLUSTER_BYTES)
    assert reader.decode(payload) == cluster
    assert reader.end_of_payload(payload) is None


def test_several_blocks_and_an_empty_last_one(cluster: bytes) -> None:
    stream = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    payload = stream.compress(cluster[:1000]) + stream.flush(zlib.Z_FULL_FLUSH)
    payload += stream.compress(cluster[1000:]) + stream.flush(zlib.Z_FULL_FLUSH) + stream.flush()
    reader = DeflateDecoder(CLUSTER_BYTES)
    assert reader.decode(payload) == cluster
    assert reader.end_of_payload(payload + b"tail") == len(payload)


@pytest.mark.parametrize("missing_bytes", [1, 100, CLUSTER_BYTES])
def test_short_stream_says_how_much_came_out(cluster: bytes, missing_bytes: int) -> None:
    payload = raw_deflate(cluster[: CLUSTER_BYTES - missing_bytes])
    reader = DeflateDecoder(CLUSTER_BYTES)
    with pytest.raises(CodecError, match="bytes of a cluster of 4096") as caught:
        reader.decode(payload)
    assert caught.value.produced_bytes == CLUSTER_BYTES - missing_bytes
    assert reader.end_of_payload(payload) is None


def test_input_that_ends_early(cluster: bytes) -> None:
    payload = raw_deflate(cluster)
    with pytest.raises(CodecError) as caught:
        DeflateDecoder(CLUSTER_BYTES).decode(payload[:700])
    assert 600 < caught.value.produced_bytes < 1100


@pytest.mark.parametrize("payload", [b"", b"\x07", b"\xff" * 64, b"\x78\x9c\x4b\x4c\x4a\x06\x00"])
def test_damage_is_a_codec_error(payload: bytes) -> None:
    with pytest.raises(CodecError):
        DeflateDecoder(CLUSTER_BYTES).decode(payload)
    assert DeflateDecoder(CLUSTER_BYTES).end_of_payload(payload) is None


def test_many_at_once_are_what_each_is() -> None:
    clusters = [bytes([index]) * 1000 + os.urandom(3096) for index in range(5)]
    payloads = [raw_deflate(cluster) for cluster in clusters]
    decoded = DeflateDecoder(4096).decode_many(*packed(payloads))
    assert decoded is not None
    assert [bytes(cluster) for cluster in decoded.each(4096)] == clusters


@pytest.mark.parametrize(
    "odd", [b"", b"\xff" * 64, raw_deflate(bytes(4095)), raw_deflate(bytes(4097))]
)
def test_one_that_needs_a_closer_look_makes_many_one_by_one(odd: bytes) -> None:
    assert DeflateDecoder(4096).decode_many(*packed([raw_deflate(bytes(4096)), odd])) is None
