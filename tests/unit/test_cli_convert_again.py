"""The same batch once more: after a kill in a bad moment, after a change, beside another run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qcowgui.cli.main import run
from qcowgui.convert.done_record import state_folder
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.work import SerialExecutor
from qcowgui.errors import ExitCode
from tests.converting import names_in
from tests.support import oracle
from tests.support.base_images import b0, pattern, text
from tests.support.damage import truncate_at

Capture = pytest.CaptureFixture[str]
CLUSTER = 65536
SIZE = 8 * CLUSTER

_KILLED_BEHIND_THE_MOVE = """
import os, signal, sys
real = os.link
def link(source, target):
    real(source, target)
    if not str(target).endswith(".txt"):
        os.kill(os.getpid(), signal.SIGKILL)
os.link = link
from qcowgui.cli.main import run
run(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def _own_notes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes((text(2 * CLUSTER) + pattern(CLUSTER)).ljust(SIZE, b"\0"))
    return path


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """An image of which 32 KiB are gone."""
    return truncate_at(b0(), 0x58000).write_to(tmp_path / "cut.qcow2")


@pytest.fixture
def with_snapshots(tmp_path: Path) -> Path:
    """An image with three snapshots, each of another content, and a fourth state on top."""
    path = oracle.create(tmp_path / "s.qcow2", SIZE)
    for number, name in enumerate(("one", "two", "three", "")):
        oracle.qemu_io(path, f"write -P {number + 1} {number * CLUSTER} {CLUSTER}")
        if name:
            oracle.qemu_img("snapshot", "-c", name, path)
    return path


def source_for(kind: str, tmp_path: Path, disk: Path) -> Path:
    path = tmp_path / "source.qcow2"
    if kind == "--keep-backing":
        oracle.create(path, None, "-b", disk, "-F", "raw")
        oracle.qemu_io(path, f"write -P 9 0 {CLUSTER}")
        return path
    oracle.qemu_img("convert", "-f", "raw", "-O", "qcow2", disk, path)
    if kind == "--bitmaps":
        oracle.qemu_img("bitmap", "--add", path, "backup")
        oracle.qemu_io(path, f"write -P 9 {4 * CLUSTER} {CLUSTER}")
    return path


def batch(out: Path, *arguments: str | Path, to: str = "qcow2") -> int:
    return run(["convert", "--to", to, "--out-dir", str(out), *map(str, arguments)])


def killed_batch(out: Path, *arguments: str | Path, to: str = "qcow2") -> None:
    """Run a batch that is killed when its first image has come to its place."""
    command = [sys.executable, "-c", _KILLED_BEHIND_THE_MOVE, "convert", "--to", to]
    command += ["--out-dir", str(out), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def forget_notes() -> None:
    """What another machine knows."""
    shutil.rmtree(state_folder())


# ---------------------------------------------------------------- a kill behind the move


@pytest.mark.parametrize("has_notes", [True, False])
@pytest.mark.parametrize("kind", ["--bitmaps", "--keep-backing", "--snapshots"])
def test_killed_behind_the_move(
    kind: str,
    has_notes: bool,
    tmp_path: Path,
    disk: Path,
    out: Path,
    with_snapshots: Path,
    capsys: Capture,
) -> None:
    if kind == "--snapshots":
        source, options, others = with_snapshots, [kind, "chain"], 3
    else:
        source, options, others = source_for(kind, tmp_path, disk), [kind], 0
    arguments: list[str | Path] = [source, *options, "--allow-backing"]
    killed_batch(out, *arguments)
    if not has_notes:
        forget_notes()
    assert batch(out, *arguments) == ExitCode.GOOD
    assert f"{others} converted, 1 done already" in capsys.readouterr().out
    oracle.qemu_img("compare", source, out / source.name)
    assert not [name for name in names_in(out) if name.endswith(".part")]


@pytest.mark.parametrize("has_notes", [True, False])
@pytest.mark.parametrize("to", ["qcow2", "raw"])
@pytest.mark.parametrize("mode", ["metadata", "falloc", "full"])
def test_killed_behind_the_move_of_a_preallocated_image(
    mode: str, to: str, has_notes: bool, disk: Path, out: Path, capsys: Capture
) -> None:
    if (to, mode) == ("raw", "metadata"):
        mode = "off"
    arguments: list[str | Path] = [disk, "-o", f"preallocation={mode}"]
    killed_batch(out, *arguments, to=to)
    for _ in range(2):
        if not has_notes:
            forget_notes()
        assert batch(out, *arguments, to=to) == ExitCode.GOOD
        assert "1 done already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("to", "made", "asked", "reason"),
    [
        ("qcow2", "off", "metadata", "has no place for each of its clusters"),
        ("qcow2", "metadata", "full", "takes less space than it is long"),
        ("raw", "off", "falloc", "takes less space than it is long"),
    ],
)
def test_another_preallocation_is_not_done(
    to: str, made: str, asked: str, reason: str, disk: Path, out: Path, capsys: Capture
) -> None:
    assert batch(out, disk, "-o", f"preallocation={made}", to=to) == ExitCode.GOOD
    assert batch(out, disk, "-o", f"preallocation={asked}", to=to) == ExitCode.FAILED
    assert f"exists already and {reason}" in capsys.readouterr().err


def test_killed_behind_the_move_of_a_salvaged_image(cut: Path, out: Path, capsys: Capture) -> None:
    killed_batch(out, cut, "--salvage", to="raw")
    listed = out / "cut.raw.losses.txt"
    content = listed.read_text()
    assert "0x8000\t0x10000" in content
    for _ in range(2):
        assert batch(out, cut, "--salvage", to="raw") == ExitCode.GOOD
        printed = capsys.readouterr()
        assert "1 done already" in printed.out
        assert "32,768 bytes in 1 range of the source could not be read" in printed.err
        assert listed.read_text() == content


def test_a_list_of_losses_that_is_gone_comes_back(cut: Path, out: Path, capsys: Capture) -> None:
    assert batch(out, cut, "--salvage", to="raw") == ExitCode.GOOD
    listed = out / "cut.raw.losses.txt"
    content = listed.read_text()
    for has_notes in (True, False):
        listed.unlink()
        if not has_notes:
            forget_notes()
        capsys.readouterr()
        assert batch(out, cut, "--salvage", to="raw") == ExitCode.GOOD
        printed = capsys.readouterr()
        assert "1 done already" in printed.out
        assert "cut.raw.losses.txt lists them" in printed.err
        assert listed.read_text() == content
    assert batch(out, cut, "--salvage", "--json", to="raw") == ExitCode.GOOD
    [found] = json.loads(capsys.readouterr().out)["results"]
    assert (found["state"], len(found["warnings"])) == ("skipped", 1)
    listed.write_text("precious")
    assert batch(out, cut, "--salvage", to="raw") == ExitCode.FAILED
    assert listed.read_text() == "precious"


# ---------------------------------------------------------------- chains


def test_a_chain_is_not_made_on_a_foreign_file(
    with_snapshots: Path, out: Path, capsys: Capture
) -> None:
    """One that equals the second snapshot, so that each step alone would be right."""
    foreign = out / "s.one.qcow2"
    oracle.qemu_img("convert", "-l", "two", "-O", "qcow2", with_snapshots, foreign)
    before = foreign.read_bytes()
    assert batch(out, with_snapshots, "--snapshots", "chain") == ExitCode.FAILED
    printed = capsys.readouterr()
    assert "s.one.qcow2 exists already and differs from the source at guest" in printed.err
    assert "s.two.qcow2 was not made: its backing file" in printed.err
    assert "0 converted, 4 failed" in printed.out
    assert foreign.read_bytes() == before
    assert names_in(out) == {foreign.name}
    foreign.unlink()
    assert batch(out, with_snapshots, "--snapshots", "chain") == ExitCode.GOOD
    oracle.qemu_img("compare", with_snapshots, out / "s.qcow2")


@pytest.mark.parametrize("has_notes", [True, False])
def test_a_base_that_has_gone_is_made_anew(
    has_notes: bool, with_snapshots: Path, out: Path, capsys: Capture
) -> None:
    """The others are right on it; on an empty one they are not, whatever notes say."""
    arguments: list[str | Path] = [with_snapshots, "--snapshots", "chain"]
    assert batch(out, *arguments) == ExitCode.GOOD
    base = out / "s.one.qcow2"
    base.unlink()
    oracle.create(base, SIZE)
    if not has_notes:
        forget_notes()
    assert batch(out, *arguments) == ExitCode.FAILED
    base.unlink()
    capsys.readouterr()
    assert batch(out, *arguments) == ExitCode.GOOD
    assert "1 converted, 3 done already" in capsys.readouterr().out
    oracle.qemu_img("compare", with_snapshots, out / "s.qcow2")


# ---------------------------------------------------------------- what is there and no result


def test_what_is_there_is_said(disk: Path, out: Path, capsys: Capture) -> None:
    assert batch(out, disk) == ExitCode.GOOD
    capsys.readouterr()
    content = bytearray(disk.read_bytes())
    content[5] ^= 1
    disk.write_bytes(content)
    assert batch(out, disk) == ExitCode.FAILED
    printed = capsys.readouterr().err
    assert "disk.qcow2 exists already and differs from the source at guest offset 0x5" in printed
    assert "--force" in printed
    assert batch(out, disk, "--force") == ExitCode.GOOD
    assert batch(out, disk, "-o", "cluster_size=4k") == ExitCode.FAILED
    assert "exists already and has another cluster size" in capsys.readouterr().err
    (out / "disk.qcow2").write_bytes(b"no image at all")
    assert batch(out, disk) == ExitCode.FAILED
    assert "exists already and is not its result" in capsys.readouterr().err


def test_another_run_has_made_it_meanwhile(
    disk: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "link", real)
        ConvertJob(ConvertOptions(disk, out / "disk.qcow2", "qcow2")).run(SerialExecutor())
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    assert batch(out, disk) == ExitCode.GOOD
    assert "1 done already" in capsys.readouterr().out
    assert names_in(out) == {"disk.qcow2"}


# ---------------------------------------------------------------- results among their sources


@pytest.mark.parametrize("to", ["zstd", "qcow2"])
def test_sources_of_one_name_in_the_folder_of_the_results(
    to: str, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    for number, name in enumerate(("7.raw", "7.img", "3.raw")):
        (folder / name).write_bytes(text(2 * CLUSTER, number))
    assert batch(folder, folder, to=to) == ExitCode.GOOD
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    for arguments in ([], ["--force"]):
        capsys.readouterr()
        assert batch(folder, folder, *arguments, to=to) == ExitCode.GOOD
        assert "3 done already" in capsys.readouterr().out
        assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize("mode", ["files", "chain"])
def test_snapshots_in_the_folder_of_the_results(
    mode: str, with_snapshots: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    with_snapshots.rename(folder / "s.qcow2")
    assert batch(folder, folder, "--snapshots", mode) == ExitCode.GOOD
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    capsys.readouterr()
    assert batch(folder, folder, "--snapshots", mode) == ExitCode.GOOD
    assert "0 converted, 4 done already" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_earlier_results_are_not_converted_to_something_else(
    disk: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    disk.rename(folder / "disk.img")
    assert batch(folder, folder, to="zstd") == ExitCode.GOOD
    assert batch(folder, folder, to="raw") == ExitCode.GOOD
    assert "disk-zstd.qcow2 was made from" in capsys.readouterr().err
    assert names_in(folder) == {"disk.img", "disk-zstd.qcow2", "disk.raw"}
