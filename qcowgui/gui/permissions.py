"""Which other files a person has agreed to open for an image. Nothing is followed unasked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.gui.jobs import AllowNamedGate


class Permissions(QObject):
    """Kept as long as the tab is open, never saved. Belongs to the GUI's thread.

    Attributes:
        allowed: The files, as they were named.

    Signals:
        changed: `allowed` is another.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.allowed: tuple[Path, ...] = ()

    def allow(self, paths: Iterable[Path]) -> None:
        """Agree to more files."""
        allowed = tuple(dict.fromkeys((*self.allowed, *paths)))
        if allowed != self.allowed:
            self.allowed = allowed
            self.changed.emit()

    def gate(self) -> AllowNamedGate:
        """A gate for one piece of work: it opens these files, and keeps what it refused."""
        return AllowNamedGate(self.allowed)
