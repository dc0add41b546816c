"""The tables of an image, row by row against its report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.errors import NotQcow2Error
from qcowgui.format.header import Header
from qcowgui.gui.formatters import Tone
from qcowgui.gui.locator import Locator
from qcowgui.gui.opening import Inspected, inspect_image
from qcowgui.gui.structures import Structure, StructureKey
from tests.support.base_images import rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES


def by_key(inspected: Inspected) -> dict[StructureKey, Structure]:
    return {structure.key: structure for structure in inspected.structures}


def locator_of(inspected: Inspected, path: Path) -> Locator:
    data = path.read_bytes()

    def read(offset: int, length: int) -> bytes:
        return data[offset : offset + length]

    return Locator(inspected.report, read, structures=inspected.structures)


def test_an_image_shows_the_structures_it_has(rich_image: Path, data_image: Path) -> None:
    rich_keys = [structure.key for structure in inspect_image(rich_image).structures]
    assert rich_keys == [
        StructureKey.HEADER,
        StructureKey.FEATURES,
        StructureKey.EXTENSIONS,
        StructureKey.SNAPSHOTS,
        StructureKey.BITMAPS,
        StructureKey.BACKING_CHAIN,
    ]
    assert StructureKey.SNAPSHOTS not in by_key(inspect_image(data_image))


def test_the_header_table_is_the_header(rich_image: Path) -> None:
    inspected = inspect_image(rich_image)
    report = inspected.report
    table = by_key(inspected)[StructureKey.HEADER].table
    raw = rich_image.read_bytes()
    for row, found in zip(table.rows, report.header.field_values(), strict=True):
        assert row.cells[0] == found.field.name
        assert int(row.cells[1].replace("_", ""), 16) == found.field.offset
        assert bytes.fromhex(row.cells[2]) == raw[found.field.offset : found.field.end]
        assert row.cells[4] == found.field.meaning


def test_a_version_2_header_lacks_the_newer_fields(tmp_path: Path) -> None:
    image = ImageBuilder(size=1 << 20, version=2).build().write_to(tmp_path / "v2.qcow2")
    structures = by_key(inspect_image(image))
    assert StructureKey.FEATURES not in structures
    absent = [
        row.cells[0] for row in structures[StructureKey.HEADER].table.rows if row.tone is Tone.MUTED
    ]
    assert absent[0] == "incompatible_features"
    assert absent[-1] == "padding"
    assert "size" not in absent


def test_header_bytes_of_the_future_are_shown(tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20, header_length=120, header_tail=b"\1\2\3\4\5\6\7\x08")
    image = builder.build().write_to(tmp_path / "long.qcow2")
    last = by_key(inspect_image(image))[StructureKey.HEADER].table.rows[-1]
    assert last.cells[:4] == ("(unknown)", "0x70", "01020304 05060708", "8 bytes")


def test_the_features_table_is_the_reports(rich_image: Path) -> None:
    inspected = inspect_image(rich_image)
    table = by_key(inspected)[StructureKey.FEATURES].table
    raw = rich_image.read_bytes()
    for row, feature in zip(table.rows, inspected.report.features, strict=True):
        assert feature.name in row.cells[0]
        assert (row.cells[3] == "set") is feature.is_set
        # Offset and mask lead to the bit itself.
        byte_offset = int(row.cells[1], 16)
        mask = bytes.fromhex(row.cells[2])[byte_offset % 8]
        assert bool(raw[byte_offset] & mask) is feature.is_set


def test_the_extensions_table_shows_heads_and_content(rich_image: Path) -> None:
    inspected = inspect_image(rich_image)
    table = by_key(inspected)[StructureKey.EXTENSIONS].table
    raw = rich_image.read_bytes()
    heads = [row for row in table.rows if not row.cells[0].startswith(" ")]
    assert [row.cells[0] for row in heads] == [e.name for e in inspected.report.extensions]
    for row in heads:
        offset = int(row.cells[1].replace("_", ""), 16)
        assert bytes.fromhex(row.cells[2]) == raw[offset : offset + 8]
    names = {row.cells[0].strip(): row for row in table.rows}
    assert names["incompatible · bit 0"].cells[3] == "dirty bit"
    assert names["nb_bitmaps"].cells[3] == f"{len(inspected.report.bitmaps)}"


def test_snapshots_and_bitmaps(rich_image: Path) -> None:
    inspected = inspect_image(rich_image)
    structures = by_key(inspected)
    snapshots = inspected.report.snapshots
    assert [row.cells[1] for row in structures[StructureKey.SNAPSHOTS].table.rows] == [
        snapshot.name for snapshot in snapshots
    ]
    assert structures[StructureKey.SNAPSHOTS].table.rows[0].cells[2] == "2026-11-30 12:00:00"
    bitmaps = structures[StructureKey.BITMAPS].table.rows
    assert [row.cells[0] for row in bitmaps] == [b.name for b in inspected.report.bitmaps]


def test_encryption_shows_the_luks_header(tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.luks(active_slots=(0, 3))
    image = builder.build().write_to(tmp_path / "luks.qcow2")
    table = by_key(inspect_image(image))[StructureKey.ENCRYPTION].table
    values = {row.cells[0]: row.cells[1] for row in table.rows}
    assert values["crypt_method"] == "2 (LUKS)"
    assert values["cipher-mode"] == "xts-plain64"
    assert values["uuid"] == "9f1c6f5e-53a3-4b4b-8d1d-0d6f3ad6f0c2"
    assert values["key slot 3"] == "active"
    assert values["key slot 1"] == "empty"


@pytest.mark.parametrize(
    ("name", "present", "state"),
    [
        ("base.raw", True, "exists, in the image’s folder; not opened"),
        ("base.raw", False, "not found"),
        ("nbd://host/disk", False, "no plain file name: never opened"),
    ],
)
def test_the_backing_file_is_looked_at_and_not_opened(
    tmp_path: Path, name: str, present: bool, state: str
) -> None:
    if present:
        os.mkfifo(tmp_path / name)  # whoever opens it waits for ever
    builder = ImageBuilder(size=1 << 20, backing_file=name, backing_format="raw")
    image = builder.build().write_to(tmp_path / "overlay.qcow2")
    (row,) = by_key(inspect_image(image))[StructureKey.BACKING_CHAIN].table.rows
    assert row.cells[0] == name
    assert row.cells[1] == "raw"
    assert row.cells[3] == state


def test_a_data_file_has_a_table(tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20, data_file="data.bin")
    image = builder.build().write_to(tmp_path / "image.qcow2")
    (row,) = by_key(inspect_image(image))[StructureKey.DATA_FILE].table.rows
    assert row.cells[0] == "data.bin"
    assert row.cells[2] == str(tmp_path / "data.bin")


def test_a_finding_leads_to_the_row_it_is_about(tmp_path: Path) -> None:
    damaged = DAMAGES["header_snapshots_unaligned"].apply(rich())
    path = damaged.write_to(tmp_path / "damaged.qcow2")
    inspected = inspect_image(path)
    finding = next(f for f in inspected.report.findings if f.code == "snapshot-table-offset")
    selection = locator_of(inspected, path).at_finding(finding)
    assert selection is not None
    assert selection.structure is StructureKey.HEADER
    assert selection.row is not None
    row = by_key(inspected)[StructureKey.HEADER].table.rows[selection.row]
    assert row.cells[0] == "snapshots_offset"


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_every_damage_gives_tables_or_a_reason(name: str, tmp_path: Path) -> None:
    path = DAMAGES[name].apply(rich()).write_to(tmp_path / "damaged.qcow2")
    try:
        inspected = inspect_image(path)
    except NotQcow2Error:  # its magic, or its version to 1, is what was damaged
        assert path.read_bytes()[:8] != b"QFI\xfb\0\0\0\3"
        return
    assert isinstance(inspected.report.header, Header)
    for structure in inspected.structures:
        width = len(structure.table.columns)
        assert structure.table.rows
        for row in structure.table.rows:
            assert len(row.cells) == width
            assert len(row.sort_keys) in (0, width)
    for finding in inspected.report.findings:
        selection = locator_of(inspected, path).at_finding(finding)
        if finding.host_offset is not None and inspected.report.header.geometry is not None:
            assert selection is not None
            assert selection.row is not None
