"""The rows of a table of entries: its columns, the text of a cell, what a column is sorted by.

Texts are made for the rows in view alone; sorting goes by numbers. Knows no widgets.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from qcowgui.check.roles import ROLE_NAMES, SNAPSHOT_PAYLOAD_BIT, Role, role_of_uses, use_bit
from qcowgui.format import geometry as geo
from qcowgui.format.bitmaps import BitmapClusterKind
from qcowgui.format.entries import ClusterKind, CompressedDescriptor, L2Entry, SubclusterKind
from qcowgui.format.finding import CODES
from qcowgui.gui.formatters import NOTHING, SEVERITY_TONES, Column, Row, Tone
from qcowgui.gui.host_index import HostIndex
from qcowgui.gui.models.entry_arrays import CountKind, EntryArrays, PointerKind
from qcowgui.gui.models.entry_judge import code_severity
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.translation import count_text
from qcowgui.units import format_offset

translate = QCoreApplication.translate

SortValues = npt.NDArray[Any]

_LOW_32: Final = np.uint64(0xFFFF_FFFF)


class EntryColumn(Enum):
    """A column of a table of entries."""

    ENTRY = auto()
    FILE_OFFSET = auto()
    RAW = auto()
    CLUSTER = auto()
    KIND = auto()
    HOST_OFFSET = auto()
    DETAILS = auto()
    GUEST_OFFSET = auto()
    STORED = auto()
    COUNTED = auto()
    DIFFERENCE = auto()
    OWNER = auto()


_C: Final = EntryColumn
_COUNTS: Final = (_C.STORED, _C.COUNTED, _C.DIFFERENCE, _C.OWNER)
_START: Final = (_C.ENTRY, _C.FILE_OFFSET, _C.RAW)
_MAPPING: Final = (*_START, _C.KIND, _C.HOST_OFFSET, _C.DETAILS, _C.GUEST_OFFSET, *_COUNTS)

COLUMNS: Final = {
    StructureKey.L1: _MAPPING,
    StructureKey.L2: _MAPPING,
    StructureKey.REFCOUNT_TABLE: (*_START, _C.KIND, _C.HOST_OFFSET, _C.DETAILS, *_COUNTS),
    StructureKey.REFCOUNT_BLOCK: (*_START, _C.CLUSTER, _C.HOST_OFFSET, _C.KIND, *_COUNTS),
    StructureKey.BITMAP_TABLE: _MAPPING,
}
"""The columns of each table of entries, in their order."""


def make_columns(key: StructureKey) -> tuple[Column, ...]:
    """The headings of the table `key`."""
    titles = {
        _C.ENTRY: Column(translate("entries", "Entry"), monospaced=True, right=True),
        _C.FILE_OFFSET: Column(translate("entries", "File offset"), monospaced=True, right=True),
        _C.RAW: Column(translate("entries", "Raw hex"), monospaced=True),
        _C.CLUSTER: Column(translate("entries", "Cluster"), monospaced=True, right=True),
        _C.KIND: Column(translate("entries", "Kind")),
        _C.HOST_OFFSET: Column(translate("entries", "Host offset"), monospaced=True, right=True),
        _C.DETAILS: Column(translate("entries", "Details"), quiet=True),
        _C.GUEST_OFFSET: Column(translate("entries", "Guest offset"), monospaced=True, right=True),
        _C.STORED: Column(translate("entries", "Refcount"), monospaced=True, right=True),
        _C.COUNTED: Column(translate("entries", "References"), monospaced=True, right=True),
        _C.DIFFERENCE: Column(translate("entries", "Difference"), monospaced=True, right=True),
        _C.OWNER: Column(translate("entries", "Cluster is used as"), quiet=True, wide=True),
    }
    return tuple(titles[column] for column in COLUMNS[key])


@cache
def kind_words(key: StructureKey) -> tuple[str, ...]:
    """What each value of `EntryArrays.kinds` is called in the table `key`."""
    pointers = {
        PointerKind.NONE: translate("entries", "unallocated"),
        PointerKind.TABLE: translate("entries", "L2 table"),
        PointerKind.UNUSABLE: translate("entries", "unusable"),
    }
    words: dict[Any, str]
    match key:
        case StructureKey.L1:
            words = pointers
        case StructureKey.REFCOUNT_TABLE:
            words = {**pointers, PointerKind.TABLE: translate("entries", "refcount block")}
        case StructureKey.REFCOUNT_BLOCK:
            words = {
                CountKind.FREE: translate("entries", "free"),
                CountKind.ONCE: translate("entries", "counted once"),
                CountKind.SEVERAL: translate("entries", "counted more often"),
            }
        case StructureKey.BITMAP_TABLE:
            words = {
                BitmapClusterKind.ZEROS: translate("entries", "all bits 0"),
                BitmapClusterKind.ONES: translate("entries", "all bits 1"),
                BitmapClusterKind.ALLOCATED: translate("entries", "bits"),
                BitmapClusterKind.INVALID: translate("entries", "invalid"),
            }
        case _:
            words = {
                ClusterKind.UNALLOCATED: translate("entries", "unallocated"),
                ClusterKind.ZERO_PLAIN: translate("entries", "zero"),
                ClusterKind.ZERO_ALLOC: translate("entries", "zero, allocated"),
                ClusterKind.NORMAL: translate("entries", "data"),
                ClusterKind.COMPRESSED: translate("entries", "compressed"),
                ClusterKind.MIXED: translate("entries", "subclusters differ"),
                ClusterKind.INVALID: translate("entries", "invalid"),
            }
    return tuple(words[kind] for kind in sorted(words))


class EntryRows:
    """Makes the rows of one table. The same of the image, it may be asked by any thread."""

    def __init__(self, arrays: EntryArrays, index: HostIndex | None = None) -> None:
        """Rows of `arrays`; with `index` the guest clusters behind a refcount are named, too."""
        self.arrays = arrays
        self.key = arrays.table.structure
        self.columns: Final = COLUMNS[self.key]
        self._index = index
        self._texts: dict[EntryColumn, Callable[[int], str]] = {
            _C.ENTRY: lambda entry: f"{entry:,}",
            _C.FILE_OFFSET: lambda entry: format_offset(arrays.place.entry_range(entry)[0]),
            _C.RAW: self._raw_text,
            _C.CLUSTER: lambda entry: f"{arrays.first_cluster + entry:,}",
            _C.KIND: lambda entry: kind_words(self.key)[int(arrays.kinds[entry])],
            _C.HOST_OFFSET: self._host_text,
            _C.DETAILS: self._details,
            _C.GUEST_OFFSET: self._guest_text,
            _C.STORED: self._stored_text,
            _C.COUNTED: self._counted_text,
            _C.DIFFERENCE: self._difference_text,
            _C.OWNER: self._owner,
        }

    def with_index(self, index: HostIndex | None) -> EntryRows:
        """The same rows, with another index."""
        return EntryRows(self.arrays, index)

    def row(self, entry: int) -> Row:
        """The row of entry `entry` of the file."""
        start, end = self.arrays.place.entry_range(entry)
        codes = self.arrays.codes(entry)
        tone = self._tone(entry, codes)
        details = "\n".join(CODES[code] for code in codes)
        cells = tuple(self.cell(entry, column) for column in self.columns)
        return Row(cells, start, end, tone, details)

    def cell(self, entry: int, column: EntryColumn) -> str:
        """The text of one cell."""
        return self._texts[column](entry)

    def sort_values(self, column: EntryColumn) -> SortValues | None:
        """What `column` is sorted by, an element an entry; None: by the file's order."""
        arrays = self.arrays
        values: dict[EntryColumn, Callable[[], SortValues | None]] = {
            _C.RAW: lambda: arrays.words,
            _C.KIND: self._alphabetic_kinds,
            _C.HOST_OFFSET: lambda: arrays.hosts,
            _C.DETAILS: self._detail_values,
            _C.STORED: lambda: arrays.refcounts.stored,
            _C.COUNTED: lambda: arrays.refcounts.found,
            _C.DIFFERENCE: lambda: arrays.differences,
            _C.OWNER: self._alphabetic_roles,
        }
        return values[column]() if column in values else None

    def _tone(self, entry: int, codes: list[str]) -> Tone:
        if codes:
            return SEVERITY_TONES[max(code_severity(code) for code in codes)]
        arrays = self.arrays
        empty = not arrays.words[entry]
        if arrays.bitmaps is not None:
            empty = empty and not arrays.bitmaps[entry]
        return Tone.MUTED if empty else Tone.NORMAL

    def _raw_text(self, entry: int) -> str:
        arrays = self.arrays
        digits = f"{int(arrays.words[entry]):0{raw_digits(arrays)}x}"
        if arrays.bitmaps is not None:
            digits += f"{int(arrays.bitmaps[entry]):016x}"
        return " ".join(digits[start : start + 8] for start in range(0, len(digits), 8))

    def _host_text(self, entry: int) -> str:
        arrays = self.arrays
        offset = arrays.host_offset(entry)
        if offset or self.key is StructureKey.REFCOUNT_BLOCK:
            return format_offset(offset)
        at_start = self.key is StructureKey.L2 and int(arrays.kinds[entry]) == ClusterKind.NORMAL
        return format_offset(0) if at_start else NOTHING

    def _details(self, entry: int) -> str:
        match self.key:
            case StructureKey.L1:
                parts = self._flags(entry, geo.L1_RESERVED_MASK)
            case StructureKey.L2:
                parts = self._l2_details(entry)
            case StructureKey.REFCOUNT_TABLE:
                parts = [self._counted_clusters(entry)]
                parts += self._flags(entry, geo.REFCOUNT_RESERVED_MASK)
            case _:
                parts = self._flags(entry, geo.BITMAP_RESERVED_MASK)
        return ", ".join(parts)

    def _flags(self, entry: int, reserved_mask: int) -> list[str]:
        word = int(self.arrays.words[entry])
        parts = []
        if self.key in (StructureKey.L1, StructureKey.L2) and word & geo.COPIED:
            parts.append("COPIED")
        if word & reserved_mask:
            text = translate("entries", "reserved bits {bits:#x}")
            parts.append(text.format(bits=word & reserved_mask))
        return parts

    def _l2_details(self, entry: int) -> list[str]:
        arrays = self.arrays
        bitmap = 0 if arrays.bitmaps is None else int(arrays.bitmaps[entry])
        found = L2Entry(int(arrays.words[entry]), bitmap, arrays.geometry)
        if found.is_compressed:
            parts = ["COPIED"] if found.copied else []
            parts.append(_payload_text(found.compressed))
            if bitmap:
                parts.append(translate("entries", "has a subcluster bitmap"))
            return parts
        parts = self._flags(entry, geo.L2_RESERVED_MASK)
        if arrays.bitmaps is not None:
            parts += _subcluster_texts(found)
            if found.reads_zero:
                parts.append(translate("entries", "bit 0 set"))
        return parts

    def _counted_clusters(self, entry: int) -> str:
        per_block = self.arrays.geometry.refcounts_per_block
        text = translate("entries", "clusters {first:,} to {last:,}")
        return text.format(first=entry * per_block, last=(entry + 1) * per_block - 1)

    def _guest_text(self, entry: int) -> str:
        guest = self.arrays.guest_range(entry)
        return NOTHING if guest is None else format_offset(guest[0])

    def _stored_text(self, entry: int) -> str:
        refcounts = self.arrays.refcounts
        return f"{int(refcounts.stored[entry]):,}" if refcounts.known[entry] else NOTHING

    def _counted_text(self, entry: int) -> str:
        found = self._references(entry)
        return NOTHING if found is None else f"{found:,}"

    def _difference_text(self, entry: int) -> str:
        found = self._references(entry)
        if found is None or not self.arrays.refcounts.known[entry]:
            return NOTHING
        most = self.arrays.geometry.refcount_max
        difference = int(self.arrays.refcounts.stored[entry]) - min(found, most)
        return f"{difference:+,}" if difference else "0"

    def _references(self, entry: int) -> int | None:
        refcounts = self.arrays.refcounts
        if refcounts.found is None or not refcounts.about[entry]:
            return None
        return int(refcounts.found[entry])

    def _owner(self, entry: int) -> str:
        arrays = self.arrays
        uses = arrays.refcounts.uses
        if uses is None or not arrays.refcounts.about[entry]:
            return NOTHING
        cluster = arrays.host_offset(entry) >> arrays.geometry.cluster_bits
        names = use_names(int(uses[entry]), first_cluster=cluster == 0)
        text = ", ".join(names) or ROLE_NAMES[Role.FREE]
        if self.key is not StructureKey.REFCOUNT_BLOCK or self._index is None:
            return text
        guest = self._index.guest_at(cluster)
        if guest is None:
            return text
        offset = format_offset(guest.cluster << arrays.geometry.cluster_bits)
        if guest.snapshot is None:
            return f"{text} · " + translate("entries", "guest {offset}").format(offset=offset)
        place = translate("entries", "guest {offset} of snapshot {index}")
        return f"{text} · " + place.format(offset=offset, index=guest.snapshot)

    def _alphabetic_roles(self) -> SortValues | None:
        uses = self.arrays.refcounts.uses
        if uses is None:
            return None
        roles = role_of_uses()[uses]
        if self.key is StructureKey.REFCOUNT_BLOCK and not self.arrays.first_cluster and len(roles):
            roles[0] = Role.HEADER
        names = [ROLE_NAMES[role] for role in Role]
        return _places_of(names)[roles]

    def _alphabetic_kinds(self) -> SortValues:
        if self.key is StructureKey.REFCOUNT_BLOCK:
            return self.arrays.kinds
        return _places_of(list(kind_words(self.key)))[self.arrays.kinds]

    def _detail_values(self) -> SortValues | None:
        """Of an L2 table the lengths of payloads, then allocated subclusters, then flags."""
        arrays = self.arrays
        if self.key is StructureKey.REFCOUNT_TABLE:
            return None
        flags = (arrays.words >> np.uint64(56)).astype(np.int64)
        if arrays.payload_bytes is None:
            return flags
        values = flags + (arrays.payload_bytes.astype(np.int64) << 16)
        if arrays.bitmaps is not None:
            values += _count_bits(arrays.bitmaps & _LOW_32) << 8
        return values


def use_names(uses: int, *, first_cluster: bool = False) -> list[str]:
    """What a set of uses consists of, in words, the most important one first."""
    names = [ROLE_NAMES[Role.HEADER]] if first_cluster else []
    names += [ROLE_NAMES[role] for role in Role if use_bit(role) and uses & use_bit(role)]
    if uses & SNAPSHOT_PAYLOAD_BIT and ROLE_NAMES[Role.SNAPSHOT_DATA] not in names:
        names.append(ROLE_NAMES[Role.SNAPSHOT_DATA])
    return names


def _payload_text(found: CompressedDescriptor) -> str:
    text = translate("entries", "at most {bytes} in {sectors}")
    return text.format(
        bytes=count_text(found.max_payload_bytes, "byte"),
        sectors=count_text(found.sectors, "sector"),
    )


def _subcluster_texts(entry: L2Entry) -> list[str]:
    kinds = entry.subclusters()
    words = {
        SubclusterKind.NORMAL: translate("entries", "{count} data"),
        SubclusterKind.ZERO: translate("entries", "{count} zero"),
        SubclusterKind.UNALLOCATED: translate("entries", "{count} unallocated"),
        SubclusterKind.INVALID: translate("entries", "{count} invalid"),
    }
    return [word.format(count=kinds.count(kind)) for kind, word in words.items() if kind in kinds]


def _places_of(names: list[str]) -> npt.NDArray[np.uint8]:
    """Where each name stands among all in alphabetic order."""
    places = np.zeros(len(names), dtype=np.uint8)
    places[sorted(range(len(names)), key=lambda index: names[index].casefold())] = range(len(names))
    return places


def _count_bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """int64: how many bits are set in each word."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    bits = np.unpackbits(octets).reshape(len(words), 64)
    counts: npt.NDArray[np.int64] = bits.sum(axis=1, dtype=np.int64)
    return counts


def raw_digits(arrays: EntryArrays) -> int:
    """How many hexadecimal digits the first word of an entry has."""
    if arrays.table.structure is StructureKey.REFCOUNT_BLOCK:
        return max(1, arrays.place.entry_bits // 4)
    return 16
