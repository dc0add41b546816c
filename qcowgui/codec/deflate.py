"""Compression type 0: one raw deflate stream per cluster, without a zlib header.

Spec: Compressed Clusters Descriptor; header, compression_type.
"""

from __future__ import annotations

import zlib
from typing import Final

import deflate

from qcowgui.codec.cluster import (
    Buffer,
    CodecError,
    DecodedClusters,
    LevelRange,
    Segments,
    Step,
    require_whole,
)

# libdeflate's level 1 is the fastest that stays within 1 % of what qemu-img writes (zlib level 6,
# windowBits -12, memLevel 9). Total size against that, and MB/s of one core, for 385 clusters of
# 64 KiB from files below /usr, 2026-11-30, the machine being busy:
#   zlib 1.0000 at 24;   level 1 0.9985 at 129;  2 0.981 at 99;  3 0.976 at 67;  6 0.964 at 71.
LEVELS_32K: Final = LevelRange(lowest=0, highest=12, default=1)
LEVELS_4K: Final = LevelRange(lowest=0, highest=9, default=6)

# Negative: raw deflate. Writing, QEMU's own 12 bits. Reading, 15: other writers use the whole
# window, and zlib with 12 bits only takes such a stream when it decodes it in one call.
_WINDOW_BITS_4K: Final = -12
_WINDOW_BITS_32K: Final = -15
_MEM_LEVEL: Final = 9


class DeflateDecoder:
    """Decodes deflate clusters of one size. Holds no context: libdeflate's is made per call."""

    prerelease_seen: Final = 0

    def __init__(self, cluster_bytes: int) -> None:
        self._cluster_bytes = cluster_bytes

    def decode(self, payload: Buffer) -> bytes | bytearray:
        """The cluster that `payload` holds. See ClusterDecoder."""
        try:
            cluster = deflate.deflate_decompress(payload, self._cluster_bytes)
        except deflate.DeflateError:
            # libdeflate wants the stream to end, and to fit. QEMU asks for neither: its inflate
            # stops once the cluster is full.
            return self._decode_prefix(payload)
        if len(cluster) < self._cluster_bytes:
            raise _too_short(len(cluster), self._cluster_bytes)
        return cluster

    def decode_many(self, area: Buffer, segments: Segments) -> DecodedClusters | None:
        """The clusters of payloads that fill one each. See ClusterDecoder."""
        view = memoryview(area)
        try:
            decoded = [
                deflate.deflate_decompress(view[start : start + length], self._cluster_bytes)
                for start, length in segments.tolist()
            ]
        except deflate.DeflateError:
            return None
        whole = all(len(data) == self._cluster_bytes for data in decoded)
        return DecodedClusters(decoded) if whole else None

    def _decode_prefix(self, payload: Buffer) -> bytes:
        try:
            cluster = zlib.decompressobj(_WINDOW_BITS_32K).decompress(payload, self._cluster_bytes)
        except zlib.error as error:
            raise CodecError(f"the deflate stream is damaged: {error}") from error
        if len(cluster) < self._cluster_bytes:
            raise _too_short(len(cluster), self._cluster_bytes)
        return cluster

    def end_of_payload(self, payload: Buffer) -> int | None:
        """Where the deflate stream ends in `payload`. See ClusterDecoder."""
        inflate = zlib.decompressobj(_WINDOW_BITS_32K)
        try:
            cluster = inflate.decompress(payload, self._cluster_bytes)
            if len(cluster) < self._cluster_bytes:
                return None
            if not inflate.eof:
                # The cluster is full, but the end-of-block code may still be unread.
                inflate.decompress(inflate.unconsumed_tail, 1)
        except zlib.error:
            return None
        return len(payload) - len(inflate.unused_data) if inflate.eof else None


def _too_short(produced_bytes: int, cluster_bytes: int) -> CodecError:
    return CodecError(
        f"the deflate stream gives {produced_bytes} bytes of a cluster of {cluster_bytes}",
        produced_bytes=produced_bytes,
    )


class DeflateEncoder:
    """Encodes with libdeflate: fast, and it refers back as far as 32 KiB.

    QEMU, nbdkit and 7-Zip read that; a reader that holds zlib to a 4 KiB window does not.
    """

    def __init__(self, cluster_bytes: int, level: int, on_step: Step) -> None:
        self._cluster_bytes = cluster_bytes
        self._level = level
        self._on_step = on_step

    def encode(self, cluster: Buffer) -> bytes | bytearray | None:
        """The payload of `cluster`, or None when it does not shrink. See ClusterEncoder."""
        require_whole(cluster, self._cluster_bytes)
        self._on_step()
        payload = deflate.deflate_compress(cluster, self._level)
        return payload if len(payload) < self._cluster_bytes else None


class SmallWindowDeflateEncoder:
    """Encodes with zlib in a 4 KiB window, as qemu-img does: for the strictest readers."""

    def __init__(self, cluster_bytes: int, level: int, on_step: Step) -> None:
        self._cluster_bytes = cluster_bytes
        self._level = level
        self._on_step = on_step

    def encode(self, cluster: Buffer) -> bytes | bytearray | None:
        """The payload of `cluster`, or None when it does not shrink. See ClusterEncoder."""
        require_whole(cluster, self._cluster_bytes)
        self._on_step()
        stream = zlib.compressobj(self._level, zlib.DEFLATED, _WINDOW_BITS_4K, _MEM_LEVEL)
        payload = stream.compress(cluster) + stream.flush()
        return payload if len(payload) < self._cluster_bytes else None
