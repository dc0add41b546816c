"""How large a target can be expected to become, from the source's tables and from a forecast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qcowgui.codec.registry import DEFAULT_WINDOW, level_range
from qcowgui.convert.forecast_sampling import Estimate, count_cells
from qcowgui.convert.forecast_size import file_bytes
from qcowgui.convert.plan import is_own, is_stored, iter_all_extents
from qcowgui.convert.preallocation import length_bytes, reserved_bytes
from qcowgui.format.geometry import Geometry
from qcowgui.image.layer import ExtentKind

if TYPE_CHECKING:
    from qcowgui.convert.forecast import Forecast
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.engine.work import CancelToken
    from qcowgui.image.chain import OpenedImage


@dataclass(frozen=True, slots=True)
class ExpectedSize:
    """What a target will take.

    Attributes:
        most_bytes: An upper bound of the space it takes, if its file system has holes: zeros
            inside of what the source stores are not looked for, nor what compression saves.
        forecast: Its length by a forecast that tried these options, or None.
        expected_bytes: The best guess of the space it takes; None where only a forecast could tell.
        length_bytes: Its file's length, where that is known: raw, or preallocated.
        reserved_bytes: What it takes from the start, with certainty; 0 when it grows.
        stored_bytes: Guest bytes that the source stores.
        compressed_bytes: Those of them that it stores compressed.
        by_base_bytes: Those of them that the source's backing files store.
    """

    most_bytes: int
    forecast: Estimate | None
    expected_bytes: int | None
    length_bytes: int | None
    reserved_bytes: int
    stored_bytes: int
    compressed_bytes: int
    by_base_bytes: int


class _Census:
    """Counts what the source stores while its ranges are looked through."""

    def __init__(self, source: OpenedImage, *, own_only: bool, token: CancelToken) -> None:
        self._source = source
        self._wanted = is_own if own_only else is_stored
        self._token = token
        self.stored_bytes = 0
        self.compressed_bytes = 0
        self.by_base_bytes = 0

    def iter_ranges(self) -> Iterator[tuple[int, int]]:
        """The guest ranges that the target may need clusters for, in order."""
        for extent in iter_all_extents(self._source, self._token):
            if not self._wanted(extent):
                continue
            if is_stored(extent):
                self.stored_bytes += extent.length
                if extent.kind is ExtentKind.COMPRESSED:
                    self.compressed_bytes += extent.length
                if extent.depth:
                    self.by_base_bytes += extent.length
            yield extent.start, extent.end


def expect_size(
    options: ConvertOptions,
    source: OpenedImage,
    token: CancelToken,
    forecast: Forecast | None = None,
) -> ExpectedSize:
    """What the target will take; looks through the source's tables once, and at none of its data.

    Args:
        options: The conversion.
        source: The opened source.
        token: Stops it.
        forecast: One of the same source, if there is any.

    Raises:
        ImageError: When the source's mapping can't be used.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    census = _Census(source, token=token, own_only=options.keep_backing and len(source.chain) > 1)
    if options.target_format == "raw":
        for _ in census.iter_ranges():
            pass
        most = census.stored_bytes
    else:
        geometry = Geometry(options.cluster_bits, options.extended_l2, options.refcount_order)
        coverage = geometry.l1_coverage_bytes
        cells = count_cells(census.iter_ranges(), {geometry.cluster_bytes, coverage})
        all_tables = geometry.l1_entries_needed(source.size_bytes)
        most = file_bytes(
            geometry,
            cells[geometry.cluster_bytes] * geometry.cluster_bytes,
            virtual_bytes=source.size_bytes,
            l2_tables=cells[coverage] if options.preallocation == "off" else all_tables,
        )
    reserved = reserved_bytes(options, source.size_bytes)
    most = max(most, reserved)
    found = _matching(options, forecast) if forecast is not None else None
    # What a backing file given by name already has is not known, nor what compression saves.
    known = options.compression == "none" and options.backing_file is None
    return ExpectedSize(
        most_bytes=most,
        forecast=found,
        expected_bytes=round(found.expected) if found is not None else most if known else None,
        length_bytes=length_bytes(options, source.size_bytes),
        reserved_bytes=reserved,
        stored_bytes=census.stored_bytes,
        compressed_bytes=census.compressed_bytes,
        by_base_bytes=census.by_base_bytes,
    )


def _matching(options: ConvertOptions, forecast: Forecast) -> Estimate | None:
    """The size that a forecast gives for what the options want, if it tried just that."""
    if options.keep_backing or options.backing_file is not None or options.window != DEFAULT_WINDOW:
        return None  # a forecast is of images that stand alone, and of this window
    kind = options.compression_type
    level = options.level
    if kind is not None and level is None:
        level = level_range(kind, options.window).default
    for item in forecast.candidates:
        found = item.candidate
        if (found.compression, found.level, found.cluster_bytes) == (
            options.compression,
            level,
            options.cluster_bytes,
        ):
            return item.size
    return None
