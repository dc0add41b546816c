"""Arbitrary and damaged payloads: one whole cluster or a CodecError, in bounded memory."""

from __future__ import annotations

import random
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.codec.cluster import ClusterDecoder, CodecError
from qcowgui.codec.registry import CompressionType, decoder, encoder
from qcowgui.codec.zstd_frame import MAGIC, parse_frame, strip_prerelease_length

CLUSTER_BITS = st.sampled_from([9, 12, 16])
TYPES = st.sampled_from(list(CompressionType))


def one_cluster_or_codec_error(reader: ClusterDecoder, payload: bytes, cluster_bytes: int) -> None:
    try:
        cluster = reader.decode(payload)
    except CodecError as error:
        refusal = error
    else:
        assert len(cluster) == cluster_bytes
        end = reader.end_of_payload(payload)
        if end is not None:
            assert 0 < end <= len(payload)
            assert reader.decode(payload[:end]) == cluster
        return
    assert refusal.reason
    assert 0 <= refusal.produced_bytes <= cluster_bytes
    assert reader.end_of_payload(payload) is None


@given(TYPES, CLUSTER_BITS, st.binary(max_size=2000))
def test_arbitrary_bytes(kind: CompressionType, cluster_bits: int, payload: bytes) -> None:
    one_cluster_or_codec_error(decoder(kind, 1 << cluster_bits), payload, 1 << cluster_bits)


@given(CLUSTER_BITS, st.binary(max_size=14), st.binary(max_size=200))
def test_arbitrary_zstd_headers(cluster_bits: int, header: bytes, rest: bytes) -> None:
    reader = decoder(CompressionType.ZSTD, 1 << cluster_bits)
    tracemalloc.start()
    try:
        one_cluster_or_codec_error(reader, MAGIC + header + rest, 1 << cluster_bits)
        assert tracemalloc.get_traced_memory()[1] < (4 << cluster_bits) + (1 << 16)
    finally:
        tracemalloc.stop()


@given(
    TYPES,
    CLUSTER_BITS,
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 2**16), st.integers(1, 255)), max_size=4),
    st.integers(0, 2**17),
)
def test_flipped_and_cut_payloads(
    kind: CompressionType,
    cluster_bits: int,
    seed: int,
    flips: list[tuple[int, int]],
    kept_bytes: int,
) -> None:
    cluster_bytes = 1 << cluster_bits
    cluster = random.Random(seed).randbytes(cluster_bytes // 4) * 4
    payload = encoder(kind, cluster_bytes).encode(cluster)
    assert payload is not None
    damaged = bytearray(payload)
    for index, mask in flips:
        damaged[index % len(damaged)] ^= mask
    reader = decoder(kind, cluster_bytes)
    one_cluster_or_codec_error(reader, bytes(damaged[:kept_bytes]), cluster_bytes)
    assert reader.decode(payload) == cluster


@given(TYPES, st.binary(min_size=512, max_size=512))
def test_what_is_encoded_is_decoded(kind: CompressionType, cluster: bytes) -> None:
    for data in (cluster, cluster[:64] * 8):
        payload = encoder(kind, 512).encode(data)
        if payload is not None:
            assert len(payload) < 512
            assert decoder(kind, 512).decode(payload) == data


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.booleans(), st.booleans()), max_size=6),
    st.binary(max_size=20),
)
def test_any_split_into_frames(parts: list[tuple[int, bool, bool]], tail: bytes) -> None:
    cluster = random.Random(7).randbytes(1024) * 4
    payload = b""
    position = 0
    for length, declared, checksum in [*parts, (4096, True, False)]:
        piece = cluster[position : position + length]
        position += len(piece)
        payload += zstandard.ZstdCompressor(
            write_content_size=declared, write_checksum=checksum
        ).compress(piece)
    reader = decoder(CompressionType.ZSTD, 4096)
    assert reader.decode(payload + tail) == cluster
    end = reader.end_of_payload(payload + tail)
    assert end is not None
    assert reader.decode(payload[:end]) == cluster


@given(st.binary(max_size=40), st.integers(0, 40))
def test_parsers_raise_only_codec_errors(payload: bytes, offset: int) -> None:
    for candidate in (payload, MAGIC + payload, b"\x00\x00\x00\x10" + MAGIC + payload):
        found = strip_prerelease_length(candidate)
        if found is not None:
            assert bytes(found[0][:4]) == MAGIC
            assert found[1] in ("big", "little")
        for begin in (0, 4, min(offset, len(candidate))):
            try:
                frame = parse_frame(candidate, begin)
            except CodecError:
                continue
            assert 8 <= frame.frame_bytes <= len(candidate) - begin


def test_the_properties_reach_both_answers() -> None:
    # A generator that never made a good payload would prove nothing.
    reader = decoder(CompressionType.ZSTD, 512)
    payload = encoder(CompressionType.ZSTD, 512).encode(bytes(512))
    assert payload is not None
    one_cluster_or_codec_error(reader, bytes(payload), 512)
    with pytest.raises(CodecError):
        reader.decode(payload[:-1])
