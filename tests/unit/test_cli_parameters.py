"""Numbers, formats and `--allow-backing` on the command line."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from qcowgui.cli import parameters
from qcowgui.errors import UnsupportedError
from qcowgui.image.references import DENY, Reference, resolve_reference


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("512", 512), ("64k", 65536), ("0x1F", 31), ("1.5G", 3 << 29)]
)
def test_numbers(text: str, number: int) -> None:
    assert parameters.parse_number(text) == number


@pytest.mark.parametrize("text", ["", "x", "0x", "-1", "1.0001k", "0xfg"])
def test_what_is_no_number_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size") as caught:
        parameters.parse_number(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("good", [None, "raw", "qcow2"])
def test_formats_that_are_read(good: str | None) -> None:
    parameters.check_format(good, "x")


def test_a_format_that_is_not_read() -> None:
    with pytest.raises(UnsupportedError, match="'vmdk' is not supported; qcow2 and raw are"):
        parameters.check_format("vmdk", "x")


@pytest.mark.parametrize(
    ("arguments", "values", "images"),
    [
        (["a"], (), ("a",)),
        (["--allow-backing", "a"], ("",), ("a",)),
        (["a", "--allow-backing"], ("",), ("a",)),
        (["--allow-backing=x y", "a"], ("x y",), ("a",)),
        (["--allow-backing=x", "--allow-backing", "a", "b"], ("x", ""), ("a", "b")),
        (["a", "--", "--allow-backing"], (), ("a", "--allow-backing")),
    ],
)
def test_allow_backing_takes_a_value_after_an_equals_sign_only(
    arguments: list[str], values: tuple[str, ...], images: tuple[str, ...]
) -> None:
    seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    @click.command(cls=parameters.GatedCommand)
    @click.argument("images", nargs=-1)
    @parameters.allow_backing_option
    def command(images: tuple[str, ...], allow_backing: tuple[str, ...]) -> None:
        seen.append((allow_backing, images))

    command.main(arguments, standalone_mode=False)
    assert seen == [(values, images)]


def reference(folder: Path, name: str, *, data_file: bool = False) -> Reference:
    image = folder / "image.qcow2"
    if data_file:
        return resolve_reference("data file", name, image)
    return resolve_reference("backing file", name, image)


def test_gates(tmp_path: Path) -> None:
    near = tmp_path / "near"
    far = tmp_path / "far"
    for folder in (near, far):
        folder.mkdir()
        (folder / "base.raw").touch()
    near_base, far_base = reference(near, "base.raw"), reference(near, "../far/base.raw")
    far_data = reference(near, "../far/base.raw", data_file=True)

    assert parameters.gate_for(()) is DENY
    bare = parameters.gate_for(("",))
    assert [bare.permit(r) for r in (near_base, far_base, far_data)] == [True, True, False]
    one = parameters.gate_for((str(near),))
    assert [one.permit(r) for r in (near_base, far_base, far_data)] == [True, False, False]
    both = parameters.gate_for((str(far), ""))
    assert [both.permit(r) for r in (near_base, far_base, far_data)] == [True, True, True]
