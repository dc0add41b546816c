"""The way from a guest byte to what holds it, one step at a time, in words. Knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from qcowgui.format.entries import L1Entry, L2Entry, SubclusterKind
from qcowgui.format.geometry import Geometry
from qcowgui.gui.selection import Selection
from qcowgui.gui.structures import StructureKey
from qcowgui.image.inspect import ImageReport
from qcowgui.units import format_offset

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of the way.

    Attributes:
        selection: What the step looks at.
        text: What that says, as a sentence.
    """

    selection: Selection
    text: str


@dataclass(frozen=True, slots=True)
class GuestPath:
    """Where a guest byte is.

    Attributes:
        guest_offset: The byte.
        snapshot: In whose disk; None for the active one.
        steps: L1 entry, L2 entry, subcluster, host cluster or payload; as far as the way leads.
        conclusion: What it comes to, as a sentence.
        complete: False while a table that is needed has not been read yet.
    """

    guest_offset: int
    snapshot: int | None
    steps: tuple[PathStep, ...]
    conclusion: str
    complete: bool


class PathBuilder:
    """Makes a GuestPath. Each `add` returns whether the way goes on."""

    def __init__(self, guest_offset: int, snapshot: int | None) -> None:
        self.snapshot = snapshot
        self._guest_offset = guest_offset
        self._steps: list[PathStep] = []
        self._conclusion = ""
        self._complete = True

    def build(self) -> GuestPath:
        """The way so far."""
        return GuestPath(
            self._guest_offset, self.snapshot, tuple(self._steps), self._conclusion, self._complete
        )

    def end(self, conclusion: str) -> None:
        """Say what it comes to."""
        self._conclusion = conclusion

    def add_beyond(self, selection: Selection) -> None:
        """An entry that the file does not hold: the end of the way."""
        if selection.structure is StructureKey.L1:
            text = translate("locator", "The file ends before this entry of the L1 table.")
        else:
            text = translate("locator", "The file ends before this entry of the L2 table.")
        self._step(selection, text)
        self.end(translate("locator", "Where the byte is stored can’t be read."))

    def add_l1(self, selection: Selection, word: int | None, geometry: Geometry) -> bool:
        """The L1 entry; `word` is None while it is not known."""
        if word is None:
            return self._wait(selection, translate("locator", "The L1 table is being read."))
        offset = L1Entry(word).l2_table_offset
        if not offset:
            self._step(selection, translate("locator", "This L1 entry names no L2 table."))
            self.end(translate("locator", "Not in this image: it reads as zeros or from below."))
            return False
        text = translate("locator", "The L1 entry leads to the L2 table at {offset}.")
        self._step(selection, text.format(offset=format_offset(offset)))
        if not geometry.is_aligned(offset):
            self.end(translate("locator", "No cluster starts there: the L1 entry is damaged."))
            return False
        return True

    def add_l2(self, selection: Selection, entry: L2Entry | None) -> bool:
        """The L2 entry; None while it is not known."""
        if entry is None:
            return self._wait(selection, translate("locator", "The L2 table is being read."))
        if entry.is_compressed:
            text = translate("locator", "The L2 entry names a compressed payload at {offset}.")
        elif entry.host_offset:
            text = translate("locator", "The L2 entry names the host cluster at {offset}.")
        else:
            text = translate("locator", "The L2 entry names no host cluster.")
        self._step(selection, text.format(offset=format_offset(entry.host_offset)))
        if not entry.is_compressed and not entry.geometry.is_aligned(entry.host_offset):
            self.end(translate("locator", "No cluster starts there: the L2 entry is damaged."))
            return False
        return True

    def add_subcluster(self, entry: L2Entry, subcluster: int) -> bool:
        """What the entry's bitmap says of a subcluster; only a stored one leads on."""
        kind = entry.subclusters()[subcluster]
        texts = {
            SubclusterKind.NORMAL: translate("locator", "Subcluster {index} is stored."),
            SubclusterKind.ZERO: translate("locator", "Subcluster {index} reads as zeros."),
            SubclusterKind.UNALLOCATED: translate(
                "locator", "Subcluster {index} is not allocated."
            ),
            SubclusterKind.INVALID: translate(
                "locator", "The two bits of subcluster {index} contradict each other."
            ),
        }
        text = texts[kind].format(index=subcluster)
        self._step(self._steps[-1].selection, text)
        if kind is not SubclusterKind.NORMAL:
            self.end(text)
        return kind is SubclusterKind.NORMAL

    def add_data(self, selection: Selection, entry: L2Entry, file_bytes: int) -> None:
        """The host cluster or payload that holds the byte."""
        start, end = selection.host or (0, 0)
        if entry.is_compressed:
            text = translate("locator", "The payload lies in the bytes {start} to {end}.")
        else:
            text = translate("locator", "The host cluster lies in the bytes {start} to {end}.")
        text = text.format(start=format_offset(start), end=format_offset(end - 1))
        self._step(selection, text)
        if start >= file_bytes:
            text = translate("locator", "The file ends before these bytes: they are gone.")
        elif entry.reads_zero and not entry.geometry.extended_l2:
            text = translate("locator", "It reads as zeros, whatever the host cluster holds.")
        self.end(text)

    def add_elsewhere(self, entry: L2Entry, report: ImageReport) -> None:
        """The end of the way for what no byte of the image file holds."""
        reads_zero = entry.reads_zero and not entry.geometry.extended_l2
        if report.header.has_data_file and not reads_zero and (entry.host_offset or entry.copied):
            text = translate("locator", "The byte lies in the external data file, at {offset}.")
            self.end(text.format(offset=format_offset(self._guest_offset)))
        elif reads_zero:
            self.end(translate("locator", "It reads as zeros and takes no space."))
        else:
            self.end(translate("locator", "Not in this image: it reads as zeros or from below."))

    def _step(self, selection: Selection, text: str) -> None:
        self._steps.append(PathStep(selection, text))

    def _wait(self, selection: Selection, text: str) -> bool:
        self._step(selection, text)
        self._complete = False
        self.end(text)
        return False
