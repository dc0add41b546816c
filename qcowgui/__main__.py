"""The process's entry point, as `qcowgui` and as `python -m qcowgui`.

Next to nothing is imported here, so that Ctrl-C is answered from the first moment on.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the process's command line; the exit status.

    Returns:
        What the process is to leave with.
    """
    try:
        from qcowgui.cli.collector import paused
        from qcowgui.cli.interrupts import held_back

        with held_back(), paused():
            from qcowgui.cli.main import main as run_command_line
        return run_command_line()
    except KeyboardInterrupt:
        # While modules were imported, or again while an error was being told.
        if sys.stderr is not None:
            sys.stderr.write("qcowgui: cancelled\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
