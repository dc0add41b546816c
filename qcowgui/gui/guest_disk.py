"""The guest's disk of a session, opened beside the window when somebody wants to see it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import Consent
from qcowgui.gui.guest_pages import GuestPages, OpenGuest
from qcowgui.gui.pages import PageCache


class GuestDisk(QObject):
    """Opens the disk of an image, and lets go of it. Belongs to the GUI's thread.

    Attributes:
        guest: The opened disk, or None.
        pages: Its pages, or None.
        error: Why it could not be opened, or None.

    Signals:
        changed: `pages` or `error` is another.
    """

    changed = Signal()

    def __init__(self, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.guest: GuestPages | None = None
        self.pages: PageCache | None = None
        self.error: QcowError | None = None
        self._runner = runner
        self._token: CancelToken | None = None
        self._wanted: tuple[Path, str | None, Consent] | None = None

    def open(self, path: Path, snapshot_id: str | None, consent: Consent) -> None:
        """Open the active disk of the image at `path`, or a snapshot's. Returns at once.

        Another disk is let go of; what is open or being opened stays.

        Args:
            path: The image.
            snapshot_id: Of the snapshot; None: the active disk.
            consent: Which referenced files may be opened.
        """
        wanted = path, snapshot_id, consent
        if self._token is not None and wanted == self._wanted:
            return
        self.forget()
        self._wanted = wanted
        token = self._token = CancelToken()

        def finished(outcome: Outcome, guest: GuestPages | None) -> None:
            if token is self._token:
                self._take(outcome, guest)

        work = OpenGuest(path, snapshot_id, consent.gate(), follow=bool(consent.allowed))
        self._runner.submit(work, finished, token=token)

    def forget(self) -> None:
        """Let go of the disk; it is closed when no worker reads it any more."""
        if self._token is None:
            return
        self._token.cancel()
        self._token = None
        pages = self.pages
        self.pages = self.guest = self.error = None
        self.changed.emit()
        if pages is not None:
            pages.close()
            pages.deleteLater()

    def _take(self, outcome: Outcome, guest: GuestPages | None) -> None:
        if isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.error = outcome.error
        if guest is not None:
            self.guest = guest
            self.pages = PageCache(guest, self._runner, self, read_page=guest.read_page)
        self.changed.emit()
