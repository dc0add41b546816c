"""`--json-progress`: how far conversions are, as one JSON object a line on standard error.

Every object has the keys of `JsonProgress.tell`. Types: "job" for each that will run, "progress",
"warning", "left-out" for what is no source, "finished" with the outcome of one job, "summary" at
the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from qcowgui.cli.output import SCHEMA, error_sentence
from qcowgui.errors import ExitCode, QcowError

if TYPE_CHECKING:
    from pathlib import Path

    from qcowgui.convert.job import Progress

_INTERVAL_SECONDS: Final = 0.5


class JsonProgress:
    """Writes the lines. For one thread."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """A stream on which nothing was told yet.

        Args:
            clock: Seconds, from any start.
        """
        self._clock = clock
        self._last: dict[int, tuple[str, float]] = {}

    def tell(
        self,
        kind: str,
        *,
        job: int | None = None,
        phase: str = "",
        current: int = 0,
        total: int = 0,
        message: str = "",
        finished: bool = False,
        **more: object,
    ) -> None:
        """Write one object. That nobody can read it stops no work.

        Args:
            kind: Its type.
            job: Which one, from 1 on; None: the whole run.
            phase: What the job does, or how it has ended.
            current: Guest bytes dealt with in this phase; jobs for the whole run.
            total: Of how many; 0 while that is not known.
            message: A sentence for people.
            finished: Whether nothing more comes of this job, or of the run.
            more: Further keys; underscores become dashes.
        """
        line: dict[str, Any] = {
            "type": kind,
            "job": job,
            "phase": phase,
            "current": current,
            "total": total,
            "message": message,
            "finished": finished,
            "schema": SCHEMA,
        }
        line |= {key.replace("_", "-"): value for key, value in more.items()}
        with contextlib.suppress(OSError):
            sys.stderr.write(json.dumps(line) + "\n")
            sys.stderr.flush()

    def begin(self, job: int, source: Path, target: Path) -> None:
        """Tell that a job is there."""
        self.tell(
            "job",
            job=job,
            phase="waiting",
            message=f"{source} → {target}",
            source=os.fspath(source),
            target=os.fspath(target),
        )

    def progress(self, job: int, now: Progress) -> None:
        """Tell how far a job is: when its phase changes, else some times in a second at most."""
        phase = now.phase.value
        if self._is_due(job, phase):
            self.tell(
                "progress",
                job=job,
                phase=phase,
                current=now.done_bytes,
                total=now.total_bytes,
                written=now.written_bytes,
            )

    def comparing(self, job: int, current: int) -> None:
        """Tell how far a job is with comparing a target that was there already."""
        if self._is_due(job, "comparing"):
            self.tell("progress", job=job, phase="comparing", current=current)

    def _is_due(self, job: int, phase: str) -> bool:
        now = self._clock()
        last_phase, last_time = self._last.get(job, ("", 0.0))
        if phase == last_phase and now - last_time < _INTERVAL_SECONDS:
            return False
        self._last[job] = phase, now
        return True

    def done(self, job: int, message: str, result: Mapping[str, Any]) -> None:
        """Tell that a job is done; `result` is what `--json` prints of it."""
        size = result["virtual-size"]
        self.finished(job, "done", current=size, total=size, message=message, result=result)

    def failed(self, job: int, error: BaseException) -> ExitCode:
        """Tell that a job has failed, and why; the exit status that it stands for."""
        status = failure_status(error)
        hint = error.hint if isinstance(error, QcowError) else ""
        self.finished(job, "failed", message=failure_sentence(error), hint=hint, exit=int(status))
        return status

    def finished(
        self,
        job: int,
        phase: str,
        *,
        current: int = 0,
        total: int = 0,
        message: str,
        **more: object,
    ) -> None:
        """Tell the outcome of a job."""
        self._last.pop(job, None)
        self.tell(
            "finished",
            job=job,
            phase=phase,
            current=current,
            total=total,
            message=message,
            finished=True,
            **more,
        )

    def summarise(
        self,
        status: ExitCode,
        *,
        done: int = 0,
        skipped: int = 0,
        failed: int = 0,
        cancelled: int = 0,
        message: str = "",
    ) -> None:
        """Tell the end of the run: how many jobs ended in which way, and the exit status."""
        ended = done + skipped + failed
        if status is ExitCode.CANCELLED:
            phase = "cancelled"
        else:
            phase = "done" if status is ExitCode.GOOD else "failed"
        self.tell(
            "summary",
            phase=phase,
            current=ended,
            total=ended + cancelled,
            message=message or phase,
            finished=True,
            done=done,
            skipped=skipped,
            failed=failed,
            cancelled=cancelled,
            exit=int(status),
        )


def failure_sentence(error: BaseException) -> str:
    """Why a job has failed."""
    if isinstance(error, QcowError):
        return error_sentence(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    return f"the system refused: {error}"


def failure_status(error: BaseException) -> ExitCode:
    """The exit status that an error stands for."""
    return error.exit_code if isinstance(error, QcowError) else ExitCode.FAILED
