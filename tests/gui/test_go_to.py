"""What may be typed into "Go to", and the dialog that takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.errors import UsageError
from qcowgui.gui.dialogs.go_to import GoToDialog
from qcowgui.gui.go_to import Place, PlaceKind, parse_place
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.structures import StructureKey
from tests.gui.support import open_image

KIND = PlaceKind


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0x30000", Place(KIND.HOST, 0x30000)),
        ("  0X0001_4000_0000 ", Place(KIND.HOST, 0x1_4000_0000)),
        ("196608", Place(KIND.HOST, 196608)),
        ("1,048,576", Place(KIND.HOST, 1 << 20)),
        ("192k", Place(KIND.HOST, 196608)),
        ("1.5 MiB", Place(KIND.HOST, 3 << 19)),
        ("host: 0x200", Place(KIND.HOST, 0x200)),
        ("guest:5G", Place(KIND.GUEST, 5 << 30)),
        ("guest 0x10", Place(KIND.GUEST, 16)),
        ("guest cluster 7", Place(KIND.GUEST_CLUSTER, 7)),
        ("cluster #12", Place(KIND.CLUSTER, 12)),
        ("cluster 0x10", Place(KIND.CLUSTER, 16)),
        ("#81_920", Place(KIND.CLUSTER, 81920)),
        ("L1[3]", Place(KIND.L1, 3)),
        ("l1[ 0x3 ] / l2[17]", Place(KIND.L1, 3, 17)),
        ("L1[3]L2[17]", Place(KIND.L1, 3, 17)),
        ("L1[9] L2[512]", Place(KIND.L1, 9, 512)),
        ("refcount 5", Place(KIND.REFCOUNT, 5)),
        ("snapshot 1: L1[3]/L2[4]", Place(KIND.L1, 3, 4, 1)),
        ("snapshot #2 guest:64k", Place(KIND.GUEST, 65536, None, 2)),
        ("0xffff_ffff_ffff_ffff", Place(KIND.HOST, (1 << 64) - 1)),
    ],
)
def test_places(text: str, place: Place) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "somewhere",
        "0x",
        "-1",
        "L1[]",
        "L1[3",
        "L2[3]",
        "cluster 4k",
        "1.5",
        "guest:",
        "snapshot 1: cluster 3",
        "0x1_0000_0000_0000_0000",
        "9" * 5000,
        "1e400",
    ],
)
def test_nonsense_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_place(text)
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 200


@given(st.text(max_size=60))
def test_any_text_is_a_place_or_refused(text: str) -> None:
    try:
        place = parse_place(text)
    except UsageError:
        return
    assert 0 <= place.number < 1 << 64


def test_the_dialog_says_what_it_found_and_goes_there(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    window.actions_.go_to.trigger()
    (dialog,) = window.findChildren(GoToDialog)
    assert not dialog.button.isEnabled()
    QTest.keyClicks(dialog.field, "L1[0]/L2[3]")
    assert dialog.answer.text().startswith("L2 table of L1[0] [3] · ")
    qtbot.waitUntil(lambda: "host 0x" in dialog.answer.text())  # once the table has been read
    assert "guest 0x3_0000 (192 KiB)" in dialog.answer.text()
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    view = window.current_view()
    assert view is not None
    selection = view.session.selection
    assert (selection.structure, selection.part, selection.row) == (StructureKey.L2, 0, 3)


def test_the_dialog_says_why_there_is_no_such_place(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    window.actions_.go_to.trigger()
    (dialog,) = window.findChildren(GoToDialog)
    dialog.field.setText("L1[5]")
    assert dialog.answer.text() == "The table has 1 entry; there is no 5."
    assert not dialog.button.isEnabled()
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.field.setText("guest:1T")
    assert "disk ends at 0x10_0000" in dialog.answer.text()
    dialog.close()
