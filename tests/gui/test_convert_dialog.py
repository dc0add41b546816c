"""The conversion form: presets, fields, names, concerns, commands, several images, questions."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from qcowgui.codec.registry import LEVELS, CompressionType
from qcowgui.convert.file_system import FileSystem
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.presets import preset
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.dialogs import convert_scout, convert_work
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.dialogs.forecast_panel import ForecastState
from qcowgui.gui.forecast_work import ForecastCache, Forecasted
from qcowgui.gui.opening import inspect_image
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.image.references import resolve_reference
from tests.gui.support import button, open_question
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

MIB = 1 << 20

MakeForm = Callable[..., ConvertDialog]


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=10)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)


@pytest.fixture
def make_form(
    qtbot: QtBot, theme: Theme, settings: Settings, runner: BackgroundRunner
) -> Iterator[MakeForm]:
    """Makes forms that are shown and have looked at their sources; none forecasts unasked."""
    forms: list[ConvertDialog] = []

    def make(*sources: Path, forecasting: bool = False, **rest: object) -> ConvertDialog:
        form = ConvertDialog(sources, theme=theme, settings=settings, runner=runner, **rest)  # type: ignore[arg-type]
        form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        form.forecast.stopped = not forecasting
        forms.append(form)
        qtbot.addWidget(form)
        form.show()
        settle(qtbot, form)
        return form

    yield make
    for form in forms:
        form.reject()


def settle(qtbot: QtBot, form: ConvertDialog) -> None:
    """Wait until nothing is looked for, looked at or judged any more."""
    qtbot.waitUntil(lambda: not form.scout.busy, timeout=20_000)


@pytest.fixture
def dialog(make_form: MakeForm, data_image: Path) -> ConvertDialog:
    """The form for an image that is open."""
    return make_form(data_image, inspected=inspect_image(data_image))


def choose(combo: QComboBox, data: object) -> None:
    index = combo.findData(data)
    assert index >= 0, data
    combo.setCurrentIndex(index)


def options_of(form: ConvertDialog) -> ConvertOptions:
    ((options, _),) = form.wanted()
    return options


def found_of(form: ConvertDialog) -> Forecasted | None:
    """What the panel shows now."""
    return form.forecast.found


# -------------------------------------------------------------------- the form


def test_the_form_starts_with_something_sensible(dialog: ConvertDialog, data_image: Path) -> None:
    assert options_of(dialog) == ConvertOptions(data_image, data_image.with_name("data.raw"), "raw")
    assert dialog.ending.start_button.isEnabled()
    assert dialog.cards.cards["raw"].isChecked()
    assert not dialog.fields.isVisible()
    assert dialog.target.summary.text() == "raw disk · verified"
    assert "qcow2 · 1 MiB disk" in dialog.sources.about.text()


def test_every_field_reaches_the_options(dialog: ConvertDialog, data_image: Path) -> None:
    fields = dialog.fields
    fields.choose("qcow2", "zlib")
    choose(fields.cluster_size, 2 * MIB)
    fields.threads.setValue(3)
    fields.verify.setChecked(False)
    choose(fields.refcount_bits, 64)
    choose(fields.deflate_window, "4k")
    fields.level.setValue(9)
    for box in (fields.extended_l2, fields.lazy_refcounts, fields.salvage, fields.bitmaps):
        box.setChecked(True)
    choose(fields.source_format, "qcow2")
    choose(fields.backing, "named")
    fields.backing_name.setText("base.raw")
    choose(fields.backing_format, "raw")
    dialog.target.target.choose(str(data_image.with_name("other.qcow2")))
    qcow2 = ConvertOptions(
        data_image,
        data_image.with_name("other.qcow2"),
        "qcow2",
        source_format="qcow2",
        compression="zlib",
        level=9,
        window="4k",
        cluster_bytes=2 * MIB,
        refcount_bits=64,
        extended_l2=True,
        lazy_refcounts=True,
        backing_file="base.raw",
        backing_format="raw",
        bitmaps=True,
        threads=3,
        verify=False,
        salvage=True,
    )
    assert options_of(dialog) == qcow2
    choose(fields.backing, "keep")
    assert options_of(dialog).keep_backing
    assert options_of(dialog).backing_file is None
    fields.choose("raw", "zlib")  # what a raw target can't have counts as not asked for
    choose(fields.sparse, 0)
    assert options_of(dialog) == ConvertOptions(
        data_image,
        data_image.with_name("other.qcow2"),
        "raw",
        source_format="qcow2",
        sparse_bytes=0,
        threads=3,
        verify=False,
        salvage=True,
    )


def test_fields_show_what_they_are_told_and_tell_it_again(dialog: ConvertDialog) -> None:
    fields = dialog.fields
    first = fields.values()
    fields.choose("qcow2", "zlib")
    choose(fields.deflate_window, "4k")
    fields.level.setValue(3)
    choose(fields.backing, "named")
    fields.backing_name.setText("b")
    told = fields.values()
    fields.set_values(first)
    assert fields.values() == first
    fields.set_values(told)
    assert fields.values() == told
    fields.set_values(told | {"level": None})
    assert fields.values() == told | {"level": None}


@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_the_level_has_the_range_of_its_type(dialog: ConvertDialog, compression: str) -> None:
    kind = CompressionType.ZSTD if compression == "zstd" else CompressionType.ZLIB
    dialog.fields.choose("qcow2", "zstd" if compression == "zstd" else "zlib")
    level = dialog.fields.level
    assert options_of(dialog).level is None
    assert level.text() == (
        f"default: {LEVELS[kind].default}  ({LEVELS[kind].lowest} – {LEVELS[kind].highest})"
    )
    level.setValue(99)
    assert options_of(dialog).level == LEVELS[kind].highest
    level.setValue(LEVELS[kind].lowest)
    assert options_of(dialog).level == LEVELS[kind].lowest


def test_the_small_window_has_fewer_levels(dialog: ConvertDialog) -> None:
    dialog.fields.choose("qcow2", "zlib")
    dialog.fields.level.setValue(12)
    choose(dialog.fields.deflate_window, "4k")
    assert options_of(dialog).level is None
    assert dialog.fields.level.maximum() == 9


def test_without_compression_there_is_no_level(dialog: ConvertDialog) -> None:
    dialog.fields.choose("qcow2", "none")
    assert not dialog.fields.level.isEnabled()
    assert options_of(dialog).level is None


def test_contradictions_are_said_at_once(dialog: ConvertDialog) -> None:
    dialog.fields.choose("qcow2", "zstd")
    choose(dialog.fields.compat, "0.10")
    assert dialog.ending.error.isVisible()
    assert "zstd" in dialog.ending.error.text()
    assert not dialog.ending.start_button.isEnabled()
    assert not dialog.ending.copy_button.isEnabled()
    choose(dialog.fields.compat, "1.1")
    assert not dialog.ending.error.isVisible()
    assert dialog.ending.start_button.isEnabled()
    dialog.target.target.line.clear()
    assert "Choose a name for the target" in dialog.ending.error.text()


def test_without_a_source_the_form_asks_for_one(make_form: MakeForm, data_image: Path) -> None:
    form = make_form()
    assert form.ending.error.text() == "Choose the image to convert"
    assert not form.ending.start_button.isEnabled()
    QTest.keyClicks(form.sources.line, str(data_image))
    assert options_of(form).source == data_image
    form.sources.line.selectAll()
    QTest.keyClick(form.sources.line, Qt.Key.Key_Delete)
    assert form.ending.error.text() == "Choose the image to convert"


def test_a_relative_name_is_left_as_it_is_typed(
    make_form: MakeForm, data_image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data_image.parent)
    form = make_form()
    QTest.keyClicks(form.sources.line, "data.qcow2")
    assert form.sources.line.text() == "data.qcow2"
    assert options_of(form).source == data_image


def test_the_suggested_name_follows_until_the_user_types(
    dialog: ConvertDialog, data_image: Path
) -> None:
    dialog.fields.choose("qcow2", "zstd")
    line = dialog.target.target.line
    assert line.text() == str(data_image.with_name("data-zstd.qcow2"))
    line.selectAll()
    QTest.keyClicks(line, "/x/mine")
    dialog.fields.choose("raw", "zstd")
    assert line.text() == "/x/mine"
    assert options_of(dialog).target == Path("/x/mine")


def test_snapshots_are_offered(
    qtbot: QtBot, make_form: MakeForm, rich_image: Path, data_image: Path
) -> None:
    inspected = inspect_image(rich_image)
    dialog = make_form(rich_image, inspected=inspected)
    box = dialog.fields.snapshot
    assert box.count() == 1 + len(inspected.report.snapshots)
    assert dialog.fields.carried.isEnabled()
    box.setCurrentIndex(1)
    assert options_of(dialog).snapshot == f"snapshot.id={inspected.report.snapshots[0].id}"
    dialog.sources.line.setText(str(data_image))
    dialog.sources.line.textEdited.emit(str(data_image))
    settle(qtbot, dialog)
    assert options_of(dialog).snapshot is None
    assert not box.isEnabled()
    assert not dialog.fields.carried.isEnabled()
    assert not dialog.sources.allow_button.isVisible()


def test_more_unfolds(dialog: ConvertDialog) -> None:
    dialog.column.more_button.setChecked(True)
    assert dialog.fields.isVisible()
    dialog.column.more_button.setChecked(False)
    assert not dialog.fields.isVisible()


def test_the_form_fits_a_small_screen(dialog: ConvertDialog) -> None:
    dialog.column.more_button.setChecked(True)
    least = dialog.minimumSizeHint()
    assert least.width() <= 1180
    assert least.height() <= 700


# -------------------------------------------------------------------- presets


def test_presets_set_the_fields(dialog: ConvertDialog, data_image: Path) -> None:
    dialog.cards.cards["smallest"].click()
    options = options_of(dialog)
    level = preset("smallest").level
    assert level is not None
    assert (options.compression, options.level) == ("zstd", level)
    assert dialog.fields.chosen_compression == "zstd"
    assert options.target == data_image.with_name("data-zstd.qcow2")
    assert [card.key for card in dialog.cards.cards.values() if card.isChecked()] == ["smallest"]
    dialog.fields.level.setValue(level - 1)  # own settings are no preset
    assert not any(card.isChecked() for card in dialog.cards.cards.values())
    dialog.fields.level.setValue(level)
    assert dialog.cards.cards["smallest"].isChecked()


def test_presets_are_reached_by_keys(dialog: ConvertDialog) -> None:
    card = dialog.cards.cards["fastest"]
    card.setFocus()
    QTest.keyClick(card, Qt.Key.Key_Space)
    assert options_of(dialog).compression == "zstd"
    assert card.accessibleName() == "qcow2, fastest"
    assert card.accessibleDescription()


def test_only_a_qcow2_image_is_offered_to_be_optimised(
    make_form: MakeForm, dialog: ConvertDialog, tmp_path: Path
) -> None:
    raw = tmp_path / "disk.raw"
    raw.write_bytes(pattern(MIB))
    assert dialog.cards.cards["optimise"].isVisible()
    form = make_form(raw)
    assert not form.cards.cards["optimise"].isVisible()
    assert options_of(form).target_format == "qcow2"  # raw to raw would help nobody


def test_optimise_as_a_copy_begins_with_the_sources_own_layout(
    make_form: MakeForm, tmp_path: Path
) -> None:
    image = ImageBuilder(size=MIB, cluster_bits=12, refcount_order=3).build()
    path = image.write_to(tmp_path / "small.qcow2")
    form = make_form(path, inspected=inspect_image(path), preset="optimise")
    options = options_of(form)
    assert (options.target_format, options.cluster_bytes) == ("qcow2", 4096)
    assert (options.refcount_bits, options.compression) == (8, "zlib")
    assert form.cards.cards["optimise"].isChecked()


def test_the_last_preset_and_folder_are_remembered(
    make_form: MakeForm, settings: Settings, data_image: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    form = make_form(data_image)
    form.cards.cards["fastest"].click()
    form.target.target.choose(str(elsewhere / "mine.qcow2"))
    form.ending.start_button.click()
    again = make_form(data_image)
    assert again.cards.cards["fastest"].isChecked()
    assert options_of(again).target == elsewhere / "data-zstd.qcow2"
    again.target.target.choose(str(data_image.with_name("beside.qcow2")))
    again.ending.start_button.click()
    assert settings.target_folder == ""


@pytest.mark.parametrize("rubbish", [["a", "b"], 7, "no such preset"])
def test_whatever_is_remembered_the_form_begins_sensibly(
    make_form: MakeForm, data_image: Path, rubbish: object
) -> None:
    store = QSettings("qcowgui", "qcowgui")
    store.setValue("convert/preset", rubbish)
    store.sync()
    form = make_form(data_image)
    assert options_of(form).target_format == "raw"
    assert form.cards.cards["raw"].hasFocus()


def test_the_focus_is_on_what_is_chosen(
    make_form: MakeForm, settings: Settings, data_image: Path
) -> None:
    settings.preset = "fastest"
    form = make_form(data_image)
    assert form.cards.cards["fastest"].isChecked()
    assert form.cards.cards["fastest"].hasFocus()


def test_arrow_keys_go_from_card_to_card(dialog: ConvertDialog) -> None:
    QTest.keyClick(dialog.cards.cards["raw"], Qt.Key.Key_Right)
    assert dialog.cards.cards["smallest"].hasFocus()
    assert options_of(dialog).target_format == "raw"  # looking is not choosing


# -------------------------------------------------------------------- several images


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images in a folder, one of them below it, and a file that is none."""
    made = tmp_path / "images"
    (made / "below").mkdir(parents=True)
    for name in ("a.qcow2", "b ü%20.qcow2", "below/c.qcow2"):
        builder = ImageBuilder(size=MIB)
        builder.write(0, pattern(1 << 16))
        builder.build().write_to(made / name)
    (made / "notes.txt").write_text("no image")
    return made


def test_a_folder_becomes_a_list(make_form: MakeForm, folder: Path) -> None:
    form = make_form(folder)
    table = form.sources.table
    assert table.isVisible()
    assert [row.cells[0] for row in table.table.rows] == ["a.qcow2", "b ü%20.qcow2", "c.qcow2"]
    assert form.sources.count.text() == "The settings are for all 3 images."
    form.cards.cards["fastest"].click()
    wanted = [options for options, _ in form.wanted()]
    assert [options.compression for options in wanted] == ["zstd"] * 3
    assert len({options.target for options in wanted}) == 3


def test_settings_of_one_row(make_form: MakeForm, folder: Path) -> None:
    form = make_form(folder)
    form.sources.table.selectRow(1)
    assert form.entries.selected == [1]
    assert "selected image alone" in form.sources.count.text()
    form.cards.cards["smallest"].click()
    form.target.target.choose(str(folder / "mine.qcow2"))
    formats = [options.target_format for options, _ in form.wanted()]
    assert formats == ["raw", "qcow2", "raw"]
    assert form.wanted()[1][0].target == folder / "mine.qcow2"
    form.sources.table.selectRow(0)
    assert form.cards.cards["raw"].isChecked()
    form.sources.table.selectAll()
    assert form.entries.selected == [0, 1, 2]


@pytest.fixture
def mixed_form(make_form: MakeForm, tmp_path: Path) -> ConvertDialog:
    """Two qcow2 images, which become raw, and two raw ones, which become qcow2."""
    made = tmp_path / "mixed"
    made.mkdir()
    for name in ("a", "b"):
        builder = ImageBuilder()
        builder.write(0, b"data")
        builder.build().write_to(made / f"{name}.qcow2")
        (made / f"{name}-disk.raw").write_bytes(bytes(1 << 16))
    return make_form(made)


def formats_of(form: ConvertDialog) -> dict[str, str]:
    return {options.source.name: options.target_format for options, _ in form.wanted()}


_EACH_ITS_OWN: Final = {
    "a.qcow2": "raw",
    "a-disk.raw": "qcow2",
    "b.qcow2": "raw",
    "b-disk.raw": "qcow2",
}


def test_a_field_changes_no_other_setting_of_several_images(mixed_form: ConvertDialog) -> None:
    form = mixed_form
    assert formats_of(form) == _EACH_ITS_OWN
    form.fields.verify.click()
    assert formats_of(form) == _EACH_ITS_OWN
    assert not any(options.verify for options, _ in form.wanted())
    levels = {options.source.name: options.level for options, _ in form.wanted()}
    assert levels["a-disk.raw"] == 19
    form.fields.threads.setValue(3)
    assert formats_of(form) == _EACH_ITS_OWN
    assert {options.threads for options, _ in form.wanted()} == {3}


def test_settings_that_differ_are_shown_as_several(mixed_form: ConvertDialog) -> None:
    form = mixed_form
    assert not any(card.isChecked() for card in form.cards.cards.values())
    assert form.fields.format.accessibleDescription() == "several"
    assert form.fields.verify.accessibleDescription() == ""
    lines = form.target.summary.text().split("\n")
    assert len(lines) == 2
    assert all(line.startswith("2 images: ") for line in lines)
    form.sources.table.selectRow(0)
    assert form.fields.format.accessibleDescription() == ""
    form.fields.verify.click()
    form.sources.table.selectAll()
    assert form.fields.verify.checkState() is Qt.CheckState.PartiallyChecked
    form.fields.verify.click()
    assert all(options.verify for options, _ in form.wanted())
    assert formats_of(form) == _EACH_ITS_OWN


def test_a_mixed_setting_is_chosen_for_all_as_it_is_shown(mixed_form: ConvertDialog) -> None:
    form = mixed_form
    shown = form.fields.format
    wanted = shown.currentData()
    shown.activated.emit(shown.currentIndex())  # a person opens it and takes what is there
    assert set(formats_of(form).values()) == {wanted}
    assert shown.accessibleDescription() == ""


def test_a_folder_for_all_results(make_form: MakeForm, folder: Path, tmp_path: Path) -> None:
    form = make_form(folder)
    form.target.folder_line.setText(str(tmp_path))
    assert {options.target.parent for options, _ in form.wanted()} == {tmp_path}
    form.target.folder_line.clear()
    assert form.wanted()[2][0].target.parent == folder / "below"


def test_images_are_taken_off_the_list(make_form: MakeForm, folder: Path) -> None:
    form = make_form(folder)
    form.sources.table.selectRow(1)
    form.sources.remove_button.click()
    assert len(form.wanted()) == 2
    form.sources.table.selectRow(0)
    form.sources.table.setFocus()
    QTest.keyClick(form.sources.table, Qt.Key.Key_Delete)
    assert form.sources.line.isVisible()  # one is left
    assert form.sources.line.text() == str(folder / "below" / "c.qcow2")


def test_what_is_no_image_is_refused_with_the_reason(
    make_form: MakeForm, folder: Path, tmp_path: Path
) -> None:
    vmdk = tmp_path / "disk.vmdk"
    vmdk.write_bytes(b"KDMV" + b"\1\0\0\0" + bytes(1 << 16))
    form = make_form(vmdk, folder / "a.qcow2")
    assert len(form.wanted()) == 1
    assert form.banner.isVisible()
    assert "VMDK" in form.banner.text


def drop(form: ConvertDialog, *urls: QUrl) -> None:
    """Hold something above the form and let it go; every event is taken."""
    data = QMimeData()
    data.setUrls(urls)
    how = (
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    for event in (QDragEnterEvent(QPoint(5, 5), *how), QDropEvent(QPointF(5, 5), *how)):
        event.ignore()
        QApplication.sendEvent(form, event)
        assert event.isAccepted()


def test_files_can_be_dropped_on_the_form(
    qtbot: QtBot, make_form: MakeForm, folder: Path, data_image: Path
) -> None:
    form = make_form(data_image)
    drop(form, QUrl.fromLocalFile(str(folder / "b ü%20.qcow2")))
    qtbot.waitUntil(lambda: len(form.entries.items) == 2)
    settle(qtbot, form)
    assert form.wanted()[1][0].source == folder / "b ü%20.qcow2"


def test_all_refusals_of_a_drop_are_said_together(
    qtbot: QtBot, make_form: MakeForm, tmp_path: Path
) -> None:
    form = make_form()
    missing = QUrl.fromLocalFile(str(tmp_path / "nothing.qcow2"))
    drop(form, QUrl("http://example.org/y.qcow2"), missing)
    settle(qtbot, form)
    assert "http://example.org/y.qcow2" in form.banner.text
    assert "nothing.qcow2" in form.banner.text
    drop(form, QUrl("http://example.org/z.qcow2"))  # another drop, another banner
    assert "z.qcow2" in form.banner.text
    assert "nothing.qcow2" not in form.banner.text


def test_what_is_added_while_a_search_runs_overtakes_nothing(
    qtbot: QtBot, make_form: MakeForm, folder: Path, data_image: Path
) -> None:
    form = make_form()
    form.add_paths([folder])
    form.add_paths([data_image])
    settle(qtbot, form)
    assert len(form.wanted()) == 4


def test_all_conversions_are_asked_for_together(
    qtbot: QtBot, make_form: MakeForm, folder: Path
) -> None:
    form = make_form(folder)
    with qtbot.waitSignal(form.start_requested) as started:
        form.ending.start_button.click()
    (wanted,) = started.args
    assert [options.source.name for options, _ in wanted] == [
        "a.qcow2",
        "b ü%20.qcow2",
        "c.qcow2",
    ]
    assert [consent for _, consent in wanted] == [NOTHING_ALLOWED] * 3


def test_names_that_other_conversions_will_make_are_not_suggested(
    dialog: ConvertDialog, data_image: Path
) -> None:
    dialog.set_taken([data_image.with_name("data.raw")])
    assert options_of(dialog).target != data_image.with_name("data.raw")


# -------------------------------------------------------------------- a conversion that waits


def test_the_settings_of_a_waiting_conversion_are_edited(
    qtbot: QtBot,
    theme: Theme,
    settings: Settings,
    runner: BackgroundRunner,
    rich_image: Path,
) -> None:
    inspected = inspect_image(rich_image)
    options = ConvertOptions(
        rich_image,
        rich_image.with_name("x.qcow2"),
        "qcow2",
        compression="zlib",
        level=9,
        window="4k",
        snapshot=f"snapshot.id={inspected.report.snapshots[0].id}",
        salvage=True,
        overwrite=True,
    )
    base = rich_image.with_name("base.raw")
    form = ConvertDialog.for_job(
        options, Consent((base,)), theme=theme, settings=settings, runner=runner
    )
    form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    form.forecast.stopped = True
    qtbot.addWidget(form)
    form.show()
    assert form.wanted() == [(options, Consent((base,)))]
    settle(qtbot, form)
    assert form.wanted() == [(options, Consent((base,)))]
    assert form.ending.start_button.text() == "Keep"
    assert form.sources.line.isReadOnly()
    form.fields.level.setValue(1)
    with qtbot.waitSignal(form.start_requested) as started:
        form.ending.start_button.click()
    (((kept, consent),),) = started.args
    assert (kept.level, kept.snapshot, consent.allowed) == (1, options.snapshot, (base,))
    assert settings.preset == ""  # one job's settings are no habit


def test_a_target_of_a_conversion_that_runs_or_waits_is_refused(
    make_form: MakeForm, data_image: Path, tmp_path: Path
) -> None:
    form = make_form(data_image)
    form.set_taken([], [tmp_path / "busy.raw"])
    assert form.ending.start_button.isEnabled()
    form.target.target.line.setText(str(tmp_path / "busy.raw"))
    assert not form.ending.start_button.isEnabled()
    assert "busy.raw" in form.ending.error.text()
    form.target.target.line.setText(str(tmp_path / "free.raw"))
    assert form.ending.start_button.isEnabled()


# -------------------------------------------------------------------- concerns


def test_concerns_are_shown_before_the_start(
    qtbot: QtBot, make_form: MakeForm, rich_image: Path
) -> None:
    base = rich_image.with_name("base.raw")
    form = make_form(rich_image, inspected=inspect_image(rich_image), consent=Consent((base,)))
    qtbot.waitUntil(lambda: bool(form.concerns.concerns))
    assert "napshot" in form.concerns.text()
    assert form.ending.start_button.isEnabled()
    form.fields.choose("qcow2", "zstd")
    settle(qtbot, form)
    assert "QEMU 5.1" in form.concerns.text()


def test_what_would_fail_cannot_be_started(
    qtbot: QtBot, dialog: ConvertDialog, tmp_path: Path
) -> None:
    line = dialog.target.target.line
    line.selectAll()
    QTest.keyClicks(line, str(tmp_path / "no such folder" / "x.raw"))
    settle(qtbot, dialog)
    assert [concern.level for concern in dialog.concerns.concerns] == ["stop"]
    assert not dialog.ending.start_button.isEnabled()
    line.selectAll()
    QTest.keyClicks(line, str(tmp_path / "x.raw"))
    settle(qtbot, dialog)
    assert dialog.ending.start_button.isEnabled()


# -------------------------------------------------------------------- commands


def test_commands_are_copied(dialog: ConvertDialog, data_image: Path) -> None:
    dialog.cards.cards["smallest"].click()
    dialog.ending.copy_qcowgui.trigger()
    assert QGuiApplication.clipboard().text() == (
        f"qcowgui convert -O qcow2 --compress zstd --level {preset('smallest').level} "
        f"{data_image} {data_image.with_name('data-zstd.qcow2')}"
    )
    assert dialog.ending.note.text() == "Copied."
    dialog.ending.copy_qemu_img.trigger()
    text = QGuiApplication.clipboard().text()
    assert text.startswith("qemu-img convert -O qcow2 -c -o compression_type=zstd")
    assert f"level {preset('smallest').level}" in dialog.ending.note.text()
    run = subprocess.run(text, shell=True, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


# -------------------------------------------------------------------- replacing


def test_an_existing_target_is_replaced_after_a_yes_only(
    qtbot: QtBot, dialog: ConvertDialog, data_image: Path
) -> None:
    target = data_image.with_name("precious.raw")
    target.write_bytes(b"precious")
    dialog.target.target.line.setText(str(target))
    settle(qtbot, dialog)
    assert dialog.ending.start_button.isEnabled()
    dialog.ending.start_button.click()
    question = open_question()
    assert "precious.raw exists" in question.text()
    question.reject()
    assert dialog.isVisible()
    with qtbot.waitSignal(dialog.start_requested) as started:
        dialog.ending.start_button.click()
        button(open_question(), "Replace").click()
    (((options, _),),) = started.args
    assert options.overwrite
    assert not dialog.isVisible()


def test_the_file_dialogs_yes_counts_for_that_name_alone(
    dialog: ConvertDialog, tmp_path: Path
) -> None:
    existing = tmp_path / "existing.raw"
    existing.write_bytes(b"x")
    dialog.target.target.choose(str(existing))
    assert options_of(dialog).overwrite
    dialog.target.target.line.setText(str(existing) + "2")
    assert not options_of(dialog).overwrite
    dialog.target.target.choose(str(tmp_path / "new.raw"))
    assert not options_of(dialog).overwrite


def test_several_existing_targets_are_one_question(
    qtbot: QtBot, make_form: MakeForm, folder: Path
) -> None:
    form = make_form(folder)
    for index, name in enumerate(("x.raw", "y.raw")):
        (folder / name).write_bytes(b"x")
        form.sources.table.selectRow(index)
        form.target.target.line.setText(str(folder / name))
    form.ending.start_button.click()
    question = open_question()
    assert question.text().startswith("2 files exist")
    assert "x.raw\ny.raw" in question.informativeText()
    with qtbot.waitSignal(form.start_requested) as started:
        button(question, "Replace").click()
    (wanted,) = started.args
    assert [options.overwrite for options, _ in wanted] == [True, True, False]


# -------------------------------------------------------------------- referenced files


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    (tmp_path / "base.raw").write_bytes(b"base" * 65536)
    builder = ImageBuilder(size=MIB, backing_file="base.raw", backing_format="raw")
    return builder.build().write_to(tmp_path / "overlay.qcow2")


def test_the_form_asks_before_other_files_are_read(
    qtbot: QtBot, make_form: MakeForm, overlay: Path
) -> None:
    dialog = make_form(overlay, inspected=inspect_image(overlay))
    sources = dialog.sources
    assert sources.references.text() == "Refers to base.raw: read only if you allow it."
    assert "allow it first" in dialog.forecast.message.text()
    assert not dialog.forecast.start_button.isEnabled()
    sources.allow_button.click()
    question = open_question()
    assert str(overlay.with_name("base.raw")) in question.informativeText()
    button(question, "Allow").click()
    assert sources.references.text() == "Also reads base.raw, as you allowed."
    assert not sources.allow_button.isVisible()
    assert dialog.forecast.start_button.isEnabled()
    with qtbot.waitSignal(dialog.start_requested) as started:
        dialog.ending.start_button.click()
    assert started.args[0][0][1] == Consent((overlay.with_name("base.raw"),))


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


# -------------------------------------------------------------------- the forecast in the form


def test_a_forecast_starts_by_itself_and_is_used(
    qtbot: QtBot, make_form: MakeForm, data_image: Path
) -> None:
    form = make_form(data_image, inspected=inspect_image(data_image), forecasting=True)
    qtbot.waitUntil(lambda: form.forecast.state is ForecastState.DONE, timeout=30_000)
    assert form.cards.cards["smallest"].figure.startswith("≈ ")
    assert form.cards.cards["raw"].figure == "≈ 512 KiB on disk"
    form.forecast.table.select_row(2)
    item = form.forecast.selected()
    assert item is not None
    form.forecast.use_button.click()
    options = options_of(form)
    assert (options.compression, options.level, options.cluster_bytes) == (
        item.candidate.compression,
        item.candidate.level,
        item.candidate.cluster_bytes,
    )
    assert " then" in form.forecast.gain.text()


def test_a_forecast_of_several_images_starts_on_request_only(
    qtbot: QtBot, make_form: MakeForm, folder: Path
) -> None:
    form = make_form(folder, forecasting=True)
    qtbot.wait(400)
    assert form.forecast.state is ForecastState.EMPTY
    form.forecast.start_button.click()
    qtbot.waitUntil(lambda: form.forecast.state is ForecastState.DONE, timeout=30_000)
    form.sources.table.selectRow(1)
    assert found_of(form) is None  # that was another image's
    form.sources.table.selectRow(0)
    found = found_of(form)
    assert found is not None
    assert found.request.source == form.entries.items[0].source


@pytest.mark.parametrize("why", ["huge", "remote", "stopped"])
def test_a_slow_source_is_forecast_on_request_only(
    qtbot: QtBot, make_form: MakeForm, data_image: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "huge":
        monkeypatch.setattr(convert_scout, "MAX_UNASKED_BYTES", 1000)
    elif why == "remote":
        slow = FileSystem(
            "nfs4", has_holes=True, max_file_bytes=None, free_bytes=None, total_bytes=None
        )
        monkeypatch.setattr(convert_work, "file_system_of", lambda _folder: slow)
    form = make_form(data_image, forecasting=why != "stopped")
    qtbot.wait(100)
    assert form.forecast.state is ForecastState.EMPTY
    assert form.forecast.start_button.isEnabled()
    form.fields.threads.setValue(1)
    with qtbot.waitSignal(form.forecast.forecasted, timeout=30_000) as forecasted:
        form.forecast.start_button.click()
    assert forecasted.args[0].forecast.threads == 1


def test_a_forecast_is_kept_for_the_next_form(
    qtbot: QtBot, make_form: MakeForm, data_image: Path
) -> None:
    cache = ForecastCache()
    first = make_form(data_image, forecasts=cache)
    with qtbot.waitSignal(first.forecast.forecasted, timeout=30_000):
        first.forecast.start_button.click()
    first.reject()
    second = make_form(data_image, forecasts=cache)
    assert second.forecast.state is ForecastState.DONE
    second.reject()
    data_image.write_bytes(data_image.read_bytes() + b"x")  # it is another file now
    third = make_form(data_image, forecasts=cache)
    assert third.forecast.state is ForecastState.EMPTY


def test_closing_the_form_stops_what_runs(
    qtbot: QtBot, make_form: MakeForm, runner: BackgroundRunner, tmp_path: Path
) -> None:
    raw = tmp_path / "big.raw"
    raw.write_bytes(pattern(32 * MIB))
    form = make_form(raw, forecasting=True)
    qtbot.waitUntil(lambda: form.forecast.state is ForecastState.RUNNING)
    began = time.monotonic()
    form.reject()
    qtbot.waitUntil(lambda: not runner.active)
    assert time.monotonic() - began < 2
