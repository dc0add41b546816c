"""Real cases about converting; each docstring names its case in the list of cases."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from qcowgui.codec.cluster import Buffer
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import Compression, TargetFormat
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import SerialExecutor
from qcowgui.errors import (
    Cancelled,
    ImageError,
    OutputError,
    ReferencedFileError,
    SourceError,
    TruncatedError,
    VerifyError,
)
from qcowgui.image.chain import open_image
from qcowgui.image.layer import BATCH_BYTES
from qcowgui.image.references import AllowGate
from qcowgui.image.source import FileSource
from tests.converting import ALLOW, convert, job, mixed_disk, names_in
from tests.support import oracle
from tests.support.base_images import b0, b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import set_field
from tests.support.options import GIB, KIB, MIB, TIB

OLD = b"what was there before"
CLUSTER = 64 * KIB


def run_cli(
    *arguments: str | Path, file_size_limit: int | None = None
) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if file_size_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))

    command = [sys.executable, "-m", "qcowgui", "convert", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
    )


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes(mixed_disk())
    return path


def test_a_zeroed_cluster_hides_the_backing_file(tmp_path: Path) -> None:
    """BL-O46: zeros in an overlay stay zeros, flattened or not."""
    (tmp_path / "base.raw").write_bytes(b"\x11" * 4 * CLUSTER)
    builder = ImageBuilder(size=4 * CLUSTER, backing_file="base.raw", backing_format="raw")
    builder.zero(0)
    source = builder.build().write_to(tmp_path / "overlay.qcow2")
    expected = bytes(CLUSTER) + b"\x11" * 3 * CLUSTER
    assert oracle.guest_bytes(source) == expected
    flat, kept = tmp_path / "flat.raw", tmp_path / "kept.qcow2"
    convert(source, flat, gate=ALLOW)
    assert flat.read_bytes() == expected
    convert(source, kept, gate=ALLOW, backing_file="base.raw", backing_format="raw")
    assert oracle.guest_bytes(kept) == expected
    # Version 2 has no zero clusters: there the zeros are stored.
    old = tmp_path / "old.qcow2"
    convert(source, old, gate=ALLOW, backing_file="base.raw", backing_format="raw", compat="0.10")
    assert oracle.guest_bytes(old) == expected


def test_compression_is_zlib_unless_asked_and_zstd_warns(disk: Path, tmp_path: Path) -> None:
    """BL-O50: -c alone means zlib; zstd says which readers it needs."""
    plain, modern = tmp_path / "plain.qcow2", tmp_path / "modern.qcow2"
    done = run_cli("-c", disk, plain)
    assert done.returncode == 0
    assert done.stderr == ""
    assert oracle.info(plain)["format-specific"]["data"]["compression-type"] == "zlib"
    done = run_cli("--compress", "zstd", disk, modern)
    assert done.returncode == 0
    assert "needs QEMU 5.1 or newer" in done.stderr


def test_a_data_file_elsewhere_is_not_copied(tmp_path: Path) -> None:
    """BL-O58: an image that names a host file as its data file gives nothing away by default."""
    secret = tmp_path / "private" / "secret"
    secret.parent.mkdir()
    secret.write_bytes(b"root:x:0:0:" * 10_000)
    folder = tmp_path / "images"
    folder.mkdir()
    builder = b0_builder(data_file=str(secret))
    source = folder / "crafted.qcow2"
    builder.build().file.write_to(source)
    target = folder / "target.raw"
    for gate in (AllowGate((folder,)), ALLOW):
        with pytest.raises(ReferencedFileError) as caught:
            convert(source, target, gate=gate)
        assert caught.value.reason == "denied"
        assert str(secret) in str(caught.value)
    with pytest.raises(ReferencedFileError, match="was not opened"):
        convert(source, target)
    assert names_in(folder) == {source.name}
    done = run_cli("--allow-backing", source, target)
    assert done.returncode == 1
    assert str(secret) in done.stderr
    assert names_in(folder) == {source.name}
    # An explicit yes, which names the file.
    convert(source, target, gate=AllowGate((secret,)))
    with target.open("rb") as file:
        assert file.read(11) == b"root:x:0:0:"


@pytest.mark.parametrize(
    ("size", "l1_size"),
    [(152 * TIB, 311_296), ((1 << 63) - 512, 1 << 22), ((1 << 64) - 1, 1 << 22)],
)
def test_a_tiny_file_that_claims_a_huge_disk(size: int, l1_size: int, tmp_path: Path) -> None:
    """BL-O60: refused at once, by what the file lacks; nothing is made."""
    image = set_field(set_field(b0(), "size", size), "l1_size", l1_size).resized(516)
    source = image.write_to(tmp_path / "tiny.qcow2")
    began = time.monotonic()
    for target in ("target.raw", "target.qcow2"):
        with pytest.raises(ImageError):
            convert(source, tmp_path / target)
    assert time.monotonic() - began < 2
    assert names_in(tmp_path) == {source.name}


def test_a_broken_bitmap_does_not_stop_a_conversion(tmp_path: Path) -> None:
    """BL-O66: bitmaps are not carried over, broken or not, and this is said."""
    builder = b0_builder()
    builder.bitmap("good", set_ranges=[(0, CLUSTER)])
    builder.bitmap("broken", flags=1)
    source = builder.build().write_to(tmp_path / "bitmaps.qcow2")
    result = convert(source, tmp_path / "target.qcow2")
    assert 'Bitmaps are not carried over: "good", "broken".' in result.warnings
    assert "bitmaps" not in oracle.info(tmp_path / "target.qcow2")["format-specific"]["data"]


def test_the_space_used_on_the_way_is_that_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O68: 100 GiB with 50 MiB of data never needs more than about the data's size."""
    source, target = tmp_path / "source.raw", tmp_path / "target.raw"
    with source.open("wb") as file:
        file.truncate(100 * GIB)
        for index in range(50):
            file.seek(index * 2 * GIB)
            file.write(pattern(MIB, index))
    peaks: list[int] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        peaks.append(os.fstat(fd).st_blocks * 512)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with QPoolExecutor(2) as executor:
        result = convert(source, target, executor=executor)
    assert max(peaks) < 60 * MIB
    assert result.target_disk_bytes is not None
    assert 50 * MIB <= result.target_disk_bytes < 60 * MIB


@pytest.mark.parametrize("place", [0, 3 * MIB + 77])
def test_storage_that_changes_a_byte_is_caught(
    place: int, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O69: verifying names the first guest offset that differs, and keeps nothing."""
    real = os.pwritev

    def flip(fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        data = bytearray(b"".join(buffers))
        if offset <= place < offset + len(data):
            data[place - offset] ^= 0x80
        return real(fd, [data], offset)

    content = bytearray(disk.read_bytes())
    content[place] = 0x55
    disk.write_bytes(content)
    target = tmp_path / "target.raw"
    monkeypatch.setattr(os, "pwritev", flip)
    with pytest.raises(VerifyError) as caught:
        convert(disk, target)
    assert caught.value.guest_offset == place
    assert names_in(tmp_path) == {disk.name}
    convert(disk, target, verify=False)
    assert target.read_bytes() != disk.read_bytes()


def test_a_source_that_was_just_written(tmp_path: Path) -> None:
    """BL-O70: what is still in memory only is no hole."""
    source, target = tmp_path / "fresh.raw", tmp_path / "target.raw"
    expected = bytearray(64 * MIB)
    with source.open("wb") as file:
        file.truncate(len(expected))
        for index in range(16):
            place = index * 4 * MIB + index * 5000
            file.seek(place)
            file.write(pattern(9000, index))
            expected[place : place + 9000] = pattern(9000, index)
        file.flush()
        convert(source, target)
    assert target.read_bytes() == expected


def after_writing(
    monkeypatch: pytest.MonkeyPatch, limit_bytes: int, action: Callable[[], None]
) -> None:
    """Let `action` happen in the write call that goes beyond `limit_bytes`, and in all later."""
    real, written = os.pwritev, [0]

    def pwritev(fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        written[0] += sum(map(len, buffers))
        if written[0] > limit_bytes:
            action()
        return real(fd, buffers, offset)

    monkeypatch.setattr(os, "pwritev", pwritev)


def no_space() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("target_format", ["raw", "qcow2"])
@pytest.mark.parametrize("end", ["cancelled", "full"])
def test_a_failed_conversion_leaves_no_part_file(
    end: str,
    target_format: TargetFormat,
    disk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """BL-O72, BL-O77: ended at half, nothing new is there, and the older file survives."""
    target = tmp_path / "target"
    target.write_bytes(OLD)
    conversion = job(disk, target, overwrite=True, target_format=target_format)
    action = conversion.token.cancel if end == "cancelled" else no_space
    after_writing(monkeypatch, 500 * KIB, action)
    with pytest.raises(Cancelled if end == "cancelled" else OutputError):
        conversion.run(SerialExecutor())
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == {disk.name, target.name}


def test_a_worker_that_dies_replaces_nothing(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O77: even a mistake of our own in a worker leaves the good disk alone."""
    target = tmp_path / "good.qcow2"
    target.write_bytes(OLD)

    def die() -> None:
        raise ZeroDivisionError

    after_writing(monkeypatch, 250 * KIB, die)
    with QPoolExecutor(2) as executor, pytest.raises(ZeroDivisionError):
        convert(disk, target, executor=executor, overwrite=True)
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == {disk.name, target.name}


def test_running_out_of_space_is_not_hidden(tmp_path: Path) -> None:
    """BL-O73: the exit status says it, and a line on stderr why."""
    source, target = tmp_path / "source.raw", tmp_path / "target.raw"
    source.write_bytes(pattern(3 * MIB))
    done = run_cli(source, target, file_size_limit=MIB)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"qcowgui: {target} can't be made 3,145,728 bytes long")
    assert names_in(tmp_path) == {source.name}


def test_a_place_that_is_too_small_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O74: the virtual size decides, not the file's; it is named before anything is written."""
    source = b0(size=2 * GIB).write_to(tmp_path / "source.qcow2")
    assert source.stat().st_size < MIB

    def truncate(_fd: int, _length: int) -> None:
        raise OSError(errno.EFBIG, "File too large")

    def pwritev(*_: object) -> int:
        pytest.fail("something was written")

    monkeypatch.setattr(os, "truncate", truncate)
    monkeypatch.setattr(os, "pwritev", pwritev)
    with pytest.raises(OutputError, match="can't be made 2,147,483,648 bytes long"):
        convert(source, tmp_path / "target.raw")
    assert names_in(tmp_path) == {source.name}


def test_small_holes_make_no_small_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BL-O76: 512 bytes of data and 512 of zeros, again and again: few calls, equal bytes."""
    source = tmp_path / "source.raw"
    source.write_bytes(b"".join(pattern(512, index) + bytes(512) for index in range(8 * KIB)))
    calls: list[int] = []
    real = os.pwritev

    def pwritev(fd: int, buffers: Sequence[Buffer], offset: int) -> int:
        calls.append(offset)
        return real(fd, buffers, offset)

    monkeypatch.setattr(os, "pwritev", pwritev)
    target = tmp_path / "target.raw"
    convert(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert len(calls) == 8 * MIB // BATCH_BYTES
    convert(source, tmp_path / "target.qcow2")
    assert len(calls) < 8 + 20


def test_what_is_not_carried_over_is_said(tmp_path: Path) -> None:
    """BL-O78: two snapshots and a bitmap, listed by the command line too."""
    builder = b0_builder()
    builder.snapshot("before upgrade")
    builder.snapshot("after upgrade")
    builder.bitmap("daily")
    source = builder.build().write_to(tmp_path / "source.qcow2")
    done = run_cli("-O", "qcow2", source, tmp_path / "target.qcow2")
    assert done.returncode == 0
    assert 'snapshots are not carried over: "before upgrade", "after upgrade".' in done.stderr
    assert 'Bitmaps are not carried over: "daily".' in done.stderr


@pytest.mark.parametrize("cluster_bytes", [64 * KIB, 2 * MIB])
@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_compressed_sizes(compression: Compression, cluster_bytes: int, tmp_path: Path) -> None:
    """BL-O79: within a few per cent of qemu-img; what does not shrink is stored plain."""
    source, ours, theirs = (tmp_path / name for name in ("s.raw", "ours.qcow2", "theirs.qcow2"))
    noise = 4 * MIB
    source.write_bytes(pattern(noise) + b"".join(text(CLUSTER, seed) for seed in range(128)))
    convert(source, ours, compression=compression, cluster_bytes=cluster_bytes)
    options = f"cluster_size={cluster_bytes},compression_type={compression}"
    oracle.convert(source, theirs, "-c", "-o", options, source_format="raw", target_format="qcow2")
    assert ours.stat().st_size <= 1.03 * theirs.stat().st_size + 2 * cluster_bytes
    found = oracle.check(ours)
    assert found.is_clean
    with open_image(ours) as image:
        kinds = {extent.kind.name for extent in image.iter_extents(0, noise)}
        rest = {extent.kind.name for extent in image.iter_extents(noise)}
        assert image.read(0, image.size_bytes) == source.read_bytes()
    assert (kinds, rest) == ({"DATA"}, {"COMPRESSED"})


def test_length_and_blocks_are_told_apart(tmp_path: Path) -> None:
    """BL-O80: a file's length, the blocks it uses and the disk's size are three numbers."""
    source, target = tmp_path / "source.qcow2", tmp_path / "target.raw"
    b0().write_to(source)
    done = run_cli("--json", source, target)
    answer = json.loads(done.stdout)
    status = target.stat()
    assert answer["virtual-size"] == answer["target-bytes"] == status.st_size == 64 * MIB
    assert answer["target-disk-bytes"] == status.st_blocks * 512 < MIB
    assert answer["source-bytes"] == source.stat().st_size
    done = run_cli("--force", source, target)
    assert "virtual size 64 MiB" in done.stdout
    assert "→ 64 MiB" in done.stdout
    assert "64 KiB used" in done.stdout


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/null"])
@pytest.mark.parametrize("force", [True, False])
def test_a_pipe_is_refused_in_clear_words(target: str, force: bool, disk: Path) -> None:
    """BL-O82: the target must be a file, and the message says why."""
    done = run_cli(*(["--force"] if force else []), disk, target)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{target} is no regular file: a target is written at many places" in done.stderr


@pytest.mark.parametrize("verify", [True, False])
def test_a_source_cut_while_it_is_converted_is_never_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: bool
) -> None:
    """A sparse source loses its second half: verify reads the same cut file, and agrees."""
    source = tmp_path / "source.raw"
    with source.open("wb") as file:
        for index in range(8):
            file.seek(index * 8 * MIB)
            file.write(pattern(2 * MIB, index))
    read = FileSource.read_into
    calls = 0

    def read_into(self: FileSource, offset: int, buffer: memoryview) -> int:
        nonlocal calls
        calls += 1
        if calls == 3:
            os.truncate(source, 32 * MIB)
        return read(self, offset, buffer)

    monkeypatch.setattr(FileSource, "read_into", read_into)
    target = tmp_path / "target.qcow2"
    with pytest.raises((SourceError, TruncatedError)):
        convert(source, target, verify=verify)
    assert names_in(tmp_path) == {"source.raw"}


def test_a_source_written_while_it_is_converted_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without verify too: a copy of something that changes may never have been its content."""
    source = tmp_path / "source.raw"
    source.write_bytes(pattern(4 * MIB))
    os.utime(source, ns=(0, 10**18))
    original: Callable[..., None] = ConvertJob._convert

    def convert_and_write(working: ConvertJob, *arguments: object) -> None:
        original(working, *arguments)
        with source.open("r+b") as file:
            file.write(b"new")

    monkeypatch.setattr(ConvertJob, "_convert", convert_and_write)
    with pytest.raises(SourceError, match="was changed while it was read"):
        convert(source, tmp_path / "target.raw", verify=False)
    assert names_in(tmp_path) == {"source.raw"}


def test_a_guessed_format_lends_no_trust(tmp_path: Path) -> None:
    """BL-O57, BL-O58: a guest writes a header into its raw disk, naming a file of the host."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"root:x:0:0".ljust(64 * KIB, b" "))
    b0(backing_file=str(secret), backing_format="raw").write_to(tmp_path / "disk")
    overlay = b0_builder(backing_file="disk")
    source = overlay.build().write_to(tmp_path / "overlay.qcow2")
    target = tmp_path / "target.raw"
    with pytest.raises(ReferencedFileError, match="secret") as caught:
        convert(source, target, gate=AllowGate())
    assert caught.value.reason == "denied"
    assert "guessed from content that a guest may have written" in caught.value.hint
    assert not target.exists()
    convert(source, target, gate=AllowGate((tmp_path,)))
    assert target.exists()
