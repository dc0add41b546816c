"""Pictures of every view, light and dark, drawn without a display.

    python -m tests.screenshots FOLDER [NAME…]

They are for the eye of whoever changes a view, and for the README. Those that are kept:

    python -m tests.screenshots resources/screenshots window-light window-dark convert-dark \
        both-orders-light l2-and-bytes-light damaged-dark queue-light forecast-dark
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final, Literal

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.app import Application, describe_application
from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.forecast_panel import ForecastState
from qcowgui.gui.heatmap.layers import Order
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.selection import Selection
from qcowgui.gui.settings import ColourScheme, Settings
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.image_view import ImageView
from tests.support.base_images import pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES

SIZE = QSize(1280, 800)
_COLOURS = 256
_QUEUE_HEIGHT: Final = 330
_HALF: Final = 0.45
_QUIET_SECONDS: Final = 0.3
_SHOWN_FOLDER: Final = "/srv/images"
"""Stands in the pictures where the images really are in a temporary folder."""


class Studio:
    """Makes the images and the windows, and takes the pictures."""

    def __init__(self, app: QApplication, images: Path, dark: bool) -> None:
        self.app = app
        self.images = images
        self.settings = Settings(remember=False)
        self.settings.colour_scheme = ColourScheme.DARK if dark else ColourScheme.LIGHT
        self.theme = Theme(app, self.settings)

    def window(self, *names: str) -> MainWindow:
        """A window with some of the images opened."""
        window = MainWindow(self.theme, self.settings)
        window.resize(SIZE)
        self.show(window)
        window.open_paths(self.images / name for name in names)
        self.wait_while(lambda: window.loader.active)
        return window

    def show(self, widget: QWidget) -> QWidget:
        """Lay a widget out and let it settle, without a place on a screen."""
        widget.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        widget.show()
        self.app.processEvents()
        return widget

    def wait_while(self, condition: Callable[[], bool]) -> None:
        """Let events run as long as `condition` holds."""
        while condition():
            self.app.processEvents()
        self.app.processEvents()

    def views(self) -> Iterator[tuple[str, QWidget]]:
        """Each view with its name; it may be closed after the next one was asked for."""
        yield "start", self.window()
        yield "window", self.window("web-server.qcow2")
        yield "rich", self.window("windows-server.qcow2")
        yield from self._structures()
        yield "damaged", self.window("damaged.qcow2")
        yield "not-qcow2", self.window("disk.vmdk")
        yield from self._dialogs()
        yield "conversions", self._conversions()
        window = self._queue()
        yield "queue", window
        window.controller.cancel_all()
        self.wait_while(lambda: window.controller.active)

    def _structures(self) -> Iterator[tuple[str, QWidget]]:
        for key in (StructureKey.FEATURES, StructureKey.EXTENSIONS, StructureKey.SNAPSHOTS):
            window = self.window("windows-server.qcow2")
            view = window.current_view()
            assert view is not None
            view.session.select(Selection(key, 0))
            view.show_table()
            self.app.processEvents()
            yield key.value, window
        yield from self._places()

    def _places(self) -> Iterator[tuple[str, QWidget]]:
        """The other pages of a tab, and the bytes."""
        window, view = self._opened("windows-server.qcow2")
        view.session.select(Selection(StructureKey.L2, 9, part=0))
        view.show_table()
        window.docks.raise_dock(window.docks.hex)
        self.settle(window)
        yield "l2-and-bytes", window
        window, view = self._opened("web-server.qcow2")
        view.map.show_orders(Order.HOST, Order.GUEST)
        view.session.select(Selection(StructureKey.GUEST, 3))
        self.settle(window)
        yield "both-orders", window
        window, view = self._opened("web-server.qcow2")
        view.show_compare().show_snapshot(0)
        self.settle(window)
        yield "compare", window
        window, view = self._opened("windows-server.qcow2")
        view.centre.setCurrentWidget(view.chain)
        self.settle(window)
        yield "chain", window

    def _opened(self, name: str) -> tuple[MainWindow, ImageView]:
        window = self.window(name)
        view = window.current_view()
        assert view is not None
        return window, view

    def settle(self, window: MainWindow) -> None:
        """Let what was asked for come, and what that asks for in turn."""
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < _QUIET_SECONDS:
            self.app.processEvents()
            if window.loader.active:
                quiet_since = time.monotonic()

    def _dialogs(self) -> Iterator[tuple[str, QWidget]]:
        yield "convert", self._form("web-server.qcow2")
        form = self._form("web-server.qcow2")
        form.forecast.start_button.click()
        self.wait_while(lambda: form.forecast.state is ForecastState.RUNNING)
        self.settle_form(form)
        yield "forecast", form
        yield "convert-more", self._form("web-server.qcow2", "windows-server.qcow2", more=True)
        form = self._form("windows-server.qcow2", more=True)
        form.fields.compat.setCurrentIndex(1)
        self.settle_form(form)
        yield "convert-error", form
        window, view = self._opened("windows-server.qcow2")
        assert view.session.inspected is not None
        references = [state.reference for state in view.session.inspected.references]
        yield "allow", self.show(AllowBox(references, window))
        yield "keyboard", self.show(KeyboardDialog(window.actions_.all(), self.theme, window))
        yield "about", self.show(AboutDialog(self.app.windowIcon(), window))

    def _form(self, *names: str, more: bool = False) -> ConvertDialog:
        """The form for images, which begins with the preset for the smallest file."""
        window = self.window()
        form = window.queue.form([self.images / name for name in names], preset="smallest")
        form.forecast.stopped = True  # a picture of the form alone has none, however quick it is
        self.show(form)
        form.column.more_button.setChecked(more)
        self.settle_form(form)
        return form

    def settle_form(self, form: ConvertDialog) -> None:
        """Let come what the form wants to know."""
        self.app.processEvents()
        self.wait_while(lambda: form.scout.busy)

    def _queue(self) -> MainWindow:
        """A queue at work on the image that is open, whose map fills."""
        window, view = self._opened("mail-server.qcow2")
        view.map.show_orders(Order.HOST, Order.GUEST)
        queue, source = window.controller, self.images / "mail-server.qcow2"
        queue.start(self._packed(source, "mail-server-zstd.qcow2", "zstd", 1))
        self.wait_while(lambda: queue.active)
        running = queue.start(self._packed(source, "mail-server-zlib.qcow2", "zlib", 12))
        queue.start(self._packed(source, "mail-server-small.qcow2", "zstd", 19))
        window.docks.raise_dock(window.docks.conversions)
        window.resizeDocks([window.docks.conversions], [_QUEUE_HEIGHT], Qt.Orientation.Vertical)
        self.wait_while(lambda: running.fraction < _HALF and not running.state.ended)
        window.resize(SIZE)
        self.app.processEvents()
        return window

    def _packed(
        self, source: Path, name: str, compression: Literal["zlib", "zstd"], level: int
    ) -> ConvertOptions:
        return ConvertOptions(
            source,
            self.images / name,
            "qcow2",
            compression=compression,
            level=level,
            overwrite=True,
        )

    def _conversions(self) -> MainWindow:
        window = self.window("data.qcow2")
        window.queue.start(self._packed(self.images / "data.qcow2", "data-zstd.qcow2", "zstd", 3))
        window.queue.start(
            self._packed(self.images / "windows-server.qcow2", "windows-zlib.qcow2", "zlib", 6)
        )
        self.wait_while(lambda: window.controller.active)
        return window


def make_real_image(path: Path) -> None:
    """An image as QEMU writes it: a file system, packed, then frozen and written to."""
    disk = path.with_suffix(".ext4")
    files = Path(sysconfig.get_path("stdlib")) / "lib-dynload"
    commands = (
        ["mke2fs", "-q", "-F", "-t", "ext4", "-d", f"{files}", f"{disk}", "48M"],
        ["qemu-img", "convert", "-c", "-O", "qcow2", f"{disk}", f"{path}"],
        ["qemu-img", "snapshot", "-c", "before-upgrade", f"{path}"],
        ["qemu-img", "bitmap", "--add", "--enable", f"{path}", "backup-0"],
        ["qemu-io", "-f", "qcow2", "-c", "write -q -P 7 8M 3M", f"{path}"],
        ["qemu-img", "snapshot", "-c", "after-upgrade", f"{path}"],
    )
    for command in commands:
        subprocess.run(command, check=True)
    disk.unlink()


def make_images(folder: Path) -> None:
    """The images that the views show."""
    make_real_image(folder / "web-server.qcow2")
    builder = ImageBuilder(size=256 << 20)
    for seed, start in enumerate(range(0, builder.size, 8 << 20)):
        builder.write(start, text(5 << 20, seed) + pattern(1 << 20, seed))
    builder.build().write_to(folder / "mail-server.qcow2")
    image = rich()
    image.write_to(folder / "windows-server.qcow2")
    DAMAGES["feature_incompatible_40"].apply(
        DAMAGES["header_snapshots_unaligned"].apply(DAMAGES["feature_corrupt"].apply(image))
    ).write_to(folder / "damaged.qcow2")
    builder = ImageBuilder(size=64 << 20)
    builder.write(0, pattern(24 << 20))
    builder.build().write_to(folder / "data.qcow2")
    (folder / "disk.vmdk").write_bytes(b"KDMV" + (1).to_bytes(4, "little") + bytes(1 << 16))


def palette(image: QImage) -> list[int]:
    """The 256 colours that tell most of an RGB32 picture.

    The most frequent one, then again and again the one whose pixels are furthest from all chosen:
    the few pixels of a red word count for more than the many shades of grey around black letters.
    """
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32)
    colours, counts = np.unique(pixels, return_counts=True)
    channels = (colours[:, None] >> np.array([16, 8, 0], dtype=np.uint32) & 0xFF).astype(np.float64)
    chosen = [int(np.argmax(counts))]
    distances = np.full(len(colours), np.inf)
    while len(chosen) < min(_COLOURS, len(colours)):
        difference = channels - channels[chosen[-1]]
        distances = np.minimum(distances, (difference**2).sum(axis=1))
        chosen.append(int(np.argmax(distances * np.sqrt(counts))))
    return [int(colour) for colour in colours[chosen]]


def save(widget: QWidget, path: Path) -> None:
    """Write a picture in 256 colours, which look like all and make a third of the file."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    flags = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
    indexed = image.convertToFormat(QImage.Format.Format_Indexed8, palette(image), flags)
    if not indexed.save(str(path), quality=0):  # of a PNG, 0 is the smallest, not the worst
        raise OSError(f"{path} can't be written")


def hide_folder(widget: QWidget, folder: str) -> None:
    """Let the texts of a widget name a usual place in place of `folder`."""
    shown: list[QLabel | QLineEdit] = [
        *widget.findChildren(QLabel),
        *widget.findChildren(QLineEdit),
    ]
    for label in shown:
        if folder in label.text():
            with QSignalBlocker(label):
                label.setText(label.text().replace(folder, _SHOWN_FOLDER))


def main(folder: Path, names: Collection[str]) -> None:
    """Take every picture, or those called `names`."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.absolute()
    app = Application(["qcowgui"])
    describe_application(app)
    left = set(names)
    with tempfile.TemporaryDirectory() as images, contextlib.chdir(images):
        make_images(Path(images))
        for tone, dark in (("light", False), ("dark", True)):
            studio = Studio(app, Path(images), dark)
            for view, widget in studio.views():
                name = f"{view}-{tone}"
                if not names or name in names:
                    left.discard(name)
                    hide_folder(widget, images)
                    save(widget, folder / f"{name}.png")
                    print(folder / f"{name}.png")
            app.closeAllWindows()
            app.processEvents()
    if left:
        sys.exit(f"no such picture: {', '.join(sorted(left))}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tests.screenshots FOLDER [NAME…]")
    main(Path(sys.argv[1]), sys.argv[2:])
