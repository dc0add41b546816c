"""The conversion form in the window: from an image that is open to the verified file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pytestqt.qtbot import QtBot

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.consent import Consent
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.forecast_panel import ForecastState
from qcowgui.gui.jobs import JobController, JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.queue_store import QueueStore
from qcowgui.gui.queue_text import qcowgui_text
from tests.gui.support import open_image, state_of
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder


def settled(qtbot: QtBot, form: ConvertDialog) -> ConvertDialog:
    form.forecast.stopped = True
    form.show()
    qtbot.waitUntil(lambda: not form.scout.busy, timeout=20_000)
    return form


def compare(first: Path, second: Path) -> None:
    run = subprocess.run(
        ["qemu-img", "compare", first, second], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_image_that_is_shown_is_converted(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    form = settled(qtbot, window.convert_dialog())
    form.cards.cards["fastest"].click()
    form.ending.start_button.click()
    assert not form.isVisible()
    (job,) = window.controller.jobs
    qtbot.waitUntil(lambda: job.state.ended, timeout=20_000)
    assert state_of(job) is JobState.DONE
    compare(data_image, data_image.with_name("data-zstd.qcow2"))


def test_a_folder_is_converted_one_image_after_the_other(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(3):
        builder = ImageBuilder(size=1 << 20)
        builder.write(0, pattern(1 << 16, seed=number))
        builder.build().write_to(folder / f"{number}.qcow2")
    form = window.queue.form([folder])
    form.forecast.stopped = True
    qtbot.waitUntil(lambda: len(form.entries.items) == 3)
    settled(qtbot, form)
    form.cards.cards["compatible"].click()
    form.ending.start_button.click()
    jobs = window.controller.jobs
    assert len(jobs) == 3
    qtbot.waitUntil(lambda: not window.controller.active, timeout=20_000)
    assert [state_of(job) for job in jobs] == [JobState.DONE] * 3
    for number in range(3):
        compare(folder / f"{number}.qcow2", folder / f"{number}-zlib.qcow2")


def test_a_second_form_suggests_no_name_that_a_job_will_make(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    settled(qtbot, window.convert_dialog()).ending.start_button.click()
    (job,) = window.controller.jobs
    again = settled(qtbot, window.convert_dialog())
    assert again.entries.items[0].target != job.options.target
    qtbot.waitUntil(lambda: not window.controller.active, timeout=20_000)
    again.reject()


def test_optimise_as_a_copy_is_a_command(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    assert not window.actions_.optimise.isEnabled()
    open_image(window, qtbot, data_image)
    window.actions_.optimise.trigger()
    (form,) = window.findChildren(ConvertDialog)
    settled(qtbot, form)
    assert form.cards.cards["optimise"].isChecked()
    form.reject()


def moved_backing(folder: Path) -> tuple[Path, Path, Path]:
    """An image whose backing file was moved, that file, and a copy that qemu-img can still read."""
    (folder / "moved").mkdir()
    moved = folder / "moved" / "base file.raw"
    moved.write_bytes(pattern(1 << 18))
    builder = ImageBuilder(size=1 << 20, backing_file="/nowhere/base", backing_format="raw")
    builder.write(0, b"top")
    top = builder.build().write_to(folder / "top.qcow2")
    readable = folder / "readable.qcow2"
    readable.write_bytes(top.read_bytes())
    rebase = ["qemu-img", "rebase", "-u", "-F", "raw", "-b", f"{moved}", f"{readable}"]
    subprocess.run(rebase, check=True, capture_output=True)
    return top, moved, readable


def test_an_image_is_forecast_and_converted_with_its_backing_file_where_a_person_located_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    top, moved, readable = moved_backing(tmp_path)
    open_image(window, qtbot, top)
    view = window.current_view()
    assert view is not None
    chain = view.chain.content
    qtbot.waitUntil(lambda: not chain.busy)
    chain.locate_at(chain.links[1], moved)
    qtbot.waitUntil(lambda: not chain.busy)
    form = settled(qtbot, window.convert_dialog())
    assert form.sources.references.text() == "Also reads base file.raw, as you allowed."
    assert not form.sources.allow_button.isVisible()
    form.cards.cards["fastest"].click()
    form.forecast.start_button.click()
    qtbot.waitUntil(lambda: form.forecast.state is ForecastState.DONE, timeout=20_000)
    assert form.forecast.found is not None
    assert form.forecast.found.forecast.stored_bytes >= 1 << 18
    form.ending.start_button.click()
    (job,) = window.controller.jobs
    qtbot.waitUntil(lambda: job.state.ended, timeout=20_000)
    assert state_of(job) is JobState.DONE, job.error
    compare(readable, job.options.target)
    command, comment = qcowgui_text(job).splitlines()
    assert f"--allow-backing={moved}" in command.replace("'", "")
    assert comment == f"# Here, /nowhere/base of {top} was read at {moved}."


def test_a_queue_that_comes_back_knows_where_files_were_located(
    qtbot: QtBot, tmp_path: Path
) -> None:
    top, moved, readable = moved_backing(tmp_path)
    first, second = JobController(interval_ms=5), JobController(interval_ms=5)
    store = QueueStore(tmp_path / "state")
    first.remember_in(store)
    qtbot.waitUntil(lambda: not first.active)
    options = ConvertOptions(top, tmp_path / "flat.raw")
    job = first.start(options, Consent().locating((top, "/nowhere/base"), moved))
    first.pause(job)
    qtbot.waitUntil(lambda: not first._storing)
    first.suspend()
    qtbot.waitUntil(lambda: job.state.ended)
    store.close()
    second.remember_in(QueueStore(tmp_path / "state"))
    qtbot.waitUntil(lambda: not second.active)
    (again,) = second.jobs
    assert (again.state, again.consent) == (JobState.INTERRUPTED, job.consent)
    second.resume_interrupted()
    qtbot.waitUntil(lambda: again.state.ended, timeout=20_000)
    assert state_of(again) is JobState.DONE, again.error
    compare(readable, options.target)
