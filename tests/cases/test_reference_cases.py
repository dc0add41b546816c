"""Real cases about the files that an image refers to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.errors import ReferencedFileError
from qcowgui.image.identify import identify
from qcowgui.image.inspect import inspect
from qcowgui.image.references import DENY, AllowGate, open_reference, resolve_reference
from tests.support.base_images import b0


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("base/base.qcow2", "images/base/base.qcow2"),
        ("../base.qcow2", "base.qcow2"),
        ("/abs/base.qcow2", "/abs/base.qcow2"),
        ("file:base.qcow2", None),
        ("a:b.qcow2", None),
    ],
)
def test_backing_names_with_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str | None
) -> None:
    """BL-O55: resolved from the image's folder, not the current one; odd ones are shown only."""
    folder = tmp_path / "images"
    folder.mkdir()
    image = b0(backing_file=name).write_to(folder / "overlay.qcow2")
    monkeypatch.chdir("/")
    report = inspect(image)
    assert report.backing_name == name
    found = resolve_reference("backing file", name, image)
    if path is None:
        assert found.path is None
        return
    assert found.path is not None
    assert os.path.normpath(found.path) == os.path.normpath(tmp_path / path)


def test_image_moved_to_another_machine(tmp_path: Path) -> None:
    """BL-O56: says where it looked, and that a file of that name is beside the image."""
    base = b0().write_to(tmp_path / "base.qcow2")
    image = b0(backing_file="/home/old/base.qcow2").write_to(tmp_path / "overlay.qcow2")
    reference = resolve_reference("backing file", "/home/old/base.qcow2", image)
    with pytest.raises(ReferencedFileError) as caught:
        open_reference(reference, AllowGate())
    assert caught.value.reason == "missing"
    assert "looked at /home/old/base.qcow2" in caught.value.message
    assert str(base) in caught.value.hint


@pytest.mark.parametrize("base_is_qcow2", [True, False])
def test_no_recorded_backing_format(tmp_path: Path, base_is_qcow2: bool) -> None:
    """BL-O57: the report does not guess; what the base looks like is a question of its own."""
    base = tmp_path / "base"
    base.write_bytes(b0().to_bytes() if base_is_qcow2 else b"\x5a" * 4096)
    report = inspect(b0(backing_file="base").write_to(tmp_path / "overlay.qcow2"))
    assert (report.backing_name, report.backing_format) == ("base", None)
    reference = resolve_reference("backing file", "base", tmp_path / "overlay.qcow2")
    with open_reference(reference, AllowGate()) as source:
        kind = identify(source).kind.value
    assert kind == ("qcow2" if base_is_qcow2 else "unknown")


def test_data_file_that_names_a_host_file(tmp_path: Path) -> None:
    """BL-O58: the name is shown; nothing is opened without the user's explicit word."""
    image = b0(data_file="secret").write_to(tmp_path / "x.qcow2")
    report = inspect(image)
    assert report.data_file_name == "secret"
    outside = resolve_reference("data file", "/etc/passwd", image)
    assert not outside.in_folder
    for gate in (DENY, AllowGate()):
        with pytest.raises(ReferencedFileError, match="/etc/passwd") as caught:
            open_reference(outside, gate)
        assert caught.value.reason == "denied"
    with open_reference(outside, AllowGate([Path("/etc/passwd")])) as source:
        assert source.size_bytes


@pytest.mark.parametrize("name", ["/dev/zero", "fifo", ".", "/proc/self/mem"])
def test_backing_that_is_no_regular_file(tmp_path: Path, name: str) -> None:
    """BL-O59: never without consent, and a FIFO does not block even with it."""
    os.mkfifo(tmp_path / "fifo")
    image = b0(backing_file=name).write_to(tmp_path / "x.qcow2")
    reference = resolve_reference("backing file", name, image)
    assert reference.path is not None
    with pytest.raises(ReferencedFileError):
        open_reference(reference, DENY)
    if name == "/proc/self/mem":
        # It claims to be a regular file of no length, so that nothing of it is ever read.
        with open_reference(reference, AllowGate()) as source:
            assert source.read_at(0, 4096) == b""
        return
    with pytest.raises(ReferencedFileError) as caught:
        open_reference(reference, AllowGate([reference.path]))
    assert caught.value.reason == "special"


def test_image_behind_a_symbolic_link(tmp_path: Path) -> None:
    """BL-O86: the folder of the given path first; then that of the real file, with a notice."""
    real = tmp_path / "data"
    real.mkdir()
    image = b0(backing_file="base.raw").write_to(real / "img.qcow2")
    (real / "base.raw").write_bytes(b"the real base")
    link = tmp_path / "link.qcow2"
    link.symlink_to(image)
    assert inspect(link).backing_name == "base.raw"
    reference = resolve_reference("backing file", "base.raw", link)
    assert reference.note
    with open_reference(reference, AllowGate()) as source:
        assert source.read_at(0, 100) == b"the real base"
    (tmp_path / "base.raw").write_bytes(b"beside the link")
    reference = resolve_reference("backing file", "base.raw", link)
    assert reference.note == ""
    with open_reference(reference, AllowGate()) as source:
        assert source.read_at(0, 100) == b"beside the link"
