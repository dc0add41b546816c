"""Stored bytes that a candidate leaves unused: what may be missing from it."""

from __future__ import annotations

from typing import Final

import numpy as np

from qcowgui.image.source import ByteSource
from qcowgui.salvage.candidates import Candidate, Orphans
from qcowgui.salvage.census import Census, iter_runs
from qcowgui.salvage.payloads import count_payload_starts
from qcowgui.salvage.structures import Structures
from qcowgui.units import MIB

_MAX_RANGES: Final = 64
_CHUNK_BYTES: Final = 4 * MIB
_MAX_PAYLOAD_BYTES: Final = 16 * MIB
"""ours: what is searched for the starts of payloads."""


def count_orphans(
    source: ByteSource, structures: Structures, candidate: Candidate, census: Census
) -> Orphans:
    """What the file holds and neither the candidate nor a snapshot uses.

    Args:
        source: The damaged image.
        structures: Its tables.
        candidate: Whose leavings are counted.
        census: The file's clusters; it has looked at what some candidate leaves over.

    Raises:
        Cancelled: When the census's token was set.
        SourceError: When the operating system refuses a read.
    """
    tables = tuple(census.pool.unused_by(candidate.l1).tolist())
    if not census.possible:
        return Orphans(tables, None, 0, ())
    left = census.left_over(census.named_by(candidate))
    bits = structures.geometry.cluster_bits
    end = source.size_bytes
    ranges = [(first << bits, min(last << bits, end)) for first, last in iter_runs(left)]
    ranges.sort(key=lambda part: part[0] - part[1])
    payloads = 0
    if structures.l2_tables.compressed.any():
        payloads = _count_payloads(source, structures, candidate, ranges)
    return Orphans(
        tables, int(np.count_nonzero(left)), payloads, tuple(sorted(ranges[:_MAX_RANGES]))
    )


def _count_payloads(
    source: ByteSource, structures: Structures, candidate: Candidate, ranges: list[tuple[int, int]]
) -> int:
    """Compressed payloads that begin in these ranges, as far as they are searched."""
    found, room = 0, _MAX_PAYLOAD_BYTES
    for start, end in ranges:
        for position in range(start, min(end, start + room), _CHUNK_BYTES):
            data = source.read_at(position, min(_CHUNK_BYTES, end - position))
            found += count_payload_starts(data, structures.geometry, candidate.compression_type)
        room -= end - start
        if room <= 0:
            break
    return found
