"""The door to the window: the only module of the command line that knows of gui/.

Where no display is, it says so; every sub-command works without one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from qcowgui.cli import interrupts
from qcowgui.errors import QcowError


def has_display() -> bool:
    """Whether Qt can be expected to find something to draw on here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def has_visible_display() -> bool:
    """Whether a person can be expected to see a window."""
    return has_display() and os.environ.get("QT_QPA_PLATFORM") not in ("offscreen", "minimal")


def open_window(images: Sequence[str], *, new_window: bool = False) -> int:
    """Show the window with `images` opened; the exit status, once it is closed.

    Where this user has a window already, that one opens them, unless `new_window`.

    Raises:
        QcowError: When there is no display, or Qt can't be loaded.
    """
    if not has_display():
        raise QcowError(
            "the window needs a display, and there is none here",
            hint="the command line works without: qcowgui info IMAGE, qcowgui --help",
        )
    try:
        with interrupts.held_back():
            from qcowgui.gui.app import main
    except ImportError as error:
        raise _qt_missing(error) from error
    return main([*(["--new-window"] if new_window else []), "--", *images])


def screenshot(images: Sequence[Path], target: Path) -> None:
    """Draw the window with `images` opened into a PNG file, without a display.

    Raises:
        QcowError: When Qt can't be loaded.
    """
    try:
        with interrupts.held_back():
            from qcowgui.gui.app import screenshot as draw
    except ImportError as error:
        raise _qt_missing(error) from error
    # Even where a display is: nothing shall flash up there.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        draw(images, target)
    except OSError as error:
        raise QcowError(f"{target} can't be drawn: {error}") from error


def _qt_missing(error: ImportError) -> QcowError:
    return QcowError(
        f"the window can't be loaded: {error}",
        hint="a library that Qt needs is missing (on Debian often libegl1 or libxkbcommon0); "
        "the command line works without",
    )
