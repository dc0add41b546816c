"""What a repair leaves alone, why, and what the user can do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qcowgui.check.checker import CheckReport
from qcowgui.check.collector import FindingGroup
from qcowgui.check.wording import guest_ranges_text
from qcowgui.format.finding import CODES, Refusal, Severity
from qcowgui.units import format_count

HANDS_OFF: Final = frozenset({"clusters-above-limit", "extension-legacy-compression"})
"""Where these are found nothing is repaired, and neither where guest data can't be mapped at all:
what the metadata means can't be told then."""

TABLES_LOST_HINTS: Final = frozenset(
    {
        "lost-l2-table",
        "wiped-l1",
        "emptied-l2-table",
        "emptied-snapshot-table",
        "leaks-in-one-window",
        "concurrent-writers",
        "zero-tail",
        "truncated-file",
        "overwritten",
        "kept-by-repair",
    }
)
"""Hints that the user has to read before a repair."""

_CUT: Final = (
    "the bytes are not in the file: copy it again; `qcowgui salvage` or `qcowgui convert "
    "--salvage` writes what is left"
)
_GUESS: Final = (
    "where its data lies can't be told: `qcowgui salvage` looks for it, `qcowgui convert "
    "--salvage` writes what can be read"
)
_OVERWRITTEN: Final = (
    "the entries are gone, and none is made up: `qcowgui salvage` looks for an older table, and "
    "lists the clusters that no table names; `qcowgui convert --salvage` writes what can be read"
)
_CONTESTED: Final = (
    "whose the bytes are can't be told: `qcowgui convert --salvage` writes what each of them reads"
)
_PAYLOAD: Final = (
    "the compressed data itself is damaged: `qcowgui convert --salvage` writes all the rest"
)
_SNAPSHOT: Final = "delete the snapshot with `qemu-img snapshot -d` if it is not needed"
_BITMAP: Final = "remove the bitmap with `qemu-img bitmap --remove`; the next backup is a full one"
_WITHOUT_QEMU: Final[dict[str, str]] = {
    _SNAPSHOT: "QEMU can't open the image to delete the snapshot: `qcowgui convert` writes the "
    "disk as it is now, without snapshots",
    _BITMAP: "QEMU can't open the image to remove the bitmap: `qcowgui convert` writes the disk "
    "without bitmaps; the next backup is a full one",
}
"""Instead of advice that needs QEMU, where that refuses the image."""
_HEADER: Final = "what the header should say can't be told; `qcowgui salvage` guesses it"

_ADVICE: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            "l1-truncated",
            "l2-table-beyond-eof",
            "l2-truncated",
            "data-beyond-eof",
            "data-truncated",
            "compressed-beyond-eof",
            "compressed-missing",
            "compressed-truncated",
            "file-shorter-than-image",
            "metadata-beyond-eof",
        ),
        _CUT,
    ),
    **dict.fromkeys(
        (
            "l2-offset-unaligned",
            "data-cluster-unaligned",
            "zero-cluster-unaligned",
            "data-at-header",
            "compressed-offset-high",
            "compressed-with-data-file",
            "data-file-offset",
        ),
        _GUESS,
    ),
    "zero-flag-v2": "whether the cluster is its data or was to be zeros can't be told: `qcowgui "
    "convert --salvage` writes zeros there, and all the rest",
    **dict.fromkeys(("l1-overwritten", "l2-overwritten"), _OVERWRITTEN),
    **dict.fromkeys(("owner-conflict", "structure-overlap"), _CONTESTED),
    **dict.fromkeys(("payload-damaged", "payload-short", "payload-other-type"), _PAYLOAD),
    **dict.fromkeys(
        (
            "snapshot-l1",
            "snapshot-duplicate",
            "snapshot-extra-data",
            "snapshots-with-data-file",
        ),
        _SNAPSHOT,
    ),
    "snapshot-count": "how many snapshots there are can't be told",
    "snapshot-table-truncated": "if the file is complete, the table or its number of snapshots "
    "was overwritten; else copy it again",
    "snapshot-table-offset": "where the snapshots are can't be told; the disk itself is not "
    "affected",
    "snapshot-table-too-large": "where the snapshots end can't be told; the disk itself is not "
    "affected",
    **dict.fromkeys(
        (
            "bitmaps-extension",
            "bitmap-directory",
            "bitmap-table",
            "bitmap-flags",
            "bitmap-type",
            "bitmap-granularity",
            "bitmap-extra-data",
            "bitmap-name",
            "bitmap-data-beyond-eof",
        ),
        _BITMAP,
    ),
    **dict.fromkeys(
        (
            "header-truncated",
            "header-version",
            "header-cluster-bits",
            "header-length",
            "header-refcount-order",
            "header-virtual-size",
            "l1-too-small",
            "header-crypt-method",
            "backing-name-location",
            "backing-name-length",
            "compression-type-bit",
            "compression-type-unknown",
            "extension-overlong",
            "extension-unterminated",
            "extension-truncated",
            "l1-too-large",
            "l1-offset",
        ),
        _HEADER,
    ),
    "data-file-missing-name": "give the image the name of its data file with `qemu-img amend`",
    "unknown-incompatible": "a program that knows this feature has to repair the image",
    "clusters-above-limit": "neither this program nor QEMU can count so many",
    "references-above-maximum": "version 2 has no wider refcounts: convert the image",
    "dirty": "the bit stays until the metadata is consistent",
    "corrupt": "the bit stays until the metadata is consistent",
}


def iter_remaining(after: CheckReport) -> Iterator[str]:
    """A sentence for each kind of finding that needs the user and that the repair leaves."""
    for group in after.groups:
        refused = any(finding.refusal is not Refusal.NONE for finding in group.first)
        if refused or group.severity >= Severity.CORRUPTION:
            yield remaining_sentence(group, opens_in_qemu=not after.image.refusals)


def remaining_sentence(group: FindingGroup, *, opens_in_qemu: bool) -> str:
    """What is left of a kind of finding, and what can be done.

    Args:
        group: The findings.
        opens_in_qemu: Whether QEMU opens the image.
    """
    times = f" ({format_count(group.count, 'time')})" if group.count > 1 else ""
    where = ""
    if group.guest_ranges.spans:
        where = f" {guest_ranges_text(group.guest_ranges)}:"
    advice = _ADVICE.get(group.code, "no repair of it is known")
    if not opens_in_qemu:
        advice = _WITHOUT_QEMU.get(advice, advice)
    return f"{group.code}{times}: {CODES[group.code].rstrip('.')};{where} {advice}."
