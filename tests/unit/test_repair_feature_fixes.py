"""What is put right in the first cluster, and what stays there."""

from __future__ import annotations

import pytest

from qcowgui.format.features import Autoclear
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.patched import PatchedSource
from qcowgui.image.source import BytesSource
from qcowgui.repair.feature_fixes import clear_state_bits, iter_feature_edits
from tests.support.base_images import b0, b0_builder, rich
from tests.support.built import BuiltImage
from tests.support.damage import flip_bits, set_feature_bit, set_field


def fixed(image: BuiltImage, drop_bitmaps: str = "") -> tuple[list[str], ImageReport]:
    """The codes of the edits, and what an open says of the result."""
    source = BytesSource(image.to_bytes())
    edits = list(iter_feature_edits(source, inspect_source(source), drop_bitmaps=drop_bitmaps))
    for edit in edits:
        assert edit.before == source.read_at(edit.offset, edit.length_bytes)
    patched = PatchedSource(source, [edit.patch for edit in edits])
    return [edit.code for edit in edits], inspect_source(patched)


def test_a_sound_image_needs_no_edit() -> None:
    assert fixed(rich())[0] == []
    assert fixed(b0(version=2))[0] == []


def test_unknown_autoclear_bits_go_and_known_ones_stay() -> None:
    image = set_feature_bit(rich(), "autoclear_features", 40)
    found, report = fixed(image)
    assert found == ["unknown-autoclear"]
    assert report.header.autoclear_features == Autoclear.BITMAPS


def test_the_bit_on_a_raw_data_file_goes_where_there_is_none() -> None:
    found, report = fixed(set_feature_bit(b0(), "autoclear_features", 1))
    assert found == ["raw-external-without-data-file"]
    assert report.header.autoclear_features == 0
    with_file = b0(data_file="guest.data")
    assert fixed(set_feature_bit(with_file, "autoclear_features", 1))[0] == []


def test_all_bits_go_by_one_edit() -> None:
    image = set_feature_bit(set_feature_bit(b0(), "autoclear_features", 1), "autoclear_features", 9)
    found, report = fixed(image)
    assert found == ["unknown-autoclear"]
    assert report.header.autoclear_features == 0


def test_header_padding_becomes_zero() -> None:
    found, report = fixed(flip_bits(b0(), 105, 7))
    assert found == ["header-padding"]
    assert report.header.padding == 0


def test_dropped_bitmaps_leave_every_other_extension() -> None:
    before = inspect_source(BytesSource(rich().to_bytes()))
    found, report = fixed(rich(), "bitmap-table")
    assert set(found) == {"bitmap-table"}
    assert report.header.autoclear_features == 0
    assert report.bitmaps == ()
    kept = [(e.type, e.data) for e in before.extensions if e.type != 0x23852875]
    assert [(e.type, e.data) for e in report.extensions] == kept
    assert report.backing_name == before.backing_name
    assert len(kept) == len(before.extensions) - 1


@pytest.mark.parametrize(
    ("name", "is_fixed"), [("raw", True), ("qcow2", True), ("composite", False)]
)
def test_crosvms_backing_format_gets_its_number_where_it_makes_sense(
    name: str, is_fixed: bool
) -> None:
    image = b0(backing_file="base", extensions=[(0xE279268F, name.encode())], feature_table=False)
    found, report = fixed(image)
    assert found == (["extension-misspelt"] if is_fixed else [])
    assert report.backing_format == name
    assert [hex(e.type) for e in report.extensions] == ["0xe2792aca" if is_fixed else "0xe279268f"]


def test_a_broken_list_of_extensions_is_left_alone() -> None:
    builder = b0_builder(extensions=[(0x12345678, b"abc")], feature_table=False)
    image = builder.build()
    padded = image.edited(112 + 8 + 3, b"\1")
    assert fixed(padded)[0] == ["extension-padding"]
    broken = padded.edited(112 + 4, (1 << 20).to_bytes(4, "big"))
    assert fixed(broken)[0] == []


@pytest.mark.parametrize(
    ("bits", "code", "told"),
    [
        ((0,), "dirty", "The dirty bit:"),
        ((1,), "corrupt", "The corrupt bit:"),
        ((0, 1), "corrupt", "The dirty and the corrupt bit:"),
    ],
)
def test_state_bits_are_cleared_alone(bits: tuple[int, ...], code: str, told: str) -> None:
    image = b0(extended_l2=True)
    for bit in bits:
        image = set_feature_bit(image, "incompatible_features", bit)
    source = BytesSource(image.to_bytes())
    edit = clear_state_bits(source, inspect_source(source))
    assert edit is not None
    assert edit.code == code
    assert edit.why.startswith(told)
    assert edit.after == (1 << 4).to_bytes(8, "big")


def test_without_state_bits_nothing_is_cleared() -> None:
    for image in (b0(), b0(version=2), set_field(b0(), "compatible_features", 1)):
        source = BytesSource(image.to_bytes())
        assert clear_state_bits(source, inspect_source(source)) is None
