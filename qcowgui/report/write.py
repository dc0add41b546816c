"""Putting a report into files: each of them whole, or none at all."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from qcowgui.convert.output import OutputFile, refuse_same_file
from qcowgui.image.source import Identity
from qcowgui.report.content import ReportContent, content_object
from qcowgui.report.page import report_page


def report_json(content: ReportContent) -> str:
    """The report for programs, in pure ASCII."""
    return json.dumps(content_object(content), indent=4) + "\n"


def write_report(
    content: ReportContent,
    *,
    page: Path | None = None,
    data: Path | None = None,
    overwrite: bool = False,
    sources: frozenset[Identity] = frozenset(),
) -> None:
    """Write a report as a page, as JSON, or as both.

    Nothing is moved into place before everything is written.

    Args:
        content: What is told.
        page: Where the HTML page goes, or None.
        data: Where the JSON goes, or None.
        overwrite: Whether existing files may be replaced.
        sources: The image's own files, which are never replaced.

    Raises:
        OutputError: When a file can't be written, or exists and may not be replaced.
    """
    texts: list[tuple[Path, str]] = []
    if page is not None:
        texts.append((page, report_page(content)))
    if data is not None:
        texts.append((data, report_json(content)))
    for path, _ in texts:
        refuse_same_file(path, sources)
    with ExitStack() as stack:
        files = [
            (stack.enter_context(OutputFile(path, overwrite=overwrite)), made)
            for path, made in texts
        ]
        for file, made in files:
            file.write_at(0, made.encode("utf-8"))
        for file, _ in files:
            file.commit()
