"""`qcowgui integrate`: into the menu and the file manager of this user, and out again."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from qcowgui.cli import interrupts
from qcowgui.cli.collector import paused
from qcowgui.cli.output import print_line, printable, warn
from qcowgui.errors import QcowError, UnsupportedError

if TYPE_CHECKING:
    from qcowgui.desktop.integration import Outcome

_HELP: Final = """Add qcowgui to the menu, and let the file manager open qcow2 images with it.

For this user alone, in the folders of the XDG specification, by default below ~/.local/share: a
menu entry, icons, a man page, completions for bash and fish. Nothing else is changed, and what
somebody else wrote is never replaced. To repeat it changes nothing; --remove takes it all away.

A package of your system does this by itself. It is for installations by pip or pipx, or from the
archive; after moving such an installation, run it again.

--print writes a page or a script to standard output, for places of your own:
qcowgui integrate --print zsh > ~/.zfunc/_qcowgui
"""
PLACES: Final = {
    "man": "man/man1/qcowgui.1",
    "bash": "bash-completion/completions/qcowgui",
    "fish": "fish/vendor_completions.d/qcowgui.fish",
}
"""What is made of the command line, and where in a user's data folder it is found unasked; zsh
looks in none of a user's folders."""


@click.command("integrate", help=_HELP)
@click.option("--remove", is_flag=True, help="Take it all away again.")
@click.option(
    "--thumbnails",
    is_flag=True,
    help="Let the file manager draw the cluster map as the thumbnail of an image, too.",
)
@click.option(
    "--print",
    "printed",
    type=click.Choice(["man", "bash", "fish", "zsh"]),
    help="Print the man page, or the completions of this shell, and do nothing else.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def command(remove: bool, thumbnails: bool, printed: str | None, quiet: bool) -> None:
    """Integrate; see `_HELP`."""
    if printed is not None:
        sys.stdout.write(command_line_texts()[printed])
        return
    if sys.platform in ("win32", "darwin"):
        raise UnsupportedError(
            "this system has no menu that programs are added to by files",
            hint="the installer, or the application in its folder, opens qcow2 images by itself",
        )
    with interrupts.held_back(), paused():
        from qcowgui.desktop import integration
        from qcowgui.desktop.places import ENTRY, MIME_TYPE, desktop_files

    if remove:
        outcome = integration.remove()
    else:
        made = command_line_texts()
        texts = {place: made[name] for name, place in PLACES.items()}
        outcome = integration.integrate(
            desktop_files(program_command(), texts, thumbnails=thumbnails)
        )
    for problem in outcome.problems:
        warn(problem)
    if quiet:
        return
    _tell(outcome, removing=remove)
    if not remove:
        other = integration.default_application()
        if other not in ("", ENTRY):
            print_line(
                f"qcow2 images still open with {printable(other)}; to open them with qcowgui: "
                f"xdg-mime default {ENTRY} {MIME_TYPE}"
            )


def _tell(outcome: Outcome, *, removing: bool) -> None:
    """Print what was done, in a few lines."""
    for path in outcome.kept:
        print_line(f"left as it is, since somebody changed it: {printable(str(path))}")
    for verb, paths in (("written", outcome.written), ("removed", outcome.removed)):
        if paths:
            folder = printable(os.path.commonpath([path.parent for path in paths]))
            files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
            print_line(f"{files} {verb} below {folder}")
    if not outcome.changed:
        print_line("nothing to remove" if removing else "everything is in place already")
    elif not removing:
        print_line("qcowgui is in the menu, and offered for qcow2 images; --remove takes it out")


def command_line_texts() -> dict[str, str]:
    """The man page and the completions, by what `--print` calls them."""
    with interrupts.held_back(), paused():
        from qcowgui.cli.command_tree import command_tree
        from qcowgui.cli.completions import SCRIPTS
        from qcowgui.cli.manual_page import manual_page

    tree = command_tree()
    return {
        "man": manual_page(tree),
        **{shell: make_script(tree) for shell, make_script in SCRIPTS.items()},
    }


def program_command() -> list[str]:
    """What starts this very installation, from any folder.

    Raises:
        QcowError: When it is not installed.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable]
    script = Path(sysconfig.get_path("scripts"), "qcowgui")
    if not script.is_file():
        raise QcowError(
            f"there is no command {script} that a menu could start",
            hint="install qcowgui first: pip install . in its folder",
        )
    return [str(script)]
