"""Fixtures of the window's tests: images, a theme, a window that ends with its test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.garbage import GuiThreadCollector
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from tests.gui.support import slow_source
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder


@pytest.fixture(autouse=True)
def collector(qapp: QApplication) -> Iterator[None]:  # noqa: ARG001  whose timer it needs
    """Garbage is collected as in the application: a worker's thread must not delete widgets."""
    made = GuiThreadCollector()
    made.start()
    yield
    made.stop()


@pytest.fixture
def settings(qapp: QApplication) -> Settings:  # noqa: ARG001  which isolates them
    """Settings in a folder that belongs to this test."""
    return Settings()


@pytest.fixture
def theme(qapp: QApplication, settings: Settings) -> Theme:
    """The light theme, as no system says anything else here."""
    return Theme(qapp, settings)


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, settings: Settings) -> Iterator[MainWindow]:
    """A window that is shown; whatever runs in it is cancelled at the end."""
    made = MainWindow(theme, settings)
    # Not qtbot's: it would delete the window of a failed test while a conversion runs in it.
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    made.show()
    yield made
    made.controller.cancel_all()
    qtbot.waitUntil(lambda: not made.controller.active and not made.loader.active)
    made.close()
    made.deleteLater()


@pytest.fixture
def rich_image(tmp_path: Path) -> Path:
    """An image with snapshots, bitmaps, extensions and a backing file (which is there)."""
    (tmp_path / "base.raw").write_bytes(pattern(1 << 20, seed=9))
    return rich().write_to(tmp_path / "rich.qcow2")


@pytest.fixture
def data_image(tmp_path: Path) -> Path:
    """Half a MiB of data, in an image that needs no other file."""
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 19))
    return builder.build().write_to(tmp_path / "data.qcow2")


@pytest.fixture
def slow_options(tmp_path: Path) -> ConvertOptions:
    """A conversion that takes seconds."""
    source = slow_source(tmp_path)
    return ConvertOptions(source, tmp_path / "slow.qcow2", "qcow2", compression="zlib", level=6)
