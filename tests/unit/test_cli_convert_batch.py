"""`qcowgui convert --out-dir`, `--to`, `--preset` and `--json-progress`."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli import convert as convert_module
from qcowgui.cli.batch_run import Batch, RowState
from qcowgui.cli.main import run
from qcowgui.convert.done_record import state_folder
from qcowgui.convert.job import BeforeMove, ConvertJob, ConvertResult, Tick, Warn
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import Step
from qcowgui.engine.work import Executor
from qcowgui.errors import ExitCode, OptionsError
from qcowgui.image.references import DENY
from tests.converting import names_in
from tests.support import oracle
from tests.support.base_images import b0, pattern, text
from tests.support.damage import set_l2_entry

Capture = pytest.CaptureFixture[str]
CLUSTER = 65536
SIZE = 8 * CLUSTER


@pytest.fixture(autouse=True)
def _own_notes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images, one below."""
    path = tmp_path / "images"
    (path / "sub").mkdir(parents=True)
    for number, name in enumerate(("a.raw", "b.img", "sub/c.raw")):
        (path / name).write_bytes((text(2 * CLUSTER, number) + pattern(CLUSTER)).ljust(SIZE, b"\0"))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def batch(out: Path, *arguments: str | Path, to: str = "zstd") -> int:
    return run(["convert", "--to", to, "--out-dir", str(out), *map(str, arguments)])


def damaged(path: Path) -> None:
    """Write an image with a cluster beyond the end of the file."""
    set_l2_entry(b0(), 0, 0x8000_0000_0100_0000).write_to(path)


def forget_notes() -> None:
    """What another machine knows."""
    shutil.rmtree(state_folder())


def lines_of(capsys: Capture) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ConvertOptions]:
    """The options with which a single conversion would start; none does."""
    found: list[ConvertOptions] = []

    def note(options: ConvertOptions, *_: object) -> None:
        found.append(options)
        raise OptionsError("stopped here")

    monkeypatch.setattr(convert_module, "_run", note)
    return found


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ("--to raw a b.qcow2", ("raw", "none", None, CLUSTER)),
        ("--to qcow2 a b", ("qcow2", "none", None, CLUSTER)),
        ("--to zlib --level 9 a b", ("qcow2", "zlib", 9, CLUSTER)),
        ("--to zstd -o cluster_size=2M a b", ("qcow2", "zstd", None, 2 << 20)),
        ("--preset fastest a b", ("qcow2", "zstd", 1, CLUSTER)),
        ("--preset fastest --level 3 a b", ("qcow2", "zstd", 3, CLUSTER)),
        ("--preset fastest -o cluster_size=4k a b", ("qcow2", "zstd", 1, 4096)),
        ("--preset fastest --compress zlib a b", ("qcow2", "zlib", None, CLUSTER)),
        ("--preset fastest --to qcow2 a b", ("qcow2", "none", None, CLUSTER)),
        ("--preset raw a b.qcow2", ("raw", "none", None, CLUSTER)),
        ("--preset compatible a b", ("qcow2", "zlib", None, CLUSTER)),
    ],
)
def test_what_to_make(arguments: str, fields: tuple[Any, ...], asked: list[ConvertOptions]) -> None:
    run(["convert", *arguments.split()])
    [found] = asked
    assert (found.target_format, found.compression, found.level, found.cluster_bytes) == fields
    assert found.window == ("4k" if "compatible" in arguments else "32k")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--to zstd -O raw a b", "--to says the format and the compression, but -O"),
        ("--to zstd -c a b", "but -c was given"),
        ("--to zstd --compress zlib a b", "but --compress was given"),
        ("--to zstd -o compression_type=zlib a b", "contradict each other"),
        ("--to raw -o cluster_size=4k a b", "A raw target has no options but preallocation"),
        ("--to raw -o preallocation=metadata a b", "can't have preallocated metadata"),
        ("--to zstd -o preallocation=full a b", "all preallocated can't be compressed"),
        ("--to qcow2 -o preallocation=some a b", "'some' does not exist"),
        ("--to qcow2 --level 3 a b", "but no compression"),
        ("--jobs 2 a b", "--jobs belongs to --out-dir"),
        ("a b c", "several sources need --out-dir"),
        ("a", "Missing argument 'TARGET'"),
        ("--out-dir OUT", "What to make was not said"),
        ("--out-dir OUT --to raw", "No source was given"),
        ("--out-dir OUT --to raw -m 0 a", "0 threads are not possible"),
        ("--out-dir OUT --to raw --jobs 0 a", "0 is not in the range"),
        ("--out-dir OUT --to zstd --level 99 a", "no level 99"),
        ("--out-dir  --to raw a", "the name of --out-dir is empty"),
    ],
)
def test_contradictions(
    arguments: str, message: str, folder: Path, out: Path, capsys: Capture
) -> None:
    words = [str(out) if word == "OUT" else word for word in arguments.split(" ")]
    if words[-1] == "a" and "OUT" in arguments:
        words[-1] = str(folder)
    assert run(["convert", *words]) == ExitCode.FAILED
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_folder(folder: Path, out: Path, capsys: Capture) -> None:
    assert batch(out, folder) == ExitCode.GOOD
    assert names_in(out) == {"a-zstd.qcow2", "b-zstd.qcow2", "c-zstd.qcow2"}
    for name, source in (("a", "a.raw"), ("b", "b.img"), ("c", "sub/c.raw")):
        assert oracle.guest_bytes(out / f"{name}-zstd.qcow2") == (folder / source).read_bytes()
    *results, last = capsys.readouterr().out.splitlines()
    assert len(results) == 3
    assert all("verified" in line for line in results)
    assert last == "3 sources: 3 converted"


def test_again_skips_what_is_done_and_force_does_it_anew(
    folder: Path, out: Path, capsys: Capture
) -> None:
    assert batch(out, folder / "a.raw") == ExitCode.GOOD
    first = (out / "a-zstd.qcow2").stat()
    capsys.readouterr()
    assert batch(out, folder) == ExitCode.GOOD
    printed = capsys.readouterr().out
    assert "a-zstd.qcow2: skipped, as it is done and verified already" in printed
    assert "3 sources: 2 converted, 1 done already" in printed
    assert (out / "a-zstd.qcow2").stat().st_mtime_ns == first.st_mtime_ns
    assert batch(out, "--force", folder) == ExitCode.GOOD
    assert "3 sources: 3 converted" in capsys.readouterr().out
    assert (out / "a-zstd.qcow2").stat().st_ino != first.st_ino


def test_another_level_is_not_done(folder: Path, out: Path, capsys: Capture) -> None:
    """With a note of it; a result that only reads the same may be of any level."""
    source = folder / "a.raw"
    assert batch(out, source, "--level", "1") == ExitCode.GOOD
    capsys.readouterr()
    for level in ("9", "12"):  # nor does asking change the note
        assert batch(out, source, "--level", level) == ExitCode.FAILED
        printed = capsys.readouterr()
        assert f"exists already and was made with level 1, not {level}" in printed.err
        assert "--force" in printed.err
    assert batch(out, source, "--level", "1") == ExitCode.GOOD
    assert "1 done already" in capsys.readouterr().out
    forget_notes()
    for level in ("9", "12"):
        assert batch(out, source, "--level", level) == ExitCode.GOOD
        assert "1 done already" in capsys.readouterr().out


def test_debris_goes_and_other_files_stay(folder: Path, out: Path) -> None:
    out.mkdir()
    (out / ".a-zstd.qcow2.0123abcd.part").write_bytes(b"left")
    (out / ".somebody.0123abcd.part").write_bytes(b"not ours")
    assert batch(out, folder / "a.raw") == ExitCode.GOOD
    assert names_in(out) == {"a-zstd.qcow2", ".somebody.0123abcd.part"}


def test_a_single_conversion_removes_debris_too(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.raw"
    (tmp_path / ".x.raw.0123abcd.part").write_bytes(b"left")
    (tmp_path / ".x.raw.losses.txt.0123abcd.part").write_bytes(b"left")
    assert run(["convert", str(folder / "a.raw"), str(target)]) == ExitCode.GOOD
    assert names_in(tmp_path) == {"images", "x.raw"}


def test_one_failure_stops_no_other(folder: Path, out: Path, capsys: Capture) -> None:
    damaged(folder / "bad.qcow2")
    assert batch(out, folder) == ExitCode.CORRUPT
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "4 sources: 3 converted, 1 failed"
    assert "bad.qcow2" in printed.err
    assert names_in(out) == {"a-zstd.qcow2", "b-zstd.qcow2", "c-zstd.qcow2"}


def test_failures_of_two_kinds(folder: Path, out: Path, capsys: Capture) -> None:
    damaged(folder / "bad.qcow2")
    assert batch(out, folder, folder / "missing") == ExitCode.FAILED
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "5 sources: 3 converted, 1 failed, 1 refused"
    assert "missing can't be opened: No such file" in printed.err


def test_what_lies_beside_is_told_and_no_failure(folder: Path, out: Path, capsys: Capture) -> None:
    for number in range(30):
        (folder / f"readme{number}").write_text("what this is")
    assert batch(out, folder) == ExitCode.GOOD
    errors = capsys.readouterr().err.splitlines()
    assert sum("left out" in line for line in errors) == 21
    assert "qcowgui: warning: left out: 10 more files" in errors


def test_one_warning_for_many_is_told_twice_at_most(
    folder: Path, out: Path, capsys: Capture
) -> None:
    assert batch(out, folder) == ExitCode.GOOD
    first, last = (line for line in capsys.readouterr().err.splitlines() if "QEMU 5.1" in line)
    assert str(folder / "a.raw") in first
    assert "2 more sources: " in last


def test_a_folder_without_images(tmp_path: Path, out: Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    assert batch(out, tmp_path / "empty") == ExitCode.FAILED
    assert "holds no image" in capsys.readouterr().err
    assert not out.exists()


def test_sources_of_one_name(folder: Path, out: Path) -> None:
    (folder / "sub" / "a.raw").write_bytes(pattern(SIZE))
    assert batch(out, folder, to="raw") == ExitCode.GOOD
    assert names_in(out) == {"a.raw", "a-sub.raw", "b.raw", "c.raw"}
    assert (out / "a-sub.raw").read_bytes() == pattern(SIZE)


def test_results_inside_the_source_folder(folder: Path, capsys: Capture) -> None:
    out = folder / "out"
    for expected in ("3 sources: 3 converted", "3 sources: 0 converted, 3 done already"):
        assert batch(out, folder) == ExitCode.GOOD
        assert capsys.readouterr().out.splitlines()[-1] == expected
    assert len(names_in(out)) == 3


def test_results_beside_their_sources(folder: Path, capsys: Capture) -> None:
    before = names_in(folder)
    for expected in ("3 sources: 3 converted", "3 sources: 0 converted, 3 done already"):
        assert batch(folder, folder) == ExitCode.GOOD
        assert capsys.readouterr().out.splitlines()[-1] == expected
    assert names_in(folder) - before == {"a-zstd.qcow2", "b-zstd.qcow2", "c-zstd.qcow2"}


def test_force_never_replaces_a_source(folder: Path, capsys: Capture) -> None:
    content = pattern(SIZE, 7)
    (folder / "b.raw").write_bytes(content)
    assert batch(folder, "--force", folder / "b.img", folder / "b.raw", to="raw") == 1
    assert (folder / "b.raw").read_bytes() == content
    printed = capsys.readouterr()
    assert "is where the result of" in printed.err
    assert "exists already" in printed.err


def test_a_source_that_is_also_a_backing_file(folder: Path, out: Path, capsys: Capture) -> None:
    oracle.create(folder / "over.qcow2", None, "-b", folder / "a.raw", "-F", "raw")
    assert batch(out, folder) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert "--allow-backing" in printed.err
    assert "4 sources: 3 converted, 1 failed" in printed.out
    assert batch(out, folder, "--allow-backing") == ExitCode.GOOD
    assert "4 sources: 1 converted, 3 done already" in capsys.readouterr().out
    assert oracle.guest_bytes(out / "over-zstd.qcow2") == (folder / "a.raw").read_bytes()


def test_results_that_keep_a_backing_file(folder: Path, out: Path, capsys: Capture) -> None:
    for name in ("one", "two"):
        oracle.create(folder / f"{name}.qcow2", None, "-b", folder / "a.raw", "-F", "raw")
    arguments: list[str | Path] = ["--keep-backing", "--allow-backing"]
    arguments += [folder / "one.qcow2", folder / "two.qcow2"]
    assert batch(out, *arguments, to="qcow2") == ExitCode.GOOD
    assert batch(out, *arguments, to="qcow2") == ExitCode.GOOD
    assert "2 sources: 0 converted, 2 done already" in capsys.readouterr().out
    assert "backing-filename" in oracle.info(out / "one.qcow2")


NAMES = ["a b.raw", "über 100 %.raw", "two\nlines.raw", "-f.raw", "\udcff\udcfe.raw", "x" * 251]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str, tmp_path: Path, out: Path, capsys: Capture) -> None:
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / name
    source.write_bytes(text(SIZE))
    for _ in range(2):
        assert batch(out, source, "--json-progress") == ExitCode.GOOD
    lines = lines_of(capsys)
    assert all(line["source"] == str(source) for line in lines if line["type"] == "job")
    assert lines[-1]["skipped"] == 1
    [result] = out.iterdir()
    assert result.name.endswith("-zstd.qcow2")


def test_a_name_that_starts_with_a_dash(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "--force").write_bytes(text(SIZE))
    monkeypatch.chdir(tmp_path)
    assert batch(out, "--", "--force", to="raw") == ExitCode.GOOD
    assert names_in(out) == {"--force.raw"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("images/a.raw", "is no folder"),
        ("images/a.raw/x", "does not exist"),
        ("missing/x", "does not exist"),
        ("a\0b", "is no name of a folder"),
    ],
)
def test_a_folder_for_results_that_can_not_be(
    name: str, message: str, folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert batch(tmp_path / name, folder) == ExitCode.FAILED
    assert message in capsys.readouterr().err
    assert names_in(tmp_path) == {"images"}


def test_a_folder_that_takes_no_files(
    folder: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    assert batch(out, folder) == ExitCode.FAILED
    assert "is not writable for you" in capsys.readouterr().err
    monkeypatch.undo()
    # What the system's answer does not foresee, each conversion says.
    assert batch(Path("/proc"), folder / "a.raw") == ExitCode.FAILED
    assert "can't be created" in capsys.readouterr().err


def test_the_system_refuses_to_make_the_folder(
    folder: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert batch(out, folder) == ExitCode.FAILED
    assert "can't be made: No space left on device" in capsys.readouterr().err


def test_no_room_for_one(folder: Path, out: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    (folder / "big.raw").write_bytes(pattern(64 * CLUSTER))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16 * CLUSTER, 16 * CLUSTER))

    done = subprocess.run(
        [sys.executable, "-m", "qcowgui", "convert", "--to", "zstd", "--out-dir", out, folder],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert done.returncode == ExitCode.FAILED
    assert "4 sources: 3 converted, 1 failed" in done.stdout
    assert "big-zstd.qcow2" in done.stderr
    assert names_in(out) == {"a-zstd.qcow2", "b-zstd.qcow2", "c-zstd.qcow2"}


def test_the_result_as_json(folder: Path, out: Path, capsys: Capture) -> None:
    (folder / "readme").write_text("what this is")
    batch(out, folder / "a.raw")
    capsys.readouterr()
    assert batch(out, "--json", folder, folder / "missing") == ExitCode.FAILED
    found = json.loads(capsys.readouterr().out)
    assert [(row["state"], row.get("result", {}).get("verified")) for row in found["results"]] == [
        ("skipped", None),
        ("done", True),
        ("done", True),
    ]
    assert [(item["failure"]) for item in found["left-out"]] == [False, True]
    assert found["exit"] == 1


KEYS = {"type", "job", "phase", "current", "total", "message", "finished", "schema"}


@pytest.mark.parametrize("jobs", [1, 3])
def test_progress_as_lines_of_json(jobs: int, folder: Path, out: Path, capsys: Capture) -> None:
    (folder / "readme").write_text("what this is")
    batch(out, folder / "a.raw")
    capsys.readouterr()
    assert batch(out, folder, "--json-progress", "-q", "--jobs", str(jobs)) == ExitCode.GOOD
    lines = lines_of(capsys)
    assert all(line.keys() >= KEYS for line in lines)
    assert [line["job"] for line in lines if line["type"] == "job"] == [1, 2, 3]
    assert [line["type"] for line in lines].count("left-out") == 1
    ended = {line["job"]: line for line in lines if line["type"] == "finished"}
    assert [ended[job]["phase"] for job in (1, 2, 3)] == ["skipped", "done", "done"]
    assert ended[2]["current"] == ended[2]["total"] == SIZE
    assert ended[2]["result"]["verified"]
    assert any("QEMU 5.1" in line["message"] for line in lines if line["type"] == "warning")
    summary = lines[-1]
    assert (summary["type"], summary["current"], summary["total"]) == ("summary", 3, 3)
    assert (summary["done"], summary["skipped"], summary["exit"]) == (2, 1, 0)
    assert [line["finished"] for line in lines if line["type"] in ("job", "progress")].count(
        True
    ) == 0


def test_progress_of_a_single_conversion(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ["convert", "--json-progress", str(folder / "a.raw"), str(tmp_path / "x.raw")]
    assert run(arguments) == ExitCode.GOOD
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.err.splitlines()]
    assert lines[0]["type"] == "job"
    assert [line["type"] for line in lines[-2:]] == ["finished", "summary"]
    assert lines[-1]["done"] == 1
    assert "verified" in printed.out
    assert run(arguments) == ExitCode.FAILED
    printed = capsys.readouterr()
    *_, failed, summary = (json.loads(line) for line in printed.err.splitlines())
    assert (failed["phase"], failed["exit"]) == ("failed", 1)
    assert "exists already" in failed["message"]
    assert "--force" in failed["hint"]
    assert summary["failed"] == 1
    assert printed.out == ""


def test_a_cancelled_single_conversion_as_json(
    folder: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ConvertJob.run

    def cancel_first(
        self: ConvertJob, executor: Executor, *, tick: Tick | None = None, warn: Warn | None = None
    ) -> ConvertResult:
        self.token.cancel()
        return real(self, executor, tick=tick, warn=warn)

    monkeypatch.setattr(ConvertJob, "run", cancel_first)
    arguments = ["convert", "--json-progress", str(folder / "a.raw"), str(tmp_path / "x.raw")]
    assert run(arguments) == ExitCode.CANCELLED
    *_, cancelled, summary = lines_of(capsys)
    assert (cancelled["type"], cancelled["phase"]) == ("finished", "cancelled")
    assert (summary["cancelled"], summary["exit"]) == (1, 130)
    assert names_in(tmp_path) == {"images"}


def test_a_progress_line(folder: Path, out: Path, capsys: Capture) -> None:
    assert batch(out, folder, "-p") == ExitCode.GOOD
    assert "3 of 3, " in capsys.readouterr().err


def test_quiet(folder: Path, out: Path, capsys: Capture) -> None:
    (folder / "readme").write_text("what this is")
    assert batch(out, folder, "-q") == ExitCode.GOOD
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_jobs_share_the_threads(folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(3, timeout=20)
    seen: list[int] = []
    real = ConvertJob.run

    def meet(
        self: ConvertJob, executor: Executor, *, warn: Warn, before_move: BeforeMove
    ) -> ConvertResult:
        together.wait()  # or it breaks: not all three run at once
        seen.append(executor.threads)
        return real(self, executor, warn=warn, before_move=before_move)

    monkeypatch.setattr(ConvertJob, "run", meet)
    assert batch(out, folder, "--jobs", "3", "-m", "6") == ExitCode.GOOD
    assert seen == [2, 2, 2]


def test_a_mistake_of_ours_ends_the_batch(
    folder: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(ConvertJob, "run", fail)
    assert batch(out, folder) == ExitCode.FAILED
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err
    assert not out.exists()


def test_no_memory_fails_a_row_only(
    folder: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ConvertJob.run

    def fail_first(
        self: ConvertJob, executor: Executor, *, warn: Warn, before_move: BeforeMove
    ) -> ConvertResult:
        if self.options.source.name == "a.raw":
            raise MemoryError
        return real(self, executor, warn=warn, before_move=before_move)

    monkeypatch.setattr(ConvertJob, "run", fail_first)
    assert batch(out, folder) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert "a.raw: there is not enough memory" in printed.err
    assert "2 converted, 1 failed" in printed.out


def test_a_cancelled_batch_lets_no_row_begin(folder: Path, out: Path) -> None:
    out.mkdir()
    sources = [folder / "a.raw", folder / "b.img"]
    conversions = [ConvertOptions(source, out / source.name) for source in sources]
    found = Batch([[Step(options, ())] for options in conversions], DENY, jobs=2, threads=1)
    found.token.cancel()
    found.run(lambda: None)
    assert [row.state for row in found.rows] == [RowState.CANCELLED] * 2
    assert names_in(out) == set()


def test_smallest_fits_its_clusters_to_the_source(folder: Path, out: Path) -> None:
    arguments = ["convert", "--preset", "smallest", "--out-dir", str(out), str(folder / "a.raw")]
    assert run(arguments) == ExitCode.GOOD
    assert oracle.info(out / "a-zstd.qcow2")["cluster-size"] == CLUSTER
    single = out / "single.qcow2"
    assert run(["convert", "--preset", "smallest", str(folder / "a.raw"), str(single)]) == 0
    assert single.read_bytes() == (out / "a-zstd.qcow2").read_bytes()


def test_optimise_takes_each_image_as_it_is(folder: Path, out: Path, capsys: Capture) -> None:
    options = ("cluster_size=4k,compression_type=zlib", "cluster_size=128k,compression_type=zstd")
    for number, values in enumerate(options):
        source, target = folder / "a.raw", folder / f"{number}.qcow2"
        oracle.convert(source, target, "-o", values, source_format="raw", target_format="qcow2")
    arguments = ["convert", "--preset", "optimise", "--out-dir", str(out), str(folder)]
    assert run(arguments) == ExitCode.FAILED  # the raw ones can't be
    assert "better copy of a qcow2 image" in capsys.readouterr().err
    assert names_in(out) == {"0-zlib.qcow2", "1-zstd.qcow2"}
    assert oracle.info(out / "0-zlib.qcow2")["cluster-size"] == 4096
    assert oracle.info(out / "1-zstd.qcow2")["cluster-size"] == 128 << 10


@pytest.fixture
def with_snapshots(tmp_path: Path) -> Path:
    """An image with two snapshots, each of another content, and a third state on top."""
    path = oracle.create(tmp_path / "s.qcow2", SIZE)
    for number, name in enumerate(("first", "second", "")):
        oracle.qemu_io(path, f"write -P {number + 1} {number * CLUSTER} {CLUSTER}")
        if name:
            oracle.qemu_img("snapshot", "-c", name, path)
    return path


@pytest.mark.parametrize("mode", ["files", "chain"])
def test_a_source_with_its_snapshots(
    mode: str, with_snapshots: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    target = out / "x.qcow2"
    arguments = ["convert", "--snapshots", mode, str(with_snapshots), str(target)]
    for expected in ("3 sources: 3 converted", "3 sources: 0 converted, 3 done already"):
        assert run(arguments) == ExitCode.GOOD
        assert capsys.readouterr().out.splitlines()[-1] == expected
    assert names_in(out) == {"x.qcow2", "x.first.qcow2", "x.second.qcow2"}
    for name in ("first", "second"):
        expected_bytes = oracle.guest_bytes(with_snapshots, snapshot=name)
        assert oracle.guest_bytes(out / f"x.{name}.qcow2") == expected_bytes
    assert oracle.guest_bytes(target) == oracle.guest_bytes(with_snapshots)
    assert ("backing-filename" in oracle.info(target)) == (mode == "chain")


def test_a_batch_with_snapshots(
    with_snapshots: Path, folder: Path, out: Path, capsys: Capture
) -> None:
    assert batch(out, with_snapshots, folder, "--snapshots", "chain", "--jobs", "2") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "6 sources: 6 converted"
    assert names_in(out) == {
        "s-zstd.qcow2",
        "s-zstd.first.qcow2",
        "s-zstd.second.qcow2",
        "a-zstd.qcow2",
        "b-zstd.qcow2",
        "c-zstd.qcow2",
    }
    assert oracle.guest_bytes(out / "s-zstd.qcow2") == oracle.guest_bytes(with_snapshots)


def test_a_snapshot_called_as_another_file(
    with_snapshots: Path, tmp_path: Path, out: Path, capsys: Capture
) -> None:
    other = tmp_path / "s.first.raw"
    other.write_bytes(text(SIZE))
    assert batch(out, with_snapshots, other, "--snapshots", "files", to="qcow2") == 1
    assert "of a snapshot would be called" in capsys.readouterr().err
    assert names_in(out) == {"s.first.qcow2"}
    assert oracle.guest_bytes(out / "s.first.qcow2") == text(SIZE)


@pytest.mark.parametrize(
    ("to", "mode"), [("raw", "falloc"), ("raw", "full"), ("qcow2", "metadata")]
)
def test_preallocation(to: str, mode: str, folder: Path, out: Path, capsys: Capture) -> None:
    arguments = ["-o", f"preallocation={mode}", str(folder / "a.raw")]
    assert batch(out, *arguments, to=to) == ExitCode.GOOD
    [target] = out.iterdir()
    if to == "raw":
        assert target.stat().st_blocks * 512 >= SIZE
    else:
        assert all("offset" in extent for extent in oracle.map_extents(target))
    capsys.readouterr()
    assert batch(out, *arguments, to=to) == ExitCode.GOOD
    assert "1 done already" in capsys.readouterr().out
