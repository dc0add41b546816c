"""What dialogs that write a new image share: their ending, and how failures are told."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QWidget

from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.dialogs.one_run import OneRun
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.formatters import Tone
from qcowgui.gui.session import Session
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.banner import Banner

# `self.tr` would look under the name of the class that inherits from this one.
translate = QCoreApplication.translate

_SIZE: Final = (980, 690)
_PER_MILLE: Final = 1000


class WritingDialog(QDialog):
    """Works beside the window on a session's image, which itself is never written.

    It blocks nothing, and what runs ends with it.

    Attributes:
        written: The new image, once it is in place.
        banner: What came of it.
        progress: How far what runs is.
        status: The same in words.
        write_button: Starts the writing.
        stop_button: Stops what runs.
        open_button: Shows the new image.

    Signals:
        open_requested: Somebody wants to look at the new image: its Path.
        state_changed: The dialog's `state` is another.
    """

    open_requested = Signal(object)
    state_changed = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._theme = theme
        self._run = OneRun(session.runner, self)
        self.written: Path | None = None
        self.banner = Banner(theme)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(translate("writing", "Progress"))
        self.status = plain_label(muted=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.write_button = self.buttons.addButton("", role)
        self.write_button.setProperty("primary", True)
        self.write_button.setDefault(True)
        self.stop_button = self.buttons.addButton(translate("writing", "Stop"), role)
        self.open_button = self.buttons.addButton("", role)
        self.open_button.setProperty("primary", True)
        self.write_button.clicked.connect(self.write)
        self.stop_button.clicked.connect(self.stop)
        self.open_button.clicked.connect(self._open)
        self.buttons.rejected.connect(self.reject)
        session.runner.pulled.connect(self._show_progress)
        self.resize(*_SIZE)

    @property
    def writing(self) -> bool:
        """Whether a file is being written, which would be lost if the dialog were closed."""
        raise NotImplementedError

    def write(self) -> None:
        """Write the new image; a file is replaced only when a person agrees."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ask what runs to stop."""
        # A slot of the dialog's own: a connection to what is no QObject outlives the button.
        self._run.stop()

    def done(self, result: int) -> None:
        """Stop what runs; an image that is not complete leaves nothing behind."""
        self._run.drop()
        super().done(result)

    def _open(self) -> None:
        if self.written is not None:
            self.open_requested.emit(self.written)
            self.accept()

    # ---------------------------------------------------------------- showing

    def _show_progress(self) -> None:
        """Show how far it is; called some times a second while something runs."""
        raise NotImplementedError

    def _show_share(self, done: int, total: int) -> None:
        """Move the bar; without a total it only shows that something is going on."""
        self.progress.setRange(0, _PER_MILLE if total else 0)
        if total:
            self.progress.setValue(done * _PER_MILLE // total)

    def _show_outcome(self, outcome: Outcome, title: str) -> None:
        """Say why something came to nothing."""
        if not isinstance(outcome, Failed):
            text = translate("writing", "Nothing was left behind.")
            self._show_failure(translate("writing", "Stopped"), text, tone=Tone.NOTE)
            return
        error = outcome.error
        if not isinstance(error, QcowError):
            self._show_failure(title, str(error))
            raise error
        self._show_failure(title, "\n".join(filter(None, (error.message, error.hint))))

    def _show_failure(self, title: str, text: str, *, tone: Tone = Tone.DANGER) -> None:
        self.banner.say(title, text, tone=tone)
        if tone is Tone.DANGER:
            self.banner.add_copy_button(f"{self._session.path}\n{title}\n{text}")
