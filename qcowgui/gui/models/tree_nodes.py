"""The nodes of the structure tree: made when they are looked at, in groups where there are many.

Knows no widgets. An image may have a million L2 tables: a node that has more children than
`GROUP_NODES` gets groups of so many instead, which make theirs when they are opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from qcowgui.engine.work import CancelToken
from qcowgui.format import geometry as geo
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.snapshots import Snapshot
from qcowgui.format.tables import parse_words
from qcowgui.gui.entry_places import EntryPlaces
from qcowgui.gui.models.entry_arrays import MAX_ROWS
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import Structure, StructureKey
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.units import ceil_div, format_offset

translate = QCoreApplication.translate

GROUP_NODES: Final = 1024
"""Children of one node; more are put into groups."""

_ENTRY_BYTES: Final = geo.ENTRY_BYTES
_READ_BYTES: Final = 4 << 20


class ChildList(Protocol):
    """What the children of a node are made from."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def node(self, position: int) -> Node:
        """A new node for the child at `position`."""
        ...

    def group_title(self, first: int, last: int) -> str:
        """What the children [first, last) are called together."""
        ...

    def find(self, table: Selection) -> int | None:
        """The position of the child that is `table`, or that it lies in."""
        ...


@dataclass(eq=False, slots=True)
class Node:
    """An item of the tree.

    Attributes:
        title: What it is.
        note: More about it: an offset, a number; may be empty.
        selection: What is selected with it; None for a group, which is no structure.
        source: What its children are made from; None as long as that is not known.
        pointers: Whether its children are the tables that its entries name: they must be read.
        first: Position in `source` of the first child.
        last: End (exclusive).
        children: Those that were made; None before.
        host_offset: Where the table lies in the file, when that is known.
    """

    title: str
    note: str = ""
    selection: Selection | None = None
    source: ChildList | None = None
    pointers: bool = False
    first: int = 0
    last: int = 0
    host_offset: int | None = None
    parent: Node | None = None
    row: int = 0
    children: list[Node] | None = field(default=None, repr=False)

    @classmethod
    def over(cls, node: Node, source: ChildList) -> Node:
        """`node`, with everything in `source` below it."""
        node.source, node.first, node.last = source, 0, len(source)
        return node

    @property
    def child_count(self) -> int | None:
        """How many children it will have; None when its table must be read first."""
        if self.source is None:
            return None if self.pointers else 0
        count = self.last - self.first
        return ceil_div(count, GROUP_NODES) if count > GROUP_NODES else count

    def make_children(self) -> None:
        """Make the children, groups where there are many; once."""
        if self.children is not None or self.source is None:
            return
        step = GROUP_NODES if self.last - self.first > GROUP_NODES else 1
        made = []
        for row, first in enumerate(range(self.first, self.last, step)):
            last = min(first + step, self.last)
            if step > 1:
                title = self.source.group_title(first, last)
                node = Node(title, f"{last - first:,}", source=self.source, first=first, last=last)
            else:
                node = self.source.node(first)
            node.parent, node.row = self, row
            made.append(node)
        self.children = made

    def child_with(self, table: Selection) -> Node | None:
        """The child that is `table`, or leads to it; None when there is none, or none was made."""
        position = None if self.source is None else self.source.find(table)
        if position is None or not self.first <= position < self.last or self.children is None:
            return None
        row = position - self.first
        return self.children[row // GROUP_NODES if self.last - self.first > GROUP_NODES else row]


@dataclass(frozen=True, slots=True, eq=False)
class Pointers:
    """The tables that the entries of an L1 table or of the refcount table name.

    Attributes:
        table: The table with the entries.
        entries: int32, ascending: the entries that name something.
        offsets: uint64: where each says that its table is.
    """

    table: Selection
    entries: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def _names_l2(self) -> bool:
        return self.table.structure is StructureKey.L1

    def node(self, position: int) -> Node:
        """A node for one of these tables."""
        entry, offset = int(self.entries[position]), int(self.offsets[position])
        if self._names_l2:
            title = f"L1[{entry}] → L2"
            selection = Selection(StructureKey.L2, None, entry, self.table.snapshot)
        else:
            title = translate("tree", "Block {index}").format(index=f"{entry:,}")
            selection = Selection(StructureKey.REFCOUNT_BLOCK, None, entry)
        return Node(title, format_offset(offset), selection, host_offset=offset)

    def group_title(self, first: int, last: int) -> str:
        """The first and the last entry."""
        ends = int(self.entries[first]), int(self.entries[last - 1])
        if self._names_l2:
            return f"L1[{ends[0]} … {ends[1]}]"
        return translate("tree", "Blocks {first} to {last}").format(
            first=f"{ends[0]:,}", last=f"{ends[1]:,}"
        )

    def find(self, table: Selection) -> int | None:
        """The position of the table that entry `table.part` names."""
        if table.part is None:
            return None
        position = int(np.searchsorted(self.entries, table.part))
        if position == len(self.entries) or int(self.entries[position]) != table.part:
            return None
        return position


@dataclass(frozen=True, slots=True)
class PointersWork:
    """Reads an L1 table or the refcount table for what its entries name.

    Attributes:
        source: The image.
        report: What an open says of it.
        table: Which table.
    """

    source: ByteSource
    report: ImageReport
    table: Selection

    def __call__(self, token: CancelToken) -> Pointers:
        """The tables named, in the order of the entries.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        place = EntryPlaces(self.report, self.source.read_at).table_place(self.table)
        entries, offsets = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.uint64)]
        length = 0 if place is None else min(place.entries, MAX_ROWS) * _ENTRY_BYTES
        start = 0 if place is None else place.host_offset
        length = min(length, max(0, self.source.size_bytes - start))
        is_l1 = self.table.structure is StructureKey.L1
        mask = np.uint64(geo.OFFSET_MASK if is_l1 else geo.REFCOUNT_OFFSET_MASK)
        for done in range(0, length, _READ_BYTES):
            token.raise_if_cancelled()
            data = self.source.read_at(start + done, min(_READ_BYTES, length - done))
            found = parse_words(data) & mask
            named = np.flatnonzero(found)
            entries.append((named + done // _ENTRY_BYTES).astype(np.int32))
            offsets.append(found[named])
        return Pointers(self.table, np.concatenate(entries), np.concatenate(offsets))


@dataclass(frozen=True, slots=True)
class SnapshotList:
    """The internal snapshots; each stands for its L1 table."""

    snapshots: Sequence[Snapshot]

    def __len__(self) -> int:
        return len(self.snapshots)

    def node(self, position: int) -> Node:
        """A node for one snapshot."""
        found = self.snapshots[position]
        title = translate("tree", "L1 of “{name}”").format(name=found.name or found.id)
        selection = Selection(StructureKey.L1, snapshot=found.index)
        return Node(title, f"{found.l1_size:,}", selection, pointers=found.l1_size > 0)

    def group_title(self, first: int, last: int) -> str:
        """The numbers of the first and the last one."""
        return _numbers_text(self.snapshots[first].index, self.snapshots[last - 1].index)

    def find(self, table: Selection) -> int | None:
        """The position of the snapshot that the table is part of."""
        for position, found in enumerate(self.snapshots):
            if found.index == table.snapshot:
                return position
        return None


@dataclass(frozen=True, slots=True)
class BitmapList:
    """The persistent bitmaps; each stands for its table."""

    bitmaps: Sequence[BitmapEntry]

    def __len__(self) -> int:
        return len(self.bitmaps)

    def node(self, position: int) -> Node:
        """A node for one bitmap."""
        found = self.bitmaps[position]
        title = translate("tree", "Table of “{name}”").format(name=found.name)
        selection = Selection(StructureKey.BITMAP_TABLE, None, found.index)
        return Node(title, f"{found.bitmap_table_size:,}", selection)

    def group_title(self, first: int, last: int) -> str:
        """The numbers of the first and the last one."""
        return _numbers_text(self.bitmaps[first].index, self.bitmaps[last - 1].index)

    def find(self, table: Selection) -> int | None:
        """The position of the bitmap that the table is part of."""
        for position, found in enumerate(self.bitmaps):
            if found.index == table.part:
                return position
        return None


def _numbers_text(first: int, last: int) -> str:
    return translate("tree", "Number {first} to {last}").format(
        first=f"{first:,}", last=f"{last:,}"
    )


def image_nodes(report: ImageReport, structures: Sequence[Structure]) -> list[Node]:
    """The top of the tree: every structure that the image has, and its tables of entries."""
    front = (StructureKey.HEADER, StructureKey.FEATURES, StructureKey.EXTENSIONS)
    nodes = [_structure_node(report, found) for found in structures if found.key in front]
    nodes += _table_nodes(report)
    nodes += [_structure_node(report, found) for found in structures if found.key not in front]
    for row, node in enumerate(nodes):
        node.row = row
    return nodes


def _structure_node(report: ImageReport, structure: Structure) -> Node:
    node = Node(structure.title, structure.note, Selection(structure.key))
    if report.header.geometry is None:
        return node
    if structure.key is StructureKey.SNAPSHOTS:
        return Node.over(node, SnapshotList(report.snapshots))
    if structure.key is StructureKey.BITMAPS:
        return Node.over(node, BitmapList(report.bitmaps))
    return node


def _table_nodes(report: ImageReport) -> list[Node]:
    places = EntryPlaces(report, lambda _offset, _length: None)
    titles = {
        StructureKey.L1: translate("tree", "L1 table"),
        StructureKey.REFCOUNT_TABLE: translate("tree", "Refcount table"),
    }
    nodes = []
    for key, title in titles.items():
        place = places.table_place(Selection(key))
        if place is not None:
            note = count_text(place.entries, "entry", "entries")
            node = Node(title, note, Selection(key), pointers=place.entries > 0)
            node.host_offset = place.host_offset
            nodes.append(node)
    return nodes


def find_node(
    nodes: Sequence[Node], selection: Selection, make_children: Callable[[Node], object]
) -> Node | None:
    """The node that stands for `selection`, or the nearest one above it that is there yet.

    Args:
        nodes: The top of the tree.
        selection: A table or a structure, or something in it.
        make_children: Called for each node on the way. A table that was not read yet has none.
    """
    table = selection.table
    node = _top_node(nodes, table)
    while node is not None and node.selection != table:
        make_children(node)
        child = node.child_with(table)
        if child is None:
            break
        node = child
    return node


def parent_of(table: Selection) -> Selection | None:
    """The table or structure whose entry names `table`; None for what is at the top."""
    match table.structure:
        case StructureKey.L2:
            return Selection(StructureKey.L1, snapshot=table.snapshot)
        case StructureKey.L1 if table.snapshot is not None:
            return Selection(StructureKey.SNAPSHOTS)
        case StructureKey.REFCOUNT_BLOCK:
            return Selection(StructureKey.REFCOUNT_TABLE)
        case StructureKey.BITMAP_TABLE:
            return Selection(StructureKey.BITMAPS)
        case _:
            return None


def _top_node(nodes: Sequence[Node], table: Selection) -> Node | None:
    top = table
    while (above := parent_of(top)) is not None:
        top = above
    return next((node for node in nodes if node.selection == top), None)
