"""A line of coloured cells: what a map shows, whatever it is coloured by. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np
from PySide6.QtCore import QCoreApplication

from qcowgui.check import clustermap, guestmap
from qcowgui.check.cells import Cells, Description, Tally, tally
from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.gui.translation import state_description
from qcowgui.report.palette import Colour, guest_colour, hatch_of, host_colour

translate = QCoreApplication.translate

NOTHING: Final = 0
"""The value where no cell is, and where its state is hidden."""
DIMMED: Final = 1
"""While a state is isolated: the value of all others."""
ISOLATED: Final = 2
"""While a state is isolated: its value."""
HATCHED: Final = 0x80
"""Set in the value of a pixel that belongs to a stripe or an outline."""
MAX_VALUE: Final = HATCHED - 1

_CHUNK_CELLS: Final = 1 << 18
"""Cells looked up at a time: numpy makes indices of 8 bytes of them."""


class Order(Enum):
    """Which clusters are the cells."""

    HOST = "host"
    GUEST = "guest"


class ColourMode(Enum):
    """What the cells are coloured by."""

    STATE = "state"
    REFCOUNT_STORED = "refcount-stored"
    REFCOUNT_COMPUTED = "refcount-computed"
    REFCOUNT_DIFFERENCE = "refcount-difference"
    COMPRESSED_SIZE = "compressed-size"
    FRAGMENTATION = "fragmentation"
    SHARING = "sharing"
    CHAIN = "chain"
    ENTROPY = "entropy"
    ZEROS = "zeros"
    CONTENT = "content"

    @property
    def orders(self) -> frozenset[Order]:
        """The orders it makes sense in."""
        return _ORDERS.get(self, frozenset({Order.HOST}))

    @property
    def reads_content(self) -> bool:
        """Whether it needs the bytes of the clusters: on demand only."""
        return self in (ColourMode.ENTROPY, ColourMode.ZEROS, ColourMode.CONTENT)

    @property
    def title(self) -> str:
        """Its name in a list."""
        return {
            ColourMode.STATE: translate("heatmap", "State"),
            ColourMode.REFCOUNT_STORED: translate("heatmap", "Refcount, stored"),
            ColourMode.REFCOUNT_COMPUTED: translate("heatmap", "Refcount, computed"),
            ColourMode.REFCOUNT_DIFFERENCE: translate("heatmap", "Refcount, difference"),
            ColourMode.COMPRESSED_SIZE: translate("heatmap", "Compressed size"),
            ColourMode.FRAGMENTATION: translate("heatmap", "Fragmentation"),
            ColourMode.SHARING: translate("heatmap", "Snapshot sharing"),
            ColourMode.CHAIN: translate("heatmap", "Layer of the chain"),
            ColourMode.ENTROPY: translate("heatmap", "Entropy (reads)"),
            ColourMode.ZEROS: translate("heatmap", "Zero content (reads)"),
            ColourMode.CONTENT: translate("heatmap", "Content against role (reads)"),
        }[self]


_BOTH: Final = frozenset(Order)
_ORDERS: Final = {
    ColourMode.STATE: _BOTH,
    ColourMode.COMPRESSED_SIZE: _BOTH,
    ColourMode.FRAGMENTATION: _BOTH,
    ColourMode.CHAIN: frozenset({Order.GUEST}),
}


@dataclass(frozen=True, slots=True)
class Key:
    """What a value of a cell stands for.

    Attributes:
        value: 1 to `MAX_VALUE`; the larger wins where several share a pixel.
        name: In the legend.
        meaning: A sentence.
        colour: Of the cell.
        fault: Whether it says that something is wrong: then a pattern says so, too.
    """

    value: int
    name: str
    meaning: str
    colour: Colour
    fault: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MapLayer:
    """A line of cells and what their values stand for.

    Attributes:
        order: Which clusters they are.
        mode: What they are coloured by.
        cells: uint8, one a cluster: the value of a key, or `NOTHING`. Not to be changed.
        keys: By rising value.
        cluster_bytes: Size of a cluster.
        end_bytes: Length of the file or the disk.
        first: The cluster of the first cell.
    """

    order: Order
    mode: ColourMode
    cells: Cells
    keys: tuple[Key, ...]
    cluster_bytes: int
    end_bytes: int
    first: int = 0

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def last(self) -> int:
        """End (exclusive) of the clusters."""
        return self.first + len(self.cells)

    def key(self, value: int) -> Key | None:
        """What a value stands for; None for `NOTHING`."""
        return next((key for key in self.keys if key.value == value), None)

    def value_of(self, cluster: int) -> int:
        """The value of a cluster's cell; `NOTHING` outside."""
        return int(self.cells[cluster - self.first]) if self.first <= cluster < self.last else 0

    def tally(self) -> dict[int, Tally]:
        """The clusters and bytes of each value that occurs."""
        return tally(self.cells, self.cluster_bytes, self.end_bytes, self.first)


@dataclass(frozen=True, slots=True)
class Shown:
    """Which values are shown.

    Attributes:
        isolated: The only one that stands out, or None.
        hidden: Those that are not shown at all.
    """

    isolated: int | None = None
    hidden: frozenset[int] = frozenset()

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.isolated is None and not self.hidden

    def applied(self, cells: Cells) -> Cells:
        """The cells to draw; `cells` itself when nothing is left out."""
        if self.is_everything:
            return cells
        table = np.arange(256, dtype=np.uint8)
        if self.isolated is not None:
            table[1:] = DIMMED
            table[self.isolated] = ISOLATED
        table[list(self.hidden)] = NOTHING
        applied = np.empty_like(cells)
        for start in range(0, len(cells), _CHUNK_CELLS):
            part = slice(start, start + _CHUNK_CELLS)
            applied[part] = table[cells[part]]
        return applied

    def drawn_faults(self, keys: Iterable[Key]) -> frozenset[int]:
        """The values of drawn cells that carry a pattern."""
        if self.isolated is None:
            return frozenset(key.value for key in keys if key.fault)
        faulty = any(key.fault and key.value == self.isolated for key in keys)
        return frozenset({ISOLATED}) if faulty else frozenset()

    def colours(
        self, keys: Iterable[Key], background: str, dimmed: str, *, dark: bool
    ) -> list[str]:
        """256 colours, by the value of a pixel."""
        table = [background] * 256
        for key in keys:
            colour = key.colour.of(dark=dark)
            value = key.value
            if self.isolated is not None:
                if value != self.isolated:
                    continue
                value = ISOLATED
            table[value] = colour
            table[value | HATCHED] = hatch_of(colour)
        if self.isolated is not None:
            table[DIMMED] = table[DIMMED | HATCHED] = dimmed
        return table


def _keys(
    descriptions: Iterable[tuple[int, Description, Colour, bool]],
) -> tuple[Key, ...]:
    return tuple(
        Key(value, text.name, text.meaning, colour, fault)
        for value, text, colour, fault in descriptions
    )


HOST_KEYS: Final = _keys(
    (int(state), clustermap.DESCRIPTIONS[state], host_colour(state), state.is_fault)
    for state in ClusterState
    if state is not ClusterState.OUTSIDE
)
GUEST_KEYS: Final = _keys(
    (int(state), guestmap.DESCRIPTIONS[state], guest_colour(state), state.is_fault)
    for state in GuestState
    if state is not GuestState.OUTSIDE
)


def state_keys(order: Order) -> tuple[Key, ...]:
    """The states by rising value, named in the window's language."""
    keys = HOST_KEYS if order is Order.HOST else GUEST_KEYS
    return tuple(
        replace(key, **state_description(Description(key.name, key.meaning))._asdict())
        for key in keys
    )


def state_layer(
    order: Order, states: Cells, *, cluster_bytes: int, end_bytes: int, first: int = 0
) -> MapLayer:
    """The layer of the clusters' states."""
    return MapLayer(
        order, ColourMode.STATE, states, state_keys(order), cluster_bytes, end_bytes, first
    )
