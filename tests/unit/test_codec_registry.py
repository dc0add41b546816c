"""Every type, window and level: what is encoded decodes to the same cluster."""

from __future__ import annotations

import random
import zlib
from itertools import product

import pytest

from qcowgui.codec.cluster import Buffer, ClusterDecoder, ClusterEncoder, CodecError
from qcowgui.codec.registry import (
    LEVELS,
    CompressionType,
    Window,
    decoder,
    encoder,
    level_range,
)
from qcowgui.errors import OptionsError

VARIANTS: list[tuple[CompressionType, Window]] = [
    (CompressionType.ZLIB, "32k"),
    (CompressionType.ZLIB, "4k"),
    (CompressionType.ZSTD, "32k"),
]
EVERY_LEVEL = [
    (kind, window, level)
    for kind, window in VARIANTS
    for level in range(level_range(kind, window).lowest, level_range(kind, window).highest + 1)
]


def words(length: int, seed: int = 1) -> bytes:
    """Text that shrinks to a half or less, and repeats itself at every distance."""
    source = random.Random(seed)
    vocabulary = [source.randbytes(source.randint(2, 12)) for _ in range(200)]
    text = bytearray()
    while len(text) < length:
        text += source.choice(vocabulary)
    return bytes(text[:length])


def test_numbers_and_names_are_the_formats() -> None:
    assert [(int(kind), kind.label) for kind in CompressionType] == [(0, "zlib"), (1, "zstd")]
    assert LEVELS[CompressionType.ZLIB] == (0, 12, 1)
    assert LEVELS[CompressionType.ZSTD] == (1, 22, 3)
    assert level_range(CompressionType.ZLIB, "4k") == (0, 9, 6)


@pytest.mark.parametrize(("kind", "window", "level"), EVERY_LEVEL)
def test_every_level_round_trips(kind: CompressionType, window: Window, level: int) -> None:
    cluster_bytes = 1 << 16
    reader = decoder(kind, cluster_bytes)
    writer = encoder(kind, cluster_bytes, level=level, window=window)
    for cluster in (words(cluster_bytes), bytes(cluster_bytes), words(cluster_bytes, seed=2)):
        payload = writer.encode(cluster)
        if level == 0:  # deflate without compression
            assert payload is None
            continue
        assert payload is not None
        assert reader.decode(payload) == cluster
        assert reader.end_of_payload(payload) == len(payload)
        assert reader.decode(bytes(payload) + b"\xaa" * 511) == cluster
        assert reader.end_of_payload(memoryview(bytes(payload) + b"\xaa" * 511)) == len(payload)


@pytest.mark.parametrize(("variant", "cluster_bits"), list(product(VARIANTS, (9, 12, 16, 18, 21))))
def test_every_cluster_size_round_trips(
    variant: tuple[CompressionType, Window], cluster_bits: int
) -> None:
    kind, window = variant
    cluster = words(1 << cluster_bits)[: (1 << cluster_bits) - 100] + bytes(100)
    payload = encoder(kind, len(cluster), window=window).encode(memoryview(cluster))
    assert payload is not None
    decoded = decoder(kind, len(cluster)).decode(memoryview(payload))
    assert type(decoded) in (bytes, bytearray)
    assert decoded == cluster


@pytest.mark.parametrize(("kind", "window"), VARIANTS)
def test_what_does_not_shrink_is_left_to_the_caller(kind: CompressionType, window: Window) -> None:
    noise = random.Random(3).randbytes(4096)
    assert encoder(kind, 4096, window=window).encode(noise) is None


@pytest.mark.parametrize(("kind", "window"), VARIANTS)
def test_the_limit_is_one_byte_below_the_cluster(kind: CompressionType, window: Window) -> None:
    # Noise with an ever longer run of zeros: its payload crosses the cluster size byte by byte.
    cluster_bytes = 512
    writer = encoder(kind, cluster_bytes, window=window)
    noise = random.Random(4).randbytes(cluster_bytes)
    lengths = {
        len(payload)
        for zeros in range(64)
        if (payload := writer.encode(noise[zeros:] + bytes(zeros))) is not None
    }
    assert max(lengths) in (cluster_bytes - 2, cluster_bytes - 1)


@pytest.mark.parametrize(("kind", "window"), VARIANTS)
def test_only_whole_clusters_are_encoded(kind: CompressionType, window: Window) -> None:
    for length in (0, 4095, 4097):
        with pytest.raises(ValueError, match=f"4096 bytes, not {length}"):
            encoder(kind, 4096, window=window).encode(bytes(length))


def test_the_small_window_is_really_small() -> None:
    # 2 KiB of noise repeated 8 KiB later: only the wide window can refer back to it.
    noise = random.Random(5).randbytes(2048)
    cluster = noise + bytes(6144) + noise + bytes(55296)

    def strict(payload: Buffer) -> bytes:
        """As a reader that holds zlib to 4 KiB and feeds it in chunks."""
        inflate = zlib.decompressobj(-12)
        return b"".join(
            inflate.decompress(payload[at : at + 64]) for at in range(0, len(payload), 64)
        )

    narrow = encoder(CompressionType.ZLIB, 65536, window="4k").encode(cluster)
    wide = encoder(CompressionType.ZLIB, 65536, window="32k").encode(cluster)
    assert narrow is not None
    assert wide is not None
    assert strict(narrow) == cluster
    assert len(narrow) > len(wide) + 1500
    with pytest.raises(zlib.error, match="too far back"):
        strict(wide)


@pytest.mark.parametrize(
    ("kind", "window", "level", "says"),
    [
        (CompressionType.ZLIB, "32k", -1, "zlib has no level -1 (0 to 12)"),
        (CompressionType.ZLIB, "32k", 13, "zlib has no level 13 (0 to 12)"),
        (CompressionType.ZLIB, "4k", 10, "zlib has no level 10 (0 to 9 with a window of 4k)"),
        (CompressionType.ZSTD, "32k", 0, "zstd has no level 0 (1 to 22)"),
        (CompressionType.ZSTD, "32k", 23, "zstd has no level 23 (1 to 22)"),
        (CompressionType.ZSTD, "4k", 3, "belongs to zlib, not to zstd"),
        (CompressionType.ZLIB, "8k", 1, "no window of 8k"),
    ],
)
def test_options_that_do_not_exist(
    kind: CompressionType, window: Window, level: int, says: str
) -> None:
    with pytest.raises(OptionsError) as caught:
        encoder(kind, 65536, level=level, window=window)
    assert says in str(caught.value)


def test_contexts_are_reused_after_a_failure() -> None:
    cluster = words(4096)
    pairs: list[tuple[ClusterEncoder, ClusterDecoder]] = [
        (encoder(kind, 4096), decoder(kind, 4096)) for kind in CompressionType
    ]
    for writer, reader in pairs:
        payload = writer.encode(cluster)
        assert payload is not None
        for end in (0, 1, len(payload) // 2, len(payload) * 3 // 4):
            with pytest.raises(CodecError):
                reader.decode(payload[:end])
            assert reader.decode(payload) == cluster
