"""Repair as a copy: the plan, the copy and its check, and all that may go wrong on the way."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from qcowgui.engine.work import CancelToken
from qcowgui.format.finding import Repair, Severity
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.dialogs.repair import RepairDialog, RepairState
from qcowgui.gui.dialogs.target_field import suggest_beside
from qcowgui.gui.repair_work import PlanWork, content_text
from qcowgui.gui.session import Session
from qcowgui.gui.theme import Theme
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from qcowgui.repair.planner import RepairRequest, plan_repair
from tests.gui.support import button, open_question
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import (
    get_l2_entry,
    poke_file,
    set_feature_bit,
    set_l1_entry,
    set_l2_entry,
)
from tests.support.oracle import check

CLUSTER = 4096
DAMAGED = (0, 1, 5)


def builder() -> ImageBuilder:
    made = ImageBuilder(size=8 << 20, cluster_bits=12)
    made.write(0, pattern(64 * CLUSTER))
    return made


def broken_image() -> BuiltImage:
    """Reserved bits in three L2 entries, and the dirty bit."""
    image = builder().build()
    for index in DAMAGED:
        image = set_l2_entry(image, index, get_l2_entry(image, index) | 2)
    return set_feature_bit(image, "incompatible_features", 0)


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    delete(made)  # with its sessions


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return broken_image().write_to(tmp_path / "broken.qcow2")


def settled(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)


def session_of(path: Path, qtbot: QtBot, runner: BackgroundRunner) -> Session:
    session = Session(path, runner, runner)
    session.load()
    settled(qtbot, runner)
    return session


def planned(session: Session, qtbot: QtBot, theme: Theme) -> RepairDialog:
    dialog = RepairDialog(session, theme)
    qtbot.addWidget(dialog)
    # Or it would be deleted before the test's own end, which closes it.
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    settled(qtbot, session.runner)
    return dialog


def state_of(dialog: RepairDialog) -> RepairState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return dialog.state


class HeldCheck:
    """Holds the check of a copy until it is cancelled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began = False
        monkeypatch.setattr("qcowgui.gui.repair_work.check_image", self._wait)

    def _wait(self, source: FileSource, *, token: CancelToken) -> None:
        del source
        self.began = True
        while not token.cancelled:
            time.sleep(0.005)
        token.raise_if_cancelled()


# -------------------------------------------------------------------------------- the plan


def test_the_plan_lists_each_word_before_and_after(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    before = broken.read_bytes()
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    assert dialog.state is RepairState.PLANNED
    assert dialog.planned is not None
    assert dialog.planned.changes == (
        ("l2-reserved-bits", 3, "Reserved bits are set in an L2 entry."),
        ("dirty", 1, "The image was not closed cleanly; refcounts may be stale."),
    )
    rows = [row for row in dialog.planned.rows if row.code == "l2-reserved-bits"]
    assert len(rows) == len(DAMAGED)
    for row in rows:
        here = before[row.offset : row.offset + row.length_bytes]
        assert int(row.before, 16) == int.from_bytes(here, "big")
        assert int(row.after, 16) == int.from_bytes(here, "big") & ~2
    assert dialog.now.text().startswith("Now: corrupt: 3 errors")
    assert dialog.afterwards.text() == "Afterwards: metadata consistent"
    assert [row.cells[0] for row in dialog.edits.table.rows] == [
        f"0x{row.offset:_x}" for row in dialog.planned.rows
    ]
    assert broken.read_bytes() == before


def test_edits_without_words_are_shown_as_bytes(broken: Path) -> None:
    assert content_text(b"") == ""
    assert content_text(bytes([1, 2])) == "0x0102"
    assert content_text(bytes(range(10))) == "00 01 02 03 04 05 06 07 08 09"
    assert content_text(bytes(100)) == "00 00 00 00 00 00 00 00 00 00 00 00 … (100 bytes)"
    with FileSource(broken) as source:
        work = PlanWork(source, inspect_source(source), RepairRequest())
        found = work(CancelToken())
        proven = plan_repair(source, RepairRequest(), token=CancelToken())
    assert found.proven.plan.edits == proven.plan.edits
    assert found.complete


def test_the_fields_make_another_plan(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    dialog.deep.setChecked(True)
    dialog.verify_all.setChecked(True)
    dialog.free_unowned.setChecked(True)
    dialog.tier.setCurrentIndex(1)
    assert dialog.request == RepairRequest(Repair.LEAKS, True, True, True)
    assert state_of(dialog) is RepairState.PLANNING
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.PLANNED
    assert dialog.planned is not None
    assert dialog.planned.proven.plan.is_empty  # nothing is leaked
    assert not dialog.write_button.isEnabled()
    assert "Nothing can be repaired" in dialog.afterwards.text()


def test_lost_tables_are_looked_for_before_a_repair(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    made = builder()
    made.write(4 << 20, pattern(CLUSTER, seed=2))
    image = set_l1_entry(made.build(), 0, 0)
    path = image.write_to(tmp_path / "lost.qcow2")
    dialog = planned(session_of(path, qtbot, runner), qtbot, theme)
    assert "Do not repair" in dialog.banner.text
    (salvage,) = [
        found for found in dialog.banner.findChildren(QPushButton) if found.text() == "Salvage…"
    ]
    with qtbot.waitSignal(dialog.salvage_requested):
        salvage.click()
    assert dialog.planned is not None
    assert dialog.planned.proven.after.counts[Severity.LEAK]  # they are not given back


# -------------------------------------------------------------------------------- the copy


def test_the_copy_is_written_checked_and_opened(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    before = broken.read_bytes()
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    target = broken.with_name("broken-repaired.qcow2")
    assert dialog.target.path == target
    dialog.write()
    assert state_of(dialog) is RepairState.WRITING
    assert not dialog.write_button.isEnabled()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.DONE
    assert dialog.banner.title == f"{target.name} is written: metadata consistent"
    assert check(target).exit_code == 0
    assert broken.read_bytes() == before
    with qtbot.waitSignal(dialog.open_requested) as asked:
        dialog.open_button.click()
    assert asked.args == [target]


def test_an_existing_file_is_replaced_only_when_a_person_agrees(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    target = broken.with_name("mine.qcow2")
    target.write_bytes(b"mine")
    dialog.target.line.setText(str(target))
    dialog.write()
    box = open_question()
    button(box, "Cancel").click()
    assert state_of(dialog) is RepairState.PLANNED
    assert target.read_bytes() == b"mine"
    dialog.write()
    button(open_question(), "Replace").click()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.DONE
    assert check(target).exit_code == 0


def test_the_image_itself_is_never_the_target(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    before = broken.read_bytes()
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    dialog.target.choose(str(broken))
    dialog.write()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.PLANNED
    assert dialog.banner.title == "No copy was written"
    assert broken.read_bytes() == before


def test_stopping_leaves_nothing_behind(
    qtbot: QtBot,
    runner: BackgroundRunner,
    theme: Theme,
    broken: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    held = HeldCheck(monkeypatch)
    dialog.write()
    qtbot.waitUntil(lambda: held.began)
    qtbot.waitUntil(lambda: "Checking the copy" in dialog.status.text())
    dialog.stop_button.click()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.PLANNED
    assert dialog.banner.title == "Stopped"
    assert list(broken.parent.iterdir()) == [broken]


def test_closing_the_dialog_ends_its_work(
    qtbot: QtBot,
    runner: BackgroundRunner,
    theme: Theme,
    broken: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog = planned(session_of(broken, qtbot, runner), qtbot, theme)
    held = HeldCheck(monkeypatch)
    dialog.write()
    qtbot.waitUntil(lambda: held.began)
    close = dialog.buttons.button(QDialogButtonBox.StandardButton.Close)
    close.click()
    settled(qtbot, runner)
    assert list(broken.parent.iterdir()) == [broken]


def test_a_changed_image_is_not_repaired_by_an_old_plan(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, broken: Path
) -> None:
    session = session_of(broken, qtbot, runner)
    dialog = planned(session, qtbot, theme)
    poke_file(broken, CLUSTER * 12 + 3, b"\x77")
    os.utime(broken, ns=(1, 1))
    dialog.write()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.PLANNED
    assert "was changed" in dialog.banner.text
    session.load()  # as the window does when it sees that the file is another
    settled(qtbot, runner)
    dialog.write()
    settled(qtbot, runner)
    assert state_of(dialog) is RepairState.DONE


def test_suggested_names_are_free(tmp_path: Path) -> None:
    source = tmp_path / "disk.img"
    assert suggest_beside(source, "repaired", ".qcow2").name == "disk-repaired.qcow2"
    (tmp_path / "disk-repaired.qcow2").touch()
    assert suggest_beside(source, "repaired", ".qcow2").name == "disk-repaired-2.qcow2"
