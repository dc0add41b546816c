"""What every codec of one cluster offers, and the one error that leaves this room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Contiguous bytes. A memoryview must have the format "B"."""


Segments: TypeAlias = npt.NDArray[np.uint64]
"""(offset, length) in bytes, one row a payload: shape (n, 2)."""


class DecodedClusters(NamedTuple):
    """Clusters decoded together.

    Attributes:
        parts: Their bytes in the order of their payloads; each part is one cluster or several, as
            the decoder has put them into memory.
    """

    parts: Sequence[Buffer]

    def each(self, cluster_bytes: int) -> list[Buffer]:
        """Every cluster by itself."""
        return [
            part[start : start + cluster_bytes]
            for part in self.parts
            for start in range(0, len(part), cluster_bytes)
        ]


Step: TypeAlias = Callable[[], None]
"""What an encoder calls at least before each cluster; it may raise to stop a slow one."""


class CodecError(Exception):
    """A payload that does not decode to one whole cluster.

    It never leaves the image's reader, which knows the guest offset and raises CorruptError.

    Attributes:
        reason: What is wrong, a clause without an address.
        produced_bytes: How much of the cluster came out before that, where it is known; 0 else.
    """

    def __init__(self, reason: str, *, produced_bytes: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.produced_bytes = produced_bytes


class LevelRange(NamedTuple):
    """The levels that an encoder takes; both ends inclusive."""

    lowest: int
    highest: int
    default: int


class ClusterDecoder(Protocol):
    """Turns payloads into clusters. One instance belongs to one thread."""

    @property
    def prerelease_seen(self) -> int:
        """How many clusters came in a layout from before the format's release; see zstd."""
        ...

    def decode(self, payload: Buffer) -> bytes | bytearray:
        """The cluster that `payload` holds: exactly the cluster size.

        `payload` is what the cluster descriptor spans; bytes behind the stream's end are ignored.
        Memory and time are bounded by the cluster size, whatever the payload claims.

        Raises:
            CodecError: When QEMU could not read a whole cluster from it either.
        """
        ...

    def decode_many(self, area: Buffer, segments: Segments) -> DecodedClusters | None:
        """The clusters of several payloads, or None when one of them needs a closer look.

        The fast way for what is as it should be; `decode` says what is wrong with the rest.

        Args:
            area: Bytes that hold all the payloads.
            segments: Where they lie in it.
        """
        ...

    def end_of_payload(self, payload: Buffer) -> int | None:
        """Where the compressed stream really ends: the number of bytes of `payload` it takes.

        None when the payload doesn't decode, or when the cluster is full before the stream ends.
        Slower than `decode`: for checks.
        """
        ...


class ClusterEncoder(Protocol):
    """Turns clusters into payloads. One instance belongs to one thread."""

    def encode(self, cluster: Buffer) -> bytes | bytearray | None:
        """The payload of `cluster`, or None when it does not shrink.

        As in QEMU a payload takes at most the cluster size − 1; what needs more is to be stored
        as a standard cluster.

        Raises:
            ValueError: When `cluster` is not one cluster long.

        What the encoder's `Step` raises goes through.
        """
        ...


def require_whole(cluster: Buffer, cluster_bytes: int) -> None:
    """Refuse what is not one cluster: a short tail must be padded with zeros before.

    Raises:
        ValueError: When the length differs from `cluster_bytes`.
    """
    if len(cluster) != cluster_bytes:
        raise ValueError(f"a cluster has {cluster_bytes} bytes, not {len(cluster)}")


def no_step() -> None:
    """A `Step` for who has nothing to ask."""
