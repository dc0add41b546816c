"""The command "Export report…": asks for a file, writes beside the window, says what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.health import usage_of
from qcowgui.gui.image_check import CheckState
from qcowgui.gui.report.work import ReportWork
from qcowgui.gui.session import Session

PAGE_SUFFIX: Final = ".html"
DATA_SUFFIX: Final = ".json"


class ReportExport(QObject):
    """Exports reports of one session. Belongs to the GUI's thread.

    Signals:
        written: The files are in place: a tuple of paths.
        failed: They could not be written: a `QcowError`.
    """

    written = Signal(object)
    failed = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._window = parent

    @property
    def can_export(self) -> bool:
        """Whether there is anything to report."""
        return self._session.inspected is not None and self._session.source is not None

    def choose_file(self, folder: str = "") -> QFileDialog | None:
        """Ask where to; the dialog deletes itself when it is closed.

        Args:
            folder: Where to begin; by default beside the image.

        Returns:
            The dialog, or None when there is nothing to report.
        """
        if not self.can_export:
            return None
        start = folder or str(self._session.path.parent)
        dialog = QFileDialog(self._window, self.tr("Export report"), start)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        both = self.tr("HTML page, with JSON beside it (*.html)")
        page = self.tr("HTML page alone (*.html)")
        data = self.tr("JSON alone (*.json)")
        dialog.setNameFilters([both, page, data])
        dialog.setDefaultSuffix(PAGE_SUFFIX[1:])
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix(
                (DATA_SUFFIX if chosen == data else PAGE_SUFFIX)[1:]
            )
        )
        dialog.selectFile(f"{self._session.path.name}-report{PAGE_SUFFIX}")
        dialog.fileSelected.connect(
            lambda path: self._chosen(Path(path), beside=dialog.selectedNameFilter() == both)
        )
        dialog.open()
        return dialog

    def export(self, page: Path | None, data: Path | None) -> None:
        """Write what is known now; existing files are replaced. Returns at once."""
        session = self._session
        if session.source is None or session.inspected is None:
            return
        usage = usage_of(session)
        work = ReportWork(
            session.source,
            session.inspected.report,
            session.mapping,
            session.check,
            self._check_note(),
            "" if usage is None else usage.detail,
            session.states,
            session.guest_states,
            page,
            data,
            datetime.now(UTC),
        )
        session.runner.submit(work, self._finish)

    def _chosen(self, path: Path, *, beside: bool) -> None:
        if path.suffix.lower() == DATA_SUFFIX:
            self.export(None, path)
        elif not beside:
            self.export(path, None)
        else:
            self._export_both(path, path.with_suffix(DATA_SUFFIX))

    def _export_both(self, page: Path, data: Path) -> None:
        """Export both; the dialog has asked about the page only."""
        if not data.exists():
            self.export(page, data)
            return
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(self.tr("Export report"))
        box.setText(self.tr("{name} exists already. Replace it, too?").format(name=data.name))
        replace = box.addButton(self.tr("Replace"), QMessageBox.ButtonRole.AcceptRole)
        page_only = box.addButton(self.tr("Page alone"), QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        replace.clicked.connect(lambda: self.export(page, data))
        page_only.clicked.connect(lambda: self.export(page, None))
        box.open()

    def _check_note(self) -> str:
        session = self._session
        if session.check is not None:
            return ""
        error = session.check_error
        return {
            CheckState.NONE: "not checked",
            CheckState.RUNNING: "the check had not finished yet",
            CheckState.CANCELLED: "the check was cancelled",
            CheckState.FAILED: f"the check failed{f': {error.message}' if error else ''}",
            CheckState.DONE: "",
        }[session.check_state]

    def _finish(self, outcome: Outcome, paths: tuple[Path, ...] | None) -> None:
        if paths is not None:
            self.written.emit(paths)
        elif isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.failed.emit(outcome.error)
