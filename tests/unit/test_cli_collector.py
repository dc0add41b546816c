"""The collector's pause around imports."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from qcowgui.cli.collector import paused


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_no_collection_inside_and_what_was_made_is_frozen() -> None:
    before = gc.get_freeze_count()
    with paused():
        assert not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)


def test_an_error_inside_ends_the_pause() -> None:
    with pytest.raises(ValueError, match="inside"), paused():
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
