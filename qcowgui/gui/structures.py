"""Which structures an image has, and where in them a finding lies. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe
from qcowgui.format.finding import Finding
from qcowgui.gui.extension_table import extensions_table
from qcowgui.gui.formatters import Table
from qcowgui.gui.structure_tables import (
    ReferenceState,
    bitmaps_table,
    encryption_table,
    features_table,
    header_table,
    references_table,
    snapshots_table,
)
from qcowgui.image.inspect import ImageReport

translate = QCoreApplication.translate


class StructureKey(Enum):
    """The structures that have a table of their own."""

    HEADER = "header"
    FEATURES = "features"
    EXTENSIONS = "extensions"
    SNAPSHOTS = "snapshots"
    BITMAPS = "bitmaps"
    ENCRYPTION = "encryption"
    BACKING_CHAIN = "backing-chain"
    DATA_FILE = "data-file"


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that the image has.

    Attributes:
        key: Which one.
        title: Its name.
        note: How many entries, or what kind; may be empty.
        table: Its content.
    """

    key: StructureKey
    title: str
    note: str
    table: Table


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected of one image.

    Attributes:
        structure: The structure.
        row: Index in its table, or None for the structure as a whole.
    """

    structure: StructureKey
    row: int | None = None


def image_structures(
    report: ImageReport, references: Sequence[ReferenceState]
) -> tuple[Structure, ...]:
    """Every structure that the image has, in the order of the list."""
    return tuple(_iter_structures(report, references))


def locate(structures: Sequence[Structure], finding: Finding) -> Selection | None:
    """The row that shows the place of `finding` most closely, or None when no table shows it."""
    if finding.host_offset is None:
        return None
    best: tuple[int, Selection] | None = None
    for structure in structures:
        for index, row in enumerate(structure.table.rows):
            if row.covers(finding.host_offset) and (best is None or row.host_bytes < best[0]):
                best = row.host_bytes, Selection(structure.key, index)
    return best[1] if best else None


def _iter_structures(
    report: ImageReport, references: Sequence[ReferenceState]
) -> Iterator[Structure]:
    key = StructureKey
    title = _titles()
    note = f"v{report.header.version}"
    yield Structure(key.HEADER, title[key.HEADER], note, header_table(report))
    if report.features:
        set_count = sum(feature.is_set for feature in report.features)
        note = translate("structures", "{count} set").format(count=set_count) if set_count else ""
        yield Structure(key.FEATURES, title[key.FEATURES], note, features_table(report))
    if report.extensions:
        note = f"{len(report.extensions):,}"
        yield Structure(key.EXTENSIONS, title[key.EXTENSIONS], note, extensions_table(report))
    if report.snapshots:
        note = f"{len(report.snapshots):,}"
        table = snapshots_table(report.snapshots)
        yield Structure(key.SNAPSHOTS, title[key.SNAPSHOTS], note, table)
    if report.bitmaps:
        note = f"{len(report.bitmaps):,}"
        yield Structure(key.BITMAPS, title[key.BITMAPS], note, bitmaps_table(report.bitmaps))
    if report.header.crypt_method:
        note = describe.crypt_method_text(report.header.crypt_method)
        yield Structure(key.ENCRYPTION, title[key.ENCRYPTION], note, encryption_table(report))
    for kind, structure_key in (
        ("backing file", key.BACKING_CHAIN),
        ("data file", key.DATA_FILE),
    ):
        states = [state for state in references if state.reference.kind == kind]
        if states:
            table = references_table(report, states)
            yield Structure(structure_key, title[structure_key], f"{len(states)}", table)


def _titles() -> dict[StructureKey, str]:
    return {
        StructureKey.HEADER: translate("structures", "Header"),
        StructureKey.FEATURES: translate("structures", "Features"),
        StructureKey.EXTENSIONS: translate("structures", "Extensions"),
        StructureKey.SNAPSHOTS: translate("structures", "Snapshots"),
        StructureKey.BITMAPS: translate("structures", "Bitmaps"),
        StructureKey.ENCRYPTION: translate("structures", "Encryption"),
        StructureKey.BACKING_CHAIN: translate("structures", "Backing chain"),
        StructureKey.DATA_FILE: translate("structures", "Data file"),
    }
