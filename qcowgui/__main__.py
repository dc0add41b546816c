"""`python -m qcowgui`: the same entry point as the `qcowgui` script."""

from __future__ import annotations

from qcowgui.cli.main import main

if __name__ == "__main__":
    main()
