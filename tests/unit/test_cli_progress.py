"""The progress line: its text, how often it is drawn, and where."""

from __future__ import annotations

import sys

import pytest

from qcowgui.cli.progress import ProgressLine, State, format_seconds, format_state, wanted

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.00 s"), (0.456, "0.46 s"), (12.34, "12.3 s"), (125, "2:05"), (3725, "1:02:05")],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("state", "seconds", "text"),
    [
        (State("preparing", 0, 0), 1, "preparing"),
        (
            State("converting", 0, 100 * MIB),
            0,
            "converting [........................]   0 %  of 100 MiB",
        ),
        (
            State("converting", 25 * MIB, 100 * MIB),
            1,
            "converting [######..................]  25 %  26 MB/s  of 100 MiB",
        ),
        (
            State("converting", 25 * MIB, 100 * MIB),
            4,
            "converting [######..................]  25 %  7 MB/s  12.0 s left  of 100 MiB",
        ),
        (
            State("verifying", 100 * MIB, 100 * MIB),
            4,
            "verifying [########################] 100 %  26 MB/s  0.00 s left  of 100 MiB",
        ),
    ],
)
def test_states(state: State, seconds: float, text: str) -> None:
    assert format_state(state, seconds) == text


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_on_a_terminal_one_line_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    clock = Clock()
    line = ProgressLine(lambda: State("converting", 50, 100), clock=clock)
    line.tick()
    line.tick()
    assert capsys.readouterr().err.count("\r") == 1
    clock.seconds += 0.2
    line.tick()
    line.close()
    drawn = capsys.readouterr().err
    assert "\n" not in drawn
    assert drawn.endswith("\r\x1b[K")


def test_elsewhere_lines_are_rare_and_the_last_one_is_there(capsys: Capture) -> None:
    clock = Clock()
    states = iter([State("converting", 10, 100), State("verifying", 100, 100)])
    line = ProgressLine(lambda: next(states), clock=clock)
    for _ in range(9):
        line.tick()
        clock.seconds += 0.1
    line.close()
    lines = capsys.readouterr().err.splitlines()
    assert [text.partition(" [")[0] for text in lines] == ["converting", "verifying"]


def test_the_rate_is_that_of_the_phase(capsys: Capture) -> None:
    clock = Clock()
    state = State("converting", 10 * MIB, 100 * MIB)
    line = ProgressLine(lambda: state, clock=clock)
    line.tick()
    clock.seconds += 10
    line.tick()
    state = State("verifying", 10 * MIB, 100 * MIB)
    clock.seconds += 1
    line.tick()
    clock.seconds += 2
    line.tick()
    lines = capsys.readouterr().err.splitlines()
    assert "  1 MB/s  " in lines[1]
    assert "MB/s" not in lines[2]
    assert "  5 MB/s  " in lines[3]


@pytest.mark.parametrize(
    ("forced", "quiet", "terminal", "answer"),
    [
        (False, False, False, False),
        (False, False, True, True),
        (True, False, False, True),
        (True, True, True, False),
    ],
)
def test_when_progress_is_shown(
    forced: bool, quiet: bool, terminal: bool, answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert wanted(forced=forced, quiet=quiet) is answer
