"""Whatever is in an image: a plan comes out, it makes nothing worse, and its edits are true."""

from __future__ import annotations

import functools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error
from qcowgui.format.finding import Repair, Severity
from qcowgui.image.patched import read_content
from qcowgui.image.source import BytesSource
from qcowgui.repair.listing import iter_plan_json, iter_plan_text
from qcowgui.repair.planner import RepairRequest, plan_repair
from tests.support.base_images import rich
from tests.support.check_damages.geometries import GEOMETRIES

NAMES = ("v3-512", "v2-512", "extended-16k", "order-0", "snapshots-512", "bitmap-512", "rich")


@functools.cache
def base(name: str) -> bytes:
    return (rich() if name == "rich" else GEOMETRIES[name].image()).to_bytes()


WORDS = st.one_of(
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1]),
    st.builds(lambda cluster: 1 << 63 | cluster << 9, st.integers(0, 400)),
    st.builds(lambda offset: 1 << 62 | offset, st.integers(0, 1 << 18)),
)
POKES = st.lists(st.tuples(st.integers(0, 1 << 14), WORDS), min_size=1, max_size=6)
REQUESTS = st.builds(
    RepairRequest,
    tier=st.sampled_from([Repair.LEAKS, Repair.ALL]),
    deep=st.booleans(),
    free_unowned=st.booleans(),
    verify_all=st.booleans(),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(NAMES),
    pokes=POKES,
    length=st.none() | st.integers(120, 1 << 16),
    request=REQUESTS,
)
def test_a_plan_for_any_image(
    name: str, pokes: list[tuple[int, int]], length: int | None, request: RepairRequest
) -> None:
    data = bytearray(base(name))
    for position, word in pokes:
        offset = position * 8 % len(data)
        data[offset : offset + 8] = word.to_bytes(8, "big")
    source = BytesSource(bytes(data[:length]))
    try:
        proven = plan_repair(source, request, token=CancelToken())
    except NotQcow2Error:
        return
    for edit in proven.plan.edits:
        stands_there = source.read_at(edit.offset, edit.length_bytes)
        assert read_content(edit.before, 0, edit.length_bytes) == stands_there
        assert read_content(edit.after, 0, edit.length_bytes) != stands_there
    assert list(iter_plan_text(proven.plan))
    assert list(iter_plan_json(proven.plan))
    before, after = proven.before, proven.after
    if before.complete == after.complete:
        serious = [
            report.counts[Severity.FATAL] + report.counts[Severity.CORRUPTION]
            for report in (before, after)
        ]
        assert serious[1] <= serious[0]
