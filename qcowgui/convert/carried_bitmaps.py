"""The persistent bitmaps of a source that its copy can have, and their bits in the copy's clusters.

A bitmap's bits know nothing of clusters: only how they are cut into parts depends on the cluster
size. So a bitmap of any granularity goes into an image of any cluster size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np

from qcowgui.engine.work import CancelToken
from qcowgui.errors import LimitError, SourceError
from qcowgui.format import limits
from qcowgui.format.bitmaps import BitmapEntry, bitmap_table_entries_needed
from qcowgui.format.features import Autoclear
from qcowgui.format.geometry import Geometry
from qcowgui.image.bitmap_bits import BitRun, Mark, iter_bit_runs
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from qcowgui.units import ceil_div, format_size

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport
    from qcowgui.image.source import ByteSource, Identity

_MAX_CARRIED_BYTES: Final = 16 * limits.MAX_BITMAP_BYTES
"""Ours: the bits of all bitmaps together. A crafted directory names one large table 65,535 times;
a hundred bitmaps of a 4 TiB disk at 64 KiB have a tenth of this."""
_COMPARED_BYTES: Final = 1 << 16

NOT_SAVED: Final = "they were not saved cleanly, so that their bits can't be believed"
_STALE: Final = "a program that does not know bitmaps has written to the image since"
_UNREADABLE: Final = "their bits can't be read"
_DAMAGED: Final = "what the directory says of them contradicts the format"
_NAME_TAKEN: Final = "another bitmap has the same name"
_TOO_MANY: Final = f"all together have more than {format_size(_MAX_CARRIED_BYTES)}"
_EMPTY_DISK: Final = "the disk is empty"


class LeftOut(NamedTuple):
    """A bitmap that the copy will not have.

    Attributes:
        name: Fit to be shown.
        reason: The end of a sentence that begins with "because", about several bitmaps.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class CarriedBitmaps:
    """The bitmaps of a source, divided.

    Attributes:
        kept: Those that the copy will have, in the directory's order.
        left_out: The others.
    """

    kept: tuple[BitmapEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def choose_bitmaps(report: ImageReport) -> CarriedBitmaps:
    """Divide an image's bitmaps by what its directory says; reads nothing. Spec: 1.12"""
    kept: list[BitmapEntry] = []
    left_out: list[LeftOut] = []
    names: set[bytes] = set()
    total_bytes = 0
    for entry in report.bitmaps:
        reason = _reason(entry, report)
        if not reason and entry.name_raw in names:
            reason = _NAME_TAKEN
        if not reason:
            total_bytes += _bits_bytes(entry, report.virtual_bytes)
            if total_bytes > _MAX_CARRIED_BYTES:
                reason = _TOO_MANY
        if reason:
            left_out.append(LeftOut(entry.name, reason))
        else:
            kept.append(entry)
            names.add(entry.name_raw)
    return CarriedBitmaps(tuple(kept), tuple(left_out))


def _reason(entry: BitmapEntry, report: ImageReport) -> str:
    """Why a bitmap can't be carried, as far as its entry tells; empty when it can."""
    header, geometry = report.header, report.header.geometry
    if header.version < 3 or not header.autoclear_features & Autoclear.BITMAPS:
        return _STALE
    if entry.in_use:
        return NOT_SAVED
    if not report.virtual_bytes:
        return _EMPTY_DISK
    bits = entry.granularity_bits
    if (
        geometry is None
        or not entry.usable
        or not limits.MIN_BITMAP_GRANULARITY_BITS <= bits <= limits.MAX_BITMAP_GRANULARITY_BITS
        or not 1 <= len(entry.name_raw) <= limits.MAX_BITMAP_NAME_BYTES
        or _bits_bytes(entry, report.virtual_bytes) > limits.MAX_BITMAP_BYTES
        or entry.bitmap_table_size
        != bitmap_table_entries_needed(report.virtual_bytes, bits, geometry.cluster_bits)
    ):
        return _DAMAGED
    return ""


def _bits_bytes(entry: BitmapEntry, virtual_bytes: int) -> int:
    return ceil_div(ceil_div(virtual_bytes, 1 << entry.granularity_bits), 8)


def load_bitmaps(source: ByteSource, report: ImageReport, token: CancelToken) -> CarriedBitmaps:
    """As `choose_bitmaps`, but a bitmap is kept only when all its bits could be read.

    Args:
        source: The image.
        report: What inspecting it found.
        token: Stops the reading.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    chosen = choose_bitmaps(report)
    kept: list[BitmapEntry] = []
    left_out = list(chosen.left_out)
    for entry in chosen.kept:
        if _is_readable(source, entry, report, token):
            kept.append(entry)
        else:
            left_out.append(LeftOut(entry.name, _UNREADABLE))
    return CarriedBitmaps(tuple(kept), tuple(left_out))


def _is_readable(
    source: ByteSource, entry: BitmapEntry, report: ImageReport, token: CancelToken
) -> bool:
    try:
        for run in iter_bit_runs(source, entry, geometry_of(report), report.virtual_bytes):
            token.raise_if_cancelled()
            if run.mark is Mark.UNKNOWN:
                return False
    except LimitError:
        return False
    return True


def geometry_of(report: ImageReport) -> Geometry:
    """The geometry of an image that was opened.

    Raises:
        LimitError: When its header allows none.
    """
    if report.header.geometry is None:
        raise LimitError("the header allows no geometry", path=report.name)
    return report.header.geometry


def iter_parts(
    source: ByteSource,
    entry: BitmapEntry,
    report: ImageReport,
    *,
    part_bytes: int,
    token: CancelToken,
) -> Iterator[bytes]:
    """A bitmap's bits as they are stored, in parts of `part_bytes`; the last one may be shorter.

    Bits behind the end of the disk are 0.

    Args:
        source: The image.
        entry: A bitmap whose bits can be read.
        report: What inspecting the image found.
        part_bytes: A power of two.
        token: Stops it.

    Raises:
        LimitError: When bits can't be read after all.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    pending = bytearray()
    for run in iter_bit_runs(source, entry, geometry_of(report), report.virtual_bytes):
        token.raise_if_cancelled()
        pending += _stored(run, report.name)
        whole = len(pending) - len(pending) % part_bytes
        for start in range(0, whole, part_bytes):
            yield bytes(memoryview(pending)[start : start + part_bytes])
        if whole:
            pending = pending[whole:]
    if pending:
        yield bytes(pending)


def all_ones(part: bytes, bits: int) -> bool:
    """Whether the first `bits` bits of a part, which are all that it has, are 1."""
    return part == _ones(bits)


def _ones(bits: int) -> bytes:
    whole, rest = divmod(bits, 8)
    return b"\xff" * whole + (bytes(((1 << rest) - 1,)) if rest else b"")


def _stored(run: BitRun, name: str) -> bytes:
    """The bits of a run as they are stored; each run but the last has whole bytes."""
    count = run.last - run.first
    if run.bits is not None:
        return np.packbits(run.bits, bitorder="little").tobytes()
    if run.mark is Mark.UNKNOWN:
        raise LimitError("the bits of a bitmap can't be read any more", path=name)
    return _ones(count) if run.mark is Mark.DIRTY else bytes(ceil_div(count, 8))


class BitmapSource:
    """An image whose bitmaps are carried; a context that closes its file.

    Attributes:
        carried: Which bitmaps are, and which are not.
    """

    def __init__(
        self, path: Path, identity: Identity | None, report: ImageReport, token: CancelToken
    ) -> None:
        """Open the image once more, and see which of its bitmaps can be read.

        Args:
            path: The image.
            identity: Of the file that was inspected.
            report: What inspecting it found.
            token: Stops all reading.

        Raises:
            SourceError: When the operating system refuses a read, or when the path leads to another
                file than it did.
            Cancelled: When the token was set.
        """
        self._report = report
        self._token = token
        self._source = FileSource(path)
        if self._source.identity != identity:
            self._source.close()
            raise SourceError(f"{path} is another file now", path=str(path))
        try:
            self.carried = load_bitmaps(self._source, report, token)
        except BaseException:
            self._source.close()
            raise

    @property
    def virtual_bytes(self) -> int:
        """The size of the disk that the bitmaps are about."""
        return self._report.virtual_bytes

    def iter_parts(self, entry: BitmapEntry, part_bytes: int) -> Iterator[bytes]:
        """The bits of one of `carried.kept`; see `iter_parts`."""
        return iter_parts(
            self._source, entry, self._report, part_bytes=part_bytes, token=self._token
        )

    def first_difference(self, path: Path) -> str | None:
        """The name of the first carried bitmap that the image at `path` has not, or None.

        Raises:
            NotQcow2Error: When there is no image.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token was set.
        """
        with FileSource(path) as written:
            report = inspect_source(written)
            found = load_bitmaps(written, report, self._token)
            for mine, theirs in zip_longest(self.carried.kept, found.kept):
                if mine is None or theirs is None or _told(mine) != _told(theirs):
                    return str((mine or theirs).name)
                parts = zip_longest(
                    self.iter_parts(mine, _COMPARED_BYTES),
                    iter_parts(
                        written, theirs, report, part_bytes=_COMPARED_BYTES, token=self._token
                    ),
                )
                if any(one != other for one, other in parts):
                    return mine.name
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()


def _told(entry: BitmapEntry) -> tuple[bytes, int, bool]:
    return entry.name_raw, entry.granularity_bits, entry.auto
