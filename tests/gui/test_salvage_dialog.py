"""Salvage: candidates with their reasons, what a user knows better, the new image, its losses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from qcowgui.codec.registry import CompressionType
from qcowgui.convert.job import Phase, Progress
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.dialogs.salvage import SalvageDialog, SalvageState
from qcowgui.gui.salvage_work import progress_text
from qcowgui.gui.session import Session
from qcowgui.gui.theme import Theme
from qcowgui.salvage.candidates import Overrides
from tests.gui.support import button, open_question
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.damage import poke, set_l1_entry, truncate_at
from tests.support.oracle import check, guest_bytes

CLUSTER = 4096
DATA = pattern(600 * CLUSTER)


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    delete(made)  # with its sessions


def builder() -> ImageBuilder:
    made = ImageBuilder(size=8 << 20, cluster_bits=12)
    made.write(0, DATA)
    return made


@pytest.fixture
def headless(tmp_path: Path) -> Path:
    """An image whose header was overwritten with zeros."""
    image = poke(builder().build(), 0, bytes(512))
    return image.write_to(tmp_path / "headless.qcow2")


def settled(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=30_000)


def searched(path: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme) -> SalvageDialog:
    session = Session(path, runner, runner)
    session.load()
    settled(qtbot, runner)
    dialog = SalvageDialog(session, theme)
    qtbot.addWidget(dialog)
    # Or it would be deleted before the test's own end, which closes it.
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    settled(qtbot, runner)
    return dialog


def state_of(dialog: SalvageDialog) -> SalvageState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return dialog.state


def test_candidates_say_why_and_what_nothing_tells(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, headless: Path
) -> None:
    dialog = searched(headless, qtbot, runner, theme)
    assert dialog.state is SalvageState.READY
    assert dialog.report is not None
    assert dialog.found.text().startswith("The header is gone")
    candidate = dialog.chosen()
    assert candidate is dialog.report.candidates[0]
    text = dialog.details.toPlainText()
    for sentence in (*candidate.reasons, *candidate.undecidable):
        assert sentence in text
    assert [row.cells[0] for row in dialog.candidates.table.rows] == [
        f"{found.number}" for found in dialog.report.candidates
    ]
    assert dialog.candidates.table.rows[0].cells[4] == "4 KiB"


def test_the_new_image_reads_as_the_lost_one(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, headless: Path
) -> None:
    before = headless.read_bytes()
    dialog = searched(headless, qtbot, runner, theme)
    dialog.known.virtual_size.setText("8M")
    dialog.known.search_button.click()
    settled(qtbot, runner)
    target = headless.with_name("headless-salvaged.qcow2")
    assert dialog.target.path == target
    dialog.write()
    assert state_of(dialog) is SalvageState.WRITING
    settled(qtbot, runner)
    assert state_of(dialog) is SalvageState.DONE
    assert "all that this candidate maps could be read" in dialog.banner.title
    assert check(target).exit_code == 0
    guest = guest_bytes(target)
    assert len(guest) == 8 << 20
    assert guest[: len(DATA)] == DATA
    assert headless.read_bytes() == before
    with qtbot.waitSignal(dialog.open_requested) as asked:
        dialog.open_button.click()
    assert asked.args == [target]


def test_losses_are_listed(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    image = builder().build()
    cut = truncate_at(image, len(image.file) - 40 * CLUSTER)
    dialog = searched(cut.write_to(tmp_path / "cut.qcow2"), qtbot, runner, theme)
    dialog.format.setCurrentIndex(1)
    target = tmp_path / "cut-salvaged.raw"
    assert dialog.target.path == target
    assert not dialog.compression.isEnabled()
    dialog.write()
    settled(qtbot, runner)
    assert state_of(dialog) is SalvageState.DONE
    assert dialog.salvaged is not None
    assert sum(lost.length for lost in dialog.salvaged.losses) == 40 * CLUSTER
    assert "could not be read" in dialog.banner.title
    assert len(dialog.losses.table.rows) == len(dialog.salvaged.losses)
    assert dialog.tabs.currentWidget() is dialog.losses
    assert sorted(found.name for found in tmp_path.iterdir()) == [
        "cut-salvaged.raw",
        "cut-salvaged.raw.losses.json",
        "cut.qcow2",
    ]
    data = target.read_bytes()
    assert data[: 560 * CLUSTER] == DATA[: 560 * CLUSTER]
    assert not any(data[560 * CLUSTER :])


def test_a_person_may_know_better_than_the_file(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, headless: Path
) -> None:
    dialog = searched(headless, qtbot, runner, theme)
    dialog.known.cluster_size.setCurrentIndex(dialog.known.cluster_size.findData(16))
    dialog.known.compression_type.setCurrentIndex(2)
    dialog.known.virtual_size.setText("20G")
    assert dialog.known.overrides() == Overrides(16, 20 << 30, CompressionType.ZSTD)
    dialog.search()
    assert state_of(dialog) is SalvageState.SEARCHING
    settled(qtbot, runner)
    assert dialog.report is not None
    assert all(found.geometry.cluster_bits == 16 for found in dialog.report.candidates)
    dialog.known.virtual_size.setText("a lot")
    dialog.search()
    assert dialog.banner.title == "This is no size"
    assert state_of(dialog) is SalvageState.READY


def test_a_file_without_tables_has_nothing_to_write(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    path = tmp_path / "noise.bin"
    path.write_bytes(pattern(1 << 18))
    dialog = searched(path, qtbot, runner, theme)
    assert dialog.report is not None
    assert dialog.report.candidates == ()
    assert "Nothing that could be an L1 or L2 table was found" in dialog.found.text()
    assert dialog.chosen() is None
    assert not dialog.write_button.isEnabled()


def test_an_existing_file_is_replaced_only_when_a_person_agrees(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, headless: Path
) -> None:
    dialog = searched(headless, qtbot, runner, theme)
    target = headless.with_name("mine.qcow2")
    target.write_bytes(b"mine")
    dialog.target.line.setText(str(target))
    dialog.write()
    button(open_question(), "Cancel").click()
    assert target.read_bytes() == b"mine"
    assert state_of(dialog) is SalvageState.READY
    dialog.write()
    button(open_question(), "Replace").click()
    settled(qtbot, runner)
    assert state_of(dialog) is SalvageState.DONE
    assert check(target).exit_code == 0


def test_stopping_leaves_nothing_behind(
    qtbot: QtBot,
    runner: BackgroundRunner,
    theme: Theme,
    headless: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog = searched(headless, qtbot, runner, theme)

    def wait(job: object, executor: Executor) -> None:
        del executor
        token = getattr(job, "token")  # noqa: B009  the job is a stranger here
        assert isinstance(token, CancelToken)
        while not token.cancelled:
            time.sleep(0.005)
        token.raise_if_cancelled()

    monkeypatch.setattr("qcowgui.salvage.write.SalvageJob.run", wait)
    dialog.write()
    dialog.stop_button.click()
    settled(qtbot, runner)
    assert state_of(dialog) is SalvageState.READY
    assert dialog.banner.title == "Stopped"
    assert list(headless.parent.iterdir()) == [headless]
    assert dialog.write_button.isEnabled()


def test_closing_the_dialog_ends_its_search(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, headless: Path
) -> None:
    dialog = searched(headless, qtbot, runner, theme)
    dialog.search()
    assert state_of(dialog) is SalvageState.SEARCHING
    dialog.reject()
    settled(qtbot, runner)
    assert list(headless.parent.iterdir()) == [headless]


def test_another_candidate_can_be_written_afterwards(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    made = builder()
    made.write(4 << 20, pattern(CLUSTER, seed=3))
    image = set_l1_entry(made.build(), 0, 0)
    dialog = searched(image.write_to(tmp_path / "lost.qcow2"), qtbot, runner, theme)
    assert dialog.report is not None
    assert len(dialog.report.candidates) > 1
    dialog.write()
    settled(qtbot, runner)
    assert state_of(dialog) is SalvageState.DONE
    dialog.candidates.select_row(1)
    assert state_of(dialog) is SalvageState.READY
    assert dialog.chosen() is dialog.report.candidates[1]
    assert dialog.write_button.isEnabled()


def test_progress_is_told_in_words() -> None:
    assert progress_text(Progress(Phase.PREPARING, 0, 0, 0)) == "Preparing…"
    text = progress_text(Progress(Phase.CONVERTING, 1 << 20, 4 << 20, 0))
    assert text == "Writing: 1 MiB of 4 MiB"
