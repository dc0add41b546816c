"""Scenes of the map: places, hits, ranges and pixels."""

from __future__ import annotations

import random

import numpy as np
import pytest

from qcowgui.check.clustermap import ClusterState
from qcowgui.gui.heatmap.layers import (
    DIMMED,
    HATCHED,
    ISOLATED,
    MapLayer,
    Order,
    Shown,
    state_layer,
)
from qcowgui.gui.heatmap.scene import Arrangement, Scene
from qcowgui.gui.heatmap.viewport import Viewport, fitting_columns, fitting_scale

ARRANGEMENTS = list(Arrangement)
BAD = int(ClusterState.CONTESTED)


def layer_of(states: np.ndarray[tuple[int], np.dtype[np.uint8]], first: int = 0) -> MapLayer:
    end = (first + len(states)) << 16
    return state_layer(Order.HOST, states, cluster_bytes=1 << 16, end_bytes=end, first=first)


def view_of(scene: Scene, width: int, height: int, scale: float | None = None) -> Viewport:
    if scale is None:
        scale = fitting_scale(scene.columns, scene.rows, width, height, 40)
    return Viewport(scene.columns, scene.rows, width, height, scale).clamped()


def scene_of(
    layer: MapLayer, arrangement: Arrangement, columns: int = 37, shown: Shown | None = None
) -> Scene:
    return Scene(layer, shown or Shown(), arrangement, columns)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_place_and_cluster_are_inverse(arrangement: Arrangement) -> None:
    layer = layer_of(np.full(1000, ClusterState.DATA, dtype=np.uint8), first=5000)
    scene = scene_of(layer, arrangement)
    for cluster in (5000, 5001, 5036, 5037, 5500, 5999):
        assert scene.cluster_at(*scene.place(cluster)) == cluster
    assert scene.cluster_at(-1, 0) is None
    assert scene.cluster_at(scene.columns, 0) is None


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("scale", [1.0, 1.7, 3.0, 8.0, 14.0, 40.0])
def test_hits_are_exact(arrangement: Arrangement, ratio: float, scale: float) -> None:
    """The cluster that is hit is the one whose pixels are drawn there."""
    states = np.full(3000, ClusterState.DATA, dtype=np.uint8)
    scene = scene_of(layer_of(states), arrangement)
    view = view_of(scene, round(300 * ratio), round(200 * ratio), scale * ratio)
    generator = random.Random(7)
    for _ in range(60):
        x, y = generator.randrange(view.width), generator.randrange(view.height)
        hit = scene.hit(view, x, y)
        if hit is None:
            column, row = view.cell_at(x, y)
            assert scene.cluster_at(column, row) is None
            continue
        left, top, right, bottom = view.square(*scene.place(hit))
        assert left <= x < right
        assert top <= y < bottom


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_one_bad_cluster_in_16_million_is_visible_at_every_zoom(arrangement: Arrangement) -> None:
    cells = 1 << 24
    states = np.full(cells, ClusterState.DATA, dtype=np.uint8)
    bad = 11_111_111
    states[bad] = BAD
    layer = layer_of(states)
    width, height = 700, 500
    columns, _ = fitting_columns(cells, width, height, 40)
    scene = scene_of(layer, arrangement, columns)
    view = view_of(scene, width, height)
    place = scene.place(bad)
    seen = []
    while view.scale < 40:
        pixels = scene.draw(view, 1.0)
        found = np.argwhere((pixels & ~np.uint8(HATCHED)) == BAD)
        seen.append(len(found))
        assert len(found) >= 4, f"at scale {view.scale}"
        # Every one of these pixels leads to the cluster.
        for y, x in found[:: max(1, len(found) // 5)].tolist():
            assert scene.hit(view, x, y) == bad
        left, top, _, _ = view.square(*place)
        view = view.zoomed(view.scale * 1.7, left, top).centred_on(*place)
    assert len(seen) > 8


def test_the_worst_state_wins_a_pixel() -> None:
    states = np.full(64 * 64, ClusterState.DATA, dtype=np.uint8)
    states[5] = ClusterState.ACTIVE_L2
    states[70] = ClusterState.LEAKED
    scene = scene_of(layer_of(states), Arrangement.LINEAR, 64)
    view = view_of(scene, 8, 8, 1 / 8)
    assert view.level == 3
    assert scene.worst_at(3, 0, 0) == 70
    assert scene.clusters_below(view) == 64


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_ranges_cover_exactly_their_clusters(arrangement: Arrangement) -> None:
    layer = layer_of(np.full(1000, ClusterState.DATA, dtype=np.uint8), first=100)
    scene = scene_of(layer, arrangement)
    for first, last in ((100, 101), (110, 300), (137, 174), (100, 1100), (640, 641), (0, 5000)):
        covered: list[int | None] = []
        for square in scene.squares(first, last):
            covered += [
                scene.cluster_at(x, y)
                for y in range(square.y, square.y + square.height)
                for x in range(square.x, square.x + square.width)
            ]
        assert sorted(found for found in covered if found is not None) == list(
            range(max(first, 100), min(last, 1100))
        )
        assert None not in covered
    assert not list(scene.squares(50, 100))


def test_neighbours_go_on_in_the_next_row() -> None:
    scene = scene_of(layer_of(np.full(100, ClusterState.DATA, dtype=np.uint8)), Arrangement.LINEAR)
    assert scene.neighbour(36, 1, 0) == 37
    assert scene.neighbour(37, -1, 0) == 36
    assert scene.neighbour(0, 0, 1) == 37
    assert scene.neighbour(99, 1, 0) is None
    assert scene.neighbour(0, -1, 0) is None
    assert scene.neighbour(99, 0, 1) is None


def test_stepping_through_what_looks_alike() -> None:
    states = np.full(100, ClusterState.DATA, dtype=np.uint8)
    states[10:13] = states[50] = states[90:100] = ClusterState.LEAKED
    scene = scene_of(layer_of(states, first=1000), Arrangement.LINEAR)
    value = int(ClusterState.LEAKED)
    assert scene.next_like(1000, value, 1) == 1010
    assert scene.next_like(1010, value, 1) == 1050
    assert scene.next_like(1011, value, 1) == 1050
    assert scene.next_like(1050, value, 1) == 1090
    assert scene.next_like(1095, value, 1) is None
    assert scene.next_like(1095, value, -1) == 1050
    assert scene.next_like(1050, value, -1) == 1012
    assert scene.next_like(1012, value, -1) is None


def test_faults_carry_a_pattern_and_others_do_not() -> None:
    states = np.array([ClusterState.DATA, BAD, ClusterState.FREE, ClusterState.LEAKED], np.uint8)
    scene = scene_of(layer_of(states), Arrangement.LINEAR, 4)
    for scale in (9.0, 20.0, 40.0):
        pixels = scene.draw(view_of(scene, 4 * round(scale), round(scale), scale), 1.0)
        hatched = {int(value) & ~HATCHED for value in np.unique(pixels) if value & HATCHED}
        assert hatched == {BAD, int(ClusterState.LEAKED)}
        assert pixels[0, round(scale) - 1] == 0, "a gap between cells"
    small = scene.draw(view_of(scene, 16, 4, 4.0), 1.0)
    assert small[0, 3] == ClusterState.DATA, "no gap between small cells"


def test_isolating_and_hiding() -> None:
    states = np.array([1, 2, 12, BAD, 0], dtype=np.uint8)
    layer = layer_of(states)
    everything = Shown()
    assert everything.applied(states) is states
    isolated = Shown(isolated=12)
    assert isolated.applied(states).tolist() == [DIMMED, DIMMED, ISOLATED, DIMMED, 0]
    assert isolated.drawn_faults(layer.keys) == frozenset()
    assert Shown(isolated=BAD).drawn_faults(layer.keys) == {ISOLATED}
    # What is hidden hides nothing behind it.
    hidden = Shown(hidden=frozenset({BAD}))
    assert hidden.applied(states).tolist() == [1, 2, 12, 0, 0]
    scene = scene_of(layer, Arrangement.LINEAR, 5, hidden)
    assert scene.worst_at(3, 0, 0) == 2
    colours = isolated.colours(layer.keys, "#000000", "#222222", dark=True)
    assert colours[DIMMED] == "#222222"
    assert colours[ISOLATED] == next(k for k in layer.keys if k.value == 12).colour.dark
