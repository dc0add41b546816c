"""What a person does with the window, and how long it takes. Each scene is a process of its own.

python -m tests.bench.gui_scenes SCENE FOLDER: the figures as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QAbstractScrollArea

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.heatmap.canvas import ZOOM_STEP, MapCanvas
from qcowgui.gui.heatmap.layers import Order
from qcowgui.gui.heatmap.map_pane import MapPane
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, Session, SessionState
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.views.image_view import ImageView
from qcowgui.units import ceil_div
from tests.bench import gui_inputs
from tests.bench.gui_figures import Figure
from tests.bench.gui_window import BenchWindow, opened_window, peak_rss_bytes

_FRAMES: Final = 60
_ZOOM_STEPS: Final = 16
_PAN_PIXELS: Final = 37
_MIN_FRAMES: Final = 30.0
_STALL_SECONDS: Final = 0.05
_BUSY_SECONDS: Final = 5.0
_MEBIBYTE: Final = 1 << 20


# ---------------------------------------------------------------- one tebibyte


def tebibyte(folder: Path) -> Iterator[Figure]:
    """1 TiB, fully allocated: opening it, moving about in it."""
    image = gui_inputs.filled(folder, 1)
    with opened_window() as bench:
        view = yield from _open(bench, image, "1 TiB", header_limit=0.5, map_limit=2.0)
        bench.settle()
        canvas = view.map.host.canvas
        yield from _frame_rates(bench, view, "file")
        view.map.show_orders(Order.GUEST)
        bench.settle()
        yield from _frame_rates(bench, view, "guest")
        view.map.show_orders(Order.HOST)
        canvas.fit()
        yield from _tables(bench, view)
        yield Figure("1 TiB: memory", peak_rss_bytes() / 1e6, "MB", 600.0)


def _open(
    bench: BenchWindow, image: Path, name: str, *, header_limit: float | None, map_limit: float
) -> Generator[Figure, None, ImageView]:
    """Open an image; yields how long that took, and returns its view."""
    began = time.perf_counter()
    view = bench.open(image)
    bench.wait_for(lambda: view.session.state is SessionState.READY)
    bench.app.processEvents()  # it is painted
    yield Figure(f"{name}: header after the click", time.perf_counter() - began, "s", header_limit)
    seen = set[float | None]()

    def drawn() -> bool:
        seen.add(view.session.check_progress)
        return _is_drawn(view.map.host)

    bench.wait_for(drawn)
    bench.app.processEvents()
    yield Figure(f"{name}: map after the click", time.perf_counter() - began, "s", map_limit)
    if map_limit > 2:
        yield Figure(f"{name}: progress was told", len(seen - {None}), "times", 10, at_least=True)
    return view


def _is_drawn(pane: MapPane) -> bool:
    return pane.layer is not None and pane.canvas.scene is not None


def _frame_rates(bench: BenchWindow, view: ImageView, name: str) -> Iterator[Figure]:
    """Frames that are drawn one after the other, at the whole map and at single cells."""
    canvas = view.map.canvas
    canvas.fit()
    factors = [ZOOM_STEP] * _ZOOM_STEPS + [1 / ZOOM_STEP] * _ZOOM_STEPS
    zooms = cycle(factors)
    yield _rate(bench, canvas, lambda: canvas.zoom(next(zooms)), f"1 TiB: zoom, {name}")
    for what, steps in (("everything twice as large", 2), ("single cells", None)):
        canvas.fit()
        if steps is None:
            canvas.show_single_cells()
        else:
            canvas.zoom(ZOOM_STEP**steps)
        yield _rate(bench, canvas, _panning(canvas), f"1 TiB: pan, {name}, {what}")
    canvas.fit()


def _panning(canvas: MapCanvas) -> Callable[[], object]:
    """Moves a map down to the right, and back again."""
    way = cycle([-_PAN_PIXELS] * 20 + [_PAN_PIXELS] * 20)

    def pan() -> None:
        pixels = next(way)
        canvas.stage.pan(pixels, pixels)

    return pan


def _rate(bench: BenchWindow, canvas: MapCanvas, move: Callable[[], object], name: str) -> Figure:
    began = time.perf_counter()
    for _ in range(_FRAMES):
        move()
        canvas.repaint()
        bench.app.processEvents()
    frames = _FRAMES / (time.perf_counter() - began)
    return Figure(name, frames, "frames/s", _MIN_FRAMES, at_least=True)


def _tables(bench: BenchWindow, view: ImageView) -> Iterator[Figure]:
    """Scrolling through tables of entries, and to their ends at once."""
    view.show_table()
    for name, selection in (
        ("L1", Selection(StructureKey.L1, 0)),
        ("L2", Selection(StructureKey.L2, 0, part=7)),
        ("refcount block", Selection(StructureKey.REFCOUNT_BLOCK, 0, part=7)),
    ):
        view.session.select(selection)
        bench.run_for(0.5)
        area = view.structure.shown_table()
        bench.stalls.restart()
        _scroll(bench, area, seconds=1.5)
        yield _stall(bench, f"1 TiB: longest stall while {name} scrolls")
    bench.window.docks.raise_dock(bench.window.docks.hex)
    bench.run_for(0.5)
    bench.stalls.restart()
    for share in range(1, 40):
        view.session.select(Selection(StructureKey.CLUSTER, share * 400_000))
        bench.run_for(0.03)
    yield _stall(bench, "1 TiB: longest stall while the selection jumps")
    view.show_map()


def _scroll(bench: BenchWindow, area: QAbstractScrollArea, *, seconds: float) -> None:
    bar = area.verticalScrollBar()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        step = max(1, bar.pageStep() // 3)
        bar.setValue(bar.value() + step if bar.value() < bar.maximum() else 0)
        bench.run_for(0.01)
    bar.setValue(bar.maximum())
    bench.run_for(0.2)


def _stall(bench: BenchWindow, name: str, limit: float = _STALL_SECONDS) -> Figure:
    meter = bench.stalls
    value, bound = meter.worst_seconds * 1000, limit * 1000
    return Figure(name, value, "ms", bound, waited_seconds=meter.waited_seconds)


# ---------------------------------------------------------------- sixteen of them


def sixteen(folder: Path) -> Iterator[Figure]:
    """16 TiB: it opens, says how far it is, and can be stopped."""
    image = gui_inputs.filled(folder, 16)
    with opened_window() as bench:
        view = yield from _open(bench, image, "16 TiB", header_limit=None, map_limit=30.0)
        session = view.session
        bench.settle()
        session.start_check(deep=False)
        bench.run_for(0.5)
        began = time.perf_counter()
        session.cancel_check()
        bench.app.processEvents()
        stopped = session.check_state is CheckState.CANCELLED
        yield Figure("16 TiB: a check was stopped", int(stopped), "times", 1, at_least=True)
        yield Figure("16 TiB: the window says so after", time.perf_counter() - began, "s", 0.5)
        bench.wait_for(lambda: not bench.window.loader.active)
        yield Figure("16 TiB: its work had ended after", time.perf_counter() - began, "s")
        yield Figure("16 TiB: memory", peak_rss_bytes() / 1e6, "MB")


# ---------------------------------------------------------------- a million findings


def findings(folder: Path) -> Iterator[Figure]:
    """A million findings: the dock answers."""
    image = gui_inputs.full_of_findings(folder)
    with opened_window() as bench:
        view = bench.open(image)
        bench.wait_for(lambda: view.session.check_state is CheckState.DONE)
        bench.settle()
        panel = view.findings
        count = panel.count
        yield Figure("findings: there are", count, "", gui_inputs.FINDINGS, at_least=True)
        yield from _answers(bench, view, "of a million")
        groups = panel.table.findings.list.groups
        largest = max(range(len(groups)), key=lambda index: groups[index].count)
        bench.stalls.restart()
        panel.table._want_all(largest)
        bench.settle()
        yield _stall(bench, "findings: longest stall while all are listed", 0.1)
        yield from _answers(bench, view, "with all listed")


def _answers(bench: BenchWindow, view: ImageView, name: str) -> Iterator[Figure]:
    panel = view.findings
    severity = next(iter(panel.bar.severities.values()))
    commands: tuple[tuple[str, Callable[[], object]], ...] = (
        ("text filter", lambda: panel.bar.text.setText("l2")),
        ("filter away", panel.bar.text.clear),
        ("severity off", severity.click),
        ("severity on", severity.click),
        ("group opened", lambda: panel.table.toggle(0)),
        ("next finding", lambda: panel.step(1)),
        ("previous finding", lambda: panel.step(-1)),
        ("scrolled to the end", panel.table.scrollToBottom),
        ("group closed", lambda: panel.table.toggle(0)),
    )
    for what, command in commands:
        began = time.perf_counter()
        command()
        panel.table.repaint()
        bench.app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
        elapsed = (time.perf_counter() - began) * 1000
        yield Figure(f"findings, {name}: {what}", elapsed, "ms", 100.0)
        bench.run_for(0.3)


# ---------------------------------------------------------------- while every core works


def busy(folder: Path) -> Iterator[Figure]:
    """The window answers while a conversion, then a deep check, uses every core."""
    disk = gui_inputs.mixed_disk(folder, 512 * _MEBIBYTE)
    with opened_window() as bench:
        view = bench.open(gui_inputs.filled(folder, 1))
        bench.settle()
        for bits in (16, 12):
            packed = folder / f"packed-{bits}.qcow2"
            options = ConvertOptions(
                disk, packed, "qcow2", compression="zlib", cluster_bytes=1 << bits, overwrite=True
            )
            bench.window.controller.start(options)
            yield from _live(
                bench, view, lambda: bench.window.controller.active, f"convert, {1 << bits >> 10}k"
            )
            checked = bench.open(packed)
            bench.settle()
            bench.window.tabs.setCurrentWidget(view)
            checked.session.start_check(deep=True)
            running = partial(_is_checking, checked.session)
            yield from _live(bench, view, running, f"deep check, {1 << bits >> 10}k")
            if checked.session.check is None or checked.session.check.deep is None:
                raise ValueError("the deep check did not decode anything")
            bench.window.tabs.close_requested.emit(checked)


def _is_checking(session: Session) -> bool:
    return session.check_state is CheckState.RUNNING


def _live(
    bench: BenchWindow, view: ImageView, running: Callable[[], bool], name: str
) -> Iterator[Figure]:
    """Use the window as long as something runs, and see how it answers."""
    canvas = view.map.host.canvas
    zooms = cycle([ZOOM_STEP] * 8 + [1 / ZOOM_STEP] * 8)
    clusters = ceil_div(1 << 40, 1 << 16)
    bench.run_for(0.2)  # a click has begun it; how that went is not what is asked here
    bench.stalls.restart()
    began, frames, selected = time.perf_counter(), 0, 0
    while running():
        canvas.zoom(next(zooms))
        frames += 1
        bench.run_for(0.02)
        if frames % 10 == 0:
            selected = (selected + 1_234_567) % clusters
            view.session.select(Selection(StructureKey.CLUSTER, selected))
    yield _stall(bench, f"{name}: longest stall")
    yield Figure(f"{name}: it ran for", time.perf_counter() - began, "s")
    bench.settle()


SCENES: Final[dict[str, Callable[[Path], Iterator[Figure]]]] = {
    "tebibyte": tebibyte,
    "findings": findings,
    "busy": busy,
    "sixteen": sixteen,
}


def main(arguments: list[str]) -> int:
    """Play one scene; print its figures."""
    scene, folder = arguments
    figures = [figure.to_json() for figure in SCENES[scene](Path(folder))]
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
