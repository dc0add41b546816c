"""What the window says in its banner beside the images: mistakes, refusals, what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from qcowgui.errors import QcowError
from qcowgui.gui.crash_reports import Report
from qcowgui.gui.formatters import Tone
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.banner import Banner


class WindowNotices(QObject):
    """Belongs to a window.

    Attributes:
        banner: Shows the latest.
    """

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.banner = Banner(theme, dismissible=True)
        self._lacks: list[str] = []

    def tell_of_mistake(self, report: Report) -> None:
        """Say that something unexpected happened, with a report that can be copied."""
        title = self.tr("Something went wrong that should not have; your files are as they were.")
        self._tell_of_report(title, report.summary, report)

    def tell_of_crashes(self, reports: Sequence[Report]) -> None:
        """Say that earlier windows ended when they should not have."""
        if reports:
            self._tell_of_report(
                self.tr("qcowgui ended unexpectedly the last time."),
                self.tr(
                    "The report says where in the program that was, and nothing of your files."
                ),
                reports[-1],
            )

    def tell_of_lack(self, sentence: str) -> None:
        """Say what the system lacks, together with what it was found to lack before."""
        if sentence not in self._lacks:
            self._lacks.append(sentence)
        title = self.tr("Some things are missing on this system")
        self.banner.say(title, "\n".join(self._lacks), tone=Tone.WARNING)

    def problem(self, title: str, details: str) -> None:
        """Say that something could not be done, with details that can be copied."""
        self.banner.say(title, details.strip().rsplit("\n", 1)[-1], tone=Tone.DANGER)
        self.banner.add_copy_button(details)

    def refuse(self, title: str, sentences: Sequence[str]) -> None:
        """Say what was not done of what somebody asked for."""
        self.banner.say(title, "\n".join(sentences), tone=Tone.WARNING)

    def report_failed(self, error: QcowError) -> None:
        """Say that a report about an image could not be written, why, and what helps."""
        text = "\n".join(filter(None, (error.message, error.hint)))
        self.banner.say(self.tr("The report could not be written"), text, tone=Tone.DANGER)

    def _tell_of_report(self, title: str, text: str, report: Report) -> None:
        if report.path is not None:
            text += "\n" + self.tr("Report: {path}").format(path=report.path)
        self.banner.say(title, text, tone=Tone.DANGER)
        self.banner.add_copy_button(report.text)
        if report.path is not None:
            folder = QUrl.fromLocalFile(str(report.path.parent))
            show = self.tr("Show in its folder")
            self.banner.add_button(show, lambda: QDesktopServices.openUrl(folder))
