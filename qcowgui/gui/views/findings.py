"""The findings dock of an image: what is wrong, by kind, filtered, and the way to each place."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.format.finding import Finding, Severity
from qcowgui.gui.finding_list import FindingFilter, Listed, ListingWork, groups_of
from qcowgui.gui.health import running_text
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.translation import count_text, severity_word
from qcowgui.gui.views.findings_table import FindingsTable

_SPACING: Final = SPACING - 2
_TYPING_MS: Final = 150
_ICON_SIZE: Final = QSize(14, 14)


class FindingsBar(QWidget):
    """What of the findings is shown: a button for each severity, and words to look for.

    Signals:
        changed: `wanted` is another.
        stepped: Somebody wants the next finding (1) or the one before (-1).
        left: Down or Enter was pressed in the field: the keyboard belongs to the table.
    """

    changed = Signal()
    stepped = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.severities = {
            severity: self._severity_button(severity) for severity in sorted(Severity, reverse=True)
        }
        self.text = QLineEdit()
        self.text.setPlaceholderText(self.tr("Filter: words, a code or an offset"))
        self.text.setClearButtonEnabled(True)
        self.text.setAccessibleName(self.tr("Filter findings"))
        self.state = QLabel()
        self.state.setProperty("muted", True)
        self.previous = self._step_button(self.tr("Previous finding"), -1)
        self.next = self._step_button(self.tr("Next finding"), 1)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self.changed)
        self.text.textChanged.connect(self._typing.start)
        self.text.returnPressed.connect(self.left)
        self._lay_out()
        theme.changed.connect(self._paint)
        self._paint()

    @property
    def wanted(self) -> FindingFilter:
        """What the fields say; a severity without findings has no button and hides nothing."""
        chosen = {
            severity
            for severity, button in self.severities.items()
            if button.isChecked() or button.isHidden()
        }
        return FindingFilter(frozenset(chosen), self.text.text())

    def show_counts(self, counts: dict[Severity, int]) -> None:
        """Offer the severities of which there are any."""
        for severity, button in self.severities.items():
            count = counts.get(severity, 0)
            word = severity_word(severity)
            button.setText(f"{word[:1].upper()}{word[1:]}  {count:,}")
            button.setVisible(count > 0)
        for step in (self.previous, self.next):
            step.setEnabled(any(counts.values()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down leads from the field to the table; Escape clears it."""
        if event.key() == Qt.Key.Key_Down and self.text.hasFocus():
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text.text():
            self.text.clear()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_SPACING)
        for button in self.severities.values():
            layout.addWidget(button)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.state)
        layout.addWidget(self.previous)
        layout.addWidget(self.next)

    def _severity_button(self, severity: Severity) -> QToolButton:
        button = QToolButton()
        button.setProperty("segment", True)
        button.setCheckable(True)
        button.setChecked(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        word = severity_word(severity)
        button.setAccessibleName(self.tr("Show findings: {severity}").format(severity=word))
        button.toggled.connect(self.changed)
        button.hide()
        return button

    def _step_button(self, name: str, step: int) -> QToolButton:
        button = QToolButton()
        button.setProperty("segment", True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.setIconSize(_ICON_SIZE)
        button.clicked.connect(lambda _checked=False: self.stepped.emit(step))
        return button

    def _paint(self) -> None:
        self.previous.setIcon(self._theme.icon("previous"))
        self.next.setIcon(self._theme.icon("next"))


class FindingsPanel(QWidget):
    """The findings of one session, which it follows; what was looked at, when there are none.

    Signals:
        status_changed: There is something to say in the status bar.
        count_changed: There are so many findings now: a number.
    """

    status_changed = Signal(str)
    count_changed = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._token = CancelToken()
        self.bar = FindingsBar(theme)
        self.table = FindingsTable(theme)
        self.nothing = QLabel()
        self.nothing.setWordWrap(True)
        self.nothing.setProperty("muted", True)
        self.nothing.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.table)
        self.pages.addWidget(self.nothing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_SPACING)
        layout.addWidget(self.bar)
        layout.addWidget(self.pages, 1)
        self._connect()
        self.refresh()

    @property
    def count(self) -> int:
        """How many findings there are, whatever is shown of them."""
        return self.table.findings.list.count

    @property
    def code_in_focus(self) -> str:
        """The code of the finding that the keyboard is on, or an empty string."""
        row = self.table.current_row()
        if row is None or not self.table.hasFocus():
            return ""
        shown = self.table.findings.list
        return shown.groups[shown.row(row).group].code

    def step(self, step: int) -> None:
        """Select the next finding (1) or the one before (-1), everywhere."""
        if not self.table.step(step):
            self.status_changed.emit(self.tr("No finding is shown."))

    def show_text(self, text: str) -> None:
        """Show the findings in which `text` occurs, whatever their severity."""
        for button in self.bar.severities.values():
            button.setChecked(True)
        self.bar.text.setText(text)

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._token.cancel()

    def refresh(self) -> None:
        """Show what the session knows by now."""
        session = self._session
        model = self.table.findings
        groups = groups_of(session.check, session.findings)
        if groups != model.list.groups:
            self._token.cancel()
            model.set_groups(groups)
            counts = dict.fromkeys(Severity, 0)
            for group in groups:
                counts[group.severity] += group.count
            self.bar.show_counts(counts)
            self._filter()
            self.table.fit_columns()
            self.count_changed.emit(self.count)
        self._show_state()

    # ---------------------------------------------------------------- following

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self.refresh)
        session.mapping_changed.connect(self.refresh)
        session.check_changed.connect(self.refresh)
        session.check_progressed.connect(self._show_state)
        self.bar.changed.connect(self._filter)
        self.bar.stepped.connect(self.step)
        self.bar.left.connect(self._enter_table)
        self.table.finding_chosen.connect(self._choose)
        self.table.all_wanted.connect(self._list_all)

    def _filter(self) -> None:
        self.table.findings.set_filter(self.bar.wanted)
        self._show_state()

    def _show_state(self) -> None:
        session = self._session
        shown = self.table.findings.list
        running = session.check_state is CheckState.RUNNING
        self.bar.state.setText(running_text(session.check_progress) if running else "")
        self.bar.setVisible(bool(shown.groups) or running)
        self.pages.setCurrentWidget(self.table if len(shown) else self.nothing)
        if not len(shown):
            self.nothing.setText(self._nothing_text(running=running))

    def _nothing_text(self, *, running: bool) -> str:
        session = self._session
        if self.table.findings.list.groups:
            return self.tr("No finding passes the filter.")
        if session.inspected is None:
            return session.error.message if session.error else ""
        text = self.tr("Nothing to report so far.") if running or session.check is None else ""
        return f"{text} {session.looked_at()}".strip()

    def _enter_table(self) -> None:
        self.bar.changed.emit()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        if self.table.current_row() is None:
            self.table.select_row(0)

    def _choose(self, finding: Finding) -> None:
        if not self._session.select_finding(finding):
            self.status_changed.emit(
                self.tr("This finding is about no single place: {place}").format(
                    place=finding.structure
                )
            )

    # ---------------------------------------------------------------- all of a kind

    def _list_all(self, group: int) -> None:
        """Look for all findings of a kind, beside the window."""
        session, model = self._session, self.table.findings
        if session.source is None or session.inspected is None or session.check is None:
            return
        self._token.cancel()
        token = self._token = CancelToken()
        groups = model.list.groups
        work = ListingWork(
            session.source,
            session.inspected.report,
            groups,
            groups[group],
            deep=session.check.deep is not None,
        )

        def finished(outcome: Outcome, listed: Listed | None) -> None:
            if token is self._token and not token.cancelled:
                self._take_all(group, outcome, listed)

        model.set_listing(group)
        session.runner.submit(work, finished, token=token)

    def _take_all(self, group: int, outcome: Outcome, listed: Listed | None) -> None:
        model = self.table.findings
        model.set_listing(None)
        if listed is not None:
            row = self.table.current_row()
            model.list_all(group, listed)
            if row is not None:
                self.table.select_row(min(row, model.rowCount() - 1))
            text = count_text(len(listed.findings), "finding", "findings")
            self.status_changed.emit(self.tr("{findings} listed").format(findings=text))
        elif isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self.status_changed.emit(outcome.error.message)
