"""Pictures of every view, light and dark, drawn without a display.

    python -m tests.screenshots FOLDER

They are for the eye of whoever changes a view, and for the README.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QWidget

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.app import Application, describe_application
from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.settings import ColourScheme, Settings
from qcowgui.gui.structures import Selection, StructureKey
from qcowgui.gui.theme import Theme
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES

SIZE = QSize(1280, 800)


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
        yield "image", self.window("windows-server.qcow2")
        yield from self._structures()
        yield "damaged", self.window("damaged.qcow2")
        yield "not-qcow2", self.window("disk.vmdk")
        yield from self._dialogs()
        yield "conversions", self._conversions()

    def _structures(self) -> Iterator[tuple[str, QWidget]]:
        for key in (StructureKey.FEATURES, StructureKey.EXTENSIONS, StructureKey.SNAPSHOTS):
            window = self.window("windows-server.qcow2")
            view = window.current_view()
            assert view is not None
            view.session.select(Selection(key, 0))
            self.app.processEvents()
            yield key.value, window

    def _dialogs(self) -> Iterator[tuple[str, QWidget]]:
        window = self.window("windows-server.qcow2")
        dialog = window.convert_dialog()
        yield "convert-raw", self.show(dialog)
        dialog.fields.choose("qcow2", "zstd")
        dialog.fields.more_button.setChecked(True)
        dialog.fields.compat.setCurrentIndex(1)
        yield "convert-error", self.show(dialog)
        view = window.current_view()
        assert view is not None
        assert view.session.inspected is not None
        references = [state.reference for state in view.session.inspected.references]
        yield "allow", self.show(AllowBox(references, window))
        yield "keyboard", self.show(KeyboardDialog(window.actions_.all(), self.theme, window))
        yield "about", self.show(AboutDialog(self.app.windowIcon(), window))

    def _conversions(self) -> MainWindow:
        window = self.window("data.qcow2")
        for source, target, compression in (
            ("data.qcow2", "data-zstd.qcow2", "zstd"),
            ("windows-server.qcow2", "windows-server-zlib.qcow2", "zlib"),
        ):
            options = ConvertOptions(
                self.images / source,
                self.images / target,
                "qcow2",
                compression="zstd" if compression == "zstd" else "zlib",
                overwrite=True,
            )
            window._start_conversion(options, [])
        self.wait_while(lambda: window.controller.active)
        return window


def make_images(folder: Path) -> None:
    """The images that the views show."""
    image = rich()
    image.write_to(folder / "windows-server.qcow2")
    DAMAGES["feature_incompatible_40"].apply(
        DAMAGES["header_snapshots_unaligned"].apply(DAMAGES["feature_corrupt"].apply(image))
    ).write_to(folder / "damaged.qcow2")
    builder = ImageBuilder(size=64 << 20)
    builder.write(0, pattern(24 << 20))
    builder.build().write_to(folder / "data.qcow2")
    (folder / "disk.vmdk").write_bytes(b"KDMV" + (1).to_bytes(4, "little") + bytes(1 << 16))


def main(folder: Path) -> None:
    """Take every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    app = Application(["qcowgui"])
    describe_application(app)
    with tempfile.TemporaryDirectory() as images:
        make_images(Path(images))
        for dark in (False, True):
            studio = Studio(app, Path(images), dark)
            for name, widget in studio.views():
                path = folder / f"{name}-{'dark' if dark else 'light'}.png"
                widget.grab().save(str(path))
                print(path)
            app.closeAllWindows()
            app.processEvents()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.screenshots FOLDER")
    main(Path(sys.argv[1]))
