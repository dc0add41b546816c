"""Trying candidates on sampled cells: how many bytes each cluster takes, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Final, NamedTuple

import numpy as np

from qcowgui.codec.cluster import Buffer, ClusterDecoder, ClusterEncoder
from qcowgui.codec.registry import CompressionType, decoder, encoder, level_range
from qcowgui.convert.compare import compare_pieces
from qcowgui.convert.encode import EncodedBatch, encode_batch
from qcowgui.convert.options import CLUSTER_SIZES, Compression
from qcowgui.engine.work import CancelToken, SharedIterator
from qcowgui.errors import OptionsError
from qcowgui.image.layer import Piece
from qcowgui.image.reader import GuestImage
from qcowgui.units import KIB, MIB

FINE_BYTES: Final = 64 * KIB
"""Cells for clusters up to this size."""
COARSE_BYTES: Final = 2 * MIB
"""Cells for larger clusters: the largest there are. Reading is timed on them as well."""

_TYPES: Final = {"zlib": CompressionType.ZLIB, "zstd": CompressionType.ZSTD}
_TRIAL_SECONDS: Final = 0.6
_LEAST_CELLS: Final = 6
_NOMINAL_BYTES_PER_SECOND: Final = {
    "none": {0: 2e9},
    "zlib": {0: 2e9, 1: 170e6, 3: 120e6, 6: 60e6, 9: 35e6, 12: 6e6},
    "zstd": {1: 300e6, 3: 200e6, 9: 45e6, 12: 20e6, 15: 5e6, 19: 1.5e6},
}
"""2026-11-30, one core, by level. They decide alone how much of the sample a candidate gets: a
measured speed would give other cells, and so other sizes, each time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to store a disk in a qcow2 file.

    Attributes:
        compression: "none", "zlib" or "zstd".
        level: None without compression, else the level; never the type's default in disguise.
        cluster_bytes: The target's cluster size.

    Raises:
        OptionsError: When there is no such level or cluster size.
    """

    compression: Compression
    level: int | None
    cluster_bytes: int

    def __post_init__(self) -> None:
        if self.cluster_bytes not in CLUSTER_SIZES:
            raise OptionsError(f"A cluster size of {self.cluster_bytes} bytes is not possible")
        kind = self.compression_type
        if kind is None:
            if self.level is not None:
                raise OptionsError(f"Level {self.level} was given, but no compression")
            return
        levels = level_range(kind)
        if self.level is None or not levels.lowest <= self.level <= levels.highest:
            raise OptionsError(
                f"{self.compression} has no level {self.level}",
                hint=f"{levels.lowest} to {levels.highest} exist",
            )

    @property
    def compression_type(self) -> CompressionType | None:
        """The type to write, or None for no compression."""
        return _TYPES.get(self.compression)

    @property
    def is_fine(self) -> bool:
        """Whether the small cells are enough for it."""
        return self.cluster_bytes <= FINE_BYTES

    def stride(self, cells: int) -> int:
        """Every which of `cells` sampled cells it is tried on, so that none takes for ever."""
        cell_bytes = FINE_BYTES if self.is_fine else COARSE_BYTES
        speeds = _NOMINAL_BYTES_PER_SECOND[self.compression]
        levels = list(speeds)
        speed = np.exp(np.interp(self.level or 0, levels, np.log(list(speeds.values()))))
        affordable = max(_LEAST_CELLS, int(float(speed) * _TRIAL_SECONDS / cell_bytes))
        return max(1, math.ceil(cells / affordable))


REFERENCE: Final = Candidate("zstd", 1, FINE_BYTES)
"""Tried on every cell: quick, and what any other candidate makes of a cell is nearly proportional
to it, so that a part of the sample tells that proportion."""
COARSE_REFERENCE: Final = Candidate("zstd", 1, COARSE_BYTES)
"""Tried on every large cell as well: nearer to the candidates that are tried there."""


@dataclass(frozen=True, slots=True)
class CellTrial:
    """What a candidate made of a cell.

    Attributes:
        lengths: Of its stored clusters, in guest order: payload bytes, or a whole cluster.
        stored_bytes: Their sum.
        encode_seconds: Of a core, for finding zeros and compressing.
        decode_seconds: Of a core, for decompressing and comparing with the source.
        passed_seconds: For both, by the clock: with what others had of the core.
    """

    lengths: tuple[int, ...]
    stored_bytes: int
    encode_seconds: float
    decode_seconds: float
    passed_seconds: float


@dataclass(slots=True)
class Cell:
    """A sampled cell and what came of it.

    Attributes:
        start: First guest byte.
        end: End (exclusive).
        candidates: What to try on it.
        read_seconds: For reading (and decompressing) it.
        trials: By candidate, once tried.
    """

    start: int
    end: int
    candidates: tuple[Candidate, ...]
    read_seconds: float = 0.0
    trials: dict[Candidate, CellTrial] = field(default_factory=dict)


class _Codec(NamedTuple):
    encoder: ClusterEncoder | None
    decoder: ClusterDecoder | None


class TrialWorker:
    """Tries candidates on cells; one for each thread."""

    def __init__(
        self, source: GuestImage, candidates: Sequence[Candidate], token: CancelToken
    ) -> None:
        self._source = source
        self._token = token
        self._context = source.context()
        self._codecs = {candidate: self._make_codec(candidate) for candidate in candidates}

    def _make_codec(self, candidate: Candidate) -> _Codec:
        kind, size = candidate.compression_type, candidate.cluster_bytes
        if kind is None:
            return _Codec(None, None)
        step = self._token.raise_if_cancelled
        return _Codec(encoder(kind, size, level=candidate.level, on_step=step), decoder(kind, size))

    def iter_tried(self, groups: SharedIterator[Sequence[Cell]]) -> Iterator[Cell]:
        """Try the cells that come, and give each back when its group is done.

        One candidate after another works on a whole group: as in a conversion, its tables stay in
        the processor's caches. 2026-11-30: changing from cell to cell, zstd 3 took a fifth longer.

        Raises:
            ImageError: When the source can't be read.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        for group in groups:
            read = [(cell, self._read(cell)) for cell in group]
            for candidate in self._codecs:
                for cell, pieces in read:
                    if candidate in cell.candidates:
                        self._token.raise_if_cancelled()
                        cell.trials[candidate] = self._try(candidate, cell, pieces)
            yield from group

    def _read(self, cell: Cell) -> list[Piece]:
        """The cell's bytes, copied: the next read takes the context's buffers again."""
        self._token.raise_if_cancelled()
        started = perf_counter()
        pieces = self._source.read_pieces(cell.start, cell.end, self._context)
        cell.read_seconds = perf_counter() - started
        return [Piece(piece.start, bytes(piece.data)) for piece in pieces]

    def _try(self, candidate: Candidate, cell: Cell, pieces: Sequence[Piece]) -> CellTrial:
        codec, size = self._codecs[candidate], candidate.cluster_bytes
        clock = perf_counter()
        started = thread_time()
        batch = encode_batch(0, cell.start, cell.end, pieces, size, codec.encoder)
        encoded = thread_time()
        written = _decoded_pieces(batch, codec.decoder, size)
        compare_pieces(pieces, written)
        ended = thread_time()
        passed = perf_counter() - clock
        stored = sorted(batch.plain + batch.compressed, key=lambda entry: entry[0])
        lengths = tuple(len(data) for _, data in stored)
        return CellTrial(lengths, sum(lengths), encoded - started, ended - encoded, passed)


def _decoded_pieces(
    batch: EncodedBatch, codec: ClusterDecoder | None, cluster_bytes: int
) -> list[Piece]:
    """The clusters of a batch as verifying will read them."""
    clusters: list[tuple[int, Buffer]] = [(number, bytes(data)) for number, data in batch.plain]
    if codec is not None and batch.compressed:
        area = b"".join(payload for _, payload in batch.compressed)
        lengths = np.array([len(payload) for _, payload in batch.compressed], dtype=np.uint64)
        segments = np.column_stack([np.cumsum(lengths) - lengths, lengths])
        decoded = codec.decode_many(area, segments)
        each: Sequence[Buffer]
        if decoded is None:
            each = [codec.decode(payload) for _, payload in batch.compressed]
        else:
            each = decoded.each(cluster_bytes)
        numbers = [number for number, _ in batch.compressed]
        clusters += zip(numbers, each, strict=True)
    clusters.sort(key=lambda entry: entry[0])
    return [Piece(number * cluster_bytes, data) for number, data in clusters]
