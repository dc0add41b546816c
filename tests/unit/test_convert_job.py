"""A conversion's life: progress, cancelling, and the first error."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from qcowgui.convert.job import ConvertJob, ConvertResult, Phase, Progress
from qcowgui.convert.output import OutputFile
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import Executor, SerialExecutor
from qcowgui.errors import (
    Cancelled,
    ImageError,
    NotQcow2Error,
    OptionsError,
    OutputError,
    SourceError,
)
from qcowgui.image.layer import BATCH_BYTES, Piece, ReadContext
from qcowgui.image.reader import GuestImage
from tests.converting import ConvertKeywords, convert, job, mixed_disk, names_in
from tests.support.base_images import b0, pattern, text
from tests.support.damage import truncate_at
from tests.support.options import KIB, MIB

OLD = b"what was there before"
CANCEL_SECONDS = 0.5


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes(mixed_disk())
    return path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Fifteen batches of data that takes a while to compress, holes between them."""
    path = tmp_path / "large.raw"
    with path.open("wb") as file:
        file.truncate(30 * BATCH_BYTES + 512)
        for index in range(15):
            file.seek(2 * index * BATCH_BYTES)
            file.write(text(BATCH_BYTES, index))
    return path


@pytest.fixture
def scattered(tmp_path: Path) -> Path:
    """Two dozen batches with little data in each."""
    path = tmp_path / "scattered.raw"
    with path.open("wb") as file:
        file.truncate(24 * BATCH_BYTES)
        for index in range(24):
            file.seek(index * BATCH_BYTES + index * 70 * KIB)
            file.write(text(100 * KIB, index) + pattern(7000 * (index % 3), index))
    return path


@pytest.mark.parametrize(
    "keywords",
    [
        {"compression": "zlib"},
        {"compression": "zstd", "cluster_bytes": 4 * KIB, "refcount_bits": 2},
        {"cluster_bytes": 512},
        {"extended_l2": True, "cluster_bytes": 128 * KIB, "compression": "zlib", "window": "4k"},
    ],
)
def test_the_same_bytes_with_any_number_of_workers(
    keywords: ConvertKeywords, scattered: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.qcow2"
    keywords |= {"overwrite": True, "verify": False}

    def digest(executor: Executor) -> str:
        convert(scattered, target, executor=executor, **keywords)
        with target.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    expected = digest(SerialExecutor())
    for threads in (1, 2, 5):
        with QPoolExecutor(threads) as executor:
            assert {digest(executor) for _ in range(2)} == {expected}


def watched(conversion: ConvertJob, executor: Executor) -> list[Progress]:
    """Run a job; return what its progress was at every look and at its end."""
    seen = [conversion.progress()]
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            seen.append(conversion.progress())
            time.sleep(0.001)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        conversion.run(executor, tick=lambda: seen.append(conversion.progress()))
    finally:
        ended.set()
        thread.join()
    seen.append(conversion.progress())
    return seen


@pytest.mark.parametrize("suffix", ["raw", "qcow2"])
@pytest.mark.parametrize("threads", [1, 3])
def test_progress(suffix: str, threads: int, large: Path, tmp_path: Path) -> None:
    conversion = job(large, tmp_path / f"target.{suffix}")
    with QPoolExecutor(threads) as executor:
        seen = watched(conversion, executor)
    size = large.stat().st_size
    assert seen[0] == Progress(Phase.PREPARING, 0, 0, 0)
    assert seen[-1].phase is Phase.FINISHING
    assert seen[-1].done_bytes == seen[-1].total_bytes == size
    order = list(Phase)
    for before, after in itertools.pairwise(seen):
        assert order.index(before.phase) <= order.index(after.phase)
        assert before.written_bytes <= after.written_bytes
        assert 0 <= after.done_bytes <= after.total_bytes
        if before.phase is after.phase:
            assert before.done_bytes <= after.done_bytes
    assert {Phase.CONVERTING, Phase.VERIFYING} <= {progress.phase for progress in seen}
    assert seen[-1].written_bytes >= 15 * BATCH_BYTES


def test_batches_alone_count_up_to_the_last_one(large: Path, tmp_path: Path) -> None:
    """The sum is not only right because it is set right at the end."""
    conversion = job(large, tmp_path / "target.raw", verify=False)
    counted: list[int] = []
    real = OutputFile.write_many

    def write_many(output: OutputFile, offset: int, buffers: list[bytes]) -> None:
        # Four batches are read in one go.
        first = offset - offset % (4 * BATCH_BYTES)
        counted.append(conversion.progress().done_bytes - first)
        real(output, offset, buffers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OutputFile, "write_many", write_many)
        conversion.run(SerialExecutor())
    # When something is written, all that lies before what is read with it has been counted.
    assert counted == [0] * 15


def test_the_result(disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.qcow2"
    result = convert(disk, target, compression="zlib")
    status = target.stat()
    assert result == ConvertResult(
        virtual_bytes=disk.stat().st_size,
        source_bytes=disk.stat().st_size,
        target_bytes=status.st_size,
        target_disk_bytes=status.st_blocks * 512,
        seconds=result.seconds,
        verified=True,
        losses=(),
        warnings=(),
    )
    assert 0 < result.seconds < 60
    assert not convert(disk, target, overwrite=True, verify=False).verified


def cancel_in(conversion: ConvertJob, phase: Phase, executor: Executor) -> float:
    """Cancel a job once it has begun `phase`; return the seconds until it ended."""
    cancelled_at: list[float] = []

    def watch() -> None:
        while True:
            now = conversion.progress()
            if now.phase is phase and now.done_bytes:
                break
            time.sleep(0.001)
        cancelled_at.append(time.monotonic())
        conversion.token.cancel()

    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.raises(Cancelled):
        conversion.run(executor)
    ended = time.monotonic()
    thread.join()
    return ended - cancelled_at[0]


@pytest.mark.parametrize(
    "keywords",
    [
        {"compression": "zlib", "level": 12},
        {"compression": "zstd", "level": 19},
        {"compression": "zstd", "level": 22, "cluster_bytes": 2 * MIB},
        {"compression": "zlib", "window": "4k", "cluster_bytes": 512},
    ],
)
def test_cancelling_while_converting(
    keywords: ConvertKeywords, large: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    target = folder / "target.qcow2"
    target.write_bytes(OLD)
    keywords |= {"overwrite": True}
    with QPoolExecutor(2) as executor:
        conversion = job(large, target, **keywords)
        assert cancel_in(conversion, Phase.CONVERTING, executor) < CANCEL_SECONDS
    assert target.read_bytes() == OLD
    assert names_in(folder) == {target.name}


def test_cancelling_while_verifying(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    real = GuestImage.read_pieces

    def read_slowly(image: GuestImage, start: int, end: int, context: ReadContext) -> list[Piece]:
        time.sleep(0.05)
        return real(image, start, end, context)

    monkeypatch.setattr(GuestImage, "read_pieces", read_slowly)
    with QPoolExecutor(2) as executor:
        conversion = job(large, folder / "target.raw")
        assert cancel_in(conversion, Phase.VERIFYING, executor) < CANCEL_SECONDS
    assert names_in(folder) == set()


def test_a_token_set_before_the_start(disk: Path, tmp_path: Path) -> None:
    conversion = job(disk, tmp_path / "target.qcow2")
    conversion.token.cancel()
    with pytest.raises(Cancelled):
        conversion.run(SerialExecutor())
    assert names_in(tmp_path) == {disk.name}


def test_a_token_set_before_the_start_of_nothing(tmp_path: Path) -> None:
    source = tmp_path / "empty.raw"
    source.touch()
    conversion = job(source, tmp_path / "target.qcow2")
    conversion.token.cancel()
    with pytest.raises(Cancelled):
        conversion.run(SerialExecutor())
    assert names_in(tmp_path) == {source.name}


def test_an_interrupt_in_the_tick(large: Path, tmp_path: Path) -> None:
    def tick() -> None:
        raise KeyboardInterrupt

    conversion = job(large, tmp_path / "target.qcow2", compression="zlib", level=12)
    with QPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        conversion.run(executor, tick=tick)
    assert names_in(tmp_path) == {large.name}


def failing_after(reads: int, error: OSError) -> Callable[..., int]:
    """A preadv that works so many times."""
    real, left = os.preadv, [reads]
    lock = threading.Lock()

    def preadv(*arguments: object) -> int:
        with lock:
            left[0] -= 1
            if left[0] < 0:
                raise error
        return real(*arguments)  # type: ignore[arg-type]

    return preadv


@pytest.mark.parametrize("reads", [0, 1, 7])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_source_that_can_not_be_read(
    reads: int, threads: int, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target.qcow2"
    target.write_bytes(OLD)
    monkeypatch.setattr(os, "preadv", failing_after(reads, OSError(5, "Input/output error")))
    with QPoolExecutor(threads) as executor, pytest.raises(SourceError) as caught:
        convert(large, target, executor=executor, overwrite=True)
    assert caught.value.errno == 5
    assert str(large) in str(caught.value)
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == {large.name, target.name}


def test_the_first_error_wins(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other workers end as cancelled; the job's end is the error all the same."""
    numbers = iter(range(1, 1000))

    def pwritev(*_: object) -> int:
        raise OSError(28, f"No space left, time {next(numbers)}")

    monkeypatch.setattr(os, "pwritev", pwritev)
    conversion = job(large, tmp_path / "target.raw")
    with QPoolExecutor(3) as executor, pytest.raises(OutputError) as caught:
        conversion.run(executor)
    assert caught.value.errno == 28
    assert "choose a place with more" in caught.value.hint
    assert conversion.token.cancelled
    assert names_in(tmp_path) == {large.name}


def test_a_damaged_source(tmp_path: Path) -> None:
    source = truncate_at(b0(), 0x58000).write_to(tmp_path / "cut.qcow2")
    target = tmp_path / "target.raw"
    with pytest.raises(ImageError, match="beyond the end of the file") as caught:
        convert(source, target)
    assert caught.value.guest_offset == 0x8000
    assert names_in(tmp_path) == {source.name}
    result = convert(source, target, salvage=True)
    expected = b0().guest_bytes()[:0x8000].ljust(64 * MIB, b"\0")
    assert target.read_bytes() == expected
    assert [(lost.start, lost.length) for lost in result.losses] == [(0x8000, 0x8000)]
    assert "32 KiB in 1 range could not be read" in result.warnings[0]


def test_salvage_needs_a_mapping(tmp_path: Path) -> None:
    source = tmp_path / "no.qcow2"
    source.write_bytes(b"QFI\xfb\0\0\0\x03" + bytes(20))
    with pytest.raises(ImageError):
        convert(source, tmp_path / "target.raw", salvage=True)
    assert names_in(tmp_path) == {source.name}


@pytest.mark.parametrize("source_format", ["qcow2", None])
def test_a_source_that_is_no_image(source_format: str | None, tmp_path: Path) -> None:
    source = tmp_path / "disk.vmdk"
    source.write_bytes(b"KDMV" + bytes(8192))
    with pytest.raises(NotQcow2Error):
        convert(source, tmp_path / "target.raw", source_format=source_format)
    assert names_in(tmp_path) == {source.name}


def test_a_snapshot_that_does_not_exist(tmp_path: Path) -> None:
    source = b0().write_to(tmp_path / "source.qcow2")
    with pytest.raises(ImageError, match="no snapshot 'x'"):
        convert(source, tmp_path / "target.raw", snapshot="x")


def test_a_target_that_is_there_stays_when_the_options_are_wrong(
    disk: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.qcow2"
    target.write_bytes(OLD)
    (tmp_path / ("b" * 250)).write_bytes(pattern(4 * KIB))
    wrong: list[ConvertKeywords] = [
        {"cluster_bytes": 512, "backing_file": "./" * 150 + "b" * 250, "backing_format": "raw"},
        {"backing_file": "nbd://localhost/x", "backing_format": "raw"},
        {"backing_file": "json:{}", "backing_format": "qcow2"},
        {"backing_file": "", "backing_format": "qcow2"},
    ]
    for keywords in wrong:
        keywords["overwrite"] = True
        with pytest.raises(OptionsError):
            convert(disk, target, **keywords)
        assert target.read_bytes() == OLD
    assert names_in(tmp_path) == {disk.name, target.name, "b" * 250}


def test_what_is_foreseen_is_told_before_a_file_is_made(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O60."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(MIB, 0, MIB))
    told: list[tuple[str, set[str]]] = []

    def note(warning: str) -> None:
        told.append((warning, names_in(tmp_path)))

    result = job(disk, tmp_path / "target.raw").run(SerialExecutor(), warn=note)
    [(warning, names)] = told
    assert "it fits only while its holes stay holes" in warning
    assert names == {disk.name}
    assert result.warnings == (warning,)
    told.clear()
    assert job(disk, tmp_path / "target.qcow2").run(SerialExecutor(), warn=note).warnings == ()
    assert told == []


def test_a_full_raw_target_without_room_is_refused_at_once(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 0, 1))
    monkeypatch.setattr(os, "posix_fallocate", None)
    with pytest.raises(OutputError, match="would take 6 MiB, and 1 B are free"):
        convert(disk, tmp_path / "target.raw", sparse_bytes=0)
    assert names_in(tmp_path) == {disk.name}


def test_a_result_that_the_system_does_not_open_again_is_named_as_the_user_knows_it(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with too low a limit of open files."""
    real = os.open

    def open_no_written_file(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith(".part") and not flags & os.O_CREAT:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", open_no_written_file)
    target = tmp_path / "target.qcow2"
    with pytest.raises(OutputError) as caught:
        convert(disk, target)
    assert caught.value.message == f"{target} can't be read back: Too many open files"
    assert "ulimit -n" in caught.value.hint
    assert names_in(tmp_path) == {disk.name}
