"""Where in one image a place lies that somebody typed into "Go to". Knows no widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from qcowgui.errors import UsageError
from qcowgui.format.geometry import Geometry
from qcowgui.gui.entry_places import TablePlace
from qcowgui.gui.go_to import Place, PlaceKind
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text
from qcowgui.units import format_offset

if TYPE_CHECKING:
    from qcowgui.gui.locator import Locator

translate = QCoreApplication.translate


def place_in(locator: Locator, place: Place) -> Selection:
    """What `place` means in an image.

    Raises:
        UsageError: When it lies outside; the message is a sentence for a person.
    """
    if place.kind is PlaceKind.HOST:
        return _host(locator, place.number)
    geometry = locator.geometry
    if geometry is None:
        raise UsageError(
            translate("go_to", "The header allows no tables: only host offsets lead on.")
        )
    match place.kind:
        case PlaceKind.CLUSTER:
            _host(locator, place.number * geometry.cluster_bytes)
            return locator.at_entry(StructureKey.CLUSTER, None, place.number)
        case PlaceKind.REFCOUNT:
            part, row = divmod(place.number, geometry.refcounts_per_block)
            table = locator.table_place(Selection(StructureKey.REFCOUNT_TABLE))
            _require_row(table, part)
            return locator.at_entry(StructureKey.REFCOUNT_BLOCK, part, row)
        case PlaceKind.L1:
            return _entry(locator, place, geometry)
        case PlaceKind.GUEST_CLUSTER:
            return _guest(locator, place, place.number * geometry.cluster_bytes, geometry)
        case _:
            return _guest(locator, place, place.number, geometry)


def _host(locator: Locator, offset: int) -> Selection:
    end = locator.host_end
    if offset >= end:
        raise UsageError(
            translate("go_to", "The file ends at {end}, before {offset}.").format(
                end=format_offset(end), offset=format_offset(offset)
            )
        )
    return locator.at_host(offset)


def _guest(locator: Locator, place: Place, offset: int, geometry: Geometry) -> Selection:
    _require_snapshot(locator, place.snapshot)
    end = locator.guest_bytes(place.snapshot)
    if offset >= end:
        raise UsageError(
            translate("go_to", "The guest’s disk ends at {end}, before {offset}.").format(
                end=format_offset(end), offset=format_offset(offset)
            )
        )
    row = geometry.cluster_index(offset)
    return locator.at_entry(StructureKey.GUEST, None, row, place.snapshot)


def _entry(locator: Locator, place: Place, geometry: Geometry) -> Selection:
    _require_snapshot(locator, place.snapshot)
    _require_row(locator.l1_place(place.snapshot), place.number)
    if place.l2_index is None:
        return locator.at_entry(StructureKey.L1, None, place.number, place.snapshot)
    if place.l2_index >= geometry.l2_entries:
        raise UsageError(
            translate("go_to", "An L2 table of this image has {entries}.").format(
                entries=count_text(geometry.l2_entries, "entry", "entries")
            )
        )
    return locator.at_entry(StructureKey.L2, place.number, place.l2_index, place.snapshot)


def _require_row(table: TablePlace | None, row: int) -> None:
    entries = 0 if table is None else table.entries
    if row >= entries:
        raise UsageError(
            translate("go_to", "The table has {entries}; there is no {row}.").format(
                entries=count_text(entries, "entry", "entries"), row=f"{row:,}"
            )
        )


def _require_snapshot(locator: Locator, snapshot: int | None) -> None:
    if snapshot is not None and locator.l1_place(snapshot) is None:
        raise UsageError(
            translate("go_to", "The image has no snapshot {index}.").format(index=snapshot)
        )
