"""The forecast beside the conversion form: running, showing, choosing, stopping."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.convert.forecast import Candidate, CandidateForecast, Estimate, Forecast
from qcowgui.convert.options import Compression
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken
from qcowgui.errors import OptionsError, QcowError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import Consent
from qcowgui.gui.dialogs.forecast_chart import (
    ForecastChart,
    seconds_axis,
    series_of,
    size_axis,
)
from qcowgui.gui.dialogs.forecast_panel import ForecastPanel, ForecastState
from qcowgui.gui.forecast_work import (
    ForecastCache,
    Forecasted,
    ForecastRequest,
    ForecastWork,
    basis_text,
    by_size,
    candidate_name,
    forecast_table,
    gain_text,
    seconds_range_text,
    size_range_text,
)
from qcowgui.gui.opening import Signature
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

KIB, MIB = 1 << 10, 1 << 20
QUICK = (Candidate("zstd", 1, 64 * KIB), Candidate("zlib", 1, 64 * KIB))


def item(
    compression: Compression, level: int | None, cluster_bytes: int, size: float, seconds: float
) -> CandidateForecast:
    return CandidateForecast(
        Candidate(compression, level, cluster_bytes),
        Estimate(size * 0.98, size, size * 1.02),
        Estimate(seconds * 0.85, seconds, seconds * 1.15),
        2.0,
        "Read by some.",
    )


ITEMS = (
    item("zstd", 3, 64 * KIB, 800 * MIB, 12),
    item("zlib", 6, 64 * KIB, 820 * MIB, 40),
    item("zstd", 9, 64 * KIB, 760 * MIB, 50),
    item("zlib", 1, 64 * KIB, 900 * MIB, 11),
    item("zstd", 9, 2 * MIB, 700 * MIB, 55),
    item("none", None, 64 * KIB, 2000 * MIB, 4),
)
FORECAST = Forecast(ITEMS, 4096 * MIB, 2000 * MIB, 448 * MIB, 2, verify=True, write_measured=False)
SIGNATURE = Signature((1, 2), 1000 * MIB, 3)
FOUND = Forecasted(ForecastRequest(Path("/disk.qcow2")), SIGNATURE, 1000 * MIB, FORECAST)


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> Iterator[ForecastPanel]:
    runner = BackgroundRunner(interval_ms=10)
    made = ForecastPanel(runner, theme)
    qtbot.addWidget(made)
    made.resize(640, 480)
    made.show()
    yield made
    made.drop()
    qtbot.waitUntil(lambda: not runner.active, timeout=10_000)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    path = tmp_path / "big.raw"
    path.write_bytes(pattern(48 * MIB))
    return path


# -------------------------------------------------------------------- the panel


def test_a_forecast_is_run_and_shown(qtbot: QtBot, panel: ForecastPanel, data_image: Path) -> None:
    request = ForecastRequest(data_image, target_folder=data_image.parent, candidates=QUICK)
    with qtbot.waitSignal(panel.forecasted, timeout=20_000) as forecasted:
        panel.start(request)
        assert panel.state is ForecastState.RUNNING
        assert panel.stop_button.isVisible()
        assert not panel.start_button.isVisible()
    (found,) = forecasted.args
    assert found.request == request
    assert found.source_bytes == data_image.stat().st_size
    assert {one.candidate for one in found.forecast.candidates} == set(QUICK)
    assert panel.table.isVisible()
    assert len(panel.table.table.rows) == len(QUICK)
    assert panel.chart.isVisible()
    assert "All 512 KiB tried" in panel.basis.text()


def test_stopping_is_quick_and_keeps_it_stopped(
    qtbot: QtBot, panel: ForecastPanel, big: Path
) -> None:
    panel.start(ForecastRequest(big, candidates=(Candidate("zstd", 19, 2 * MIB),)))
    qtbot.waitUntil(lambda: panel.progress.maximum() > 0, timeout=20_000)  # it reads
    began = time.monotonic()
    panel.stop_button.click()
    qtbot.waitUntil(lambda: panel.state is ForecastState.EMPTY)
    assert time.monotonic() - began < 2
    assert panel.stopped
    assert panel.found is None


def test_a_failure_is_a_sentence(qtbot: QtBot, panel: ForecastPanel, tmp_path: Path) -> None:
    panel.clear()
    panel.start(ForecastRequest(tmp_path / "gone.qcow2", candidates=QUICK))
    qtbot.waitUntil(lambda: panel.state is ForecastState.FAILED)
    assert "gone.qcow2" in panel.message.text()
    assert "Traceback" not in panel.message.text()
    assert panel.start_button.isEnabled()


def test_a_later_forecast_overtakes_an_earlier_one(
    qtbot: QtBot, panel: ForecastPanel, big: Path, data_image: Path
) -> None:
    panel.start(ForecastRequest(big, candidates=(Candidate("zstd", 19, 2 * MIB),)))
    panel.start(ForecastRequest(data_image, candidates=QUICK))
    qtbot.waitUntil(lambda: panel.state is ForecastState.DONE, timeout=20_000)
    assert panel.found is not None
    assert panel.found.request.source == data_image


def test_rows_and_points_are_chosen_together(qtbot: QtBot, panel: ForecastPanel) -> None:
    panel.show_found(FOUND)
    assert [row.cells[0] for row in panel.table.table.rows] == [
        candidate_name(one.candidate) for one in by_size(FORECAST)
    ]
    assert not panel.use_button.isEnabled()
    panel.table.select_row(0)
    assert panel.selected() is ITEMS[4]
    panel.chart.chosen.emit(ITEMS[0])
    assert panel.selected() is ITEMS[0]
    with qtbot.waitSignal(panel.use_requested) as used:
        panel.use_button.click()
    assert used.args == [ITEMS[0]]


def test_the_forms_settings_are_marked(panel: ForecastPanel) -> None:
    panel.show_found(FOUND)
    panel.show_settings(ITEMS[0])
    assert panel.selected() is ITEMS[0]
    assert panel.gain.text() == "0.977 GiB now, about 800 MiB then: 20% smaller"
    panel.show_settings(None)
    assert panel.selected() is None
    assert "not among" in panel.gain.text()
    panel.show_settings(None, "raw")
    assert "raw disk" in panel.gain.text()


def test_clearing_says_why(panel: ForecastPanel) -> None:
    panel.show_found(FOUND)
    panel.clear("base.raw is missing", possible=False)
    assert panel.message.text() == "base.raw is missing"
    assert not panel.start_button.isEnabled()
    assert not panel.table.isVisible()
    assert not panel.chart.isVisible()


# -------------------------------------------------------------------- the chart


def test_a_line_joins_the_levels_of_a_type() -> None:
    series = series_of(FORECAST)
    assert [(one.compression, one.cluster_bytes, one.first_of_type) for one in series] == [
        ("none", 64 * KIB, True),
        ("zlib", 64 * KIB, True),
        ("zstd", 64 * KIB, True),
        ("zstd", 2 * MIB, False),
    ]
    assert [one.candidate.level for one in series[2].points] == [3, 9]


def test_the_chart_shows_every_range(qtbot: QtBot, theme: Theme) -> None:
    chart = ForecastChart(theme)
    qtbot.addWidget(chart)
    chart.set_forecast(FORECAST)
    chart.resize(600, 300)
    for one in ITEMS:
        ends = [
            chart.place_of(dataclasses.replace(one, size=size, seconds=seconds))
            for size in (_exactly(one.size.low), _exactly(one.size.high))
            for seconds in (_exactly(one.seconds.low), _exactly(one.seconds.high))
        ]
        assert all(0 < end.x() < 600 and 0 < end.y() < 300 for end in ends)
        assert ends[0].x() < ends[1].x()
        assert ends[2].y() < ends[0].y()  # larger is higher
    for name in ("zlib&nbsp;64&nbsp;KiB", "zstd&nbsp;2&nbsp;MiB", "not compressed"):
        assert name in chart.legend_html()


def test_a_point_is_clicked(qtbot: QtBot, theme: Theme) -> None:
    chart = ForecastChart(theme)
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.set_forecast(FORECAST)
    spot = chart.place_of(ITEMS[5]).toPoint()
    with qtbot.waitSignal(chart.chosen) as chosen:
        QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == [ITEMS[5]]
    with qtbot.assertNotEmitted(chart.chosen):
        QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
        QTest.mouseClick(chart, Qt.MouseButton.RightButton, pos=spot)


def _exactly(value: float) -> Estimate:
    return Estimate(value, value, value)


def test_points_and_ring_are_painted(qtbot: QtBot, theme: Theme) -> None:
    chart = ForecastChart(theme)
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.set_forecast(FORECAST)
    by_name = {one.compression: one for one in series_of(FORECAST)}
    without = chart.grab().toImage()
    for name, colour in (("zstd", theme.colours.accent), ("zlib", theme.colours.warning)):
        place = chart.place_of(by_name[name].points[0])
        found = QColor(colour) if by_name[name].first_of_type else QColor(theme.colours.panel)
        assert without.pixelColor(place.toPoint()) == found
    chart.set_current(ITEMS[0])
    beside = (chart.place_of(ITEMS[0]) + QPointF(-9, 0)).toPoint()
    assert chart.grab().toImage().pixelColor(beside) != without.pixelColor(beside)


def test_the_chart_follows_the_theme(qtbot: QtBot, theme: Theme) -> None:
    chart = ForecastChart(theme)
    qtbot.addWidget(chart)
    chart.set_forecast(FORECAST)
    chart.set_current(ITEMS[0])
    light = chart.legend_html()
    theme.choose(ColourScheme.DARK)
    assert chart.grab().toImage().pixelColor(1, 1).name() == theme.colours.panel
    assert chart.legend_html() != light
    theme.choose(ColourScheme.LIGHT)


def test_one_candidate_is_a_chart_too(qtbot: QtBot, theme: Theme) -> None:
    chart = ForecastChart(theme)
    qtbot.addWidget(chart)
    nothing = item("zstd", 3, 64 * KIB, 0, 0)
    chart.set_forecast(Forecast((nothing,), 0, 0, 0, 2, verify=True, write_measured=True))
    assert chart.grab().width() > 0


@pytest.mark.parametrize(
    ("low", "high"), [(0, 5 * KIB), (700 * MIB, 930 * MIB), (0.1 * MIB, 3000 * MIB), (5.0, 6.0)]
)
def test_size_ticks_are_few_and_round(low: float, high: float) -> None:
    ticks = size_axis(low, high).ticks
    assert 2 <= len(ticks) <= 11
    assert all(low <= tick <= high for tick, _ in ticks)
    assert all(len(text) <= 9 for _, text in ticks)


@pytest.mark.parametrize(("low", "high"), [(0.02, 0.5), (4, 55), (10, 14), (3600, 90_000)])
def test_time_ticks_are_few_and_round(low: float, high: float) -> None:
    ticks = seconds_axis(math.log10(low), math.log10(high)).ticks
    assert 2 <= len(ticks) <= 12
    texts = [text for _, text in ticks]
    assert len(set(texts)) == len(texts), texts


# -------------------------------------------------------------------- work and words


def forecast(request: ForecastRequest) -> Forecasted:
    with QPoolExecutor(2) as executor:
        return ForecastWork(request, executor)(CancelToken())


def test_referenced_files_are_read_only_when_allowed(tmp_path: Path) -> None:
    base = tmp_path / "base.raw"
    base.write_bytes(b"base" * 65536)
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    overlay = builder.build().write_to(tmp_path / "overlay.qcow2")
    with pytest.raises(QcowError, match=r"base\.raw"):
        forecast(ForecastRequest(overlay, candidates=QUICK))
    found = forecast(ForecastRequest(overlay, consent=Consent((base,)), candidates=QUICK))
    assert found.forecast.stored_bytes == 256 * KIB


def test_candidates_that_are_too_small_for_the_disk_are_left_out(tmp_path: Path) -> None:
    path = ImageBuilder(size=1 << 46, cluster_bits=21).build().write_to(tmp_path / "huge.qcow2")
    small, large = Candidate("zstd", 1, 512), Candidate("zstd", 1, 2 * MIB)
    found = forecast(ForecastRequest(path, candidates=(small, large)))
    assert [one.candidate for one in found.forecast.candidates] == [large]
    with pytest.raises(OptionsError):
        forecast(ForecastRequest(path, candidates=(small,)))


def test_a_forecast_is_kept_while_its_file_stays() -> None:
    cache = ForecastCache()
    cache.put(FOUND)
    request = FOUND.request
    assert cache.get(request, SIGNATURE) is FOUND
    assert cache.get(request, Signature((1, 2), 1000 * MIB, 4)) is None
    assert cache.get(ForecastRequest(request.source, snapshot="1"), SIGNATURE) is None
    assert (
        cache.get(ForecastRequest(request.source, consent=Consent((Path("b"),))), SIGNATURE) is None
    )
    for number in range(100):
        other = ForecastRequest(Path(f"/{number}"))
        cache.put(Forecasted(other, SIGNATURE, 1, FORECAST))
    assert cache.get(request, SIGNATURE) is None


def test_ranges_name_the_unit_once() -> None:
    assert size_range_text(Estimate(800 * MIB, 810 * MIB, 820 * MIB)) == "800 – 820 MiB"
    assert size_range_text(Estimate(900 * KIB, MIB, 2 * MIB)) == "900 KiB – 2 MiB"
    assert size_range_text(Estimate(MIB, MIB, MIB)) == "1 MiB"
    assert seconds_range_text(Estimate(3.0, 4.0, 5.0)) == "3.0 – 5.0 s"
    assert seconds_range_text(Estimate(50, 60, 70)) == "50 s – 1:10"


def test_the_table_sorts_by_what_it_means() -> None:
    rows = forecast_table(by_size(FORECAST)).rows
    assert [row.cells[1] for row in rows] == [
        "700 MiB",
        "760 MiB",
        "800 MiB",
        "820 MiB",
        "900 MiB",
        "1.95 GiB",
    ]
    assert all(len(row.sort_keys) == len(row.cells) for row in rows)
    times = [row.sort_keys[3] for row in rows]
    assert times == [55_000, 50_000, 12_000, 40_000, 11_000, 4_000]


def test_what_the_figures_hold_for() -> None:
    assert basis_text(FORECAST) == (
        "448 MiB of 1.95 GiB tried, ranges with 95% confidence, 2 threads, with verifying, "
        "without writing: the folder could not be tried"
    )


@pytest.mark.parametrize(
    ("before", "words"), [(700, "as large"), (800, "12% smaller"), (350, "100% larger")]
)
def test_the_gain_in_words(before: int, words: str) -> None:
    found = Forecasted(FOUND.request, SIGNATURE, before * MIB, FORECAST)
    assert words in gain_text(found, ITEMS[4])
