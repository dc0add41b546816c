"""One order of a map: the canvas, what it shows, and the work that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from qcowgui.check.cells import MAX_CELLS
from qcowgui.engine.work import CancelledOutcome, CancelToken, Counter, Failed, Outcome
from qcowgui.errors import QcowError
from qcowgui.gui.heatmap.canvas import MapCanvas
from qcowgui.gui.heatmap.flags import finding_flags
from qcowgui.gui.heatmap.layer_work import LayerWork
from qcowgui.gui.heatmap.layers import ColourMode, MapLayer, Order, Shown, state_layer
from qcowgui.gui.heatmap.scene import Arrangement
from qcowgui.gui.session import CheckState, Session, SessionState
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.translation import count_text
from qcowgui.gui.views.placeholder import Placeholder
from qcowgui.image.references import Reference
from qcowgui.units import ceil_div, format_size

_EVERYTHING: Final = Shown()


class MapPane(QWidget):
    """The clusters of the file, or of the guest's disk, coloured by a mode.

    Attributes:
        order: Which clusters.
        canvas: The picture.
        mode: What they are coloured by.

    Signals:
        layer_changed: `layer` or `shown` is another.
        activated: The keyboard or the pointer has come to this pane.
        refused: Files that the mode needs were not allowed: a list of references.
    """

    layer_changed = Signal()
    activated = Signal()
    refused = Signal(object)

    def __init__(
        self, session: Session, theme: Theme, order: Order, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.order = order
        self.mode = ColourMode.STATE
        self._shown = _EVERYTHING
        self._token: CancelToken | None = None
        self._counter = Counter()
        self._part = 0
        self.canvas = MapCanvas(session.runner, theme)
        self.canvas.installEventFilter(self)
        self.title, self.message = QLabel(), QLabel()
        self.parts = QComboBox()
        self.stop = QPushButton(self.tr("Stop"))
        self.waiting = Placeholder("")
        self._stack = QStackedWidget()
        self._build()
        session.changed.connect(self._restart)
        session.check_changed.connect(self._checked)
        session.index_changed.connect(self._indexed)
        session.check_progressed.connect(self._show_waiting)
        session.permissions.changed.connect(self._permitted)
        session.runner.pulled.connect(self._show_progress)
        self.parts.currentIndexChanged.connect(self._part_chosen)
        self.stop.clicked.connect(self._stop_clicked)
        self._restart()

    def _build(self) -> None:
        host = self.order is Order.HOST
        self.canvas.setAccessibleName(
            self.tr("Map of the file’s clusters") if host else self.tr("Map of the guest’s disk")
        )
        self.title.setProperty("muted", True)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.message.setProperty("tone", "danger")
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.parts.setAccessibleName(self.tr("Part of the image"))
        self._stack.addWidget(self.canvas)
        self._stack.addWidget(self.waiting)
        line = QHBoxLayout()
        line.setSpacing(SPACING)
        line.addWidget(self.title, 2)
        line.addWidget(self.message, 1)
        line.addWidget(self.parts)
        line.addWidget(self.stop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING // 2)
        layout.addLayout(line)
        layout.addWidget(self._stack, 1)
        for widget in (self.parts, self.stop, self.message):
            widget.hide()

    # ---------------------------------------------------------------- for the map

    @property
    def layer(self) -> MapLayer | None:
        """What is shown; None while there is nothing."""
        return self.canvas.layer

    @property
    def shown(self) -> Shown:
        """Which of its values are shown."""
        return self._shown

    @property
    def busy(self) -> bool:
        """Whether a layer is being made."""
        return self._token is not None

    @property
    def allowed(self) -> tuple[Path, ...]:
        """The files that may be opened for what the mode needs."""
        return self._session.permissions.allowed

    def set_shown(self, shown: Shown) -> None:
        """Isolate or hide values."""
        if shown != self._shown:
            self._shown = shown
            self.canvas.stage.set_layer(self.layer, shown)
            self.layer_changed.emit()

    def set_arrangement(self, arrangement: Arrangement) -> None:
        """Lay the cells out in another way."""
        self.canvas.stage.set_arrangement(arrangement)

    def set_mode(self, mode: ColourMode) -> None:
        """Colour by something else; by the state where the mode makes no sense in this order."""
        mode = mode if self.order in mode.orders else ColourMode.STATE
        if mode is not self.mode:
            self.mode, self._shown = mode, _EVERYTHING
            self._load()

    def allow(self, paths: Sequence[Path]) -> None:
        """Open these files, too, for what the mode needs."""
        self._session.permissions.allow(paths)

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._drop()
        self.canvas.stage.abandon()

    def _drop(self) -> None:
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice when the canvas gets the keyboard or a click."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.MouseButtonPress):
            self.activated.emit()
        return super().eventFilter(watched, event)

    # ---------------------------------------------------------------- following the session

    def _restart(self) -> None:
        """The image is read, or was read again."""
        if self._session.state is SessionState.LOADING and self._session.inspected is not None:
            return  # it is read again: what is known stays until there is something newer
        self._drop()
        self._part = 0
        self._load()

    def _checked(self) -> None:
        if self.order is Order.HOST and self._session.check_state is not CheckState.RUNNING:
            self._load()
        self._show_waiting()

    def _indexed(self) -> None:
        if self.order is Order.GUEST:
            self._load()

    def _permitted(self) -> None:
        """Other files may be opened, or are elsewhere: try again where that matters."""
        if self.mode is ColourMode.CHAIN:
            self._load()

    @property
    def _clusters(self) -> int:
        """How many clusters there are of this order, as far as is known."""
        inspected, check = self._session.inspected, self._session.check
        geometry = inspected.report.header.geometry if inspected else None
        if inspected is None or geometry is None:
            return 0
        if self.order is Order.HOST:
            return 0 if check is None else check.ownership.clusters
        if not len(self._session.guest_states):
            return 0
        return ceil_div(inspected.report.virtual_bytes, geometry.cluster_bytes)

    # ---------------------------------------------------------------- loading

    def _load(self) -> None:
        """Show what the mode says, at once or when it has been worked out."""
        self._drop()
        self.message.hide()
        clusters = self._clusters
        self._fill_parts(clusters)
        if not clusters:
            self._take(None)
            return
        first = self._part * MAX_CELLS
        if self.mode is ColourMode.STATE and not first:
            self._take(self._known_layer())
            return
        self._submit(first, min(first + MAX_CELLS, clusters))

    def _known_layer(self) -> MapLayer | None:
        """The states that the session has."""
        session, host = self._session, self.order is Order.HOST
        inspected = session.inspected
        geometry = inspected.report.header.geometry if inspected else None
        if inspected is None or geometry is None:
            return None
        report = inspected.report
        return state_layer(
            self.order,
            session.states if host else session.guest_states,
            cluster_bytes=geometry.cluster_bytes,
            end_bytes=report.file_bytes if host else report.virtual_bytes,
        )

    def _submit(self, first: int, last: int) -> None:
        session = self._session
        if session.source is None or session.inspected is None:
            return
        gate = session.permissions.gate()
        work = LayerWork(
            session.source,
            session.inspected.report,
            session.check,
            self.order,
            self.mode,
            first,
            last,
            gate=gate,
        )
        token = CancelToken()

        def finished(outcome: Outcome, layer: MapLayer | None) -> None:
            if token is self._token:
                self._token = None
                self._finish(outcome, layer, gate.refused)

        self._token, self._counter = token, work.done
        session.runner.submit(work, finished, token=token)
        self._show_title()

    def _finish(self, outcome: Outcome, layer: MapLayer | None, refused: list[Reference]) -> None:
        if layer is not None:
            self._take(layer)
            return
        self._show_title()
        if isinstance(outcome, CancelledOutcome):
            return
        error = outcome.error if isinstance(outcome, Failed) else None
        if isinstance(error, QcowError):
            self._say(error.message)
            if refused:
                self.refused.emit(list(refused))
        elif error is not None:
            raise error

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setToolTip(text)
        self.message.show()

    def _take(self, layer: MapLayer | None) -> None:
        self.canvas.stage.set_layer(layer, self._shown)
        self._stack.setCurrentWidget(self.waiting if layer is None else self.canvas)
        self._show_flags()
        self._show_title()
        self._show_waiting()
        self.layer_changed.emit()

    def _show_flags(self) -> None:
        """Mark the clusters of the file that findings are about."""
        check, layer = self._session.check, self.layer
        if self.order is Order.HOST and check is not None and layer is not None:
            states = self._session.states
            self.canvas.set_flags(finding_flags(check.groups, states, layer.cluster_bytes))
        else:
            self.canvas.set_flags(())

    # ---------------------------------------------------------------- parts

    def _fill_parts(self, clusters: int) -> None:
        count = ceil_div(clusters, MAX_CELLS)
        self.parts.setVisible(count > 1)
        if self.parts.count() == count:
            return
        texts = [
            self.tr("Part {number} of {count}").format(number=number + 1, count=count)
            for number in range(count)
        ]
        with QSignalBlocker(self.parts):
            self.parts.clear()
            self.parts.addItems(texts)
            self.parts.setCurrentIndex(self._part if count else -1)

    def _part_chosen(self, index: int) -> None:
        if index >= 0 and index != self._part:
            self._part = index
            self._load()

    def show_part_of(self, cluster: int) -> None:
        """Bring the part of a huge image to the front that holds a cluster."""
        if self.layer is not None and 0 <= cluster < self._clusters:
            self.parts.setCurrentIndex(cluster // MAX_CELLS)

    # ---------------------------------------------------------------- words

    def _show_title(self) -> None:
        layer = self.layer
        host = self.order is Order.HOST
        text = self.tr("File") if host else self.tr("Guest’s disk")
        if layer is not None:
            clusters = count_text(self._clusters, "cluster")
            text += self.tr(" · {clusters} of {size}").format(
                clusters=clusters, size=format_size(layer.cluster_bytes)
            )
        if self.canvas.flags:
            text += self.tr(" · ◥ has findings")
        if self.busy:
            text += self.tr(" · {mode}: working…").format(mode=self.mode.title)
        self.title.setText(text)
        self.stop.setVisible(self.busy)

    def _show_progress(self) -> None:
        layer = self.layer
        if not self.busy or layer is None or not self.mode.reads_content:
            return
        share = self._counter.value / max(1, len(layer))
        self.title.setText(
            self.tr("{mode}: {share}").format(mode=self.mode.title, share=f"{share:.0%}")
        )

    def _show_waiting(self) -> None:
        if self.layer is not None:
            return
        session = self._session
        progress = session.check_progress
        if progress is not None:
            text = self.tr("Checking… {share}").format(share=f"{progress:.0%}")
        elif session.check_state in (CheckState.FAILED, CheckState.CANCELLED):
            text = self.tr("The check did not finish: there is no map.")
        elif session.check_state is CheckState.DONE and self.order is Order.HOST:
            text = self.tr("This image can’t be mapped; the findings say why.")
        else:
            text = self.tr("Reading the tables…")
        self.waiting.label.setText(text)

    def _stop_clicked(self) -> None:
        self._drop()
        self._show_title()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
