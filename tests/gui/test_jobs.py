"""The controller of conversions, and the work beside the window below it."""

from __future__ import annotations

import gc
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from qcowgui.convert.job import ConvertJob, Phase, Progress
from qcowgui.convert.losses import losses_path
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import plan_snapshots
from qcowgui.engine.work import (
    CancelledOutcome,
    CancelToken,
    Done,
    Failed,
    Outcome,
    SerialExecutor,
)
from qcowgui.errors import OutputError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.garbage import GuiThreadCollector
from qcowgui.gui.jobs import Job, JobController, JobState, error_texts
from qcowgui.gui.meter import SETTLING_SECONDS, ProgressMeter
from qcowgui.gui.queue_store import QueueStore, SavedJob, read_jobs
from qcowgui.gui.queue_text import status_text
from qcowgui.image.inspect import inspect
from qcowgui.image.references import resolve_reference
from tests.gui.support import begin, slow_source, state_of, wait_for
from tests.support import oracle
from tests.support.base_images import b0
from tests.support.builder import ImageBuilder
from tests.support.damage import truncate_at

MIB = 1 << 20


@pytest.fixture
def controller(qapp: QApplication) -> JobController:  # noqa: ARG001  it must be there
    return JobController()


def overlay(folder: Path) -> Path:
    """An image over a raw backing file, which is there."""
    (folder / "base.raw").write_bytes(b"base" * 65536)
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    builder.write(512 * 1024, b"top" * 100)
    return builder.build().write_to(folder / "overlay.qcow2")


# -------------------------------------------------------------------- BackgroundRunner


def test_work_runs_beside_and_finishes_here(qtbot: QtBot) -> None:
    runner = BackgroundRunner(interval_ms=5)
    seen: list[tuple[Outcome, int | None, bool]] = []

    def work(_: CancelToken) -> int:
        assert threading.current_thread() is not threading.main_thread()
        return 7

    with qtbot.waitSignal(runner.idle):
        runner.submit(
            work,
            lambda outcome, value: seen.append(
                (outcome, value, threading.current_thread() is threading.main_thread())
            ),
        )
        assert seen == []
        assert runner.active
    assert seen == [(Done(), 7, True)]
    assert not runner.active


def test_failed_and_cancelled_work(qtbot: QtBot) -> None:
    runner = BackgroundRunner(interval_ms=5)
    seen: list[Outcome] = []

    def fail(_: CancelToken) -> None:
        raise ValueError("bad")

    def wait(token: CancelToken) -> None:
        while True:
            token.raise_if_cancelled()
            time.sleep(0.005)

    with qtbot.waitSignal(runner.idle):
        runner.submit(fail, lambda outcome, _: seen.append(outcome))
        runner.submit(wait, lambda outcome, _: seen.append(outcome))
        qtbot.waitUntil(lambda: len(seen) == 1)
        runner.cancel_all()
    assert isinstance(seen[0], Failed)
    assert isinstance(seen[0].error, ValueError)
    assert seen[1] == CancelledOutcome()


def test_slow_work_delays_no_other(qtbot: QtBot) -> None:
    runner = BackgroundRunner(interval_ms=5)
    release = threading.Event()
    seen: list[str] = []
    runner.submit(lambda _: release.wait(10), lambda *_: seen.append("slow"))
    runner.submit(lambda _: None, lambda *_: seen.append("quick"))
    qtbot.waitUntil(lambda: seen == ["quick"])
    with qtbot.waitSignal(runner.idle):
        release.set()
    assert seen == ["quick", "slow"]


# -------------------------------------------------------------------- JobController


def test_a_conversion_gives_what_qemu_reads(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    target = data_image.with_name("target.qcow2")
    job = controller.start(ConvertOptions(data_image, target, "qcow2", compression="zstd"))
    assert state_of(job) is JobState.RUNNING
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert job.result is not None
    assert job.result.verified
    assert job.result.target_bytes == target.stat().st_size
    run = subprocess.run(
        ["qemu-img", "compare", data_image, target], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert job.elapsed_seconds > 0


def test_conversions_run_one_after_the_other(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    jobs = [
        controller.start(ConvertOptions(data_image, data_image.with_name(f"{number}.raw")))
        for number in range(3)
    ]
    assert [job.state for job in jobs] == [
        JobState.RUNNING,
        JobState.WAITING,
        JobState.WAITING,
    ]
    controller.cancel(jobs[1])
    assert jobs[1].state is JobState.CANCELLED
    with qtbot.waitSignal(controller.idle):
        pass
    assert [job.state for job in jobs] == [JobState.DONE, JobState.CANCELLED, JobState.DONE]
    assert not data_image.with_name("1.raw").exists()


def test_cancel_answers_at_once_and_leaves_nothing(
    qtbot: QtBot, controller: JobController, slow_options: ConvertOptions
) -> None:
    job = controller.start(slow_options)
    qtbot.waitUntil(
        lambda: job.progress is not None and job.progress.done_bytes > 0, timeout=20_000
    )
    began = time.monotonic()
    controller.cancel(job)
    assert state_of(job) is JobState.CANCELLING
    qtbot.waitUntil(lambda: job.state.ended, timeout=5_000)
    assert time.monotonic() - began < 0.5
    assert state_of(job) is JobState.CANCELLED
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]


def test_the_event_loop_goes_on_while_converting(
    qtbot: QtBot, controller: JobController, slow_options: ConvertOptions
) -> None:
    job = controller.start(slow_options)
    gaps: list[float] = []
    last = time.monotonic()
    while not job.state.ended and time.monotonic() - last < 10 and len(gaps) < 150:
        qtbot.wait(10)
        now = time.monotonic()
        gaps.append(now - last)
        last = now
    controller.cancel(job)
    wait_for(qtbot, controller, job)
    assert sorted(gaps)[len(gaps) * 95 // 100] < 0.2, sorted(gaps)[-10:]


def test_a_refused_reference_names_itself_and_can_be_allowed(
    qtbot: QtBot, controller: JobController, tmp_path: Path
) -> None:
    source = overlay(tmp_path)
    target = tmp_path / "flat.raw"
    job = controller.start(ConvertOptions(source, target))
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.FAILED
    assert [reference.path for reference in job.refused] == [tmp_path / "base.raw"]
    assert not target.exists()
    assert controller.retry(job, [tmp_path / "base.raw"]) is job
    assert controller.jobs == (job,)
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert job.refused == ()
    expected = tmp_path / "expected.raw"
    subprocess.run(["qemu-img", "convert", "-O", "raw", source, expected], check=True)
    assert target.read_bytes() == expected.read_bytes()


def test_the_gate_opens_what_was_named_and_nothing_else(tmp_path: Path) -> None:
    overlay(tmp_path)
    reference = resolve_reference("backing file", "base.raw", tmp_path / "overlay.qcow2")
    other = resolve_reference("backing file", "other.raw", tmp_path / "overlay.qcow2")
    closed = NOTHING_ALLOWED.gate()
    assert not closed.permit(reference)
    assert closed.refused == [reference]
    gate = Consent((tmp_path / "base.raw",)).gate()
    assert gate.permit(reference)
    assert not gate.permit(other)
    assert gate.refused == [other]


def test_a_failure_is_a_sentence_with_details(
    qtbot: QtBot, controller: JobController, tmp_path: Path
) -> None:
    options = ConvertOptions(tmp_path / "missing.qcow2", tmp_path / "target.raw")
    job = controller.start(options)
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.FAILED
    assert job.error is not None
    message, _ = error_texts(job.error)
    assert "missing.qcow2" in message
    assert "SourceError" in job.error_details
    assert "missing.qcow2" in job.error_details
    assert error_texts(ValueError("odd")) == ("ValueError: odd", "")
    assert list(tmp_path.iterdir()) == []


def test_only_ended_jobs_can_be_removed(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    job = controller.start(ConvertOptions(data_image, data_image.with_name("x.raw")))
    with pytest.raises(ValueError, match="ended"):
        controller.remove(job)
    wait_for(qtbot, controller, job)
    with qtbot.waitSignal(controller.job_removed):
        controller.remove(job)
    assert controller.jobs == ()


def test_a_paused_job_stands_still_and_goes_on(
    qtbot: QtBot, controller: JobController, slow_options: ConvertOptions
) -> None:
    job = begin(qtbot, controller, slow_options)
    controller.pause(job)
    assert state_of(job) is JobState.PAUSED
    running = controller._running
    assert running is not None
    qtbot.wait(300)  # what was begun is written before a worker looks
    before = running.convert_job.progress()
    elapsed = job.elapsed_seconds
    qtbot.wait(400)
    assert running.convert_job.progress() == before
    assert job.elapsed_seconds == elapsed
    assert before.done_bytes < before.total_bytes
    controller.resume(job)
    assert state_of(job) is JobState.RUNNING
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE, job.error_details
    assert job.result is not None
    assert job.result.verified
    assert job.result.seconds - job.paused_seconds < job.result.seconds - 0.6


def test_a_paused_job_is_cancelled_at_once(
    qtbot: QtBot, controller: JobController, slow_options: ConvertOptions
) -> None:
    job = begin(qtbot, controller, slow_options)
    controller.pause(job)
    waiting = controller.start(ConvertOptions(slow_options.source, slow_options.target))
    qtbot.wait(200)
    assert waiting.state is JobState.WAITING
    controller.cancel(waiting)
    began = time.monotonic()
    controller.cancel(job)
    qtbot.waitUntil(lambda: job.state.ended, timeout=5_000)
    assert time.monotonic() - began < 0.5
    assert state_of(job) is JobState.CANCELLED
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]


def test_pause_and_resume_mean_the_running_job(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    first = controller.start(ConvertOptions(data_image, data_image.with_name("1.raw")))
    second = controller.start(ConvertOptions(data_image, data_image.with_name("2.raw")))
    controller.pause(second)
    controller.resume(second)
    controller.resume(first)
    assert second.state is JobState.WAITING
    assert first.state is JobState.RUNNING
    with qtbot.waitSignal(controller.idle):
        pass
    assert state_of(second) is JobState.DONE


def test_all_share_one_executor_unless_they_want_other_threads(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    seen = []
    for number, threads in enumerate((2, 2, 1, 2)):
        job = controller.start(
            ConvertOptions(data_image, data_image.with_name(f"{number}.raw"), threads=threads)
        )
        seen.append(controller._executor)
        wait_for(qtbot, controller, job)
        assert state_of(job) is JobState.DONE
    assert seen[0] is seen[1]
    assert [executor.threads for executor in seen if executor is not None] == [2, 2, 1, 2]


def test_what_waits_can_be_reordered_and_changed(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    jobs = [
        controller.start(ConvertOptions(data_image, data_image.with_name(f"{number}.raw")))
        for number in range(4)
    ]
    running, first, second, third = jobs
    assert not controller.can_move(running, 1)
    assert not controller.can_move(first, -1)  # before what runs already
    assert not controller.can_move(third, 1)
    controller.cancel(second)
    with qtbot.waitSignal(controller.order_changed):
        controller.move(third, -1)  # what has ended lies between them and counts for nothing
    assert controller.jobs == (running, third, first, second)
    controller.move(third, -1)
    assert controller.jobs == (running, third, first, second)
    other = ConvertOptions(data_image, data_image.with_name("other.qcow2"), "qcow2")
    controller.edit(first, other)
    with pytest.raises(ValueError, match="waits"):
        controller.edit(running, other)
    ended: list[Job] = []
    controller.job_changed.connect(lambda job: ended.extend([job] if job.state.ended else []))
    with qtbot.waitSignal(controller.idle):
        pass
    assert ended == [running, third, first]
    assert data_image.with_name("other.qcow2").exists()
    assert not data_image.with_name("1.raw").exists()


def test_trying_again_keeps_the_place(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    folder = data_image.with_name("later")
    failed = controller.start(ConvertOptions(data_image, folder / "x.raw"))
    other = controller.start(ConvertOptions(data_image, data_image.with_name("y.raw")))
    with pytest.raises(ValueError, match="ended"):
        controller.retry(other)
    with qtbot.waitSignal(controller.idle):
        pass
    assert failed.state is JobState.FAILED
    folder.mkdir()
    controller.retry(failed)
    assert controller.jobs == (failed, other)
    assert failed.error is None
    wait_for(qtbot, controller, failed)
    assert state_of(failed) is JobState.DONE


def test_what_can_not_be_read_may_be_salvaged(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    data = data_image.read_bytes()
    data_image.write_bytes(data[: len(data) - (128 << 10)])
    job = controller.start(ConvertOptions(data_image, data_image.with_name("x.raw")))
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.FAILED
    assert job.may_salvage
    controller.retry(job, salvage=True)
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert job.result is not None
    assert sum(lost.length for lost in job.result.losses) == 128 << 10
    assert not job.may_salvage


def test_other_failures_offer_no_salvage(
    qtbot: QtBot, controller: JobController, data_image: Path
) -> None:
    missing = controller.start(
        ConvertOptions(data_image.with_name("missing"), data_image.with_name("x.raw"))
    )
    nowhere = controller.start(ConvertOptions(data_image, data_image.parent / "no" / "x.raw"))
    with qtbot.waitSignal(controller.idle):
        pass
    assert [job.state for job in (missing, nowhere)] == [JobState.FAILED] * 2
    assert not missing.may_salvage
    assert not nowhere.may_salvage


# -------------------------------------------------------------------- outliving the window


def opened(qtbot: QtBot, folder: Path) -> JobController:
    """A controller with what `folder` holds."""
    made = JobController(interval_ms=5)
    made.remember_in(QueueStore(folder))
    qtbot.waitUntil(lambda: not made.active)
    return made


def test_what_was_not_finished_comes_back(qtbot: QtBot, tmp_path: Path, data_image: Path) -> None:
    state = tmp_path / "state"
    controller = opened(qtbot, state)
    assert controller.remembers
    done = controller.start(ConvertOptions(data_image, data_image.with_name("done.raw")))
    wait_for(qtbot, controller, done)
    slow = ConvertOptions(
        slow_source(tmp_path), tmp_path / "slow.qcow2", "qcow2", compression="zlib", level=6
    )
    job = begin(qtbot, controller, slow)
    for name in ("1.raw", "2.raw", "3.raw"):
        controller.start(ConvertOptions(data_image, data_image.with_name(name)))
    controller.cancel(controller.jobs[-1])
    controller.suspend()
    qtbot.waitUntil(lambda: not controller.active, timeout=5_000)
    assert [job.state for job in controller.jobs[1:]] == [JobState.CANCELLED] * 4
    assert not list(tmp_path.glob(".*.part"))

    again = JobController(interval_ms=5)
    store = controller._store
    assert store is not None
    store.close()
    again.remember_in(QueueStore(state))
    with qtbot.waitSignal(again.idle):
        pass
    assert [job.options.target.name for job in again.jobs] == ["slow.qcow2", "1.raw", "2.raw"]
    assert {job.state for job in again.jobs} == {JobState.INTERRUPTED}
    again.remove(again.jobs[0])
    again.resume_interrupted()
    assert [job.state for job in again.jobs] == [JobState.RUNNING, JobState.WAITING]
    with qtbot.waitSignal(again.idle):
        pass
    assert [job.state for job in again.jobs] == [JobState.DONE] * 2
    assert read_jobs(state / "queue-1.json") == []
    del job


def test_a_target_that_was_put_in_place_unnoticed_is_not_made_again(
    qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    """Killed between the move and the note in the queue: the target is there and is right."""
    source = tmp_path / "text.raw"
    source.write_bytes(b"what can be compressed " * 50_000)
    target = data_image.with_name("there.qcow2")
    options = ConvertOptions(source, target, "qcow2", compression="zstd")
    ConvertJob(options).run(SerialExecutor())
    before = target.read_bytes(), target.stat().st_mtime_ns, target.stat().st_ino
    state = tmp_path / "state"
    store = QueueStore(state)
    store.open()
    other = ConvertOptions(data_image, data_image.with_name("other.qcow2"), "qcow2")
    other.target.write_bytes(b"something else")
    store.write([SavedJob(options), SavedJob(other)])
    store.close()
    controller = opened(qtbot, state)
    controller.resume_interrupted()
    with qtbot.waitSignal(controller.idle):
        pass
    there, foreign = controller.jobs
    assert (there.state, there.result) == (JobState.DONE, None), there.error_details
    assert (target.read_bytes(), target.stat().st_mtime_ns, target.stat().st_ino) == before
    assert foreign.state is JobState.FAILED
    assert other.target.read_bytes() == b"something else"


def chain_of_two(tmp_path: Path) -> tuple[ConvertOptions, ConvertOptions]:
    """An image with a snapshot as a chain."""
    source = oracle.create(tmp_path / "s.qcow2", 1 << 20)
    oracle.qemu_io(source, "write -P 1 0 64k")
    oracle.qemu_img("snapshot", "-c", "old", source)
    oracle.qemu_io(source, "write -P 2 64k 64k")
    (tmp_path / "out").mkdir()
    options = ConvertOptions(source, tmp_path / "out" / "new.qcow2", "qcow2", overwrite=True)
    first, second = plan_snapshots(options, inspect(source), "chain").steps
    return first.options, second.options


@pytest.mark.parametrize("waits", [True, False])
def test_no_chain_is_made_on_what_an_earlier_run_has_left(
    waits: bool, qtbot: QtBot, controller: JobController, tmp_path: Path, data_image: Path
) -> None:
    base, top = chain_of_two(tmp_path)
    oracle.create(base.target, 1 << 20)
    before = base.target.read_bytes()
    controller.start(ConvertOptions(data_image, tmp_path / "x.raw"))
    if waits:
        first, second = controller.start_all([(base, NOTHING_ALLOWED), (top, NOTHING_ALLOWED)])
        controller.cancel(first)
        assert second.state is JobState.FAILED  # at once: it could run before anybody has seen it
        with qtbot.waitSignal(controller.idle):
            pass
    else:
        refused = replace(base, overwrite=False)
        first, second = controller.start_all([(refused, NOTHING_ALLOWED), (top, NOTHING_ALLOWED)])
        wait_for(qtbot, controller, second)
        assert first.state is JobState.FAILED
    assert second.state is JobState.FAILED
    message, hint = error_texts(second.error) if second.error is not None else ("", "")
    assert "new.qcow2 was not made: its backing file" in message
    assert "see to that one first" in hint
    assert base.target.read_bytes() == before
    assert not top.target.exists()
    controller.retry(second)
    assert second.state is JobState.FAILED
    first.options = base
    controller.retry(first)
    controller.retry(second)
    wait_for(qtbot, controller, second)
    assert [job.state for job in controller.jobs] == [JobState.DONE] * 3
    oracle.qemu_img("compare", top.source, top.target)


def test_a_step_of_a_chain_is_not_moved_before_its_base(
    qtbot: QtBot, controller: JobController, tmp_path: Path, slow_options: ConvertOptions
) -> None:
    base, top = chain_of_two(tmp_path)
    begin(qtbot, controller, slow_options)
    first, second = controller.start_all([(base, NOTHING_ALLOWED), (top, NOTHING_ALLOWED)])
    assert not controller.can_move(first, 1)
    assert not controller.can_move(second, -1)
    controller.move(second, -1)
    assert controller.jobs[1:] == (first, second)
    controller.cancel_all()
    with qtbot.waitSignal(controller.idle):
        pass
    assert {job.state for job in controller.jobs} == {JobState.CANCELLED}


def test_an_interrupted_salvage_says_again_what_is_lost(qtbot: QtBot, tmp_path: Path) -> None:
    source = truncate_at(b0(), 0x58000).write_to(tmp_path / "cut.qcow2")
    options = ConvertOptions(source, tmp_path / "cut.raw", salvage=True)
    ConvertJob(options).run(SerialExecutor())
    losses_path(options.target).unlink()
    store = QueueStore(tmp_path / "state")
    store.open()
    store.write([SavedJob(options)])
    store.close()
    controller = opened(qtbot, tmp_path / "state")
    controller.resume_interrupted()
    with qtbot.waitSignal(controller.idle):
        pass
    [job] = controller.jobs
    assert (job.state, job.result) == (JobState.DONE, None), job.error_details
    assert "32,768 bytes in 1 range of the source could not be read" in status_text(job)
    assert losses_path(options.target).exists()


def test_a_store_that_can_not_be_written_is_told_of_once(
    qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    (tmp_path / "state").write_text("no folder")
    controller = JobController(interval_ms=5)
    told: list[BaseException] = []
    controller.store_failed.connect(told.append)
    controller.remember_in(QueueStore(tmp_path / "state"))
    qtbot.waitUntil(lambda: not controller.active)
    assert not controller.remembers
    job = controller.start(ConvertOptions(data_image, data_image.with_name("x.raw")))
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert [type(error) for error in told] == [OutputError]


@pytest.mark.slow
def test_two_hundred_jobs_in_a_row(qtbot: QtBot, tmp_path: Path) -> None:
    """BL-O87: started and finished in a row, with garbage collected all the time."""
    controller = JobController(interval_ms=5)
    source = tmp_path / "small.raw"
    source.write_bytes(b"small" * 1000 + bytes(72))
    collector = threading.Event()

    def collect() -> None:
        while not collector.wait(0.01):
            gc.collect(1)

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        for number in range(200):
            job = controller.start(ConvertOptions(source, tmp_path / f"{number}.raw", threads=2))
            if number % 3 == 0:
                controller.cancel(job)
            qtbot.waitUntil(lambda job=job: job.state.ended)  # type: ignore[misc]
            assert state_of(job) in (JobState.DONE, JobState.CANCELLED), job.error_details
            controller.remove(job)
            gc.collect(2 if number % 20 == 0 else 1)
    finally:
        collector.set()
        thread.join()
    assert not controller.active


# -------------------------------------------------------------------- meter and collector


def test_the_meter_smooths_and_waits_before_it_promises() -> None:
    meter = ProgressMeter()
    first = meter.fraction
    assert first is None
    assert (meter.bytes_per_second, meter.remaining_seconds) == (None, None)
    promised = []
    for tick in range(int(SETTLING_SECONDS * 10)):
        meter.update(Progress(Phase.CONVERTING, tick * 10, 1000, 0), tick / 10)
        promised.append(meter.remaining_seconds)
    assert set(promised) == {None}
    meter.update(Progress(Phase.CONVERTING, 200, 1000, 0), SETTLING_SECONDS)
    assert meter.fraction == 0.2
    assert meter.bytes_per_second == pytest.approx(100)
    assert meter.remaining_seconds == pytest.approx(8)
    meter.update(Progress(Phase.CONVERTING, 400, 1000, 0), SETTLING_SECONDS + 0.1)
    assert 100 < (meter.bytes_per_second or 0) < 200  # one burst of 2000 a second
    meter.update(Progress(Phase.VERIFYING, 0, 1000, 0), SETTLING_SECONDS + 0.2)
    assert meter.fraction == 0
    assert (meter.bytes_per_second, meter.remaining_seconds) == (None, None)


def test_the_meter_takes_whatever_a_job_says() -> None:
    meter = ProgressMeter()
    meter.update(Progress(Phase.PREPARING, 0, 0, 0), 5.0)
    meter.update(Progress(Phase.PREPARING, 0, 0, 0), 5.0)
    meter.update(Progress(Phase.PREPARING, 0, 0, 0), 50.0)
    assert meter.fraction is None
    assert meter.remaining_seconds is None
    meter.update(Progress(Phase.CONVERTING, 20, 10, 0), 51.0)
    assert meter.fraction == 1.0


class _Cycle:
    def __init__(self, seen: list[threading.Thread]) -> None:
        self.seen, self.me = seen, self

    def __del__(self) -> None:
        self.seen.append(threading.current_thread())


def test_cycles_are_collected_in_the_guis_thread(qtbot: QtBot) -> None:
    seen: list[threading.Thread] = []

    def make_garbage() -> None:
        for _ in range(5000):
            _Cycle(seen)

    collector = GuiThreadCollector()
    gc.collect()
    collector.start()
    try:
        enabled = gc.isenabled()
        assert not enabled
        thread = threading.Thread(target=make_garbage)
        thread.start()
        thread.join()
        assert seen == []
        qtbot.waitUntil(lambda: len(seen) == 5000)
    finally:
        collector.stop()
    assert gc.isenabled()
    assert set(seen) == {threading.main_thread()}
