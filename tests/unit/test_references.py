"""Where a stored name leads, and who may open it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import pytest

from qcowgui.errors import ReferencedFileError
from qcowgui.image.chain import open_image
from qcowgui.image.references import (
    DENY,
    AllowGate,
    AskGate,
    EitherGate,
    Place,
    Reference,
    ReferenceKind,
    located_at,
    open_reference,
    resolve_reference,
)
from tests.support.base_images import b0_builder


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


# -------------------------------------------------------------------- located by hand


class Locating(AllowGate):
    """Allows some files, and knows where one is that lies elsewhere."""

    located: ClassVar[dict[Place, Path]] = {}

    def locate(self, reference: Reference) -> Reference:
        return located_at(reference, self.located)


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An overlay whose backing file was moved, and where it is now; `Locating` knows it."""
    overlay = b0_builder(backing_file="/nowhere/base.raw", backing_format="raw").build()
    top = overlay.write_to(tmp_path / "top.qcow2")
    base = tmp_path / "elsewhere" / "base.raw"
    base.parent.mkdir()
    base.write_bytes(b"moved" * 1000)
    monkeypatch.setattr(Locating, "located", {(top, "/nowhere/base.raw"): base})
    return top, base


def test_a_located_file_is_read_in_place_of_the_named_one(moved: tuple[Path, Path]) -> None:
    top, base = moved
    with open_image(top, gate=Locating((base,))) as image:
        assert [layer.path for layer in image.chain] == [top, base]
        assert image.chain[1].file_bytes == 5000


def test_locating_is_no_permission(moved: tuple[Path, Path]) -> None:
    top, _ = moved
    with pytest.raises(ReferencedFileError) as caught:
        open_image(top, gate=Locating((Path("/nowhere"),)))
    assert caught.value.reason == "denied"


def test_one_of_two_gates_may_know_the_place(moved: tuple[Path, Path]) -> None:
    top, base = moved
    for gate in (EitherGate(DENY, Locating((base,))), EitherGate(Locating((base,)), DENY)):
        with open_image(top, gate=gate) as image:
            assert image.chain[1].path == base


def test_a_place_is_that_of_one_name_in_one_image(moved: tuple[Path, Path]) -> None:
    top, base = moved
    place = top, "/nowhere/base.raw"
    assert located_at(resolve("/nowhere/base.raw", top), {place: base}).path == base
    assert located_at(resolve("/nowhere/other.raw", top), {place: base}).path == Path(
        "/nowhere/other.raw"
    )
    other = top.parent / "other.qcow2"
    assert located_at(resolve("/nowhere/base.raw", other), {place: base}).path != base


def test_a_name_that_is_no_file_name_can_be_located(moved: tuple[Path, Path]) -> None:
    top, base = moved
    remote = resolve("nbd://host/disk", top)
    assert remote.path is None
    found = located_at(remote, {(top, "nbd://host/disk"): base})
    assert found.path == base
    assert found.in_folder
