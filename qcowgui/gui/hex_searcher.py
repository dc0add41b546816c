"""Runs one search at a time beside the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.hex_search import Match, Search


class HexSearcher(QObject):
    """Starts searches, and tells what became of them. Belongs to the GUI's thread.

    Signals:
        progressed: A search is under way: the share of the source passed, 0.0 to 1.0.
        found: The search ended: a Match, or None when there is none.
        failed: It could not be done: a QcowError.
    """

    progressed = Signal(float)
    found = Signal(object)
    failed = Signal(object)

    def __init__(self, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._search: Search | None = None
        self._token = CancelToken()
        runner.pulled.connect(self._pulled)

    @property
    def active(self) -> bool:
        """Whether a search is under way."""
        return self._search is not None

    def start(self, search: Search) -> None:
        """Search; a search under way is given up. Returns at once."""
        self.cancel()
        token = self._token = CancelToken()
        self._search = search

        def finished(outcome: Outcome, match: Match | None) -> None:
            if token is self._token and self._search is not None:
                self._search = None
                self._take(outcome, match)

        self._runner.submit(search, finished, token=token)

    def cancel(self) -> None:
        """Give up the search, if there is one; nothing is told about it any more."""
        self._token.cancel()
        self._search = None

    def _take(self, outcome: Outcome, match: Match | None) -> None:
        if not isinstance(outcome, Failed):
            self.found.emit(match)
        elif isinstance(outcome.error, QcowError):
            self.failed.emit(outcome.error)
        else:
            raise outcome.error

    def _pulled(self) -> None:
        if self._search is not None:
            passed, size = self._search.passed.value, self._search.source.size_bytes
            self.progressed.emit(passed / max(1, size))
