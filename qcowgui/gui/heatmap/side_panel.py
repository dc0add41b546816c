"""What stands beside a map: its legend, and the same as a table of ranges."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from qcowgui.check.cells import Tally
from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap.layers import MapLayer, Shown
from qcowgui.gui.heatmap.legend import Legend
from qcowgui.gui.heatmap.ranges_table import RangesTable
from qcowgui.gui.heatmap.runs import Runs, find_runs
from qcowgui.gui.theme import Theme

_AT_ONCE_CELLS: Final = 1 << 22
"""Up to so many cells are counted while the window waits (20 ms)."""


class SidePanel(QTabWidget):
    """The legend and the ranges of the pane that is in use.

    Attributes:
        legend: The states.
        ranges: Their ranges; of the isolated state alone while there is one.

    Signals:
        shown_changed: Other values are to be shown: a `Shown`.
        range_chosen: A range was chosen in the table: the first cluster, and the end (exclusive).
    """

    shown_changed = Signal(object)
    range_chosen = Signal(object, object)

    def __init__(
        self, runner: BackgroundRunner, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._runner = runner
        self._layer: MapLayer | None = None
        self._runs: Runs | None = None
        self._amounts: dict[int, Tally] = {}
        self._token: CancelToken | None = None
        self._current: int | None = None
        self.legend = Legend(theme)
        self.ranges = RangesTable(theme)
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.addTab(self.legend, self.tr("Legend"))
        self.addTab(self.ranges, self.tr("Ranges"))
        self.legend.shown_changed.connect(self.shown_changed)
        self.legend.shown_changed.connect(self._list)
        self.ranges.chosen.connect(lambda run: self.range_chosen.emit(run.first, run.last))
        self.currentChanged.connect(self._need_runs)

    @property
    def busy(self) -> bool:
        """Whether ranges are being looked for."""
        return self._token is not None

    @property
    def amounts(self) -> dict[int, Tally]:
        """How much there is of each value; empty while it is being counted."""
        return self._amounts

    def show_layer(self, layer: MapLayer | None, shown: Shown) -> None:
        """Explain and list another layer."""
        if layer is self._layer:
            self.legend.show_layer(layer, self._amounts, shown)
            self._list()
            return
        self.abandon()
        self._layer, self._runs, self._amounts = layer, None, {}
        if layer is not None and len(layer) <= _AT_ONCE_CELLS:
            self._amounts = layer.tally()
        self.legend.show_layer(layer, self._amounts, shown)
        self.ranges.show_runs(None)
        self._count()
        self._need_runs()

    def _count(self) -> None:
        """Count many cells beside the window: the picture does not wait for the numbers."""
        layer = self._layer
        if layer is None or len(layer) <= _AT_ONCE_CELLS:
            return

        def finished(outcome: Outcome, amounts: dict[int, Tally] | None) -> None:
            if layer is self._layer and amounts is not None:
                self._amounts = amounts
                self.legend.show_layer(layer, amounts, self.legend.shown)
            if isinstance(outcome, Failed):
                raise outcome.error

        self._runner.submit(lambda _: layer.tally(), finished)

    def show_cluster(self, cluster: int | None) -> None:
        """Point at the range that a cluster is in."""
        self._current = cluster
        if cluster is not None:
            self.ranges.show_cluster(cluster)

    def abandon(self) -> None:
        """Take no more results."""
        self._layer = None
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def _need_runs(self) -> None:
        """Look for the ranges once the table is seen: there may be millions."""
        layer = self._layer
        unneeded = self.currentWidget() is not self.ranges or self._runs is not None or self.busy
        if layer is None or unneeded:
            return
        token = CancelToken()

        def finished(outcome: Outcome, runs: Runs | None) -> None:
            if token is self._token:
                self._token, self._runs = None, runs
                self._list()
            if isinstance(outcome, Failed):
                raise outcome.error

        self._token = token
        self._runner.submit(lambda token: find_runs(layer, token), finished, token=token)

    def _list(self) -> None:
        if self._runs is None:
            return
        self.ranges.show_runs(self._runs.only(self.legend.shown.isolated))
        self.show_cluster(self._current)
