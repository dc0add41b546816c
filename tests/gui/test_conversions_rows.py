"""What a person can do with a row of the queue, in the window."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.consent import NOTHING_ALLOWED
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.jobs import JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.views.queue_row import JobRow
from tests.gui.support import button, open_question, state_of, wait_for
from tests.support.builder import ImageBuilder

MIB = 1 << 20


def start(window: MainWindow, options: ConvertOptions) -> JobRow:
    """The row of a conversion that has begun."""
    window.queue.start(options)
    return window.conversions.rows[window.controller.jobs[-1]]


def test_the_result_is_inspected(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    target = data_image.with_name("data-zstd.qcow2")
    row = start(window, ConvertOptions(data_image, target, "qcow2", compression="zstd"))
    qtbot.waitUntil(row.isVisible)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert "verified" in row.status.text()
    assert "→" in row.status.text()
    row.buttons["open"].click()
    qtbot.waitUntil(lambda: not window.loader.active)
    view = window.current_view()
    assert view is not None
    assert view.session.path == target
    assert view.session.inspected is not None
    assert view.session.inspected.report.header.compression_name == "zstd"
    row.buttons["remove"].click()
    assert window.conversions.rows == {}


def test_a_raw_result_is_not_offered_for_inspection(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    row = start(window, ConvertOptions(data_image, data_image.with_name("x.raw")))
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert not row.buttons["open"].isVisible()
    assert row.buttons["folder"].isVisible()


def test_an_error_is_a_sentence_in_its_row(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    folder = data_image.with_name("later")
    row = start(window, ConvertOptions(data_image, folder / "x.raw"))
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.FAILED
    assert str(folder) in row.status.text()
    assert "make it first" in row.status.text()
    assert "Traceback" not in row.status.text()
    row.buttons["copy"].click()
    assert "Traceback" in QGuiApplication.clipboard().text()
    folder.mkdir()
    row.buttons["retry"].click()
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert window.conversions.rows == {row.job: row}


def test_what_a_salvage_lost_is_listed_beside_the_target(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    data = data_image.read_bytes()
    data_image.write_bytes(data[: len(data) - (128 << 10)])
    target = data_image.with_name("cut.raw")
    row = start(window, ConvertOptions(data_image, target))
    wait_for(qtbot, window.controller, row.job)
    row.buttons["salvage"].click()
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert "could not be read" in row.status.text()
    assert row.status.text().endswith("The losses are listed in cut.raw.losses.txt")
    assert target.with_name("cut.raw.losses.txt").exists()


def test_without_consent_the_row_asks(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(b"base" * 65536)
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    overlay = builder.build().write_to(tmp_path / "overlay.qcow2")
    row = start(window, ConvertOptions(overlay, tmp_path / "flat.raw"))
    wait_for(qtbot, window.controller, row.job)
    assert "was not opened without your consent: base.raw" in row.status.text()
    row.buttons["allow"].click()
    open_question().reject()
    assert row.job.state is JobState.FAILED
    row.buttons["allow"].click()
    button(open_question(), "Allow").click()
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert (tmp_path / "flat.raw").read_bytes()[:8] == b"basebase"


def test_cancel_answers_at_once(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    row = start(window, slow_options)
    qtbot.waitUntil(lambda: row.bar.value() > 0 and "MB/s" in row.status.text(), timeout=20_000)
    began = time.monotonic()
    row.buttons["cancel"].click()
    assert row.status.text() == "Cancelling…"
    assert not row.buttons["cancel"].isEnabled()
    qtbot.waitUntil(lambda: state_of(row.job) is JobState.CANCELLED)
    assert time.monotonic() - began < 0.5
    assert "nothing was left behind" in row.status.text()
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]


def test_settings_of_what_waits_are_changed_in_its_row(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions, data_image: Path
) -> None:
    running = start(window, slow_options)
    waiting = start(window, ConvertOptions(data_image, data_image.with_name("x.raw")))
    waiting.buttons["edit"].click()
    (form,) = window.findChildren(ConvertDialog)
    form.forecast.stopped = True
    qtbot.waitUntil(lambda: not form.scout.busy, timeout=20_000)
    form.cards.cards["fastest"].click()
    form.ending.start_button.click()
    assert not form.isVisible()
    assert waiting.job.options.source == data_image
    assert waiting.job.options.target_format == "qcow2"
    assert window.conversions.rows == {running.job: running, waiting.job: waiting}
    running.buttons["cancel"].click()
    wait_for(qtbot, window.controller, waiting.job)
    assert state_of(waiting.job) is JobState.DONE


def test_settings_that_come_too_late_are_refused(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    row = start(window, slow_options)
    window.queue._change(row.job, replace(slow_options, level=1), NOTHING_ALLOWED)
    assert row.job.options == slow_options
    assert window.notice.title == "Nothing was changed"
    assert "has begun meanwhile" in window.notice.text
    row.buttons["cancel"].click()
    wait_for(qtbot, window.controller, row.job)


def test_the_row_that_runs_is_scrolled_into_view(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    """In the dock as it is at the start, a few rows that have ended fill the list."""
    panel = window.conversions
    for number in range(6):
        row = start(window, ConvertOptions(data_image, data_image.with_name(f"{number}.raw")))
        wait_for(qtbot, window.controller, row.job)
    large = data_image.with_name("large.raw")
    with large.open("wb") as file:
        file.truncate(1 << 40)
    last = start(window, ConvertOptions(large, large.with_name("l.qcow2"), "qcow2", verify=False))
    window.controller.pause(last.job)
    qtbot.waitUntil(lambda: not last.visibleRegion().isEmpty())
    assert panel.rows[window.controller.jobs[0]].visibleRegion().isEmpty()
    window.controller.cancel(last.job)
    wait_for(qtbot, window.controller, last.job)
