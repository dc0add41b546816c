"""In which geometries a test tries each damage: two of them, or all when that is asked for."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator

from tests.support.check_damages.record import CheckDamage

ALL_GEOMETRIES = "QCOWGUI_ALL_GEOMETRIES"
"""Set in the environment: every damage in every geometry, some 16,000 tests in a quarter hour."""


def chosen_geometries(damage: CheckDamage) -> list[str]:
    """The geometries of `damage` to try: the first and a drawn one, the same in every run."""
    first, *others = damage.geometries
    if os.environ.get(ALL_GEOMETRIES):
        return [first, *others]
    return [first, *random.Random(damage.name).sample(others, min(1, len(others)))]


def iter_combinations(damages: Iterable[CheckDamage]) -> Iterator[tuple[CheckDamage, str, bool]]:
    """(damage, geometry, whether it is the damage's first) of all that is to be tried."""
    for damage in damages:
        for number, geometry in enumerate(chosen_geometries(damage)):
            yield damage, geometry, not number
