"""What the values of each colour mode stand for, and how numbers become such values.

Knows no widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from qcowgui.check.cells import Cells
from qcowgui.gui.heatmap.layers import ColourMode, Key
from qcowgui.report.palette import named_colour, ramp
from qcowgui.units import GIB, MIB

translate = QCoreApplication.translate

Numbers = npt.NDArray[Any]

EMPTY: Final = 1
"""In the scales of sizes, distances and content: there is nothing to measure."""

_COUNT_EDGES: Final = (1, 2, 3, 4, 8, 16, 256)
UNREADABLE: Final = len(_COUNT_EDGES) + 2
"""In the scale of stored refcounts: the count can't be read."""

_DISTANCE_EDGES: Final = (1, MIB, 16 * MIB, 256 * MIB, 4 * GIB)
_SHARES: Final = 8

EQUAL_FREE, EQUAL_USED, HIGH_BY_ONE, HIGH_BY_MORE, LOW, ZERO_BUT_USED = range(1, 7)
"""Values of the difference between the stored and the computed refcount."""
ACTIVE_ONLY, SHARED, SNAPSHOT_ONLY = range(2, 5)
"""Values of snapshot sharing."""
SAYS_ZERO, HOLDS_BYTES = range(2, 4)
"""Values of zero content."""
FITS, REMAINS, LIKE_TABLE, LOST_TABLE, NO_TABLE = range(2, 7)
"""Values of content against the role."""
NOWHERE: Final = 1
"""In the scale of layers: no layer holds it."""
MAX_DEPTH: Final = 6
"""Layers that have a colour of their own; deeper ones share the last."""


def count_values(counts: Numbers) -> Cells:
    """The values of refcounts."""
    edges = np.array(_COUNT_EDGES, dtype=counts.dtype)
    return (np.searchsorted(edges, counts, side="right") + 1).astype(np.uint8)


def difference_values(stored: Numbers, computed: Numbers, refcount_max: int) -> Cells:
    """The values of the difference; more references than a refcount can hold are not its fault."""
    found = stored.astype(np.uint64)
    expected = np.minimum(computed.astype(np.uint64), np.uint64(refcount_max))
    values = np.where(expected > 0, EQUAL_USED, EQUAL_FREE).astype(np.uint8)
    high, low = found > expected, found < expected
    values[high] = np.where((found - expected)[high] == 1, HIGH_BY_ONE, HIGH_BY_MORE)
    values[low] = np.where(found[low] > 0, LOW, ZERO_BUT_USED)
    return values


def share_values(parts: Numbers, whole: int) -> Cells:
    """The values of sizes up to `whole`, by eighths; `EMPTY` for none."""
    eighths = -(-np.minimum(parts, whole).astype(np.int64) * _SHARES // whole)
    return (eighths + EMPTY).astype(np.uint8)


def distance_values(distances: Numbers) -> Cells:
    """The values of distances in bytes: 0 follows directly."""
    edges = np.array(_DISTANCE_EDGES, dtype=np.int64)
    return (np.searchsorted(edges, distances, side="right") + EMPTY + 1).astype(np.uint8)


def keys_of(mode: ColourMode) -> tuple[Key, ...]:
    """What the values of a mode other than STATE stand for."""
    return _MAKERS[mode]()


def _count_keys(*, stored: bool) -> tuple[Key, ...]:
    says = (
        translate("heatmap", "The image counts {text} for it.")
        if stored
        else translate("heatmap", "{text} were found that lead to it.")
    )
    names = ["0", "1", "2", "3", "4 – 7", "8 – 15", "16 – 255", "256 +"]
    texts = [
        translate("heatmap", "1 reference")
        if name == "1"
        else translate("heatmap", "{count} references").format(count=name)
        for name in names
    ]
    keys = _ramped(names, [says.format(text=text) for text in texts], first=1)
    if not stored:
        return keys
    meaning = translate("heatmap", "Its refcount block can’t be read.")
    lost = Key(
        UNREADABLE, translate("heatmap", "unreadable"), meaning, named_colour("contested"), True
    )
    return (*keys, lost)


def _difference_keys() -> tuple[Key, ...]:
    def key(value: int, name: str, meaning: str, colour: str) -> Key:
        return Key(value, name, meaning, named_colour(colour), value > EQUAL_USED)

    return (
        key(
            EQUAL_FREE,
            translate("heatmap", "equal: free"),
            translate("heatmap", "Nothing uses it, and it counts as free."),
            "free",
        ),
        key(
            EQUAL_USED,
            translate("heatmap", "equal: used"),
            translate("heatmap", "The stored refcount is the number of references."),
            "data",
        ),
        key(
            HIGH_BY_ONE,
            translate("heatmap", "1 too high"),
            translate("heatmap", "One reference less than counted: wasted space."),
            "leaked",
        ),
        key(
            HIGH_BY_MORE,
            translate("heatmap", "2 or more too high"),
            translate("heatmap", "Several references less than counted: wasted space."),
            "refcount-high",
        ),
        key(
            LOW,
            translate("heatmap", "too low"),
            translate("heatmap", "More references than counted: it may be set free too early."),
            "refcount-low",
        ),
        key(
            ZERO_BUT_USED,
            translate("heatmap", "0, but used"),
            translate("heatmap", "Counts as free while in use: the next write may overwrite it."),
            "used-but-free",
        ),
    )


def _size_keys() -> tuple[Key, ...]:
    names = [f"≤ {round(100 * step / _SHARES)} %" for step in range(1, _SHARES + 1)]
    text = translate("heatmap", "Compressed bytes take {share} of a cluster.")
    return (
        _empty_key(
            translate("heatmap", "not compressed"),
            translate("heatmap", "No compressed guest cluster is stored here."),
        ),
        *_ramped(names, [text.format(share=name) for name in names], first=EMPTY + 1),
    )


def _distance_keys() -> tuple[Key, ...]:
    names = [
        translate("heatmap", "follows"),
        "< 1 MiB",
        "< 16 MiB",
        "< 256 MiB",
        "< 4 GiB",
        "≥ 4 GiB",
    ]
    meanings = [
        translate("heatmap", "Lies where the guest cluster before it ends: read in one go.")
    ]
    text = translate("heatmap", "{distance} away from the end of the guest cluster before it.")
    meanings += [text.format(distance=name) for name in names[1:]]
    return (
        _empty_key(
            translate("heatmap", "no guest data"),
            translate("heatmap", "Holds nothing of the active disk."),
        ),
        *_ramped(names, meanings, first=EMPTY + 1),
    )


def _sharing_keys() -> tuple[Key, ...]:
    return (
        _empty_key(
            translate("heatmap", "no guest data"),
            translate("heatmap", "Holds nothing of any disk: metadata, or free."),
        ),
        Key(
            ACTIVE_ONLY,
            translate("heatmap", "active disk only"),
            translate("heatmap", "Deleting snapshots would not touch it."),
            named_colour("data"),
        ),
        Key(
            SHARED,
            translate("heatmap", "shared"),
            translate("heatmap", "The active disk and a snapshot have it in common."),
            named_colour("active-l2"),
        ),
        Key(
            SNAPSHOT_ONLY,
            translate("heatmap", "snapshots only"),
            translate("heatmap", "Deleting the snapshots that use it would set it free."),
            named_colour("snapshot-only"),
        ),
    )


def _chain_keys() -> tuple[Key, ...]:
    names = [translate("heatmap", "this image")]
    names += [translate("heatmap", "layer {depth}").format(depth=n) for n in range(1, MAX_DEPTH)]
    names[-1] += " +"
    text = translate("heatmap", "Decided by {layer} of the backing chain.")
    return (
        _empty_key(
            translate("heatmap", "nowhere"),
            translate("heatmap", "No layer holds it: it reads as zeros."),
        ),
        *_ramped(names, [text.format(layer=name) for name in names], first=NOWHERE + 1),
    )


def _entropy_keys() -> tuple[Key, ...]:
    names = [f"< {step} bit" for step in range(1, _SHARES)] + ["≤ 8 bit"]
    text = translate("heatmap", "A byte of the sample says {bits}; random data says 8.")
    return (
        _empty_key(
            translate("heatmap", "not read"),
            translate("heatmap", "Free, or behind the end of the file."),
        ),
        *_ramped(names, [text.format(bits=name) for name in names], first=EMPTY + 1),
    )


def _zeros_keys() -> tuple[Key, ...]:
    return (
        _entropy_keys()[0],
        Key(
            SAYS_ZERO,
            translate("heatmap", "zeros"),
            translate("heatmap", "The bytes that were sampled are all zero."),
            named_colour("zero"),
        ),
        Key(
            HOLDS_BYTES,
            translate("heatmap", "other bytes"),
            translate("heatmap", "The sample holds other bytes than zero."),
            named_colour("compressed"),
        ),
    )


def _content_keys() -> tuple[Key, ...]:
    return (
        _entropy_keys()[0],
        Key(
            FITS,
            translate("heatmap", "nothing unusual"),
            translate("heatmap", "Its content may be what it is said to be."),
            named_colour("data"),
        ),
        Key(
            REMAINS,
            translate("heatmap", "remains"),
            translate("heatmap", "Nothing refers to it, but it still holds bytes."),
            named_colour("snapshot-only"),
        ),
        Key(
            LIKE_TABLE,
            translate("heatmap", "data like a table"),
            translate("heatmap", "Guest data that looks like a table of an image."),
            named_colour("active-l2"),
        ),
        Key(
            LOST_TABLE,
            translate("heatmap", "maybe a lost table"),
            translate("heatmap", "Nothing refers to it, but it looks like an L2 table."),
            named_colour("leaked"),
            True,
        ),
        Key(
            NO_TABLE,
            translate("heatmap", "not what it should be"),
            translate("heatmap", "Said to be a table, but its content is something else."),
            named_colour("contested"),
            True,
        ),
    )


def _empty_key(name: str, meaning: str) -> Key:
    return Key(EMPTY, name, meaning, named_colour("free"))


def _ramped(names: Sequence[str], meanings: Sequence[str], *, first: int) -> tuple[Key, ...]:
    colours = ramp(len(names))
    return tuple(
        Key(first + index, name, meaning, colours[index])
        for index, (name, meaning) in enumerate(zip(names, meanings, strict=True))
    )


_MAKERS: Final = {
    ColourMode.REFCOUNT_STORED: lambda: _count_keys(stored=True),
    ColourMode.REFCOUNT_COMPUTED: lambda: _count_keys(stored=False),
    ColourMode.REFCOUNT_DIFFERENCE: _difference_keys,
    ColourMode.COMPRESSED_SIZE: _size_keys,
    ColourMode.FRAGMENTATION: _distance_keys,
    ColourMode.SHARING: _sharing_keys,
    ColourMode.CHAIN: _chain_keys,
    ColourMode.ENTROPY: _entropy_keys,
    ColourMode.ZEROS: _zeros_keys,
    ColourMode.CONTENT: _content_keys,
}
