"""`python -m tests.bench`: measure qcowgui against qemu-img, from the project's root.

`python -m tests.bench gui` measures the window instead, `python -m tests.bench check` how fast an
image is checked, `python -m tests.bench python` how long Python itself takes for a cluster.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from qcowgui.units import format_size
from tests.bench.corpus import FULL, QUICK, Corpus, build_corpus
from tests.bench.measure import BenchError, find_program
from tests.bench.result import Broken, Measured, find_misses
from tests.bench.rows import ALL_ROWS, Row
from tests.bench.runner import Runner
from tests.bench.table import format_json, format_table

_SHM: Final = Path("/dev/shm")
_EPILOG: Final = (
    "Exit status: 0 when every row that was run has the right content, stays under 300 MB and, "
    "where it is required, reaches its targets; 1 otherwise; 2 when nothing could be measured."
)


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__, epilog=_EPILOG)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a sixth of the data and one run; times are shown, not judged",
    )
    parser.add_argument("--rows", type=re.compile, metavar="REGEX", help="only rows so named")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each program (default: 3)")
    parser.add_argument(
        "--dir",
        type=Path,
        default=_SHM if _SHM.is_dir() else Path(tempfile.gettempdir()),
        help="where images are written; a tmpfs, or the disk is measured (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all runs to FILE")
    parser.add_argument("--keep", action="store_true", help="keep the raw and the source images")
    parser.add_argument(
        "--product",
        type=shlex.split,
        default=[sys.executable, "-m", "qcowgui"],
        metavar="CMD",
        help="how qcowgui is started (default: this interpreter, -m qcowgui)",
    )
    parsed = parser.parse_args(arguments)
    if parsed.runs is None:
        parsed.runs = 1 if parsed.quick else 3
    if parsed.runs < 1:
        parser.error("--runs must be at least 1")
    if not parsed.dir.is_dir():
        parser.error(f"--dir {parsed.dir} is not a folder")
    return parsed


def _select_rows(pattern: re.Pattern[str] | None) -> list[Row]:
    rows = [row for row in ALL_ROWS if pattern is None or pattern.search(row.name)]
    if not rows:
        names = ", ".join(row.name for row in ALL_ROWS)
        raise BenchError(f"no row has such a name; there are: {names}")
    return rows


@contextmanager
def _work_dir(parent: Path, *, keep: bool) -> Iterator[Path]:
    if keep:
        path = Path(tempfile.mkdtemp(prefix="qcowgui-bench-", dir=parent))
        print(f"images are kept in {path}")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="qcowgui-bench-", dir=parent) as name:
        yield Path(name)


def _describe_environment() -> dict[str, str]:
    version = subprocess.run(
        [find_program("qemu-img"), "--version"], capture_output=True, text=True, check=True
    )
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "qemu_img": version.stdout.splitlines()[0],
    }


def _describe_input(corpus: Corpus, environment: dict[str, str], runs: int) -> str:
    return (
        f"{corpus.file_count:,} files, {format_size(corpus.data_bytes)} of data in an ext4 image "
        f"of {format_size(corpus.image_bytes)}, {format_size(corpus.allocated_bytes)} allocated\n"
        f"{environment['qemu_img']}; Python {environment['python']}; "
        f"{environment['cores']} cores; median of {runs} alternating runs"
    )


def _conclude(rows: Sequence[Row], results: Sequence[Measured | Broken], judge_speed: bool) -> int:
    """Print what the results prove and what they don't; return the exit status."""
    if not judge_speed:
        print("Times were not judged: too little data (--quick).")
    left_out = [row.name for row in ALL_ROWS if row.is_required and row not in rows]
    if left_out:
        print(f"Required rows left out: {', '.join(left_out)}.")
    failed_count = sum(bool(find_misses(result, judge_speed=judge_speed)) for result in results)
    print(f"{failed_count} of {len(results)} rows failed." if failed_count else "No row failed.")
    return 1 if failed_count else 0


def _bench(options: argparse.Namespace) -> int:
    rows = _select_rows(options.rows)
    environment = _describe_environment()
    judge_speed = not options.quick
    with _work_dir(options.dir, keep=options.keep) as work_dir:
        corpus = build_corpus(work_dir, QUICK if options.quick else FULL)
        print(_describe_input(corpus, environment, options.runs), flush=True)
        runner = Runner(corpus, work_dir, options.product, options.runs, options.keep)
        results = []
        for result in runner.run_rows(rows):
            results.append(result)
            print(f"  {len(results)}/{len(rows)} {result.row.name}", file=sys.stderr, flush=True)
    print(format_table(results, judge_speed=judge_speed))
    if options.json:
        text = format_json(results, corpus, environment, judge_speed=judge_speed)
        options.json.write_text(text, encoding="utf-8")
    return _conclude(rows, results, judge_speed)


def _exit_on_signal(signal_number: int, _frame: object) -> None:
    # Unwinds the stack, so that some GiB of images don't stay in memory.
    sys.exit(128 + signal_number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return its exit status."""
    signal.signal(signal.SIGTERM, _exit_on_signal)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["gui"]:
        from tests.bench import gui  # the other benchmark needs no Qt

        return gui.main(given[1:])
    if given[:1] == ["check"]:
        from tests.bench import check  # nor does this one need the corpus

        return check.main(given[1:])
    if given[:1] == ["python"]:
        from tests.bench import python_time

        return python_time.main(given[1:])
    options = _parse_arguments(given)
    try:
        return _bench(options)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
