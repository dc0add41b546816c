"""From the sampled cells to seconds on this machine: reading, encoding, writing, verifying."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

import numpy as np

from qcowgui.convert.forecast_sampling import (
    Estimate,
    Floats,
    Frame,
    interval,
    mean_variance,
)
from qcowgui.convert.forecast_trial import Candidate, Cell
from qcowgui.units import MIB

_PROBE_BYTES: Final = 32 * MIB
_PROBE_PART_BYTES: Final = MIB
_WRITEBACK_AFTER_SECONDS: Final = 30.0
"""Linux: how long written data may stay in memory (vm.dirty_expire_centisecs). What is written
later goes to the disk while the work goes on."""
_MACHINE_SPREAD: Final = 0.15
"""What the same conversion takes more or less from one run to the next, sampling aside."""


class WriteSpeed(NamedTuple):
    """How a folder takes data.

    Attributes:
        copy_seconds: For a byte, into the system's memory.
        flush_seconds: For a byte, from there to the disk.
    """

    copy_seconds: float
    flush_seconds: float


class Workload(NamedTuple):
    """What a conversion will do, apart from the candidate.

    Attributes:
        threads: Workers.
        contention: Seconds by the clock for each of a core's, while the codecs work.
        read_seconds: For all of the source, as one worker's.
        read_variance: Its relative variance.
        verify: Whether the result is read again and compared.
        write: How the target's folder takes data; None leaves writing out.
    """

    threads: int
    contention: float
    read_seconds: float
    read_variance: float
    verify: bool
    write: WriteSpeed | None


def probe_folder(folder: Path, check: Callable[[], None]) -> WriteSpeed | None:
    """Write to a file without a name in `folder`, which is gone at the end; None when refused.

    Args:
        folder: Where the target will be.
        check: Called between writes; it may raise.
    """
    part = os.urandom(_PROBE_PART_BYTES)
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            started = perf_counter()
            for _ in range(_PROBE_BYTES // _PROBE_PART_BYTES):
                check()
                file.write(part)
            copied = perf_counter()
            os.fsync(file.fileno())
            flushed = perf_counter()
    except OSError:
        return None
    return WriteSpeed((copied - started) / _PROBE_BYTES, (flushed - copied) / _PROBE_BYTES)


def measure_reading(cells: Sequence[Cell], frame: Frame) -> tuple[float, float]:
    """Seconds of one worker for reading all cells of a frame, and their relative variance."""
    return _total(np.array([cell.read_seconds for cell in cells], dtype=np.float64), frame)


def measure_contention(cells: Iterable[Cell]) -> float:
    """How long a second of a core takes by the clock: other programs and threads have it, too.

    One number for all candidates: for a single one it is mostly chance.
    """
    trials = [trial for cell in cells for trial in cell.trials.values()]
    worked = sum(trial.encode_seconds + trial.decode_seconds for trial in trials)
    passed = sum(trial.passed_seconds for trial in trials)
    return max(1.0, passed / worked) if worked else 1.0


def _total(seconds: Floats, frame: Frame) -> tuple[float, float]:
    mean = float(seconds.mean()) if len(seconds) else 0.0
    variance = mean_variance(seconds, frame.cells) / mean**2 if mean else 0.0
    return mean * frame.cells, variance


def estimate_seconds(
    candidate: Candidate,
    cells: Sequence[Cell],
    frame: Frame,
    workload: Workload,
    target_bytes: float,
) -> Estimate:
    """How long a conversion takes, from its start to the target being in place.

    Args:
        candidate: Which one.
        cells: Those that it was tried on.
        frame: What they were drawn from.
        workload: The rest.
        target_bytes: Expected length of the target.
    """
    trials = [cell.trials[candidate] for cell in cells]
    times = np.array(
        [
            trial.encode_seconds + (trial.decode_seconds if workload.verify else 0.0)
            for trial in trials
        ],
        dtype=np.float64,
    )
    codec_seconds, codec_variance = _total(times * workload.contention, frame)
    verifying = sum(trial.decode_seconds for trial in trials) / (float(times.sum()) or 1.0)
    verify_seconds = (
        (codec_seconds * verifying + workload.read_seconds) / workload.threads
        if workload.verify
        else 0.0
    )
    convert_seconds = (
        codec_seconds * (1 - verifying * workload.verify)
        + workload.read_seconds
        + (workload.write.copy_seconds * target_bytes if workload.write else 0.0)
    ) / workload.threads
    expected = verify_seconds + _with_flush(convert_seconds, verify_seconds, workload, target_bytes)
    cpu_seconds = codec_seconds + workload.read_seconds or 1.0
    variance = (
        codec_variance * (codec_seconds / cpu_seconds) ** 2
        + workload.read_variance * (workload.read_seconds / cpu_seconds) ** 2
    )
    return interval(expected, variance, len(cells) - 1, floor=_MACHINE_SPREAD)


def _with_flush(
    convert_seconds: float, verify_seconds: float, workload: Workload, target_bytes: float
) -> float:
    """Converting, and then what is left of bringing the target to the disk."""
    if workload.write is None:
        return convert_seconds
    flush_seconds = workload.write.flush_seconds * target_bytes
    working = convert_seconds + verify_seconds
    late = min(1.0, _WRITEBACK_AFTER_SECONDS / working) if working else 1.0
    beside = max(convert_seconds, flush_seconds * (1 - late))
    return beside + flush_seconds * late
