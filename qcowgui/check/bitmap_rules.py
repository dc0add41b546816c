"""What is wrong with persistent bitmaps that an open does not look at. Spec: 1.12, 2.2, 2.5

An open judges the tables of the bitmaps that QEMU would load, because QEMU refuses the image for a
bad one. A check looks at all tables, at where they and their bits lie, and at the last bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.engine.work import CancelToken
from qcowgui.format import fields, limits
from qcowgui.format.bitmaps import (
    BitmapClusterKind,
    BitmapEntry,
    bitmap_table_entries_needed,
    decode_bitmap_table,
)
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import KIB, MIB, ceil_div, format_offset, format_size

_MAX_READ_BYTES: Final = 128 * MIB
"""ours: what a check reads of bitmap tables and of last bits, each place once."""
_WINDOW_BYTES: Final = MIB
_LEAST_COST_BYTES: Final = 4 * KIB
_FIXED_BYTES: Final = fields.BITMAP_DIRECTORY_FIELDS[-1].end
_STRUCTURE: Final = "bitmap table"


def iter_bitmap_findings(
    source: ByteSource, report: ImageReport, *, token: CancelToken
) -> Iterator[Finding]:
    """What `report.findings` does not say of the bitmaps; most of an image's have nothing wrong.

    Bitmaps whose place or size is impossible have their finding already and are passed over.

    Raises:
        Cancelled: When the token asks for it.
        SourceError: When the operating system refuses a read.
    """
    geometry = report.header.geometry
    if geometry is None or not report.bitmaps:
        return
    yield from _judge_padding(source, report.bitmaps)
    judge = _BitmapJudge(source, report, geometry, token)
    for entry in report.bitmaps:
        yield from judge.iter_findings(entry)
    if judge.passed_over:
        yield Finding(
            "bitmap-table",
            Severity.SUSPICIOUS,
            "The bitmap directory names more tables than any image needs: those of "
            f"{judge.passed_over:,} bitmaps, or their bits, were not looked at.",
            "bitmap directory",
            expected=f"tables and last bits of {format_size(_MAX_READ_BYTES)} at most",
            spec="1.12",
            count=judge.passed_over,
        )


def _judge_padding(source: ByteSource, entries: tuple[BitmapEntry, ...]) -> Iterator[Finding]:
    for entry in entries:
        used = _FIXED_BYTES + len(entry.extra_data) + len(entry.name_raw)
        padding = source.read_at(entry.entry_offset + used, entry.entry_bytes - used)
        if any(padding):
            yield Finding(
                "bitmap-directory",
                Severity.SUSPICIOUS,
                f"The padding of {_label(entry)} should be zero and is {padding.hex()}.",
                "bitmap directory",
                host_offset=entry.entry_offset + used,
                entry=entry.index,
                raw=int.from_bytes(padding, "big"),
                expected="zeros",
                spec="1.12",
            )


@dataclass
class _TableFaults:
    """What one pass over a table collects: first entry and number of each fault."""

    invalid: tuple[int, int] = (0, 0)
    beyond: tuple[int, int] = (0, 0)
    last_offset: int = 0


@dataclass
class _BitmapJudge:
    """Judges one bitmap after the other, each table once, within a budget of bytes."""

    source: ByteSource
    report: ImageReport
    geometry: Geometry
    token: CancelToken
    passed_over: int = 0
    _left_bytes: int = field(init=False)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _known: set[int] = field(init=False)
    _folded: bool = field(init=False)

    def __post_init__(self) -> None:
        self._left_bytes = _MAX_READ_BYTES
        found = [f for f in self.report.findings if f.structure == _STRUCTURE]
        self._known = {f.host_offset for f in found if f.host_offset is not None}
        self._folded = len(found) >= limits.MAX_FINDINGS_OF_A_KIND

    def iter_findings(self, entry: BitmapEntry) -> Iterator[Finding]:
        self.token.raise_if_cancelled()
        offset, table_bytes = entry.bitmap_table_offset, entry.bitmap_table_size * ENTRY_BYTES
        possible = 0 < entry.bitmap_table_size <= limits.MAX_BITMAP_TABLE_ENTRIES
        if not offset or not self.geometry.is_aligned(offset) or not possible:
            return
        if (offset, table_bytes) in self._seen:
            return
        self._seen.add((offset, table_bytes))
        if offset + table_bytes > self.source.size_bytes:
            yield self._table_beyond_end(entry, offset + table_bytes)
        inside = max(0, min(table_bytes, self.source.size_bytes - offset))
        if not self._afford(inside):
            return
        faults = self._scan(entry, inside)
        yield from self._invalid_entries(entry, faults)
        yield from self._bits_beyond_end(entry, faults)
        yield from self._judge_last_bits(entry, faults.last_offset)

    def _afford(self, read_bytes: int) -> bool:
        if self.passed_over or max(read_bytes, _LEAST_COST_BYTES) > self._left_bytes:
            self.passed_over += 1
            return False
        self._left_bytes -= max(read_bytes, _LEAST_COST_BYTES)
        return True

    def _scan(self, entry: BitmapEntry, table_bytes: int) -> _TableFaults:
        """One pass over the part of the table that is inside the file."""
        faults = _TableFaults()
        last = self._last_entry(entry)
        for start in range(0, table_bytes, _WINDOW_BYTES):
            self.token.raise_if_cancelled()
            data = self.source.read_at(
                entry.bitmap_table_offset + start, min(_WINDOW_BYTES, table_bytes - start)
            )
            table = decode_bitmap_table(data, cluster_bits=self.geometry.cluster_bits)
            first = start // ENTRY_BYTES
            invalid = table.kind == BitmapClusterKind.INVALID
            beyond = table.cluster_offset >= np.uint64(self.source.size_bytes)
            faults.invalid = _counted(faults.invalid, invalid, first)
            faults.beyond = _counted(faults.beyond, beyond, first)
            if last is not None and first <= last < first + len(table.kind):
                faults.last_offset = int(table.cluster_offset[last - first])
        return faults

    def _last_entry(self, entry: BitmapEntry) -> int | None:
        """The table entry with the bits for the end of the disk, if the entry is to be believed."""
        if not entry.usable or not self.report.virtual_bytes:
            return None
        needed = bitmap_table_entries_needed(
            self.report.virtual_bytes, entry.granularity_bits, self.geometry.cluster_bits
        )
        return needed - 1

    def _table_beyond_end(self, entry: BitmapEntry, end: int) -> Finding:
        return Finding(
            "metadata-beyond-eof",
            Severity.CORRUPTION,
            f"The table of {_label(entry)} needs bytes up to {format_offset(end)}, but the file "
            f"ends at {format_offset(self.source.size_bytes)}: the bitmap is lost at least in "
            "part. Guest data is not affected.",
            _STRUCTURE,
            host_offset=entry.bitmap_table_offset,
            entry=entry.index,
            raw=end,
            expected=f"at most {self.source.size_bytes:,}",
            spec="2.2 R1",
        )

    def _invalid_entries(self, entry: BitmapEntry, faults: _TableFaults) -> Iterator[Finding]:
        first, count = faults.invalid
        host_offset = entry.bitmap_table_offset + first * ENTRY_BYTES
        if not count or self._folded or host_offset in self._known:
            return
        yield Finding(
            "bitmap-table",
            Severity.CORRUPTION,
            f"Entry {first:,} of the table of {_label(entry)} has reserved bits or an impossible "
            "offset.",
            _STRUCTURE,
            host_offset=host_offset,
            entry=first,
            spec="1.12",
            count=count,
        )

    def _bits_beyond_end(self, entry: BitmapEntry, faults: _TableFaults) -> Iterator[Finding]:
        first, count = faults.beyond
        if not count:
            return
        yield Finding(
            "bitmap-data-beyond-eof",
            Severity.CORRUPTION,
            f"Entry {first:,} of the table of {_label(entry)} names bits beyond the end of the "
            f"file at {format_offset(self.source.size_bytes)}: they count as zeros. The next "
            "backup must be a full one; guest data is not affected.",
            _STRUCTURE,
            host_offset=entry.bitmap_table_offset + first * ENTRY_BYTES,
            entry=first,
            expected=f"below {format_offset(self.source.size_bytes)}",
            spec="2.2 R1",
            count=count,
        )

    def _judge_last_bits(self, entry: BitmapEntry, last_offset: int) -> Iterator[Finding]:
        """Whether bits are set for what lies behind the disk, in the last cluster of bits."""
        if not last_offset:
            return
        bits = ceil_div(self.report.virtual_bytes, 1 << entry.granularity_bits)
        used_bits = bits % (self.geometry.cluster_bytes * 8)
        if not used_bits or not self._afford(self.geometry.cluster_bytes - used_bits // 8):
            return
        start = last_offset + used_bits // 8
        data = self.source.read_at(start, self.geometry.cluster_bytes - used_bits // 8)
        tail = int.from_bytes(data[:1], "little") >> used_bits % 8
        if not tail and not any(data[1:]):
            return
        yield Finding(
            "bitmap-tail",
            Severity.SUSPICIOUS,
            f"{_label(entry, capital=True)} has bits set behind the end of the disk; they mean "
            "nothing, and a program that counts them gets a wrong number.",
            "bitmap data",
            host_offset=start,
            entry=entry.index,
            expected="zeros",
            spec="1.12",
        )


def _counted(
    found: tuple[int, int], flags: npt.NDArray[np.bool_], first_entry: int
) -> tuple[int, int]:
    """`found` (first entry, number), with the flags of the entries from `first_entry` on."""
    count = int(np.count_nonzero(flags))
    if not count:
        return found
    first = found[0] if found[1] else first_entry + int(np.argmax(flags))
    return first, found[1] + count


def _label(entry: BitmapEntry, *, capital: bool = False) -> str:
    return f"{'B' if capital else 'b'}itmap {entry.index} (“{entry.name[:40]}”)"
