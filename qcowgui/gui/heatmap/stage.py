"""What a canvas looks at: the layer, how it is arranged, and which part of it is in view."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QPointF, Signal

from qcowgui.engine.work import CancelToken, Failed, Outcome
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap.layers import MapLayer, Shown
from qcowgui.gui.heatmap.scene import Arrangement, Scene
from qcowgui.gui.heatmap.viewport import (
    Viewport,
    fitting_columns,
    fitting_scale,
    snapped_scale,
)

_LARGEST_FITTED: Final = 40
_LARGEST: Final = 96
_SINGLE_CELLS: Final = 14
"""Device-independent pixels of a cell: the most of a picture that fits, the most at all, and what
single cells are shown with."""

AT_ONCE_CELLS: Final = 1 << 22
"""Up to so many cells are arranged while the window waits (8 ms); more of them beside it."""

_REARRANGED_CELLS: Final = 1 << 26
"""Up to so many cells get other rows when the canvas gets another shape; more keep theirs."""


class Stage(QObject):
    """Keeps scene and viewport in step with the canvas's size. Belongs to the GUI's thread.

    Attributes:
        layer: What is shown.
        shown: Which of its values.
        arrangement: How its cells lie.

    Signals:
        changed: Another picture is to be drawn.
    """

    changed = Signal()

    def __init__(self, runner: BackgroundRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self.layer: MapLayer | None = None
        self.shown = Shown()
        self.arrangement = Arrangement.LINEAR
        self._scene: Scene | None = None
        self._view: Viewport | None = None
        self._fitted = True
        self._size = (1, 1)
        self._ratio = 1.0
        self._token: CancelToken | None = None

    # ---------------------------------------------------------------- what is shown

    @property
    def scene(self) -> Scene | None:
        """The cells in the plane; None while there are none."""
        self._prepare()
        return self._scene

    @property
    def view(self) -> Viewport | None:
        """The part that is visible; None while there is nothing."""
        self._prepare()
        return self._view

    @property
    def busy(self) -> bool:
        """Whether cells are being arranged beside the window."""
        return self._token is not None

    def has(self, cluster: int) -> bool:
        """Whether a cluster is among the cells."""
        return self.layer is not None and self.layer.first <= cluster < self.layer.last

    def set_layer(self, layer: MapLayer | None, shown: Shown) -> None:
        """Show another layer; the view stays where the clusters are the same."""
        before = self.layer
        same = (
            layer is not None
            and before is not None
            and (len(layer), layer.first) == (len(before), before.first)
        )
        self.layer, self.shown = layer, shown
        self._forget_scene()
        if not same:
            self._view, self._fitted = None, True
        self.changed.emit()

    def set_arrangement(self, arrangement: Arrangement) -> None:
        """Lay the cells out in another way, all of them visible."""
        if arrangement is not self.arrangement:
            self.arrangement = arrangement
            self._forget_scene()
            self._view, self._fitted = None, True
            self.changed.emit()

    def set_size(self, width: int, height: int, ratio: float) -> None:
        """The canvas has so many device pixels, `ratio` of them for an independent one."""
        self._size, self._ratio = (max(1, width), max(1, height)), ratio

    # ---------------------------------------------------------------- moving

    def fit(self) -> None:
        """Show all cells, in as many columns as fill the canvas."""
        self._fitted, self._view = True, None
        self.changed.emit()

    def look(self, view: Viewport) -> None:
        """Show another part."""
        if view != self._view:
            self._view = view
            self.changed.emit()

    def pan(self, right: int, down: int) -> None:
        """Move the content by so many device pixels."""
        if self._view is not None:
            self.look(self._view.panned(right, down))

    def show_cluster(self, cluster: int) -> None:
        """Scroll as little as needed to show a cluster."""
        scene, view = self.scene, self._view
        if scene is not None and view is not None and self.has(cluster):
            self.look(view.showing(*scene.place(cluster)))

    def show_single_cells(self, around: int | None) -> None:
        """Zoom so that each cell can be told from its neighbours."""
        scene, view = self.scene, self._view
        if scene is None or view is None:
            return
        self._zoom_to(max(float(round(_SINGLE_CELLS * self._ratio)), self._fit_scale(view)), None)
        if self._view is not None and around is not None and self.has(around):
            self.look(self._view.centred_on(*scene.place(around)))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom; what is at device pixel `at` (by default the middle) stays where it is."""
        view = self.view
        if view is None:
            return
        scale = snapped_scale(view.scale * factor)
        if scale == view.scale:
            scale += 1 if factor > 1 else -1
        self._zoom_to(scale, at)

    def _zoom_to(self, scale: float, at: QPointF | None) -> None:
        view = self._view
        if view is None:
            return
        least = self._fit_scale(view)
        scale = min(max(scale, least), max(_LARGEST * self._ratio, least))
        at = QPointF(view.width / 2, view.height / 2) if at is None else at
        self._fitted = scale == least
        self.look(view.zoomed(scale, at.x(), at.y()))

    def _fit_scale(self, view: Viewport) -> float:
        largest = round(_LARGEST_FITTED * self._ratio)
        return fitting_scale(view.columns, view.rows, view.width, view.height, largest)

    # ---------------------------------------------------------------- arranging

    def _forget_scene(self) -> None:
        self._scene = None
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self._forget_scene()
        self.layer = None

    def _prepare(self) -> None:
        """Arrange the cells for the canvas as it is now."""
        layer, view = self.layer, self._view
        if layer is None or not len(layer):
            self._scene = self._view = None
            return
        width, height = self._size
        if self._scene is not None and view is not None and self._size == (view.width, view.height):
            return
        largest = round(_LARGEST_FITTED * self._ratio)
        columns, _ = fitting_columns(len(layer), width, height, largest)
        if view is not None and not self._fitted:
            columns = view.columns
        if not self._arrange(layer, columns):
            return
        scene = self._scene
        if scene is None:
            return
        if view is not None and not self._fitted:
            self._view = replace(view, width=width, height=height).clamped()
            return
        scale = self._scale_of(scene, len(layer))
        self._view = Viewport(scene.columns, scene.rows, width, height, scale).clamped()

    def _scale_of(self, scene: Scene, cells: int) -> float:
        width, height = self._size
        largest = round(_LARGEST_FITTED * self._ratio)
        columns, scale = fitting_columns(cells, width, height, largest)
        if scene.arrangement is Arrangement.LINEAR and columns == scene.columns:
            return scale
        return fitting_scale(scene.columns, scene.rows, width, height, largest)

    def _arrange(self, layer: MapLayer, columns: int) -> bool:
        """Bring the scene up to date; False when that is done beside the window."""
        scene = self._scene
        if len(layer) <= AT_ONCE_CELLS:
            if scene is None:
                self._scene = Scene(layer, self.shown, self.arrangement, columns)
            else:
                self._scene = scene.with_columns(columns)
            return True
        if self._token is None and (scene is None or self._wants_other_rows(scene, columns)):
            self._submit(layer, columns)
        return scene is not None  # until the other one is there

    def _wants_other_rows(self, scene: Scene, columns: int) -> bool:
        return (
            self._fitted
            and columns != scene.columns
            and self.arrangement is Arrangement.LINEAR
            and len(scene.layer) <= _REARRANGED_CELLS
        )

    def _submit(self, layer: MapLayer, columns: int) -> None:
        shown, arrangement = self.shown, self.arrangement
        token = CancelToken()

        def finished(outcome: Outcome, scene: Scene | None) -> None:
            if token is self._token:
                self._token, self._scene = None, scene
                if self._fitted:
                    self._view = None
                self.changed.emit()
            if isinstance(outcome, Failed):
                raise outcome.error

        self._token = token
        self._runner.submit(
            lambda _: Scene(layer, shown, arrangement, columns), finished, token=token
        )
