"""Every command on every damage: an answer or a documented error, never a mistake of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qcowgui.cli.main import run
from tests.support.base_images import b0, pattern, rich, text
from tests.support.damages import DAMAGES

Capture = pytest.CaptureFixture[str]

DOCUMENTED = (0, 1, 2, 63)
DUMPS: tuple[list[str], ...] = (
    [],
    ["l1", "--all"],
    ["l2", "0"],
    ["refcounts"],
    ["refcounts", "0"],
    ["snapshots"],
    ["bitmaps"],
    ["encryption"],
    ["entry", "32k"],
    ["entry", "3M"],
)


@pytest.mark.parametrize("name", DAMAGES)
def test_every_command_answers(name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(1 << 20))
    path = str(DAMAGES[name].apply(rich()).write_to(tmp_path / "image.qcow2"))
    target = str(tmp_path / "target.raw")
    commands = [
        ["dump", path, *structure, *form] for structure in DUMPS for form in ([], ["--json"])
    ]
    commands += [
        ["info", path],
        ["info", "--backing-chain", "--allow-backing", path],
        ["map", "--allow-backing", path],
        ["map", "--json", "--allow-backing", path],
        ["compare", "--allow-backing", path, path],
        ["convert", "--allow-backing", path, target],
        ["convert", "--allow-backing", "--salvage", "--force", path, target],
    ]
    for arguments in commands:
        code = run(arguments)
        captured = capsys.readouterr()
        said = (arguments, code, captured.err)
        assert "unexpected" not in captured.err, said
        assert "\x1b" not in captured.out + captured.err, said
        assert code in (DOCUMENTED if arguments[0] != "compare" else (0, 1, 2, 4)), said
        failed = code != 0 and not (arguments[0] == "compare" and code == 1)
        assert bool(captured.err.startswith("qcowgui: ")) or not failed, said


LIMITED = """
import resource, sys
from qcowgui.cli.main import run
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.exit(run(sys.argv[2:]))
"""


def test_a_file_system_that_refuses_more_bytes(tmp_path: Path) -> None:
    """BL-O72, BL-O73: a non-zero status, one reason, no part file."""
    source = tmp_path / "source.raw"
    source.write_bytes(text(8 << 20))
    target = tmp_path / "target.qcow2"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(1 << 20), "convert", str(source), str(target)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("qcowgui: ")
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == [source]


def test_a_pipe_as_the_target_is_refused_in_words(tmp_path: Path, capsys: Capture) -> None:
    """BL-O82."""
    path = b0(size=1 << 20).write_to(tmp_path / "image.qcow2")
    assert run(["convert", "--force", "-O", "raw", str(path), "/dev/null"]) == 1
    assert "is no regular file" in capsys.readouterr().err


@pytest.mark.parametrize("size", [152 << 40, (1 << 63) - 512, (1 << 64) - 1])
def test_a_tiny_file_that_claims_a_huge_disk(size: int, tmp_path: Path, capsys: Capture) -> None:
    """BL-O60."""
    image = b0().edited(24, size.to_bytes(8, "big")).resized(516)
    path = str(image.write_to(tmp_path / "image.qcow2"))
    assert run(["info", path]) == 0
    assert "QEMU would refuse this image" in capsys.readouterr().out
    target = tmp_path / "target.raw"
    assert run(["convert", path, str(target)]) == 2
    assert not target.exists()
