"""Puts what a desktop needs to know into a package: stage_desktop.py DATA-FOLDER [PLACE=SHELL…].

The files and their places are those of `qcowgui integrate`; the man page and the completions
are made from the command line of the qcowgui that this Python has.
"""

from __future__ import annotations

import sys
from pathlib import Path

from qcowgui.cli.integrate import PLACES, command_line_texts
from qcowgui.desktop.places import desktop_files


def main(arguments: list[str]) -> int:
    """Write the files; the exit status."""
    folder = Path(arguments[0])
    places = dict(PLACES)
    for argument in arguments[1:]:
        place, _, shell = argument.partition("=")
        places[shell] = place
    made = command_line_texts()
    texts = {place: made[name] for name, place in places.items()}
    for file in desktop_files(["qcowgui"], texts, thumbnails=False):
        target = folder / file.place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
