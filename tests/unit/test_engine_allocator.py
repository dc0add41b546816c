"""The allocator's thresholds: set where glibc is, left alone elsewhere."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator

import pytest

from qcowgui.engine.allocator import keep_freed_memory


@pytest.fixture(autouse=True)
def _not_asked_before() -> Iterator[None]:
    keep_freed_memory.cache_clear()
    yield
    keep_freed_memory.cache_clear()


class FakeLibrary:
    """A C library that notes what it is asked."""

    def __init__(self, answer: int) -> None:
        self.calls: list[tuple[int, int]] = []
        self._answer = answer

    def mallopt(self, parameter: int, value: int) -> int:
        self.calls.append((parameter, value))
        return self._answer


@pytest.mark.parametrize("answer", [0, 1])
def test_both_thresholds_are_raised(monkeypatch: pytest.MonkeyPatch, answer: int) -> None:
    library = FakeLibrary(answer)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: library)
    assert keep_freed_memory() is bool(answer)
    assert keep_freed_memory() is bool(answer)
    # M_MMAP_THRESHOLD is -3, M_TRIM_THRESHOLD -1; the second follows only when the first was taken.
    wanted = [(-3, 32 << 20), (-1, 256 << 20)]
    assert library.calls == wanted[: 1 + answer]


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    assert keep_freed_memory() is False


def test_another_system_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "CDLL", None)
    assert keep_freed_memory() is False
