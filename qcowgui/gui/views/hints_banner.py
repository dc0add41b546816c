"""What probably happened to an image, above everything else: the sentence, advice, and a button."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from qcowgui.check.hints import Hint
from qcowgui.gui.hint_texts import (
    HintAction,
    action_text,
    advice_text,
    hint_actions,
    hint_tone,
)
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.banner import Banner


class HintsBanner(QWidget):
    """Shows one hint of the session's check at a time; hidden while there is none.

    Signals:
        salvage_requested, repair_requested, convert_requested: A button asks for that dialog.
    """

    salvage_requested = Signal()
    repair_requested = Signal()
    convert_requested = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._hints: tuple[Hint, ...] = ()
        self._dismissed: set[Hint] = set()
        self._index = 0
        self._deep_button: QPushButton | None = None
        self.banner = Banner(theme, dismissible=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.banner)
        self.banner.dismissed.connect(self._dismiss)
        session.changed.connect(self._show_check)
        session.check_changed.connect(self._show_check)
        self.hide()
        self._show_check()

    @property
    def hint(self) -> Hint | None:
        """The hint that is shown."""
        return self._hints[self._index] if self._hints else None

    def show_next(self) -> None:
        """Show the next hint, after the last one the first."""
        self._index = (self._index + 1) % max(1, len(self._hints))
        self._show()

    # ---------------------------------------------------------------- reactions

    def _show_check(self) -> None:
        check = self._session.check
        found = () if check is None else check.hints
        hints = tuple(hint for hint in found if hint not in self._dismissed)
        if hints != self._hints:
            self._hints, self._index = hints, 0
            self._show()
        self._enable()

    def _show(self) -> None:
        hint = self.hint
        self._deep_button = None
        self.setVisible(hint is not None)
        if hint is None:
            return
        self.banner.say(hint.sentence, advice_text(hint), tone=hint_tone(hint))
        for action in hint_actions(hint):
            button = self.banner.add_button(action_text(action), partial(self._act, action))
            if action is HintAction.DEEP_CHECK:
                self._deep_button = button
        if len(self._hints) > 1:
            text = self.tr("{number} of {count}").format(
                number=self._index + 1, count=len(self._hints)
            )
            button = self.banner.add_button(text, self.show_next)
            button.setProperty("flat", True)
            button.setIcon(self._theme.icon("collapsed", self._theme.colours.accent))
            button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the text
            button.setAccessibleName(self.tr("Next hint, this is {place}").format(place=text))
        self._enable()

    def _enable(self) -> None:
        if self._deep_button is not None:
            self._deep_button.setEnabled(self._session.check_state is not CheckState.RUNNING)

    def _act(self, action: HintAction) -> None:
        match action:
            case HintAction.SALVAGE:
                self.salvage_requested.emit()
            case HintAction.REPAIR:
                self.repair_requested.emit()
            case HintAction.CONVERT:
                self.convert_requested.emit()
            case HintAction.DEEP_CHECK:
                self._session.start_check(deep=True)

    def _dismiss(self) -> None:
        hint = self.hint
        if hint is not None:
            self._dismissed.add(hint)
        self._show_check()
