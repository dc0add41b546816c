"""A selection in one line: what it is, where it lies, what it stands for. Knows no widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from qcowgui.gui.locator import Locator
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey, entry_table_title
from qcowgui.units import format_offset, format_size

translate = QCoreApplication.translate


def place_text(selection: Selection, locator: Locator) -> str:
    """`selection` in one line; for the status bar, the log and "Go to"."""
    parts = [_what(selection, locator)]
    if selection.host is not None:
        parts.append(translate("places", "host {range}").format(range=range_text(selection.host)))
    if selection.guest is not None:
        start = selection.guest[0]
        text = translate("places", "guest {offset} ({size})")
        parts.append(text.format(offset=format_offset(start), size=format_size(start)))
    if selection.structure is StructureKey.CLUSTER:
        entry = locator.entry_of(selection)
        if entry is not None and entry.structure is StructureKey.L2:
            parts.append(f"L1[{entry.part}] L2[{entry.row}]")
    return " · ".join(parts)


def range_text(bounds: tuple[int, int]) -> str:
    """The bytes [start, end) for reading, the last one included."""
    start, end = bounds
    if end - start <= 1:
        return format_offset(start)
    return f"{format_offset(start)}…{format_offset(end - 1)}"


def _what(selection: Selection, locator: Locator) -> str:
    row = selection.row
    if selection.structure is StructureKey.CLUSTER:
        if row is None:
            return translate("places", "bytes of the file")
        return translate("places", "cluster {index}").format(index=f"{row:,}")
    if selection.structure is StructureKey.GUEST:
        text = translate("places", "guest cluster {index}")
        return text.format(index="?" if row is None else f"{row:,}")
    if selection.structure.is_entry_table:
        title = entry_table_title(selection, locator.report)
        return title if row is None else f"{title} [{row:,}]"
    structure = locator.structure(selection.structure)
    title = structure.title if structure else selection.structure.value
    if structure is None or row is None or not 0 <= row < len(structure.table.rows):
        return title
    return f"{title} · {structure.table.rows[row].cells[0].strip()}"
