"""The benchmark view: what is chosen, what is measured, what is shown and saved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from qcowgui.convert.benchmark import Progress, Stage
from qcowgui.convert.benchmark_codecs import BACKENDS, Method
from qcowgui.convert.benchmark_plan import BenchmarkPlan, Setting
from qcowgui.convert.benchmark_result import (
    Benchmark,
    CodecFigures,
    Machine,
    PeerFigures,
    ReadFigures,
    Spread,
)
from qcowgui.errors import OutputError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.benchmark_lines import (
    COMPRESSION_SERIES,
    cluster_sizes,
    read_lines,
    speed_lines,
    thread_lines,
)
from qcowgui.gui.benchmark_loader import BenchmarkLoader, BenchmarkState
from qcowgui.gui.benchmark_work import (
    basis_text,
    codec_table,
    disturbance_text,
    peer_table,
    read_table,
    stage_text,
)
from qcowgui.gui.formatters import Tone
from qcowgui.gui.session import Session
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.benchmark_form import BenchmarkForm
from qcowgui.gui.views.benchmark_plots import (
    DecadeAxis,
    SparseSizeAxis,
    legend_html,
    read_plot,
    series_colour,
    short_size,
    speed_plot,
)
from qcowgui.gui.views.benchmark_view import BenchmarkView
from tests.gui.support import button, open_question
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

KIB, MIB = 1 << 10, 1 << 20
ZSTD, DEFLATE = Method("zstd", 1), Method("libdeflate", 1)


def spread(mean: float, deviation: float = 0.0) -> Spread:
    return Spread(mean, deviation, 2)


def figures() -> Benchmark:
    """Made-up figures of two cluster sizes, two levels and two numbers of threads."""
    codecs = tuple(
        CodecFigures(
            Setting(size, method, threads),
            8 * MIB,
            4 * MIB + method.level,
            spread(method.level * threads * 1e8, 1e7),
            None if size == 4 * KIB else spread(threads * 5e8),
        )
        for size in (4 * KIB, 64 * KIB)
        for method in (Method("zstd", 3), ZSTD, DEFLATE)
        for threads in (1, 2)
    )
    reads = (
        ReadFigures(4 * KIB, "none", 9 * MIB, spread(4e-5), spread(1e-4)),
        ReadFigures(4 * KIB, "zlib", 5 * MIB, spread(8e-5), spread(3e-4)),
        ReadFigures(64 * KIB, "zlib", 5 * MIB, spread(2e-4, 1e-5), spread(9e-4)),
    )
    peers = (
        PeerFigures(64 * KIB, "zstd", False, "qcowgui", spread(0.5, 0.01), 8 * MIB),
        PeerFigures(64 * KIB, "zstd", False, "other", None, 0, "no such thing"),
        PeerFigures(64 * KIB, "zstd", True, "qcowgui", spread(0.75), 4 * MIB),
    )
    plan = BenchmarkPlan((ZSTD, DEFLATE), runs=2)
    machine = Machine(2, "Linux x86_64", (("deflate", "1"),))
    return Benchmark(plan, machine, 64 * MIB, 16 * MIB, 8 * MIB, codecs, reads, peers)


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


def opened(path: Path, qtbot: QtBot, runner: BackgroundRunner) -> Session:
    session = Session(path, runner)
    session.load()
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    return session


def view_of(session: Session, theme: Theme, qtbot: QtBot) -> BenchmarkView:
    view = BenchmarkView(session, theme)
    qtbot.addWidget(view)
    view.resize(1000, 700)
    view.show()
    return view


def choose(form: BenchmarkForm, cluster_bytes: int, backend: str) -> None:
    """Tick one cluster size and one backend alone, and one run."""
    for menu, wanted in ((form.clusters.menu(), cluster_bytes), (form.backends.menu(), backend)):
        for action in menu.actions():
            action.setChecked(action.data() == wanted)
    form.runs.setValue(1)


def wait(loader: BenchmarkLoader, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: loader.state is not BenchmarkState.RUNNING, timeout=60_000)


def state_of(loader: BenchmarkLoader) -> BenchmarkState:
    """Now: a type checker takes an attribute that was looked at for unchanged."""
    return loader.state


def show_figures(view: BenchmarkView, found: Benchmark) -> None:
    view.loader.found, view.loader.state = found, BenchmarkState.DONE
    view.loader.changed.emit()


# ------------------------------------------------------------------- words


def test_tables_tell_every_figure() -> None:
    found = figures()
    codecs = codec_table(found)
    assert len(codecs.rows) == 12
    row = codecs.rows[-1]
    assert row.cells[:8] == (
        *("64 KiB", "libdeflate", "1", "2", "4 MiB", "2.00", "200 ± 10", "1,000 ± 0"),
    )
    assert row.detail == "compression type zlib"
    assert codecs.rows[0].cells[7] == "–"
    assert codecs.rows[0].sort_keys[7] == -1
    reads = read_table(found)
    assert reads.rows[2].cells[:5] == ("64 KiB", "zlib", "5 MiB", "200 ± 10", "900 ± 0")
    assert reads.rows[0].cells[1] == "not compressed"
    peers = peer_table(found)
    assert [column.title for column in peers.columns[3:5]] == ["qcowgui, s", "other, s"]
    assert [row.cells[2:5] for row in peers.rows] == [
        ("qcow2 → raw", "0.50 ± 0.01", "failed"),
        ("raw → qcow2", "0.75 ± 0.00", "–"),
    ]
    assert peers.rows[0].tone is Tone.WARNING
    assert peers.rows[0].detail == "other: no such thing"
    for table in (codecs, reads, peers):
        for line in table.rows:
            assert len(line.cells) == len(line.sort_keys) == len(table.columns)


def test_lines_of_the_plots() -> None:
    found = figures()
    assert cluster_sizes(found) == [4 * KIB, 64 * KIB]
    zstd, deflate = speed_lines(found, 64 * KIB, decompressing=False)
    # One thread, in the order of the levels, whatever the order of the figures.
    assert [(point.label, point.y) for point in zstd.points] == [("1", 100), ("3", 300)]
    assert [point.x for point in zstd.points] == [4 * MIB + 1, 4 * MIB + 3]
    assert deflate.series == "libdeflate"
    assert speed_lines(found, 4 * KIB, decompressing=True) == []
    zstd, deflate = thread_lines(found, 64 * KIB, decompressing=False)
    assert zstd.name == "zstd 3"  # the level that was tried first
    assert [(point.x, point.y, point.deviation) for point in zstd.points] == [
        (1, 300, 10),
        (2, 600, 10),
    ]
    lines = read_lines(found)
    assert [(line.series, line.dashed) for line in lines] == [
        ("none", False),
        ("none", True),
        ("libdeflate", False),
        ("libdeflate", True),
    ]
    assert [point.x for point in lines[2].points] == [12, 16]
    assert [point.y for point in lines[2].points] == pytest.approx([80, 200])


def test_what_the_figures_hold_for() -> None:
    found = figures()
    assert basis_text(found) == "8 MiB of 16 MiB tried, 2 runs; Linux x86_64, 2 cores"
    assert disturbance_text(found) == ""
    assert "had 40% of a core" in disturbance_text(replace(found, core_share=0.4))
    texts = [stage_text(Progress(stage, 3, 12)) for stage in Stage]
    assert len(set(texts)) == len(Stage)
    assert texts[-1] == "Converting with each program: 3 of 12…"


# -------------------------------------------------------------------- form


def test_the_form_makes_a_plan(qtbot: QtBot, theme: Theme) -> None:
    del theme
    form = BenchmarkForm()
    qtbot.addWidget(form)
    plan = form.plan()
    assert plan.cluster_sizes == (4 * KIB, 64 * KIB, 512 * KIB, 2 * MIB)
    assert {method.backend for method in plan.methods} >= {"libdeflate", "zlib", "zstd"}
    assert (plan.runs, plan.reads, plan.peers) == (3, 500, False)
    choose(form, 512, "zstd")
    form.reads.setChecked(False)
    form.sample.setCurrentIndex(form.sample.count() - 1)
    plan = form.plan()
    assert plan.cluster_sizes == (512,)
    assert [method.level for method in plan.methods] == [1, 3, 9]
    assert (plan.runs, plan.reads, plan.sample_bytes) == (1, 0, None)
    assert form.clusters.text() == form.clusters.accessibleName() == "Cluster sizes: 1"
    form.peers.setChecked(True)
    assert form.plan().sample_bytes is None  # all is enough for other programs, too


def test_other_programs_get_a_larger_sample(qtbot: QtBot, theme: Theme) -> None:
    del theme
    form = BenchmarkForm()
    qtbot.addWidget(form)
    form.peers.setChecked(True)
    plan = form.plan()
    assert plan.peers
    assert plan.sample_bytes is not None
    assert plan.sample_bytes >= 128 * MIB


def test_a_backend_that_is_missing_says_so(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    del theme
    missing = replace(BACKENDS["isal"], module="no_such_module_at_all")
    backends = {**BACKENDS, "isal": missing}
    monkeypatch.setattr("qcowgui.gui.views.benchmark_form.BACKENDS", backends)
    form = BenchmarkForm()
    qtbot.addWidget(form)
    action = form.backends.menu().actions()[list(backends).index("isal")]
    assert not action.isEnabled()
    assert not action.isChecked()
    assert "qcowgui[bench]" in action.text()


# -------------------------------------------------------------------- view


def test_a_benchmark_from_start_to_file(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, tmp_path: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    choose(view.form, 64 * KIB, "zstd")
    assert not view.save_button.isEnabled()
    view.start_button.click()
    assert view.stop_button.isVisible()
    assert not view.form.isEnabled()
    wait(view.loader, qtbot)
    assert state_of(view.loader) is BenchmarkState.DONE
    found = view.loader.found
    assert found is not None
    assert [item.setting.method.level for item in found.codecs[:: len(found.plan.threads)]] == [
        *(1, 3, 9)
    ]
    assert len(view.codecs.table.rows) == len(found.codecs)
    assert view.tables.isTabVisible(view.tables.indexOf(view.reads))
    assert not view.tables.isTabVisible(view.tables.indexOf(view.peers))
    assert view.clusters.currentData() == 64 * KIB
    assert view.form.isEnabled()
    for name in ("figures.csv", "figures.json"):
        with qtbot.waitSignal(view.loader.saved, timeout=20_000):
            view.loader.save(tmp_path / name)
    assert (tmp_path / "figures.csv").read_text().startswith("kind,cluster_size")
    content = json.loads((tmp_path / "figures.json").read_text())
    assert content["filename"] == str(data_image)
    assert len(content["codecs"]) == len(found.codecs)
    view.abandon()


def test_the_image_is_never_replaced_by_its_figures(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path, tmp_path: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    choose(view.form, 64 * KIB, "zstd")
    view.form.reads.setChecked(False)
    view.start()
    wait(view.loader, qtbot)
    before = data_image.read_bytes()
    link = tmp_path / "link.csv"
    os.link(data_image, link)
    with qtbot.waitSignal(view.loader.save_failed, timeout=20_000) as caught:
        view.loader.save(link)
    assert caught.args is not None
    assert isinstance(caught.args[0], OutputError)
    assert "can’t be saved" in view.banner.title
    assert data_image.read_bytes() == before
    view.abandon()


def test_stopped_keeps_what_there_is(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    choose(view.form, 4 * KIB, "zstd")
    view.form.runs.setValue(99)
    view.start()
    qtbot.waitUntil(lambda: len(view.codecs.table.rows) > 1, timeout=30_000)
    assert view.bar.isVisible()
    view.stop_button.click()
    wait(view.loader, qtbot)
    assert state_of(view.loader) is BenchmarkState.CANCELLED
    assert view.loader.found is not None
    assert view.save_button.isEnabled()
    assert view.start_button.isVisible()
    view.abandon()


def test_stopped_at_once_says_so(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    view.start()
    view.loader.stop()
    wait(view.loader, qtbot)
    assert view.loader.found is None
    assert "Stopped before" in view.waiting.label.text()
    view.abandon()


def test_nothing_chosen_is_said_so(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    choose(view.form, 64 * KIB, "none of them")
    view.start()
    assert state_of(view.loader) is BenchmarkState.NONE
    assert "nothing to measure" in view.banner.text


def test_an_image_without_data_is_said_so(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = ImageBuilder(size=MIB).build().write_to(tmp_path / "empty.qcow2")
    view = view_of(opened(path, qtbot, runner), theme, qtbot)
    view.start()
    wait(view.loader, qtbot)
    assert state_of(view.loader) is BenchmarkState.FAILED
    assert "stores nothing" in view.banner.text
    view.abandon()


def test_files_that_the_image_names_are_asked_for(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, tmp_path: Path
) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(MIB))
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    builder.write(0, pattern(64 * KIB, seed=2))
    path = builder.build().write_to(tmp_path / "overlay.qcow2")
    view = view_of(opened(path, qtbot, runner), theme, qtbot)
    choose(view.form, 64 * KIB, "zstd")
    view.start()
    wait(view.loader, qtbot)
    assert state_of(view.loader) is BenchmarkState.FAILED
    assert "refers to" in view.banner.title
    view.ask_to_allow()
    button(open_question(), "Allow").click()
    wait(view.loader, qtbot)
    assert state_of(view.loader) is BenchmarkState.DONE
    view.abandon()


def test_closing_the_tab_ends_the_work(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    view.start()
    changes: list[int] = []
    view.loader.changed.connect(lambda: changes.append(1))
    view.abandon()
    qtbot.waitUntil(lambda: not runner.active, timeout=30_000)
    assert changes == []


def test_plots_follow_the_choices(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    show_figures(view, figures())
    assert view.clusters.currentData() == 64 * KIB
    plots = view.plots
    assert plots is not None
    speed, reads, threads = (plot.plot for plot in plots)
    assert [point.y for line in speed.lines for point in line.points] == [100, 300, 100]
    view.direction.setCurrentIndex(1)
    assert [point.y for line in speed.lines for point in line.points] == [500, 500, 500]
    assert [point.y for point in threads.lines[0].points] == [500, 1000]
    view.clusters.setCurrentIndex(0)
    assert speed.lines == []
    assert len(reads.lines) == 4
    assert "200" in reads.accessibleDescription()
    assert all(plot.focusPolicy() is Qt.FocusPolicy.NoFocus for plot in (speed, reads, threads))


def test_another_size_stays_chosen_while_figures_come(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    found = figures()
    show_figures(view, replace(found, codecs=found.codecs[:6], reads=(), peers=()))
    assert view.clusters.currentData() == 4 * KIB
    assert view.plots is not None
    assert not view.plots[1].isVisible()
    show_figures(view, found)
    assert view.clusters.currentData() == 64 * KIB
    view.clusters.setCurrentIndex(0)
    view.clusters.activated.emit(0)
    show_figures(view, replace(found, codecs=found.codecs[:6]))
    show_figures(view, found)
    assert view.clusters.currentData() == 4 * KIB


def test_both_schemes(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    show_figures(view, figures())
    assert view.plots is not None
    for scheme in (ColourScheme.DARK, ColourScheme.LIGHT):
        theme.choose(scheme)
        assert series_colour("zstd", theme) in view.plots[0].legend.text()
        assert not view.grab().isNull()


def test_order_and_place_stay_while_figures_come(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    view.resize(1000, 560)
    found = figures()
    show_figures(view, replace(found, codecs=found.codecs[:11]))
    table = view.codecs
    table.sortByColumn(6, Qt.SortOrder.DescendingOrder)
    bar = table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    place = bar.value()
    show_figures(view, found)
    assert bar.value() == place
    speeds = [str(table.model().index(row, 6).data()) for row in range(12)]
    assert len(speeds) == 12
    assert speeds == sorted(speeds, reverse=True)


def test_the_dialog_offers_both_formats(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    show_figures(view, figures())
    dialog = view.choose_file()
    assert dialog.defaultSuffix() == "csv"
    dialog.filterSelected.emit(dialog.nameFilters()[1])
    assert dialog.defaultSuffix() == "json"
    assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    dialog.reject()


def test_the_table_in_front_is_copied(
    qtbot: QtBot, theme: Theme, runner: BackgroundRunner, data_image: Path
) -> None:
    view = view_of(opened(data_image, qtbot, runner), theme, qtbot)
    show_figures(view, figures())
    assert view.shown_table() is view.codecs
    view.tables.setCurrentWidget(view.peers)
    assert view.shown_table() is view.peers


# ------------------------------------------------------------------- plots


def test_every_series_has_a_colour_and_a_mark(theme: Theme) -> None:
    names = {*BACKENDS, *COMPRESSION_SERIES.values()}
    colours = {series_colour(name, theme) for name in names}
    assert len(colours) == len(names)
    legend = legend_html(read_lines(figures()), theme)
    assert legend.count("<span") == 2  # dashed lines share it


def test_ticks_leave_room_for_their_texts(qtbot: QtBot, theme: Theme) -> None:
    del qtbot, theme
    decades = DecadeAxis("left")
    wide, narrow = decades.tickValues(0, 5, 600)[0][1], decades.tickValues(0, 5, 200)[0][1]
    assert len(wide) == 16
    assert narrow == [0, 1, 2, 3, 4, 5]
    assert decades.tickStrings([0, 3.301], 1, 1) == ["1", "2,000"]
    sizes = SparseSizeAxis("bottom")
    assert len(sizes.tickValues(3.1 * MIB, 3.5 * MIB, 600)[0][1]) >= 3
    assert len(sizes.tickValues(3.1 * MIB, 3.5 * MIB, 160)[0][1]) <= 2
    assert [short_size(size) for size in (512, 4 * KIB, 2 * MIB)] == ["512", "4k", "2M"]


def test_plots_bear_odd_figures(qtbot: QtBot, theme: Theme) -> None:
    found = figures()
    one = replace(found, codecs=found.codecs[6:7], reads=found.reads[:1])
    for make, lines in (
        (speed_plot, speed_lines(one, 64 * KIB, decompressing=False)),
        (read_plot, read_lines(one)),
    ):
        plot = make(theme, "plot")
        qtbot.addWidget(plot)
        plot.set_lines(lines)
        (low, high), _ = plot.getPlotItem().getViewBox().viewRange()
        assert low < lines[0].points[0].x < high
        plot.set_lines([])
        assert not plot.grab().isNull()
