"""The steps in which an image is loaded: one after the other beside the window, until overtaken."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner, Work

T = TypeVar("T")


class LoadSteps:
    """Runs the steps of one load at a time. Belongs to the GUI's thread."""

    def __init__(self, runner: BackgroundRunner) -> None:
        self._runner = runner
        self._load = 0
        self._token = CancelToken()

    def forget(self) -> None:
        """Stop what runs: it was for nothing, and reports nothing any more."""
        self._load += 1
        self._token.cancel()

    def run(
        self, work: Work[T], take: Callable[[Outcome, T | None], None], then: Callable[[], None]
    ) -> None:
        """Run one step of a load, and the next one `then`, whatever came of this one.

        When all work is cancelled, as by a window that closes, no step follows.

        Args:
            work: What to run; it must not refer to anything of Qt.
            take: Gets the outcome, unless `forget` was called meanwhile.
            then: Starts the next step.
        """
        load = self._load
        token = self._token = CancelToken()

        def finished(outcome: Outcome, result: T | None) -> None:
            if load != self._load:
                return
            take(outcome, result)
            stopped = token.cancelled and not isinstance(outcome, Failed)
            if load == self._load and not stopped:  # `take` may have begun to load again
                then()

        self._runner.submit(work, finished, token=token)


def raise_mistake(outcome: Outcome) -> None:
    """Raise what is no trouble with a file, but this program's own mistake."""
    if isinstance(outcome, Failed) and not isinstance(outcome.error, QcowError):
        raise outcome.error
