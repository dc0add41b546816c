"""`qcowgui convert`: from the command line to options, and from a result to text."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli import convert as convert_module
from qcowgui.cli.main import run
from qcowgui.cli.target_options import parse_key_values
from qcowgui.convert.options import ConvertOptions
from qcowgui.errors import ExitCode, OptionsError
from tests.support import oracle
from tests.support.base_images import b0, b0_builder, pattern, text
from tests.support.damage import set_l2_entry

Capture = pytest.CaptureFixture[str]
CLUSTER = 65536
SIZE = 16 * CLUSTER


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes((text(3 * CLUSTER) + pattern(CLUSTER)).ljust(SIZE, b"\0"))
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ConvertOptions]:
    """The options with which a conversion would start; none does."""
    found: list[ConvertOptions] = []

    def note(options: ConvertOptions, *_: object, **__: object) -> None:
        found.append(options)
        raise OptionsError("stopped here")

    monkeypatch.setattr(convert_module, "_run", note)
    return found


def options_of(asked: list[ConvertOptions], *arguments: str) -> ConvertOptions:
    run(["convert", *arguments])
    assert len(asked) == 1
    return asked.pop()


def test_defaults(asked: list[ConvertOptions]) -> None:
    assert options_of(asked, "a.qcow2", "b.raw") == ConvertOptions(Path("a.qcow2"), Path("b.raw"))


@pytest.mark.parametrize(
    ("target", "arguments", "target_format"),
    [
        ("x.qcow2", [], "qcow2"),
        ("X.QCOW", [], "qcow2"),
        ("x.img", [], "raw"),
        ("x", [], "raw"),
        ("x.qcow2", ["-O", "raw"], "raw"),
        ("x.img", ["-O", "qcow2"], "qcow2"),
    ],
)
def test_the_targets_name_decides_without_a_format(
    target: str, arguments: list[str], target_format: str, asked: list[ConvertOptions]
) -> None:
    assert options_of(asked, *arguments, "a", target).target_format == target_format


def test_the_spelling_of_qemu_img(asked: list[ConvertOptions]) -> None:
    arguments = "-f raw -O qcow2 -c -o compression_type=zstd,cluster_size=128k -S 8k -l snap -m 4 "
    arguments += "-W -p -q -U -B base.raw -F raw"
    assert options_of(asked, *arguments.split(), "a", "b") == ConvertOptions(
        Path("a"),
        Path("b"),
        source_format="raw",
        target_format="qcow2",
        compression="zstd",
        cluster_bytes=128 << 10,
        sparse_bytes=8 << 10,
        snapshot="snap",
        threads=4,
        backing_file="base.raw",
        backing_format="raw",
    )


def test_our_own_long_options(asked: list[ConvertOptions]) -> None:
    arguments = "--compress zlib --level 9 --window 4k --threads 3 --no-verify --salvage --force "
    arguments += "--quiet --allow-backing"
    assert options_of(asked, *arguments.split(), "a", "b.qcow2") == ConvertOptions(
        Path("a"),
        Path("b.qcow2"),
        target_format="qcow2",
        compression="zlib",
        level=9,
        window="4k",
        threads=3,
        verify=False,
        salvage=True,
        overwrite=True,
    )


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["compat=v2"], {"compat": "0.10"}),
        (["compat=1.1,refcount_bits=8"], {"compat": "1.1", "refcount_bits": 8}),
        (["extended_l2=on", "lazy_refcounts=off"], {"extended_l2": True, "lazy_refcounts": False}),
        (
            ["backing_file=a,,b.raw,backing_fmt=raw"],
            {"backing_file": "a,b.raw", "backing_fmt": "raw"},
        ),
        (["backing_file=a=b"], {"backing_file": "a=b"}),
        (["cluster_size=4k,cluster_size=8k"], {"cluster_size": 8192}),
    ],
)
def test_key_values(values: list[str], found: dict[str, Any]) -> None:
    assert parse_key_values(values) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("preallocation=full", "-o does not know 'preallocation' (it knows compression_type, "),
        ("", "-o does not know ''"),
        ("compat", "-o compat needs a value"),
        ("compat=4", "-o compat: '4' does not exist; 0.10, 1.1, v2, v3 do"),
        ("extended_l2=maybe", "-o extended_l2: 'maybe' is neither on nor off"),
        ("cluster_size=big", "-o cluster_size: 'big' is not a size"),
        ("compression_type=lzo", "-o compression_type: 'lzo' does not exist; zlib, zstd do"),
    ],
)
def test_bad_key_values(value: str, message: str) -> None:
    with pytest.raises(OptionsError) as caught:
        parse_key_values([value])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "compression"),
    [
        ([], "none"),
        (["-c"], "zlib"),
        (["-c", "-o", "compression_type=zstd"], "zstd"),
        (["--compress", "zstd"], "zstd"),
        (["-c", "--compress", "zstd", "-o", "compression_type=zstd"], "zstd"),
        (["-o", "compression_type=zstd"], "none"),
    ],
)
def test_ways_to_ask_for_compression(
    arguments: list[str], compression: str, asked: list[ConvertOptions]
) -> None:
    assert options_of(asked, *arguments, "a", "b.qcow2").compression == compression


def test_a_type_alone_compresses_nothing_and_says_so(
    asked: list[ConvertOptions], capsys: Capture
) -> None:
    options_of(asked, "-o", "compression_type=zstd", "a", "b.qcow2")
    assert "alone compresses nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "b"], "the source's name is empty"),
        (["a", ""], "the target's name is empty"),
        (["-n", "a", "b"], "-n, writing into an existing target, is not possible"),
        (["-c", "a", "b.raw"], "A raw target can't be compressed"),
        (["-o", "cluster_size=4k", "a", "b.raw"], "A raw target has no options"),
        (["--level", "3", "a", "b.qcow2"], "--level 3 was given, but no compression"),
        (["--compress", "zlib", "-o", "compression_type=zstd", "a", "b.qcow2"], "contradict"),
        (["-B", "x", "-o", "backing_file=y", "a", "b.qcow2"], "contradict each other"),
        (["-B", "x", "a", "b.qcow2"], "The format of the backing file 'x' was not given"),
        (["-O", "vmdk", "a", "b"], "The target format 'vmdk' does not exist"),
        (["-c", "--level", "99", "a", "b.qcow2"], "no level 99"),
        (["-o", "cluster_size=3000", "a", "b.qcow2"], "A cluster size of 3000 bytes"),
        (["-o", "compat=0.10", "--compress", "zstd", "a", "b.qcow2"], "compat 0.10 does not have"),
    ],
)
def test_contradictions_are_told_before_anything_exists(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["convert", *arguments]) == ExitCode.FAILED
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["zlib", "zstd"])
def test_there_and_back(kind: str, raw: Path, tmp_path: Path, capsys: Capture) -> None:
    packed = tmp_path / "packed.qcow2"
    assert run(["convert", "--compress", kind, str(raw), str(packed)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{packed}: qcow2, {kind}, virtual size 1 MiB; file 1 MiB → ")
    assert captured.out.endswith("; verified\n")
    assert oracle.check(packed).is_clean
    back = tmp_path / "back.raw"
    assert run(["convert", "-q", str(packed), str(back)]) == 0
    assert capsys.readouterr() == ("", "")
    assert back.read_bytes() == raw.read_bytes()


def test_the_result_as_json(raw: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "target.qcow2"
    assert run(["convert", "--json", "--no-verify", str(raw), str(target)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == 1
    assert result["virtual-size"] == SIZE
    assert result["target-bytes"] == target.stat().st_size
    assert result["verified"] is False
    assert result["losses"] == []


def test_progress_on_request(raw: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run(["convert", "-p", str(raw), str(tmp_path / "target.qcow2")]) == 0
    assert capsys.readouterr().err


def test_an_existing_target_needs_force(raw: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "target.qcow2"
    target.write_bytes(b"precious")
    assert run(["convert", str(raw), str(target)]) == ExitCode.FAILED
    assert "--force" in capsys.readouterr().err
    assert target.read_bytes() == b"precious"
    assert run(["convert", "--force", str(raw), str(target)]) == 0
    assert oracle.check(target).is_clean


def test_what_is_not_carried_over_is_listed(tmp_path: Path, capsys: Capture) -> None:
    """BL-O78, BL-O66."""
    builder = b0_builder(size=SIZE)
    builder.snapshot("before the update")
    builder.bitmap("backup 1")
    source = builder.build().write_to(tmp_path / "source.qcow2")
    assert run(["convert", str(source), str(tmp_path / "target.qcow2")]) == 0
    warnings = capsys.readouterr().err
    assert "before the update" in warnings
    assert "backup 1" in warnings
    assert all(line.startswith("qcowgui: warning: ") for line in warnings.splitlines())


def test_salvage_lists_what_was_lost(tmp_path: Path, capsys: Capture) -> None:
    """BL-O14: strict by default, with the place; on request zeros and a list."""
    image = b0(size=SIZE)
    source = set_l2_entry(image, 2, 0x50200).write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.raw"
    assert run(["convert", str(source), str(target)]) == ExitCode.CORRUPT
    assert "guest offset 0x2_0000" in capsys.readouterr().err
    assert not target.exists()
    assert run(["convert", "--salvage", str(source), str(target)]) == 0
    assert "lost: guest bytes 0x2_0000 to 0x3_0000" in capsys.readouterr().err
    assert target.read_bytes() == pattern(CLUSTER).ljust(SIZE, b"\0")
    target.unlink()
    (tmp_path / "target.raw.losses.txt").unlink()
    assert run(["convert", "--salvage", "--json", str(source), str(target)]) == 0
    (lost,) = json.loads(capsys.readouterr().out)["losses"]
    assert (lost["start"], lost["length"]) == (2 * CLUSTER, CLUSTER)


def test_a_backing_file_needs_consent(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(b"b" * SIZE)
    image = b0(size=SIZE, backing_file="base.raw", backing_format="raw")
    source = image.write_to(tmp_path / "source.qcow2")
    target = tmp_path / "target.raw"
    assert run(["convert", str(source), str(target)]) == ExitCode.FAILED
    assert "--allow-backing" in capsys.readouterr().err
    assert not target.exists()
    assert run(["convert", "--allow-backing", str(source), str(target)]) == 0
    assert target.read_bytes() == pattern(CLUSTER) + b"b" * (SIZE - CLUSTER)


def test_a_disk_larger_than_the_file_system_is_warned_of_once(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """BL-O60; told before the work, which a small disk only imitates."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(512, 0, 512))
    target = tmp_path / "target.raw"
    assert run(["convert", str(raw), str(target)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("qcowgui: warning: The result will be 1 MiB long, but its whole")
    assert len(captured.err.splitlines()) == 1
    assert run(["convert", "-q", "--force", str(raw), str(target)]) == 0
    assert capsys.readouterr() == ("", "")
    assert run(["convert", "-S", "0", "--force", str(raw), str(target)]) == ExitCode.FAILED
    assert f"{target} would take 1 MiB, and 512 B are free" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    """BL-O72: exit status 130, no part file, an older target survives."""
    source = tmp_path / "source.raw"
    source.write_bytes(text(32 << 20))
    target = tmp_path / "target.qcow2"
    target.write_bytes(b"precious")
    arguments = ["convert", "--force", "--compress", "zstd", "--level", "22"]
    process = subprocess.Popen(
        [sys.executable, "-m", "qcowgui", *arguments, str(source), str(target)],
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == ExitCode.CANCELLED
    assert messages == b"qcowgui: cancelled\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.raw", "target.qcow2"]
    assert target.read_bytes() == b"precious"
