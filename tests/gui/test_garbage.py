"""The collector of cycles in the window's thread."""

from __future__ import annotations

import gc

from pytestqt.qtbot import QtBot

from qcowgui.gui.garbage import GuiThreadCollector


class Node:
    """Something that refers to itself."""

    def __init__(self) -> None:
        self.me = self


def test_what_is_there_at_the_start_is_left_alone_until_the_end(qtbot: QtBot) -> None:
    before = gc.get_freeze_count()
    collector = GuiThreadCollector()
    collector.start()
    try:
        assert gc.get_freeze_count() > before
        assert not gc.isenabled()
        Node()
        assert any(isinstance(found, Node) for found in gc.get_objects())
        gc.collect()
        assert not any(isinstance(found, Node) for found in gc.get_objects())
    finally:
        collector.stop()
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
    qtbot.wait(1)
