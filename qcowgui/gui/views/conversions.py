"""The panel of conversions: a row for each job, from waiting to its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.job import ConvertResult, Phase
from qcowgui.gui.formatters import (
    Tone,
    duration_text,
    rate_text,
    ratio_text,
    short_duration_text,
    tsv,
)
from qcowgui.gui.jobs import Job, JobController, JobState, error_texts
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.summary import ElidedLabel
from qcowgui.units import format_count, format_hex, format_size

_BAR_STEPS: Final = 1000
_ICON_SIZE: Final = QSize(20, 20)
_STATE_ICONS: Final = {
    JobState.WAITING: ("waiting", Tone.MUTED),
    JobState.RUNNING: ("running", Tone.NOTE),
    JobState.CANCELLING: ("running", Tone.MUTED),
    JobState.DONE: ("good", Tone.NOTE),
    JobState.CANCELLED: ("cancelled", Tone.MUTED),
    JobState.FAILED: ("danger", Tone.DANGER),
}


class JobRow(QFrame):
    """One job.

    Signals:
        open_requested: "Open result" was clicked: the target's path.
        allow_requested: "Allow…" was clicked: a person is ready to decide about referenced files.
    """

    open_requested = Signal(str)
    allow_requested = Signal(object)

    def __init__(
        self, job: Job, controller: JobController, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.job = job
        self._controller = controller
        self._theme = theme
        self._shown_state: JobState | None = None
        self.setProperty("card", True)
        self._icon = QLabel()
        self._name = ElidedLabel(f"{job.options.source.name}  →  {job.options.target.name}")
        self._name.setFont(scaled_font(1.0, bold=True))
        self._name.setToolTip(f"{job.options.source}\n→ {job.options.target}")
        self.bar = QProgressBar()
        self.bar.setRange(0, _BAR_STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.status = QLabel()
        self.status.setWordWrap(True)
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._button_row = QHBoxLayout()
        self._button_row.setSpacing(SPACING - 2)
        self.buttons: dict[str, QPushButton] = {}
        self._make_buttons()
        self._lay_out()
        theme.changed.connect(self._paint)
        self.refresh()

    def refresh(self) -> None:
        """Show the job as it is now."""
        job = self.job
        if job.state is not self._shown_state:
            self._shown_state = job.state
            self._show_buttons()
            self._paint()
            self.bar.setVisible(not job.state.ended)
            self.status.setProperty("muted", job.state is not JobState.FAILED)
            self.status.style().unpolish(self.status)
            self.status.style().polish(self.status)
            self.setAccessibleName(f"{self._name.text()}: {self._text()}")
        fraction = job.meter.fraction
        if fraction is None and job.state is JobState.RUNNING:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, _BAR_STEPS)
            self.bar.setValue(round((fraction or 0.0) * _BAR_STEPS))
        self.status.setText(self._text())

    def _make_buttons(self) -> None:
        job, controller = self.job, self._controller
        self._add_button("cancel", self.tr("Cancel"), lambda: controller.cancel(job))
        target = str(job.options.target)
        self._add_button("open", self.tr("Open result"), lambda: self.open_requested.emit(target))
        self._add_button("folder", self.tr("Open folder"), self._open_folder)
        self._add_button("allow", self.tr("Allow…"), lambda: self.allow_requested.emit(job))
        self._add_button("retry", self.tr("Try again"), lambda: controller.retry(job))
        self._add_button(
            "copy",
            self.tr("Copy details"),
            lambda: QGuiApplication.clipboard().setText(job.error_details),
        )
        self._add_button(
            "losses",
            self.tr("Copy lost ranges"),
            lambda: QGuiApplication.clipboard().setText(losses_text(job)),
        )
        self._add_button("remove", self.tr("Remove"), lambda: controller.remove(job))

    def _add_button(self, key: str, text: str, clicked: Callable[[], object]) -> None:
        button = QPushButton(text)
        button.clicked.connect(lambda _checked=False: clicked())
        self.buttons[key] = button
        self._button_row.addWidget(button)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(SPACING // 2 + 1)
        texts.addWidget(self._name)
        texts.addWidget(self.bar)
        texts.addWidget(self.status)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACING + 4, SPACING, SPACING + 4, SPACING)
        layout.setSpacing(SPACING + 4)
        layout.addWidget(self._icon)
        layout.addLayout(texts, 1)
        layout.addLayout(self._button_row)

    def _show_buttons(self) -> None:
        job = self.job
        shown = {
            JobState.WAITING: {"cancel"},
            JobState.RUNNING: {"cancel"},
            JobState.CANCELLING: {"cancel"},
            JobState.DONE: {"open", "folder", "remove"},
            JobState.CANCELLED: {"retry", "remove"},
            JobState.FAILED: {"allow", "copy", "remove"}
            if any(reference.path is not None for reference in job.refused)
            else {"retry", "copy", "remove"},
        }[job.state]
        if job.result is not None and job.result.losses:
            shown.add("losses")
        if job.options.target_format != "qcow2":
            shown.discard("open")
        for key, button in self.buttons.items():
            button.setVisible(key in shown)
        self.buttons["cancel"].setEnabled(job.state is not JobState.CANCELLING)

    def _paint(self) -> None:
        name, tone = _STATE_ICONS[self.job.state]
        icon = self._theme.icon(name, self._theme.tone_colour(tone))
        self._icon.setPixmap(icon.pixmap(_ICON_SIZE))

    def _text(self) -> str:
        job = self.job
        match job.state:
            case JobState.WAITING:
                return self.tr("Waiting for the conversion before it")
            case JobState.RUNNING:
                return self._running_text()
            case JobState.CANCELLING:
                return self.tr("Cancelling…")
            case JobState.CANCELLED:
                return self.tr("Cancelled after {time}; nothing was left behind").format(
                    time=duration_text(job.elapsed_seconds)
                )
            case JobState.DONE:
                return self._result_text(job.result) if job.result else ""
            case JobState.FAILED:
                return self._error_text()

    def _running_text(self) -> str:
        job, meter = self.job, self.job.meter
        phase = job.progress.phase if job.progress else Phase.PREPARING
        parts = [
            {
                Phase.PREPARING: self.tr("Preparing"),
                Phase.CONVERTING: self.tr("Converting"),
                Phase.VERIFYING: self.tr("Verifying"),
                Phase.FINISHING: self.tr("Finishing"),
            }[phase]
        ]
        if meter.fraction is not None:
            parts[0] += f" {meter.fraction:.0%}"
        if meter.bytes_per_second:
            parts.append(rate_text(meter.bytes_per_second))
        parts.append(duration_text(job.elapsed_seconds))
        remaining = meter.remaining_seconds
        if remaining is not None:
            parts.append(self.tr("{time} left").format(time=duration_text(remaining)))
        return "  ·  ".join(parts)

    def _result_text(self, result: ConvertResult) -> str:
        before, after = result.source_bytes, result.target_bytes
        sizes = f"{format_size(before)} → {format_size(after)}"
        if self.job.options.target_format == "qcow2":
            sizes += f" ({ratio_text(before, after)})"
        parts = [sizes]
        on_disk = result.target_disk_bytes
        if on_disk is not None and on_disk < after:
            parts.append(self.tr("{size} on disk").format(size=format_size(on_disk)))
        parts.append(short_duration_text(result.seconds))
        parts.append(self.tr("verified") if result.verified else self.tr("not verified"))
        return "\n".join(["  ·  ".join(parts), *result.warnings])

    def _error_text(self) -> str:
        job = self.job
        if job.refused:
            files = ", ".join(f"{reference.name}" for reference in job.refused)
            count = format_count(len(job.refused), "file")
            return self.tr(
                "The image refers to {count} that was not opened without your consent: {files}"
            ).format(count=count, files=files)
        message, hint = error_texts(job.error) if job.error else ("", "")
        return "\n".join(filter(None, (message, hint)))

    def _open_folder(self) -> None:
        folder = str(self.job.options.target.absolute().parent)
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))


def losses_text(job: Job) -> str:
    """What a salvage could not read, for the clipboard: guest offset, bytes, reason."""
    losses = job.result.losses if job.result is not None else ()
    return tsv([(format_hex(lost.start), f"{lost.length}", lost.reason) for lost in losses])


class ConversionsPanel(QScrollArea):
    """Every job of a controller, the latest first.

    Signals:
        open_requested, allow_requested: As in JobRow.
    """

    open_requested = Signal(str)
    allow_requested = Signal(object)

    def __init__(
        self, controller: JobController, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._theme = theme
        self.rows: dict[Job, JobRow] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(self.tr("Conversions"))
        self._nothing = QLabel(self.tr("No conversion yet: Ctrl+E, or File → Convert…"))
        self._nothing.setProperty("muted", True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(SPACING + 2, SPACING, SPACING + 2, SPACING)
        self._column.setSpacing(SPACING - 2)
        self._column.addWidget(self._nothing)
        self._column.addStretch(1)
        self.setWidget(inner)
        controller.job_added.connect(self._add)
        controller.job_changed.connect(self._refresh)
        controller.job_removed.connect(self._remove)
        for job in controller.jobs:
            self._add(job)

    def _add(self, job: Job) -> None:
        row = JobRow(job, self._controller, self._theme)
        row.open_requested.connect(self.open_requested)
        row.allow_requested.connect(self.allow_requested)
        self.rows[job] = row
        self._column.insertWidget(0, row)
        self._nothing.hide()

    def _refresh(self, job: Job) -> None:
        self.rows[job].refresh()

    def _remove(self, job: Job) -> None:
        row = self.rows.pop(job)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._nothing.setVisible(not self.rows)
