"""Which guest cells a forecast reads, and how far its sums may be from those of the whole disk.

A disk is cut into cells of one size; those that the source stores are the frame. One cell of each
stratum, a run of neighbours in that frame, is drawn: spread over the disk, and the same for a seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.convert.measure import iter_cluster_runs

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
_NORMAL_QUANTILE = 1.959964
"""Two-sided, for `CONFIDENCE`."""


class Frame(NamedTuple):
    """How many cells there are to draw from.

    Attributes:
        cell_bytes: Length and alignment of a cell in guest bytes.
        cells: How many of them the source stores something in.
    """

    cell_bytes: int
    cells: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the interval in which it lies with a confidence of 95 %.

    Attributes:
        low: The interval's lower end.
        expected: The best guess.
        high: Its upper end.
    """

    low: float
    expected: float
    high: float


def count_cells(ranges: Iterable[tuple[int, int]], cell_sizes: Iterable[int]) -> dict[int, int]:
    """For each size of cells, how many of them the guest ranges touch, in one pass.

    Args:
        ranges: [start, end) in guest bytes, in order of their starts.
        cell_sizes: In bytes.
    """
    totals = dict.fromkeys(cell_sizes, 0)
    done = dict.fromkeys(totals, 0)
    for start, end in ranges:
        for size in totals:
            first, last = max(start // size, done[size]), -(-end // size)
            if first < last:
                totals[size] += last - first
                done[size] = last
    return totals


def draw(cells: int, wanted: int, chance: random.Random) -> list[int]:
    """`wanted` of the numbers below `cells`, one of each stratum, in order; all if there are fewer.

    Strata are as equal as they can be: each number has nearly the same chance.
    """
    if cells <= wanted:
        return list(range(cells))
    edges = [cells * index // wanted for index in range(wanted + 1)]
    return [chance.randrange(edges[index], edges[index + 1]) for index in range(wanted)]


def iter_cell_starts(
    ranges: Iterable[tuple[int, int]], cell_bytes: int, numbers: Sequence[int]
) -> Iterator[int]:
    """The guest offsets of the frame's cells with these numbers, which are in order."""
    wanted = iter(numbers)
    number = next(wanted, None)
    before = 0
    for first, last in iter_cluster_runs(ranges, cell_bytes):
        while number is not None and number < before + last - first:
            yield (first + number - before) * cell_bytes
            number = next(wanted, None)
        if number is None:
            return
        before += last - first


def quantile(degrees: int) -> float:
    """Student's two-sided quantile for `CONFIDENCE`; Cornish and Fisher's expansion of it."""
    z = _NORMAL_QUANTILE
    n = max(degrees, 1)
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)


def mean_variance(values: Floats, cells: int) -> float:
    """The variance of a drawn mean. Neighbours in the sample tell it: that is what strata leave.

    Args:
        values: One a drawn cell, in guest order.
        cells: Of the frame.
    """
    n = len(values)
    if n >= cells:
        return 0.0
    if n < 2:
        return float(values.mean()) ** 2 if n else 0.0
    differences = np.diff(values)
    spread = float(np.dot(differences, differences)) / (2 * (n - 1))
    return spread * (1 - n / cells) / n


def ratio_variance(values: Floats, by: Floats, cells: int) -> float:
    """The relative variance of the ratio Σ values / Σ by, as an estimate of the frame's.

    Args:
        values: One a drawn cell, in guest order.
        by: Of the same cells.
        cells: Of the frame.
    """
    total, base = float(values.sum()), float(by.sum())
    if not total or not base:
        return 0.0
    residuals = values - by * (total / base)
    return mean_variance(residuals, cells) / (total / len(values)) ** 2


def interval(
    expected: float, relative_variance: float, degrees: int, *, floor: float = 0.0
) -> Estimate:
    """The estimate with this relative variance, from a sample with so many degrees of freedom.

    Args:
        expected: The best guess.
        relative_variance: Of it.
        degrees: One less than the cells drawn.
        floor: A part of `expected` that the half of the interval is never less than.
    """
    half = expected * max(floor, quantile(degrees) * math.sqrt(relative_variance))
    return Estimate(max(0.0, expected - half), expected, expected + half)
