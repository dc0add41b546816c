"""The conversion form in the window: from an image that is open to the verified file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pytestqt.qtbot import QtBot

from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.jobs import JobState
from qcowgui.gui.main_window import MainWindow
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
