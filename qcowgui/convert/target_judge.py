"""Whether what is at a conversion's target is its result: told by a note, or by comparing."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TYPE_CHECKING

from qcowgui.convert.done_record import Done, Undone, file_facts, note_done, recall, source_facts
from qcowgui.convert.losses import list_losses
from qcowgui.convert.output import check_target
from qcowgui.convert.result_comparison import compare_result
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor
from qcowgui.errors import OutputError, QcowError
from qcowgui.image.references import DENY, Gate

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions


def judge_target(
    options: ConvertOptions,
    executor: Executor | None = None,
    *,
    gate: Gate = DENY,
    token: CancelToken | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> Done | Undone:
    """Whether the target of a conversion is its complete and verified result already.

    With a note that is quick. Without one both are read, which leaves a note when they are equal,
    and with salvage the list of what could not be read; the level of compression can't be told
    then.

    Args:
        options: The conversion.
        executor: Where to compare; None: in this thread.
        gate: Decides whether backing and data files may be opened.
        token: Stops a comparison.
        counter: Gets guest bytes as they are compared.
        tick: Called now and then in this thread.

    Raises:
        Cancelled: When the token was set.
    """
    target = file_facts(options.target)
    if target is None:
        return Undone()
    try:
        before = source_facts(options, gate)
        known = recall(options, target, before)
        if known is not None:
            return known
        likeness = compare_result(
            options,
            gate,
            executor or SerialExecutor(),
            token or CancelToken(),
            counter=counter,
            tick=tick,
        )
        if likeness.difference:
            return Undone(likeness.difference)
        if options.salvage:
            list_losses(options, likeness.losses)
    except (QcowError, OSError):
        return Undone()
    note_done(options, before, gate, likeness.losses, compared=True)  # the next time is quick
    return Done("content", sum(lost.length for lost in likeness.losses), len(likeness.losses))


def find_done(
    options: ConvertOptions,
    executor: Executor,
    gate: Gate,
    *,
    token: CancelToken | None = None,
    counter: Counter | None = None,
) -> Done | None:
    """The target as `judge_target` finds it done; None when nothing is there.

    Raises:
        OutputError: When something else is there; it says how that differs.
        Cancelled: When the token was set.
    """
    found = judge_target(options, executor, gate=gate, token=token, counter=counter)
    if isinstance(found, Done):
        return found
    try:
        check_target(options.target, overwrite=False)
    except OutputError as error:
        if error.errno == errno.EEXIST and found.reason:
            raise OutputError(
                f"{error.message} and {found.reason}",
                path=error.path,
                errno=error.errno,
                hint=error.hint,
            ) from error
        raise
    return None
