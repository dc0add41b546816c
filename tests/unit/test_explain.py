"""The manual's pages on findings: complete, in order, and printed by `qcowgui explain`."""

from __future__ import annotations

import json
import re

import pytest

from qcowgui.cli.main import COMMANDS, run
from qcowgui.format.finding import CODES, REPAIRS, Repair
from qcowgui.report.explain import Explanation, explain, families, similar_codes
from qcowgui.resources import resource_path

_ALL = [each for family in families() for each in family.explanations]


def test_every_code_is_explained_once() -> None:
    assert sorted(each.code for each in _ALL) == sorted(CODES)


def test_every_page_is_part_of_the_manual() -> None:
    pages = {path.stem for path in resource_path("manual", "findings").iterdir()}
    assert pages == {family.name for family in families()}


@pytest.mark.parametrize("each", _ALL, ids=lambda each: each.code)
def test_an_explanation_says_something(each: Explanation) -> None:
    for text in (each.meaning, each.cause, each.remedy):
        assert len(text) >= 15
        assert text.rstrip()[-1] in ".!?)`"
        assert "TODO" not in text
        assert text.count("`") % 2 == 0


@pytest.mark.parametrize("each", _ALL, ids=lambda each: each.code)
def test_what_an_explanation_names_exists(each: Explanation) -> None:
    text = f"{each.meaning} {each.cause} {each.remedy}"
    for name in re.findall(r"`qcowgui (\w+)", text):
        assert name in COMMANDS
    for name in re.findall(r"As for `([a-z0-9-]+)`", text):
        assert name in CODES


def test_a_page_promises_no_repair_that_there_is_not() -> None:
    for each in _ALL:
        if REPAIRS.get(each.code, Repair.NONE) in (Repair.NONE, Repair.SALVAGE):
            assert "A repair clears it" not in each.remedy, each.code
            assert "A repair counts" not in each.remedy, each.code


def test_an_explanation_names_a_command_where_one_helps() -> None:
    for each in _ALL:
        named = "`qcowgui " in each.remedy
        helps = REPAIRS.get(each.code, Repair.NONE) is not Repair.NONE
        assert bool(each.command) == (helps and not named), each.code


def test_explain_knows_no_other_code() -> None:
    with pytest.raises(KeyError):
        explain("no-such-finding")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("refcount_too_low", "refcount-too-low"), ("leaks", "leak"), ("l2 copied", "l2-copied")],
)
def test_similar_codes(typed: str, meant: str) -> None:
    assert similar_codes(typed)[0] == meant


def test_nothing_is_similar_to_nothing() -> None:
    assert similar_codes("") == []


def test_the_command_prints_an_explanation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert run(["explain", "Leak"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"leak: {CODES['leak']}"
    assert max(map(len, lines)) <= 60
    flat = " ".join(" ".join(lines).split())
    assert "Cause: Most often a crash" in flat
    assert "What to do: " in flat
    assert "REPAIRED --leaks` gives the space back" in flat
    assert "**" not in flat


def test_the_command_prints_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "leak", "dirty"]) == 0
    out = capsys.readouterr().out
    assert out.index("leak: ") < out.index("dirty: ")


def test_the_command_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    words = capsys.readouterr().out.split()
    assert set(CODES) <= set(words)


def test_the_command_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "leak", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["code"] == "leak"
    assert found["meaning"] == explain("leak").meaning
    assert run(["explain", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(CODES)


def test_the_command_helps_with_a_misspelt_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "refcount-to-low"]) == 1
    assert "did you mean refcount-too-low" in capsys.readouterr().err
