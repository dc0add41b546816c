"""The fuzz driver: its mutants can be made again, and it notices every kind of fault."""

from __future__ import annotations

import random
import signal
import sys
from pathlib import Path

import pytest

from tests.fuzz import meter
from tests.fuzz.__main__ import main
from tests.fuzz.corpus import MAX_FILE_BYTES, corpus
from tests.fuzz.faults import FAULTS, FAULTY_INDEX
from tests.fuzz.mutate import _STEPS, Mutant, Step, _append, make_mutant
from tests.fuzz.operations import OPERATIONS
from tests.fuzz.run import Plan, Result, run
from tests.fuzz.worker import Bench, Tally

Capture = pytest.CaptureFixture[str]

KINDS = {
    "fault-raise": "exception",
    "fault-crash": "crash",
    "fault-hang": "hang",
    "fault-burn": "time",
    "fault-hoard": "memory",
    "fault-grab": "exception",
    "fault-source": "source changed",
    "fault-leave": "leftovers",
}
"""What each fault has to be called."""

IN_THIS_PROCESS = ("fault-raise", "fault-source", "fault-leave")


def run_faults(folder: Path, *names: str, workers: int = 1) -> Result:
    """Run eight mutants through the faults; the one at FAULTY_INDEX triggers them."""
    # On a busy machine only what really hangs may count as that.
    hang_seconds = 2.0 if "fault-hang" in names else 60.0
    return run(Plan(7, 8, None, workers, folder, names, hang_seconds))


def test_the_corpus_is_small_whole_and_diverse() -> None:
    names = {image.name for image in corpus()}
    assert len(names) == len(corpus())
    assert {"rich", "s0", "v2-512", "extended-16k", "snapshots-512", "data-file-4k"} <= names
    for image in corpus():
        assert 0 < len(image.data) <= MAX_FILE_BYTES
        assert image.spots
        for spot in image.spots:
            assert spot.words
            assert all(0 <= offset <= len(image.data) - 8 for offset in spot.words)


def test_a_mutant_is_a_change_that_can_be_made_again() -> None:
    healthy = {image.name: image.data for image in corpus()}
    seen = set()
    for index in range(300):
        mutant = make_mutant(5, index)
        again = make_mutant(5, index)
        assert mutant == again
        assert mutant.data != healthy[mutant.name]
        assert mutant.steps
        assert len(mutant.data) <= MAX_FILE_BYTES
        seen.add(mutant.data)
    assert len(seen) > 290
    assert make_mutant(5, 0) != make_mutant(6, 0)


@pytest.mark.parametrize("step", _STEPS, ids=[step.__name__ for step in _STEPS])
def test_a_step_changes_bytes_and_stays_in_range_even_of_a_cut_file(step: Step) -> None:
    changed = 0
    for number in range(40):
        image = corpus()[number % len(corpus())]
        for length in (len(image.data), len(image.data) // 3, 5, 0):
            data = bytearray(image.data[:length])
            before = bytes(data)
            said = step(image, data, random.Random(number))
            assert said
            assert step is _append or len(data) <= length
            changed += data != before
    assert changed > 10


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_a_fault_is_found(name: str, tmp_path: Path) -> None:
    bench, tally = Bench(tmp_path, [name]), Tally(next_index=0)
    for index in (FAULTY_INDEX - 1, FAULTY_INDEX):
        bench.run(index, make_mutant(7, index), tally)
    assert [failure.kind for failure in tally.failures] == [KINDS[name]]
    assert tally.failures[0].index == FAULTY_INDEX
    assert tally.failures[0].operation == name
    assert tally.mutants == 2


def test_a_documented_error_is_an_outcome(tmp_path: Path) -> None:
    bench, tally = Bench(tmp_path, ["fault-documented"]), Tally(next_index=0)
    bench.run(FAULTY_INDEX, make_mutant(7, FAULTY_INDEX), tally)
    assert tally.failures == []
    assert tally.outcomes == {"fault-documented: QcowError": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_watchdog_finds_the_fault_and_goes_on_behind_it(name: str, tmp_path: Path) -> None:
    if name in ("fault-hoard", "fault-grab") and not meter.MEASURES_MEMORY:
        assert sys.platform != "linux"
        return
    result = run_faults(tmp_path, "inspect", name)
    assert [failure.kind for failure in result.total.failures] == [KINDS[name]]
    failure = result.total.failures[0]
    assert (failure.index, failure.operation) == (FAULTY_INDEX, name)
    assert result.stopped == ""
    # What was at work when the process ended is not counted, and what came before the report.
    lost = FAULTY_INDEX + 1 if KINDS[name] in ("crash", "hang") else 0
    assert result.total.mutants >= 8 - lost
    if KINDS[name] in ("crash", "hang"):
        assert "faults.py" in failure.detail
    if KINDS[name] == "time" and hasattr(signal, "setitimer"):
        assert failure.signature.endswith("in _burn")


@pytest.mark.slow
def test_two_workers_share_the_mutants(tmp_path: Path) -> None:
    result = run_faults(tmp_path, "inspect", workers=2)
    assert result.total.mutants == 8
    assert sum(result.total.outcomes.values()) == 8


@pytest.mark.slow
def test_the_time_can_be_limited(tmp_path: Path) -> None:
    result = run(Plan(7, 10**6, 0.03, 1, tmp_path, ["inspect"]))
    assert "minutes" in result.stopped
    assert result.seconds < 20


def test_a_replay_tells_what_was_done(tmp_path: Path, capsys: Capture) -> None:
    saved = tmp_path / "mutant.qcow2"
    arguments = ["--replay", "7:11", "--operations", "map,inspect", "--dir", str(tmp_path)]
    assert main([*arguments, "--save", str(saved)]) == 0
    printed = capsys.readouterr().out
    mutant = make_mutant(7, 11)
    assert saved.read_bytes() == mutant.data
    assert all(step in printed for step in mutant.steps)
    assert "inspect: " in printed
    assert "No failures" not in printed


@pytest.mark.slow
def test_the_exit_code_and_the_summary(tmp_path: Path, capsys: Capture) -> None:
    arguments = ["--seed", "7", "--workers", "1", "--dir", str(tmp_path), "--mutants", "40"]
    assert main([*arguments, "--operations", "inspect"]) == 0
    assert "40 mutants of seed 7" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--operations", "inspect,format-the-disk"],
        ["--replay", "7"],
        ["--replay", "a:b"],
        ["--mutants", "0"],
        ["--save", "x"],
        ["--operations", "fault-crash"],
    ],
)
def test_bad_arguments_are_refused(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error" in capsys.readouterr().err


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_works_on_healthy_images(name: str, tmp_path: Path) -> None:
    """The limits of a mutant hold for the images that it comes from, and nothing fails there."""
    bench, tally = Bench(tmp_path, [name]), Tally(next_index=0)
    for index, image in enumerate(corpus()):
        bench.run(index, Mutant(image.name, (), image.data), tally)
    assert tally.failures == []
    assert tally.outcomes[f"{name}: good"] >= len(corpus()) - 4


def test_faults_are_no_operations() -> None:
    assert not FAULTS.keys() & OPERATIONS.keys()
    assert KINDS.keys() <= FAULTS.keys()
