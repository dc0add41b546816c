"""Which other files a person has agreed to open for an image, as a value. Knows nothing of Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qcowgui.image.references import AllowGate, Place, Reference, located_at


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person has agreed to at some time. Immutable, so that any thread may have it.

    Attributes:
        allowed: The files that may be opened, as they were named.
        located: Where files are that lie elsewhere than the images say.
    """

    allowed: tuple[Path, ...] = ()
    located: Mapping[Place, Path] = field(default_factory=dict, hash=False)

    def allowing(self, paths: Iterable[Path]) -> Consent:
        """This, and more files."""
        return Consent(tuple(dict.fromkeys((*self.allowed, *paths))), self.located)

    def locating(self, place: Place, path: Path) -> Consent:
        """This, with the file of `place` at `path`: choosing it by hand allows it, too."""
        return Consent(self.allowing([path]).allowed, {**self.located, place: path})

    def locate(self, reference: Reference) -> Reference:
        """`reference` with the place where a person has found its file."""
        return located_at(reference, self.located)

    def gate(self) -> ConsentGate:
        """A gate for one piece of work."""
        return ConsentGate(self)


NOTHING_ALLOWED: Final = Consent()


class ConsentGate:
    """Opens the files of a `Consent`, where it says.

    Attributes:
        refused: What it did not open, for the question to a person.
    """

    def __init__(self, consent: Consent) -> None:
        # Without a name AllowGate would open any backing file.
        self._gate = AllowGate(consent.allowed) if consent.allowed else None
        self._consent = consent
        self.refused: list[Reference] = []

    def permit(self, reference: Reference) -> bool:
        """Whether the file was named. Called by the thread of the work."""
        if self._gate is not None and self._gate.permit(reference):
            return True
        self.refused.append(reference)
        return False

    def locate(self, reference: Reference) -> Reference:
        """`reference` with the place where a person has found its file."""
        return self._consent.locate(reference)
