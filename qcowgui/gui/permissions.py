"""Which other files a person has agreed to open for an image. Nothing is followed unasked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from qcowgui.gui.jobs import AllowNamedGate
from qcowgui.image.references import Place, Reference, located_at


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person has agreed to at some time. Immutable, so that any thread may have it.

    Attributes:
        allowed: The files that may be opened, as they were named.
        located: Where files are that lie elsewhere than the images say.
    """

    allowed: tuple[Path, ...] = ()
    located: Mapping[Place, Path] = field(default_factory=dict)

    def gate(self) -> ConsentGate:
        """A gate for one piece of work."""
        return ConsentGate(self)


class ConsentGate(AllowNamedGate):
    """Opens the files of a `Consent`, where it says, and keeps what it refused."""

    def __init__(self, consent: Consent) -> None:
        super().__init__(consent.allowed)
        self._located = consent.located

    def locate(self, reference: Reference) -> Reference:
        """`reference` with the place where a person has found its file."""
        return located_at(reference, self._located)


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
        self.consent = Consent()

    @property
    def allowed(self) -> tuple[Path, ...]:
        """The files that may be opened, as they were named."""
        return self.consent.allowed

    def allow(self, paths: Iterable[Path]) -> None:
        """Agree to more files."""
        self._agree(Consent(_with(self.allowed, paths), self.consent.located))

    def locate(self, place: Place, path: Path) -> None:
        """Look for the file of `place` at `path`: choosing it by hand allows it, too."""
        located = {**self.consent.located, place: path}
        self._agree(Consent(_with(self.allowed, [path]), located))

    def gate(self) -> ConsentGate:
        """A gate for one piece of work."""
        return self.consent.gate()

    def _agree(self, consent: Consent) -> None:
        if consent != self.consent:
            self.consent = consent
            self.changed.emit()


def _with(allowed: tuple[Path, ...], paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((*allowed, *paths)))
