"""Which compression an image used, told from its payloads; and payloads that nothing refers to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from qcowgui.codec.cluster import CodecError
from qcowgui.codec.registry import CompressionType, decoder
from qcowgui.codec.zstd_frame import MAGIC
from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.entries import L2Entry
from qcowgui.format.geometry import Geometry
from qcowgui.image.source import ByteSource
from qcowgui.salvage.scan import Indices
from qcowgui.salvage.tables import TableSet, iter_loaded

_SAMPLES: Final = 32
"""ours: payloads that are decoded; wrong ones fail nearly always within the first."""
_SAMPLE_TABLES: Final = 64


@dataclass(frozen=True, slots=True)
class PayloadVerdict:
    """What some of the image's payloads decode as.

    Attributes:
        compression_type: The type to use; deflate when there is no payload.
        tried: Payloads that were decoded.
        zlib: Those of them that are a cluster by deflate.
        zstd: Those of them that are a cluster by zstd.
    """

    compression_type: CompressionType
    tried: int
    zlib: int
    zstd: int

    @property
    def decided(self) -> bool:
        """Whether any payload decoded."""
        return self.zlib > 0 or self.zstd > 0


def judge_payloads(
    source: ByteSource, tables: TableSet, offsets: Indices, token: CancelToken
) -> PayloadVerdict:
    """The compression type, by decoding payloads that L2 tables name.

    Args:
        source: The damaged image.
        tables: The clusters that could be L2 tables.
        offsets: Host offsets of those that are believed to be.
        token: Stops the work.

    Raises:
        Cancelled: When the token was set.
        SourceError: When the operating system refuses a read.
    """
    words = _sample(source, tables, offsets, token)
    hits = dict.fromkeys(CompressionType, 0)
    decoders = {kind: decoder(kind, tables.geometry.cluster_bytes) for kind in CompressionType}
    for word in words:
        token.raise_if_cancelled()
        descriptor = L2Entry(word, 0, tables.geometry).compressed
        payload = source.read_at(descriptor.host_offset, descriptor.max_payload_bytes)
        for kind in likely_types(payload):
            try:
                decoders[kind].decode(payload)
            except CodecError:
                continue
            hits[kind] += 1
            break
    zlib, zstd = hits[CompressionType.ZLIB], hits[CompressionType.ZSTD]
    chosen = CompressionType.ZSTD if zstd > zlib else CompressionType.ZLIB
    return PayloadVerdict(chosen, len(words), zlib, zstd)


def likely_types(payload: bytes) -> tuple[CompressionType, ...]:
    """The types that the first bytes of a payload allow, the likeliest first."""
    # Images from before the release of zstd clusters have a length of four bytes in front.
    if payload[:4] == MAGIC or payload[4:8] == MAGIC:
        return (CompressionType.ZSTD, CompressionType.ZLIB)
    # The block type 3 of deflate is reserved.
    if not payload or payload[0] & 0b110 == 0b110:
        return ()
    return (CompressionType.ZLIB,)


def _sample(
    source: ByteSource, tables: TableSet, offsets: Indices, token: CancelToken
) -> list[int]:
    """Compressed descriptors from tables all over the file."""
    places = tables.index_of(offsets)
    places = places[places >= 0]
    places = places[tables.compressed[places] > 0]
    if not len(places):
        return []
    step = max(1, len(places) // _SAMPLE_TABLES)
    chosen = tables.clusters[np.sort(places[::step])]
    found: list[int] = []
    per_table = max(1, _SAMPLES // len(chosen))
    for _, words, _ in iter_loaded(source, chosen, tables.geometry, token):
        for row in words:
            compressed = row[(row & np.uint64(geo.COMPRESSED)) != 0]
            stride = max(1, len(compressed) // per_table)
            found += compressed[::stride][:per_table].tolist()
    return found[:_SAMPLES]


def count_payload_starts(data: bytes, geometry: Geometry, kind: CompressionType) -> int:
    """How many payloads seem to begin in `data`, a stretch of the file that no table names.

    Zstd frames are counted by their magic number. Deflate has none, and payloads begin anywhere:
    the streams are followed from the start, each giving one cluster and ending where the next
    begins; what does not decode ends the count.
    """
    if kind is CompressionType.ZSTD:
        return data.count(MAGIC)
    inflate = decoder(kind, geometry.cluster_bytes)
    position = count = 0
    while position < len(data):
        end = inflate.end_of_payload(memoryview(data)[position : position + geometry.cluster_bytes])
        if end is None:
            break
        position += end
        count += 1
    return count
