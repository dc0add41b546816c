"""The compressors that a benchmark tries: this program's own, and others that are installed.

zlib and zlib-ng write as QEMU does with either, in a window of 4 KiB; libdeflate and ISA-L know no
other window than 32 KiB. All of them read both.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, cast

from qcowgui.codec.cluster import (
    Buffer,
    ClusterEncoder,
    DecodedClusters,
    LevelRange,
    Segments,
    Step,
    require_whole,
)
from qcowgui.codec.registry import CompressionType, decoder, encoder, level_range
from qcowgui.errors import OptionsError

_EXTRA: Final = "bench"
_MEM_LEVEL: Final = 9
_READ_WINDOW_BITS: Final = -15


@dataclass(frozen=True, slots=True)
class Backend:
    """A library that compresses and decompresses clusters.

    Attributes:
        name: What it is called on the command line.
        compression_type: What it writes.
        levels: Those it has.
        tried_levels: Those that are tried unless others are asked for.
        module: With the interface of `zlib`, from an extra; "" for what is always there.
        window_bits: For such a module, as `zlib.compressobj` takes it.
    """

    name: str
    compression_type: CompressionType
    levels: LevelRange
    tried_levels: tuple[int, ...]
    module: str = ""
    window_bits: int = 0

    @property
    def is_available(self) -> bool:
        """Whether it can be imported here."""
        try:
            self.load()
        except ImportError:
            return False
        return True

    def load(self) -> _ZlibModule:
        """Its module; zlib's own for those that are always there.

        Raises:
            ImportError: When it is not installed, or does not work on this machine.
        """
        return cast("_ZlibModule", importlib.import_module(self.module) if self.module else zlib)


LIBDEFLATE: Final = Backend(
    "libdeflate", CompressionType.ZLIB, level_range(CompressionType.ZLIB), (1, 6)
)
ZLIB: Final = Backend("zlib", CompressionType.ZLIB, level_range(CompressionType.ZLIB, "4k"), (6,))
ZLIB_NG: Final = Backend(
    "zlib-ng", CompressionType.ZLIB, ZLIB.levels, (6,), "zlib_ng.zlib_ng", window_bits=-12
)
ISAL: Final = Backend(
    "isal", CompressionType.ZLIB, LevelRange(0, 3, 1), (1,), "isal.isal_zlib", window_bits=-15
)
ZSTD: Final = Backend("zstd", CompressionType.ZSTD, level_range(CompressionType.ZSTD), (1, 3, 9))

BACKENDS: Final[Mapping[str, Backend]] = {
    backend.name: backend for backend in (LIBDEFLATE, ZLIB, ZLIB_NG, ISAL, ZSTD)
}
PRODUCT_BACKENDS: Final = {
    CompressionType.ZLIB: LIBDEFLATE.name,
    CompressionType.ZSTD: ZSTD.name,
}
"""What a conversion works with at its defaults."""


class Method(NamedTuple):
    """A way to compress clusters.

    Attributes:
        backend: A name in `BACKENDS`.
        level: One that it has.
    """

    backend: str
    level: int

    @property
    def compression_type(self) -> CompressionType:
        """What it writes."""
        return BACKENDS[self.backend].compression_type


def find_backend(name: str) -> Backend:
    """The backend of this name, which can be used here.

    Raises:
        OptionsError: When there is none, or when it is not installed.
    """
    backend = BACKENDS.get(name)
    if backend is None:
        raise OptionsError(
            f"There is no backend {name!r}", hint=f"there are: {', '.join(BACKENDS)}"
        )
    if not backend.is_available:
        raise OptionsError(
            f"The backend {name} is not installed",
            hint=f"pip install 'qcowgui[{_EXTRA}]' installs it where it exists for this machine",
        )
    return backend


def available_backends() -> tuple[Backend, ...]:
    """Those that can be used here."""
    return tuple(backend for backend in BACKENDS.values() if backend.is_available)


class ManyDecoder(Protocol):
    """The part of a ClusterDecoder that a benchmark times. One instance belongs to one thread."""

    def decode_many(self, area: Buffer, segments: Segments) -> DecodedClusters | None:
        """As `ClusterDecoder.decode_many`."""
        ...


class Codec(NamedTuple):
    """What one thread compresses and decompresses clusters of one size with."""

    encoder: ClusterEncoder
    decoder: ManyDecoder


def make_codec(method: Method, cluster_bytes: int, on_step: Step) -> Codec:
    """A new codec for one thread.

    Args:
        method: How to compress.
        cluster_bytes: The length of every cluster.
        on_step: As `codec.registry.encoder` takes it.

    Raises:
        OptionsError: When the backend has no such level.
        ImportError: When the backend is not installed.
    """
    backend, level = BACKENDS[method.backend], method.level
    kind = backend.compression_type
    if backend in {LIBDEFLATE, ZSTD}:
        return Codec(
            encoder(kind, cluster_bytes, level=level, on_step=on_step),
            decoder(kind, cluster_bytes),
        )
    module = backend.load()
    if backend is ZLIB:
        small = encoder(kind, cluster_bytes, level=level, window="4k", on_step=on_step)
        return Codec(small, _ZlibDecoder(module, cluster_bytes))
    writing = _ZlibEncoder(module, cluster_bytes, level, backend.window_bits, on_step)
    return Codec(writing, _ZlibDecoder(module, cluster_bytes))


class _Compressor(Protocol):
    def compress(self, data: Buffer, /) -> bytes: ...

    def flush(self) -> bytes: ...


class _ZlibModule(Protocol):
    """What zlib and its replacements have in common."""

    @property
    def error(self) -> type[Exception]: ...

    def compressobj(
        self, level: int, method: int, window_bits: int, mem_level: int, /
    ) -> _Compressor: ...

    def decompress(self, data: Buffer, window_bits: int, bufsize: int, /) -> bytes: ...


class _ZlibEncoder:
    """Encodes raw deflate with a module like zlib. A ClusterEncoder."""

    def __init__(
        self, module: _ZlibModule, cluster_bytes: int, level: int, window_bits: int, on_step: Step
    ) -> None:
        self._module = module
        self._cluster_bytes = cluster_bytes
        self._level = level
        self._window_bits = window_bits
        self._on_step = on_step

    def encode(self, cluster: Buffer) -> bytes | bytearray | None:
        require_whole(cluster, self._cluster_bytes)
        self._on_step()
        stream = self._module.compressobj(self._level, zlib.DEFLATED, self._window_bits, _MEM_LEVEL)
        payload = stream.compress(cluster) + stream.flush()
        return payload if len(payload) < self._cluster_bytes else None


class _ZlibDecoder:
    """Decodes, with a module like zlib, what the benchmark itself has written. A ManyDecoder."""

    def __init__(self, module: _ZlibModule, cluster_bytes: int) -> None:
        self._module = module
        self._cluster_bytes = cluster_bytes

    def decode_many(self, area: Buffer, segments: Segments) -> DecodedClusters | None:
        view = memoryview(area)
        size = self._cluster_bytes
        try:
            decoded = [
                self._module.decompress(view[start : start + length], _READ_WINDOW_BITS, size)
                for start, length in segments.tolist()
            ]
        except self._module.error:
            return None
        return DecodedClusters(decoded) if all(len(data) == size for data in decoded) else None
