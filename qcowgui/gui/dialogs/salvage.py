"""Salvage: what can be made of a damaged image, and writing one of it as a new image."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.codec.registry import CompressionType
from qcowgui.convert.job import ConvertResult
from qcowgui.convert.options import CLUSTER_SIZES, Compression, ConvertOptions, TargetFormat
from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import OptionsError, QcowError
from qcowgui.gui.dialogs.one_run import OneRun
from qcowgui.gui.dialogs.target_field import TargetField, suggest_beside
from qcowgui.gui.formatters import Tone
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.salvage_work import (
    SalvageWork,
    SearchWork,
    candidate_text,
    candidates_table,
    found_text,
    losses_table,
    lost_bytes,
    progress_text,
)
from qcowgui.gui.session import Session
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.data_table import DataTable
from qcowgui.image.layer import LostRange
from qcowgui.salvage.candidates import Candidate, Overrides, SalvageReport
from qcowgui.salvage.write import SalvageJob, losses_path
from qcowgui.units import format_size, parse_size

_SIZE: Final = (980, 720)
_PER_MILLE: Final = 1000
_SIZE_WIDTH: Final = 130


class SalvageState(Enum):
    """How far the dialog is."""

    SEARCHING = auto()
    READY = auto()
    """A search has ended, or was stopped; perhaps without anything to write."""
    WRITING = auto()
    DONE = auto()


class SalvageDialog(QDialog):
    """Searches a session's file for tables, shows the candidates, and writes one.

    The file itself is never written. It blocks nothing, and what runs ends with it.

    Attributes:
        state: How far it is.
        report: What the last search has found, or None.
        salvaged: What writing came to, once the new image is in place.

    Signals:
        open_requested: Somebody wants to look at the result: its Path.
        state_changed: `state` is another.
    """

    open_requested = Signal(object)
    state_changed = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Salvage {name}").format(name=session.path.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._theme = theme
        self._run = OneRun(session.runner, self)
        self._searching: SearchWork | None = None
        self._job: SalvageJob | None = None
        self.state = SalvageState.READY
        self.report: SalvageReport | None = None
        self.salvaged: ConvertResult | None = None
        self._written: Path | None = None
        self._make_overrides()
        self._make_results()
        self._make_output()
        self._make_ending()
        self._lay_out()
        self._connect()
        self._format_changed()
        self.resize(*_SIZE)
        self.search()

    # ---------------------------------------------------------------- searching

    def overrides(self) -> Overrides:
        """What the fields say that the file does not.

        Raises:
            OptionsError: When the size is none.
        """
        text = self.virtual_size.text().strip()
        try:
            virtual_bytes = parse_size(text) if text else None
        except ValueError as error:
            raise OptionsError(str(error)) from error
        return Overrides(
            self.cluster_size.currentData(), virtual_bytes, self.compression_type.currentData()
        )

    def search(self) -> None:
        """Search, with what the fields say; what an earlier search has found is gone."""
        source = self._session.source
        try:
            overrides = self.overrides()
        except OptionsError as error:
            self.banner.say(self.tr("This is no size"), error.message, tone=Tone.WARNING)
            return
        self.report = self.salvaged = None
        self._show_report()
        if source is None:
            self._run.drop()
            self._fail(self.tr("The file is not there"), "")
            return
        work = self._searching = SearchWork(source, overrides)
        self._run.start(work, self._take_report)
        self._enter(SalvageState.SEARCHING)

    def chosen(self) -> Candidate | None:
        """The candidate that is selected, or None."""
        row = self.candidates.current_row()
        if self.report is None or row is None:
            return None
        return self.report.candidates[row]

    def _take_report(self, outcome: Outcome, report: SalvageReport | None) -> None:
        self._searching = None
        if report is None:
            self._fail_by(outcome, self.tr("The search failed"))
            return
        self.report = report
        self._show_report()
        self._enter(SalvageState.READY)

    def _read_again(self) -> None:
        if self.state is not SalvageState.WRITING:
            self.search()

    # ---------------------------------------------------------------- writing

    def options(self) -> ConvertOptions:
        """What is to be written.

        Raises:
            OptionsError: When something is missing or contradicts something else.
        """
        target = self.target.path
        if target is None:
            raise OptionsError(self.tr("Choose a name for the new image"))
        return ConvertOptions(
            source=self._session.path,
            target=target,
            target_format=self._target_format,
            compression=self._compression,
            salvage=True,
            overwrite=self.target.may_replace,
        )

    def write(self) -> None:
        """Write the chosen candidate; a file is replaced only when a person agrees."""
        if self.chosen() is not None:
            self.target.when_clear(self._write)

    def _write(self) -> None:
        source, candidate = self._session.source, self.chosen()
        if source is None or candidate is None:
            return
        try:
            options = self.options()
        except OptionsError as error:
            self._fail(self.tr("Nothing was written"), error.message)
            return
        job = SalvageJob(options, source, candidate, backing=self.backing.path)
        executor = PoliteExecutor()
        self._run.start(
            SalvageWork(job, executor), self._take_result, token=job.token, executor=executor
        )
        self._job = job
        self._enter(SalvageState.WRITING)

    def _take_result(self, outcome: Outcome, result: ConvertResult | None) -> None:
        job, self._job = self._job, None
        if result is None or job is None:
            self._fail_by(outcome, self.tr("Nothing was written"))
            return
        self.salvaged, self._written = result, job.options.target
        self._show_result(job.options, result)
        self._enter(SalvageState.DONE)

    # ---------------------------------------------------------------- building

    def _make_overrides(self) -> None:
        self.cluster_size = QComboBox()
        self.cluster_size.setAccessibleName(self.tr("Cluster size of the damaged image"))
        self.cluster_size.addItem(self.tr("clusters: as found"), None)
        for size in CLUSTER_SIZES:
            text = self.tr("clusters of {size}").format(size=format_size(size))
            self.cluster_size.addItem(text, size.bit_length() - 1)
        self.virtual_size = QLineEdit()
        self.virtual_size.setAccessibleName(self.tr("Virtual size of the damaged image"))
        self.virtual_size.setPlaceholderText(self.tr("size: as found"))
        self.virtual_size.setToolTip(self.tr("The virtual disk's size, such as 20G"))
        self.virtual_size.setFixedWidth(_SIZE_WIDTH)
        self.compression_type = QComboBox()
        self.compression_type.setAccessibleName(self.tr("Compression of the damaged image"))
        self.compression_type.addItem(self.tr("compression: as found"), None)
        for kind in (CompressionType.ZLIB, CompressionType.ZSTD):
            self.compression_type.addItem(kind.label, kind)
        self.search_button = QPushButton(self.tr("Search again"))
        self.search_button.setAutoDefault(False)

    def _make_results(self) -> None:
        self.found = _line()
        self.candidates = DataTable(self._theme)
        self.candidates.setAccessibleName(self.tr("Candidates"))
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setAccessibleName(self.tr("About this candidate"))
        self.losses = DataTable(self._theme)
        self.losses.setAccessibleName(self.tr("Losses"))
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.details, self.tr("About this candidate"))
        self.tabs.addTab(self.losses, self.tr("Losses"))
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.candidates)
        self.split.addWidget(self.tabs)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)

    def _make_output(self) -> None:
        self.target = TargetField(self.tr("New image"), self.tr("The file to make"))
        self.backing = TargetField(
            self.tr("Backing file"),
            self.tr("The lost image's backing file, if it had one"),
            existing=True,
        )
        inspected = self._session.inspected
        if inspected is not None and inspected.report.backing_name_raw:
            self.backing.line.setPlaceholderText(
                self.tr("The header names one; without it, what it held is lost")
            )
        self.format = QComboBox()
        self.format.setAccessibleName(self.tr("Format of the new image"))
        for name in ("qcow2", "raw"):
            self.format.addItem(name, name)
        self.compression = QComboBox()
        self.compression.setAccessibleName(self.tr("Compression of the new image"))
        for text, value in (
            (self.tr("not compressed"), "none"),
            ("zlib", "zlib"),
            ("zstd", "zstd"),
        ):
            self.compression.addItem(text, value)

    def _make_ending(self) -> None:
        self.banner = Banner(self._theme)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress"))
        self.status = _line()
        self.status.setProperty("muted", True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.write_button = self.buttons.addButton(self.tr("Write the new image"), role)
        self.write_button.setProperty("primary", True)
        self.write_button.setDefault(True)
        self.stop_button = self.buttons.addButton(self.tr("Stop"), role)
        self.open_button = self.buttons.addButton(self.tr("Open the result"), role)
        self.open_button.setProperty("primary", True)

    def _lay_out(self) -> None:
        known = _row(
            QLabel(self.tr("What you know better:")),
            self.cluster_size,
            self.virtual_size,
            self.compression_type,
            self.search_button,
        )
        known.addStretch(1)
        output = _row(self.target)
        output.setStretch(0, 1)
        output.addWidget(self.format)
        output.addWidget(self.compression)
        self._form = QFormLayout()
        self._form.setSpacing(SPACING)
        self._form.addRow(self.tr("Backing file"), self.backing)
        self._form.addRow(self.tr("New image"), output)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING + 2)
        layout.addWidget(self.found)
        layout.addLayout(known)
        layout.addWidget(self.split, 1)
        layout.addWidget(self.banner)
        layout.addLayout(self._form)
        layout.addWidget(self.progress)
        layout.addWidget(self.status)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._read_again)
        session.runner.pulled.connect(self._show_progress)
        self.search_button.clicked.connect(self.search)
        self.virtual_size.returnPressed.connect(self.search)
        self.candidates.row_selected.connect(self._show_candidate)
        self.format.currentIndexChanged.connect(self._format_changed)
        self.target.changed.connect(self._enable)
        self.write_button.clicked.connect(self.write)
        self.stop_button.clicked.connect(self.stop)
        self.open_button.clicked.connect(self._open)
        self.buttons.rejected.connect(self.reject)

    # ---------------------------------------------------------------- fields

    @property
    def _target_format(self) -> TargetFormat:
        return cast(TargetFormat, self.format.currentData())

    @property
    def _compression(self) -> Compression:
        if self._target_format == "raw":
            return "none"
        return cast(Compression, self.compression.currentData())

    def _format_changed(self) -> None:
        self.compression.setEnabled(self._target_format == "qcow2")
        suffix = f".{self._target_format}"
        self.target.suggest(suggest_beside(self._session.path, "salvaged", suffix))

    # ---------------------------------------------------------------- showing

    def _enter(self, state: SalvageState) -> None:
        self.state = state
        running = state in (SalvageState.SEARCHING, SalvageState.WRITING)
        if running:
            self.banner.hide()
        for widget in (
            self.cluster_size,
            self.virtual_size,
            self.compression_type,
            self.search_button,
            self.candidates,
            self.target,
            self.backing,
            self.format,
        ):
            widget.setEnabled(state is not SalvageState.WRITING)
        self.compression.setEnabled(not running and self._target_format == "qcow2")
        self.progress.setVisible(running)
        self.status.setVisible(running)
        self._enable()
        self._show_progress()
        self.state_changed.emit()

    def _enable(self) -> None:
        running = self.state in (SalvageState.SEARCHING, SalvageState.WRITING)
        ready = self.chosen() is not None and self.target.path is not None
        self.write_button.setEnabled(ready and not running)
        self.stop_button.setVisible(running)
        self.open_button.setVisible(self.state is SalvageState.DONE)
        self.write_button.setVisible(self.state is not SalvageState.DONE)

    def _show_report(self) -> None:
        report = self.report
        self.found.setText(self.tr("Looking for tables…") if report is None else found_text(report))
        self.candidates.set_table(candidates_table(report.candidates if report else ()))
        self.details.clear()
        self.losses.set_table(losses_table(()))
        if report is not None and report.candidates:
            self.candidates.select_row(0)

    def _show_candidate(self) -> None:
        candidate = self.chosen()
        if candidate is None or self.report is None:
            return
        self.details.setPlainText(candidate_text(candidate, self.report))
        if self.state is SalvageState.DONE:
            self._enter(SalvageState.READY)  # another one may be written, too
            self.banner.hide()
        self._show_losses(self.tr("Known losses  {count}"), candidate.lost)
        self._enable()

    def _show_losses(self, title: str, losses: Sequence[LostRange]) -> None:
        self.losses.set_table(losses_table(losses))
        self.tabs.setTabText(self.tabs.indexOf(self.losses), title.format(count=f"{len(losses):,}"))

    def _show_result(self, options: ConvertOptions, result: ConvertResult) -> None:
        lost = lost_bytes(result.losses)
        lines = [
            self.tr("{size} virtual, a file of {file}, read again and compared.").format(
                size=format_size(result.virtual_bytes), file=format_size(result.target_bytes)
            )
        ]
        if lost:
            lines.append(
                self.tr("What is lost reads as zeros; the list is also in {name}.").format(
                    name=losses_path(options.target).name
                )
            )
        lines += result.warnings
        name = options.target.name
        title = (
            self.tr("{name} is written; {lost} could not be read").format(
                name=name, lost=format_size(lost)
            )
            if lost
            else self.tr("{name} is written; all that this candidate maps could be read").format(
                name=name
            )
        )
        chosen = self.chosen()
        sure = not lost and chosen is not None and chosen.is_whole
        self.banner.say(title, "\n".join(lines), tone=Tone.NOTE if sure else Tone.WARNING)
        self._show_losses(self.tr("Losses  {count}"), result.losses)
        if lost:
            self.tabs.setCurrentWidget(self.losses)

    def _fail_by(self, outcome: Outcome, title: str) -> None:
        if not isinstance(outcome, Failed):
            self._fail(self.tr("Stopped"), self.tr("Nothing was left behind."), tone=Tone.NOTE)
            return
        error = outcome.error
        if not isinstance(error, QcowError):
            self._fail(title, str(error))
            raise error
        self._fail(title, "\n".join(filter(None, (error.message, error.hint))))

    def _fail(self, title: str, text: str, *, tone: Tone = Tone.DANGER) -> None:
        self._enter(SalvageState.READY)
        self.banner.say(title, text, tone=tone)
        if self.report is None:
            self.found.setText("")
        if tone is Tone.DANGER:
            self.banner.add_copy_button(f"{self._session.path}\n{title}\n{text}")

    def _show_progress(self) -> None:
        if self._job is not None and self.state is SalvageState.WRITING:
            progress = self._job.progress()
            self._show_share(progress.done_bytes, progress.total_bytes)
            self.status.setText(progress_text(progress))
        elif self._searching is not None and self.state is SalvageState.SEARCHING:
            done, total = self._searching.scanned.value, self._searching.source.size_bytes
            self._show_share(done, total if done < total else 0)
            self.status.setText(
                self.tr("Searching: {done} of {total}").format(
                    done=format_size(done), total=format_size(total)
                )
            )

    def _show_share(self, done: int, total: int) -> None:
        """Move the bar; without a total it only shows that something is going on."""
        self.progress.setRange(0, _PER_MILLE if total else 0)
        if total:
            self.progress.setValue(done * _PER_MILLE // total)

    # ---------------------------------------------------------------- ending

    def stop(self) -> None:
        """Ask what runs to stop."""
        # A slot of the dialog's own: a connection to what is no QObject outlives the button.
        self._run.stop()

    def _open(self) -> None:
        if self._written is not None:
            self.open_requested.emit(self._written)
            self.accept()

    @property
    def writing(self) -> bool:
        """Whether a file is being written, which would be lost if the dialog were closed."""
        return self.state is SalvageState.WRITING

    def done(self, result: int) -> None:
        """Stop what runs; an image that is not complete leaves nothing behind."""
        self._run.drop()
        super().done(result)


def _row(*widgets: QWidget) -> QHBoxLayout:
    layout = QHBoxLayout()
    layout.setSpacing(SPACING)
    for widget in widgets:
        layout.addWidget(widget)
    return layout


def _line() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label
