"""The canvas of the map: pixels, pointer and keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.check.clustermap import ClusterState
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.heatmap import stage
from qcowgui.gui.heatmap.canvas import MapCanvas
from qcowgui.gui.heatmap.layers import MapLayer, Order, Shown, state_layer
from qcowgui.gui.heatmap.painting import Mark
from qcowgui.gui.heatmap.scene import Arrangement
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme
from qcowgui.report.palette import host_colour

NO_KEY = Qt.KeyboardModifier.NoModifier
DATA, L2, BAD = ClusterState.DATA, ClusterState.ACTIVE_L2, ClusterState.CONTESTED


def layer_of(states: list[int] | np.ndarray[tuple[int], np.dtype[np.uint8]]) -> MapLayer:
    cells = np.array(states, dtype=np.uint8)
    end = len(cells) << 16
    return state_layer(Order.HOST, cells, cluster_bytes=1 << 16, end_bytes=end)


Make = Callable[[MapLayer], MapCanvas]


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    qtbot.waitUntil(lambda: not made.active)


@pytest.fixture
def make(qtbot: QtBot, theme: Theme, runner: BackgroundRunner) -> Make:
    def make_canvas(layer: MapLayer) -> MapCanvas:
        canvas = MapCanvas(runner, theme)
        qtbot.addWidget(canvas)
        canvas.resize(400, 300)
        canvas.stage.set_layer(layer, Shown())
        canvas.show()
        qtbot.waitExposed(canvas)
        return canvas

    return make_canvas


def picture(canvas: MapCanvas) -> QImage:
    return canvas.grab().toImage()


def columns_of(canvas: MapCanvas) -> int | None:
    """In how many columns the cells lie; None while they are being arranged."""
    return None if canvas.scene is None else canvas.scene.columns


def centre_of(canvas: MapCanvas, cluster: int) -> QPoint:
    rect = canvas.rect_of_cluster(cluster)
    assert rect is not None
    return rect.center()


def wheel(canvas: MapCanvas, at: QPoint, delta: int) -> None:
    event = QWheelEvent(
        QPointF(at),
        canvas.mapToGlobal(QPointF(at)),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


@pytest.mark.parametrize("scheme", [ColourScheme.LIGHT, ColourScheme.DARK])
@pytest.mark.parametrize("arrangement", list(Arrangement))
def test_each_cell_has_its_colour(
    make: Make, theme: Theme, scheme: ColourScheme, arrangement: Arrangement
) -> None:
    states = [int(state) for state in ClusterState if state and not state.is_fault] * 2
    canvas = make(layer_of(states))
    canvas.stage.set_arrangement(arrangement)
    theme.choose(scheme)
    image = picture(canvas)
    for cluster, state in enumerate(states):
        colour = host_colour(ClusterState(state)).of(dark=theme.dark)
        assert image.pixelColor(centre_of(canvas, cluster)) == QColor(colour), cluster


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("arrangement", list(Arrangement))
def test_hits_are_exact_at_any_pixel_ratio(
    make: Make, monkeypatch: pytest.MonkeyPatch, ratio: float, arrangement: Arrangement
) -> None:
    monkeypatch.setattr(MapCanvas, "ratio", property(lambda _: ratio))
    canvas = make(layer_of([DATA] * 300))
    canvas.stage.set_arrangement(arrangement)
    for zoom in (1, 1.5, 3):
        canvas.zoom(zoom)
        view = canvas.view
        assert view is not None
        assert (view.width, view.height) == (round(400 * ratio), round(300 * ratio))
        for cluster in range(0, 300, 7):
            rect = canvas.rect_of_cluster(cluster)
            assert rect is not None
            if canvas.rect().contains(rect):
                assert canvas.cluster_at(QPointF(rect.center())) == cluster
        image = canvas.picture()
        assert image is not None
        assert (image.width(), image.devicePixelRatio()) == (view.width, ratio)


@pytest.mark.slow
@pytest.mark.parametrize("arrangement", list(Arrangement))
def test_a_terabyte_is_drawn_and_moved_quickly(
    make: Make, qtbot: QtBot, runner: BackgroundRunner, arrangement: Arrangement
) -> None:
    """2 ** 24 clusters: the best of some frames, as the machine may be busy with others."""
    cells = np.full(1 << 24, DATA, dtype=np.uint8)
    cells[::97] = L2
    canvas = make(layer_of([DATA]))
    canvas.resize(1100, 760)
    start = time.perf_counter()
    canvas.stage.set_arrangement(arrangement)
    canvas.stage.set_layer(layer_of(cells), Shown())
    assert canvas.scene is None
    assert canvas.stage.busy  # it is arranged beside the window
    qtbot.waitUntil(lambda: canvas.scene is not None)
    canvas.repaint()
    assert time.perf_counter() - start < 2.0
    for _ in range(6):
        frames = []
        for step in range(8):
            start = time.perf_counter()
            canvas.stage.pan(5 - step, 3)
            canvas.stage.changed.emit()
            canvas.repaint()
            frames.append(time.perf_counter() - start)
        assert min(frames) < 1 / 30
        canvas.zoom(3)
    qtbot.waitUntil(lambda: not runner.active)


def test_many_cells_get_other_rows_for_another_shape(
    make: Make, qtbot: QtBot, runner: BackgroundRunner
) -> None:
    cells = np.full((1 << 22) + 5, DATA, dtype=np.uint8)
    canvas = make(layer_of(cells))
    canvas.resize(800, 200)
    qtbot.waitUntil(lambda: canvas.scene is not None and not canvas.stage.busy)
    wide = canvas.scene
    assert wide is not None
    canvas.resize(200, 800)
    assert canvas.scene is wide  # until there is another one
    qtbot.waitUntil(lambda: canvas.scene is not wide and not canvas.stage.busy)
    qtbot.waitUntil(lambda: not runner.active)
    tall, view = canvas.scene, canvas.view
    assert tall is not None
    assert view is not None
    assert tall.columns < wide.columns / 2
    assert (view.columns, view.rows) == (tall.columns, tall.rows)


def test_a_click_chooses_what_is_drawn_there(make: Make, qtbot: QtBot) -> None:
    canvas = make(layer_of([DATA] * 500))
    for cluster in (0, 17, 250, 499):
        with qtbot.waitSignal(canvas.chosen) as signal:
            QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, NO_KEY, centre_of(canvas, cluster))
        assert signal.args == [cluster]


def test_one_bad_cluster_in_a_million_is_seen_and_chosen(make: Make, qtbot: QtBot) -> None:
    states = np.full(1 << 20, DATA, dtype=np.uint8)
    states[777_777] = BAD
    canvas = make(layer_of(states))
    image = picture(canvas)
    colour = QColor(host_colour(BAD).light)
    seen = [
        QPoint(x, y)
        for y in range(image.height())
        for x in range(image.width())
        if image.pixelColor(x, y) == colour
    ]
    assert len(seen) >= 4
    with qtbot.waitSignal(canvas.chosen) as signal:
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, NO_KEY, seen[0])
    assert signal.args == [777_777]


def test_the_wheel_zooms_at_the_pointer(make: Make) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    at = QPoint(300, 200)
    before = canvas.cluster_at(QPointF(at))
    assert canvas.view is not None
    scale = canvas.view.scale
    for _ in range(6):
        wheel(canvas, at, 120)
    assert canvas.view.scale > 4 * scale
    assert canvas.cluster_at(QPointF(at)) == before
    for _ in range(12):
        wheel(canvas, at, -120)
    assert canvas.view is not None
    assert canvas.view.scale == pytest.approx(scale)
    assert canvas.view.is_whole


def test_a_fine_wheel_adds_up(make: Make) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    assert canvas.view is not None
    scale = canvas.view.scale
    for _ in range(7):
        wheel(canvas, QPoint(10, 10), 15)
    assert canvas.view.scale == scale
    wheel(canvas, QPoint(10, 10), 15 + 60)
    once = canvas.view.scale
    assert once > scale
    wheel(canvas, QPoint(10, 10), 60)  # with what was left over
    assert canvas.view.scale > once


def test_the_view_stays_when_the_same_clusters_get_other_colours(make: Make) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    canvas.zoom(5, QPointF(100, 100))
    before = canvas.view
    canvas.stage.set_layer(layer_of([L2] * 20_000), Shown())
    assert canvas.view == before
    canvas.stage.set_layer(layer_of([L2] * 300), Shown())
    assert canvas.view is not None
    assert canvas.view.is_whole


def test_dragging_pans_and_selects_nothing(make: Make, qtbot: QtBot) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    canvas.show_single_cells()
    start = QPoint(200, 150)
    cluster = canvas.cluster_at(QPointF(start))
    with qtbot.assertNotEmitted(canvas.chosen):
        QTest.mousePress(canvas, Qt.MouseButton.LeftButton, NO_KEY, start)
        for step in range(1, 11):
            QTest.mouseMove(canvas, start + QPoint(3 * step, 2 * step))
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, NO_KEY, start + QPoint(30, 20))
    assert canvas.cluster_at(QPointF(start + QPoint(30, 20))) == cluster


def test_dragging_with_shift_selects_a_range(make: Make, qtbot: QtBot) -> None:
    canvas = make(layer_of([DATA] * 500))
    shift = Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(canvas.range_chosen) as signal:
        QTest.mousePress(canvas, Qt.MouseButton.LeftButton, shift, centre_of(canvas, 300))
        QTest.mouseMove(canvas, centre_of(canvas, 200))
        QTest.mouseMove(canvas, centre_of(canvas, 100))
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, shift, centre_of(canvas, 100))
    assert signal.args == [100, 301]
    assert canvas.selected == Mark(100, 301)


def test_a_click_with_shift_extends(make: Make, qtbot: QtBot) -> None:
    canvas = make(layer_of([DATA] * 500))
    canvas.set_selected(Mark(50, 51))
    with qtbot.waitSignal(canvas.range_chosen) as signal:
        QTest.mouseClick(
            canvas,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.ShiftModifier,
            centre_of(canvas, 80),
        )
    assert signal.args == [50, 81]


def test_arrows_move_by_a_cell(make: Make) -> None:
    canvas = make(layer_of([DATA] * 500))
    canvas.chosen.connect(lambda cluster: canvas.set_selected(Mark(cluster, cluster + 1)))
    scene = canvas.scene
    assert scene is not None
    columns = scene.columns
    reached = []
    for key in (
        Qt.Key.Key_Right,  # nothing was selected: the first
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Left,
        Qt.Key.Key_Left,
        Qt.Key.Key_Up,
        Qt.Key.Key_Up,
        Qt.Key.Key_End,
        Qt.Key.Key_Right,
        Qt.Key.Key_Home,
    ):
        QTest.keyClick(canvas, key)
        reached.append(canvas.current)
    down = columns
    last_of_row = columns - 1
    assert reached[:5] == [0, 1, down + 1, down, last_of_row]
    assert reached[5:] == [last_of_row, last_of_row, 499, 499, 0]


def test_shift_and_arrows_select_a_range(make: Make, qtbot: QtBot) -> None:
    canvas = make(layer_of([DATA] * 500))
    canvas.set_selected(Mark(5, 6))
    with qtbot.waitSignal(canvas.range_chosen) as signal:
        QTest.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert signal.args == [5, 7]


def test_keys_zoom_and_step(make: Make) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    assert canvas.view is not None
    fitted = canvas.view
    QTest.keyClicks(canvas, "+")
    assert canvas.view.scale > fitted.scale
    QTest.keyClicks(canvas, "-")
    assert canvas.view == fitted
    canvas.set_selected(Mark(9_999, 10_000))
    QTest.keyClicks(canvas, "1")
    assert canvas.view.scale == 14
    rect = canvas.rect_of_cluster(9_999)
    assert rect is not None
    assert canvas.rect().contains(rect)
    QTest.keyClicks(canvas, "0")
    assert canvas.view == fitted
    steps: list[int] = []
    canvas.step_requested.connect(steps.append)
    QTest.keyClicks(canvas, "np")
    assert steps == [1, -1]


def test_hovering_tells_each_cluster_once(make: Make) -> None:
    canvas = make(layer_of([DATA] * 40))
    told: list[object] = []
    QTest.mouseMove(canvas, centre_of(canvas, 2))  # it may have entered anywhere
    canvas.hovered.connect(told.append)
    for cluster in (3, 3, 4):
        QTest.mouseMove(canvas, centre_of(canvas, cluster))
    QTest.mouseMove(canvas, QPoint(399, 299))  # beside the cells
    assert told == [3, 4, None]


def test_resizing_fills_the_canvas_again_unless_zoomed(make: Make) -> None:
    canvas = make(layer_of([DATA] * 20_000))
    assert canvas.view is not None
    canvas.resize(800, 300)
    wide = canvas.view
    assert wide.columns > 1.5 * wide.rows
    canvas.zoom(4)
    canvas.resize(300, 300)
    zoomed = canvas.view
    assert zoomed.columns == wide.columns
    assert zoomed.width == 300


def test_marks_are_drawn_around_their_cells(make: Make, theme: Theme) -> None:
    canvas = make(layer_of([DATA] * 12))
    plain = picture(canvas)
    canvas.set_selected(Mark(3, 4), [Mark(6, 7, "2")])
    marked = picture(canvas)
    assert plain != marked
    rect = canvas.rect_of_cluster(3)
    assert rect is not None
    edge = QPoint(rect.left() + 1, rect.center().y())
    assert marked.pixelColor(edge) == QColor(theme.colours.accent)
    assert marked.pixelColor(rect.center()) == plain.pixelColor(rect.center())
    assert canvas.marks == (Mark(6, 7, "2"),)


def test_nothing_is_shown_without_cells(make: Make, theme: Theme) -> None:
    canvas = make(layer_of([]))
    assert canvas.view is None
    assert canvas.cluster_at(QPointF(5, 5)) is None
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_Plus):
        QTest.keyClick(canvas, key)
    canvas.fit()
    assert picture(canvas).pixelColor(50, 50) == QColor(theme.colours.panel)
    assert canvas.picture() is None


def test_very_many_cells_are_arranged_beside_the_window(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "AT_ONCE_CELLS", 1000)
    monkeypatch.setattr(stage, "_REARRANGED_CELLS", 1000)
    canvas = make(layer_of([DATA] * 2000))
    assert columns_of(canvas) is None
    assert canvas.stage.busy
    qtbot.waitUntil(lambda: columns_of(canvas) is not None)
    columns = columns_of(canvas)
    canvas.resize(800, 200)
    view = canvas.view
    assert view is not None
    assert view.columns == columns, "rows are not laid out again"
    assert view.is_whole


def test_a_layer_that_is_replaced_meanwhile_is_not_shown(
    make: Make, qtbot: QtBot, runner: BackgroundRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "AT_ONCE_CELLS", 1000)
    canvas = make(layer_of([DATA] * 2000))
    assert columns_of(canvas) is None
    canvas.stage.set_layer(layer_of([L2] * 10), Shown())
    qtbot.waitUntil(lambda: not runner.active)
    assert canvas.scene is not None
    assert len(canvas.scene.layer) == 10
