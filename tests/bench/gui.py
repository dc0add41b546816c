"""`python -m tests.bench gui`: how fast the window is, with images of terabytes and busy cores."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench.gui_figures import Figure, format_figures
from tests.bench.measure import BenchError

SCENES: Final = ("tebibyte", "findings", "busy", "sixteen")
_HUGE: Final = "sixteen"
_SHM: Final = Path("/dev/shm")
_EPILOG: Final = (
    "Exit status: 0 when every figure holds that something is asked of; 1 otherwise; 2 when "
    "nothing could be measured. 'No core for' tells how long the window's thread was ready to "
    "run and other programs ran: measure again when the machine is quiet."
)


def _parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.bench gui", description=__doc__, epilog=_EPILOG
    )
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--quick", action="store_true", help="without the image of 16 TiB")
    parser.add_argument(
        "--display",
        action="store_true",
        help="in a real window only (the default is without one, and in one where there is a "
        "display or Xvfb)",
    )
    parser.add_argument("--offscreen", action="store_true", help="without a real window only")
    parser.add_argument(
        "--dir",
        type=Path,
        default=_SHM if _SHM.is_dir() else Path(tempfile.gettempdir()),
        help="where images are written: 3 GB, sparse files (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parsed = parser.parse_args(arguments)
    if parsed.quick:
        parsed.scenes = [scene for scene in parsed.scenes if scene != _HUGE]
    return parsed


@contextmanager
def _display() -> Iterator[str | None]:
    """A display: the one there is, or one of our own; None where neither can be had."""
    given = os.environ.get("DISPLAY")
    if given or shutil.which("Xvfb") is None:
        yield given
        return
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        if not number:
            raise BenchError("Xvfb did not start")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def _play(scene: str, folder: Path, environment: dict[str, str]) -> list[Figure]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.bench.gui_scenes", scene, str(folder)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise BenchError(f"{scene}: exit status {run.returncode}\n{run.stderr[-3000:]}")
    return [Figure.from_json(fields) for fields in json.loads(run.stdout)]


def _platforms(options: argparse.Namespace, display: str | None) -> dict[str, dict[str, str]]:
    """The environments to measure in, by name.

    Raises:
        BenchError: When a real window was asked for and there can be none.
    """
    found = {}
    if not options.display:
        found["without a display"] = {"QT_QPA_PLATFORM": "offscreen"}
    if display is not None and not options.offscreen:
        found["in a real window"] = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display}
    if not found:
        raise BenchError("there is no display, and no Xvfb to make one")
    return found


def _bench(options: argparse.Namespace) -> int:
    results: dict[str, list[Figure]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="qcowgui-bench-", dir=options.dir) as name,
        _display() as display,
    ):
        for platform, environment in _platforms(options, display).items():
            results[platform] = []
            for scene in options.scenes:
                print(f"  {scene}, {platform}", file=sys.stderr, flush=True)
                results[platform] += _play(scene, Path(name), environment)
            print(f"{platform}:\n{format_figures(results[platform])}\n", flush=True)
    if options.json:
        found = {name: [figure.to_json() for figure in all_] for name, all_ in results.items()}
        options.json.write_text(json.dumps(found, indent=2), encoding="utf-8")
    missed = sum(not figure.holds for figures in results.values() for figure in figures)
    left_out = [scene for scene in SCENES if scene not in options.scenes]
    if left_out:
        print(f"Left out: {', '.join(left_out)}.")
    print(f"{missed} figures were missed." if missed else "Every figure holds.")
    return 1 if missed else 0


def main(arguments: Sequence[str]) -> int:
    """Measure, print tables, return the exit status."""
    options = _parse_arguments(arguments)
    try:
        return _bench(options)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
