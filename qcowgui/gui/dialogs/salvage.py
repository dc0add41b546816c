"""Salvage: what can be made of a damaged image, and writing one of it as a new image."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.job import ConvertResult
from qcowgui.convert.options import Compression, ConvertOptions, TargetFormat
from qcowgui.engine.work import Outcome
from qcowgui.errors import OptionsError
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.dialogs.salvage_known import KnownFields
from qcowgui.gui.dialogs.target_field import TargetField, suggest_beside
from qcowgui.gui.dialogs.writing_dialog import WritingDialog
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
from qcowgui.gui.views.data_table import DataTable
from qcowgui.image.layer import LostRange
from qcowgui.salvage.candidates import Candidate, SalvageReport
from qcowgui.salvage.write import SalvageJob, losses_path
from qcowgui.units import format_size


class SalvageState(Enum):
    """How far the dialog is."""

    SEARCHING = auto()
    READY = auto()
    """A search has ended, or was stopped; perhaps without anything to write."""
    WRITING = auto()
    DONE = auto()


class SalvageDialog(WritingDialog):
    """Searches a session's file for tables, shows the candidates, and writes one.

    Attributes:
        state: How far it is.
        report: What the last search has found, or None.
        salvaged: What writing came to, once the new image is in place.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session, theme, parent)
        self.setWindowTitle(self.tr("Salvage {name}").format(name=session.path.name))
        self._searching: SearchWork | None = None
        self._job: SalvageJob | None = None
        self.state = SalvageState.READY
        self.report: SalvageReport | None = None
        self.salvaged: ConvertResult | None = None
        self.known = KnownFields()
        self._make_results()
        self._make_output()
        self._lay_out()
        self._connect()
        self._format_changed()
        self.search()

    # ---------------------------------------------------------------- searching

    def search(self) -> None:
        """Search, with what the fields say; what an earlier search has found is gone."""
        source = self._session.source
        try:
            overrides = self.known.overrides()
        except OptionsError as error:
            self.banner.say(self.tr("This is no size"), error.message, tone=Tone.WARNING)
            return
        self.report = self.salvaged = None
        self._show_report()
        if source is None:
            self._run.drop()
            self._show_failure(self.tr("The file is not there"), "")
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
            self._show_outcome(outcome, self.tr("The search failed"))
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
            self._show_failure(self.tr("Nothing was written"), error.message)
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
            self._show_outcome(outcome, self.tr("Nothing was written"))
            return
        self.salvaged, self.written = result, job.options.target
        self._show_result(job.options, result)
        self._enter(SalvageState.DONE)

    # ---------------------------------------------------------------- building

    def _make_results(self) -> None:
        self.found = plain_label()
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
        self.write_button.setText(self.tr("Write the new image"))
        self.open_button.setText(self.tr("Open the result"))
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

    def _lay_out(self) -> None:
        output = QHBoxLayout()
        output.setSpacing(SPACING)
        output.addWidget(self.target, 1)
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
        layout.addWidget(self.known)
        layout.addWidget(self.split, 1)
        layout.addWidget(self.banner)
        layout.addLayout(self._form)
        layout.addWidget(self.progress)
        layout.addWidget(self.status)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._read_again)
        self.known.search_requested.connect(self.search)
        self.candidates.row_selected.connect(self._show_candidate)
        self.format.currentIndexChanged.connect(self._format_changed)
        self.target.changed.connect(self._enable)

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
            self.known,
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

    def _show_failure(self, title: str, text: str, *, tone: Tone = Tone.DANGER) -> None:
        self._enter(SalvageState.READY)
        super()._show_failure(title, text, tone=tone)
        if self.report is None:
            self.found.setText("")

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

    # ---------------------------------------------------------------- ending

    @property
    def writing(self) -> bool:
        """Whether a file is being written, which would be lost if the dialog were closed."""
        return self.state is SalvageState.WRITING
