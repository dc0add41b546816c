"""One opened image: its state, what was found about it, and what is selected of it.

An image is opened in steps, all of them beside the window: inspecting it, which is quick and shows
its structures; reading its mapping tables and checking it, which may take a while; and turning the
tables round, so that every byte of the file can say where it belongs.
"""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from qcowgui.check.cells import Cells
from qcowgui.check.checker import CheckReport
from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.format.finding import Finding
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.finding_list import findings_of
from qcowgui.gui.host_index import HostIndex
from qcowgui.gui.image_check import CheckState, ImageCheck, no_cells
from qcowgui.gui.load_steps import LoadSteps, raise_mistake
from qcowgui.gui.locator import Locator
from qcowgui.gui.looked_at import checked_text, opened_text
from qcowgui.gui.opening import (
    GuestStatesWork,
    IndexWork,
    Inspected,
    MappingWork,
    Opened,
    OpenWork,
    Signature,
    has_mapping,
)
from qcowgui.gui.pages import PageCache
from qcowgui.gui.permissions import Permissions
from qcowgui.gui.selection import History, Selection
from qcowgui.gui.session_states import MappingState, SessionState
from qcowgui.gui.structures import Structure, StructureKey
from qcowgui.image.locks import LockState
from qcowgui.image.source import FileSource
from qcowgui.image.summary import MappingSummary

__all__ = ["CheckState", "MappingState", "Session", "SessionState"]


class Session(QObject):
    """An image that is open in a tab. Belongs to the GUI's thread.

    Attributes:
        path: The file, absolute.
        state: How far it is.
        inspected: What was found, when `state` is READY.
        error: Why there is nothing, when `state` is FAILED.
        source: The file of this load, also when it is no image; None while there is none. It is
            never closed here: work in other threads may still read it.
        pages: Its pages; None while there is no source.
        signature: What the file was like when it was opened.
        usage: Whether somebody else had it open then; None while that is not known.
        mapping_state: Whether the mapping tables were read; UNREAD until `state` is READY.
        mapping: What they amount to, when `mapping_state` is READ.
        mapping_error: Why they could not be read, when `mapping_state` is FAILED.
        index: Which entries lead to each host cluster; None until that is known.
        guest_states: uint8: a `GuestState` of each guest cluster; empty until that is known.
        locator: What lies where; None while no image is there.
        permissions: Which files that the image names a person has agreed to open.
        findings: Everything noticed so far, worst first; of many alike only some.

    Signals:
        changed: `state` is another, or the image was read again.
        mapping_changed: `mapping_state` is another, while `state` stays.
        check_changed: `check_state`, `check` or `states` is another.
        check_progressed: A check that runs has come on; see `check_progress`.
        index_changed: `guest_states`, or `index` and `locator`, are others.
        selection_changed: `selection` is another, or more is known of where its bytes are.
        bytes_loaded: Pages were read that were asked for: the locator may know more now.
    """

    changed = Signal()
    mapping_changed = Signal()
    check_changed = Signal()
    check_progressed = Signal()
    index_changed = Signal()
    selection_changed = Signal()
    bytes_loaded = Signal()

    def __init__(
        self, path: str | os.PathLike[str], runner: BackgroundRunner, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.path = Path(path).absolute()
        self.state = SessionState.LOADING
        self.inspected: Inspected | None = None
        self.error: QcowError | None = None
        self.source: FileSource | None = None
        self.pages: PageCache | None = None
        self.signature: Signature | None = None
        self.usage: LockState | None = None
        self.mapping_state = MappingState.UNREAD
        self.mapping: MappingSummary | None = None
        self.mapping_error: QcowError | None = None
        self.index: HostIndex | None = None
        self.guest_states: Cells = no_cells()
        self.locator: Locator | None = None
        self.findings: tuple[Finding, ...] = ()
        self.history = History()
        self.permissions = Permissions(self)
        self._runner = runner
        self._selection = Selection(StructureKey.HEADER)
        self._steps = LoadSteps(runner)
        self._tables_due = False
        self._bytes_timer = QTimer(self)
        self._bytes_timer.setSingleShot(True)
        self._bytes_timer.timeout.connect(self._pages_came)
        self._check = ImageCheck(runner, self)
        self._check.changed.connect(self._check_changed)
        self._check.progressed.connect(self.check_progressed)

    @property
    def runner(self) -> BackgroundRunner:
        """What runs work beside the window: for views that have work of their own."""
        return self._runner

    # ---------------------------------------------------------------- selection

    @property
    def selection(self) -> Selection:
        """What is selected, everywhere."""
        return self._selection

    def select(self, selection: Selection) -> None:
        """Select something, everywhere; where its bytes are is filled in as far as it is known."""
        self._show(selection)
        self.history.visit(self._selection)

    def select_finding(self, finding: Finding) -> bool:
        """Select what `finding` is about; False when that is no place in the image."""
        selection = self.locator.at_finding(finding) if self.locator else None
        if selection is None:
            return False
        self.select(selection)
        return True

    def go_back(self) -> None:
        """Select what was selected before."""
        self._show(self.history.back())

    def go_forward(self) -> None:
        """Select what was selected before going back."""
        self._show(self.history.forward())

    def _show(self, selection: Selection | None) -> None:
        if selection is not None and self.locator is not None:
            selection = self.locator.resolve(selection)
        if selection is not None and selection != self._selection:
            self._selection = selection
            self.selection_changed.emit()

    def _resolve_again(self) -> None:
        """Fill in what has become known of the selection."""
        self._show(self._selection)

    def _page_loaded(self) -> None:
        self._bytes_timer.start()  # several come at once: everybody looks once at all of them

    def _pages_came(self) -> None:
        self._resolve_again()
        self.bytes_loaded.emit()

    def structure(self, key: StructureKey) -> Structure | None:
        """The structure called `key` with its table, when the image has it."""
        structures = self.inspected.structures if self.inspected else ()
        return next((found for found in structures if found.key is key), None)

    # ---------------------------------------------------------------- words

    def looked_at(self) -> str:
        """What was looked at, and what not; for sentences that claim no more."""
        if self.check is not None:
            return checked_text(self.check)
        return opened_text(self.mapping_state, self.mapping_error)

    # ---------------------------------------------------------------- loading

    def load(self) -> None:
        """Read the file, again where it was read before. Returns at once."""
        self._forget_runs()
        self.state = SessionState.LOADING
        self.changed.emit()
        self._steps.run(OpenWork(self.path), self._take, self._read_on)

    def abandon(self) -> None:
        """Read no further and take no more results: the tab was closed."""
        self._forget_runs()
        self._bytes_timer.stop()
        if self.pages is not None:
            self.pages.close()

    def _forget_runs(self) -> None:
        self._steps.forget()
        self._tables_due = False
        self._check.abandon()

    def _take(self, outcome: Outcome, opened: Opened | None) -> None:
        inspected = opened.inspected if opened else None
        self.inspected, self.error = inspected, opened.error if opened else None
        self.state = SessionState.READY if inspected else SessionState.FAILED
        self.signature = opened.signature if opened else None
        self.usage = opened.usage if opened else None
        self._take_source(opened.source if opened else None)
        self._reset_results()
        if isinstance(outcome, Failed):
            mistake = QcowError(self.tr("the program made a mistake"))
            self.error = outcome.error if isinstance(outcome.error, QcowError) else mistake
        if not self._exists(self._selection):
            self._selection = Selection(StructureKey.HEADER)
        if inspected is not None:
            self._selection = self._refreshed(self._selection)
            if has_mapping(inspected.report):
                self.mapping_state = MappingState.READING
        self.history.visit(self._selection)
        self.changed.emit()
        raise_mistake(outcome)

    def _read_on(self) -> None:
        """Check first, for the map; only then the rest: side by side they would be slower."""
        self._tables_due = True
        self.start_check(deep=False)
        if self.check_state is not CheckState.RUNNING:
            self._read_tables()

    def _read_tables(self) -> None:
        """Go on with a load after its check."""
        if self._tables_due:
            self._tables_due = False
            self._read_mapping()

    def _take_source(self, source: FileSource | None) -> None:
        if self.pages is not None:
            self.pages.close()
            self.pages.deleteLater()
        self.source = source
        self.pages = None
        if source is not None:
            self.pages = PageCache(source, self._runner, self)
            self.pages.loaded.connect(self._page_loaded)

    def _reset_results(self) -> None:
        report = self.inspected.report if self.inspected else None
        self.findings = report.findings if report else ()
        self.mapping, self.mapping_error = None, None
        self.mapping_state = MappingState.UNREAD
        self._check.reset()
        self.index = None
        self.guest_states = no_cells()
        self._make_locator()

    def _make_locator(self) -> None:
        self.locator = None
        if self.inspected is not None and self.pages is not None:
            self.locator = Locator(
                self.inspected.report,
                self.pages.read,
                self.check.ownership if self.check else None,
                self.index,
                self.inspected.structures,
            )

    def _exists(self, selection: Selection) -> bool:
        """Whether the image that was read has such a structure."""
        if selection.structure in (StructureKey.CLUSTER, StructureKey.GUEST):
            return True
        if selection.structure.is_entry_table:
            return self.locator is not None and self.locator.geometry is not None
        structure = self.structure(selection.structure)
        rows = 0 if structure is None else len(structure.table.rows)
        return rows > (selection.row or 0)

    def _refreshed(self, selection: Selection) -> Selection:
        """The same thing in the file as it is now; of bytes without a cluster, the bytes."""
        if self.locator is None or selection.row is None:
            return selection
        return self.locator.at_entry(
            selection.structure, selection.part, selection.row, selection.snapshot
        )

    # ---------------------------------------------------------------- mapping

    def _read_mapping(self) -> None:
        if self.mapping_state is not MappingState.READING:
            self._judge_guest()
        elif self.inspected is not None and self.source is not None:
            work = MappingWork(self.source, self.inspected.report)
            self._steps.run(work, self._take_mapping, self._judge_guest)

    def _take_mapping(self, outcome: Outcome, mapping: MappingSummary | None) -> None:
        self.mapping = mapping
        self.mapping_state = MappingState.READ if mapping else MappingState.UNREAD
        self._collect_findings()
        if isinstance(outcome, Failed):
            self.mapping_state = MappingState.FAILED
            self.mapping_error = outcome.error if isinstance(outcome.error, QcowError) else None
        self.mapping_changed.emit()
        raise_mistake(outcome)

    # ---------------------------------------------------------------- checking

    @property
    def check_state(self) -> CheckState:
        """How far the check is."""
        return self._check.state

    @property
    def check(self) -> CheckReport | None:
        """The last check of this load that was done; also while another one runs."""
        return self._check.report

    @property
    def check_error(self) -> QcowError | None:
        """Why the check failed, when `check_state` is FAILED."""
        return self._check.error

    @property
    def check_progress(self) -> float | None:
        """How far the running check is, 0 to 1, as far as that can be told; None when none runs."""
        return self._check.progress

    @property
    def states(self) -> Cells:
        """uint8: a `ClusterState` of each host cluster; empty until a check was done."""
        return self._check.states

    def start_check(self, deep: bool) -> None:
        """Check the image, `deep` with decoding of all payloads; one that runs is cancelled.

        Raises:
            QcowError: When the system lets this process start no thread.
        """
        if self.inspected is not None and self.source is not None:
            self._check.start(self.source, self.inspected.report, deep=deep)
            if deep:  # that takes too long for the rest to wait
                self._read_tables()

    def cancel_check(self) -> None:
        """Stop a check that runs; what an earlier one found stays."""
        self._check.cancel()
        self._read_tables()

    def _check_changed(self) -> None:
        if self.check_state is CheckState.DONE:
            self._collect_findings()
            self._make_locator()
        self.check_changed.emit()
        if self.check_state in (CheckState.DONE, CheckState.FAILED):
            self._read_tables()  # not when all work is cancelled, as by a window that closes

    def _collect_findings(self) -> None:
        report = self.inspected.report if self.inspected else None
        self.findings = findings_of(report, self.check, self.mapping)

    # ---------------------------------------------------------------- turning round

    def _judge_guest(self) -> None:
        """Judge the guest's clusters, after the mapping was read: together they would be slower."""
        if self.inspected is None or self.source is None:
            return
        report = self.inspected.report
        if report.header.geometry is None:
            return
        # Nothing is opened unasked: a backing file may cover all of the disk.
        backing_bytes = report.virtual_bytes if report.backing_name_raw else 0
        work = GuestStatesWork(self.source, report, backing_bytes)
        self._steps.run(work, self._take_guest, self._build_index)

    def _take_guest(self, outcome: Outcome, states: Cells | None) -> None:
        if states is not None:
            self.guest_states = states
        self.index_changed.emit()
        raise_mistake(outcome)

    def _build_index(self) -> None:
        """Turn the tables round: the last step, because only a look at single bytes needs it."""
        if self.inspected is None or self.source is None:
            return
        work = IndexWork(self.source, self.inspected.report)
        self._steps.run(work, self._take_index, lambda: None)

    def _take_index(self, outcome: Outcome, index: HostIndex | None) -> None:
        if index is not None:
            self.index = index
            self._make_locator()
        self.index_changed.emit()
        self._resolve_again()
        raise_mistake(outcome)
