"""How fast every way to compress is on this image: started, followed, shown and saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.errors import QcowError
from qcowgui.gui.benchmark_lines import cluster_sizes, read_lines, speed_lines, thread_lines
from qcowgui.gui.benchmark_loader import BenchmarkLoader, BenchmarkState
from qcowgui.gui.benchmark_work import (
    CSV_SUFFIX,
    basis_text,
    codec_table,
    disturbance_text,
    peer_table,
    read_table,
    stage_text,
)
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.formatters import Table, Tone
from qcowgui.gui.session import Session, SessionState
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.benchmark_form import BenchmarkForm
from qcowgui.gui.views.data_table import DataTable
from qcowgui.gui.views.placeholder import Placeholder
from qcowgui.units import KIB, format_size

if TYPE_CHECKING:
    from qcowgui.convert.benchmark_result import Benchmark
    from qcowgui.gui.views.benchmark_plots import TitledPlot

_PER_MILLE: Final = 1000
_HEIGHTS: Final = (280, 260)
_SHOW_SECONDS: Final = 1.0
"""Figures that come in are shown no more often: each time the tables begin anew."""
_PREFERRED_CLUSTER_BYTES: Final = 64 * KIB


class BenchmarkView(QWidget):
    """Runs benchmarks of one session's image, and shows the figures of the last one.

    Attributes:
        plots: Speed by size, random reads, speed by threads; None until there is a figure.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._shown: Benchmark | None = None
        self._shown_at = 0.0
        self._wanted_cluster_bytes = _PREFERRED_CLUSTER_BYTES
        self.plots: tuple[TitledPlot, TitledPlot, TitledPlot] | None = None
        self.loader = BenchmarkLoader(session, self)
        self.form = BenchmarkForm()
        self.start_button = QPushButton(self.tr("Start"))
        self.stop_button = QPushButton(self.tr("Stop"))
        self.save_button = QPushButton(self.tr("Save…"))
        self.bar = QProgressBar()
        self.stage = QLabel()
        self.banner = Banner(theme, dismissible=True)
        self.clusters = QComboBox()
        self.direction = QComboBox()
        self.codecs = DataTable(theme)
        self.reads = DataTable(theme)
        self.peers = DataTable(theme)
        self.tables = QTabWidget()
        self.basis = QLabel()
        self.waiting = Placeholder("")
        self._pages = QStackedWidget()
        self._plot_row = QHBoxLayout()
        self._build()
        self._connect()
        self._show_state()

    # ---------------------------------------------------------------- for the window

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.loader.abandon()

    def start(self) -> None:
        """Measure what the form says; say why when that is not possible."""
        self.banner.hide()
        try:
            self.loader.start(self.form.plan())
        except QcowError as error:
            self._say(self.tr("This can’t be measured"), error)

    def shown_table(self) -> DataTable:
        """The table that is in front, for the window's Copy commands."""
        table = self.tables.currentWidget()
        return table if isinstance(table, DataTable) else self.codecs

    def choose_file(self) -> QFileDialog:
        """Ask where the figures go; the dialog deletes itself when it is closed."""
        path = self._session.path
        dialog = QFileDialog(self, self.tr("Save the figures"), str(path.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        table, data = self.tr("Table (*.csv)"), self.tr("JSON (*.json)")
        dialog.setNameFilters([table, data])
        dialog.setDefaultSuffix(CSV_SUFFIX[1:])
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix("json" if chosen == data else CSV_SUFFIX[1:])
        )
        dialog.selectFile(f"{path.name}-benchmark{CSV_SUFFIX}")
        dialog.fileSelected.connect(lambda chosen: self.loader.save(Path(chosen)))
        dialog.open()
        return dialog

    # ---------------------------------------------------------------- building

    def _build(self) -> None:
        self.start_button.setProperty("primary", True)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the benchmark"))
        self.stage.setProperty("muted", True)
        self.basis.setProperty("muted", True)
        self.basis.setWordWrap(True)
        self.basis.setTextFormat(Qt.TextFormat.PlainText)
        self.basis.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.clusters.setAccessibleName(self.tr("Cluster size that the plots show"))
        self.direction.setAccessibleName(self.tr("What the plots show the speed of"))
        self.direction.addItem(self.tr("Compressing"), False)
        self.direction.addItem(self.tr("Decompressing"), True)
        commands = QHBoxLayout()
        commands.setSpacing(SPACING)
        commands.addWidget(self.form.reads)
        commands.addWidget(self.form.peers)
        commands.addSpacing(SPACING)
        commands.addWidget(self.stage)
        commands.addWidget(self.bar, 1)
        commands.addStretch(0)
        for button in (self.start_button, self.stop_button, self.save_button):
            commands.addWidget(button)
        self._pages.addWidget(self.waiting)
        self._pages.addWidget(self._make_content())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, SPACING, 0, 0)
        layout.setSpacing(SPACING)
        layout.addWidget(self.form)
        layout.addLayout(commands)
        layout.addWidget(self.banner)
        layout.addWidget(self._pages, 1)

    def _make_content(self) -> QWidget:
        choices = QHBoxLayout()
        choices.setSpacing(SPACING)
        label = QLabel(self.tr("Plots for clusters of"))
        label.setBuddy(self.clusters)
        for widget in (label, self.clusters, self.direction):
            choices.addWidget(widget)
        choices.addStretch(1)
        plots = QWidget()
        column = QVBoxLayout(plots)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addLayout(choices)
        self._plot_row.setSpacing(2 * SPACING)
        column.addLayout(self._plot_row, 1)
        self.tables.setDocumentMode(True)
        self.tables.tabBar().setDrawBase(False)
        for table, title in (
            (self.codecs, self.tr("Codecs")),
            (self.reads, self.tr("Random reads")),
            (self.peers, self.tr("Programs")),
        ):
            table.setAccessibleName(title)
            self.tables.addTab(table, title)
        figures = QWidget()
        below = QVBoxLayout(figures)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(SPACING // 2)
        below.addWidget(self.tables, 1)
        below.addWidget(self.basis)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(plots)
        split.addWidget(figures)
        split.setChildrenCollapsible(False)
        split.setSizes(list(_HEIGHTS))
        return split

    def _connect(self) -> None:
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(self.loader.stop)
        self.save_button.clicked.connect(self.choose_file)
        self.clusters.currentIndexChanged.connect(self._show_plots)
        self.clusters.activated.connect(self._cluster_size_chosen)
        self.direction.currentIndexChanged.connect(self._show_plots)
        self.loader.changed.connect(self._show_state)
        self.loader.progressed.connect(self._show_progress)
        self.loader.saved.connect(self._show_saved)
        self.loader.save_failed.connect(
            lambda error: self._say(self.tr("The figures can’t be saved"), error)
        )
        self._session.changed.connect(self._show_buttons)
        self._theme.changed.connect(self._show_plots)

    # ---------------------------------------------------------------- state

    def _show_state(self) -> None:
        loader = self.loader
        running = loader.state is BenchmarkState.RUNNING
        self.bar.setVisible(running)
        self.stage.setVisible(running)
        for choice in (self.form, self.form.reads, self.form.peers):
            choice.setEnabled(not running)
        if loader.found is None:
            self._shown = None
        self._show_found()
        self._show_buttons()
        self._show_progress()
        if loader.error is not None:
            self._show_error(loader.error)

    def _show_buttons(self) -> None:
        running = self.loader.state is BenchmarkState.RUNNING
        ready = self._session.state is SessionState.READY
        self.start_button.setVisible(not running)
        self.start_button.setEnabled(ready)
        self.stop_button.setVisible(running)
        self.save_button.setVisible(not running)
        self.save_button.setEnabled(self.loader.found is not None)

    def _show_progress(self) -> None:
        progress = self.loader.progress
        if progress is None:
            return
        self.stage.setText(stage_text(progress))
        if progress.total:
            self.bar.setRange(0, _PER_MILLE)
            self.bar.setValue(round(progress.done / progress.total * _PER_MILLE))
        else:
            self.bar.setRange(0, 0)
        if time.monotonic() - self._shown_at >= _SHOW_SECONDS:
            self._show_found()

    def _show_error(self, error: QcowError) -> None:
        if not self.loader.refused:
            self._say(self.tr("This can’t be measured"), error)
            return
        self.banner.say(
            self.tr("The benchmark needs files that this image refers to"),
            error.message,
            tone=Tone.WARNING,
        )
        self.banner.add_button(self.tr("Allow…"), self.ask_to_allow)

    def _say(self, title: str, error: QcowError) -> None:
        text = "\n".join(filter(None, (error.message, error.hint)))
        self.banner.say(title, text, tone=Tone.DANGER)

    def _show_saved(self, path: Path) -> None:
        self.banner.say(self.tr("The figures are saved"), str(path), tone=Tone.NOTE)

    def ask_to_allow(self) -> AllowBox:
        """Ask whether the files that were refused may be read, then measure again."""
        box = AllowBox(self.loader.refused, self)
        box.allowed.connect(self._allowed)
        box.open()
        return box

    def _allowed(self, paths: list[Path]) -> None:
        self._session.permissions.allow(paths)
        self.start()

    # ---------------------------------------------------------------- figures

    def _show_found(self) -> None:
        found = self.loader.found
        if found is None or not found.codecs:
            self._pages.setCurrentIndex(0)
            self.waiting.label.setText(self._waiting_text())
            return
        if found is self._shown:
            return
        self._shown, self._shown_at = found, time.monotonic()
        self._make_plots()
        self._fill_clusters(found)
        for table, content in (
            (self.codecs, codec_table(found)),
            (self.reads, read_table(found)),
            (self.peers, peer_table(found)),
        ):
            _refill(table, content)
            self.tables.setTabVisible(self.tables.indexOf(table), bool(content.rows))
        notes = (basis_text(found), disturbance_text(found))
        self.basis.setText("\n".join(filter(None, notes)))
        self._show_plots()
        self._pages.setCurrentIndex(1)

    def _waiting_text(self) -> str:
        match self.loader.state:
            case BenchmarkState.RUNNING:
                return self.tr("The first figures come in a moment…")
            case BenchmarkState.CANCELLED:
                return self.tr("Stopped before there was a figure.")
            case BenchmarkState.FAILED:
                return ""
            case _:
                return self.tr(
                    "Measures on what this image holds how small and how fast each type, level and"
                    " cluster size is, how more threads help, and how long a guest waits for a"
                    " random read. Close other programs first: they would be measured, too."
                )

    def _fill_clusters(self, found: Benchmark) -> None:
        sizes = cluster_sizes(found)
        if [self.clusters.itemData(row) for row in range(self.clusters.count())] == sizes:
            return
        wanted = self._wanted_cluster_bytes
        with QSignalBlocker(self.clusters):
            self.clusters.clear()
            for size in sizes:
                self.clusters.addItem(format_size(size), size)
            self.clusters.setCurrentIndex(sizes.index(wanted) if wanted in sizes else 0)

    def _cluster_size_chosen(self) -> None:
        self._wanted_cluster_bytes = self.clusters.currentData()

    def _make_plots(self) -> None:
        """The plots, when there is something to draw: their library takes a moment to load."""
        if self.plots is not None:
            return
        from qcowgui.gui.views import benchmark_plots

        theme = self._theme
        self.plots = (
            benchmark_plots.TitledPlot(
                benchmark_plots.speed_plot(theme, self.tr("Speed against size"))
            ),
            benchmark_plots.TitledPlot(
                benchmark_plots.read_plot(theme, self.tr("Random reads against cluster size"))
            ),
            benchmark_plots.TitledPlot(
                benchmark_plots.thread_plot(theme, self.tr("Speed against threads"))
            ),
        )
        for plot in self.plots:
            self._plot_row.addWidget(plot, 1)

    def _show_plots(self) -> None:
        found = self._shown
        if found is None or self.plots is None:
            return
        size, decompressing = self.clusters.currentData(), bool(self.direction.currentData())
        speed, reads, threads = self.plots
        lines = speed_lines(found, size, decompressing=decompressing)
        speed.show_lines(self.tr("MB/s by size and level"), lines, self._theme)
        reads.show_lines(
            self.tr("µs for a random read"),
            read_lines(found),
            self._theme,
            dashed=self.tr("99 of 100 within"),
        )
        reads.setVisible(bool(found.reads))
        lines = thread_lines(found, size, decompressing=decompressing)
        threads.show_lines(self.tr("MB/s by threads"), lines, self._theme)


def _refill(table: DataTable, content: Table) -> None:
    """Show more rows, in the order and at the place that somebody looks at."""
    header, bar = table.horizontalHeader(), table.verticalScrollBar()
    column, order, place = header.sortIndicatorSection(), header.sortIndicatorOrder(), bar.value()
    as_before = len(content.columns) == len(table.table.columns)
    table.set_table(content)
    if as_before and content.sortable and column < len(content.columns):
        table.sortByColumn(column, order)
    bar.setValue(place)
