"""The tab of an open image: its structures, its map and tables, what is selected in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QByteArray, QDataStream, QIODevice, Qt, Signal
from PySide6.QtWidgets import (
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.errors import NotQcow2Error, QcowError
from qcowgui.gui.formatters import Tone
from qcowgui.gui.heatmap.map_view import MapView
from qcowgui.gui.live import LiveFile
from qcowgui.gui.report.export import ReportExport
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.translation import count_text
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.boundary import Boundary
from qcowgui.gui.views.chain_panel import ChainPanel
from qcowgui.gui.views.compare_view import CompareView
from qcowgui.gui.views.copying import Copyable
from qcowgui.gui.views.findings import FindingsPanel
from qcowgui.gui.views.hex_panel import HexPanel
from qcowgui.gui.views.hints_banner import HintsBanner
from qcowgui.gui.views.inspector import Inspector
from qcowgui.gui.views.lazy_page import LazyPage
from qcowgui.gui.views.placeholder import Placeholder
from qcowgui.gui.views.structure_pane import StructurePane
from qcowgui.gui.views.structure_tree_view import StructureTreeView
from qcowgui.gui.views.summary import SummaryStrip
from qcowgui.image.inspect import ImageReport
from qcowgui.image.signatures import FileKind

if TYPE_CHECKING:
    from qcowgui.gui.views.benchmark_view import BenchmarkView

_WIDTHS: Final = (210, 750, 300)
_HEIGHTS: Final = (210, 210)
"""Of the map's legend, and of the inspector below it."""
_LEAST: Final = (120, 240, 120)
_LEAST_HEIGHT: Final = 100
"""Smaller than what they want: on a small screen they are cut, not the window."""


class ImageView(QWidget):
    """The tab of one Session; it follows the session's state and selection.

    `findings` and `hex` belong to it, but the window shows them in its docks. The legend of a map
    stands above the inspector, so that the map has all of the width.

    Signals:
        convert_requested: The button of a banner asks to convert this file.
        repair_requested: A hint asks to repair this image as a copy.
        salvage_requested: The button of a banner asks to look for what is left of an image.
        open_requested: A file of the chain is wanted in a tab of its own: its path.
        status_changed: There is something to say in the status bar.
    """

    convert_requested = Signal()
    repair_requested = Signal()
    salvage_requested = Signal()
    open_requested = Signal(object)
    status_changed = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._theme = theme
        # From the outside inwards: whoever moves widgets to another parent has the style sheet
        # of all that is in them worked out again, which took half of the time to build a tab.
        self._pages = QStackedWidget(self)
        self._content = QWidget(self._pages)
        self._inside = Boundary(parent=self._content)
        self.split = QSplitter(Qt.Orientation.Horizontal, self._inside)
        self._inside.hold(self.split)
        self.centre = QTabWidget(self.split)
        centre_pages = self.centre.findChild(QStackedWidget) or self.centre
        self.live = LiveFile(session, theme, self)
        self.banner = Banner(theme, parent=self)
        self.hints = HintsBanner(session, theme, self)
        self.summary = SummaryStrip(theme, self._content)
        self.tree = StructureTreeView(session, theme, self.split)
        self.map = MapView(session, theme, centre_pages)
        self.structure = StructurePane(session, theme, centre_pages)
        self.compare = LazyPage(self._make_compare, centre_pages)
        self.chain = LazyPage(self._make_chain, centre_pages)
        self.benchmark = LazyPage(self._make_benchmark, centre_pages)
        self.right = QSplitter(Qt.Orientation.Vertical, self.split)
        self.legends = QStackedWidget(self.right)
        self.inspector = Inspector(session, theme, self.right)
        self.report = ReportExport(session, self)
        self.findings = FindingsPanel(session, theme)
        self.hex = HexPanel(session, theme)
        self._arrange_centre()
        self._arrange_split()
        self._loading = Placeholder(
            self.tr("Reading {name}…").format(name=session.path.name), busy=True
        )
        self._failed = Placeholder(
            self.tr("This is no image that can be shown; its bytes are in the Hex panel below.")
        )
        self._arrange_content()
        for page in (self._loading, self._content, self._failed):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACING + 2, SPACING // 2, SPACING + 2, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.live.banner)
        layout.addWidget(self.banner)
        layout.addWidget(self.hints)
        layout.addWidget(self._pages, 1)
        self._connect()
        self._show_state()

    # ---------------------------------------------------------------- for the window

    def focused_table(self) -> Copyable:
        """What a Copy command is about."""
        focused = self.window().focusWidget()
        if focused is self.findings.table:
            return self.findings.table
        if focused in (self.map.host.canvas, self.map.guest.canvas):
            return self.map
        if self.benchmark.made is not None and self.centre.currentWidget() is self.benchmark:
            return self.benchmark.made.shown_table()
        return self.structure.shown_table()

    def show_map(self) -> None:
        """Bring the map to the front, for the keyboard."""
        self.centre.setCurrentWidget(self.map)
        self.map.focus_pane()

    def show_table(self) -> None:
        """Bring the table to the front, for the keyboard."""
        self.centre.setCurrentWidget(self.structure)
        self.structure.focus_table()

    def show_compare(self) -> CompareView:
        """Bring the comparison to the front."""
        self.centre.setCurrentWidget(self.compare)
        return self.compare.content

    def show_benchmark(self) -> None:
        """Bring the benchmark to the front; it starts when somebody asks for it."""
        self.centre.setCurrentWidget(self.benchmark)
        self.benchmark.content.start_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def layout_state(self) -> QByteArray:
        """How a person has divided the tab, for `restore_layout`."""
        state = QByteArray()
        stream = QDataStream(state, QIODevice.OpenModeFlag.WriteOnly)
        for split in (self.split, self.right):
            stream << split.saveState()
        return state

    def restore_layout(self, state: QByteArray | None) -> None:
        """Divide the tab as it was saved; None: as it is by default."""
        stream = QDataStream(QByteArray() if state is None else state)
        for split, sizes in ((self.split, _WIDTHS), (self.right, _HEIGHTS)):
            saved = QByteArray()
            stream >> saved
            if not split.restoreState(saved):
                split.setSizes(list(sizes))

    def close_panels(self) -> None:
        """Take no more results: the tab is being closed."""
        self.live.stop()
        self.findings.abandon()
        self.tree.abandon()
        self.map.abandon()
        self.structure.abandon()
        for page in (self.compare.made, self.chain.made, self.benchmark.made):
            if page is not None:
                page.abandon()
        self.inspector.abandon()
        self.hex.abandon()
        self.session.abandon()

    # ---------------------------------------------------------------- building

    def _arrange_centre(self) -> None:
        self.centre.setDocumentMode(True)
        self.centre.tabBar().setDrawBase(False)
        self.centre.addTab(self.map, self.tr("Map"))
        self.centre.addTab(self.structure, self.tr("Table"))
        self.centre.addTab(self.compare, self.tr("Compare"))
        self.centre.addTab(self.chain, self.tr("Backing chain"))
        self.centre.addTab(self.benchmark, self.tr("Benchmark"))
        self._show_chain_tab()

    def _make_compare(self, parent: QWidget) -> CompareView:
        compare = CompareView(self.session, self._theme, parent)
        compare.readout.connect(self.status_changed)
        compare.loader.changed.connect(self._show_legend)
        self.legends.addWidget(compare.side)
        return compare

    def _make_chain(self, parent: QWidget) -> ChainPanel:
        chain = ChainPanel(self.session, self._theme, parent)
        chain.open_requested.connect(self.open_requested)
        return chain

    def _make_benchmark(self, parent: QWidget) -> BenchmarkView:
        # Few look at it, and what measures takes a moment to load.
        from qcowgui.gui.views.benchmark_view import BenchmarkView

        return BenchmarkView(self.session, self._theme, parent)

    def _arrange_split(self) -> None:
        self.legends.addWidget(self.map.side)
        self.right.addWidget(self.legends)
        self.right.addWidget(self.inspector)
        self.right.setStretchFactor(1, 1)
        self.right.setSizes(list(_HEIGHTS))
        parts = (self.tree, self.centre, self.right)
        for index, (widget, least) in enumerate(zip(parts, _LEAST, strict=True)):
            self.split.insertWidget(index, widget)
            widget.setMinimumSize(least, _LEAST_HEIGHT)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes(list(_WIDTHS))
        self.split.setChildrenCollapsible(False)

    def _arrange_content(self) -> None:
        layout = QVBoxLayout(self._content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.summary)
        layout.addWidget(self._inside, 1)

    def _connect(self) -> None:
        session = self.session
        self.tree.chosen.connect(self._structure_chosen)
        self.centre.currentChanged.connect(self._show_legend)
        self.structure.title_changed.connect(self._show_table_title)
        self.structure.status_changed.connect(self.status_changed)
        self.findings.status_changed.connect(self.status_changed)
        self.hints.salvage_requested.connect(self.salvage_requested)
        self.hints.repair_requested.connect(self.repair_requested)
        self.hints.convert_requested.connect(self.convert_requested)
        self.hex.status_changed.connect(self.status_changed)
        self.map.readout.connect(self.status_changed)
        session.changed.connect(self._show_state)
        session.mapping_changed.connect(self._show_results)
        session.check_changed.connect(self._show_results)
        session.check_progressed.connect(lambda: self.summary.show_health(session))

    # ---------------------------------------------------------------- state

    def _show_state(self) -> None:
        session = self.session
        if session.state is SessionState.LOADING and session.inspected is not None:
            return  # it is read again: what is known stays until there is something newer
        self.banner.hide()
        if session.state is SessionState.READY and session.inspected is not None:
            self._pages.setCurrentWidget(self._content)
            self._show_results()
            self._show_chain_tab()
            self._show_refusals(session.inspected.report)
        elif session.error is not None:
            self._pages.setCurrentWidget(self._failed)
            self._show_error(session.error)
        else:
            self._pages.setCurrentWidget(self._loading)

    def _show_chain_tab(self) -> None:
        """Offer the chain where there is one."""
        inspected = self.session.inspected
        is_chained = inspected is not None and bool(inspected.references)
        self.centre.setTabVisible(self.centre.indexOf(self.chain), is_chained)

    def _show_results(self) -> None:
        """Show what reading the mapping tables, or a check, adds to."""
        self.summary.show_session(self.session)

    def _show_refusals(self, report: ImageReport) -> None:
        refusals = report.refusals
        if not refusals:
            return
        text = refusals[0].message
        if len(refusals) > 1:
            more = count_text(len(refusals) - 1, "more reason")
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
        if report.mapping_refusals:
            self.banner.add_button(self.tr("Salvage…"), self.salvage_requested.emit)

    def _show_error(self, error: QcowError) -> None:
        # The title says it already.
        message = error.message.removeprefix("not a qcow2 image: ")
        message = message[:1].upper() + message[1:]
        is_other = isinstance(error, NotQcow2Error)
        self.banner.say(
            self.tr("{name} can't be shown").format(name=self.session.path.name)
            if not is_other
            else self.tr("{name} is not a qcow2 image").format(name=self.session.path.name),
            "\n".join(filter(None, (f"{message}.", _sentence(error.hint)))),
            tone=Tone.NOTE if is_other else Tone.DANGER,
        )
        self._failed.label.setVisible(self.session.source is not None)
        if isinstance(error, NotQcow2Error) and FileKind(error.detected).reads_as_raw:
            self.banner.add_button(self.tr("Convert to qcow2…"), self.convert_requested.emit)
        if self.session.source is not None:
            self.banner.add_button(self.tr("Salvage…"), self.salvage_requested.emit)
        self.banner.add_button(self.tr("Try again"), self.session.load)
        self.banner.add_copy_button(f"{self.session.path}\n{error}")

    # ---------------------------------------------------------------- selection

    def _structure_chosen(self, selection: Selection) -> None:
        is_chain = selection.structure is StructureKey.BACKING_CHAIN
        self.centre.setCurrentWidget(self.chain if is_chain else self.structure)

    def _show_legend(self) -> None:
        """Show the legend of the map that is in front, where there is one."""
        shown, compare = self.centre.currentWidget(), self.compare.made
        if shown is self.compare and compare is not None and compare.loader.overlay is not None:
            self.legends.setCurrentWidget(compare.side)
            self.legends.show()
        else:
            self.legends.setCurrentWidget(self.map.side)
            self.legends.setVisible(shown is self.map)

    def _show_table_title(self, title: str) -> None:
        index, text = self.centre.indexOf(self.structure), title.replace("&", "&&")
        if text != self.centre.tabText(index):  # or all of it would be repainted
            self.centre.setTabText(index, text)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
