"""From a selection to the maps and back: what it lights up, what a cell selects. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qcowgui.gui.guest_path import GuestPath
from qcowgui.gui.heatmap.painting import Mark
from qcowgui.gui.locator import Locator
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey
from qcowgui.units import ceil_div, format_offset

_WITH_PATH = (StructureKey.CLUSTER, StructureKey.GUEST, StructureKey.L2)


@dataclass(frozen=True, slots=True)
class Lights:
    """What to point out.

    Attributes:
        host: The selected clusters of the file, or None.
        guest: The selected clusters of the active disk, or None.
        steps: Clusters of the file on the way to the guest byte, numbered.
        trail: The way in words, a sentence a step; empty when there is none.
        complete: False while a table that the way needs is being read.
    """

    host: Mark | None = None
    guest: Mark | None = None
    steps: tuple[Mark, ...] = ()
    trail: tuple[str, ...] = ()
    complete: bool = True


def lights_of(session: Session) -> Lights:
    """What the session's selection lights up."""
    selection, locator = session.selection, session.locator
    geometry = None if locator is None else locator.geometry
    if locator is None or geometry is None:
        return Lights()
    size = geometry.cluster_bytes
    host = _mark(selection.host, size)
    guest = None if selection.snapshot is not None else _mark(selection.guest, size)
    if selection.structure not in _WITH_PATH or selection.guest is None:
        return Lights(host, guest)
    if selection.row is None:  # a range of clusters leads nowhere in particular
        return Lights(host, guest)
    path = locator.at_guest(selection.guest[0], selection.snapshot)
    steps = _steps(path, size)
    if selection.structure is StructureKey.GUEST:
        host = _mark(_place(path), size)
    return Lights(host, guest, steps, _trail(selection, path), path.complete)


def _place(path: GuestPath) -> tuple[int, int] | None:
    """The bytes of the file at the end of the way, when it leads to any."""
    if not path.steps or path.steps[-1].selection.structure is not StructureKey.CLUSTER:
        return None
    return path.steps[-1].selection.host


def _mark(span: tuple[int, int] | None, cluster_bytes: int, label: str = "") -> Mark | None:
    if span is None:
        return None
    first = span[0] // cluster_bytes
    return Mark(first, max(first + 1, ceil_div(span[1], cluster_bytes)), label)


def _steps(path: GuestPath, cluster_bytes: int) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    for number, step in enumerate(path.steps, start=1):
        mark = _mark(step.selection.host, cluster_bytes, str(number))
        if mark is None:
            continue
        if marks and (marks[-1].first, marks[-1].last) == (mark.first, mark.last):
            # Two steps in one cluster share a label.
            mark = Mark(mark.first, mark.last, f"{marks.pop().label}, {number}")
        marks.append(mark)
    return tuple(marks)


def _trail(selection: Selection, path: GuestPath) -> tuple[str, ...]:
    start = selection.guest[0] if selection.guest else 0
    sentences = [f"{number}  {step.text}" for number, step in enumerate(path.steps, start=1)]
    if path.conclusion and (not path.steps or path.conclusion != path.steps[-1].text):
        sentences.append(path.conclusion)
    return (f"guest {format_offset(start)}:", *sentences)


def first_entry(locator: Locator, offset: int) -> Selection:
    """What lies at the start of a cluster, with its place, though the pages to tell may miss."""
    found = locator.at_host(offset)
    geometry = locator.geometry
    if found.host is not None or geometry is None:
        return found
    if found.structure is StructureKey.L2:
        return replace(found, host=(offset, offset + geometry.l2_entry_bytes))
    if found.structure is StructureKey.REFCOUNT_BLOCK:
        return replace(found, host=(offset, offset + max(1, geometry.refcount_bits // 8)))
    return found
