"""The colours of overlays with what they mean, and what an overlay amounts to. Knows no widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.differences import Difference, Differences
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.snapshots import Snapshot
from qcowgui.gui.heatmap.layers import Key, MapLayer
from qcowgui.gui.translation import count_text
from qcowgui.image.bitmap_bits import Mark
from qcowgui.image.snapshot_sharing import Sharing
from qcowgui.report.palette import named_colour
from qcowgui.units import format_size

translate = QCoreApplication.translate


def _key(value: int, name: str, meaning: str, colour: str, *, fault: bool = False) -> Key:
    return Key(value, name, meaning, named_colour(colour), fault)


def difference_keys(left: str, right: str) -> tuple[Key, ...]:
    """What the states of a comparison mean; `left` and `right` are what the images are called."""
    return (
        _key(
            Difference.SAME,
            translate("overlays", "the same"),
            translate("overlays", "A guest reads the same bytes from both."),
            "free",
        ),
        _key(
            Difference.UNKNOWN,
            translate("overlays", "can’t be read"),
            translate("overlays", "One of the two is damaged here: nobody can say."),
            "snapshot-only",
        ),
        _key(
            Difference.LEFT_ONLY,
            translate("overlays", "only in {name}").format(name=left),
            translate("overlays", "The other one reads as zeros."),
            "compressed",
            fault=True,
        ),
        _key(
            Difference.RIGHT_ONLY,
            translate("overlays", "only in {name}").format(name=right),
            translate("overlays", "This image reads as zeros."),
            "leaked",
            fault=True,
        ),
        _key(
            Difference.BOTH,
            translate("overlays", "different"),
            translate("overlays", "Both have data here, and not the same."),
            "contested",
            fault=True,
        ),
    )


def sharing_keys() -> tuple[Key, ...]:
    """What the states of a snapshot mean."""
    return (
        _key(
            Sharing.NEITHER,
            translate("overlays", "in neither"),
            translate("overlays", "Neither the snapshot nor the active disk stores anything."),
            "free",
        ),
        _key(
            Sharing.SAME,
            translate("overlays", "shared"),
            translate("overlays", "The active disk has the same mapping: unchanged since."),
            "data",
        ),
        _key(
            Sharing.ACTIVE_ONLY,
            translate("overlays", "written since"),
            translate("overlays", "The active disk has an entry; the snapshot stores nothing."),
            "active-l2",
        ),
        _key(
            Sharing.KEPT_ELSEWHERE,
            translate("overlays", "changed, kept by others"),
            translate("overlays", "A further snapshot leads to the old data, too."),
            "snapshot-only",
        ),
        _key(
            Sharing.ONLY_HERE,
            translate("overlays", "only in this snapshot"),
            translate("overlays", "No other disk leads to it: deleting the snapshot frees it."),
            "leaked",
        ),
        _key(
            Sharing.UNREADABLE,
            translate("overlays", "can’t be told"),
            translate("overlays", "A table is missing, or an entry contradicts the format."),
            "contested",
            fault=True,
        ),
    )


def mark_keys() -> tuple[Key, ...]:
    """What the states of a bitmap mean."""
    return (
        _key(
            Mark.CLEAN,
            translate("overlays", "clean"),
            translate("overlays", "No bit is set: not written since the bitmap was cleared."),
            "free",
        ),
        _key(
            Mark.DIRTY,
            translate("overlays", "dirty"),
            translate("overlays", "A bit is set: an incremental backup would copy it."),
            "active-l2",
        ),
        _key(
            Mark.UNKNOWN,
            translate("overlays", "bits can’t be read"),
            translate("overlays", "The bitmap’s table or its cluster is damaged or cut off."),
            "contested",
            fault=True,
        ),
    )


def _amount(layer: MapLayer, *values: int) -> tuple[int, str]:
    """(clusters, "3 clusters (192 KiB)") of values."""
    found = layer.tally()
    clusters = sum(found[value].clusters for value in values if value in found)
    size = sum(found[value].bytes for value in values if value in found)
    return clusters, f"{count_text(clusters, 'cluster')} ({format_size(size)})"


def difference_sentence(found: Differences, layer: MapLayer) -> str:
    """What a comparison came to."""
    d = Difference
    count, differing = _amount(layer, d.LEFT_ONLY, d.RIGHT_ONLY, d.BOTH)
    unread, unknown = _amount(layer, d.UNKNOWN)
    if count:
        text = translate("overlays", "{amount} differ in what a guest reads.").format(
            amount=differing
        )
    elif unread:
        text = translate("overlays", "What can be read of both is the same.")
    else:
        text = translate("overlays", "A guest reads the same from both.")
    parts = [text]
    if unread:
        parts.append(
            translate("overlays", "{amount} can’t be read in one of them.").format(amount=unknown)
        )
    if found.left_bytes != found.right_bytes:
        sizes = translate("overlays", "The disks are {left} and {right} large.")
        parts.append(
            sizes.format(left=format_size(found.left_bytes), right=format_size(found.right_bytes))
        )
    return " ".join(parts)


def snapshot_sentence(snapshot: Snapshot, layer: MapLayer) -> str:
    """How far a snapshot is from the active disk."""
    alone = _amount(layer, Sharing.ONLY_HERE)[1]
    changed = _amount(layer, Sharing.ACTIVE_ONLY, Sharing.KEPT_ELSEWHERE, Sharing.ONLY_HERE)[1]
    return translate(
        "overlays",
        "Snapshot “{name}”: {changed} of the guest’s disk have another mapping now; {alone} are"
        " held by this snapshot only.",
    ).format(name=snapshot.name, changed=changed, alone=alone)


def bitmap_sentence(bitmap: BitmapEntry, layer: MapLayer) -> str:
    """How much a bitmap marks."""
    dirty = _amount(layer, Mark.DIRTY)[1]
    text = translate("overlays", "Bitmap “{name}” marks {amount}.").format(
        name=bitmap.name, amount=dirty
    )
    if bitmap.in_use:
        text += " " + translate(
            "overlays", "It was not saved cleanly (in use): QEMU does not trust its bits."
        )
    return text
