"""`python -m tests.bench check`: `qcowgui check` against `qemu-img check` on full images.

The images are fully allocated, with 64 KiB clusters and data in holes: a check reads no data. Both
programs must find nothing wrong in them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from qcowgui.units import MIB, TIB, format_size
from tests.bench.measure import BenchError, Sample, find_program, measure
from tests.bench.result import Figures
from tests.support.filled import write_filled_image

MIN_RATIO: Final = 1.0
"""Asked for: no more time than qemu-img takes; aimed at: half."""
MAX_PEAK_RSS_BYTES: Final = 400 * MIB
_QUICK_DISK_BYTES: Final = TIB // 64
_SHM: Final = Path("/dev/shm")


@dataclass(frozen=True)
class CheckImage:
    """An image that is checked.

    Attributes:
        name: Of its row.
        disk_bytes: Its virtual size; every cluster of it is allocated.
        shuffled: Whether the data that an L2 table maps lies in random order.
    """

    name: str
    disk_bytes: int
    shuffled: bool


@dataclass(frozen=True)
class CheckResult:
    """What checking one image cost both programs.

    Attributes:
        name: Of the row.
        product: qcowgui's runs.
        peer: qemu-img's.
    """

    name: str
    product: Figures
    peer: Figures

    @property
    def ratio(self) -> float:
        """How many times as fast as qemu-img qcowgui is."""
        return self.peer.wall_seconds / self.product.wall_seconds

    def misses(self, *, judge_speed: bool) -> list[str]:
        """Why this is not good enough, a sentence each."""
        found = []
        if judge_speed and self.ratio < MIN_RATIO:
            found.append(f"ratio {self.ratio:.2f} is below {MIN_RATIO}")
        if self.product.peak_rss_bytes > MAX_PEAK_RSS_BYTES:
            peak = format_size(self.product.peak_rss_bytes)
            found.append(f"peak memory of {peak} is above {format_size(MAX_PEAK_RSS_BYTES)}")
        return found


def images(disk_bytes: int) -> tuple[CheckImage, ...]:
    """The images of a virtual size."""
    size = format_size(disk_bytes)
    return tuple(
        CheckImage(f"check {size}, {order}", disk_bytes, order == "shuffled")
        for order in ("in order", "shuffled")
    )


def run_image(
    image: CheckImage,
    folder: Path,
    product: Sequence[str],
    runs: int,
    run: Callable[[Sequence[str]], Sample] = measure,
) -> CheckResult:
    """Check one image with both programs in turn.

    Args:
        image: The image, which is written to `folder` and removed again.
        folder: A folder on a tmpfs.
        product: How qcowgui is started.
        runs: How often each program is run.
        run: What runs a command and measures it.

    Raises:
        BenchError: When a program can't be run, or finds something wrong.
    """
    path = folder / "image.qcow2"
    write_filled_image(path, image.disk_bytes, shuffled=image.shuffled)
    ours, theirs = [], []
    try:
        for _ in range(runs):
            ours.append(run([*product, "check", str(path)]))
            theirs.append(run([find_program("qemu-img"), "check", "-f", "qcow2", str(path)]))
    finally:
        path.unlink()
    return CheckResult(image.name, Figures(tuple(ours), 0), Figures(tuple(theirs), 0))


def format_results(results: Sequence[CheckResult]) -> str:
    """The results as a table for people."""
    lines = [("row", "qcowgui s", "qemu-img s", "ratio", "qcowgui peak", "qemu-img peak")]
    lines.extend(
        (
            result.name,
            f"{result.product.wall_seconds:.2f}",
            f"{result.peer.wall_seconds:.2f}",
            f"{result.ratio:.2f}",
            format_size(result.product.peak_rss_bytes),
            format_size(result.peer.peak_rss_bytes),
        )
        for result in results
    )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def to_json(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """The results for programs: every run of both."""
    return [
        {
            "row": result.name,
            "ratio": result.ratio,
            "qcowgui": [asdict(sample) for sample in result.product.samples],
            "qemu-img": [asdict(sample) for sample in result.peer.samples],
        }
        for result in results
    ]


def _parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.bench check",
        description=__doc__,
        epilog="Exit status: 0 when every image was checked as fast as it should be, 1 when not, "
        "2 when nothing could be measured.",
    )
    parser.add_argument("--quick", action="store_true", help="a 64th of the size, not judged")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--dir",
        type=Path,
        default=_SHM if _SHM.is_dir() else Path(tempfile.gettempdir()),
        help="where images are written: 160 MB, sparse (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all runs to FILE")
    parser.add_argument(
        "--product",
        type=shlex.split,
        default=[sys.executable, "-m", "qcowgui"],
        metavar="CMD",
        help="how qcowgui is started (default: this interpreter, -m qcowgui)",
    )
    parsed = parser.parse_args(arguments)
    if parsed.runs < 1:
        parser.error("--runs must be at least 1")
    return parsed


def _bench(options: argparse.Namespace) -> int:
    results = []
    with tempfile.TemporaryDirectory(prefix="qcowgui-bench-", dir=options.dir) as name:
        for image in images(_QUICK_DISK_BYTES if options.quick else TIB):
            print(f"  {image.name}", file=sys.stderr, flush=True)
            results.append(run_image(image, Path(name), options.product, options.runs))
    print(format_results(results))
    if options.json:
        options.json.write_text(json.dumps(to_json(results), indent=2) + "\n", encoding="utf-8")
    failed = False
    for result in results:
        for miss in result.misses(judge_speed=not options.quick):
            failed = True
            print(f"{result.name}: {miss}")
    return int(failed)


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, return the exit status."""
    options = _parse_arguments(arguments)
    try:
        return _bench(options)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
