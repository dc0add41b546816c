"""`python -m tests.bench.regress RUN.json`: which rows are slower than the baseline says.

RUN.json is what `python -m tests.bench --json RUN.json` wrote. What counts are ratios to the peers:
seconds say more of the machine than of the program. `--write` makes the run the new baseline.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BASELINE: Final = Path(__file__).with_name("baseline.json")
TOLERANCE: Final = 0.15
"""By how much of the baseline's ratio a row may fall before it counts: two runs on the same machine
differ by up to a tenth."""


@dataclass(frozen=True)
class Change:
    """A row in both runs.

    Attributes:
        row: Its name.
        before: How many times as fast as the peer it was.
        after: How many times it is now.
    """

    row: str
    before: float
    after: float

    @property
    def gain(self) -> float:
        """The part of the ratio that was won; negative when it was lost."""
        return self.after / self.before - 1

    @property
    def fell(self) -> bool:
        """Whether so much was lost that it is no chance."""
        return self.gain < -TOLERANCE


@dataclass(frozen=True)
class Comparison:
    """A run against the baseline.

    Attributes:
        changes: The rows that both have, in the baseline's order.
        missing: Rows of the baseline that the run does not have, or in which it broke.
        new: Rows that the baseline does not have.
    """

    changes: tuple[Change, ...]
    missing: tuple[str, ...]
    new: tuple[str, ...]


def ratios_of(run: dict[str, Any]) -> dict[str, float]:
    """The ratio of each row of a run that has one."""
    return {row["row"]: row["ratio"] for row in run["rows"] if "ratio" in row}


def compare(baseline: dict[str, float], run: dict[str, float]) -> Comparison:
    """Both as rows: what became of each ratio."""
    return Comparison(
        tuple(Change(row, before, run[row]) for row, before in baseline.items() if row in run),
        tuple(row for row in baseline if row not in run),
        tuple(row for row in run if row not in baseline),
    )


def format_comparison(comparison: Comparison) -> str:
    """A line a row, the worst of them marked."""
    names = [change.row for change in comparison.changes]
    width = max(map(len, (*names, *comparison.missing, *comparison.new)), default=0)
    lines = [
        f"{change.row:{width}}  {change.before:5.2f} → {change.after:5.2f}  {change.gain:+6.1%}"
        + ("  FELL" if change.fell else "")
        for change in comparison.changes
    ]
    lines += [f"{row:{width}}  not in this run" for row in comparison.missing]
    lines += [f"{row:{width}}  not in the baseline" for row in comparison.new]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or write the baseline; 1 when a row fell by more than `TOLERANCE`."""
    parser = argparse.ArgumentParser("python -m tests.bench.regress", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN.json")
    parser.add_argument("--write", action="store_true", help="make this run the baseline")
    parsed = parser.parse_args(arguments)
    try:
        run = json.loads(parsed.run.read_text(encoding="utf-8"))
        ratios = ratios_of(run)
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{parsed.run} is not what tests.bench --json writes: {error}")
    if parsed.write:
        value = {
            "environment": run["environment"],
            "ratios": {row: round(ratio, 3) for row, ratio in ratios.items()},
        }
        BASELINE.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
        return 0
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    comparison = compare(baseline["ratios"], ratios)
    print(format_comparison(comparison))
    fallen = [change.row for change in comparison.changes if change.fell]
    if fallen:
        print(f"Fell by more than {TOLERANCE:.0%}: {', '.join(fallen)}", file=sys.stderr)
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
