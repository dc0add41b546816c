"""What is measured of the window, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        name: What was measured.
        value: The number.
        unit: Its unit.
        limit: What it must stay under, or with `at_least` must reach; None: it is only shown.
        at_least: Whether larger is better.
        waited_seconds: How long the window's thread was ready to run meanwhile and got no core:
            what a busy machine, and not the program, is to blame for. None where it isn't known.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    waited_seconds: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the number is good enough."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value < self.limit

    def to_json(self) -> dict[str, Any]:
        """The figure as a JSON object, for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """The figure that `to_json` wrote."""
        return cls(**fields)


def format_figures(figures: Iterable[Figure]) -> str:
    """A table, a line for each figure."""
    rows = [("", "measured", "asked for", "no core for", "")]
    for figure in figures:
        asked = ""
        if figure.limit is not None:
            asked = f"{'at least' if figure.at_least else 'under'} {figure.limit:g} {figure.unit}"
        waited = figure.waited_seconds
        rows.append(
            (
                figure.name,
                f"{_number(figure.value)} {figure.unit}",
                asked,
                "" if waited is None else f"{waited * 1000:.0f} ms",
                "" if figure.holds else "MISSED",
            )
        )
    return "\n".join(_lines(rows))


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _lines(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, *others in rows:
        cells = [name.ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
