"""QEMU's own tools, asked for a second opinion.

Every call runs in the folder of the image: qemu-img 7.2 looks for a relative data file in the
current folder, not beside the image (2026-11-30).
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 120

Argument = str | Path


class OracleMissingError(RuntimeError):
    """A tool of qemu-utils is not installed; the tests that ask it can't run without."""


class OracleError(AssertionError):
    """A tool of qemu-utils refused what it should have done."""


@functools.cache
def tool(name: str) -> str:
    """Return the path of a tool of qemu-utils.

    Raises:
        OracleMissingError: It is not installed.
    """
    path = shutil.which(name)
    if path is None:
        raise OracleMissingError(f"{name} is not installed; on Debian: apt-get install qemu-utils")
    return path


def _run(
    name: str, arguments: tuple[Argument, ...], *, check: bool, folder: Path | None
) -> subprocess.CompletedProcess[str]:
    command = [tool(name), *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if check and done.returncode:
        raise OracleError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return done


def qemu_img(
    *arguments: Argument, check: bool = True, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run qemu-img in `folder`.

    Raises:
        OracleError: It failed, and `check` was asked for.
    """
    return _run("qemu-img", arguments, check=check, folder=folder)


def qemu_io(
    path: Path, *commands: str, image_format: str = "qcow2"
) -> subprocess.CompletedProcess[str]:
    """Run qemu-io commands such as "write -P 17 0 64k" on an image, one after another.

    Raises:
        OracleError: One failed. qemu-io reports that of some commands only in its output.
    """
    path = path.absolute()
    options = [option for command in commands for option in ("-c", command)]
    done = _run("qemu-io", ("-f", image_format, *options, path), check=True, folder=path.parent)
    if "failed:" in done.stdout:
        raise OracleError(done.stdout.strip())
    return done


def create(path: Path, size: int | None, *arguments: Argument, image_format: str = "qcow2") -> Path:
    """Create an image of `size` bytes (None: that of its backing file); return its path.

    `arguments` are qemu-img's, such as "-o", "cluster_size=4k".
    """
    path = path.absolute()
    sizes = [] if size is None else [str(size)]
    qemu_img("create", "-q", "-f", image_format, *arguments, path, *sizes, folder=path.parent)
    return path


def info(path: Path, *, image_format: str = "qcow2") -> dict[str, Any]:
    """Return what `qemu-img info` says, as parsed JSON."""
    path = path.absolute()
    arguments = ("info", "-U", "-f", image_format, "--output=json", path)
    answer: dict[str, Any] = json.loads(qemu_img(*arguments, folder=path.parent).stdout)
    return answer


def map_extents(
    path: Path,
    *,
    start: int | None = None,
    length: int | None = None,
    image_format: str = "qcow2",
) -> list[dict[str, Any]]:
    """Return the extents of `qemu-img map`, of the whole disk or of a range of guest bytes."""
    path = path.absolute()
    bounds = [] if start is None else ["-s", str(start)]
    bounds += [] if length is None else ["-l", str(length)]
    arguments: tuple[Argument, ...] = (
        "map",
        "-U",
        "-f",
        image_format,
        "--output=json",
        *bounds,
        path,
    )
    extents: list[dict[str, Any]] = json.loads(qemu_img(*arguments, folder=path.parent).stdout)
    return extents


@dataclass(frozen=True)
class CheckResult:
    """What `qemu-img check` said.

    Attributes:
        exit_code: 0 clean, 1 could not check, 2 corruptions, 3 leaks only, 63 unsupported.
        report: The parsed JSON, empty if there was none.
        messages: Its standard error.
    """

    exit_code: int
    report: dict[str, Any]
    messages: str

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found at all."""
        return self.exit_code == 0 and not (self.corruptions or self.leaks or self.check_errors)

    @property
    def corruptions(self) -> int:
        """How many corruptions were found and remain."""
        return int(self.report.get("corruptions", 0))

    @property
    def leaks(self) -> int:
        """How many clusters have too high a refcount."""
        return int(self.report.get("leaks", 0))

    @property
    def check_errors(self) -> int:
        """How many parts could not be checked."""
        return int(self.report.get("check-errors", 0))


def check(path: Path, *, repair: str | None = None, image_format: str = "qcow2") -> CheckResult:
    """Run `qemu-img check`; `repair` is "leaks" or "all" and changes the file."""
    path = path.absolute()
    options = ["-U"] if repair is None else ["-r", repair]
    arguments: tuple[Argument, ...] = (*options, "-f", image_format, "--output=json", path)
    done = qemu_img("check", *arguments, check=False, folder=path.parent)
    # Messages of a check go to standard output before the JSON when it finds damage.
    start = done.stdout.find("{\n")
    report = json.loads(done.stdout[start:]) if start >= 0 else {}
    return CheckResult(done.returncode, report, done.stdout[: max(start, 0)] + done.stderr)


def convert(
    source: Path,
    target: Path,
    *arguments: Argument,
    source_format: str = "qcow2",
    target_format: str = "raw",
) -> Path:
    """Run `qemu-img convert` with further arguments; return the target's path."""
    source, target = source.absolute(), target.absolute()
    formats = ("-f", source_format, "-O", target_format)
    qemu_img("convert", "-U", *formats, *arguments, source, target, folder=source.parent)
    return target


def guest_bytes(path: Path, *, snapshot: str | None = None, image_format: str = "qcow2") -> bytes:
    """Return the whole disk as QEMU reads it, or an internal snapshot of it; small disks only."""
    with tempfile.TemporaryDirectory(dir=path.absolute().parent) as folder:
        return _to_raw(path, Path(folder), snapshot, image_format).read_bytes()


def guest_sha256(path: Path, *, snapshot: str | None = None, image_format: str = "qcow2") -> str:
    """Return the SHA-256 (hexadecimal) of the whole disk as QEMU reads it."""
    with (
        tempfile.TemporaryDirectory(dir=path.absolute().parent) as folder,
        _to_raw(path, Path(folder), snapshot, image_format).open("rb") as file,
    ):
        return hashlib.file_digest(file, "sha256").hexdigest()


def _to_raw(path: Path, folder: Path, snapshot: str | None, image_format: str) -> Path:
    selection = [] if snapshot is None else ["-l", f"snapshot.name={snapshot}"]
    return convert(path, folder / "guest.raw", *selection, source_format=image_format)
