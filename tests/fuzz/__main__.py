"""Run mutants of built images through the library; exit code 1 if anything went wrong.

A mutant is named by SEED:INDEX, and --replay makes it again. Operations are limited to 2 s of
processor time and 300 MB of memory, whatever the file says.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz import meter
from tests.fuzz.mutate import make_mutant
from tests.fuzz.operations import OPERATIONS
from tests.fuzz.run import Plan, Result, run
from tests.fuzz.worker import Bench, Failure, Tally

DETAIL_LINES = 30
PROGRESS_SECONDS = 10.0
_SHM = Path("/dev/shm")


def _operations(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := sorted(set(names) - OPERATIONS.keys()):
        known = ", ".join(OPERATIONS)
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; there are: {known}")
    return [name for name in OPERATIONS if name in names]


def _replay_key(text: str) -> tuple[int, int]:
    seed, separator, index = text.partition(":")
    if not separator or not seed.isdecimal() or not index.isdecimal():
        raise argparse.ArgumentTypeError("SEED:INDEX, two numbers")
    return int(seed), int(index)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mutants", type=_count, default=100_000, metavar="N")
    parser.add_argument("--seed", type=int, metavar="S", help="by default from the clock")
    parser.add_argument("--minutes", type=float, metavar="M", help="stop after that")
    parser.add_argument("--workers", type=_count, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--operations",
        type=_operations,
        default=list(OPERATIONS),
        metavar="NAME,…",
        help=f"by default all: {', '.join(OPERATIONS)}",
    )
    parser.add_argument("--replay", type=_replay_key, metavar="SEED:INDEX", help="one mutant")
    parser.add_argument("--save", type=Path, metavar="FILE", help="with --replay: keep the mutant")
    parser.add_argument(
        "--dir",
        type=Path,
        default=_SHM if _SHM.is_dir() else Path(tempfile.gettempdir()),
        help="where mutants are written; best in memory (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.seed is None:
        options.seed = int(time.time())
    if options.save is not None and options.replay is None:
        parser.error("--save needs --replay")
    return options


def _print_outcomes(total: Tally) -> None:
    for outcome, count in sorted(total.outcomes.items()):
        print(f"  {count:>9,}  {outcome}")
    for name in sorted(total.slowest):
        seconds, slow_index = total.slowest[name]
        grown, large_index = total.largest[name]
        print(
            f"  {name}: {total.spent[name]:.1f} s in all, "
            f"at most {seconds:.2f} s (mutant {slow_index}), "
            f"{grown / 1e6:.0f} MB (mutant {large_index})"
        )
    if not meter.MEASURES_MEMORY:
        print("  Memory was not measured: this system does not tell.")


def _print_failures(seed: int, failures: Sequence[Failure]) -> None:
    """Print one failure of each kind in full, and how many others are like it."""
    by_signature: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_signature[failure.signature].append(failure)
    for signature, alike in sorted(by_signature.items(), key=lambda item: -len(item[1])):
        first = min(alike, key=lambda failure: failure.index)
        print(f"\n{len(alike)} × {signature}")
        print(f"  python -m tests.fuzz --replay {seed}:{first.index}")
        for line in first.detail.rstrip().splitlines()[-DETAIL_LINES:]:
            print(f"    {line}")


def _conclude(seed: int, result: Result, workers: int) -> int:
    total = result.total
    rate = total.mutants / result.seconds if result.seconds else 0.0
    print(
        f"{total.mutants:,} mutants of seed {seed} in {result.seconds:.0f} s: {rate:.0f} a second "
        f"with {workers} processes"
    )
    _print_outcomes(total)
    if result.stopped:
        print(f"  Stopped early: {result.stopped}.")
    _print_failures(seed, total.failures)
    print(f"\n{len(total.failures)} failures." if total.failures else "No failures.")
    return 1 if total.failures else 0


def _replay(options: argparse.Namespace) -> int:
    """Run one mutant in this process, where a debugger can see it."""
    seed, index = options.replay
    mutant = make_mutant(seed, index)
    print(f"{mutant.name}, {len(mutant.data):,} bytes")
    for step in mutant.steps:
        print(f"  {step}")
    if options.save is not None:
        options.save.write_bytes(mutant.data)
    tally = Tally(next_index=index)
    with (
        tempfile.TemporaryDirectory(prefix="qcowgui-fuzz-", dir=options.dir) as folder,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        Bench(Path(folder), options.operations).run(index, mutant, tally)
    _print_outcomes(tally)
    _print_failures(seed, tally.failures)
    return 1 if tally.failures else 0


class _Progress:
    """A line on standard error every ten seconds."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, total: Tally, seconds: float) -> None:
        if seconds - self._last >= PROGRESS_SECONDS:
            self._last = seconds
            print(
                f"  {seconds:.0f} s: {total.mutants:,} mutants, {len(total.failures)} failures",
                file=sys.stderr,
                flush=True,
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver and return its exit code."""
    options = _parse(arguments)
    if options.replay is not None:
        return _replay(options)
    with tempfile.TemporaryDirectory(prefix="qcowgui-fuzz-", dir=options.dir) as folder:
        plan = Plan(
            seed=options.seed,
            mutants=options.mutants,
            minutes=options.minutes,
            workers=options.workers,
            folder=Path(folder),
            operations=options.operations,
        )
        return _conclude(options.seed, run(plan, tick=_Progress()), options.workers)


if __name__ == "__main__":
    sys.exit(main())
