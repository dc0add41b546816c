"""What a person agrees to while an image is open. Nothing is followed unasked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.gui.consent import NOTHING_ALLOWED, Consent, ConsentGate
from qcowgui.image.references import Place


class Permissions(QObject):
    """Kept as long as the tab is open, never saved. Belongs to the GUI's thread.

    The map, the bytes, the chain, comparisons and conversions of an image ask the same one.

    Attributes:
        consent: What was agreed to so far.

    Signals:
        changed: `consent` is another.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.consent = NOTHING_ALLOWED

    @property
    def allowed(self) -> tuple[Path, ...]:
        """The files that may be opened, as they were named."""
        return self.consent.allowed

    def allow(self, paths: Iterable[Path]) -> None:
        """Agree to more files."""
        self._agree(self.consent.allowing(paths))

    def locate(self, place: Place, path: Path) -> None:
        """Look for the file of `place` at `path`: choosing it by hand allows it, too."""
        self._agree(self.consent.locating(place, path))

    def gate(self) -> ConsentGate:
        """A gate for one piece of work."""
        return self.consent.gate()

    def _agree(self, consent: Consent) -> None:
        if consent != self.consent:
            self.consent = consent
            self.changed.emit()
