"""`qcowgui compare`: whether a guest reads the same from two images.

The exit status is qemu-img's: 0 the same, 1 different, 2 one can't be opened, 4 one can't be read
or the answer can't be told.
"""

from __future__ import annotations

from contextlib import ExitStack
from enum import IntEnum
from typing import TYPE_CHECKING

import click

from qcowgui.cli import interrupts, output, parameters, progress
from qcowgui.cli.progress import State
from qcowgui.errors import QcowError

if TYPE_CHECKING:
    from qcowgui.engine.qpool import QPoolExecutor
    from qcowgui.engine.work import Executor


class CompareCode(IntEnum):
    """What `qcowgui compare` returns, as `qemu-img compare` does."""

    SAME = 0
    DIFFERENT = 1
    NOT_OPENED = 2
    NOT_READ = 4


@click.command("compare", cls=parameters.GatedCommand)
@click.argument("left", type=click.Path(), metavar="IMAGE1")
@click.argument("right", type=click.Path(), metavar="IMAGE2")
@click.option("-f", "left_format", metavar="FMT", help="The first image's format: qcow2 or raw.")
@click.option("-F", "right_format", metavar="FMT", help="The second image's format.")
@click.option(
    "-s", "strict", is_flag=True, help="Different sizes or allocation count as a difference."
)
@click.option("-p", "show_progress", is_flag=True, help="Show progress, not only on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option(
    "-m",
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    metavar="N",
    help="Threads to work with; by default one.",
)
@parameters.allow_backing_option
@parameters.share_option
@click.pass_context
def command(
    context: click.Context,
    left: str,
    right: str,
    left_format: str | None,
    right_format: str | None,
    strict: bool,
    show_progress: bool,
    quiet: bool,
    threads: int,
    allow_backing: tuple[str, ...],
) -> int:
    """Compare what a guest reads from two images.

    If their sizes differ, the rest of the longer one must read as zeros.

    Exit status: 0 the same, 1 different (or bad usage), 2 an image can't be opened, 4 it can't be
    read, or the answer can't be written.
    """
    with interrupts.held_back():
        from qcowgui.convert.compare import compare_images
        from qcowgui.engine.work import CancelToken, Counter, SerialExecutor
        from qcowgui.image.chain import open_image

    # Whatever else goes wrong must not read as "different".
    context.obj.failed = CompareCode.NOT_READ
    gate = parameters.gate_for(allow_backing)
    debug = context.obj.debug
    with ExitStack() as stack:
        try:
            one = stack.enter_context(open_image(left, format=left_format, gate=gate))
            other = stack.enter_context(open_image(right, format=right_format, gate=gate))
        except QcowError as error:
            output.report_error(error, debug=debug)
            return CompareCode.NOT_OPENED
        counter = Counter()
        total = max(one.size_bytes, other.size_bytes)
        if progress.wanted(forced=show_progress, quiet=quiet):
            state = progress.shown(lambda: State("comparing", counter.value, total))
            stack.enter_context(state)
        executor: Executor = SerialExecutor()
        if threads > 1:
            executor = stack.enter_context(_pool(threads))
        try:
            comparison = compare_images(
                one, other, executor, strict=strict, token=CancelToken(), counter=counter
            )
        except QcowError as error:
            stack.close()
            output.report_error(error, debug=debug)
            return CompareCode.NOT_READ
    if not quiet:
        output.print_line(comparison.message)
    return CompareCode.SAME if comparison.equal else CompareCode.DIFFERENT


def _pool(threads: int) -> QPoolExecutor:
    with interrupts.held_back():
        from qcowgui.engine.qpool import QPoolExecutor

    return QPoolExecutor(threads)
