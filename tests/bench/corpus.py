"""The benchmark's input: a raw ext4 image that holds a sample of this system's own files.

Real files matter: text, code and already compressed data in the mixture of a guest's root file
system, with the holes that a file system leaves.
"""

from __future__ import annotations

import os
import shutil
import stat
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from qcowgui.units import GIB, format_size
from tests.bench.digest import guest_digest
from tests.bench.measure import BenchError, find_program, run

TREES: Final = (Path("/usr/bin"), Path("/usr/lib"), Path("/usr/share"))

_BUCKETS: Final = 4096
# Fixed so that two runs on one system differ in the files' change times alone.
_UUID: Final = "6f1c7a52-3c0e-4f57-9d5c-0a7f2f6a1b64"


@dataclass(frozen=True)
class Scale:
    """How large the input is.

    Attributes:
        data_bytes: The sum of the files' sizes; the sample stays just below it.
        image_bytes: The virtual size of the ext4 image.
    """

    data_bytes: int
    image_bytes: int


FULL: Final = Scale(data_bytes=1_800_000_000, image_bytes=6 * GIB)
QUICK: Final = Scale(data_bytes=300_000_000, image_bytes=1 * GIB)


@dataclass(frozen=True)
class Corpus:
    """The finished raw image.

    Attributes:
        raw_path: The image.
        digest: Its `guest_digest`, which every conversion must reproduce.
        file_count: How many files it holds.
        data_bytes: The sum of their sizes.
        image_bytes: The image's virtual size.
        allocated_bytes: What the image occupies on the work directory's file system.
    """

    raw_path: Path
    digest: str
    file_count: int
    data_bytes: int
    image_bytes: int
    allocated_bytes: int


def _iter_files(trees: tuple[Path, ...]) -> Iterator[tuple[Path, int]]:
    """Each readable, non-empty regular file below `trees` and its size, in path order."""
    linked: set[tuple[int, int]] = set()
    for tree in trees:
        for folder, folder_names, file_names in os.walk(tree):
            folder_names.sort()
            for name in sorted(file_names):
                path = Path(folder, name)
                status = path.lstat()
                if not stat.S_ISREG(status.st_mode) or not status.st_size:
                    continue
                identity = (status.st_dev, status.st_ino)
                if identity in linked or not os.access(path, os.R_OK):
                    continue
                if status.st_nlink > 1:
                    linked.add(identity)
                yield path, status.st_size


def _bucket(path: Path) -> int:
    return zlib.crc32(os.fsencode(path)) % _BUCKETS


def iter_sample(trees: tuple[Path, ...], data_bytes: int) -> Iterator[tuple[Path, int]]:
    """A sample, just below `data_bytes`, of the files of `trees`: path and size, in path order.

    Whether a file is taken depends on a hash of its path, so large and small files and all folders
    are represented in proportion, and the same files give the same sample. The trees are walked
    twice: a list of all files would swell this process, whose size is the floor of every peak
    that `measure` reports.
    """
    bucket_bytes = [0] * _BUCKETS
    for path, size_bytes in _iter_files(trees):
        bucket_bytes[_bucket(path)] += size_bytes
    end_bucket = bisect_right(list(accumulate(bucket_bytes)), data_bytes)
    for path, size_bytes in _iter_files(trees):
        if _bucket(path) < end_bucket:
            yield path, size_bytes


def _copy_sample(trees: tuple[Path, ...], data_bytes: int, destination: Path) -> tuple[int, int]:
    """Copy the sample, each file to its own absolute path below `destination`.

    Returns:
        The number of files and the sum of their sizes.
    """
    file_count = copied_bytes = 0
    for path, size_bytes in iter_sample(trees, data_bytes):
        target = destination / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        file_count += 1
        copied_bytes += size_bytes
    return file_count, copied_bytes


def _make_ext4(tree: Path, raw_path: Path, image_bytes: int) -> None:
    with raw_path.open("xb") as raw:
        raw.truncate(image_bytes)
    options = ["-q", "-F", "-t", "ext4", "-U", _UUID, "-E", f"hash_seed={_UUID}", "-m", "0"]
    run([find_program("mke2fs"), *options, "-d", str(tree), str(raw_path)])


def build_corpus(work_dir: Path, scale: Scale, trees: tuple[Path, ...] = TREES) -> Corpus:
    """Build `work_dir`/base.raw and hash it. The copied tree is removed again.

    Raises:
        BenchError: When `trees` hold less than half of the data asked for, when `work_dir` is too
            small, or when mke2fs fails.
    """
    # The tree or an output, the raw image, a plain source, and its conversion under check.
    needed_bytes = 4 * scale.data_bytes
    free_bytes = shutil.disk_usage(work_dir).free
    if free_bytes < needed_bytes:
        raise BenchError(
            f"{work_dir} has {format_size(free_bytes)} free; {format_size(needed_bytes)} are needed"
        )
    raw_path = work_dir / "base.raw"
    tree_dir = work_dir / "tree"
    tree_dir.mkdir()
    try:
        file_count, data_bytes = _copy_sample(trees, scale.data_bytes, tree_dir)
        if data_bytes < scale.data_bytes // 2:
            raise BenchError(
                f"{', '.join(map(str, trees))} gave {format_size(data_bytes)} of data; "
                f"{format_size(scale.data_bytes)} are needed"
            )
        _make_ext4(tree_dir, raw_path, scale.image_bytes)
    finally:
        shutil.rmtree(tree_dir)
    return Corpus(
        raw_path=raw_path,
        digest=guest_digest(raw_path),
        file_count=file_count,
        data_bytes=data_bytes,
        image_bytes=scale.image_bytes,
        allocated_bytes=raw_path.stat().st_blocks * 512,
    )
