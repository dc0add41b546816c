"""The inspector: what is selected in words, its word bit by bit, and where it leads."""

from __future__ import annotations

from collections import OrderedDict
from html import escape
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.check.owners import Owner
from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.formatters import Tone
from qcowgui.gui.inspection import Inspection, Known, Link
from qcowgui.gui.inspector_html import InspectorHtml
from qcowgui.gui.inspector_links import OwnersWork, owner_links
from qcowgui.gui.inspector_text import inspect_selection, inspection_text
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.bit_fields import BitFields
from qcowgui.gui.views.rich_text import RichText

OWNERS_DELAY_MS: Final = 250
"""Before the tables are looked through: who steps through a table need not wait for each row."""

PREVIOUS_KEY: Final = "Alt+Up"
NEXT_KEY: Final = "Alt+Down"
COPY_KEY: Final = "Ctrl+Alt+I"

_KEPT_OWNERS: Final = 64
_MAX_WORDS: Final = 2
_MAX_TITLE: Final = 160
_ICON_SIZE: Final = QSize(18, 18)
_LEAST_WIDTH: Final = 260
_TONE_ICONS: Final = {
    Tone.NORMAL: "good",
    Tone.MUTED: "note",
    Tone.NOTE: "note",
    Tone.WARNING: "warning",
    Tone.DANGER: "danger",
}


class Inspector(QWidget):
    """Says everything about the session's selection. Follows the session; asks it to select.

    While it is hidden it does nothing.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._shown: Inspection | None = None
        self._places: list[Selection] = []
        self._owners: OrderedDict[int, list[Owner] | str] = OrderedDict()
        """By cluster; a text says why they could not be found."""
        self._token: CancelToken | None = None
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(OWNERS_DELAY_MS)
        self._delay.timeout.connect(self._look_for_owners)
        # Of its own turn of the event loop, and once for all that happens in one: it takes longer
        # than all others that follow the selection.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(1)  # 0 would wait until there is nothing else to do
        self._later.timeout.connect(self.refresh)
        self._make_widgets()
        self._arrange()
        self._connect()
        self._paint_icons()
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setAccessibleName(self.tr("Inspector"))
        self.refresh()

    @property
    def inspection(self) -> Inspection | None:
        """What is shown; None while no image is there."""
        return self._shown

    def sizeHint(self) -> QSize:
        """As narrow as it reads well."""
        return QSize(_LEAST_WIDTH + 40, super().sizeHint().height())

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._later.stop()
        self._stop_looking()

    def copy_all(self) -> None:
        """Put everything that is said of the selection on the clipboard, as plain text."""
        if self._shown is not None:
            owners = self._owner_links(self._shown.described.cluster)
            QGuiApplication.clipboard().setText(inspection_text(self._shown, owners))

    # ---------------------------------------------------------------- building

    def _make_widgets(self) -> None:
        self.title = RichText(self.tr("What is selected"))
        self.title.setFont(scaled_font(1.1, bold=True))
        self.title.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.icon = QLabel()
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.previous = self._button(self.tr("Previous entry"), PREVIOUS_KEY)
        self.next = self._button(self.tr("Next entry"), NEXT_KEY)
        self.copy = self._button(self.tr("Copy everything that is said here"), COPY_KEY)
        self.intro = RichText(self.tr("What it says"))
        self.words = [BitFields(self._theme) for _ in range(_MAX_WORDS)]
        self.details = RichText(self.tr("Details"))
        self.owners = RichText(self.tr("Owners"))
        self.source = RichText(self.tr("Source"))

    def _button(self, name: str, key: str) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIconSize(_ICON_SIZE)
        sequence = QKeySequence(key)
        button.setShortcut(sequence)
        shown = sequence.toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{name} ({shown})")
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(self.title, 1)
        for button in (self.copy, self.previous, self.next):
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        verdict = QHBoxLayout()
        verdict.setSpacing(SPACING)
        verdict.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignTop)
        verdict.addWidget(self.verdict, 1)
        body = QWidget()
        content = QVBoxLayout(body)
        content.setContentsMargins(SPACING, 0, SPACING // 2, SPACING)
        content.setSpacing(SPACING)
        for widget in (self.intro, *self.words, self.details, self.owners, self.source):
            content.addWidget(widget)
        content.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidget(body)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        top = QVBoxLayout()
        top.setContentsMargins(SPACING, SPACING, SPACING // 2, 0)
        top.setSpacing(SPACING // 2)
        top.addLayout(head)
        top.addLayout(verdict)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addLayout(top)
        layout.addWidget(self.area, 1)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._reread)
        for signal in (
            session.mapping_changed,
            session.check_changed,
            session.index_changed,
            session.selection_changed,
            session.bytes_loaded,
        ):
            signal.connect(self._later.start)
        self._theme.changed.connect(self._paint_icons)
        self.copy.clicked.connect(self.copy_all)
        self.previous.clicked.connect(lambda: self._step(forward=False))
        self.next.clicked.connect(lambda: self._step(forward=True))
        for text in (self.intro, self.details, self.owners, self.source):
            text.anchorClicked.connect(self._follow)

    # ---------------------------------------------------------------- what is shown

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what happened while it was hidden."""
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Say what is known of the selection now; nothing happens when that is the same."""
        if not self.isVisible():
            return
        known = self._known()
        found = None if known is None else inspect_selection(self._session.selection, known)
        if found is None or found != self._shown:
            self._change(found)
        self._want_owners()

    def _change(self, found: Inspection | None) -> None:
        elsewhere = (
            found is None
            or self._shown is None
            or not found.selection.is_same_place(self._shown.selection)
        )
        cluster = None if found is None else found.described.cluster
        if cluster is None or self._shown is None or cluster != self._shown.described.cluster:
            self._stop_looking()
        self._shown = found
        self._show()
        if elsewhere:
            self.area.verticalScrollBar().setValue(0)

    def _known(self) -> Known | None:
        session = self._session
        # While a file is read again, what was known of it stays.
        if session.locator is None or session.pages is None or session.inspected is None:
            return None
        return Known(
            session.locator,
            session.pages.read,
            session.check_state,
            session.check,
            session.states,
            session.findings,
        )

    def _paint_icons(self) -> None:
        """Make the icons in the colours of the theme."""
        self.previous.setIcon(self._theme.icon("previous"))
        self.next.setIcon(self._theme.icon("next"))
        self.copy.setIcon(self._theme.icon("copy"))
        self._show()

    def _show(self) -> None:
        shown = self._shown
        for widget in (self.copy, self.previous, self.next, self.icon, self.verdict):
            widget.setVisible(shown is not None)
        self.area.setVisible(shown is not None)
        if shown is None:
            failed = self._session.state is SessionState.FAILED
            self.title.show_html("" if failed else escape(self.tr("Nothing to inspect yet")))
            return
        described = shown.described
        self.title.show_html(escape(_shortened(described.title)))
        colour = self._theme.tone_colour(shown.tone)
        icon = self._theme.icon(_TONE_ICONS[shown.tone], colour)
        self.icon.setPixmap(icon.pixmap(_ICON_SIZE, self.devicePixelRatioF()))
        self.verdict.setText(shown.verdict)
        self.verdict.setStyleSheet(f"color: {colour};")
        self.previous.setEnabled(shown.previous is not None)
        self.next.setEnabled(shown.next is not None)
        for index, fields in enumerate(self.words):
            fields.setVisible(index < len(described.words))
            if index < len(described.words):
                fields.show_word(described.words[index])
        self._show_texts(shown)

    def _show_texts(self, shown: Inspection) -> None:
        html = InspectorHtml(self._theme.colours)
        cluster = shown.described.cluster
        owners = self._owner_links(cluster)
        self.intro.show_html(html.intro(shown))
        self.details.show_html(html.details(shown, owners_known=bool(owners)))
        if cluster is None:
            self.owners.show_html("")
        else:
            trouble = self._owners.get(cluster)
            trouble = trouble if isinstance(trouble, str) else ""
            self.owners.show_html(html.owners(cluster, owners, trouble))
        self.source.show_html(html.source(shown.described.spec))
        self._places = html.places

    # ---------------------------------------------------------------- owners

    def _owner_links(self, cluster: int | None) -> tuple[Link, ...] | None:
        """The owners of a cluster; None while they are not known."""
        found = None if cluster is None else self._owners.get(cluster)
        if found is None or isinstance(found, str) or self._session.locator is None:
            return None
        return owner_links(found, self._session.locator)

    def _want_owners(self) -> None:
        """Look for the owners of the cluster that is shown, unless that is done or going on."""
        cluster = None if self._shown is None else self._shown.described.cluster
        going_on = self._token is not None or self._delay.isActive()
        if cluster is not None and cluster not in self._owners and not going_on:
            self._delay.start()

    def _look_for_owners(self) -> None:
        session = self._session
        cluster = None if self._shown is None else self._shown.described.cluster
        if cluster is None or session.source is None or session.inspected is None:
            return
        snapshots = session.check.ownership.snapshots if session.check else None
        work = OwnersWork(session.source, session.inspected.report, (cluster,), snapshots)
        token = CancelToken()
        self._token = token

        def finished(outcome: Outcome, owners: dict[int, list[Owner]] | None) -> None:
            if token is self._token:
                self._token = None
                self._take_owners(cluster, outcome, owners)

        session.runner.submit(work, finished, token=token)

    def _take_owners(
        self, cluster: int, outcome: Outcome, owners: dict[int, list[Owner]] | None
    ) -> None:
        if isinstance(outcome, Failed):
            if not isinstance(outcome.error, QcowError):
                raise outcome.error
            self._owners[cluster] = outcome.error.message
        elif owners is not None:
            self._owners[cluster] = owners[cluster]
            self._owners.move_to_end(cluster)
            while len(self._owners) > _KEPT_OWNERS:
                self._owners.popitem(last=False)
        if self._shown is not None:
            self._show_texts(self._shown)

    def _stop_looking(self) -> None:
        self._delay.stop()
        if self._token is not None:
            self._token.cancel()
            self._token = None

    # ---------------------------------------------------------------- acting

    def _reread(self) -> None:
        """Forget what belongs to the file as it was before."""
        self._stop_looking()
        self._owners.clear()
        self.refresh()
        if self._shown is not None:
            self._show_texts(self._shown)

    def _step(self, *, forward: bool) -> None:
        if self._later.isActive():  # a key that is held down comes again before it
            self.refresh()
        if self._shown is not None:
            place = self._shown.next if forward else self._shown.previous
            if place is not None:
                self._session.select(place)

    def _follow(self, url: QUrl) -> None:
        index = int(url.path())
        if 0 <= index < len(self._places):
            self._session.select(self._places[index])


def _shortened(title: str) -> str:
    """A title that leaves room for the rest: names in an image may have a thousand letters."""
    if len(title) <= _MAX_TITLE:
        return title
    return f"{title[: _MAX_TITLE - 40]}…{title[-30:]}"
