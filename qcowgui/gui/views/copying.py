"""What the window's Copy commands can be about."""

from __future__ import annotations

from typing import Protocol


class Copyable(Protocol):
    """A view with something chosen in it, which can be put on the clipboard."""

    def copy_cells(self) -> None:
        """Copy what is chosen."""
        ...

    def copy_rows(self) -> None:
        """Copy the rows that it is in."""
        ...

    def copy_table(self) -> None:
        """Copy everything, with headings."""
        ...
