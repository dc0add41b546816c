"""Who owns a byte, as a colour and a word, by the state of its cluster. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from qcowgui.check import clustermap, guestmap
from qcowgui.check.cells import Cells, Description
from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.gui.translation import state_description
from qcowgui.report.palette import Colour, guest_colour, host_colour
from qcowgui.units import format_offset


class _Look(NamedTuple):
    """How a state is shown."""

    description: Description
    colour: Colour


_HOST: Final = {
    int(state): _Look(description, host_colour(state))
    for state, description in clustermap.DESCRIPTIONS.items()
    if state is not ClusterState.OUTSIDE
}
_GUEST: Final = {
    int(state): _Look(description, guest_colour(state))
    for state, description in guestmap.DESCRIPTIONS.items()
    if state is not GuestState.OUTSIDE
}


@dataclass(frozen=True, slots=True)
class Owner:
    """What is known of a byte.

    Attributes:
        cluster_index: Its cluster.
        state: The cluster's state, a number of ClusterState or GuestState.
        name: What people call that.
        meaning: A sentence about it.
        colour: The state's, in both themes.
    """

    cluster_index: int
    state: int
    name: str
    meaning: str
    colour: Colour


@dataclass(frozen=True, slots=True, eq=False)
class OwnerMap:
    """The states of the clusters of the file, or of the guest's disk.

    Attributes:
        cluster_bytes: Size of a cluster.
        states: A state for each of the first clusters.
        looks: How each state is shown; those that stand for nothing are left out.
    """

    cluster_bytes: int
    states: Cells
    looks: Mapping[int, _Look]

    @classmethod
    def of_file(cls, cluster_bytes: int, states: Cells) -> OwnerMap:
        """The owners of the file's bytes; `states` holds numbers of ClusterState."""
        return cls(cluster_bytes, states, _HOST)

    @classmethod
    def of_guest(cls, cluster_bytes: int, states: Cells) -> OwnerMap:
        """What the bytes of the guest's disk are; `states` holds numbers of GuestState."""
        return cls(cluster_bytes, states, _GUEST)

    def at(self, offset: int) -> Owner | None:
        """What the byte at `offset` belongs to, or None where no state is known."""
        index = offset // self.cluster_bytes
        if index >= len(self.states):
            return None
        state = int(self.states[index])
        look = self.looks.get(state)
        if look is None:
            return None
        said = state_description(look.description)
        return Owner(index, state, said.name, said.meaning, look.colour)

    def starts_cluster(self, offset: int, length: int) -> bool:
        """Whether a cluster begins in the `length` bytes from `offset` on."""
        return -offset % self.cluster_bytes < length


def hover_text(offset: int, owner: Owner | None, *, guest: bool) -> str:
    """One line about the byte below the pointer."""
    parts = [f"{'guest' if guest else 'host'} {format_offset(offset)}"]
    if owner is not None:
        parts += [f"{'guest ' if guest else ''}cluster {owner.cluster_index:,}", owner.name]
    return " · ".join(parts)
