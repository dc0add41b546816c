"""The guest's disk beside something else: another image, a snapshot, a bitmap."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.gui.comparison import OverlayLoader, OverlayState
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.formatters import Tone
from qcowgui.gui.heatmap.canvas import MapCanvas
from qcowgui.gui.heatmap.layers import MapLayer, Shown
from qcowgui.gui.heatmap.painting import Mark
from qcowgui.gui.heatmap.side_panel import SidePanel
from qcowgui.gui.overlays import OverlayKind
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.placeholder import Placeholder
from qcowgui.units import format_offset

MAX_LISTED: Final = 1000
"""Snapshots and bitmaps in the list; a crafted image may have 65,535 of each."""
_SIDE_WIDTHS: Final = (760, 340)


@dataclass(frozen=True, slots=True)
class Subject:
    """What the guest's disk is held against.

    Attributes:
        kind: What kind of thing.
        index: Of a snapshot or a bitmap: its place in the report's list.
        path: Of another image: where it is; None: one that is still to be chosen.
    """

    kind: OverlayKind
    index: int = 0
    path: Path | None = None


class CompareView(QWidget):
    """Shows an overlay with its legend and its ranges; each cell selects its guest cluster.

    Signals:
        readout: What the status bar says of a cell.
    """

    readout = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self.loader = OverlayLoader(session, self)
        self._shown = Shown()
        self._listed: tuple[object, ...] = ()
        self.subjects = QComboBox()
        self.choose = QPushButton(self.tr("Choose image…"))
        self.stop = QPushButton(self.tr("Stop"))
        self.previous = QPushButton(self.tr("Previous"))
        self.next = QPushButton(self.tr("Next"))
        self.sentence = QLabel()
        self.banner = Banner(theme)
        self.canvas = MapCanvas(session.runner, theme)
        self.side = SidePanel(session.runner, theme)
        self.waiting = Placeholder("")
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._fill_subjects()
        self._paint()
        self._show_state()

    # ---------------------------------------------------------------- for the window

    def compare_with(self, path: Path) -> None:
        """Show where the image at `path` differs from this one."""
        self._add_image(path.absolute())
        self.loader.compare_with(path)

    def show_snapshot(self, index: int) -> None:
        """Show what only a snapshot holds; `index` is its place in the report's list."""
        self._point_at(Subject(OverlayKind.SNAPSHOT, index))
        self.loader.show_snapshot(index)

    def show_bitmap(self, index: int) -> None:
        """Show what a bitmap marks; `index` is its place in the report's list."""
        self._point_at(Subject(OverlayKind.BITMAP, index))
        self.loader.show_bitmap(index)

    def step(self, step: int) -> None:
        """Select the next difference (1) or the one before (-1)."""
        overlay = self.loader.overlay
        if overlay is None:
            return
        found = overlay.next_notable(self.canvas.current, step)
        if found is None:
            self.readout.emit(self.tr("No further difference in this direction."))
            return
        self._chosen(found)
        self.canvas.show_cluster(found)

    def choose_image(self) -> None:
        """Ask which image to compare with."""
        dialog = QFileDialog(self, self.tr("Compare with"), str(self._session.path.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(
            [self.tr("All files (*)"), self.tr("Disk images (*.qcow2 *.qcow *.img *.raw)")]
        )
        dialog.fileSelected.connect(lambda path: self.compare_with(Path(path)))
        dialog.open()

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.loader.abandon()
        self.canvas.stage.abandon()
        self.side.abandon()

    # ---------------------------------------------------------------- building

    def _build(self) -> None:
        label = QLabel(self.tr("Guest’s disk against"))
        label.setBuddy(self.subjects)
        self.subjects.setAccessibleName(self.tr("What the guest’s disk is compared with"))
        self.subjects.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.subjects.setMinimumContentsLength(24)
        self.previous.setToolTip(self.tr("The previous difference"))
        self.next.setToolTip(self.tr("The next difference"))
        self.canvas.setAccessibleName(self.tr("Map of the differences"))
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        tools = QHBoxLayout()
        tools.setSpacing(SPACING)
        for widget in (label, self.subjects, self.choose, self.stop):
            tools.addWidget(widget)
        tools.addStretch(1)
        tools.addWidget(self.previous)
        tools.addWidget(self.next)
        split = QSplitter(Qt.Orientation.Horizontal)
        self.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        split.addWidget(self.canvas)
        split.addWidget(self.side)
        split.setStretchFactor(0, 1)
        split.setSizes(list(_SIDE_WIDTHS))
        self._pages.addWidget(self.waiting)
        self._pages.addWidget(split)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, SPACING, 0, 0)
        layout.setSpacing(SPACING)
        layout.addLayout(tools)
        layout.addWidget(self.banner)
        layout.addWidget(self.sentence)
        layout.addWidget(self._pages, 1)

    def _connect(self) -> None:
        self.choose.clicked.connect(self.choose_image)
        self.stop.clicked.connect(self.loader.stop)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.subjects.activated.connect(self._subject_chosen)
        self.loader.changed.connect(self._show_state)
        self.loader.progressed.connect(self._show_progress)
        self.canvas.chosen.connect(self._chosen)
        self.canvas.range_chosen.connect(self._range_chosen)
        self.canvas.hovered.connect(self._hovered)
        self.canvas.step_requested.connect(self.step)
        self.side.shown_changed.connect(self._set_shown)
        self.side.range_chosen.connect(self._listed_chosen)
        self._session.changed.connect(self._session_changed)
        self._session.selection_changed.connect(self._follow)
        self._theme.changed.connect(self._paint)

    def _paint(self) -> None:
        self.previous.setIcon(self._theme.icon("previous"))
        self.next.setIcon(self._theme.icon("next"))

    # ---------------------------------------------------------------- what is compared with

    def _fill_subjects(self) -> None:
        """List the image's snapshots and bitmaps; another image is chosen by its name."""
        inspected = self._session.inspected
        snapshots = inspected.report.snapshots if inspected else ()
        bitmaps = inspected.report.bitmaps if inspected else ()
        listed = (
            *((item.name, item.id) for item in snapshots[:MAX_LISTED]),
            *((item.name, item.index) for item in bitmaps[:MAX_LISTED]),
        )
        if listed == self._listed and self.subjects.count():
            return
        self._listed = listed
        with QSignalBlocker(self.subjects):
            self.subjects.clear()
            self.subjects.addItem(self.tr("Another image…"), Subject(OverlayKind.IMAGE))
            for index, item in enumerate(snapshots[:MAX_LISTED]):
                text = self.tr("Snapshot “{name}”").format(name=item.name)
                self.subjects.addItem(text, Subject(OverlayKind.SNAPSHOT, index))
            for index, bitmap in enumerate(bitmaps[:MAX_LISTED]):
                text = self.tr("Bitmap “{name}”").format(name=bitmap.name)
                self.subjects.addItem(text, Subject(OverlayKind.BITMAP, index))

    def _add_image(self, path: Path) -> None:
        subject = Subject(OverlayKind.IMAGE, path=path)
        if self._row_of(subject) < 0:
            self.subjects.insertItem(1, path.name, subject)
            self.subjects.setItemData(1, str(path), Qt.ItemDataRole.ToolTipRole)
        self._point_at(subject)

    def _point_at(self, subject: Subject) -> None:
        with QSignalBlocker(self.subjects):
            self.subjects.setCurrentIndex(self._row_of(subject))

    def _row_of(self, subject: Subject) -> int:
        rows = range(self.subjects.count())
        return next((row for row in rows if self.subjects.itemData(row) == subject), -1)

    def _subject_chosen(self, row: int) -> None:
        subject = self.subjects.itemData(row)
        if not isinstance(subject, Subject):
            return
        if subject.kind is OverlayKind.SNAPSHOT:
            self.loader.show_snapshot(subject.index)
        elif subject.kind is OverlayKind.BITMAP:
            self.loader.show_bitmap(subject.index)
        elif subject.path is not None:
            self.loader.compare_with(subject.path)
        else:
            self.choose_image()

    def _session_changed(self) -> None:
        """Another state of the image: what was made of the old one may be wrong now."""
        if self._session.state is SessionState.LOADING:
            return
        self._fill_subjects()
        self.loader.clear()

    # ---------------------------------------------------------------- state

    def _show_state(self) -> None:
        loader = self.loader
        running = loader.state is OverlayState.RUNNING
        overlay = loader.overlay
        self._shown = Shown()
        self._show_layer(overlay.layer if overlay else None)
        self._pages.setCurrentIndex(0 if overlay is None else 1)
        self.stop.setVisible(running)
        self.sentence.setText(overlay.sentence if overlay else "")
        self.sentence.setVisible(overlay is not None)
        self.previous.setEnabled(overlay is not None)
        self.next.setEnabled(overlay is not None)
        self.waiting.bar.setVisible(running)
        self.waiting.label.setText(self._waiting_text())
        self._show_error()
        self._follow()

    def _waiting_text(self) -> str:
        match self.loader.state:
            case OverlayState.RUNNING:
                return self.tr("Comparing…")
            case OverlayState.CANCELLED:
                return self.tr("Stopped.")
            case OverlayState.FAILED:
                return ""
            case _:
                return self.tr(
                    "Choose another image, such as a repaired or converted copy, to see which"
                    " clusters a guest would read differently; or a snapshot or a bitmap of this"
                    " image, to see what it holds or marks."
                )

    def _show_progress(self) -> None:
        share = self.loader.progress
        if share is not None:
            self.waiting.label.setText(self.tr("Comparing… {share}").format(share=f"{share:.0%}"))

    def _show_error(self) -> None:
        error, refused = self.loader.error, self.loader.refused
        if error is None:
            self.banner.hide()
            return
        if refused:
            self.banner.say(
                self.tr("The comparison needs files that this image refers to"),
                error.message,
                tone=Tone.WARNING,
            )
            self.banner.add_button(self.tr("Allow…"), self.ask_to_allow)
        else:
            self.banner.say(
                self.tr("This can’t be compared"),
                "\n".join(filter(None, (error.message, error.hint))),
                tone=Tone.DANGER,
            )

    def ask_to_allow(self) -> AllowBox:
        """Ask whether the files that were refused may be read, then compare again."""
        box = AllowBox(self.loader.refused, self)
        box.allowed.connect(self._allowed)
        box.open()
        return box

    def _allowed(self, paths: list[Path]) -> None:
        self._session.permissions.allow(paths)
        self.loader.compare_again()

    # ---------------------------------------------------------------- the map

    def _show_layer(self, layer: MapLayer | None) -> None:
        self.canvas.stage.set_layer(layer, self._shown)
        self.side.show_layer(layer, self._shown)

    def _set_shown(self, shown: Shown) -> None:
        self._shown = shown
        self.canvas.stage.set_layer(self.canvas.layer, shown)

    def _chosen(self, cell: int) -> None:
        layer, locator = self.canvas.layer, self._session.locator
        if layer is None or locator is None or locator.geometry is None:
            return
        # A cell may stand for several clusters, where there are very many.
        cluster = cell * layer.cluster_bytes // locator.geometry.cluster_bytes
        self._session.select(locator.at_entry(StructureKey.GUEST, None, cluster))
        self.canvas.set_selected(Mark(cell, cell + 1))
        self.readout.emit(self._text(cell))

    def _range_chosen(self, first: int, last: int) -> None:
        layer = self.canvas.layer
        if layer is None:
            return
        size = layer.cluster_bytes
        span = first * size, min(last * size, layer.end_bytes)
        self._session.select(Selection(StructureKey.GUEST, guest=span))
        self.canvas.set_selected(Mark(first, last))

    def _listed_chosen(self, first: int, last: int) -> None:
        if last - first == 1:
            self._chosen(first)
        else:
            self._range_chosen(first, last)
        self.canvas.show_cluster(first)

    def _follow(self) -> None:
        """Point out what is selected, when it is a place on the guest's disk."""
        layer, guest = self.canvas.layer, self._session.selection.guest
        if layer is None:
            return
        if guest is None:
            self.canvas.set_selected(None)
            return
        first = guest[0] // layer.cluster_bytes
        last = max(first + 1, -(-guest[1] // layer.cluster_bytes))
        self.canvas.set_selected(Mark(first, last))
        self.side.show_cluster(first)

    def _hovered(self, cell: int | None) -> None:
        self.readout.emit("" if cell is None else self._text(cell))

    def _text(self, cell: int) -> str:
        layer = self.canvas.layer
        key = None if layer is None else layer.key(layer.value_of(cell))
        if layer is None or key is None:
            return ""
        offset = format_offset(cell * layer.cluster_bytes)
        return f"{self.tr('guest')} {offset} · {key.name} · {key.meaning}"
