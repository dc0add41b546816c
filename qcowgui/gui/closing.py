"""Closing a window in which something runs: ask once, cancel, wait without blocking."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.jobs import JobController
from qcowgui.gui.translation import count_text


class CloseGuard(QObject):
    """Decides whether a window may close, and closes it later when it may not yet.

    What writes a file is cancelled only after a yes; files that are being read are simply waited
    for.
    In both cases the window is hidden, and the event loop goes on.
    """

    def __init__(
        self,
        window: QWidget,
        controller: JobController,
        loader: BackgroundRunner,
        copies: Callable[[], int],
    ) -> None:
        """A guard that knows of all that runs.

        Args:
            window: What is closed.
            controller: The conversions.
            loader: All other work.
            copies: How many repaired or salvaged images it is writing now.
        """
        super().__init__(window)
        self._copies = copies
        self._window = window
        self._controller = controller
        self._loader = loader
        self._asking = False
        self._closing = False
        controller.idle.connect(self._close_if_idle)
        loader.idle.connect(self._close_if_idle)

    def may_close(self) -> bool:
        """Whether nothing runs. If something does, see to it; the window is closed when it can."""
        if not self._controller.active and not self._loader.active:
            return True
        if self._closing or self._asking:
            return False
        if self._controller.unfinished or self._copies():
            self._ask()
        else:
            self._close_when_idle()
        return False

    def _ask(self) -> None:
        self._asking = True
        box = QMessageBox(
            QMessageBox.Icon.Question,
            self.tr("Cancel and close?"),
            self._unfinished_text(),
            QMessageBox.StandardButton.NoButton,
            self._window,
        )
        box.setInformativeText(self._consequence())
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        close = box.addButton(self.tr("Cancel and close"), QMessageBox.ButtonRole.DestructiveRole)
        stay = box.addButton(self.tr("Keep the window open"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        close.clicked.connect(self._close_when_idle)
        box.finished.connect(self._answered)
        box.open()

    def _consequence(self) -> str:
        text = self.tr("What is cancelled leaves nothing behind.")
        if self._controller.unfinished and self._controller.remembers:
            text += " " + self.tr("Conversions can be resumed at the next start.")
        return text

    def _unfinished_text(self) -> str:
        conversions = len(self._controller.unfinished)
        copies = self._copies()
        lines = []
        if conversions:
            text = count_text(conversions, "conversion is", "conversions are")
            lines.append(self.tr("{conversions} not finished yet.").format(conversions=text))
        if copies:
            text = count_text(copies, "copy is", "copies are")
            lines.append(self.tr("{copies} being written.").format(copies=text))
        return "\n".join(lines)

    def _answered(self) -> None:
        self._asking = False

    def _close_when_idle(self) -> None:
        self._closing = True
        self._window.hide()
        self._controller.suspend()
        self._loader.cancel_all()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._closing and not self._controller.active and not self._loader.active:
            self._window.close()
