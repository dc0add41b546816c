"""What may be typed into "Go to", taken apart. Knows neither an image nor widgets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NoReturn

from PySide6.QtCore import QCoreApplication

from qcowgui.errors import UsageError
from qcowgui.units import parse_size

translate = QCoreApplication.translate


class PlaceKind(Enum):
    """What a number in "Go to" counts."""

    HOST = auto()
    """Bytes of the image file."""
    GUEST = auto()
    """Bytes of the guest's disk."""
    CLUSTER = auto()
    """Clusters of the image file."""
    GUEST_CLUSTER = auto()
    """Clusters of the guest's disk."""
    L1 = auto()
    """Entries of the L1 table; with a second number those of the L2 table it names."""
    REFCOUNT = auto()
    """Clusters of the image file, whose refcount is meant."""


@dataclass(frozen=True, slots=True)
class Place:
    """What somebody wants to go to; whether an image has such a place is another matter.

    Attributes:
        kind: What `number` counts.
        number: An offset in bytes or an index.
        l2_index: Of L1: the entry of the L2 table, or None.
        snapshot: Of GUEST, GUEST_CLUSTER and L1: index of the snapshot; None for the active disk.
    """

    kind: PlaceKind
    number: int
    l2_index: int | None = None
    snapshot: int | None = None


_NUMBER: Final = r"(0x[0-9a-f_]+|[0-9][0-9_,]*)"
_SNAPSHOT = re.compile(r"snapshot\s*#?\s*(\d+)\s*[:/ ]\s*(.+)")
_L1 = re.compile(rf"l1\s*\[\s*{_NUMBER}\s*\]\s*(?:/?\s*l2\s*\[\s*{_NUMBER}\s*\])?")
_PREFIXED = re.compile(r"(guest\s+cluster|guest|host|cluster|refcount|#)\s*[:#= ]*\s*(.+)")
_KINDS: Final = {
    "guest": PlaceKind.GUEST,
    "guest cluster": PlaceKind.GUEST_CLUSTER,
    "host": PlaceKind.HOST,
    "cluster": PlaceKind.CLUSTER,
    "#": PlaceKind.CLUSTER,
    "refcount": PlaceKind.REFCOUNT,
}
_OF_A_DISK: Final = (PlaceKind.GUEST, PlaceKind.GUEST_CLUSTER, PlaceKind.L1)
_IN_BYTES: Final = (PlaceKind.HOST, PlaceKind.GUEST)
_MAX_NUMBER: Final = 1 << 64
_MAX_CHARS: Final = 100


def parse_place(text: str) -> Place:
    """What `text` means: a host offset, or a place with a word in front of it.

    Raises:
        UsageError: When it means nothing; the message is a sentence for a person.
    """
    wanted = " ".join(text.split()).lower()
    if len(wanted) > _MAX_CHARS:
        _refuse(f"{text[:_MAX_CHARS]}…")
    snapshot = None
    if match := _SNAPSHOT.fullmatch(wanted):
        snapshot, wanted = int(match[1]), match[2]
    place = _parse(wanted, text)
    if snapshot is None:
        return place
    if place.kind not in _OF_A_DISK:
        raise UsageError(
            translate("go_to", "Only guest offsets and L1 entries belong to one snapshot.")
        )
    return Place(place.kind, place.number, place.l2_index, snapshot)


def _parse(wanted: str, text: str) -> Place:
    if match := _L1.fullmatch(wanted):
        l2_index = None if match[2] is None else _number(match[2], text)
        return Place(PlaceKind.L1, _number(match[1], text), l2_index)
    kind = PlaceKind.HOST
    if match := _PREFIXED.fullmatch(wanted):
        kind, wanted = _KINDS[match[1]], match[2]
    return Place(kind, _number(wanted, text, with_unit=kind in _IN_BYTES))


def _number(wanted: str, text: str, *, with_unit: bool = False) -> int:
    plain = wanted.replace("_", "").replace(",", "")
    try:
        if plain.startswith("0x"):
            number = int(plain, 16)
        elif with_unit:
            number = parse_size(plain)
        else:
            number = int(plain)
    except ValueError:
        _refuse(text)
    if number < 0 or number >= _MAX_NUMBER:
        raise UsageError(
            translate("go_to", "{number} does not fit into 64 bits.").format(number=wanted)
        )
    return number


def _refuse(text: str) -> NoReturn:
    if not text.strip():
        raise UsageError(
            translate("go_to", "Type where to go, for example 0x30000 or L1[3]/L2[17].")
        )
    raise UsageError(
        translate("go_to", "“{text}” is no place in an image.").format(text=text.strip()),
        hint=translate(
            "go_to",
            "Examples: 0x30000, 192k, guest:5G, cluster 17, L1[3], L1[3]/L2[17], refcount 17.",
        ),
    )
