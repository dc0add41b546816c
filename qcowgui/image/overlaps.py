"""Structures that share bytes of the file though they exclude each other. Spec: 2.4

Only what an open knows anyway: what the header names, and the L2 tables that the active L1 names.
Who owns every cluster is another, longer question.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qcowgui.format import limits
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.header import Header
from qcowgui.format.tables import l2_table_offsets, parse_words
from qcowgui.image.source import ByteSource
from qcowgui.units import MIB, format_offset

if TYPE_CHECKING:  # as in inspect: most images lack these
    from qcowgui.format.bitmaps import BitmapsExtension
    from qcowgui.format.encryption import EncryptionHeaderPointer

_WINDOW_BYTES = MIB


@dataclass(frozen=True, slots=True)
class StructureRange:
    """The host bytes [start, end) of a structure, and what people call it."""

    start: int
    end: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({format_offset(self.start)} to {format_offset(self.end)})"


def header_ranges(
    header: Header,
    geometry: Geometry,
    snapshot_table_bytes: int,
    *,
    bitmaps: BitmapsExtension | None,
    encryption: EncryptionHeaderPointer | None,
) -> list[StructureRange]:
    """The structures that the header and its extensions name, without those at no real place.

    Args:
        header: The image's.
        geometry: The header's.
        snapshot_table_bytes: Length of the snapshot table, which is stored nowhere.
        bitmaps: The bitmaps extension, if there is one.
        encryption: The encryption header's pointer, if there is one.
    """
    candidates = [
        (header.l1_table_offset, header.l1_size * ENTRY_BYTES, "active L1 table"),
        (
            header.refcount_table_offset,
            header.refcount_table_clusters * geometry.cluster_bytes,
            "refcount table",
        ),
        (header.snapshots_offset, snapshot_table_bytes, "snapshot table"),
    ]
    if bitmaps:
        size = bitmaps.bitmap_directory_size
        candidates.append((bitmaps.bitmap_directory_offset, size, "bitmap directory"))
    if encryption:
        candidates.append((encryption.offset, encryption.length, "encryption header"))
    ranges = [StructureRange(0, geometry.cluster_bytes, "header cluster")]
    for start, length_bytes, name in candidates:
        # Offset 0 has a finding of its own.
        if start and length_bytes and start + length_bytes <= limits.MAX_OFFSET:
            ranges.append(StructureRange(start, start + length_bytes, name))
    return ranges


def iter_overlaps(ranges: Sequence[StructureRange], geometry: Geometry) -> Iterator[Finding]:
    """A finding for each pair of `ranges` that share bytes."""
    ordered = sorted(ranges, key=lambda structure: structure.start)
    for left, right in itertools.combinations(ordered, 2):
        if left.start < right.end and right.start < left.end:
            yield _overlap(left, right, geometry)


def iter_l2_overlaps(
    source: ByteSource,
    ranges: Sequence[StructureRange],
    geometry: Geometry,
    *,
    l1_table_offset: int,
    l1_size: int,
) -> Iterator[Finding]:
    """A finding for each of `ranges` that active L2 tables lie on, with the first such table.

    Reads the active L1 table, in pieces of 1 MiB; the caller has tested its size.

    Raises:
        SourceError: When the operating system refuses a read.
    """
    firsts: dict[StructureRange, tuple[int, int]] = {}
    counts: dict[StructureRange, int] = {}
    for start in range(0, l1_size * ENTRY_BYTES, _WINDOW_BYTES):
        wanted = min(_WINDOW_BYTES, l1_size * ENTRY_BYTES - start)
        data = source.read_at(l1_table_offset + start, wanted)
        offsets = l2_table_offsets(parse_words(data))
        for structure in ranges:
            hits = np.flatnonzero(
                (offsets != 0)
                & (offsets < structure.end)
                & (offsets + geometry.cluster_bytes > structure.start)
            )
            if len(hits):
                index = start // ENTRY_BYTES + int(hits[0])
                firsts.setdefault(structure, (index, int(offsets[hits[0]])))
                counts[structure] = counts.get(structure, 0) + len(hits)
        if len(data) < wanted:
            break
    for structure, (index, offset) in firsts.items():
        table = StructureRange(
            offset, offset + geometry.cluster_bytes, f"L2 table of L1 entry {index:,}"
        )
        yield _overlap(structure, table, geometry, count=counts[structure])


def _overlap(
    left: StructureRange, right: StructureRange, geometry: Geometry, *, count: int = 1
) -> Finding:
    start, end = max(left.start, right.start), min(left.end, right.end)
    first, last = geometry.cluster_index(start), geometry.cluster_index(end - 1)
    where = f"cluster {first:,}" if first == last else f"clusters {first:,} to {last:,}"
    others = f", and so do {count - 1:,} other L2 tables" if count > 1 else ""
    return Finding(
        "structure-overlap",
        Severity.CORRUPTION,
        f"The {left} and the {right} share {where}{others}.",
        right.name,
        host_offset=start,
        spec="2.4",
        count=count,
    )
