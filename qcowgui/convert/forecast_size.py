"""From the sampled cells to the length of the file: data, packing, tables, refcounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from qcowgui.convert.forecast_sampling import (
    Estimate,
    Floats,
    Frame,
    interval,
    mean_variance,
    ratio_variance,
)
from qcowgui.convert.forecast_trial import REFERENCE, Candidate, Cell
from qcowgui.convert.host_layout import HostLayout
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.refcounts import refcount_metadata_clusters
from qcowgui.units import ceil_div

_LAYOUT_CLUSTERS: Final = 2048
"""As many are laid out, so that the file's last cluster does not weigh."""


class Reference(NamedTuple):
    """What a candidate that many cells were tried with makes of the whole disk.

    Attributes:
        candidate: Which one.
        stored_bytes: The sum over all cells, estimated.
        relative_variance: Of it.
    """

    candidate: Candidate
    stored_bytes: float
    relative_variance: float


def measure_reference(cells: Sequence[Cell], frame: Frame) -> Reference:
    """What `REFERENCE` would store of the whole disk, from the fine cells."""
    values = stored_bytes(cells, REFERENCE)
    mean = float(values.mean()) if len(values) else 0.0
    variance = mean_variance(values, frame.cells) / mean**2 if mean else 0.0
    return Reference(REFERENCE, mean * frame.cells, variance)


def relate(
    candidate: Candidate, cells: Sequence[Cell], frame: Frame, reference: Reference
) -> Reference:
    """What `candidate` would store of the whole disk, by its proportion to a known sum.

    Args:
        candidate: Which one.
        cells: Those that both were tried on.
        frame: What they were drawn from.
        reference: The known sum.
    """
    values, by = stored_bytes(cells, candidate), stored_bytes(cells, reference.candidate)
    base = float(by.sum())
    if not base:
        return Reference(candidate, 0.0, 0.0)
    return Reference(
        candidate,
        reference.stored_bytes * float(values.sum()) / base,
        reference.relative_variance + ratio_variance(values, by, frame.cells),
    )


def stored_bytes(cells: Iterable[Cell], candidate: Candidate) -> Floats:
    """What a candidate stored of each cell."""
    return np.array([cell.trials[candidate].stored_bytes for cell in cells], dtype=np.float64)


def estimate_data(
    candidate: Candidate, cells: Sequence[Cell], frame: Frame, references: Iterable[Reference]
) -> Estimate:
    """The bytes of a candidate's payloads and plain clusters, without what packing wastes.

    Args:
        candidate: Which one.
        cells: Those that it was tried on, with every reference.
        frame: What they were drawn from.
        references: At least one sum that is known; the one that the candidate follows most
            closely counts.
    """
    related = min(
        (relate(candidate, cells, frame, reference) for reference in references),
        key=lambda one: one.relative_variance,
    )
    found = interval(related.stored_bytes, related.relative_variance, len(cells) - 1)
    most = float(frame.cells * frame.cell_bytes)
    return Estimate(*(min(part, most) for part in (found.low, found.expected, found.high)))


def packing_factor(candidate: Candidate, cells: Sequence[Cell], batch_bytes: int) -> float:
    """Host bytes for each stored byte, from laying out the sampled cells as the writer does.

    Args:
        candidate: Which one.
        cells: Those that it was tried on, in guest order; they stand for neighbours.
        batch_bytes: Guest bytes that a conversion places at a time.
    """
    layout = HostLayout(geometry_of(candidate), lambda _offset, _data: None)
    batches = list(_iter_batch_lengths(candidate, cells, batch_bytes))
    clusters = sum(map(len, batches))
    if not clusters:
        return 1.0
    rounds = ceil_div(_LAYOUT_CLUSTERS, clusters)
    for batch in batches * rounds:
        payloads = [length for length in batch if length < candidate.cluster_bytes]
        for length in payloads:
            layout.allocate_payload(length)
        if len(payloads) < len(batch):
            layout.allocate_clusters(len(batch) - len(payloads))
    return max(1.0, layout.end_offset / (sum(map(sum, batches)) * rounds))


def _iter_batch_lengths(
    candidate: Candidate, cells: Sequence[Cell], batch_bytes: int
) -> Iterator[list[int]]:
    batch: list[int] = []
    guest_bytes = 0
    for cell in cells:
        lengths = cell.trials[candidate].lengths
        if candidate.cluster_bytes >= batch_bytes:
            yield from ([length] for length in lengths)
            continue
        batch += lengths
        guest_bytes += cell.end - cell.start
        if guest_bytes >= batch_bytes:
            yield batch
            batch, guest_bytes = [], 0
    if batch:
        yield batch


def file_bytes(geometry: Geometry, data_bytes: float, *, virtual_bytes: int, l2_tables: int) -> int:
    """The length of a file with `data_bytes` in data clusters, metadata included.

    Args:
        geometry: Of the file.
        data_bytes: With what packing wastes.
        virtual_bytes: The disk's size.
        l2_tables: Those that have to exist.
    """
    l1_clusters = geometry.clusters(max(1, geometry.l1_entries_needed(virtual_bytes)) * ENTRY_BYTES)
    clusters = 1 + l1_clusters + l2_tables + ceil_div(round(data_bytes), geometry.cluster_bytes)
    blocks, table = refcount_metadata_clusters(
        clusters, geometry.cluster_bits, geometry.refcount_order
    )
    return (clusters + blocks + table) * geometry.cluster_bytes


def l1_coverage_bytes(candidate: Candidate) -> int:
    """Guest bytes that one L2 table of the candidate's file maps."""
    return geometry_of(candidate).l1_coverage_bytes


def geometry_of(candidate: Candidate) -> Geometry:
    """The geometry of the candidate's file."""
    return Geometry(candidate.cluster_bytes.bit_length() - 1)
