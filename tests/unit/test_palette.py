"""The colours of the map: told apart in both themes, by every eye, and faults by a pattern."""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
import pytest

from qcowgui.check.clustermap import ClusterState
from qcowgui.gui.heatmap.layers import GUEST_KEYS, HOST_KEYS, MAX_VALUE, ColourMode, Key
from qcowgui.gui.heatmap.scales import keys_of
from qcowgui.gui.theme import DARK, LIGHT
from qcowgui.report.palette import Colour, hatch_of, luminance, named_colour, ramp
from tests.unit.test_resources import VISIONS, oklab

LEAST_DISTANCE: Final = 0.06
"""In Oklab; two patches closer than about 0.02 look the same side by side."""


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("keys", [HOST_KEYS, GUEST_KEYS], ids=["host", "guest"])
def test_no_two_states_look_alike(keys: tuple[Key, ...], vision: str, *, dark: bool) -> None:
    seen = {key.name: oklab(key.colour.of(dark=dark), VISIONS[vision]) for key in keys}
    seen["nothing"] = oklab((DARK if dark else LIGHT).panel, VISIONS[vision])
    for one, other in itertools.combinations(seen, 2):
        least = LEAST_DISTANCE
        if {one, other} & {"free", "not allocated"} and "nothing" in (one, other):
            least = 0.04  # free space is meant to recede
        distance = float(np.linalg.norm(seen[one] - seen[other]))
        assert distance >= least, f"{one} and {other}"


@pytest.mark.parametrize("dark", [False, True])
def test_metadata_stands_out_from_plain_data(*, dark: bool) -> None:
    """Neighbours in the file: tables lie amid data."""
    data = {ClusterState.DATA, ClusterState.COMPRESSED}
    tables = {ClusterState.ACTIVE_L2, ClusterState.ACTIVE_L1, ClusterState.REFCOUNT_BLOCK}
    colours = {key.value: key.colour.of(dark=dark) for key in HOST_KEYS}
    for table, plain in itertools.product(tables, data):
        one, other = (oklab(colours[state], VISIONS["full"]) for state in (table, plain))
        assert float(np.linalg.norm(one - other)) >= 0.15, f"{table!r} on {plain!r}"


@pytest.mark.parametrize("dark", [False, True])
def test_faults_stand_out_from_plain_data_even_more(*, dark: bool) -> None:
    colours = {key.value: key.colour.of(dark=dark) for key in HOST_KEYS}
    for fault in (state for state in ClusterState if state.is_fault):
        for plain in (ClusterState.DATA, ClusterState.COMPRESSED):
            one, other = (oklab(colours[state], VISIONS["full"]) for state in (fault, plain))
            assert float(np.linalg.norm(one - other)) >= 0.2, f"{fault!r} on {plain!r}"


@pytest.mark.parametrize("dark", [False, True])
def test_patterns_are_seen_on_their_colour(*, dark: bool) -> None:
    for key in (*HOST_KEYS, *GUEST_KEYS):
        if key.fault:
            colour = key.colour.of(dark=dark)
            light, deep = sorted((luminance(colour), luminance(hatch_of(colour))), reverse=True)
            assert (light + 0.05) / (deep + 0.05) >= 2.5, key.name


@pytest.mark.parametrize("steps", [1, 2, 6, 8])
def test_ramps_are_monotonous_in_luminance(steps: int) -> None:
    colours = ramp(steps)
    assert len(colours) == steps
    for dark in (False, True):
        values = [luminance(colour.of(dark=dark)) for colour in colours]
        assert values == sorted(values, reverse=not dark)
        assert len(set(values)) == steps


@pytest.mark.parametrize("mode", [mode for mode in ColourMode if mode is not ColourMode.STATE])
def test_every_mode_explains_its_values(mode: ColourMode) -> None:
    keys = keys_of(mode)
    values = [key.value for key in keys]
    assert values == sorted(set(values))
    assert all(1 <= value <= MAX_VALUE for value in values)
    assert all(key.name and key.meaning.endswith(".") for key in keys)
    assert mode.orders
    assert mode.title


def test_states_have_a_fault_where_something_is_wrong() -> None:
    assert {key.value for key in HOST_KEYS if key.fault} == {
        int(state) for state in ClusterState if state.is_fault
    }
    assert [key.value for key in HOST_KEYS] == [int(state) for state in ClusterState][1:]


def test_luminance_is_that_of_wcag() -> None:
    assert luminance("#000000") == 0
    assert luminance("#ffffff") == pytest.approx(1)
    assert luminance("#777777") == pytest.approx(0.1845, abs=1e-3)


def test_an_unknown_colour_is_an_error() -> None:
    with pytest.raises(KeyError):
        named_colour("plaid")
    assert isinstance(named_colour("data"), Colour)
