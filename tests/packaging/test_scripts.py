"""The scripts that build packages, without building: their form, their help, and their tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
SCRIPTS = ("build-bundle", "build-deb", "desktop-trial", "release", "try-installed", "run", "test")


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("name", [*SCRIPTS, "environment.bash", "build.bash"])
def test_a_script_is_well_formed(name: str) -> None:
    done = run("bash", "-n", PACKAGING / name)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_started(name: str) -> None:
    assert os.access(PACKAGING / name, os.X_OK)
    assert (PACKAGING / name).read_text().startswith("#!/usr/bin/env bash\n")


@pytest.mark.parametrize("name", ["build-bundle", "build-deb", "desktop-trial", "release"])
def test_help_builds_nothing(name: str, tmp_path: Path) -> None:
    done = run(PACKAGING / name, "--help", QCOWGUI_BUILD=str(tmp_path / "build"))
    assert done.returncode == 0
    assert f"Usage: packaging/{name}" in done.stdout + done.stderr
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("name", ["build-bundle", "build-deb", "desktop-trial", "release"])
def test_a_wrong_option_builds_nothing(name: str, tmp_path: Path) -> None:
    done = run(PACKAGING / name, "--nonsense", QCOWGUI_BUILD=str(tmp_path / "build"))
    assert done.returncode == 1
    assert "Usage:" in done.stderr
    assert not (tmp_path / "build").exists()


def test_a_release_is_made_of_a_commit(tmp_path: Path) -> None:
    shutil.copytree(PACKAGING, tmp_path / "packaging")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    done = run(tmp_path / "packaging" / "release", "1.0.0", QCOWGUI_BUILD=str(tmp_path / "build"))
    assert done.returncode == 1
    assert "not committed" in done.stderr
    assert not (tmp_path / "dist").exists()


def test_the_packages_that_a_bundle_needs(tmp_path: Path) -> None:
    """Two programs of the system stand for a bundle; what one brings is not asked for."""
    folder = tmp_path / "bundle"
    folder.mkdir()
    shutil.copy("/bin/ls", folder / "program")
    (folder / "notes.txt").write_text("no program")
    done = run(sys.executable, PACKAGING / "shared_libraries.py", folder, "libxcb-cursor0")
    assert done.returncode == 0, done.stderr
    packages = done.stdout.strip().split(", ")
    assert packages[0].startswith("libc6 (>= 2.")
    assert packages[1:] == ["libselinux1", "libxcb-cursor0"]
    (folder / "libselinux.so.1").touch()
    done = run(sys.executable, PACKAGING / "shared_libraries.py", folder)
    assert done.stdout.strip() == packages[0]


def test_licences_follow_what_is_needed() -> None:
    """Of a package that is installed here; qcowgui itself may be a source tree."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import licences; "
        "print(*(found.metadata['Name'].lower() for found in licences.needed_by('rich')))"
    )
    done = run(sys.executable, "-c", script, PACKAGING)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert {"rich", "markdown-it-py", "mdurl", "pygments"} <= set(names)
    assert names == sorted(names)
    assert "pytest" not in names
