"""The panel of conversions: rows, figures, the total, dragging out, the map that fills."""

from __future__ import annotations

import shlex
import subprocess
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.consent import NOTHING_ALLOWED
from qcowgui.gui.heatmap.layers import Order
from qcowgui.gui.jobs import JobController, JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.queue_notices import QueueNotices
from qcowgui.gui.queue_store import QueueStore, SavedJob
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.conversions import ConversionsPanel
from qcowgui.gui.views.queue_row import JobRow
from tests.gui.support import begin, open_image, state_of, wait_for
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

MIB = 1 << 20


@pytest.fixture
def controller(qtbot: QtBot) -> JobController:  # noqa: ARG001  the application must be there
    return JobController()


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, controller: JobController) -> ConversionsPanel:
    made = ConversionsPanel(controller, theme)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    return made


def raw(image: Path, name: str) -> ConvertOptions:
    return ConvertOptions(image, image.parent / name)


def shown_buttons(row: JobRow) -> set[str]:
    return {key for key, made in row.buttons.items() if made.isVisible()}


def names_from_top(panel: ConversionsPanel) -> list[str]:
    rows = sorted(panel.rows.values(), key=lambda row: row.y())
    return [row.job.options.target.name for row in rows]


# -------------------------------------------------------------------- rows


def test_a_running_row_has_its_figures(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, slow_options: ConvertOptions
) -> None:
    job = begin(qtbot, controller, slow_options)
    row = panel.rows[job]
    qtbot.waitUntil(lambda: "left" in row.status.text(), timeout=20_000)
    words = row.status.text().split("  ·  ")
    assert words[0].startswith("Converting ")
    assert words[0].endswith("%")
    assert words[1].endswith(" MB/s in")
    assert words[2].endswith(" MB/s out")
    assert words[3].startswith("ratio ")
    assert words[4].endswith(" s")
    assert shown_buttons(row) == {"pause", "cancel"}
    assert row.bar.value() > 0
    assert row.verify_bar.value() == 0
    assert panel.plot.isVisible()
    panel.resize(600, 300)
    assert not panel.plot.isVisible()  # the rows need the room
    panel.resize(900, 300)
    assert panel.plot.isVisible()
    row.buttons["pause"].click()
    assert row.status.text().startswith("Paused at Converting ")
    assert shown_buttons(row) == {"resume", "cancel"}
    still = row.bar.value()
    qtbot.wait(300)
    assert row.bar.value() == still
    row.buttons["resume"].click()
    qtbot.waitUntil(lambda: row.status.text().startswith("Verifying "), timeout=20_000)
    assert row.bar.value() == row.bar.maximum()
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert "verified" in row.status.text()
    assert not row.bar.isVisible()
    assert panel.plot.job is job
    assert job.throughput.verifying_from is not None


def test_rows_stand_in_the_order_in_which_they_run(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, data_image: Path
) -> None:
    jobs = [controller.start(raw(data_image, f"{number}.raw")) for number in range(4)]
    rows = [panel.rows[job] for job in jobs]
    qtbot.waitUntil(lambda: names_from_top(panel) == ["0.raw", "1.raw", "2.raw", "3.raw"])
    assert [rows[1].buttons[key].isEnabled() for key in ("up", "down")] == [False, True]
    assert [rows[2].buttons[key].isEnabled() for key in ("up", "down")] == [True, True]
    assert [rows[3].buttons[key].isEnabled() for key in ("up", "down")] == [True, False]
    rows[3].buttons["up"].click()
    rows[3].buttons["up"].click()
    qtbot.waitUntil(lambda: names_from_top(panel) == ["0.raw", "3.raw", "1.raw", "2.raw"])
    assert [rows[3].buttons[key].isEnabled() for key in ("up", "down")] == [False, True]
    assert [rows[2].buttons[key].isEnabled() for key in ("up", "down")] == [True, False]
    rows[1].buttons["cancel"].click()
    assert jobs[1].state is JobState.CANCELLED
    with qtbot.waitSignal(controller.idle):
        pass
    assert shown_buttons(rows[0]) == {"folder", "remove"}


def test_a_source_that_can_not_be_read_offers_to_go_on_with_zeros(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, data_image: Path
) -> None:
    data = data_image.read_bytes()
    data_image.write_bytes(data[: len(data) - (128 << 10)])
    job = controller.start(raw(data_image, "x.raw"))
    row = panel.rows[job]
    wait_for(qtbot, controller, job)
    assert shown_buttons(row) == {"salvage", "retry", "copy", "remove"}
    row.buttons["salvage"].click()
    assert panel.rows == {job: row}
    wait_for(qtbot, controller, job)
    assert state_of(job) is JobState.DONE
    assert "losses" in shown_buttons(row)
    row.buttons["losses"].click()
    start, length, reason = QGuiApplication.clipboard().text().splitlines()[0].split("\t")
    assert (int(start, 16), int(length)) == ((512 - 128) << 10, 128 << 10)
    assert reason


def test_commands_are_copied(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, data_image: Path
) -> None:
    """What is copied for qemu-img really runs, and does the same."""
    target = data_image.with_name("a b.qcow2")
    options = ConvertOptions(data_image, target, "qcow2", compression="zstd", level=3)
    job = controller.start(options)
    wait_for(qtbot, controller, job)
    menu = panel.rows[job].menu()
    actions = {action.text(): action for action in menu.actions() if action.text()}
    actions["Copy as qemu-img command"].trigger()
    command, *comments = QGuiApplication.clipboard().text().splitlines()
    assert comments
    assert all(line.startswith("# ") for line in comments)
    target.unlink()
    subprocess.run(shlex.split(command), check=True)
    subprocess.run(["qemu-img", "compare", data_image, target], check=True, capture_output=True)
    actions["Copy as qcowgui command"].trigger()
    argv = shlex.split(QGuiApplication.clipboard().text())
    assert argv[:2] == ["qcowgui", "convert"]
    assert argv[-2:] == [str(data_image), str(target)]
    menu.close()


def test_a_finished_file_can_be_dragged_out(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, data_image: Path
) -> None:
    job = controller.start(raw(data_image, "größe %20.raw"))
    row = panel.rows[job]
    assert row.dragged_content() is None
    wait_for(qtbot, controller, job)
    content = row.dragged_content()
    assert content is not None
    assert [QUrl(url).toLocalFile() for url in content.urls()] == [str(job.options.target)]
    assert row.cursor().shape() is Qt.CursorShape.OpenHandCursor


def test_very_many_rows_leave_the_window_its_breath(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, data_image: Path
) -> None:
    began = time.monotonic()
    jobs = controller.start_all(
        [(raw(data_image, f"{number}.raw"), NOTHING_ALLOWED) for number in range(400)]
    )
    controller.pause(jobs[0])
    assert time.monotonic() - began < 2  # 0.2 s on an idle machine; 6 s with all rows at once
    assert len(panel.rows) < 40
    controller.move(jobs[-1], -1)
    controller.cancel(jobs[-2])
    controller.remove(jobs[-2])
    qtbot.waitUntil(lambda: len(panel.rows) == 399, timeout=60_000)
    names = [job.options.target.name for job in controller.jobs]
    qtbot.waitUntil(lambda: names_from_top(panel) == names, timeout=20_000)
    controller.cancel_all()
    with qtbot.waitSignal(controller.idle):
        pass
    panel.bar.clear.click()
    assert panel.rows == {}


def tab_stops(panel: ConversionsPanel) -> list[str]:
    """What the Tab key reaches behind the line above the queue: row and button."""
    found = []
    widget = panel.bar.add.nextInFocusChain()
    while widget is not None and widget is not panel.bar.add:
        row = widget.parentWidget()
        if isinstance(widget, QPushButton) and widget.isVisible() and isinstance(row, JobRow):
            name = next((key for key, made in row.buttons.items() if made is widget), "more")
            found.append(f"{row.job.options.target.name} {name}")
        widget = widget.nextInFocusChain()
    return found


def test_the_keyboard_goes_from_left_to_right_and_down(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, slow_options: ConvertOptions
) -> None:
    running = begin(qtbot, controller, slow_options)
    for name in ("1.raw", "2.raw"):
        controller.start(raw(slow_options.source, name))
    qtbot.waitUntil(lambda: all(row.isVisible() for row in panel.rows.values()))
    first = ["up", "down", "edit", "cancel", "more"]
    assert tab_stops(panel) == [
        *(f"slow.qcow2 {key}" for key in ("pause", "cancel", "more")),
        *(f"1.raw {key}" for key in first),
        *(f"2.raw {key}" for key in first),
    ]
    controller.move(controller.jobs[2], -1)
    controller.pause(running)  # another button, made now
    assert tab_stops(panel) == [
        *(f"slow.qcow2 {key}" for key in ("resume", "cancel", "more")),
        *(f"2.raw {key}" for key in first),
        *(f"1.raw {key}" for key in first),
    ]
    controller.cancel_all()
    qtbot.waitUntil(lambda: not controller.active)


# -------------------------------------------------------------------- all of them


def test_the_total_and_what_can_be_done_with_all(
    qtbot: QtBot, controller: JobController, panel: ConversionsPanel, slow_options: ConvertOptions
) -> None:
    bar = panel.bar
    assert not bar.bar.isVisible()
    assert bar.text.text() == ""
    job = begin(qtbot, controller, slow_options)
    controller.start(raw(slow_options.source, "other.raw"))
    qtbot.waitUntil(lambda: bar.text.text().startswith("0 of 2  ·  "))
    assert bar.bar.isVisible()
    bar.pause.click()
    assert state_of(job) is JobState.PAUSED
    qtbot.waitUntil(lambda: bar.pause.text() == "Resume")
    bar.pause.click()
    assert state_of(job) is JobState.RUNNING
    finished = []
    bar.finished.connect(lambda total: finished.append(total.cancelled))
    bar.cancel.click()
    qtbot.waitUntil(lambda: not controller.active, timeout=5_000)
    assert finished == [2]
    qtbot.waitUntil(lambda: bar.text.text() == "0 conversions done  ·  2 cancelled")
    bar.clear.click()
    assert panel.rows == {}
    assert controller.jobs == ()


def test_interrupted_rows_are_resumed_together(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, data_image: Path
) -> None:
    store = QueueStore(tmp_path / "state")
    store.open()
    names = ("1.raw", "2.raw", "3.raw")
    store.write([SavedJob(raw(data_image, name)) for name in names])
    store.close()
    window.controller.remember_in(QueueStore(tmp_path / "state"))
    qtbot.waitUntil(lambda: len(window.controller.jobs) == 3)
    qtbot.waitUntil(window.conversions.isVisible)  # nobody has to look for them
    row = window.conversions.rows[window.controller.jobs[0]]
    assert row.status.text().startswith("Interrupted")
    assert shown_buttons(row) == {"continue", "edit", "remove"}
    window.conversions.bar.resume.click()
    with qtbot.waitSignal(window.controller.idle):
        pass
    assert [job.state for job in window.controller.jobs] == [JobState.DONE] * 3
    assert {path.name for path in tmp_path.glob("*.raw")} == set(names)
    qtbot.waitUntil(lambda: not window.conversions.bar.resume.isVisible())


# -------------------------------------------------------------------- the map


def test_the_map_of_the_source_fills(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    builder = ImageBuilder(size=64 * MIB)
    for start in range(0, 64 * MIB, 2 * MIB):
        builder.write(start, pattern(MIB, seed=start))
    source = builder.build().write_to(tmp_path / "source.qcow2")
    open_image(window, qtbot, source)
    view = window.current_view()
    assert view is not None
    view.map.show_orders(Order.GUEST)
    options = ConvertOptions(source, tmp_path / "x.qcow2", "qcow2", compression="zlib", level=12)
    job = begin(qtbot, window.controller, options)
    qtbot.waitUntil(lambda: window.queue.map.veil is not None)
    veil = window.queue.map.veil
    assert veil is not None
    assert veil.canvas is view.map.guest.canvas
    window.controller.pause(job)
    qtbot.waitUntil(lambda: veil.done_clusters > 0)
    assert veil.done_clusters <= 64 * MIB >> 16
    canvas = view.map.guest.canvas
    rect = canvas.rect_of_cluster((64 * MIB >> 16) - 1)
    assert rect is not None
    veiled = canvas.grab().toImage().pixelColor(rect.center())
    window.controller.cancel(job)
    qtbot.waitUntil(lambda: not window.controller.active)
    assert window.queue.map.veil is None
    assert canvas.grab().toImage().pixelColor(rect.center()) != veiled


def test_a_tab_that_is_closed_takes_its_veil_along(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    options = ConvertOptions(data_image, data_image.with_name("x.qcow2"), "qcow2")
    window.controller.start(slow_options)
    waiting = window.controller.start(options)
    assert window.queue.map.veil is None  # the source of what runs is in no tab
    window.actions_.close_tab.trigger()
    window.controller.cancel_all()
    qtbot.waitUntil(lambda: not window.controller.active)
    assert waiting.state is JobState.CANCELLED


# -------------------------------------------------------------------- notices


def test_nobody_is_told_what_they_see(
    window: MainWindow, qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda _self: None)
    monkeypatch.setattr(
        QSystemTrayIcon, "showMessage", lambda _self, title, text, _icon: told.append((title, text))
    )
    notices = QueueNotices(window, theme.icon("convert"))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert not notices.tell("Done", "1 conversion done")
    monkeypatch.setattr(window, "isActiveWindow", lambda: False)
    assert notices.tell("Done", "1 conversion done")
    assert told == [("Done", "1 conversion done")]
    window.hide()  # it is closing
    assert not notices.tell("Done", "1 conversion done")
    window.show()


def test_the_end_of_the_queue_is_told(
    window: MainWindow, qtbot: QtBot, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str, bool]] = []
    monkeypatch.setattr(
        window.queue._notices,
        "tell",
        lambda title, text, *, trouble: told.append((title, text, trouble)),
    )
    window.controller.start(raw(data_image, "1.raw"))
    window.controller.start(raw(data_image, "no/2.raw"))
    qtbot.waitUntil(lambda: not window.controller.active)
    window.controller.start(raw(data_image, "3.raw"))
    qtbot.waitUntil(lambda: not window.controller.active)
    assert told == [
        (
            "Conversions finished, not all of them well",
            "1 conversion done  ·  1 failed",
            True,
        ),
        ("Conversions finished", "1 conversion done", False),
    ]
