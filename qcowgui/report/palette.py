"""The colours of the map's states and scales, from the resources. Knows no widgets."""

from __future__ import annotations

import json
from functools import cache
from typing import Final, NamedTuple

from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.resources import resource_path

_HOST_NAMES: Final = {
    ClusterState.FREE: "free",
    ClusterState.DATA: "data",
    ClusterState.ZERO_ALLOC: "zero-allocated",
    ClusterState.COMPRESSED: "compressed",
    ClusterState.SNAPSHOT_DATA: "snapshot-only",
    ClusterState.BITMAP_DATA: "bitmap-data",
    ClusterState.BITMAP_METADATA: "bitmap-metadata",
    ClusterState.ENCRYPTION_HEADER: "encryption-header",
    ClusterState.SNAPSHOT_TABLE: "snapshot-table",
    ClusterState.SNAPSHOT_L2: "snapshot-l2",
    ClusterState.SNAPSHOT_L1: "snapshot-l1",
    ClusterState.ACTIVE_L2: "active-l2",
    ClusterState.ACTIVE_L1: "active-l1",
    ClusterState.REFCOUNT_BLOCK: "refcount-block",
    ClusterState.REFCOUNT_TABLE: "refcount-table",
    ClusterState.HEADER: "header",
    ClusterState.LEAKED: "leaked",
    ClusterState.REFCOUNT_HIGH: "refcount-high",
    ClusterState.REFCOUNT_LOW: "refcount-low",
    ClusterState.COUNTED_FREE: "used-but-free",
    ClusterState.BEYOND_EOF: "beyond-end",
    ClusterState.CONTESTED: "contested",
}
_GUEST_NAMES: Final = {
    GuestState.UNALLOCATED: "free",
    GuestState.BACKING: "backing",
    GuestState.ZERO: "zero",
    GuestState.ZERO_ALLOC: "zero-allocated",
    GuestState.DATA: "data",
    GuestState.MIXED: "mixed",
    GuestState.COMPRESSED: "compressed",
    GuestState.BEYOND_EOF: "beyond-end",
    GuestState.MISSING: "used-but-free",
    GuestState.INVALID: "contested",
}


_FAULTS: Final = frozenset(
    ("leaked", "contested", "used-but-free", "beyond-end", "refcount-high", "refcount-low")
)


class _Palette:
    """Which palette is in use: one for the application, as there is one theme."""

    only_faults = False


class Colour(NamedTuple):
    """A colour in both themes, as #rrggbb.

    Attributes:
        light: In the light theme.
        dark: In the dark one.
        kept: Whether it stays a colour where only what is wrong has one.
    """

    light: str
    dark: str
    kept: bool = True

    def of(self, *, dark: bool) -> str:
        """The one of a theme, in the palette that is in use."""
        colour = self.dark if dark else self.light
        return grey_of(colour) if _Palette.only_faults and not self.kept else colour


def colour_only_faults(wanted: bool) -> None:
    """Show all states but faults in greys that are as bright as their colours, or all in colour."""
    _Palette.only_faults = wanted


def host_colour(state: ClusterState) -> Colour:
    """The colour of a host cluster's state; OUTSIDE has none.

    Raises:
        KeyError: For OUTSIDE.
    """
    return named_colour(_HOST_NAMES[state])


def guest_colour(state: GuestState) -> Colour:
    """The colour of a guest cluster's state; OUTSIDE has none.

    Raises:
        KeyError: For OUTSIDE.
    """
    return named_colour(_GUEST_NAMES[state])


def named_colour(name: str) -> Colour:
    """A colour by its name in the resources.

    Raises:
        KeyError: When no colour is called so.
    """
    return _colours()[name]


def ramp(steps: int) -> tuple[Colour, ...]:
    """Colours for a quantity in so many steps, from calm to strong, their luminance monotonous."""
    light, dark = (_ramp(anchors, steps) for anchors in _anchors())
    return tuple(Colour(*pair, kept=False) for pair in zip(light, dark, strict=True))


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, 0 to 1, as WCAG defines it."""
    channels = [value / 255 for value in bytes.fromhex(colour[1:])]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def grey_of(colour: str) -> str:
    """The grey that is as bright as a colour: their luminance is the same."""
    linear = luminance(colour)
    value = linear * 12.92 if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return "#" + bytes([round(value * 255)] * 3).hex()


def hatch_of(colour: str) -> str:
    """What stripes on `colour` are drawn with: dark on bright ones, bright on dark ones."""
    return _mixed(colour, "#000000" if luminance(colour) > 0.18 else "#ffffff", 0.62)


def _ramp(anchors: list[str], steps: int) -> list[str]:
    if steps == 1:
        return [anchors[-1]]
    colours = []
    for step in range(steps):
        position = step * (len(anchors) - 1) / (steps - 1)
        index = min(int(position), len(anchors) - 2)
        colours.append(_mixed(anchors[index], anchors[index + 1], position - index))
    return colours


def _mixed(one: str, other: str, share: float) -> str:
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


@cache
def _colours() -> dict[str, Colour]:
    content = json.loads(resource_path("colours.json").read_text("utf-8"))
    entries = {**content["roles"], **content["states"]}
    return {
        name: Colour(pair["light"], pair["dark"], kept=name in _FAULTS)
        for name, pair in entries.items()
    }


@cache
def _anchors() -> tuple[list[str], list[str]]:
    content = json.loads(resource_path("colours.json").read_text("utf-8"))
    found = content["ramps"]["calm-to-strong"]
    return found["light"], found["dark"]
