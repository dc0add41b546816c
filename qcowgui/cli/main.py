"""The entry point: which sub-command runs, and what the process returns for what happens in it.

A sub-command's module is imported when that sub-command is used: `--help` and `info` answer before
anything heavy is loaded.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from qcowgui.cli import interrupts, streams
from qcowgui.cli.collector import paused
from qcowgui.cli.output import printable, report_error
from qcowgui.errors import Cancelled, ExitCode, QcowError

COMMANDS: Final = {
    "info": "Show what an image is: sizes, features, snapshots, findings.",
    "check": "Judge the whole metadata: what is wrong, where, and what it means.",
    "explain": "Say what a finding means, what causes it and what to do.",
    "repair": "Write a repaired copy, or show every byte that a repair would change.",
    "salvage": "Find the data of an image whose tables are lost, and write it anew.",
    "map": "Show which guest ranges hold data, zeros or nothing.",
    "compare": "Compare what a guest reads from two images.",
    "convert": "Convert between raw and qcow2, with or without compression.",
    "measure": "Show how large a raw or qcow2 target may become, before compression.",
    "forecast": "Show how large and how quick compressed conversions would be, from a sample.",
    "bench": "Measure codecs, cluster sizes and threads on an image, and how fast it is read.",
    "dump": "Print a structure field by field: offset, raw bytes, value, meaning.",
    "picture": "Draw the cluster map as a PNG file.",
    "integrate": "Add qcowgui to this user's menu and file manager, or take it out again.",
    "demo": "Make sample images, inspect and convert them, and show the window.",
}
"""Sub-command → what `--help` says of it. Each is `command` in the module of its name."""

_WINDOW: Final = "window"
_NEW_WINDOW: Final = "--new-window"
"""May stand before or behind the images."""


@dataclass(slots=True)
class Settings:
    """What holds for the whole run.

    Attributes:
        debug: Whether errors come with a traceback.
        new_window: Whether the window is to be this process's own.
        failed: The exit status of what has none of its own: no memory, an output that can't be
            written, a mistake of ours.
    """

    debug: bool = False
    new_window: bool = False
    failed: int = ExitCode.FAILED


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value:
        context.ensure_object(Settings).debug = True


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        callback=_set_debug,
        help="Show the traceback of an error.",
    )


class LazyGroup(click.Group):
    """The sub-commands of `COMMANDS`, imported when used; anything else is an image to open."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The sub-command, or None when there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        with interrupts.held_back(), paused():
            command: click.Command = importlib.import_module(f"qcowgui.cli.{cmd_name}").command
        if all(parameter.name != "debug" for parameter in command.params):
            command.params.append(_debug_option())
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of sub-commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The sub-command that the first argument names; else all arguments are images to show."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        if _is_mistyped_command(name):
            import difflib

            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"there is no command and no file {name!r}{hint}", ctx)
        images = [word for word in args if word != _NEW_WINDOW]
        if len(images) < len(args):
            ctx.ensure_object(Settings).new_window = True
        # The separator keeps a file called -x.qcow2 a file.
        return _WINDOW, _window_command, ["--", *images]


def _is_mistyped_command(name: str) -> bool:
    return name.isidentifier() and not os.path.lexists(name)


def _print_versions(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value:
        from qcowgui.report.versions import versions_text

        click.echo(versions_text())
        context.exit()


@click.command(_WINDOW)
@click.argument("images", nargs=-1, type=click.Path())
@click.pass_obj
def _window_command(settings: Settings, images: tuple[str, ...]) -> int:
    from qcowgui.cli.window import open_window

    return open_window(images, new_window=settings.new_window)


@click.command(
    cls=LazyGroup,
    invoke_without_command=True,
    params=[_debug_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[--debug] [--new-window]",
    subcommand_metavar="[COMMAND [ARGUMENT]... | IMAGE...]",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Show the version, and those of the libraries, and exit.",
)
@click.option(
    _NEW_WINDOW,
    is_flag=True,
    help="Open another window, even where one is open that could show the images.",
)
@click.pass_context
def qcowgui(context: click.Context, new_window: bool) -> int | None:
    """See inside qcow2 disk images, check and convert them.

    Without a command the window opens, with the images named. A file called as a command is
    given as ./info, one that starts with a dash after --.

    Exit status: 0 good, 1 failed or bad usage, 2 corrupt, 3 leaks only,
    63 unsupported, 130 cancelled.
    """
    if new_window:
        context.ensure_object(Settings).new_window = True
    if context.invoked_subcommand is not None:
        if new_window and context.invoked_subcommand != _WINDOW:
            message = f"--new-window is for images, not for {context.invoked_subcommand!r}"
            raise click.UsageError(message, context)
        return None
    from qcowgui.cli.window import open_window

    return open_window((), new_window=new_window)


def run(arguments: Sequence[str]) -> int:
    """Run the command line `arguments` (program name left out); the exit status.

    Nothing is raised: this is the top-level hook of the command line.
    """
    settings = Settings()
    try:
        # Not click's own main: it would answer Ctrl-C and a broken pipe before this hook can.
        with qcowgui.make_context("qcowgui", list(arguments), obj=settings) as context:
            result = qcowgui.invoke(context)
        sys.stdout.flush()
        return result if isinstance(result, int) else ExitCode.GOOD
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, Cancelled, click.Abort) as error:
        report_error(error, "cancelled", debug=settings.debug)
        return ExitCode.CANCELLED
    except click.ClickException as error:
        report_error(error, _usage_message(error), hint=_usage_hint(error), debug=settings.debug)
        return ExitCode.FAILED
    except QcowError as error:
        report_error(error, debug=settings.debug)
        return error.exit_code
    except (OSError, MemoryError) as error:
        _report_refusal(error, debug=settings.debug)
        return settings.failed
    except Exception as error:  # noqa: BLE001  the top-level hook
        hint = (
            "this is a mistake in qcowgui: please report it among the issues of its repository, "
            "with what --debug prints"
        )
        message = f"unexpected {type(error).__name__}: {error}"
        report_error(error, message, hint=hint, debug=settings.debug)
        return settings.failed


def _report_refusal(error: OSError | MemoryError, *, debug: bool) -> None:
    """Print what the system refused; nothing when the reader of stdout has left, as `head` does."""
    hint = ""
    if isinstance(error, BrokenPipeError):
        return
    if isinstance(error, MemoryError):
        message = "there is not enough memory"
        hint = "close other programs, or work with fewer threads where there is -m"
    elif error.filename is None and error.strerror:
        # Errors of images and targets are converted long before. One without a file's name is of a
        # stream that was open from the start: standard output, as nothing is read from standard
        # input and standard error's are not told.
        message = f"standard output can't be written: {error.strerror}"
    else:
        message = f"the system refused: {error}"
    report_error(error, message, hint=hint, debug=debug)


def _usage_message(error: click.ClickException) -> str:
    return printable(error.format_message().rstrip("."))


def _usage_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path} --help lists what is possible" if context else ""


def _trace_crashes() -> None:
    """Have a crash in a library say where the program was."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # it may be closed, or no file
            faulthandler.enable()


def main() -> int:
    """Run the process's command line; the exit status."""
    _trace_crashes()
    streams.prepare()
    # Importing numpy starts a thread of its linear algebra for each core; nothing here needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = run(sys.argv[1:])
    # After Ctrl-C nothing may wait for a reader that doesn't read.
    streams.settle(drop=status == ExitCode.CANCELLED)
    interrupts.ignore()
    return status
