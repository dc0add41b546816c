"""The backing chain: which files it consists of, which are found, and which may be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.gui.chain_layers import ChainLink, ChainWork, LinkState, rebase_command
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.formatters import NOTHING, Column, Row, Table, Tone, path_text
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.data_table import DataTable
from qcowgui.units import format_size

translate = QCoreApplication.translate

_TONES: Final = {
    LinkState.OPENED: Tone.NORMAL,
    LinkState.NOT_ALLOWED: Tone.WARNING,
    LinkState.MISSING: Tone.DANGER,
    LinkState.NO_FILE_NAME: Tone.WARNING,
    LinkState.LOOP: Tone.DANGER,
    LinkState.TOO_LONG: Tone.DANGER,
    LinkState.SPECIAL: Tone.DANGER,
    LinkState.UNREADABLE: Tone.DANGER,
}


class ChainPanel(QWidget):
    """Lists the files; asks before one is opened. Nothing is followed unasked.

    Attributes:
        links: What is known of the chain, the image itself first.

    Signals:
        open_requested: A file of the chain is wanted in a tab of its own: its path.
    """

    open_requested = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._permissions = session.permissions
        self._token: CancelToken | None = None
        self.links: tuple[ChainLink, ...] = ()
        self.table = DataTable(theme)
        self.detail = QLabel()
        self.allow = QPushButton(self.tr("Allow…"))
        self.locate = QPushButton(self.tr("Locate…"))
        self.show_image = QPushButton(self.tr("Open in a tab"))
        self.copy_command = QPushButton(self.tr("Copy qemu-img rebase"))
        self._build()
        self.table.row_selected.connect(self._show_link)
        self.table.row_activated.connect(self._activated)
        self.allow.clicked.connect(self.ask_to_allow)
        self.locate.clicked.connect(self.choose_file)
        self.show_image.clicked.connect(self._request_open)
        self.copy_command.clicked.connect(self._copy_command)
        session.changed.connect(self._session_changed)
        self._permissions.changed.connect(self.look)
        self.look()

    # ---------------------------------------------------------------- for the window

    @property
    def busy(self) -> bool:
        """Whether files are being looked at."""
        return self._token is not None

    def look(self) -> None:
        """Look at the chain again, as far as that is allowed. Returns at once."""
        session = self._session
        self.abandon()
        if session.inspected is None or session.source is None:
            self._show(())
            return
        work = ChainWork(session.source, session.inspected.report, self._permissions.gate())
        token = CancelToken()

        def finished(outcome: Outcome, links: tuple[ChainLink, ...] | None) -> None:
            if token is self._token:
                self._token = None
                self._show(links or ())
            if isinstance(outcome, Failed):
                raise outcome.error

        self._token = token
        session.runner.submit(work, finished, token=token)

    def locate_at(self, link: ChainLink, path: Path) -> None:
        """Look for a file at `path` instead; choosing it by hand allows it, too."""
        if link.reference is not None and link.referrer is not None:
            place = link.referrer.absolute(), link.reference.name
            self._permissions.locate(place, path.absolute())

    def abandon(self) -> None:
        """Take no more results."""
        if self._token is not None:
            self._token.cancel()
            self._token = None

    # ---------------------------------------------------------------- building

    def _build(self) -> None:
        self.table.setAccessibleName(self.tr("Files of the backing chain"))
        self.detail.setWordWrap(True)
        self.detail.setProperty("muted", True)
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy_command.setToolTip(
            self.tr(
                "Puts a command on the clipboard that writes the new place into the image. This"
                " program itself never changes an image."
            )
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACING)
        for button in (self.allow, self.locate, self.show_image, self.copy_command):
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.detail)
        layout.addLayout(buttons)

    # ---------------------------------------------------------------- showing

    def _session_changed(self) -> None:
        if self._session.state is not SessionState.LOADING:
            self.look()

    def _show(self, links: tuple[ChainLink, ...]) -> None:
        row = self.table.current_row()
        before = self.links
        self.links = links
        self.table.set_table(chain_table(links))
        waiting = [i for i, link in enumerate(links) if link.state is not LinkState.OPENED]
        if row is None or row >= len(links) or before != links:
            row = waiting[0] if waiting else max(0, len(links) - 1)
        self.table.select_row(row)
        self._show_link(row)

    def _current(self) -> ChainLink | None:
        row = self.table.current_row()
        return self.links[row] if row is not None and row < len(self.links) else None

    def _show_link(self, row: int) -> None:
        link = self.links[row] if row < len(self.links) else None
        self.detail.setText("" if link is None else detail_text(link))
        self.allow.setEnabled(link is not None and link.can_be_allowed)
        self.locate.setEnabled(link is not None and link.can_be_located)
        opened = link is not None and link.state is LinkState.OPENED
        self.show_image.setEnabled(opened and link is not None and link.reference is not None)
        self.copy_command.setVisible(link is not None and bool(rebase_command(link)))

    # ---------------------------------------------------------------- commands

    def _activated(self, row: int) -> None:
        """Do what the file needs: Enter or a double click."""
        link = self.links[row]
        if link.can_be_allowed:
            self.ask_to_allow()
        elif link.can_be_located:
            self.choose_file()
        elif link.reference is not None:
            self._request_open()

    def ask_to_allow(self) -> AllowBox | None:
        """Ask whether the chosen file may be opened."""
        link = self._current()
        if link is None or link.reference is None or not link.can_be_allowed:
            return None
        box = AllowBox([link.reference], self)
        box.allowed.connect(self._permissions.allow)
        box.open()
        return box

    def choose_file(self) -> QFileDialog | None:
        """Ask where the chosen file is; the dialog deletes itself."""
        link = self._current()
        if link is None or not link.can_be_located:
            return None
        start = link.nearby or link.referrer or self._session.path
        dialog = QFileDialog(self, self.tr("Where is this file?"), str(start.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if link.nearby is not None:
            dialog.selectFile(link.nearby.name)
        dialog.fileSelected.connect(lambda path: self.locate_at(link, Path(path)))
        dialog.open()
        return dialog

    def _request_open(self) -> None:
        link = self._current()
        if link is not None and link.path is not None and link.state is LinkState.OPENED:
            self.open_requested.emit(link.path)

    def _copy_command(self) -> None:
        link = self._current()
        if link is not None:
            QGuiApplication.clipboard().setText(rebase_command(link))


def chain_table(links: tuple[ChainLink, ...]) -> Table:
    """The chain as rows, the image itself first."""
    columns = (
        Column(translate("chain", "Layer"), right=True),
        Column(translate("chain", "File"), wide=True),
        Column(translate("chain", "Format")),
        Column(translate("chain", "Disk size"), right=True),
        Column(translate("chain", "File length"), right=True),
        Column(translate("chain", "State")),
    )
    return Table(columns, tuple(map(_row, links)))


def _row(link: ChainLink) -> Row:
    name = NOTHING if link.path is None else path_text(link.path.name)
    if link.path is None and link.reference is not None:
        name = link.reference.shown
    return Row(
        (
            translate("chain", "data file") if link.is_data_file else f"{link.depth}",
            name,
            _format_text(link),
            _size_text(link.virtual_bytes),
            _size_text(link.file_bytes),
            state_text(link),
        ),
        tone=_TONES[link.state],
        detail=detail_text(link),
    )


def _format_text(link: ChainLink) -> str:
    if not link.format:
        return translate("chain", "not recorded")
    if link.format_guessed:
        return translate("chain", "{format}, guessed").format(format=link.format)
    return link.format


def _size_text(size_bytes: int | None) -> str:
    return NOTHING if size_bytes is None else format_size(size_bytes)


def state_text(link: ChainLink) -> str:
    """How far a file of the chain is known, in a few words."""
    words = {
        LinkState.OPENED: translate("chain", "this image")
        if link.reference is None
        else translate("chain", "opened"),
        LinkState.NOT_ALLOWED: translate("chain", "exists, not opened"),
        LinkState.MISSING: translate("chain", "missing"),
        LinkState.NO_FILE_NAME: translate("chain", "no plain file name"),
        LinkState.LOOP: translate("chain", "a loop"),
        LinkState.TOO_LONG: translate("chain", "the chain is too long"),
        LinkState.SPECIAL: translate("chain", "neither file nor block device"),
        LinkState.UNREADABLE: translate("chain", "can’t be read"),
    }[link.state]
    if link.located:
        words = translate("chain", "{state}, located by hand").format(state=words)
    elif not link.in_folder and link.path is not None:
        words = translate("chain", "{state}, outside the image’s folder").format(state=words)
    return words


def detail_text(link: ChainLink) -> str:
    """What a person should know of a file of the chain, and can do."""
    lines = [] if link.path is None else [path_text(link.path)]
    if link.reference is not None:
        named = translate("chain", "The {kind} {name} of {image}.")
        lines.append(
            named.format(
                kind=link.reference.kind,
                name=link.reference.shown,
                image=path_text(link.referrer or ""),
            )
        )
    if link.detail:
        lines.append(link.detail)
    if link.state is LinkState.NOT_ALLOWED:
        lines.append(
            translate(
                "chain", "Files that an image names are opened only when you agree: “Allow…”."
            )
        )
        if not link.in_folder:
            lines.append(
                translate(
                    "chain", "It lies outside the image’s folder: only allow what you expect."
                )
            )
    if link.nearby is not None:
        near = translate("chain", "A file of that name lies beside the image: {path}")
        lines.append(near.format(path=path_text(link.nearby)))
    if link.format_guessed:
        lines.append(
            translate(
                "chain",
                "No format is recorded: a guest could have written what was recognised as one.",
            )
        )
    if link.located:
        lines.append(
            translate(
                "chain",
                "The image still names the old place; this tab reads the file where it is now.",
            )
        )
    return "\n".join(lines)
