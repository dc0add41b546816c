"""Repair as a copy: what would be changed and what comes of it, before anything is written."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.check.checker import CheckReport
from qcowgui.check.verdict import Verdict, verdict_of
from qcowgui.engine.work import Outcome
from qcowgui.format.finding import Repair
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.dialogs.target_field import TargetField, suggest_beside
from qcowgui.gui.dialogs.writing_dialog import WritingDialog
from qcowgui.gui.formatters import Tone
from qcowgui.gui.hint_texts import advice_text, hint_tone
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.repair_tables import rows_table, summary_table
from qcowgui.gui.repair_work import CopyWork, Planned, PlanWork, Repaired
from qcowgui.gui.session import Session
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.translation import count_text, verdict_text
from qcowgui.gui.views.data_table import DataTable
from qcowgui.gui.views.placeholder import Placeholder
from qcowgui.repair.planner import RepairRequest
from qcowgui.repair.remains import TABLES_LOST_HINTS
from qcowgui.units import format_size

_TONES: Final = {
    Verdict.CONSISTENT: Tone.NOTE,
    Verdict.UNUSUAL: Tone.NOTE,
    Verdict.LEAKS: Tone.WARNING,
    Verdict.INCOMPLETE: Tone.WARNING,
    Verdict.CORRUPT: Tone.DANGER,
    Verdict.FATAL: Tone.DANGER,
}


class RepairState(Enum):
    """How far the dialog is."""

    PLANNING = auto()
    PLANNED = auto()
    UNPLANNED = auto()
    """Planning failed, or was stopped."""
    WRITING = auto()
    DONE = auto()


class RepairDialog(WritingDialog):
    """Plans a repair of a session's image, shows the plan, and writes a repaired copy.

    Attributes:
        state: How far it is.
        planned: The plan that is shown, or None.
        repaired: The copy, once it is in place.

    Signals:
        salvage_requested: Somebody wants to look for lost tables first.
    """

    salvage_requested = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session, theme, parent)
        self.setWindowTitle(self.tr("Repair {name} as a copy").format(name=session.path.name))
        self._copying: CopyWork | None = None
        self.state = RepairState.UNPLANNED
        self.planned: Planned | None = None
        self.repaired: Repaired | None = None
        self._make_options()
        self._make_plan_view()
        self._make_target()
        self._lay_out()
        self._connect()
        self.target.suggest(suggest_beside(session.path, "repaired", ".qcow2"))
        self.plan()

    # ---------------------------------------------------------------- planning

    @property
    def request(self) -> RepairRequest:
        """What the fields ask for."""
        return RepairRequest(
            tier=Repair(self.tier.currentData()),
            deep=self.deep.isChecked(),
            free_unowned=self.free_unowned.isChecked(),
            verify_all=self.verify_all.isChecked(),
        )

    def plan(self) -> None:
        """Plan anew, for the image and the fields as they are now."""
        session = self._session
        self.planned = self.repaired = None
        if session.source is None or session.inspected is None:
            self._run.drop()
            self._show_failure(self.tr("The image is not there."), "")
            return
        executor = PoliteExecutor() if self.request.deep else None
        work = PlanWork(session.source, session.inspected.report, self.request, executor)
        self._run.start(work, self._take_plan, executor=executor)
        self._enter(RepairState.PLANNING)

    def _replan(self) -> None:
        """The image was read again, or other things are asked for: the plan is out of date."""
        if self.state is not RepairState.WRITING:
            self.plan()

    def _take_plan(self, outcome: Outcome, planned: Planned | None) -> None:
        if planned is not None:
            self.planned = planned
            self._show_plan(planned)
            self._enter(RepairState.PLANNED)
        else:
            self._show_outcome(outcome, self.tr("No plan was made"))

    # ---------------------------------------------------------------- writing

    def write(self) -> None:
        """Write the copy; a file of that name is replaced only when a person agrees."""
        if self.planned is not None and not self.planned.proven.plan.is_empty:
            self.target.when_clear(self._write)

    def _write(self) -> None:
        source, target = self._session.source, self.target.path
        if self.planned is None or source is None or target is None:
            return
        work = CopyWork(source, self.planned.proven, target, self.target.may_replace)
        self._run.start(work, self._take_copy)
        self._copying = work
        self._enter(RepairState.WRITING)

    def _take_copy(self, outcome: Outcome, repaired: Repaired | None) -> None:
        self._copying = None
        if repaired is not None:
            self.repaired, self.written = repaired, repaired.target
            self._show_result(repaired)
            self._enter(RepairState.DONE)
        else:
            self._show_outcome(outcome, self.tr("No copy was written"))

    # ---------------------------------------------------------------- building

    def _make_options(self) -> None:
        self.tier = QComboBox()
        self.tier.addItem(self.tr("All that can be decided"), Repair.ALL.value)
        self.tier.addItem(self.tr("Only refcounts that are too high"), Repair.LEAKS.value)
        self.tier.setAccessibleName(self.tr("What to repair"))
        self.deep = QCheckBox(self.tr("Decode compressed clusters"))
        self.deep.setToolTip(self.tr("Finds wrong sector counts, and puts them right"))
        self.verify_all = QCheckBox(self.tr("Compare every guest byte"))
        self.verify_all.setToolTip(
            self.tr("Proves the plan on the whole disk, not only on what edited entries map")
        )
        self.free_unowned = QCheckBox(self.tr("Give back space even if tables are lost"))
        self.free_unowned.setToolTip(
            self.tr(
                "Frees clusters that nothing refers to although they may hold what lost tables\n"
                "mapped. Look for the tables with Salvage first."
            )
        )

    def _make_plan_view(self) -> None:
        theme = self._theme
        self.now, self.afterwards = plain_label(), plain_label()
        self.afterwards.setFont(scaled_font(1.0, bold=True))
        self.summary, self.edits = DataTable(theme), DataTable(theme)
        self.summary.setAccessibleName(self.tr("What is repaired"))
        self.edits.setAccessibleName(self.tr("Before and after"))
        self.notes = QPlainTextEdit()
        self.notes.setReadOnly(True)
        self.notes.setAccessibleName(self.tr("Left as it is"))
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        for widget in (self.summary, self.edits, self.notes):
            self.tabs.addTab(widget, "")
        self.busy = Placeholder(
            self.tr("Planning the repair, and proving the plan in memory…"), busy=True
        )
        self.pages = QStackedWidget()
        self.pages.addWidget(self.busy)
        self.pages.addWidget(self.tabs)

    def _make_target(self) -> None:
        self.target = TargetField(self.tr("Repaired copy"), self.tr("The file to make"))
        self.write_button.setText(self.tr("Write the repaired copy"))
        self.open_button.setText(self.tr("Open the copy"))

    def _lay_out(self) -> None:
        options = QHBoxLayout()
        options.setSpacing(SPACING * 2)
        for widget in (self.tier, self.deep, self.verify_all, self.free_unowned):
            options.addWidget(widget)
        options.addStretch(1)
        target = QHBoxLayout()
        target.setSpacing(SPACING)
        self._target_label = QLabel(self.tr("Repaired copy"))
        target.addWidget(self._target_label)
        target.addWidget(self.target, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING + 2)
        layout.addLayout(options)
        layout.addWidget(self.now)
        layout.addWidget(self.afterwards)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.banner)
        layout.addLayout(target)
        layout.addWidget(self.progress)
        layout.addWidget(self.status)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._replan)
        self.tier.currentIndexChanged.connect(self._replan)
        for box in (self.deep, self.verify_all, self.free_unowned):
            box.toggled.connect(self._replan)
        self.target.changed.connect(self._enable)

    # ---------------------------------------------------------------- showing

    def _enter(self, state: RepairState) -> None:
        self.state = state
        if state is RepairState.PLANNING:
            self.banner.hide()
        self.pages.setCurrentWidget(self.tabs if self.planned else self.busy)
        self.busy.setVisible(state is RepairState.PLANNING)
        for line in (self.now, self.afterwards):
            line.setVisible(self.planned is not None)
        writing = state is RepairState.WRITING
        for widget in (self.tier, self.deep, self.verify_all, self.free_unowned, self.target):
            widget.setEnabled(not writing)
        self.progress.setVisible(writing)
        self.status.setVisible(writing)
        self._enable()
        self._show_progress()
        self.state_changed.emit()

    def _enable(self) -> None:
        running = self.state in (RepairState.PLANNING, RepairState.WRITING)
        done = self.state is RepairState.DONE
        ready = self.planned is not None and not self.planned.proven.plan.is_empty
        self.write_button.setVisible(not done)
        self.write_button.setEnabled(ready and not running and self.target.path is not None)
        self.stop_button.setVisible(running)
        self.open_button.setVisible(done)
        self._target_label.setVisible(not done)
        self.target.setVisible(not done)

    def _show_plan(self, planned: Planned) -> None:
        proven = planned.proven
        self._say(self.now, self.tr("Now: {verdict}"), proven.before)
        if proven.plan.is_empty:
            self.afterwards.setText(self.tr("Nothing can be repaired: the copy would be the same."))
            self.afterwards.setProperty("tone", "")
        else:
            self._say(self.afterwards, self.tr("Afterwards: {verdict}"), proven.after)
        self.summary.set_table(summary_table(planned.changes))
        self.edits.set_table(rows_table(planned))
        notes = (*proven.plan.notes, *proven.plan.refused)
        self.notes.setPlainText("\n\n".join(notes))
        rows = f"{len(planned.rows):,}{'' if planned.complete else '+'}"
        for index, text in enumerate(
            (
                self.tr("What is repaired  {count}").format(count=f"{len(planned.changes):,}"),
                self.tr("Before and after  {count}").format(count=rows),
                self.tr("Notes, and what is left  {count}").format(count=f"{len(notes):,}"),
            )
        ):
            self.tabs.setTabText(index, text)
        self.tabs.setCurrentWidget(self.notes if proven.plan.is_empty else self.summary)
        self._warn(proven.before)

    def _warn(self, before: CheckReport) -> None:
        """Say it before a repair, when something else should come first."""
        hint = next((hint for hint in before.hints if hint.code in TABLES_LOST_HINTS), None)
        if hint is None:
            self.banner.hide()
            return
        self.banner.say(hint.sentence, advice_text(hint), tone=hint_tone(hint))
        self.banner.add_button(self.tr("Salvage…"), self.salvage_requested.emit)

    def _say(self, label: QLabel, words: str, check: CheckReport) -> None:
        """Show a verdict in the colour of it."""
        verdict = verdict_of(check.counts, complete=check.complete)
        label.setText(words.format(verdict=verdict_text(check.counts, complete=check.complete)))
        tone = {Tone.DANGER: "danger", Tone.WARNING: "warning"}.get(_TONES[verdict], "")
        label.setProperty("tone", tone)
        label.style().unpolish(label)
        label.style().polish(label)

    def _show_result(self, repaired: Repaired) -> None:
        check = repaired.checked
        verdict = verdict_of(check.counts, complete=check.complete)
        text = verdict_text(check.counts, complete=check.complete)
        self.banner.say(
            self.tr("{name} is written: {verdict}").format(name=repaired.target.name, verdict=text),
            self.tr(
                "Checked again after it was written. The edits changed {written}; {source}"
                " itself is as it was."
            ).format(
                written=count_text(repaired.written_bytes, "byte", "bytes"),
                source=self._session.path.name,
            ),
            tone=_TONES[verdict],
        )

    def _show_failure(self, title: str, text: str, *, tone: Tone = Tone.DANGER) -> None:
        self._enter(RepairState.PLANNED if self.planned else RepairState.UNPLANNED)
        super()._show_failure(title, text, tone=tone)
        if self.planned is None:
            self.banner.add_button(self.tr("Plan again"), self.plan)

    def _show_progress(self) -> None:
        work = self._copying
        if work is None or self.state is not RepairState.WRITING:
            return
        done, total = work.copied.value, work.total_bytes
        self._show_share(done, total if done < total else 0)
        if done < total:
            self.status.setText(
                self.tr("Writing: {done} of {total}").format(
                    done=format_size(done), total=format_size(total)
                )
            )
        else:
            self.status.setText(self.tr("Checking the copy before it takes its name…"))

    # ---------------------------------------------------------------- ending

    @property
    def writing(self) -> bool:
        """Whether a file is being written, which would be lost if the dialog were closed."""
        return self.state is RepairState.WRITING
