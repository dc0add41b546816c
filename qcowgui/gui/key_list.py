"""Every key of the window: of its commands, then of single views."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QKeySequence

from qcowgui.gui.formatters import Column, Row, Table
from qcowgui.gui.translation import without_mnemonic
from qcowgui.gui.views.inspector import COPY_KEY, NEXT_KEY, PREVIOUS_KEY

translate = QCoreApplication.translate


def key_table(actions: Sequence[QAction]) -> Table:
    """What each key does: the actions that have one, in their order, then the keys of the views."""
    rows = []
    for action in actions:
        # The others are the same on keyboards with keys of their own for it.
        key = _native(action.shortcut())
        if key:
            name = without_mnemonic(action.text())
            rows.append(Row((name, key.replace("Backtab", "Tab"))))
    rows += [Row(row) for row in _keys_of_views()]
    columns = Column(translate("keys", "Command"), wide=True), Column(translate("keys", "Keys"))
    return Table(columns, tuple(rows))


def _keys_of_views() -> list[tuple[str, str]]:
    step = f"{_native(PREVIOUS_KEY)}, {_native(NEXT_KEY)}"
    find = f"{_native(QKeySequence.StandardKey.Find)}, {_native('F3')}, {_native('Shift+F3')}"
    return [
        (translate("keys", "Inspector: previous or next entry"), step),
        (translate("keys", "Inspector: copy everything it says"), _native(COPY_KEY)),
        (translate("keys", "Map: zoom in or out"), translate("keys", "+, −")),
        (translate("keys", "Map: everything, or single cells"), translate("keys", "0, 1")),
        (
            translate("keys", "Map: next or previous of the selected state"),
            translate("keys", "N, P"),
        ),
        (translate("keys", "Map: move by a cell"), translate("keys", "Arrow keys")),
        (translate("keys", "Map: select a range"), translate("keys", "Shift+Arrow keys")),
        (
            translate("keys", "Legend: only this state, or hide it"),
            translate("keys", "Space, Delete"),
        ),
        (translate("keys", "Bytes: search, again, backwards"), find),
        (translate("keys", "Go to what a finding is about"), translate("keys", "Return")),
        (translate("keys", "Remove a recent file from the list"), translate("keys", "Delete")),
    ]


def _native(key: QKeySequence | QKeySequence.StandardKey | str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
