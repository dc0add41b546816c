"""What a finding about a compressed payload says. Spec: 1.9"""

from __future__ import annotations

from typing import Final

from qcowgui.check.entry_facts import EntryPlace, word_text
from qcowgui.check.payloads import PayloadKind, PayloadVerdict
from qcowgui.codec.registry import CompressionType
from qcowgui.format.entries import L2Entry
from qcowgui.format.finding import Finding, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.units import format_count, format_offset

_UNREADABLE: Final = "can't be read"
_CONSEQUENCES: Final = {
    PayloadKind.SECTORS_LONG: "reads as it should",
    PayloadKind.UNENDED: "reads without an error, but what comes out is probably wrong",
    PayloadKind.PRERELEASE: "can be read here, but not by QEMU",
    PayloadKind.SECTORS_SHORT: "can't be read as it stands, though all of it is there",
}
_SECTOR_KINDS: Final = (PayloadKind.SECTORS_LONG, PayloadKind.SECTORS_SHORT)
_CODES: Final[dict[PayloadKind, tuple[str, Severity]]] = {
    PayloadKind.SECTORS_LONG: ("payload-sectors-long", Severity.SUSPICIOUS),
    PayloadKind.UNENDED: ("payload-damaged", Severity.SUSPICIOUS),
    PayloadKind.PRERELEASE: ("prerelease-zstd", Severity.SUSPICIOUS),
    PayloadKind.SECTORS_SHORT: ("payload-sectors-short", Severity.CORRUPTION),
    PayloadKind.OTHER_TYPE: ("payload-other-type", Severity.CORRUPTION),
    PayloadKind.SHORT: ("payload-short", Severity.CORRUPTION),
    PayloadKind.TRUNCATED: ("payload-damaged", Severity.CORRUPTION),
    PayloadKind.DAMAGED: ("payload-damaged", Severity.CORRUPTION),
}
"""The code and severity of each kind that is a finding."""


class PayloadWording:
    """Words for the payloads of one image."""

    def __init__(
        self, compression_type: CompressionType, geometry: Geometry, virtual_bytes: int
    ) -> None:
        """Words for an image of this compression type and geometry, whose disk has this size."""
        self._type_label = compression_type.label
        self._geometry = geometry
        self._virtual_bytes = virtual_bytes

    def finding(
        self, place: EntryPlace, guest_offset: int, entry: L2Entry, verdict: PayloadVerdict
    ) -> Finding:
        """The finding on the payload of `entry`, which maps the cluster at `guest_offset`."""
        code, severity = _CODES[verdict.kind]
        guest_end: int | None = guest_offset + self._geometry.cluster_bytes
        guest_start: int | None = guest_offset
        # Behind a snapshot's disk lies its VM state; behind the active one's end, nothing.
        if place.snapshot is None:
            guest_end = min(guest_offset + self._geometry.cluster_bytes, self._virtual_bytes)
            if guest_end <= guest_offset:
                guest_start = guest_end = None
        sentence = self._sentence(entry, verdict)
        expected = ""
        if verdict.kind in _SECTOR_KINDS and verdict.true_end is not None:
            right = self._geometry.compressed_descriptor(entry.host_offset, verdict.true_end)
            expected = word_text(right)
        return Finding(
            code,
            severity,
            f"{place} {sentence} {_consequence(verdict.kind, guest_start, guest_end)}".rstrip(),
            place.structure,
            host_offset=place.host_offset,
            entry=place.entry,
            guest_start=guest_start,
            guest_end=guest_end,
            raw=entry.word,
            expected=expected,
            spec="1.9",
            snapshot=place.snapshot,
        )

    def _sentence(self, entry: L2Entry, verdict: PayloadVerdict) -> str:
        payload = f"compressed data at {format_offset(entry.host_offset)}"
        claimed = format_count(entry.compressed.sectors, "sector")
        produced = (
            f"{verdict.produced_bytes:,} of {self._geometry.cluster_bytes:,} bytes come out of it"
        )
        match verdict.kind:
            case PayloadKind.SECTORS_LONG | PayloadKind.SECTORS_SHORT:
                takes = "only " if verdict.kind is PayloadKind.SECTORS_LONG else ""
                return (
                    f"claims {claimed} for {payload}, which takes {takes}{verdict.right_sectors:,}."
                )
            case PayloadKind.UNENDED:
                return f"names {payload}, whose stream goes on where the cluster is full."
            case PayloadKind.PRERELEASE:
                return f"names {payload} in a layout from before QEMU 5.1: {verdict.reason}."
            case PayloadKind.OTHER_TYPE:
                return (
                    f"names {payload}, which is not of the image's type, {self._type_label}: "
                    f"{verdict.reason}."
                )
            case PayloadKind.SHORT:
                return f"names {payload}, whose stream ends early: {produced}."
            case PayloadKind.TRUNCATED:
                return f"names {payload}, inside which the file ends: {produced}."
            case _:
                return f"names {payload}, which can't be decoded: {verdict.reason}; {produced}."


def _consequence(kind: PayloadKind, start: int | None, end: int | None) -> str:
    if start is None or end is None:
        return "No guest data is affected."
    guest = f"Guest {format_offset(start)} to {format_offset(end)}"
    return f"{guest} {_CONSEQUENCES.get(kind, _UNREADABLE)}."
