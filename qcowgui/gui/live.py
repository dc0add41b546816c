"""An open file that changes on disk: noticed, said, and read again where that is safe."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from qcowgui.gui.file_watch import Change, FileWatch
from qcowgui.gui.formatters import Tone
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.banner import Banner
from qcowgui.image.locks import Usage


class LiveFile(QObject):
    """Watches the file of a session.

    Whoever changes a file while nobody has it open for writing has finished when there is a pause:
    then it is read again by itself. While a virtual machine runs on it, each reading would be old
    when it is done, so that it is left to a person.

    Attributes:
        banner: What there is to say; the view shows it.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.banner = Banner(theme, dismissible=True)
        self._watch = FileWatch(session.path, session.runner, self)
        self._watch.changed.connect(self._changed)
        self._reading_again = False
        session.changed.connect(self._session_changed)

    def look(self) -> None:
        """Look at the file now: somebody comes back to the window."""
        if self._session.state is not SessionState.LOADING:
            self._watch.look()

    def stop(self) -> None:
        """Watch no more."""
        self._watch.stop()

    def _session_changed(self) -> None:
        session = self._session
        if session.state is SessionState.LOADING:
            return
        self._watch.watch(session.signature)
        if not self._reading_again:
            self.banner.hide()
            return
        self._reading_again = False
        if session.state is SessionState.READY:
            now = time.strftime("%H:%M:%S")
            self.banner.say(
                self.tr("The file was changed on disk and read again at {time}").format(time=now)
            )

    def _changed(self, change: Change) -> None:
        session = self._session
        if session.state is SessionState.LOADING:
            return
        if change in (Change.CHANGED, Change.CUT) and not self._is_written():
            self._reading_again = True
            session.load()
            return
        self._say(change)

    def _is_written(self) -> bool:
        usage = self._watch.usage
        return usage is not None and usage.usage is Usage.WRITTEN

    def _say(self, change: Change) -> None:
        title, text, tone = {
            Change.CHANGED: (
                self.tr("The file was changed on disk"),
                self.tr("It is in use: what is shown is as it was, and may not fit together."),
                Tone.WARNING,
            ),
            Change.CUT: (
                self.tr("The file was cut short on disk"),
                self.tr("What is shown is as it was; bytes at its end are gone."),
                Tone.DANGER,
            ),
            Change.GONE: (
                self.tr("The file is no longer there"),
                self.tr(
                    "It was moved, renamed or deleted. What is shown is as it was when it was read."
                ),
                Tone.DANGER,
            ),
            Change.UNREADABLE: (
                self.tr("The file can’t be looked at any more"),
                self.tr("What is shown is as it was when it was read."),
                Tone.DANGER,
            ),
        }[change]
        self.banner.say(title, text, tone=tone)
        self.banner.add_button(self.tr("Read again"), self._session.load)
