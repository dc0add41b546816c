"""The hex dock of one image: its file or its guest's disk, with go-to, search and numbers."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import QcowError, UsageError
from qcowgui.format.geometry import Geometry
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.formatters import Tone
from qcowgui.gui.guest_disk import GuestDisk
from qcowgui.gui.guest_pages import GuestPages
from qcowgui.gui.hex_copy import MAX_COPY_BYTES, CopiedText, CopyWork
from qcowgui.gui.hex_pick import pick_guest
from qcowgui.gui.hex_search import Match, Search, parse_pattern
from qcowgui.gui.hex_searcher import HexSearcher
from qcowgui.gui.hex_text import CopyFormat, parse_offset
from qcowgui.gui.pages import page_reader
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.translation import count_text
from qcowgui.gui.views.boundary import Boundary
from qcowgui.gui.views.hex_footer import HexFooter
from qcowgui.gui.views.hex_search_bar import HexSearchBar
from qcowgui.gui.views.hex_space import Space, SpaceSwitch
from qcowgui.gui.views.hex_tints import OwnerMap, hover_text
from qcowgui.gui.views.hex_view import HexView
from qcowgui.image.source import FileSource
from qcowgui.units import format_size

_FIELD_BYTES: Final = 64
"""What is selected elsewhere is selected here as a whole up to this; else its first byte is."""
_OFFSET_WIDTH: Final = 200


class HexPanel(QWidget):
    """Follows a session's selection, and selects what a byte belongs to.

    Attributes:
        view: The bytes.
        search: The search field.
        offset: The field to go to an offset.
        footer: What the selected bytes are.
        switch: File or guest.

    Signals:
        status_changed: There is something to say in the status bar; may be empty.
    """

    status_changed = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._space = Space.FILE
        self._snapshot: int | None = None
        self._guest = GuestDisk(session.runner, self)
        self._searcher = HexSearcher(session.runner, self)
        self._picking = False
        self._awaited: int | None = None
        self._shown_source: FileSource | None = None
        self.view = HexView(theme)
        self.search = HexSearchBar(theme)
        self.offset = QLineEdit()
        self.footer = HexFooter()
        self.switch = SpaceSwitch()
        self._message = QLabel()
        self._set_up_fields()
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._show_session()

    @property
    def space(self) -> Space:
        """Whose bytes are shown."""
        return self._space

    @property
    def message(self) -> str:
        """What is said beside the fields."""
        return self._message.text()

    def show_file(self) -> None:
        """Show the file's bytes."""
        self._show_space(Space.FILE)

    def show_guest(self, snapshot: int | None = None) -> None:
        """Show the active disk, or that of the snapshot with this index; the file if none is."""
        if self._session.inspected is None:
            self.show_file()
            return
        chosen = dict(self._snapshots()).get(snapshot)
        self._snapshot = None if chosen is None else snapshot
        snapshot_id = None if chosen is None else chosen.id
        self._guest.open(self._session.path, snapshot_id, self._session.permissions.consent)
        self._show_space(Space.GUEST, "" if chosen is None else chosen.name or chosen.id)

    def _show_space(self, space: Space, disk: str = "") -> None:
        self._space = space
        self.switch.show_space(space, disk)
        self._searcher.cancel()
        self._say("")
        self._show_pages()

    def _snapshots(self) -> list[tuple[int | None, Snapshot]]:
        """The snapshots whose disks can be opened: of several with one id, that is the first."""
        found: dict[str, Snapshot] = {}
        if self._session.inspected is not None:
            for snapshot in self._session.inspected.report.snapshots:
                found.setdefault(snapshot.id, snapshot)
        return [(snapshot.index, snapshot) for snapshot in found.values()]

    def abandon(self) -> None:
        """Stop all work of this panel and close what it opened: the tab was closed."""
        self._searcher.cancel()
        self._guest.forget()
        self.view.set_pages(None)

    # ---------------------------------------------------------------- building

    def _set_up_fields(self) -> None:
        self.offset.setAccessibleName(self.tr("Go to offset"))
        self.offset.setPlaceholderText(self.tr("Offset: 0x1_0000, 64k, +16"))
        self.offset.setFixedWidth(_OFFSET_WIDTH)
        self.view.setAccessibleName(self.tr("Bytes"))
        self._message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # It gives way: a long one must not keep the window wide.
        self._message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(SPACING)
        top.addWidget(self.switch)
        top.addWidget(self.offset)
        top.addWidget(self._message, 1)
        top.addWidget(self.search)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACING, SPACING // 2, SPACING, SPACING // 2)
        layout.setSpacing(SPACING // 2)
        layout.addLayout(top)
        layout.addWidget(self.view, 1)
        layout.addWidget(Boundary(self.footer))

    def _connect(self) -> None:
        session, view = self._session, self.view
        session.changed.connect(self._show_session)
        session.check_changed.connect(self._show_owners)
        session.index_changed.connect(self._show_owners)
        session.selection_changed.connect(self._show_selection)
        session.permissions.changed.connect(self._permissions_changed)
        self._guest.changed.connect(self._guest_changed)
        self._searcher.progressed.connect(self._show_progress)
        self._searcher.found.connect(self._show_match)
        self._searcher.failed.connect(self._show_error)
        view.picked.connect(self._picked)
        view.hovered.connect(self._hovered)
        view.range_changed.connect(self._show_range)
        view.copy_requested.connect(self.copy)
        self.switch.file_chosen.connect(self.show_file)
        self.switch.guest_chosen.connect(self.show_guest)
        self.offset.returnPressed.connect(self._go_to_offset)
        self.search.requested.connect(self._search)
        self.search.cancelled.connect(self._give_up)

    def _add_shortcuts(self) -> None:
        for keys, call in (
            (QKeySequence(QKeySequence.StandardKey.Find), self.search.focus),
            (QKeySequence("F3"), lambda: self._search(True)),
            (QKeySequence("Shift+F3"), lambda: self._search(False)),
        ):
            shortcut = QShortcut(keys, self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(call)

    # ---------------------------------------------------------------- session to view

    def _show_session(self) -> None:
        """Show the file as it was read last."""
        session = self._session
        self.switch.set_disks(
            has_guest=session.inspected is not None,
            snapshots=[(found.index, found.name or found.id) for _, found in self._snapshots()],
        )
        if session.source is not self._shown_source or session.pages is None:
            self._shown_source = session.source
            if session.pages is not None:
                session.pages.loaded.connect(self._page_came)
            self._guest.forget()
            if self._space is Space.GUEST:
                self.show_guest(self._snapshot)
            else:
                self.show_file()

    def _show_pages(self) -> None:
        pages = self._session.pages if self._space is Space.FILE else self._guest.pages
        self.view.set_placeholder(self._missing_text())
        if pages is not self.view.pages:
            self.view.set_pages(pages)
        self._show_owners()
        self._show_selection()

    def _missing_text(self) -> str:
        """What to say while there are no bytes."""
        if self._space is Space.FILE:
            error = self._session.error
            return error.message if error and self._session.source is None else ""
        if self._guest.error is None:
            return self.tr("Opening the guest’s disk…")
        reason = self._guest.error.message.rstrip(".")
        return self.tr("The guest’s data can’t be shown: {reason}.").format(reason=reason)

    def _permissions_changed(self) -> None:
        if self._space is Space.GUEST:
            self.show_guest(self._snapshot)

    def _guest_changed(self) -> None:
        if self._space is Space.GUEST:
            self._show_pages()

    def _show_owners(self) -> None:
        self.view.set_owners(self._owner_map())

    def _geometry(self) -> Geometry | None:
        inspected = self._session.inspected
        return inspected.report.header.geometry if inspected else None

    def _owner_map(self) -> OwnerMap | None:
        geometry = self._geometry()
        if geometry is None:
            return None
        if self._space is Space.FILE:
            return OwnerMap.of_file(geometry.cluster_bytes, self._session.states)
        if self._snapshot is not None:
            return None  # the states are those of the active disk
        return OwnerMap.of_guest(geometry.cluster_bytes, self._session.guest_states)

    def _show_selection(self) -> None:
        """Mark what is selected; when it was selected elsewhere, go there."""
        selection = self._session.selection
        if self._space is Space.FILE:
            mark = selection.host
        else:
            mark = selection.guest if selection.snapshot == self._snapshot else None
        if mark is not None and not mark[0] < min(mark[1], self.view.size_bytes):
            mark = None
        moved = mark != self.view.mark
        self.view.set_mark(mark)
        if mark is None or self._picking or not moved:
            return
        start, end = mark
        self.view.select_range(start, end if end - start <= _FIELD_BYTES else start + 1)
        self.view.reveal(start, end)

    def _show_range(self) -> None:
        self.footer.show_bytes(self.view.cursor_, self.view.pages)

    # ---------------------------------------------------------------- view to session

    def _picked(self, offset: int) -> None:
        """Select what a byte belongs to, everywhere."""
        locator = self._session.locator
        self._awaited = None
        if locator is None:
            return
        if self._space is Space.FILE:
            found: Selection | None = locator.at_host(offset)
        else:
            found = pick_guest(locator, offset, self._snapshot)
        if found is None:
            self._awaited = offset
            return
        self._picking = True
        try:
            self._session.select(found)
        finally:
            self._picking = False

    def _page_came(self) -> None:
        """Go on with a choice that a table was missing for, unless another byte was chosen."""
        offset, self._awaited = self._awaited, None
        if offset is not None and self._space is Space.GUEST:
            self._picked(offset)

    def _hovered(self, offset: int | None) -> None:
        if offset is None:
            self.status_changed.emit("")
            return
        owners = self._owner_map()
        owner = owners.at(offset) if owners else None
        text = hover_text(offset, owner, guest=self._space is Space.GUEST)
        for lost in self.view.pages.lost(offset, 1) if self.view.pages else ():
            text += " · " + self.tr("can’t be read: {reason}").format(reason=lost.reason)
        self.status_changed.emit(text)

    def _go_to_offset(self) -> None:
        position = self.view.cursor_.position
        try:
            offset = parse_offset(
                self.offset.text(), current=position, size_bytes=self.view.size_bytes
            )
        except UsageError as error:
            self._show_error(error)
            return
        self._say("")
        self.view.select_range(offset, offset + 1)
        self._picked(offset)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    # ---------------------------------------------------------------- searching and copying

    def _readable(self) -> FileSource | GuestPages | None:
        return self._session.source if self._space is Space.FILE else self._guest.guest

    def _search(self, forward: bool) -> None:
        source = self._readable()
        if source is None:
            return
        try:
            pattern = parse_pattern(self.search.edit.text(), self.search.pattern_kind)
        except UsageError as error:
            self._show_error(error)
            self.search.focus()
            return
        cursor = self.view.cursor_
        start = cursor.start + 1 if forward else cursor.start - 1
        self._searcher.start(Search(source, pattern, start, forward))
        self._show_progress(0.0)

    def _show_progress(self, share: float) -> None:
        self._say(self.tr("Searching… {share} (Esc stops)").format(share=f"{share:.0%}"))

    def _show_match(self, match: Match | None) -> None:
        if match is None:
            self._say(self.tr("Not found"), Tone.WARNING)
            return
        self._say(self.tr("Found, after going round the end") if match.wrapped else "")
        self.view.select_range(match.start, match.end)
        self._picked(match.start)

    def _give_up(self) -> None:
        """Esc: stop the search; without one, go back to the bytes."""
        if self._searcher.active:
            self._searcher.cancel()
            self._say(self.tr("Search stopped"))
        else:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def copy(self, form: CopyFormat) -> None:
        """Put the selected bytes on the clipboard, as soon as they are read."""
        cursor, source = self.view.cursor_, self._readable()
        length = cursor.end - cursor.start
        if source is None or length <= 0:
            return
        if length > MAX_COPY_BYTES:
            text = self.tr("{size} are too many to copy; {limit} at once can be")
            limit = format_size(MAX_COPY_BYTES)
            self._say(text.format(size=format_size(length), limit=limit), Tone.WARNING)
            return
        read_page = source.read_page if isinstance(source, GuestPages) else page_reader(source)
        work = CopyWork(read_page, cursor.start, cursor.end, form)
        self._session.runner.submit(work, self._copied)

    def _copied(self, outcome: Outcome, copied: CopiedText | None) -> None:
        if isinstance(outcome, Failed):
            # What can't be read is part of the result: this is a mistake of the program's.
            raise outcome.error
        if copied is None:
            return
        QGuiApplication.clipboard().setText(copied.text)
        if copied.lost_bytes:
            lost = count_text(copied.lost_bytes, "byte")
            text = self.tr("Copied; {lost} of it can’t be read and became zeros")
            self._say(text.format(lost=lost), Tone.WARNING)
        else:
            self._say(self.tr("Copied"))

    def _show_error(self, error: QcowError) -> None:
        self._say(str(error), Tone.DANGER)

    def _say(self, text: str, tone: Tone = Tone.MUTED) -> None:
        self._message.setText(text)
        self._message.setToolTip(text)
        if text:
            self._message.setStyleSheet(f"color: {self._theme.tone_colour(tone)}")
