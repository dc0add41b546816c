"""Speeds over time, and how far a queue is as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.convert.job import Phase, Progress
from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.consent import NOTHING_ALLOWED
from qcowgui.gui.meter import SETTLING_SECONDS, ProgressMeter
from qcowgui.gui.queue_job import VERIFYING_SHARE, Job, JobState
from qcowgui.gui.queue_total import QueueTotal
from qcowgui.gui.throughput import FIRST_INTERVAL_SECONDS, MAX_SAMPLES, Throughput


def job(*, verify: bool = True) -> Job:
    return Job(ConvertOptions(Path("/a.qcow2"), Path("/a.raw"), verify=verify))


def look(job: Job, phase: Phase, done: int, total: int = 100) -> None:
    """Take a look in as the controller does."""
    job.progress = Progress(phase, done, total, 0)
    job.meter.update(job.progress, float(done))


def test_samples_come_at_a_distance() -> None:
    history = Throughput()
    for tick in range(100):
        history.add(tick / 10, tick, 2 * tick)
    assert len(history.seconds) == pytest.approx(100 / 10 / FIRST_INTERVAL_SECONDS, rel=0.3)
    assert history.written == [2 * value for value in history.read]


def test_a_day_needs_no_more_memory_than_an_hour() -> None:
    history = Throughput()
    day = 24 * 3600
    for second in range(day):
        history.add(float(second), 5.0, 3.0)
    assert MAX_SAMPLES / 4 <= len(history.seconds) <= MAX_SAMPLES
    assert history.seconds == sorted(history.seconds)
    assert day - history.seconds[-1] < day / 100
    assert set(history.read) == {5.0}
    assert set(history.written) == {3.0}


def test_the_meter_knows_both_directions() -> None:
    meter = ProgressMeter()
    for tick in range(40):
        meter.update(Progress(Phase.CONVERTING, tick * 10, 1000, tick * 4), tick / 10)
    assert meter.bytes_per_second == pytest.approx(100)
    assert meter.written_per_second == pytest.approx(40)


def test_a_pause_changes_neither_speed_nor_remaining_time() -> None:
    meter = ProgressMeter()
    for tick in range(30):
        meter.update(Progress(Phase.CONVERTING, tick * 10, 1000, 0), tick / 10)
    before = meter.bytes_per_second, meter.remaining_seconds
    for second in range(3, 3600):
        meter.hold(float(second))
    assert (meter.bytes_per_second, meter.remaining_seconds) == before
    meter.update(Progress(Phase.CONVERTING, 300, 1000, 0), 3599.1)
    assert meter.bytes_per_second == pytest.approx(100, rel=0.01)


def test_a_pause_at_the_start_promises_nothing() -> None:
    meter = ProgressMeter()
    meter.hold(5.0)
    meter.update(Progress(Phase.CONVERTING, 0, 1000, 0), 6.0)
    meter.hold(6.0 + SETTLING_SECONDS)
    meter.update(Progress(Phase.CONVERTING, 10, 1000, 0), 6.1 + SETTLING_SECONDS)
    assert meter.remaining_seconds is None


def test_a_job_is_done_when_it_is_verified() -> None:
    running = job()
    running.begin()
    parts = [running.fraction]
    for phase, done in (
        (Phase.CONVERTING, 0),
        (Phase.CONVERTING, 50),
        (Phase.CONVERTING, 100),
        (Phase.VERIFYING, 0),
        (Phase.VERIFYING, 100),
        (Phase.FINISHING, 100),
    ):
        look(running, phase, done)
        parts.append(running.fraction)
    convert = 1 - VERIFYING_SHARE
    assert parts == [0.0, 0.0, convert / 2, convert, convert, 1.0, 1.0]
    unverified = job(verify=False)
    look(unverified, Phase.CONVERTING, 100)
    assert unverified.fraction == 1.0


def test_paused_time_is_no_elapsed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("qcowgui.gui.queue_job.time.monotonic", lambda: now[0])
    running = job()
    running.begin()
    now[0] = 103.0
    running.pause()
    now[0] = 150.0
    running.look(Progress(Phase.CONVERTING, 10, 100, 0))
    assert running.progress is None
    assert running.elapsed_seconds == 3.0
    running.resume()
    now[0] = 152.0
    assert running.elapsed_seconds == 5.0
    running.pause()
    now[0] = 160.0
    running.end(JobState.CANCELLED)
    now[0] = 200.0
    assert running.elapsed_seconds == 5.0
    assert running.paused_seconds == 55.0


def test_the_total_counts_one_stretch_of_work() -> None:
    total = QueueTotal()
    assert (total.count, total.fraction) == (0, 0.0)
    first, second, third = job(), job(), job()
    for added in (first, second, first):
        total.note(added)
    assert total.count == 2
    first.begin()
    look(first, Phase.VERIFYING, 0)
    assert total.fraction == pytest.approx((1 - VERIFYING_SHARE) / 2)
    first.end(JobState.DONE)
    total.note(first)
    second.end(JobState.FAILED)
    assert (total.ended, total.done, total.failed, total.fraction) == (2, 1, 1, 1.0)
    total.note(third)  # everything has ended: what comes now is another stretch
    assert (total.count, total.fraction) == (1, 0.0)
    total.forget(third)
    total.forget(first)
    assert total.count == 0


def test_interrupted_ones_count_only_once_they_wait() -> None:
    total = QueueTotal()
    left = Job(ConvertOptions(Path("/a"), Path("/b")), state=JobState.INTERRUPTED)
    total.note(left)
    assert total.count == 0
    left.wait_again(left.options, NOTHING_ALLOWED)
    total.note(left)
    assert total.count == 1
