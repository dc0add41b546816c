"""Is what a compressed cluster descriptor names one whole cluster, and where does it end?

QEMU decodes a payload only when a guest reads it, and ignores what lies behind the stream's end; so
neither a damaged stream nor a wrong sector count is noticed by `qemu-img check`.

Most payloads are good. `PayloadJudge.suspects` proves that as cheaply as it can be proved, and
`PayloadJudge.judge` finds out what is wrong with the others. A good payload decodes to one cluster
and ends in the last sector that its descriptor claims. For zstd the frame's own headers tell
where it ends. libdeflate does not tell; so the payload is decoded a second time without its last
sector, which must fail. Guest data of one core, 64 KiB clusters of a Linux /usr, 2026-11-30, the
machine being busy: libdeflate once 418 MB/s, twice 214, zlib (which tells the end) 156; with 4 KiB
clusters 245, 153, 122; with 2 MiB 449, 260, 168.

Neither a raw deflate stream nor QEMU's zstd frames have a checksum: bytes that were changed may
still decode. A deflate stream that fills its cluster and then does not end is all that can show it.

Spec: Compressed Clusters Descriptor.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from qcowgui.check.payload_streams import (
    DeflateExaminer,
    Examined,
    Examiner,
    Status,
    ZstdExaminer,
    end_of_deflate_stream,
)
from qcowgui.codec.cluster import Buffer, Segments
from qcowgui.codec.registry import CompressionType
from qcowgui.codec.zstd_frame import MAGIC
from qcowgui.format.entries import CompressedDescriptor
from qcowgui.units import SECTOR_BYTES, ceil_div

_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32


class PayloadKind(IntEnum):
    """What is wrong with a payload; the later, the worse for its guest cluster."""

    OK = 0
    """QEMU reads it, and the sector count is right as far as can be told."""
    SECTORS_LONG = 1
    """QEMU reads it, but its descriptor claims sectors that the stream does not reach."""
    UNENDED = 2
    """QEMU reads it, but the stream does not end where the cluster is full: no writer's work."""
    PRERELEASE = 3
    """This program reads it, QEMU does not: a zstd frame behind a 4-byte length."""
    SECTORS_SHORT = 4
    """Whole, but its descriptor claims fewer sectors than the stream takes."""
    OTHER_TYPE = 5
    """Whole, but not of the image's compression type."""
    SHORT = 6
    """The stream ends, without an error, before the cluster is full."""
    TRUNCATED = 7
    """The file ends inside the stream."""
    DAMAGED = 8
    """The stream contradicts its own format."""


@dataclass(frozen=True, slots=True)
class PayloadVerdict:
    """What `PayloadJudge.judge` found.

    Attributes:
        kind: What is wrong, if anything.
        true_end: How many bytes from the payload's first one the stream takes; None when it is not
            whole, or has no end.
        right_sectors: What the descriptor's sector count should be (the first sector included),
            as QEMU's writer computes it; None without `true_end`.
        produced_bytes: How much of the cluster comes out.
        reason: What is wrong, a clause without an address; empty for OK.
    """

    kind: PayloadKind
    true_end: int | None
    right_sectors: int | None
    produced_bytes: int
    reason: str = ""


class PayloadJudge:
    """Judges the payloads of one image. One instance belongs to one thread."""

    def __init__(self, compression_type: CompressionType, cluster_bytes: int) -> None:
        """A judge of payloads in an image of `compression_type` and `cluster_bytes`."""
        self._compression_type = compression_type
        self._cluster_bytes = cluster_bytes
        self._deflate = DeflateExaminer(cluster_bytes)
        self._zstd = ZstdExaminer(cluster_bytes)
        self._examiner: Examiner = (
            self._zstd if compression_type is CompressionType.ZSTD else self._deflate
        )

    def suspects(self, area: memoryview, segments: Segments, cuts: Sequence[int]) -> list[int]:
        """The indices of the payloads that `judge` must look at; the others are OK for certain.

        Args:
            area: Bytes that hold all the payloads.
            segments: What each descriptor spans in it, less where the file ends before that.
            cuts: How many bytes of each must not be enough: what its descriptor spans, but for
                the last sector; 0 or less where there is but one.
        """
        return self._examiner.suspects(area, segments, cuts)

    def judge(self, window: Buffer, descriptor: CompressedDescriptor) -> PayloadVerdict:
        """What the payload that begins with the first byte of `window` is.

        Args:
            window: The file's bytes from the payload's first one on. More than the descriptor
                spans allows to find that its sector count is too small; more than two clusters is
                of no use. Less means that the file ends there.
            descriptor: The descriptor.
        """
        window = memoryview(window)[: self._longest_payload(descriptor)]
        span_bytes = descriptor.max_payload_bytes
        payload = window[:span_bytes]
        missing_bytes = span_bytes - len(payload)
        # QEMU reads zeros behind the end of the file, and some streams end with zeros.
        if missing_bytes > 0:
            payload = memoryview(bytes(payload) + bytes(missing_bytes))
        found = self._examiner.examine(payload)
        if found.ended:
            return self._whole(found, descriptor)
        other = self._other_type(payload, descriptor)
        if other is not None:
            return other
        if len(window) > span_bytes:
            longer = self._examiner.examine(window)
            # Only what ends exactly where the cluster is full is more than luck.
            if longer.ended:
                return self._sectors_short(longer, descriptor)
        if missing_bytes > 0:
            # The zeros added must not be what is blamed.
            found = self._examiner.examine(window)
        return self._unsound(payload, found, is_cut=missing_bytes > 0)

    def _longest_payload(self, descriptor: CompressedDescriptor) -> int:
        """What a descriptor at this offset spans with the largest sector count there is."""
        return 2 * self._cluster_bytes - descriptor.host_offset % SECTOR_BYTES

    def _whole(self, found: Examined, descriptor: CompressedDescriptor) -> PayloadVerdict:
        kind, reason, sectors = PayloadKind.OK, "", right_sectors(descriptor, found.end)
        if found.prerelease:
            kind = PayloadKind.PRERELEASE
            reason = "its length stands before the zstd frame, as in QEMU before 5.1"
        elif sectors is not None and sectors < descriptor.sectors:
            kind = PayloadKind.SECTORS_LONG
            reason = f"the stream takes {sectors:,} sectors, not {descriptor.sectors:,}"
        return PayloadVerdict(kind, found.end, sectors, self._cluster_bytes, reason)

    def _sectors_short(self, found: Examined, descriptor: CompressedDescriptor) -> PayloadVerdict:
        sectors = right_sectors(descriptor, found.end)
        return PayloadVerdict(
            PayloadKind.SECTORS_SHORT,
            found.end,
            sectors,
            self._cluster_bytes,
            f"the stream takes {sectors:,} sectors, not {descriptor.sectors:,}",
        )

    def _other_type(
        self, payload: memoryview, descriptor: CompressedDescriptor
    ) -> PayloadVerdict | None:
        """The verdict on a payload that is whole by another codec, or None."""
        is_zstd = self._compression_type is CompressionType.ZSTD
        other: Examiner = self._deflate if is_zstd else self._zstd
        if is_zstd or bytes(payload[: len(MAGIC)]) == MAGIC:
            found = other.examine(payload)
            if found.ended and found.end is not None and not found.prerelease:
                name = "a raw deflate stream" if is_zstd else "a zstd frame"
                return self._foreign(f"it is {name}", found.end, descriptor)
        end = self._wrapped_end(payload)
        if end is not None:
            reason = "a zlib or gzip header stands before the deflate stream"
            return self._foreign(reason, end, descriptor)
        return None

    def _foreign(self, reason: str, end: int, descriptor: CompressedDescriptor) -> PayloadVerdict:
        return PayloadVerdict(
            PayloadKind.OTHER_TYPE,
            end,
            right_sectors(descriptor, end),
            self._cluster_bytes,
            reason,
        )

    def _wrapped_end(self, payload: memoryview) -> int | None:
        """Where a stream in zlib's or gzip's wrapping, checksum included, ends; or None."""
        inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        try:
            if len(inflate.decompress(payload, self._cluster_bytes)) < self._cluster_bytes:
                return None
        except zlib.error:
            return None
        return end_of_deflate_stream(inflate, payload)

    def _unsound(self, payload: memoryview, found: Examined, *, is_cut: bool) -> PayloadVerdict:
        kind, reason = PayloadKind.DAMAGED, found.reason
        if found.status is Status.WHOLE:
            kind, reason = PayloadKind.UNENDED, "the cluster is full before the stream ends"
        elif found.status is Status.ENDS_EARLY:
            kind = PayloadKind.SHORT
        elif found.status is Status.RUNS_OUT and is_cut:
            kind, reason = PayloadKind.TRUNCATED, "the file ends inside the stream"
        elif not any(payload):
            reason = "all its bytes are zeros"
        return PayloadVerdict(kind, None, None, found.produced_bytes, reason)


def judge(
    window: Buffer,
    descriptor: CompressedDescriptor,
    compression_type: CompressionType,
    cluster_bytes: int,
) -> PayloadVerdict:
    """The verdict on one payload. See `PayloadJudge.judge`, which is quicker for several."""
    return PayloadJudge(compression_type, cluster_bytes).judge(window, descriptor)


def right_sectors(descriptor: CompressedDescriptor, true_end: int | None) -> int | None:
    """The sectors that `true_end` bytes from the descriptor's offset on touch. Spec: 1.9"""
    if true_end is None:
        return None
    return ceil_div(descriptor.host_offset % SECTOR_BYTES + true_end, SECTOR_BYTES)
