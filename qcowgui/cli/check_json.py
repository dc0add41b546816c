"""`qcowgui check --json --all`: every finding, written while they are found.

A million of them need no memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from qcowgui.cli.output import print_text
from qcowgui.format.finding import Finding
from qcowgui.report.check_object import check_finding_object, summary_object
from qcowgui.report.schema import SCHEMA

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport

_ENCODE: Final = json.JSONEncoder().encode


class FindingStream:
    """Writes a JSON object that begins with findings, each as it comes; `close` adds the rest."""

    def __init__(self, filename: str) -> None:
        """Write the beginning.

        Args:
            filename: The image, as it was named.
        """
        print_text(f'{{"schema": {SCHEMA},\n"filename": {_ENCODE(filename)},\n"findings": [')
        self._separator = "\n"

    def add(self, finding: Finding) -> None:
        """Write a finding."""
        print_text(self._separator + _ENCODE(check_finding_object(finding)))
        self._separator = ",\n"

    def close(self, report: CheckReport) -> None:
        """Write what the check came to, and the end."""
        print_text("]")
        for key, value in summary_object(report).items():
            print_text(f",\n{_ENCODE(key)}: {_ENCODE(value)}")
        print_text("}\n")
