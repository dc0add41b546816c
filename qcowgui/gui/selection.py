"""What is selected of an image, and the way back to what was selected before. Knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from qcowgui.gui.structures import StructureKey

MAX_HISTORY: Final = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected of one image; every view shows it in its own way.

    Attributes:
        structure: The structure, or CLUSTER and GUEST for bytes that are in no structure.
        row: Index of the entry in the structure's table, counted in the file's order; of CLUSTER
            and GUEST the cluster's index. None for the structure as a whole.
        part: Which of several tables: of L2 the L1 entry that names it, of REFCOUNT_BLOCK the
            entry of the refcount table, of BITMAP_TABLE the bitmap's index in the directory.
        snapshot: Of L1, L2 and GUEST: index of the internal snapshot; None for the active disk.
        host: Bytes [start, end) of the image file that it occupies: of an entry the entry itself,
            not what it points to. None when it has none, or where they are is not known yet.
        guest: Bytes [start, end) of the guest's disk that it holds, maps or counts, or None.
    """

    structure: StructureKey
    row: int | None = None
    part: int | None = None
    snapshot: int | None = None
    host: tuple[int, int] | None = None
    guest: tuple[int, int] | None = None

    @property
    def table(self) -> Selection:
        """The structure as a whole, without an entry or bytes: what decides about a table."""
        return Selection(self.structure, None, self.part, self.snapshot)

    def is_same_place(self, other: Selection) -> bool:
        """Whether both are the same thing, however much is known of where its bytes are."""
        if self.row is None and other.row is None and (self.host or self.guest):
            return self == other
        return replace(self, host=None, guest=None) == replace(other, host=None, guest=None)


class History:
    """The selections of a session, with a place in them: what Back and Forward step through."""

    def __init__(self, limit: int = MAX_HISTORY) -> None:
        """An empty history that forgets the oldest of more than `limit` selections."""
        self._limit = limit
        self._selections: list[Selection] = []
        self._index = -1

    @property
    def can_go_back(self) -> bool:
        """Whether there is something before the present place."""
        return self._index > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether somebody went back before."""
        return self._index + 1 < len(self._selections)

    def visit(self, selection: Selection) -> None:
        """Go to `selection`; what lay ahead is forgotten. The present place is not doubled."""
        if self._index >= 0 and self._selections[self._index].is_same_place(selection):
            self._selections[self._index] = selection
            return
        del self._selections[self._index + 1 :]
        self._selections.append(selection)
        del self._selections[: -self._limit]
        self._index = len(self._selections) - 1

    def back(self) -> Selection | None:
        """Step back; None when there is nothing before."""
        if not self.can_go_back:
            return None
        self._index -= 1
        return self._selections[self._index]

    def forward(self) -> Selection | None:
        """Step forward again; None when nothing is there."""
        if not self.can_go_forward:
            return None
        self._index += 1
        return self._selections[self._index]
