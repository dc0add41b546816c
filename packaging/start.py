"""Where a bundle starts: the same place as the command `qcowgui`.

A bundle's program without a console, on Windows and macOS, opens the window with what it is given;
there are no sub-commands where nobody could read their answer.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the window or the command line; the exit status."""
    if sys.stderr is None or (sys.platform == "darwin" and "qcowgui.app" in sys.executable):
        from qcowgui.gui.app import main as open_window

        return open_window()
    from qcowgui.__main__ import main as run_command_line

    return run_command_line()


if __name__ == "__main__":
    sys.exit(main())
