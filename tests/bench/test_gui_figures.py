"""The judgement of the window's benchmark: it must be able to say no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import gui
from tests.bench.gui_figures import Figure, format_figures


@pytest.mark.parametrize(
    ("figure", "holds"),
    [
        (Figure("a", 0.49, "s", 0.5), True),
        (Figure("a", 0.5, "s", 0.5), False),
        (Figure("a", 30.0, "frames/s", 30.0, at_least=True), True),
        (Figure("a", 29.9, "frames/s", 30.0, at_least=True), False),
        (Figure("a", 1e9, "s"), True),
    ],
)
def test_a_figure_holds_or_not(figure: Figure, holds: bool) -> None:
    assert figure.holds is holds
    assert Figure.from_json(json.loads(json.dumps(figure.to_json()))) == figure


def test_the_table_names_what_was_missed() -> None:
    figures = [
        Figure("stall", 61.2, "ms", 50.0, waited_seconds=0.02),
        Figure("frames", 31.0, "frames/s", 30.0, at_least=True),
    ]
    lines = format_figures(figures).splitlines()
    assert lines[1].split("  ")[-1] == "MISSED"
    assert "20 ms" in lines[1]
    assert "MISSED" not in lines[2]
    assert "at least 30 frames/s" in lines[2]


@pytest.mark.parametrize(("value", "status"), [(40.0, 0), (60.0, 1)])
def test_one_miss_decides_the_exit_status(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    value: float,
    status: int,
) -> None:
    played: list[str] = []

    def play(scene: str, folder: Path, environment: dict[str, str]) -> list[Figure]:
        assert folder.parent == tmp_path
        assert environment == {"QT_QPA_PLATFORM": "offscreen"}
        played.append(scene)
        return [Figure(scene, value if scene == "busy" else 1.0, "ms", 50.0)]

    monkeypatch.setattr(gui, "_play", play)
    report = tmp_path / "report.json"
    arguments = ["--offscreen", "--dir", str(tmp_path), "--json", str(report)]
    assert gui.main(arguments) == status
    assert played == list(gui.SCENES)
    assert ("1 figures were missed." in capsys.readouterr().out) is bool(status)
    assert len(json.loads(report.read_text())["without a display"]) == len(gui.SCENES)


def test_what_cannot_be_measured_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert gui.main(["--display", "--dir", str(tmp_path)]) == 2
    assert "no display" in capsys.readouterr().err
