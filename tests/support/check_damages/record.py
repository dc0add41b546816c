"""What a named damage is, and the book in which the damages of each kind are entered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES, Geometry, Has


class Verdict(Enum):
    """How `qemu-img check` ends; the value is its exit code, but for REFUSED."""

    CLEAN = 0
    ERRORS = 1
    CORRUPT = 2
    LEAKS = 3
    REFUSED = -1
    """It does not open the image, and its exit code is 1."""


Make = Callable[[Geometry], BuiltImage]
Edit = Callable[[BuiltImage], BuiltImage]


@dataclass(frozen=True)
class CheckDamage:
    """One way in which an image is broken or odd, for every geometry where it makes sense.

    Attributes:
        sentence: What is wrong with the result, or odd about it.
        rows: What it stands for: rows of the format description's table of checks ("R22"), its
            sections ("2.5.2", "4.1 crosvm"), and real cases ("BL-O13").
        codes: The findings that name the damage itself. A check must make each of them.
        may: Findings that follow from the damage, or may, depending on the geometry. A check makes
            no others than these, `codes` and those that the healthy image has.
        deep: Whether only decoding the compressed clusters shows it: `codes` are those of a deep
            check, and a plain one finds nothing of it.
        is_qcow2: Whether anything can be said of it but that it is no qcow2 image.
        qemu: How `qemu-img check` of 7.2 ends; ask `verdict`.
        says: A regular expression of what qemu-img prints when it meets the damage; empty where it
            says nothing.
        geometries: The names of the geometries that it applies to.
    """

    name: str
    sentence: str
    rows: tuple[str, ...]
    codes: frozenset[str]
    may: frozenset[str]
    deep: bool
    is_qcow2: bool
    qemu: Verdict
    says: str
    geometries: tuple[str, ...]
    make: Make

    def verdict(self, geometry: str) -> Verdict:
        """Return how `qemu-img check` ends in a geometry by its name."""
        # It opens no LUKS image without a passphrase, and ours have none.
        return Verdict.REFUSED if Has.LUKS in GEOMETRIES[geometry].has else self.qemu

    def healthy(self, geometry: str) -> BuiltImage:
        """Return the standard image of a geometry by its name."""
        return GEOMETRIES[geometry].image()

    def damaged(self, geometry: str) -> BuiltImage:
        """Return the damaged image in a geometry by its name."""
        return self.make(GEOMETRIES[geometry])


@dataclass
class Book:
    """Damages by name, entered in groups."""

    damages: dict[str, CheckDamage] = field(default_factory=dict)

    def enter(
        self,
        name: str,
        sentence: str,
        rows: str,
        codes: str,
        make: Make,
        *,
        may: str = "",
        deep: bool = False,
        is_qcow2: bool = True,
        qemu: Verdict = Verdict.CORRUPT,
        says: str = "",
        needs: Iterable[Has] = (),
        without: Iterable[Has] = (),
        only: Iterable[str] | None = None,
    ) -> None:
        """Enter a damage.

        Args:
            name: Its name, unique among all.
            sentence: What is wrong with the result.
            rows: Separated by commas.
            codes: Separated by blanks; so is `may`.
            make: Builds the damaged image.
            may: See `CheckDamage`, as for the next four.
            deep: See `may`.
            is_qcow2: See `may`.
            qemu: See `may`.
            says: See `may`.
            needs: Only geometries that have all of this.
            without: Only geometries that have none of this.
            only: Only geometries of these names.

        Raises:
            ValueError: The name is taken, or no geometry is left.
        """
        if name in self.damages:
            raise ValueError(f"two damages are named {name}")
        wanted = set(GEOMETRIES if only is None else only)
        fitting = tuple(
            geometry.name
            for geometry in GEOMETRIES.values()
            if geometry.name in wanted
            and geometry.has.issuperset(needs)
            and geometry.has.isdisjoint(without)
        )
        if not fitting or wanted - set(GEOMETRIES):
            raise ValueError(f"{name}: the wanted geometries do not exist, or lack what it needs")
        self.damages[name] = CheckDamage(
            name=name,
            sentence=sentence,
            rows=tuple(row.strip() for row in rows.split(",")),
            codes=frozenset(codes.split()),
            may=frozenset(may.split()) - frozenset(codes.split()),
            deep=deep,
            is_qcow2=is_qcow2,
            qemu=qemu,
            says=says,
            geometries=fitting,
            make=make,
        )


def edited(edit: Edit) -> Make:
    """Return a maker that edits the standard image."""
    return lambda geometry: edit(geometry.image())


def both(*edits: Edit) -> Edit:
    """Return an edit that does several, one after another."""

    def edit(image: BuiltImage) -> BuiltImage:
        for each in edits:
            image = each(image)
        return image

    return edit
