"""Converting through the window: the form, the panel, the questions to a person."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from qcowgui.codec.registry import LEVELS, CompressionType
from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.convert_form import level_range, suggest_target
from qcowgui.gui.jobs import JobState
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.opening import inspect_image
from qcowgui.gui.views.conversions import JobRow
from qcowgui.image.references import resolve_reference
from tests.gui.support import button, open_image, open_question, slow_source, state_of, wait_for
from tests.support.builder import ImageBuilder

MIB = 1 << 20


@pytest.fixture
def dialog(qtbot: QtBot, data_image: Path) -> ConvertDialog:
    """The form for an image that is open."""
    made = ConvertDialog(data_image, inspect_image(data_image))
    qtbot.addWidget(made)
    made.show()
    return made


def choose(combo: QComboBox, data: object) -> None:
    index = combo.findData(data)
    assert index >= 0, data
    combo.setCurrentIndex(index)


def only_row(window: MainWindow) -> JobRow:
    (row,) = window.conversions.rows.values()
    return row


# -------------------------------------------------------------------- the form


def test_the_form_starts_with_something_sensible(dialog: ConvertDialog, data_image: Path) -> None:
    options = dialog.options()
    assert options == ConvertOptions(data_image, data_image.with_name("data.raw"), "raw")
    assert dialog.start_button.isEnabled()
    assert not dialog.fields.compression.isVisible()
    assert not dialog.fields.more.isVisible()


def test_every_field_reaches_the_options(dialog: ConvertDialog, data_image: Path) -> None:
    fields = dialog.fields
    fields.choose("qcow2", "zlib")
    choose(fields.cluster_size, 2 * MIB)
    fields.threads.setValue(3)
    fields.verify.setChecked(False)
    choose(fields.refcount_bits, 64)
    choose(fields.deflate_window, "4k")
    fields.level.setValue(9)
    fields.extended_l2.setChecked(True)
    fields.lazy_refcounts.setChecked(True)
    fields.salvage.setChecked(True)
    dialog.choose_target(str(data_image.with_name("other.qcow2")))
    assert dialog.options() == ConvertOptions(
        data_image,
        data_image.with_name("other.qcow2"),
        "qcow2",
        compression="zlib",
        level=9,
        window="4k",
        cluster_bytes=2 * MIB,
        refcount_bits=64,
        extended_l2=True,
        lazy_refcounts=True,
        threads=3,
        verify=False,
        salvage=True,
    )
    fields.choose("raw", "zlib")  # what a raw target can't have counts as not asked for
    choose(fields.sparse, 0)
    assert dialog.options() == ConvertOptions(
        data_image,
        data_image.with_name("other.qcow2"),
        "raw",
        sparse_bytes=0,
        threads=3,
        verify=False,
        salvage=True,
    )


@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_the_level_has_the_range_of_its_type(dialog: ConvertDialog, compression: str) -> None:
    kind = CompressionType.ZSTD if compression == "zstd" else CompressionType.ZLIB
    dialog.fields.choose("qcow2", "zstd" if compression == "zstd" else "zlib")
    level = dialog.fields.level
    assert dialog.options().level is None
    assert level.text() == (
        f"default: {LEVELS[kind].default}  ({LEVELS[kind].lowest} – {LEVELS[kind].highest})"
    )
    level.setValue(99)
    assert dialog.options().level == LEVELS[kind].highest
    level.setValue(LEVELS[kind].lowest)
    assert dialog.options().level == LEVELS[kind].lowest


def test_without_compression_there_is_no_level(dialog: ConvertDialog) -> None:
    dialog.fields.choose("qcow2", "none")
    assert not dialog.fields.level.isEnabled()
    assert dialog.options().level is None
    assert level_range("none", small_window=False) is None


def test_contradictions_are_said_at_once(dialog: ConvertDialog) -> None:
    dialog.fields.choose("qcow2", "zstd")
    assert dialog.note.text() == "zstd needs QEMU ≥ 5.1; 7-Zip can't read it."
    choose(dialog.fields.compat, "0.10")
    assert dialog.error.isVisible()
    assert "zstd" in dialog.error.text()
    assert not dialog.note.isVisible()
    assert not dialog.start_button.isEnabled()
    choose(dialog.fields.compat, "1.1")
    assert not dialog.error.isVisible()
    assert dialog.start_button.isEnabled()
    dialog.target.clear()
    assert dialog.error.text() == "Choose a name for the target"
    dialog.source.clear()
    assert dialog.error.text() == "Choose the image to convert"


def test_the_suggested_name_follows_until_the_user_types(
    dialog: ConvertDialog, data_image: Path
) -> None:
    dialog.fields.choose("qcow2", "zstd")
    assert dialog.target.text() == str(data_image.with_name("data-zstd.qcow2"))
    dialog.target.selectAll()
    QTest.keyClicks(dialog.target, "/x/mine")
    dialog.fields.choose("raw", "zstd")
    assert dialog.target.text() == "/x/mine"


def test_names_are_suggested_that_do_not_exist(tmp_path: Path) -> None:
    source = tmp_path / "disk.qcow2"
    assert suggest_target(source, "raw", "none") == tmp_path / "disk.raw"
    assert suggest_target(source, "qcow2", "none") == tmp_path / "disk-2.qcow2"
    assert suggest_target(source, "qcow2", "zstd") == tmp_path / "disk-zstd.qcow2"
    (tmp_path / "disk-zstd.qcow2").symlink_to("nowhere")
    assert suggest_target(source, "qcow2", "zstd") == tmp_path / "disk-zstd-2.qcow2"
    assert suggest_target(tmp_path / "a.b.IMG", "raw", "none") == tmp_path / "a.b.raw"
    assert suggest_target(tmp_path / ".raw", "raw", "none") == tmp_path / ".raw.raw"


def test_snapshots_are_offered(qtbot: QtBot, rich_image: Path, data_image: Path) -> None:
    inspected = inspect_image(rich_image)
    dialog = ConvertDialog(rich_image, inspected)
    qtbot.addWidget(dialog)
    box = dialog.fields.snapshot
    assert box.count() == 1 + len(inspected.report.snapshots)
    box.setCurrentIndex(1)
    assert dialog.options().snapshot == f"snapshot.id={inspected.report.snapshots[0].id}"
    dialog.source.setText(str(data_image))  # of which nothing is known
    assert dialog.options().snapshot is None
    assert not box.isEnabled()
    assert dialog.open_references() == []


def test_more_unfolds(dialog: ConvertDialog) -> None:
    folded = dialog.height()
    dialog.fields.more_button.setChecked(True)
    assert dialog.fields.more.isVisible()
    assert dialog.height() > folded
    dialog.fields.more_button.setChecked(False)
    assert not dialog.fields.more.isVisible()


# -------------------------------------------------------------------- a conversion


def test_converting_through_the_window(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    open_image(window, qtbot, data_image)
    dialog = window.convert_dialog()
    dialog.fields.choose("qcow2", "zstd")
    target = data_image.with_name("data-zstd.qcow2")
    dialog.start_button.click()
    row = only_row(window)
    qtbot.waitUntil(row.isVisible)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    text = row.status.text()
    assert "verified" in text
    assert "→" in text
    assert not row.bar.isVisible()
    run = subprocess.run(
        ["qemu-img", "compare", data_image, target], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
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
    target = data_image.with_name("x.raw")
    window._start_conversion(ConvertOptions(data_image, target), [])
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert not row.buttons["open"].isVisible()
    assert row.buttons["folder"].isVisible()


def test_an_existing_target_is_replaced_after_a_yes_only(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    open_image(window, qtbot, data_image)
    target = data_image.with_name("precious.raw")
    target.write_bytes(b"precious")
    dialog = window.convert_dialog()
    dialog.show()
    dialog.target.setText(str(target))
    dialog.start_button.click()
    question = open_question()
    assert "precious.raw exists" in question.text()
    question.reject()
    assert dialog.isVisible()
    assert window.controller.jobs == ()
    dialog.start_button.click()
    button(open_question(), "Replace").click()
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert target.stat().st_size == MIB


def test_the_file_dialogs_yes_counts_for_that_name_alone(
    dialog: ConvertDialog, tmp_path: Path
) -> None:
    existing = tmp_path / "existing.raw"
    existing.write_bytes(b"x")
    dialog.choose_target(str(existing))
    assert dialog.options().overwrite
    dialog.target.setText(str(existing) + "2")
    assert not dialog.options().overwrite
    dialog.choose_target(str(tmp_path / "new.raw"))
    assert not dialog.options().overwrite


def test_an_error_is_a_sentence_in_its_row(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    options = ConvertOptions(data_image, data_image.with_name("no") / "such" / "x.raw")
    window._start_conversion(options, [])
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.FAILED
    assert row.status.text()
    assert "Traceback" not in row.status.text()
    assert row.buttons["retry"].isVisible()
    row.buttons["copy"].click()
    assert "Traceback" in QGuiApplication.clipboard().text()
    row.buttons["retry"].click()
    again = only_row(window)
    assert again is not row
    wait_for(qtbot, window.controller, again.job)


def test_a_salvage_lists_what_was_lost(window: MainWindow, qtbot: QtBot, data_image: Path) -> None:
    cut = data_image.with_name("cut.qcow2")
    data = data_image.read_bytes()
    cut.write_bytes(data[: len(data) - (128 << 10)])
    target = data_image.with_name("cut.raw")
    window._start_conversion(ConvertOptions(cut, target, salvage=True), [])
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert "could not be read" in row.status.text()
    row.buttons["losses"].click()
    start, length, reason = QGuiApplication.clipboard().text().splitlines()[0].split("\t")
    assert (int(start, 16), int(length)) == ((512 - 128) << 10, 128 << 10)
    assert reason


# -------------------------------------------------------------------- referenced files


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    (tmp_path / "base.raw").write_bytes(b"base" * 65536)
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    return builder.build().write_to(tmp_path / "overlay.qcow2")


def test_the_form_asks_before_other_files_are_read(
    window: MainWindow, qtbot: QtBot, overlay: Path
) -> None:
    open_image(window, qtbot, overlay)
    dialog = window.convert_dialog()
    dialog.show()
    assert dialog.references.text() == "Refers to base.raw: read only if you allow it."
    dialog.allow_button.click()
    question = open_question()
    assert str(overlay.with_name("base.raw")) in question.informativeText()
    button(question, "Allow").click()
    assert dialog.references.text() == "Also reads base.raw, as you allowed."
    assert not dialog.allow_button.isVisible()
    dialog.start_button.click()
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert state_of(row.job) is JobState.DONE
    assert overlay.with_name("overlay.raw").read_bytes()[:8] == b"basebase"


def test_without_consent_the_row_asks(window: MainWindow, qtbot: QtBot, overlay: Path) -> None:
    window._start_conversion(ConvertOptions(overlay, overlay.with_name("flat.raw")), [])
    row = only_row(window)
    wait_for(qtbot, window.controller, row.job)
    assert "was not opened without your consent: base.raw" in row.status.text()
    row.buttons["allow"].click()
    open_question().reject()
    assert only_row(window) is row
    row.buttons["allow"].click()
    button(open_question(), "Allow").click()
    again = only_row(window)
    wait_for(qtbot, window.controller, again.job)
    assert state_of(again.job) is JobState.DONE


def test_a_file_elsewhere_comes_with_a_warning(qtbot: QtBot, tmp_path: Path) -> None:
    image = tmp_path / "a" / "image.qcow2"
    inside = AllowBox([resolve_reference("backing file", "base.raw", image)])
    outside = AllowBox([resolve_reference("data file", "/etc/passwd", image)])
    for box in (inside, outside):
        qtbot.addWidget(box)
    assert "stranger" not in inside.informativeText()
    assert "/etc/passwd" in outside.informativeText()
    assert "stranger" in outside.informativeText()
    assert outside.defaultButton().text().replace("&", "") == "Don’t read them"


# -------------------------------------------------------------------- cancelling and closing


@pytest.fixture
def slow_options(tmp_path: Path) -> ConvertOptions:
    source = slow_source(tmp_path)
    return ConvertOptions(source, tmp_path / "slow.qcow2", "qcow2", compression="zlib", level=6)


def start_slow(window: MainWindow, qtbot: QtBot, options: ConvertOptions) -> JobRow:
    window._start_conversion(options, [])
    row = only_row(window)
    qtbot.waitUntil(
        lambda: row.job.progress is not None and row.job.progress.done_bytes > 0, timeout=20_000
    )
    return row


def test_the_row_shows_how_far_it_is_and_cancels(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    row = start_slow(window, qtbot, slow_options)
    qtbot.waitUntil(lambda: row.bar.value() > 0 and "MB/s" in row.status.text())
    assert row.status.text().startswith("Converting ")
    began = time.monotonic()
    row.buttons["cancel"].click()
    assert row.status.text() == "Cancelling…"
    assert not row.buttons["cancel"].isEnabled()
    qtbot.waitUntil(lambda: state_of(row.job) is JobState.CANCELLED)
    assert time.monotonic() - began < 0.5
    assert "nothing was left behind" in row.status.text()
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]


def test_closing_while_converting_asks_once(
    window: MainWindow, qtbot: QtBot, slow_options: ConvertOptions
) -> None:
    row = start_slow(window, qtbot, slow_options)
    assert not window.close()
    assert not window.close()
    question = open_question()
    assert question.text() == "1 conversion is not finished yet."
    button(question, "Keep the window open").click()
    assert window.isVisible()
    assert state_of(row.job) is JobState.RUNNING
    window.close()
    began = time.monotonic()
    button(open_question(), "Cancel and close").click()
    assert time.monotonic() - began < 0.2  # it waits in the event loop, not here
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.controller.active)
    assert state_of(row.job) is JobState.CANCELLED
    assert list(slow_options.source.parent.iterdir()) == [slow_options.source]
    assert not [w for w in QApplication.topLevelWidgets() if w.isVisible()]


def test_closing_while_a_file_is_read_waits_for_it(
    window: MainWindow, qtbot: QtBot, data_image: Path
) -> None:
    window.open_paths([data_image])
    assert not window.close()
    assert not window.isVisible()
    qtbot.waitUntil(lambda: not window.loader.active)
    assert window.close()
