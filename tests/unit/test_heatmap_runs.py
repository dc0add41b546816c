"""The map as a list of runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.gui.heatmap.layers import Order, state_layer
from qcowgui.gui.heatmap.runs import Run, Runs, find_runs


def runs_of(values: list[int], first: int = 0) -> Runs:
    layer = state_layer(
        Order.HOST, np.array(values, dtype=np.uint8), cluster_bytes=512, end_bytes=0, first=first
    )
    return find_runs(layer, CancelToken())


@given(st.lists(st.sampled_from([0, 2, 12, 22]), max_size=60), st.integers(0, 1 << 40))
def test_runs_are_the_cells(values: list[int], first: int) -> None:
    runs = runs_of(values, first)
    listed = [runs[index] for index in range(len(runs))]
    cells = [0] * len(values)
    for run in listed:
        assert run.value != 0
        cells[run.first - first : run.last - first] = [run.value] * (run.last - run.first)
    assert cells == values
    touching = itertools.pairwise(listed)
    assert all(one.last < two.first or one.value != two.value for one, two in touching)
    for position, value in enumerate(values):
        index = runs.index_of(first + position)
        assert (index is None) == (value == 0)
        if index is not None:
            assert runs[index].first <= first + position < runs[index].last
            assert runs[index].value == value


def test_the_runs_of_one_value() -> None:
    runs = runs_of([2, 2, 12, 2, 22, 22], first=100)
    assert len(runs) == 4
    only = runs.only(2)
    assert [only[index] for index in range(len(only))] == [Run(2, 100, 102), Run(2, 103, 104)]
    assert only.index_of(102) is None
    assert only.index_of(103) == 1
    assert len(only.only(None)) == 4


def test_finding_runs_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    layer = state_layer(Order.HOST, np.ones(5, np.uint8), cluster_bytes=512, end_bytes=0)
    with pytest.raises(Cancelled):
        find_runs(layer, token)
