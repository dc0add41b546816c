"""Where a stored name leads, and who may open it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.errors import ReferencedFileError
from qcowgui.image.references import (
    DENY,
    AllowGate,
    AskGate,
    EitherGate,
    Reference,
    ReferenceKind,
    open_reference,
    resolve_reference,
)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    path = folder / "overlay.qcow2"
    path.write_bytes(b"overlay")
    return path


def resolve(name: str, image: Path, kind: ReferenceKind = "backing file") -> Reference:
    return resolve_reference(kind, name, image)


@pytest.mark.parametrize(
    ("name", "path", "in_folder"),
    [
        ("base.qcow2", "images/base.qcow2", True),
        ("sub/base.qcow2", "images/sub/base.qcow2", True),
        ("../base.qcow2", "images/../base.qcow2", False),
        ("./a:b.qcow2", "images/a:b.qcow2", True),
        ("sub/a:b.qcow2", "images/sub/a:b.qcow2", True),
        ("-x.qcow2", "images/-x.qcow2", True),
        ("a 'b' #1 %20.qcow2", "images/a 'b' #1 %20.qcow2", True),
    ],
)
def test_relative_names(image: Path, name: str, path: str, in_folder: bool) -> None:
    found = resolve(name, image)
    assert found.path == image.parent.parent / path
    assert (found.in_folder, found.note, found.name) == (in_folder, "", name)


def test_absolute_name(image: Path) -> None:
    found = resolve("/abs/base.qcow2", image)
    assert (found.path, found.in_folder) == (Path("/abs/base.qcow2"), False)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a\0b",
        "x" * 1024,
        "file:base.qcow2",
        "a:b.qcow2",
        "1:base.qcow2",
        ":base",
        "nbd://host/x",
        'json:{"driver":"qcow2"}',
    ],
)
def test_names_that_are_no_plain_file_names(image: Path, name: str) -> None:
    """QEMU takes whatever stands before a colon for a protocol."""
    found = resolve(name, image)
    assert (found.path, found.in_folder) == (None, False)
    gate = AskGate(lambda _: True)
    with pytest.raises(ReferencedFileError) as caught:
        open_reference(found, gate)
    assert caught.value.reason == "protocol"
    assert not AllowGate().permit(found)


def test_the_folder_of_a_link_comes_first(image: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link.qcow2"
    link.symlink_to(image)
    (image.parent / "base.raw").write_bytes(b"beside the target")
    found = resolve("base.raw", link)
    assert found.path == Path(os.path.realpath(image)).parent / "base.raw"
    assert "symbolic link" in found.note
    assert found.in_folder
    (elsewhere / "base.raw").write_bytes(b"beside the link")
    found = resolve("base.raw", link)
    assert (found.path, found.note) == (elsewhere / "base.raw", "")
    assert resolve("nowhere.raw", link).path == elsewhere / "nowhere.raw"


def test_a_link_out_of_the_folder_is_outside(image: Path) -> None:
    (image.parent / "base.raw").symlink_to("/etc/hostname")
    assert not resolve("base.raw", image).in_folder


def test_deny_opens_nothing(image: Path) -> None:
    (image.parent / "base.raw").write_bytes(b"x")
    reference = resolve("base.raw", image)
    assert not DENY.permit(reference)
    with pytest.raises(ReferencedFileError, match="not opened") as caught:
        open_reference(reference, DENY)
    assert (caught.value.reason, caught.value.name) == ("denied", "base.raw")
    assert "--allow-backing" in caught.value.hint


def test_ask_gets_the_reference(image: Path) -> None:
    (image.parent / "base.raw").write_bytes(b"content")
    reference = resolve("base.raw", image)
    asked: list[Reference] = []

    def answer(question: Reference) -> bool:
        asked.append(question)
        return len(asked) > 1

    with pytest.raises(ReferencedFileError):
        open_reference(reference, AskGate(answer))
    with open_reference(reference, AskGate(answer)) as source:
        assert source.read_at(0, 7) == b"content"
    assert asked == [reference, reference]


def test_allow_without_paths(image: Path, tmp_path: Path) -> None:
    (image.parent / "in.raw").write_bytes(b"x")
    (tmp_path / "out.raw").write_bytes(b"x")
    gate = AllowGate()
    assert gate.permit(resolve("in.raw", image))
    assert gate.permit(resolve("../out.raw", image))
    assert gate.permit(resolve("in.raw", image, "data file"))
    # A data file elsewhere would be copied into the output: it must be named.
    assert not gate.permit(resolve("../out.raw", image, "data file"))
    assert not gate.permit(resolve("/dev/zero", image))
    assert not gate.permit(resolve("..", image))
    # Opening says what is wrong with it.
    assert gate.permit(resolve("missing.raw", image))


def test_allow_with_paths(image: Path, tmp_path: Path) -> None:
    (tmp_path / "bases").mkdir()
    (tmp_path / "bases" / "a.raw").write_bytes(b"x")
    (tmp_path / "bases2").mkdir()
    (tmp_path / "bases2" / "a.raw").write_bytes(b"x")
    gate = AllowGate([tmp_path / "bases"])
    assert gate.permit(resolve("../bases/a.raw", image))
    assert gate.permit(resolve("../bases/a.raw", image, "data file"))
    assert not gate.permit(resolve("../bases2/a.raw", image))
    # The way out of a permitted folder does not count as inside.
    assert not gate.permit(resolve("../bases/../bases2/a.raw", image))
    (tmp_path / "bases" / "link").symlink_to(tmp_path / "bases2" / "a.raw")
    assert not gate.permit(resolve("../bases/link", image))
    one_file = AllowGate((tmp_path / "bases2" / "a.raw",))
    assert one_file.permit(resolve("../bases2/a.raw", image))


def test_missing(image: Path) -> None:
    with pytest.raises(ReferencedFileError, match="looked at") as caught:
        open_reference(resolve("/home/old/base.qcow2", image), AllowGate())
    assert (caught.value.reason, caught.value.hint) == ("missing", "")


def test_special_files_need_consent_and_are_refused_even_then(image: Path) -> None:
    os.mkfifo(image.parent / "fifo")
    for name in ("fifo", "/dev/zero", "."):
        reference = resolve(name, image)
        with pytest.raises(ReferencedFileError) as caught:
            open_reference(reference, AllowGate())
        assert caught.value.reason == "denied"
        with pytest.raises(ReferencedFileError) as caught:
            open_reference(reference, AskGate(lambda _: True))
        assert caught.value.reason == "special"


@pytest.mark.parametrize(
    ("first", "second", "permitted"),
    [(True, False, True), (False, True, True), (False, False, False)],
)
def test_either_gate(image: Path, first: bool, second: bool, permitted: bool) -> None:
    gate = EitherGate(AskGate(lambda _: first), AskGate(lambda _: second))
    assert gate.permit(resolve("base.raw", image)) == permitted
