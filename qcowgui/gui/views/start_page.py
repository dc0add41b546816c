"""What the window shows before an image is open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.samples import Sample
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import SPACING, Theme, scaled_font

_PATH_ROLE = Qt.ItemDataRole.UserRole
_WIDTH = 620


class RecentFiles(QListWidget):
    """The recent files by name and folder. Whether they still exist, opening them tells.

    Signals:
        chosen: A file was double-clicked, or Enter pressed on it: its path.
    """

    chosen = Signal(str)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setAccessibleName(self.tr("Recent files"))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.itemDoubleClicked.connect(self._choose)
        settings.recent_files_changed.connect(self._fill)
        self._fill()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter, forget with Delete."""
        item = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            self._choose(item)
        elif event.key() == Qt.Key.Key_Delete and item is not None:
            self._settings.remove_recent_file(item.data(_PATH_ROLE))
        else:
            super().keyPressEvent(event)

    def _fill(self) -> None:
        self.clear()
        for text in self._settings.recent_files:
            path = Path(text)
            item = QListWidgetItem(f"{path.name}   —   {path.parent}")
            item.setData(_PATH_ROLE, text)
            item.setToolTip(text)
            self.addItem(item)

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(_PATH_ROLE))

    def _show_menu(self, position: QPoint) -> None:
        item = self.itemAt(position)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if item is not None:
            path = item.data(_PATH_ROLE)
            menu.addAction(self.tr("Open"), lambda: self.chosen.emit(path))
            menu.addAction(
                self.tr("Remove from list"), lambda: self._settings.remove_recent_file(path)
            )
        menu.addAction(self.tr("Clear list"), self._settings.clear_recent_files)
        menu.popup(self.viewport().mapToGlobal(position))


class StartPage(QWidget):
    """A place to drop files on, the two things one can do, and the recent files.

    Signals:
        open_requested, convert_requested: The button was clicked.
        file_chosen: A recent file was chosen: its path.
        sample_requested: A sample was asked for: a `Sample`.
    """

    open_requested = Signal()
    convert_requested = Signal()
    file_chosen = Signal(str)
    sample_requested = Signal(object)

    def __init__(self, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings = settings
        self._icon = QLabel()
        self._target = self._make_target()
        self.samples: dict[Sample, QPushButton] = {}
        self._samples_title = QLabel(self.tr("No image at hand? Try a sample:"))
        self._samples_title.setProperty("muted", True)
        self._samples_title.setWordWrap(True)
        self._recent_title = QLabel(self.tr("Recent files"))
        self._recent_title.setProperty("muted", True)
        self._recent = RecentFiles(settings)
        self._recent.chosen.connect(self.file_chosen)
        column = QVBoxLayout()
        column.setSpacing(SPACING)
        column.addStretch(1)
        column.addWidget(self._target, 3)
        column.addLayout(self._make_samples())
        column.addSpacing(SPACING * 2)
        column.addWidget(self._recent_title)
        column.addWidget(self._recent, 2)
        column.addStretch(1)
        middle = QWidget()
        middle.setLayout(column)
        middle.setMaximumWidth(_WIDTH)
        layout = QHBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(middle, 6)
        layout.addStretch(1)
        theme.changed.connect(self._paint)
        settings.recent_files_changed.connect(self._show_recent)
        self._paint()
        self._show_recent()

    def set_samples_busy(self, busy: bool) -> None:
        """Show whether the samples are being made."""
        for button in self.samples.values():
            button.setEnabled(not busy)
        self._samples_title.setText(
            self.tr("Making the samples…") if busy else self.tr("No image at hand? Try a sample:")
        )

    def _make_samples(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACING)
        row.addStretch(1)
        row.addWidget(self._samples_title)
        for sample, text in (
            (Sample.HEALTHY, self.tr("Healthy")),
            (Sample.COMPRESSED, self.tr("Compressed")),
            (Sample.DAMAGED, self.tr("Damaged")),
        ):
            button = QPushButton(text)
            button.setProperty("flat", True)
            button.setAccessibleName(self.tr("Try a sample: {name}").format(name=text))
            button.clicked.connect(lambda _=False, found=sample: self.sample_requested.emit(found))
            self.samples[sample] = button
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _make_target(self) -> QFrame:
        target = QFrame()
        target.setProperty("dropTarget", True)
        target.setMinimumHeight(260)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = QLabel(self.tr("Drop disk images here"))
        title.setFont(scaled_font(1.6, bold=True))
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text = QLabel(
            self.tr(
                "See what is inside a qcow2 image, or convert it.\n"
                "Files are opened for reading only; nothing is changed."
            )
        )
        text.setProperty("muted", True)
        text.setWordWrap(True)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        open_button = QPushButton(self.tr("Open…"))
        open_button.setProperty("primary", True)
        open_button.clicked.connect(self.open_requested)
        convert_button = QPushButton(self.tr("Convert…"))
        convert_button.clicked.connect(self.convert_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACING)
        buttons.addStretch(1)
        buttons.addWidget(open_button)
        buttons.addWidget(convert_button)
        buttons.addStretch(1)
        layout = QVBoxLayout(target)
        layout.setContentsMargins(*[SPACING * 3] * 4)
        layout.setSpacing(SPACING)
        layout.addStretch(1)
        layout.addWidget(self._icon)
        layout.addWidget(title)
        layout.addWidget(text)
        layout.addSpacing(SPACING)
        layout.addLayout(buttons)
        layout.addStretch(1)
        return target

    def _paint(self) -> None:
        icon = self._theme.icon("drop", self._theme.colours.accent)
        self._icon.setPixmap(icon.pixmap(QSize(56, 56)))

    def _show_recent(self) -> None:
        some = bool(self._settings.recent_files)
        self._recent.setVisible(some)
        self._recent_title.setVisible(some)
