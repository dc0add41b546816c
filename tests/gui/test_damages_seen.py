"""Every damage that a check names is seen at once: on the map, in the tree, or in a banner."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.check.checker import CheckReport
from qcowgui.check.clustermap import ClusterState
from qcowgui.engine.work import CancelToken, Counter, SerialExecutor
from qcowgui.format.finding import Severity
from qcowgui.gui.formatters import Tone
from qcowgui.gui.health import counts_text
from qcowgui.gui.heatmap.flags import finding_flags
from qcowgui.gui.heatmap.layers import MapLayer, Order, Shown, state_layer
from qcowgui.gui.heatmap.scene import Arrangement, Scene
from qcowgui.gui.heatmap.viewport import Viewport, fitting_columns
from qcowgui.gui.models.tree_badges import Badges
from qcowgui.gui.models.tree_nodes import image_nodes
from qcowgui.gui.opening import Checked, CheckWork, GuestStatesWork, Inspected, Opened, OpenWork
from tests.support.check_damages import CHECK_DAMAGES
from tests.support.check_damages.record import CheckDamage

WIDTH, HEIGHT = 700, 400
"""Of the map's canvas in the window as it opens."""


def opened(path: Path) -> Opened:
    return OpenWork(path)(CancelToken())


def checked(found: Opened, inspected: Inspected, *, deep: bool) -> Checked:
    work = CheckWork(found.source, inspected.report, deep, SerialExecutor(), Counter(), Counter())
    return work(CancelToken())


def shows_fault(layer: MapLayer) -> bool:
    """Whether the first picture of a layer has a pixel of a state that says what is wrong."""
    if not len(layer):
        return False
    columns, scale = fitting_columns(len(layer), WIDTH, HEIGHT, 40)
    scene = Scene(layer, Shown(), Arrangement.LINEAR, columns)
    view = Viewport(scene.columns, scene.rows, WIDTH, HEIGHT, scale).clamped()
    pixels = scene.draw(view, 1.0)
    return any(bool((pixels & 0x7F == fault).any()) for fault in scene.faults)


def maps_of(found: Opened, inspected: Inspected, check: Checked) -> list[MapLayer]:
    """The maps of the file and of the guest's disk."""
    report = inspected.report
    geometry = report.header.geometry
    if geometry is None:
        return []
    size = geometry.cluster_bytes
    host = state_layer(Order.HOST, check.states, cluster_bytes=size, end_bytes=report.file_bytes)
    backing_bytes = report.virtual_bytes if report.backing_name_raw else 0
    cells = GuestStatesWork(found.source, report, backing_bytes)(CancelToken())
    guest = state_layer(Order.GUEST, cells, cluster_bytes=size, end_bytes=report.virtual_bytes)
    return [host, guest]


def is_badged(inspected: Inspected, check: CheckReport) -> bool:
    """Whether a node of the tree, as it is before anything is opened, says that it has findings."""
    badges = Badges.of_groups(check.groups, inspected.report.header.geometry)
    nodes = image_nodes(inspected.report, inspected.structures)
    return any(badges.of(node) is not None for node in nodes)


@pytest.mark.parametrize("damage", CHECK_DAMAGES.values(), ids=CHECK_DAMAGES.keys())
def test_a_damage_is_seen_where_it_is(damage: CheckDamage, tmp_path: Path) -> None:
    path = damage.damaged(damage.geometries[0]).write_to(tmp_path / "damaged.qcow2")
    found = opened(path)
    if found.inspected is None:
        assert found.error is not None  # a banner says what the file is
        return
    inspected = found.inspected
    check = checked(found, inspected, deep=damage.deep)
    named = [group for group in check.report.groups if group.code in damage.codes]
    if all(group.severity is Severity.INFO for group in named):
        return  # odd, and nothing is wrong with it
    if all(group.first[0].structure == "file" for group in named):
        assert counts_text(check.report.counts)[0]  # it has no place: the badge of the tab says it
        return
    banner = bool(inspected.report.refusals) or bool(check.report.hints)
    layers = maps_of(found, inspected, check)
    flags = finding_flags(
        check.report.groups, check.states, layers[0].cluster_bytes if layers else 1
    )
    on_a_map = any(map(shows_fault, layers)) or bool(flags)
    assert on_a_map or banner or is_badged(inspected, check.report), [
        (group.code, group.first[0].structure) for group in named
    ]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("R3-l1-reserved-bit-60", ClusterState.ACTIVE_L1),
        ("R9-subcluster-conflict", ClusterState.ACTIVE_L2),
        ("R17-table-reserved-bits", ClusterState.REFCOUNT_TABLE),
        ("R15-directory-count", ClusterState.BITMAP_METADATA),
    ],
)
def test_a_wrong_entry_flags_the_table_that_has_it(
    name: str, state: ClusterState, tmp_path: Path
) -> None:
    damage = CHECK_DAMAGES[name]
    path = damage.damaged(damage.geometries[0]).write_to(tmp_path / "damaged.qcow2")
    found = opened(path)
    assert found.inspected is not None
    check = checked(found, found.inspected, deep=False)
    size = check.report.ownership.cluster_bytes
    flags = finding_flags(check.report.groups, check.states, size)
    assert flags
    assert {ClusterState(int(check.states[flag.cluster])) for flag in flags} == {state}


def test_what_the_state_shows_needs_no_flag(tmp_path: Path) -> None:
    damage = CHECK_DAMAGES["R23-leak-50"]
    found = opened(damage.damaged(damage.geometries[0]).write_to(tmp_path / "leaks.qcow2"))
    assert found.inspected is not None
    check = checked(found, found.inspected, deep=False)
    size = check.report.ownership.cluster_bytes
    assert finding_flags(check.report.groups, check.states, size) == ()
    healthy = check.states.copy()
    healthy[:] = ClusterState.DATA
    flags = finding_flags(check.report.groups, healthy, size)
    assert [flag.tone for flag in flags] == [Tone.WARNING] * len(flags)
    assert len(flags) == 50
