"""The forecast beside the conversion form: a chart, a table, and "Use this"."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.forecast import CandidateForecast
from qcowgui.engine.work import CancelledOutcome, Failed, Outcome
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.dialogs.forecast_chart import ForecastChart
from qcowgui.gui.dialogs.one_run import OneRun
from qcowgui.gui.dialogs.plain_label import plain_label
from qcowgui.gui.forecast_work import (
    Forecasted,
    ForecastRequest,
    ForecastWork,
    basis_text,
    by_size,
    forecast_table,
    gain_text,
)
from qcowgui.gui.jobs import error_texts
from qcowgui.gui.polite import PoliteExecutor
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.views.data_table import DataTable

_PER_MILLE: Final = 1000
_CHART_HEIGHT: Final = 120
_TABLE_HEIGHT: Final = 96
_LEAST_WIDTH: Final = 400


class ForecastState(Enum):
    """How far the panel is."""

    EMPTY = auto()
    """Nothing was forecast yet, or it was stopped."""
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()


class ForecastPanel(QWidget):
    """Runs one forecast at a time beside the window, and shows the last one.

    Attributes:
        state: How far it is.
        found: What is shown, when `state` is DONE.
        stopped: Whether a person has stopped the last one: then none shall start unasked.

    Signals:
        forecasted: A forecast has come: the Forecasted.
        use_requested: Somebody wants these settings: a CandidateForecast.
        start_requested: The button was clicked; whoever knows the request calls `start`.
    """

    forecasted = Signal(object)
    use_requested = Signal(object)
    start_requested = Signal()

    def __init__(
        self, runner: BackgroundRunner, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._run = OneRun(runner, self)
        self._work: ForecastWork | None = None
        self._possible = False
        self.state = ForecastState.EMPTY
        self.found: Forecasted | None = None
        self.stopped = False
        self.chart = ForecastChart(theme)
        self._items: list[CandidateForecast] = []
        self._make_widgets()
        self._lay_out()
        self.setMinimumWidth(_LEAST_WIDTH)
        runner.pulled.connect(self._show_progress)
        theme.changed.connect(self._paint)
        self._enter(ForecastState.EMPTY)

    # ---------------------------------------------------------------- what happens

    def start(self, request: ForecastRequest) -> None:
        """Forecast; what runs is stopped, what was found is gone."""
        self.found, self.stopped = None, False
        executor = PoliteExecutor(request.threads)
        self._work = ForecastWork(request, executor)
        self._run.start(self._work, self._take, executor=executor)
        self._enter(ForecastState.RUNNING)

    def show_found(self, found: Forecasted) -> None:
        """Show a forecast that was made before."""
        self._run.drop()
        self._work, self.found = None, found
        self._enter(ForecastState.DONE)

    def clear(self, hint: str = "", *, possible: bool = True) -> None:
        """Show nothing, and stop what runs.

        Args:
            hint: Why there is nothing.
            possible: Whether a forecast may be asked for.
        """
        self._run.drop()
        self._work = self.found = None
        self._possible = possible
        self._enter(ForecastState.EMPTY, hint)

    def stop(self) -> None:
        """Stop what runs, as a person asks; the panel says so when it has stopped."""
        self._run.stop()

    def drop(self) -> None:
        """Stop what runs; nothing is reported any more."""
        self._run.drop()

    def show_settings(self, item: CandidateForecast | None, target_format: str = "qcow2") -> None:
        """Mark what the form says now; None when that was not tried."""
        found = self.found
        if found is None:
            return
        self.chart.set_current(item)
        if item is not None:
            text = gain_text(found, item)
            self.table.select_row(self._items.index(item))
        else:
            self.table.setCurrentIndex(QModelIndex())
            text = (
                self.tr("A raw disk takes what is stored: nothing to forecast.")
                if target_format == "raw"
                else self.tr("The settings of the form were not among what was tried.")
            )
        self.gain.setText(text)
        self._enable()

    def _take(self, outcome: Outcome, found: Forecasted | None) -> None:
        self._work = None
        if found is not None:
            self.found = found
            self._enter(ForecastState.DONE)
            self.forecasted.emit(found)
            return
        match outcome:
            case Failed(error):
                message, hint = error_texts(error)
                self._enter(ForecastState.FAILED, " – ".join(filter(None, (message, hint))))
            case CancelledOutcome():
                self.stopped = True
                self._enter(ForecastState.EMPTY)
            case _:
                raise RuntimeError("a forecast that is done has a result")

    # ---------------------------------------------------------------- building

    def _make_widgets(self) -> None:
        self.title = QLabel(self.tr("Forecast"))
        self.title.setFont(scaled_font(1.1, bold=True))
        self.start_button = QPushButton(self.tr("Forecast"))
        self.stop_button = QPushButton(self.tr("Stop"))
        self.use_button = QPushButton(self.tr("Use this"))
        self.use_button.setToolTip(self.tr("Take the settings of the selected row into the form"))
        for button in (self.start_button, self.stop_button, self.use_button):
            button.setAutoDefault(False)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress of the forecast"))
        self.message = plain_label(muted=True)
        self.gain = plain_label()
        self.legend = QLabel()
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setWordWrap(True)
        self.basis = plain_label(muted=True)
        self.chart.setMinimumHeight(_CHART_HEIGHT)
        self.chart.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.table = DataTable(self._theme)
        self.table.setAccessibleName(self.tr("Forecast"))
        self.table.setMinimumHeight(_TABLE_HEIGHT)
        self.start_button.clicked.connect(self.start_requested)
        self.stop_button.clicked.connect(self.stop)
        self.chart.chosen.connect(self._select)
        self.use_button.clicked.connect(self._use_selected)
        self.table.row_selected.connect(self._row_selected)
        self.table.row_activated.connect(lambda _row: self._use_selected())

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(SPACING)
        head.addWidget(self.title)
        head.addStretch(1)
        for button in (self.start_button, self.stop_button, self.use_button):
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        layout.addLayout(head)
        layout.addWidget(self.progress)
        layout.addWidget(self.message)
        layout.addWidget(self.gain)
        layout.addWidget(self.chart, 1)
        layout.addWidget(self.legend)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.basis)
        layout.addStretch(0)

    # ---------------------------------------------------------------- showing

    def _enter(self, state: ForecastState, message: str = "") -> None:
        self.state = state
        done = state is ForecastState.DONE
        running = state is ForecastState.RUNNING
        if done and self.found is not None:
            self.chart.set_forecast(self.found.forecast)
            self._items = by_size(self.found.forecast)
            self.table.set_table(forecast_table(self._items))
            self.basis.setText(basis_text(self.found.forecast))
            self._possible = True
        for widget in (self.gain, self.chart, self.legend, self.table, self.basis, self.use_button):
            widget.setVisible(done)
        self.progress.setVisible(running)
        self.stop_button.setVisible(running)
        self.start_button.setVisible(not running)
        self.start_button.setText(self.tr("Forecast again") if done else self.tr("Forecast"))
        if state is ForecastState.EMPTY and not message:
            message = self.tr(
                "Tries the types and levels on samples of the disk and shows how large and how"
                " quick each would be."
            )
        elif running:
            message = self.tr("Samples of the disk are being tried…")
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.message.setProperty("tone", "danger" if state is ForecastState.FAILED else "")
        self.message.style().unpolish(self.message)
        self.message.style().polish(self.message)
        self._paint()
        self._enable()
        self._show_progress()

    def _enable(self) -> None:
        self.start_button.setEnabled(self._possible)
        self.use_button.setEnabled(self.table.current_row() is not None)

    def _show_progress(self) -> None:
        if self.state is not ForecastState.RUNNING:
            return
        fraction = self._work.fraction if self._work is not None else None
        if fraction is None:
            self.progress.setRange(0, 0)
        else:
            self.progress.setRange(0, _PER_MILLE)
            self.progress.setValue(round(fraction * _PER_MILLE))

    def _paint(self) -> None:
        self.legend.setText(self.chart.legend_html())

    # ---------------------------------------------------------------- choosing

    def _select(self, item: CandidateForecast) -> None:
        if self.found is not None:
            self.table.select_row(self._items.index(item))

    def selected(self) -> CandidateForecast | None:
        """The candidate of the selected row, or None."""
        row = self.table.current_row()
        if self.found is None or row is None:
            return None
        return self._items[row]

    def _row_selected(self, _row: int) -> None:
        self.chart.set_current(self.selected())
        self._enable()

    def _use_selected(self) -> None:
        item = self.selected()
        if item is not None:
            self.use_requested.emit(item)
