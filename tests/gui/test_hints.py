"""The hints banner: what happened, the window's own commands, and what its buttons ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from qcowgui.check.hints import Hint
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.formatters import Tone
from qcowgui.gui.hint_texts import HintAction, advice_text, hint_actions, hint_tone
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.hints_banner import HintsBanner
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import set_feature_bit, set_l1_entry, set_l2_entry


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    delete(made)  # with its sessions


def image_without_a_table() -> BuiltImage:
    """An image that lost an L2 table with 300 data clusters, and was not closed."""
    builder = ImageBuilder(size=8 << 20, cluster_bits=12)
    builder.write(0, pattern(300 * 4096))
    builder.write(4 << 20, pattern(4096, seed=2))
    return set_feature_bit(set_l1_entry(builder.build(), 0, 0), "incompatible_features", 0)


def shown(
    image: BuiltImage, folder: Path, qtbot: QtBot, runner: BackgroundRunner, theme: Theme
) -> tuple[HintsBanner, Session]:
    session = Session(image.write_to(folder / "image.qcow2"), runner, runner)
    banner = HintsBanner(session, theme)
    qtbot.addWidget(banner)
    session.load()
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    return banner, session


def check_state(session: Session) -> CheckState:
    """The state now: a type checker takes an attribute that was looked at for unchanged."""
    return session.check_state


def code_of(banner: HintsBanner) -> str | None:
    """Which hint is shown now."""
    return None if banner.hint is None else banner.hint.code


def press(banner: HintsBanner, text: str) -> None:
    """Press the newest button with this text: those of an earlier hint are deleted a bit later."""
    found = [button for button in banner.findChildren(QPushButton) if button.text() == text]
    assert found, text
    found[-1].click()


def test_a_healthy_image_has_no_banner(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    healthy = ImageBuilder(size=1 << 20).build()
    banner, _ = shown(healthy, tmp_path, qtbot, runner, theme)
    assert banner.hint is None
    assert banner.isHidden()


def test_the_gravest_incident_comes_first_and_leads_to_salvage(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    banner, session = shown(image_without_a_table(), tmp_path, qtbot, runner, theme)
    assert session.check is not None
    assert [hint.code for hint in session.check.hints] == ["lost-l2-table", "not-closed"]
    assert banner.banner.title == session.check.hints[0].sentence
    assert "Do not repair" in banner.banner.text
    assert "“Salvage…” looks for lost tables" in banner.banner.text
    with qtbot.waitSignal(banner.salvage_requested):
        press(banner, "Salvage…")


def test_one_goes_through_hints_and_dismisses_them(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    banner, session = shown(image_without_a_table(), tmp_path, qtbot, runner, theme)
    press(banner, "1 of 2")
    assert code_of(banner) == "not-closed"
    with qtbot.waitSignal(banner.repair_requested):
        press(banner, "Repair as a copy…")
    banner.banner.dismissed.emit()
    assert code_of(banner) == "lost-l2-table"
    session.start_check(deep=False)
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    assert code_of(banner) == "lost-l2-table"  # what was dismissed stays so
    banner.banner.dismissed.emit()
    assert code_of(banner) is None
    assert banner.isHidden()


def test_a_deep_check_is_started_from_the_banner(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path
) -> None:
    builder = ImageBuilder(size=8 << 20, cluster_bits=12)
    builder.write(0, pattern(300 * 4096))
    image = builder.build()
    for index in range(300):
        image = set_l2_entry(image, index, 0)
    banner, session = shown(image, tmp_path, qtbot, runner, theme)
    assert banner.hint is not None
    assert HintAction.DEEP_CHECK in hint_actions(banner.hint)
    press(banner, "Deep check")
    assert check_state(session) is CheckState.RUNNING
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)
    assert session.check is not None
    assert session.check.deep is not None


@pytest.mark.parametrize(
    ("advice", "text"),
    [
        ("`qcowgui salvage IMAGE` looks.", "“Salvage…” looks."),
        ("`qcowgui convert --salvage` writes.", "“Salvage…” writes."),
        ("`qcowgui repair IMAGE -o REPAIRED --all` counts.", "“Repair as a copy…” counts."),
        ("`qcowgui convert` writes.", "“Convert…” writes."),
        ("Use `qemu-img bitmap`.", "Use qemu-img bitmap."),
    ],
)
def test_command_lines_become_commands_of_the_window(advice: str, text: str) -> None:
    assert advice_text(Hint("truncated-file", "", advice)) == text


def test_no_hint_that_warns_of_a_repair_offers_one_first() -> None:
    for code in ("lost-l2-table", "wiped-l1", "emptied-l2-table", "leaks-in-one-window"):
        hint = Hint(code, "", "")
        assert hint_actions(hint)[0] is HintAction.SALVAGE
        assert HintAction.REPAIR not in hint_actions(hint)
    assert hint_tone(Hint("wiped-l1", "", "")) is Tone.DANGER
    assert hint_tone(Hint("not-closed", "", "")) is Tone.WARNING
