"""A picture of an image's cluster map for file managers and documents; needs no display."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from qcowgui.check.arrangement import RowMajorPlane
from qcowgui.check.cells import MAX_CELLS, Cells
from qcowgui.check.clustermap import ClusterState, states_of
from qcowgui.check.ownership import build
from qcowgui.check.stored import StoredRefcounts
from qcowgui.engine.work import CancelToken
from qcowgui.errors import CorruptError, UnsupportedError
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import ByteSource
from qcowgui.report.palette import host_colour
from qcowgui.report.png import indexed_png
from qcowgui.units import ceil_div

Pixels = npt.NDArray[np.uint8]
"""Shape (height, width): a `ClusterState` each, OUTSIDE for the background."""

_GAP_FROM: Final = 6
"""Cells of so many pixels have a gap of one between them, as in the window."""
_BACKGROUNDS: Final = {False: "#ffffff", True: "#1c2025"}


def cluster_picture(
    source: ByteSource,
    side: int,
    *,
    dark: bool = False,
    tick: Callable[[], None] | None = None,
    token: CancelToken | None = None,
) -> bytes:
    """A PNG file with a cell for each host cluster, row by row, or for the worst of several.

    Args:
        source: The image.
        side: The most pixels that the picture may be wide and high.
        dark: Whether it is for a dark background.
        tick: Called now and then.
        token: Stops the work.

    Raises:
        NotQcow2Error: When the file is no qcow2 image.
        CorruptError: When its header does not tell how large clusters are.
        UnsupportedError: When it has more clusters than fit into memory.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    report = inspect_source(source)
    geometry = report.header.geometry
    if geometry is None:
        raise CorruptError("its header does not tell how large its clusters are: no map")
    if geometry.clusters(source.size_bytes) > MAX_CELLS:
        raise UnsupportedError(f"it has more than {MAX_CELLS:,} clusters: too many for a picture")
    token = token or CancelToken()
    stored = StoredRefcounts(source, report)
    ownership = build(source, report, stored=stored, token=token, tick=tick)
    states = states_of(
        ownership,
        stored if stored.usable else None,
        file_bytes=source.size_bytes,
        last=min(ownership.clusters, MAX_CELLS),
        token=token,
    )
    background = _BACKGROUNDS[dark]
    colours = [
        background if state is ClusterState.OUTSIDE else host_colour(state).of(dark=dark)
        for state in ClusterState
    ]
    return indexed_png(draw(states, side), colours)


def draw(states: Cells, side: int) -> Pixels:
    """The states as pixels, at most `side` wide and high, nearly square.

    Args:
        states: A state for each cluster.
        side: At least 1.

    Raises:
        ValueError: When there are no states, or no pixels.
    """
    if not len(states) or side < 1:
        raise ValueError("a picture needs cells and pixels")
    columns = _columns(len(states))
    plane = RowMajorPlane(states, columns)
    level = next(level for level in range(plane.levels) if max(plane.shape(level)) <= side)
    height, width = plane.shape(level)
    cell = side // max(height, width)
    pixels: Pixels = plane.window(level, 0, 0, width, height).repeat(cell, 0).repeat(cell, 1)
    if cell >= _GAP_FROM:
        pixels[cell - 1 :: cell, :] = ClusterState.OUTSIDE
        pixels[:, cell - 1 :: cell] = ClusterState.OUTSIDE
    return pixels


def _columns(cells: int) -> int:
    """The least width at which rows are no more than columns."""
    columns = max(1, int(cells**0.5))
    while columns < ceil_div(cells, columns):
        columns += 1
    return columns
