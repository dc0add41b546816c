"""What `convert --out-dir` says: how far it is, how each conversion has ended, and all together."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from qcowgui.cli import output, progress
from qcowgui.cli.batch_run import Batch, Event, Row, RowState
from qcowgui.cli.convert_text import result_object, summary, warnings_of
from qcowgui.cli.json_progress import JsonProgress, failure_sentence, failure_status
from qcowgui.cli.progress import ProgressLine, State
from qcowgui.errors import Cancelled, ExitCode, OptionsError, QcowError
from qcowgui.units import format_count

if TYPE_CHECKING:
    from qcowgui.convert.batch import Refusal

_MAX_NOTES: Final = 20
"""Lines about files that lay beside the images; further ones are only counted."""


class BatchReport:
    """Tells of a batch, for people or for programs. For the main thread."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._quiet: bool = given["quiet"]
        self._as_json: bool = given["as_json"]
        self._stream = JsonProgress() if given["json_progress"] else None
        self._wants_line = self._stream is None and progress.wanted(
            forced=given["show_progress"], quiet=self._quiet
        )
        self._line: ProgressLine | None = None
        self._refusals: Sequence[Refusal] = ()
        self._told: set[tuple[int, str]] = set()
        self._repeated: Counter[str] = Counter()
        self._unwritable: OSError | None = None

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Tell what is not converted."""
        self._refusals = refusals
        notes = 0
        for refusal in refusals:
            if self._stream is not None:
                self._stream.tell(
                    "left-out",
                    phase="failed" if refusal.is_failure else "",
                    message=refusal.sentence,
                    finished=True,
                    path=os.fspath(refusal.path),
                    hint=refusal.hint,
                )
            elif refusal.is_failure:
                output.report_error(OptionsError(refusal.sentence, hint=refusal.hint))
            else:
                notes += 1
                if notes <= _MAX_NOTES and not self._quiet:
                    output.warn(f"left out: {refusal.sentence}")
        if notes > _MAX_NOTES and not self._quiet:
            output.warn(f"left out: {format_count(notes - _MAX_NOTES, 'more file')}")

    def note(self, sentence: str) -> None:
        """Tell what is known before the work begins, and concerns no single conversion."""
        if self._stream is not None:
            self._stream.tell("warning", message=sentence)
        elif not self._quiet:
            output.warn(sentence)

    def begin(self, batch: Batch) -> None:
        """Tell what will be done."""
        if self._stream is not None:
            for row in batch.rows:
                self._stream.begin(row.number, row.options.source, row.options.target)
        elif self._wants_line and batch.rows:
            self._line = ProgressLine(lambda: _state(batch))

    def tick(self, batch: Batch) -> None:
        """Tell what has happened since the last time, and how far the running ones are."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._tell(batch.events.get_nowait())
        if self._line is not None:
            self._line.tick()
        elif self._stream is not None:
            for row in batch.rows:
                if row.state is RowState.RUNNING and row.job is not None:
                    self._stream.progress(row.number, row.job.progress())
                elif row.state is RowState.COMPARING:
                    self._stream.comparing(row.number, row.compared.value)

    def close(self) -> None:
        """Take away the progress line."""
        if self._line is not None:
            self._line.close()

    def _tell(self, event: Event) -> None:
        row = event.row
        if event.warning:
            self._warn(row, event.warning)
            return
        for warning in _warnings(row):
            self._warn(row, warning)
        if self._stream is not None:
            self._tell_stream(self._stream, row)
        elif row.state is RowState.FAILED and row.error is not None:
            self._clear_line()
            hint = row.error.hint if isinstance(row.error, QcowError) else ""
            output.report_error(row.error, _named(row, failure_sentence(row.error)), hint=hint)
        if row.state in (RowState.DONE, RowState.SKIPPED) and not (self._quiet or self._as_json):
            self._print(_sentence(row))

    def _tell_stream(self, stream: JsonProgress, row: Row) -> None:
        if row.state is RowState.DONE and row.result is not None:
            stream.done(row.number, _sentence(row), result_object(row.options, row.result))
        elif row.state is RowState.FAILED and row.error is not None:
            stream.failed(row.number, row.error)
        else:
            stream.finished(row.number, row.state.value, message=_sentence(row))

    def _warn(self, row: Row, warning: str) -> None:
        if (row.number, warning) in self._told:
            return
        self._told.add((row.number, warning))
        if self._stream is not None:
            self._stream.tell("warning", job=row.number, message=warning)
        elif not self._quiet:
            self._repeated[warning] += 1
            if self._repeated[warning] == 1:
                self._clear_line()
                output.warn(_named(row, warning))

    def _clear_line(self) -> None:
        if self._line is not None and sys.stderr.isatty():
            self._line.close()

    def _print(self, text: str) -> None:
        """Print a line of the results."""
        self._clear_line()
        self._write(lambda: output.print_line(text))

    def _write(self, write: Callable[[], None]) -> None:
        """Write to standard output; what fails is told at the end, and stops no work."""
        if self._unwritable is not None:
            return
        try:
            write()
            sys.stdout.flush()
        except OSError as error:
            self._unwritable = error

    def finish(self, batch: Batch) -> int:
        """Tell how all have ended; the exit status.

        Raises:
            QcowError: When standard output could not be written.
        """
        status = _status(batch, self._refusals)
        for warning, count in self._repeated.items():
            if count > 1:
                output.warn(f"{format_count(count - 1, 'more source')}: {warning}")
        counts = dict.fromkeys(RowState, 0)
        for row in batch.rows:
            counts[row.state] += 1
        text = _summary(counts, sum(refusal.is_failure for refusal in self._refusals))
        if self._stream is not None:
            self._stream.summarise(
                status,
                done=counts[RowState.DONE],
                skipped=counts[RowState.SKIPPED],
                failed=counts[RowState.FAILED],
                cancelled=counts[RowState.CANCELLED],
                message=text,
            )
        elif status is ExitCode.CANCELLED:
            # Its reader may have been stopped by the same Ctrl-C: nothing on standard output.
            output.report_error(Cancelled(), f"cancelled; {text}")
        if status is ExitCode.CANCELLED:
            return status
        if self._as_json:
            self._write(lambda: output.print_json(_batch_object(batch, self._refusals, status)))
        elif not self._quiet and self._stream is None:
            self._print(text)
        if self._unwritable is not None:
            raise QcowError(
                f"{text}; but standard output can't be written: {self._unwritable.strerror}"
            ) from self._unwritable
        return status


def _named(row: Row, sentence: str) -> str:
    """The sentence, with the source's name unless it has that already."""
    name = os.fspath(row.options.source)
    return sentence if name in sentence else f"{name}: {sentence}"


def _warnings(row: Row) -> list[str]:
    """What is to be said of a row's target."""
    if row.result is not None:
        return warnings_of(row.result)
    warning = row.done.warning(row.options.target) if row.done is not None else ""
    return [warning] if warning else []


def _sentence(row: Row) -> str:
    """How a row has ended."""
    if row.result is not None:
        return summary(row.options, row.result)
    if row.state is RowState.SKIPPED:
        return f"{row.options.target}: skipped, as it is done and verified already"
    return str(row.state.value)


def _state(batch: Batch) -> State:
    """What the progress line shows: which of how many, and the running ones together."""
    ended = done = total = 0
    label = RowState.WAITING.value
    for row in batch.rows:
        if row.state in (RowState.WAITING, RowState.COMPARING, RowState.RUNNING):
            if row.state is RowState.COMPARING:
                label = row.state.value
            elif row.state is RowState.RUNNING and row.job is not None:
                now = row.job.progress()
                label = now.phase.value
                done, total = done + now.done_bytes, total + now.total_bytes
        else:
            ended += 1
    return State(f"{min(ended + 1, len(batch.rows))} of {len(batch.rows)}, {label}", done, total)


def _status(batch: Batch, refusals: Sequence[Refusal]) -> ExitCode:
    """The exit status: that of the failures when it is the same for all, else FAILED."""
    if any(row.state is RowState.CANCELLED for row in batch.rows):
        return ExitCode.CANCELLED
    found = {failure_status(row.error) for row in batch.rows if row.error is not None}
    if any(refusal.is_failure for refusal in refusals):
        found.add(ExitCode.FAILED)
    if len(found) == 1:
        return found.pop()
    return ExitCode.FAILED if found else ExitCode.GOOD


def _summary(counts: Mapping[RowState, int], refused: int) -> str:
    """How many rows ended in which way."""
    parts = [f"{counts[RowState.DONE]:,} converted"]
    for number, what in (
        (counts[RowState.SKIPPED], "done already"),
        (counts[RowState.FAILED], "failed"),
        (counts[RowState.CANCELLED], "cancelled"),
        (refused, "refused"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    return f"{format_count(sum(counts.values()) + refused, 'source')}: {', '.join(parts)}"


def _batch_object(batch: Batch, refusals: Sequence[Refusal], status: ExitCode) -> dict[str, Any]:
    """What came of a batch, as JSON."""
    results = []
    for row in batch.rows:
        found: dict[str, Any] = {
            "source": os.fspath(row.options.source),
            "target": os.fspath(row.options.target),
            "state": row.state.value,
        }
        if row.result is not None:
            found["result"] = result_object(row.options, row.result)
        if row.done is not None:
            found["warnings"] = _warnings(row)
        if row.error is not None:
            found["error"] = failure_sentence(row.error)
        results.append(found)
    return {
        "schema": output.SCHEMA,
        "results": results,
        "left-out": [
            {
                "path": os.fspath(refusal.path),
                "reason": refusal.reason,
                "failure": refusal.is_failure,
            }
            for refusal in refusals
        ],
        "exit": int(status),
    }
