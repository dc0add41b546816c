"""What a byte that was picked in the hex view selects. Knows no widgets."""

from __future__ import annotations

from qcowgui.gui.locator import Locator
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey


def pick_guest(locator: Locator, offset: int, snapshot: int | None) -> Selection | None:
    """The host cluster or payload that holds a guest byte; without one, the guest cluster.

    None while a table on the way has not been read: it has been asked for, and a guess would be
    wrong as soon as it is there.
    """
    path = locator.at_guest(offset, snapshot)
    if not path.complete:
        return None
    last = path.steps[-1].selection if path.steps else None
    if last is not None and last.structure is StructureKey.CLUSTER:
        return last
    geometry = locator.geometry
    if geometry is None:
        return Selection(StructureKey.GUEST, snapshot=snapshot, guest=(offset, offset + 1))
    row = geometry.cluster_index(offset)
    return locator.at_entry(StructureKey.GUEST, None, row, snapshot)
