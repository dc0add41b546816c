"""`qcowgui integrate`: into a user's menu and out again, leaving nothing and harming nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from click.testing import CliRunner

from qcowgui.cli import integrate as cli
from qcowgui.desktop import integration
from qcowgui.desktop.entry import with_command
from qcowgui.desktop.places import ENTRY, THUMBNAILER, DesktopFile, data_home, desktop_files
from qcowgui.desktop.record import record_path
from qcowgui.errors import QcowError
from qcowgui.resources import resource_path

ODD_FOLDER = 'it\'s 100% $HOME `x` \\ "q"; &'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and no XDG variable that leads out of it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def content_of(folder: Path) -> dict[str, bytes]:
    """Everything below a folder; folders, and links to nowhere, as empty files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


def some_files(*, thumbnails: bool = False) -> list[DesktopFile]:
    texts = {"man/man1/qcowgui.1": ".TH QCOWGUI 1\n"}
    return desktop_files(["/opt/qcowgui/qcowgui"], texts, thumbnails=thumbnails)


def test_everything_is_put_where_the_desktop_looks(home: Path) -> None:
    outcome = integration.integrate(some_files())
    share = home / ".local/share"
    assert not outcome.problems
    assert {str(path.relative_to(share)) for path in outcome.written} == {
        "applications/qcowgui.desktop",
        "metainfo/qcowgui.metainfo.xml",
        "man/man1/qcowgui.1",
        "icons/hicolor/scalable/apps/qcowgui.svg",
        *(
            f"icons/hicolor/{side}x{side}/apps/qcowgui.png"
            for side in (16, 22, 24, 32, 48, 64, 128, 256, 512)
        ),
    }
    cache = (share / "applications/mimeinfo.cache").read_text()
    assert "application/x-qemu-disk=qcowgui.desktop;" in cache


def test_twice_is_as_once(home: Path) -> None:
    integration.integrate(some_files())
    before = content_of(home)
    outcome = integration.integrate(some_files())
    assert not outcome.changed
    assert outcome.unchanged == len(some_files())
    assert content_of(home) == before


@pytest.mark.parametrize("others", [[], ["share/applications/other.desktop", "state/other/x"]])
def test_removing_leaves_what_was_there_before(home: Path, others: list[str]) -> None:
    for name in others:
        path = home / ".local" / name
        path.parent.mkdir(parents=True)
        path.write_text("[Desktop Entry]\nType=Application\nName=other\nExec=other\n")
    before = content_of(home)
    integration.integrate(some_files(thumbnails=True))
    outcome = integration.remove()
    assert len(outcome.removed) == len(some_files(thumbnails=True))
    after = content_of(home)
    if others:  # somebody else's folder: its cache, empty of associations, may stay
        assert after.pop(".local/share/applications/mimeinfo.cache").strip() == b"[MIME Cache]"
    assert after == before
    assert not integration.remove().changed


def test_another_version_replaces_what_the_first_one_wrote() -> None:
    integration.integrate([*some_files(), DesktopFile(PurePosixPath("x/qcowgui.x"), b"1")])
    outcome = integration.integrate(
        [*some_files(), DesktopFile(PurePosixPath("x/qcowgui.x"), b"2")]
    )
    assert outcome.written == [data_home() / "x/qcowgui.x"]
    assert outcome.written[0].read_bytes() == b"2"
    assert outcome.unchanged == len(some_files())


def test_what_is_no_longer_wanted_goes() -> None:
    integration.integrate(some_files(thumbnails=True))
    assert (data_home() / THUMBNAILER).is_file()
    outcome = integration.integrate(some_files())
    assert outcome.removed == [data_home() / THUMBNAILER]
    assert not (data_home() / THUMBNAILER).exists()


def put_file(path: Path) -> None:
    path.write_text("[Desktop Entry]\nName=mine\n")


def put_folder(path: Path) -> None:
    path.mkdir()


def put_link(path: Path) -> None:
    path.symlink_to("/dev/null")


def put_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("put", [put_file, put_folder, put_link, put_dangling_link])
def test_what_somebody_else_wrote_is_in_the_way(home: Path, put: Callable[[Path], None]) -> None:
    path = data_home() / "applications" / ENTRY
    path.parent.mkdir(parents=True)
    put(path)
    before = set(content_of(home))
    with pytest.raises(QcowError, match="qcowgui did not write it") as caught:
        integration.integrate(some_files())
    assert str(path) in caught.value.message
    assert "move it away" in caught.value.hint
    assert set(content_of(home)) == before


def test_what_somebody_changed_is_kept() -> None:
    integration.integrate(some_files())
    path = data_home() / "applications" / ENTRY
    path.write_text(path.read_text() + "X-Mine=true\n")
    outcome = integration.remove()
    assert outcome.kept == [path]
    assert path.is_file()
    assert not (data_home() / "icons").exists()


@pytest.mark.parametrize("written_before", [0, 1, 5])
@pytest.mark.parametrize("go_on", [True, False])
def test_a_run_that_was_killed_is_completed_or_undone(
    home: Path, monkeypatch: pytest.MonkeyPatch, written_before: int, go_on: bool
) -> None:
    original, calls = integration._write, 0

    def write(path: Path, content: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls > written_before:
            raise KeyboardInterrupt
        original(path, content)

    monkeypatch.setattr(integration, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        integration.integrate(some_files())
    monkeypatch.setattr(integration, "_write", original)
    if go_on:
        outcome = integration.integrate(some_files())
        assert outcome.unchanged == written_before
        assert len(outcome.written) + written_before == len(some_files())
    integration.remove()
    assert content_of(home) == {}


def test_an_update_that_was_killed_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    def files(text: bytes) -> list[DesktopFile]:
        return [DesktopFile(PurePosixPath(f"x/qcowgui.{n}"), text) for n in range(4)]

    integration.integrate(files(b"old"))
    original = integration._write

    def write(path: Path, content: bytes) -> None:
        if path.name == "qcowgui.2":
            raise KeyboardInterrupt
        original(path, content)

    monkeypatch.setattr(integration, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        integration.integrate(files(b"new"))
    monkeypatch.setattr(integration, "_write", original)
    outcome = integration.integrate(files(b"new"))
    assert [path.name for path in outcome.written] == ["qcowgui.2", "qcowgui.3"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"rubbish",
        b"[]",
        b"null",
        b'{"version": 2}',
        b'{"version": 1, "files": {"/etc/passwd": []}, "folders": []}',
        b'{"version": 1, "files": {"qcowgui.desktop": []}, "folders": []}',
        b'{"version": 1, "files": [], "folders": 3}',
        b"\xff" * 100,
        b"[" * 100_000,
    ],
)
def test_a_record_that_is_no_record(content: bytes) -> None:
    integration.integrate(some_files())
    saved = record_path().read_bytes()
    record_path().write_bytes(content)
    for action in (integration.remove, lambda: integration.integrate(some_files())):
        with pytest.raises(QcowError, match="can't be read") as caught:
            action()
        assert "--remove works again" in caught.value.hint
    record_path().rename(record_path().with_suffix(".away"))
    assert not integration.integrate(some_files()).changed
    assert json.loads(saved)["files"] == json.loads(record_path().read_bytes())["files"]
    assert len(integration.remove().removed) == len(some_files())


def test_a_home_that_can_not_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "file" / "share"))
    with pytest.raises(QcowError, match="file") as caught:
        integration.integrate(some_files())
    assert "--remove" in caught.value.hint


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(QcowError, match="no home folder"):
        integration.integrate(some_files())


def test_without_the_tool_that_makes_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    outcome = integration.integrate(some_files())
    assert len(outcome.written) == len(some_files())
    assert "desktop-file-utils" in outcome.problems[0]


def test_names_that_are_not_absolute_are_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "share")
    assert data_home() == home / ".local/share"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert data_home() == Path("/data")


@pytest.mark.parametrize("folder", ["plain", "with space", ODD_FOLDER])
def test_the_entry_starts_a_program_in_any_folder(tmp_path: Path, folder: str) -> None:
    """GLib is the judge: it parses the entry and starts what it names."""
    program = tmp_path / folder / "qcowgui"
    program.parent.mkdir()
    seen = tmp_path / "seen"
    program.write_text(f'#!/bin/sh\nfor a in "$@"; do printf "%s\\n" "$a"; done >{seen}.new\n'
                       f"mv {seen}.new {seen}\n")  # fmt: skip
    program.chmod(0o755)
    entry = tmp_path / ENTRY
    text = resource_path("desktop", ENTRY).read_text("utf-8")
    entry.write_text(with_command(text, [str(program), "-x", "a b"]))
    subprocess.run(["desktop-file-validate", str(entry)], check=True)
    image = tmp_path / "an image.qcow2"
    subprocess.run(["gio", "launch", str(entry), str(image)], check=True, timeout=30)
    deadline = time.monotonic() + 20
    while not seen.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert seen.read_text().splitlines() == ["-x", "a b", str(image)]


def test_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "program_command", lambda: ["/opt/q c/qcowgui"])
    runner = CliRunner()
    done = runner.invoke(cli.command, [], catch_exceptions=False)
    assert done.exit_code == 0
    entry = data_home() / "applications" / ENTRY
    assert f"15 files written below {data_home()}\n" in done.output
    assert "qcowgui is in the menu" in done.output
    assert 'Exec="/opt/q c/qcowgui" %F\nIcon=' in entry.read_text()
    assert "TryExec=/opt/q c/qcowgui\n" in entry.read_text()
    for place in cli.PLACES.values():
        assert (data_home() / place).is_file()
    assert "everything is in place already" in runner.invoke(cli.command, []).output
    entry.write_text("[Desktop Entry]\n")
    done = runner.invoke(cli.command, ["--remove"], catch_exceptions=False)
    assert f"left as it is, since somebody changed it: {entry}\n" in done.output
    assert f"14 files removed below {data_home()}\n" in done.output
    assert "nothing to remove" in runner.invoke(cli.command, ["--remove"]).output
    assert runner.invoke(cli.command, ["--remove", "-q"]).output == ""


def test_another_program_that_opens_images_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "home" / ".config"
    config.mkdir()
    applications = data_home() / "applications"
    applications.mkdir(parents=True)
    text = (
        "[Desktop Entry]\nType=Application\nName=o\nExec=true\nMimeType=application/x-qemu-disk;\n"
    )
    (applications / "other.desktop").write_text(text)
    (config / "mimeapps.list").write_text(
        "[Default Applications]\napplication/x-qemu-disk=other.desktop\n"
    )
    monkeypatch.setattr(cli, "program_command", lambda: ["/opt/qcowgui"])
    done = CliRunner().invoke(cli.command, [], catch_exceptions=False)
    assert "still open with other.desktop" in done.output
    assert "xdg-mime default qcowgui.desktop application/x-qemu-disk" in done.output


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_systems_without_such_a_menu(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    with pytest.raises(QcowError, match="no menu"):
        CliRunner().invoke(cli.command, [], catch_exceptions=False, standalone_mode=False)


def test_an_installation_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(QcowError, match="no command") as caught:
        cli.program_command()
    assert "pip install" in caught.value.hint
    (tmp_path / "qcowgui").touch()
    assert cli.program_command() == [str(tmp_path / "qcowgui")]
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys.executable", "/usr/lib/qcowgui/qcowgui")
    assert cli.program_command() == ["/usr/lib/qcowgui/qcowgui"]


def test_the_tools_are_here() -> None:
    """Without them the tests above would prove less."""
    for tool in ("update-desktop-database", "xdg-mime", "gio", "desktop-file-validate"):
        assert shutil.which(tool, path=os.environ["PATH"]), tool
