"""Which structures an image has, and the tables of those that fit into one. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import describe
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

if TYPE_CHECKING:
    from qcowgui.gui.selection import Selection

translate = QCoreApplication.translate


class StructureKey(Enum):
    """What can be selected.

    Those up to DATA_FILE are `Structure`s with a table in memory. The entry tables (L1 to
    BITMAP_TABLE) may have millions of rows, which are read when they are looked at. CLUSTER and
    GUEST are bytes, of the file and of the guest's disk.
    """

    HEADER = "header"
    FEATURES = "features"
    EXTENSIONS = "extensions"
    SNAPSHOTS = "snapshots"
    BITMAPS = "bitmaps"
    ENCRYPTION = "encryption"
    BACKING_CHAIN = "backing-chain"
    DATA_FILE = "data-file"
    L1 = "l1"
    L2 = "l2"
    REFCOUNT_TABLE = "refcount-table"
    REFCOUNT_BLOCK = "refcount-block"
    BITMAP_TABLE = "bitmap-table"
    CLUSTER = "cluster"
    GUEST = "guest"

    @property
    def is_entry_table(self) -> bool:
        """Whether it is a table of equal entries, read page by page."""
        return self in _ENTRY_TABLES


_ENTRY_TABLES: Final = frozenset(
    {
        StructureKey.L1,
        StructureKey.L2,
        StructureKey.REFCOUNT_TABLE,
        StructureKey.REFCOUNT_BLOCK,
        StructureKey.BITMAP_TABLE,
    }
)


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


def image_structures(
    report: ImageReport, references: Sequence[ReferenceState]
) -> tuple[Structure, ...]:
    """Every structure that the image has, in the order of the list."""
    return tuple(_iter_structures(report, references))


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


def entry_table_title(selection: Selection, report: ImageReport) -> str:
    """The name of the entry table that `selection` is in, with whose it is."""
    match selection.structure:
        case StructureKey.L1:
            text = translate("structures", "L1 table")
        case StructureKey.L2:
            text = translate("structures", "L2 table of L1[{index}]").format(index=selection.part)
        case StructureKey.REFCOUNT_TABLE:
            text = translate("structures", "Refcount table")
        case StructureKey.REFCOUNT_BLOCK:
            text = translate("structures", "Refcount block {index}").format(index=selection.part)
        case _:
            names = [found.name for found in report.bitmaps if found.index == selection.part]
            text = translate("structures", "Table of bitmap “{name}”").format(
                name=names[0] if names else selection.part
            )
    if selection.snapshot is None:
        return text
    names = [found.name for found in report.snapshots if found.index == selection.snapshot]
    name = names[0] if names else f"{selection.snapshot}"
    return translate("structures", "{table}, snapshot “{name}”").format(table=text, name=name)
