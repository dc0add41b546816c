"""A row of the queue: one conversion, what it is doing, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QMimeData, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QDesktopServices, QDrag, QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.job import Phase
from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.formatters import Tone
from qcowgui.gui.jobs import Job, JobController, JobState
from qcowgui.gui.queue_text import losses_text, qcowgui_text, qemu_text, status_text
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.summary import ElidedLabel

_BAR_STEPS: Final = 1000
_BAR_SHARES: Final = {Phase.CONVERTING: 3, Phase.VERIFYING: 1}
_ICON_SIZE: Final = QSize(20, 20)
_STATE_ICONS: Final = {
    JobState.WAITING: ("waiting", Tone.MUTED),
    JobState.RUNNING: ("running", Tone.NOTE),
    JobState.PAUSED: ("paused", Tone.WARNING),
    JobState.CANCELLING: ("running", Tone.MUTED),
    JobState.DONE: ("good", Tone.NOTE),
    JobState.CANCELLED: ("cancelled", Tone.MUTED),
    JobState.FAILED: ("danger", Tone.DANGER),
    JobState.INTERRUPTED: ("interrupted", Tone.WARNING),
}
_MOVES: Final = {"up": -1, "down": 1}


class _Buttons(dict[str, QPushButton]):
    """The buttons by their keys, each made when it is asked for: most rows never show most."""

    def __init__(self, make: Callable[[str], QPushButton]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: str) -> QPushButton:
        button = self[key] = self._make(key)
        return button


class JobRow(QFrame):
    """One job.

    Signals:
        open_requested: "Inspect result" was clicked: the target's path.
        allow_requested: "Allow…" was clicked: a person is ready to decide about referenced files.
        edit_requested: "Settings…" was clicked on a Job that waits.
    """

    open_requested = Signal(str)
    allow_requested = Signal(object)
    edit_requested = Signal(object)

    def __init__(
        self, job: Job, controller: JobController, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.job = job
        self._controller = controller
        self._theme = theme
        self._shown: tuple[JobState, ConvertOptions] | None = None
        self._pressed: QPoint | None = None
        self.setProperty("card", True)
        self._icon = QLabel()
        self._name = ElidedLabel()
        self._name.setFont(scaled_font(1.0, bold=True))
        self.bar = _bar(self.tr("Progress of converting"))
        self.verify_bar = _bar(self.tr("Progress of verifying"))
        self.status = QLabel()
        self.status.setWordWrap(True)
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self._button_row = QHBoxLayout()
        self._button_row.setSpacing(SPACING - 2)
        self._commands = self._all_commands()
        self.buttons: dict[str, QPushButton] = _Buttons(self._make_button)
        self.more = QPushButton()
        self.more.setAccessibleName(self.tr("More about this conversion"))
        self.more.setToolTip(self.more.accessibleName())
        self.more.setProperty("flat", True)
        self.more.clicked.connect(self._show_menu_below)
        self._lay_out()
        theme.changed.connect(self._paint)
        self.refresh()

    # ---------------------------------------------------------------- showing

    def refresh(self) -> None:
        """Show the job as it is now."""
        job = self.job
        text = status_text(job)
        if (job.state, job.options) != self._shown:
            self._shown = job.state, job.options
            self._show_names()
            self._show_buttons()
            self._paint()
            self._bars.setVisible(not job.state.ended)
            self.verify_bar.setVisible(job.options.verify)
            failed = job.state is JobState.FAILED
            self.status.setProperty("muted", not failed)
            # Elsewhere in a row, pressing and moving drags the finished file.
            interaction = Qt.TextInteractionFlag
            self.status.setTextInteractionFlags(
                interaction.TextSelectableByMouse if failed else interaction.NoTextInteraction
            )
            self.status.style().unpolish(self.status)
            self.status.style().polish(self.status)
            self.setAccessibleName(f"{self._name.text()}: {text}")
        self._show_bars()
        self.status.setText(text)

    def refresh_moves(self) -> None:
        """Offer to move the row where there is something to move it past."""
        if self.job.state is JobState.WAITING:
            for key, step in _MOVES.items():
                self.buttons[key].setEnabled(self._controller.can_move(self.job, step))

    def chain_focus(self, previous: QWidget | None = None) -> QWidget:
        """Let the Tab key go through the row from left to right.

        Args:
            previous: From where it comes here; None: from where it did.

        Returns:
            From where it leaves the row.
        """
        # Buttons are made when they are needed, which is no order for the keyboard.
        made = [self.buttons[key] for key in self._commands if key in self.buttons]
        for widget in (*made, self.more):
            if previous is not None:
                QWidget.setTabOrder(previous, widget)
            previous = widget
        return self.more

    def _show_names(self) -> None:
        options = self.job.options
        self._name.setText(f"{options.source.name}  →  {options.target.name}")
        text = f"{options.source}\n→ {options.target}"
        if self.job.state is JobState.DONE:
            text += "\n" + self.tr("Drag the file out of here to wherever it is wanted.")
        self._name.setToolTip(text)
        self.setCursor(
            Qt.CursorShape.OpenHandCursor
            if self.job.state is JobState.DONE
            else Qt.CursorShape.ArrowCursor
        )

    def _show_bars(self) -> None:
        job = self.job
        phase = job.progress.phase if job.progress is not None else Phase.PREPARING
        fraction = job.meter.fraction
        unknown = job.state is JobState.RUNNING and fraction is None
        self.bar.setRange(0, 0 if unknown else _BAR_STEPS)
        converted = phase in (Phase.VERIFYING, Phase.FINISHING)
        part = 1.0 if converted else fraction or 0.0
        self.bar.setValue(round(part * _BAR_STEPS))
        verified = (fraction or 0.0) if phase is Phase.VERIFYING else phase is Phase.FINISHING
        self.verify_bar.setValue(round(verified * _BAR_STEPS))

    def _show_buttons(self) -> None:
        job = self.job
        shown = {
            JobState.WAITING: ["up", "down", "edit", "cancel"],
            JobState.RUNNING: ["pause", "cancel"],
            JobState.PAUSED: ["resume", "cancel"],
            JobState.CANCELLING: ["cancel"],
            JobState.DONE: ["open", "folder", "remove"],
            JobState.CANCELLED: ["retry", "remove"],
            JobState.FAILED: ["retry", "copy", "remove"],
            JobState.INTERRUPTED: ["continue", "edit", "remove"],
        }[job.state]
        if any(reference.path is not None for reference in job.refused):
            shown[0] = "allow"
        if job.may_salvage:
            shown.insert(0, "salvage")
        if job.result is not None and job.result.losses:
            shown.insert(2, "losses")
        if job.options.target_format != "qcow2" and "open" in shown:
            shown.remove("open")
        for key in shown:
            self.buttons[key]  # which makes it
        for key, button in self.buttons.items():
            button.setVisible(key in shown)
        if "cancel" in self.buttons:
            self.buttons["cancel"].setEnabled(job.state is not JobState.CANCELLING)
        self.chain_focus()
        self.refresh_moves()

    def _paint(self) -> None:
        name, tone = _STATE_ICONS[self.job.state]
        icon = self._theme.icon(name, self._theme.tone_colour(tone))
        self._icon.setPixmap(icon.pixmap(_ICON_SIZE))
        self.more.setIcon(self._theme.icon("more"))
        for key, icon_name in (("up", "previous"), ("down", "next")):
            if key in self.buttons:
                self.buttons[key].setIcon(self._theme.icon(icon_name))

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        self._bars = QWidget()
        bars = QHBoxLayout(self._bars)
        bars.setContentsMargins(0, 0, 0, 0)
        bars.setSpacing(SPACING // 2)
        bars.addWidget(self.bar, _BAR_SHARES[Phase.CONVERTING])
        bars.addWidget(self.verify_bar, _BAR_SHARES[Phase.VERIFYING])
        texts = QVBoxLayout()
        texts.setSpacing(SPACING // 2 + 1)
        texts.addWidget(self._name)
        texts.addWidget(self._bars)
        texts.addWidget(self.status)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACING + 4, SPACING, SPACING + 4, SPACING)
        layout.setSpacing(SPACING + 4)
        layout.addWidget(self._icon)
        layout.addLayout(texts, 1)
        layout.addLayout(self._button_row)
        layout.addWidget(self.more)

    def _make_button(self, key: str) -> QPushButton:
        text, tip, clicked = self._commands[key]
        button = QPushButton(text)
        button.setToolTip(tip)
        button.hide()
        button.clicked.connect(lambda _checked=False: clicked())
        if key in _MOVES:
            button.setAccessibleName(tip)
            button.setProperty("flat", True)
            button.setIcon(self._theme.icon("previous" if key == "up" else "next"))
        place = [other for other in self._commands if other in self.buttons or other == key]
        self._button_row.insertWidget(place.index(key), button)
        return button

    def _all_commands(self) -> dict[str, tuple[str, str, Callable[[], object]]]:
        """Every button from left to right: its text, its tip, what it does."""
        job, controller, tr = self.job, self._controller, self.tr
        return {
            "up": ("", tr("Run earlier"), lambda: controller.move(job, -1)),
            "down": ("", tr("Run later"), lambda: controller.move(job, 1)),
            "salvage": (
                tr("Salvage"),
                tr("Continue with zeros where the source can’t be read, and list the losses"),
                lambda: controller.retry(job, salvage=True),
            ),
            "pause": (tr("Pause"), "", lambda: controller.pause(job)),
            "resume": (tr("Resume"), "", lambda: controller.resume(job)),
            "continue": (tr("Resume"), tr("Begin again"), lambda: controller.retry(job)),
            "edit": (tr("Settings…"), "", lambda: self.edit_requested.emit(job)),
            "cancel": (tr("Cancel"), "", lambda: controller.cancel(job)),
            "open": (
                tr("Inspect result"),
                "",
                lambda: self.open_requested.emit(str(job.options.target)),
            ),
            "folder": (tr("Open folder"), "", self._open_folder),
            "allow": (tr("Allow…"), "", lambda: self.allow_requested.emit(job)),
            "retry": (tr("Try again"), "", lambda: controller.retry(job)),
            "losses": (tr("Copy lost ranges"), "", lambda: _copy(losses_text(job))),
            "copy": (tr("Copy details"), "", lambda: _copy(job.error_details)),
            "remove": (tr("Remove"), "", lambda: controller.remove(job)),
        }

    # ---------------------------------------------------------------- the menu

    def menu(self) -> QMenu:
        """What else can be done with the job; it deletes itself when it is closed."""
        job = self.job
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(text: str, clicked: Callable[[], object]) -> QAction:
            action = menu.addAction(text)
            action.triggered.connect(lambda _checked=False: clicked())
            return action

        source = f"{job.options.source}"
        add(self.tr("Inspect source"), lambda: self.open_requested.emit(source))
        if self._controller.can_edit(job):
            add(self.tr("Settings…"), lambda: self.edit_requested.emit(job))
        menu.addSeparator()
        add(self.tr("Copy as qemu-img command"), lambda: _copy(qemu_text(job)))
        add(self.tr("Copy as qcowgui command"), lambda: _copy(qcowgui_text(job)))
        add(self.tr("Copy this row"), lambda: _copy(f"{self._name.text()}\n{status_text(job)}"))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu where it was asked for."""
        self.menu().popup(event.globalPos())

    def _show_menu_below(self) -> None:
        self.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _open_folder(self) -> None:
        folder = str(self.job.options.target.absolute().parent)
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))

    # ---------------------------------------------------------------- dragging the file out

    def dragged_content(self) -> QMimeData | None:
        """The finished file as something to drop elsewhere; None while there is none."""
        if self.job.state is not JobState.DONE:
            return None
        content = QMimeData()
        content.setUrls([QUrl.fromLocalFile(str(self.job.options.target.absolute()))])
        return content

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Maybe begin to drag the finished file."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the finished file out, once the pointer has left where it was pressed."""
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        moved = (event.position().toPoint() - self._pressed).manhattanLength()
        if moved < QApplication.startDragDistance():
            return
        self._pressed = None
        content = self.dragged_content()
        if content is not None:
            drag = QDrag(self)
            drag.setMimeData(content)
            drag.setPixmap(self._theme.icon("image").pixmap(QSize(32, 32)))
            drag.exec(Qt.DropAction.CopyAction)


def _bar(name: str) -> QProgressBar:
    bar = QProgressBar()
    bar.setRange(0, _BAR_STEPS)
    bar.setTextVisible(False)
    bar.setAccessibleName(name)
    return bar


def _copy(text: str) -> None:
    QApplication.clipboard().setText(text)
