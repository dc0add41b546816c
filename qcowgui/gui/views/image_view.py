"""An open image: summary, structures, the table of the selected one, findings."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from qcowgui.errors import NotQcow2Error, QcowError
from qcowgui.gui.formatters import Tone
from qcowgui.gui.session import Inspected, Session, SessionState
from qcowgui.gui.structures import Selection, Structure, StructureKey
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.data_table import DataTable
from qcowgui.gui.views.findings import FindingsPane, FindingsSplitter
from qcowgui.gui.views.summary import SummaryStrip
from qcowgui.image.inspect import ImageReport
from qcowgui.image.signatures import FileKind
from qcowgui.units import format_count

_KEY_ROLE: Final = Qt.ItemDataRole.UserRole
_LIST_WIDTH: Final = 210


class StructureList(QTreeWidget):
    """The structures of an image, one of them selected.

    Signals:
        chosen: The user selected a structure: its key.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setAccessibleName(self.tr("Structures"))
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.currentItemChanged.connect(self._current_changed)

    def show_structures(self, structures: tuple[Structure, ...], current: StructureKey) -> None:
        """List `structures`."""
        with QSignalBlocker(self):
            self.clear()
            for structure in structures:
                item = QTreeWidgetItem([structure.title, structure.note])
                item.setData(0, _KEY_ROLE, structure.key)
                item.setTextAlignment(
                    1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                )
                self.addTopLevelItem(item)
        self.select(current)

    def select(self, key: StructureKey) -> None:
        """Select a structure without saying that the user did."""
        with QSignalBlocker(self):
            for index in range(self.topLevelItemCount()):
                item = self.topLevelItem(index)
                if item is not None and item.data(0, _KEY_ROLE) is key:
                    self.setCurrentItem(item)

    def _current_changed(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.data(0, _KEY_ROLE))


class ImageView(QWidget):
    """The tab of one Session; it follows the session's state and selection.

    Signals:
        convert_requested: The button of a banner asks to convert this file.
        status_changed: There is something to say in the status bar.
    """

    convert_requested = Signal()
    status_changed = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._shown: StructureKey | None = None
        self.banner = Banner(theme)
        self.summary = SummaryStrip(theme)
        self.structures = StructureList()
        self.table_title = QLabel()
        self.table_title.setFont(scaled_font(1.0, bold=True))
        self.table = DataTable(theme)
        self.findings = FindingsPane(theme)
        self._loading = self._make_loading_page()
        self._failed = QWidget()
        self._pages = QStackedWidget()
        self._content = self._make_content()
        for page in (self._loading, self._content, self._failed):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING + 2] * 4)
        layout.setSpacing(SPACING)
        layout.addWidget(self.banner)
        layout.addWidget(self._pages, 1)
        self.structures.chosen.connect(self._structure_chosen)
        self.table.row_selected.connect(self._row_selected)
        self.findings.chosen.connect(self._finding_chosen)
        session.changed.connect(self._show_state)
        session.mapping_changed.connect(self._show_mapping)
        session.selection_changed.connect(self._show_selection)
        self._show_state()

    def focused_table(self) -> DataTable:
        """The table that a Copy command is about."""
        return self.findings.table if self.findings.table.hasFocus() else self.table

    def _make_loading_page(self) -> QWidget:
        page = QWidget()
        text = QLabel(self.tr("Reading {name}…").format(name=self.session.path.name))
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedWidth(280)
        layout = QVBoxLayout(page)
        layout.addStretch(1)
        layout.addWidget(text)
        layout.addWidget(bar, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(1)
        return page

    def _make_content(self) -> QWidget:
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING - 2)
        column.addWidget(self.table_title)
        column.addWidget(self.table, 1)
        left = QWidget()
        left_column = QVBoxLayout(left)
        left_column.setContentsMargins(0, 0, 0, 0)
        left_column.setSpacing(SPACING - 2)
        left_title = QLabel(self.tr("Structures"))
        left_title.setFont(scaled_font(1.0, bold=True))
        left_column.addWidget(left_title)
        left_column.addWidget(self.structures, 1)
        upper = QSplitter(Qt.Orientation.Horizontal)
        upper.addWidget(left)
        upper.addWidget(centre)
        upper.setStretchFactor(1, 1)
        upper.setSizes([_LIST_WIDTH, 900])
        upper.setChildrenCollapsible(False)
        self._split = FindingsSplitter(upper, self.findings)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.summary)
        layout.addWidget(self._split, 1)
        return content

    def _show_state(self) -> None:
        session = self.session
        if session.state is SessionState.LOADING and session.inspected is not None:
            return  # it is read again: what is known stays until there is something newer
        self.banner.hide()
        if session.state is SessionState.READY and session.inspected is not None:
            self._show_inspected(session.inspected)
        elif session.error is not None:
            self._show_error(session.error)
        else:
            self._pages.setCurrentWidget(self._loading)

    def _show_inspected(self, inspected: Inspected) -> None:
        report = inspected.report
        self._shown = None
        self._pages.setCurrentWidget(self._content)
        self._show_mapping()
        self.structures.show_structures(inspected.structures, self.session.selection.structure)
        self._show_selection()
        self._show_refusals(report)

    def _show_mapping(self) -> None:
        """Show what reading the mapping tables adds to."""
        self.summary.show_session(self.session)
        self.findings.show_findings(self.session.findings, self.session.looked_at())
        self._split.fit()

    def _show_refusals(self, report: ImageReport) -> None:
        refusals = report.refusals
        if not refusals:
            return
        text = refusals[0].message
        if len(refusals) > 1:
            more = format_count(len(refusals) - 1, "more reason")
            text += " " + self.tr("({more}, listed in the findings)").format(more=more)
        if report.mapping_refusals:
            consequence = self.tr(
                "What the header says is shown below; guest data can't be read from this image."
            )
        else:
            consequence = self.tr("This program can still read its guest data.")
        self.banner.say(
            self.tr("QEMU would refuse this image"),
            f"{text}\n{consequence}",
            tone=Tone.DANGER if report.mapping_refusals else Tone.WARNING,
        )

    def _show_error(self, error: QcowError) -> None:
        self._pages.setCurrentWidget(self._failed)
        # The title says it already.
        message = error.message.removeprefix("not a qcow2 image: ")
        message = message[:1].upper() + message[1:]
        self.banner.say(
            self.tr("{name} can't be shown").format(name=self.session.path.name)
            if not isinstance(error, NotQcow2Error)
            else self.tr("{name} is not a qcow2 image").format(name=self.session.path.name),
            "\n".join(filter(None, (f"{message}.", _sentence(error.hint)))),
            tone=Tone.NOTE if isinstance(error, NotQcow2Error) else Tone.DANGER,
        )
        if isinstance(error, NotQcow2Error) and FileKind(error.detected).reads_as_raw:
            self.banner.add_button(self.tr("Convert to qcow2…"), self.convert_requested.emit)
        self.banner.add_button(self.tr("Try again"), self.session.load)
        self.banner.add_copy_button(f"{self.session.path}\n{error}")

    def _show_selection(self) -> None:
        selection = self.session.selection
        structure = self.session.structure(selection.structure)
        if structure is None:
            return
        if self._shown is not structure.key:
            self._shown = structure.key
            with QSignalBlocker(self.table):
                self.table.set_table(structure.table)
            self.table_title.setText(structure.title)
            self.table.setAccessibleName(structure.title)
            self.structures.select(structure.key)
        if selection.row is None:
            self.status_changed.emit("")
            return
        if self.table.current_row() != selection.row:
            with QSignalBlocker(self.table):
                self.table.select_row(selection.row)
        self.status_changed.emit(_status(structure, selection.row))

    def _structure_chosen(self, key: StructureKey) -> None:
        self.session.select(Selection(key))

    def _row_selected(self, row: int) -> None:
        if self._shown is not None:
            self.session.select(Selection(self._shown, row))

    def _finding_chosen(self, index: int) -> None:
        finding = self.session.findings[index]
        if self.session.select_finding(finding):
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.status_changed.emit(
                self.tr("No table shows the place of this finding yet: {place}").format(
                    place=finding.structure
                )
            )


def _status(structure: Structure, row: int) -> str:
    """The selected row in one line: headings and cells of the columns that have something."""
    cells = structure.table.rows[row].cells
    parts = [structure.title, *(cell.strip() for cell in cells[:4] if cell.strip())]
    return "   ·   ".join(parts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
