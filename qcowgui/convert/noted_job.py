"""A conversion whose result the next run recognises, whatever ends this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qcowgui.convert.done_record import note_done, note_intent, source_facts

if TYPE_CHECKING:
    from qcowgui.convert.job import ConvertJob, ConvertResult, Warn
    from qcowgui.engine.work import Executor
    from qcowgui.image.references import Gate


def run_noted(
    job: ConvertJob, executor: Executor, gate: Gate, *, warn: Warn | None = None
) -> ConvertResult:
    """Run a job, and note its result where it was verified.

    Args:
        job: What to run.
        executor: Where its workers run.
        gate: That of the job.
        warn: As for `ConvertJob.run`.

    Raises:
        QcowError: As `ConvertJob.run` does; likewise Cancelled.
    """
    options = job.options
    if not options.verify:
        return job.run(executor, warn=warn)
    before = source_facts(options, gate)
    result = job.run(
        executor,
        warn=warn,
        before_move=lambda part, losses: note_intent(options, before, part, losses),
    )
    note_done(options, before, gate, result.losses)
    return result
