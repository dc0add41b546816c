"""The findings dock: kinds, filters, steps, what a click selects, and a million findings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.collector import FindingGroup
from qcowgui.check.ranges import Ranges
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled
from qcowgui.format.finding import Finding, Repair, Severity
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.finding_list import (
    FindingFilter,
    FindingList,
    Listed,
    ListingWork,
    ListRow,
    groups_of,
    search_text,
)
from qcowgui.gui.garbage import GuiThreadCollector
from qcowgui.gui.models.findings_model import FindingColumn, FindingsModel, repair_words
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.findings import FindingsPanel
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import get_l2_entry, set_feature_bit, set_l2_entry

CLUSTER = 4096
BROKEN = 100


def broken_image() -> BuiltImage:
    """An image with reserved bits in `BROKEN` L2 entries, and the dirty bit."""
    builder = ImageBuilder(size=1 << 20, cluster_bits=12)
    builder.write(0, pattern(BROKEN * CLUSTER))
    image = builder.build()
    for index in range(BROKEN):
        image = set_l2_entry(image, index, get_l2_entry(image, index) | 2)
    return set_feature_bit(image, "incompatible_features", 0)


def reserved(index: int) -> Finding:
    return Finding(
        "l2-reserved-bits",
        Severity.CORRUPTION,
        f"L1[0]/L2[{index}] has reserved bits 0x2 set",
        "L2 table",
        host_offset=0x5000 + 8 * index,
        entry=index,
        guest_start=index * CLUSTER,
        guest_end=(index + 1) * CLUSTER,
    )


def group(code: str, severity: Severity, count: int, first: tuple[Finding, ...]) -> FindingGroup:
    return FindingGroup(code, severity, None, count, first, Ranges(()), Ranges(()))


def leak(index: int) -> Finding:
    return Finding("leak", Severity.LEAK, f"cluster {index} is leaked", "cluster", 4096 * index)


THREE = (
    group("l2-reserved-bits", Severity.CORRUPTION, 5, tuple(map(reserved, range(3)))),
    group("dirty", Severity.SUSPICIOUS, 1, (Finding("dirty", Severity.SUSPICIOUS, "d", "header"),)),
    group("leak", Severity.LEAK, 2, (leak(7), leak(8))),
)


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    """A runner that has nothing left to do at the end of the test."""
    collector = GuiThreadCollector()
    collector.start()  # as the application does: a worker's thread must not delete widgets
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    delete(made)  # with its sessions
    collector.stop()


def settled(qtbot: QtBot, runner: BackgroundRunner) -> None:
    qtbot.waitUntil(lambda: not runner.active, timeout=20_000)


@pytest.fixture
def panel(qtbot: QtBot, runner: BackgroundRunner, theme: Theme, tmp_path: Path) -> FindingsPanel:
    """The findings of `broken_image`, checked."""
    path = broken_image().write_to(tmp_path / "broken.qcow2")
    session = Session(path, runner, runner)
    made = FindingsPanel(session, theme)
    qtbot.addWidget(made)
    made.resize(1200, 300)
    made.show()
    session.load()
    settled(qtbot, runner)
    return made


@pytest.fixture
def session(panel: FindingsPanel, runner: BackgroundRunner) -> Session:
    """What `panel` shows."""
    assert panel.isVisible()
    found = runner.findChild(Session)
    assert isinstance(found, Session)
    return found


def codes(shown: FindingList) -> list[str]:
    """The codes of the kinds that are shown."""
    rows = [shown.row(index) for index in range(len(shown))]
    return [shown.groups[row.group].code for row in rows if row.finding is None and not row.is_more]


# -------------------------------------------------------------------------------- the list


def test_kinds_open_to_their_findings_and_say_how_many_are_missing() -> None:
    shown = FindingList(THREE)
    assert [shown.row(index) for index in range(len(shown))] == [
        ListRow(0),
        ListRow(1),
        ListRow(2),
    ]
    assert shown.set_expanded(0, True)
    assert [shown.row(index) for index in range(5)] == [
        ListRow(0),
        ListRow(0, 0),
        ListRow(0, 1),
        ListRow(0, 2),
        ListRow(0, is_more=True),
    ]
    assert (shown.missing(0), shown.missing(2), shown.count) == (2, 0, 8)
    assert not shown.set_expanded(1, True)  # it has nothing but itself
    assert len(shown) == 7
    with pytest.raises(IndexError):
        shown.row(7)


def test_filters_look_at_kinds_and_at_single_findings() -> None:
    shown = FindingList(THREE)
    shown.set_expanded(2, True)
    shown.set_filter(FindingFilter(frozenset({Severity.LEAK, Severity.SUSPICIOUS})))
    assert codes(shown) == ["dirty", "leak"]
    shown.set_filter(FindingFilter(text="LEAK"))  # the kind itself: all that it has
    assert (codes(shown), len(shown)) == (["leak"], 3)
    shown.set_filter(FindingFilter(text="leak 0x8000"))
    assert (codes(shown), len(shown)) == (["leak"], 2)
    found = shown.finding_at(shown.row(0))
    assert found is not None
    assert found.host_offset == 0x8000
    shown.set_filter(FindingFilter(text="0x_8000 nothing like it"))
    assert len(shown) == 0
    assert shown.step(None, 1) is None


def test_steps_go_round_and_pass_over_headings_and_the_last_line() -> None:
    shown = FindingList(THREE)
    assert [shown.step(None, 1), shown.step(2, 1), shown.step(None, -1)] == [0, 0, 2]
    shown.set_expanded(0, True)
    visited = [shown.step(None, 1)]
    while len(visited) < 6:
        visited.append(shown.step(visited[-1], 1))
    assert visited == [1, 2, 3, 5, 6, 1]
    assert shown.step(1, -1) == 6


def test_a_check_and_earlier_findings_are_not_said_twice(tmp_path: Path) -> None:
    path = broken_image().write_to(tmp_path / "broken.qcow2")
    with FileSource(path) as source:
        check = check_image(source, token=CancelToken())
    other = Finding("free-inside", Severity.INFO, "free", "file")
    groups = groups_of(check, [reserved(1), other])
    assert [(found.code, found.count) for found in groups] == [
        *((found.code, found.count) for found in check.groups),
        ("free-inside", 1),
    ]
    assert [found.code for found in groups_of(None, [other, reserved(2)])] == [
        "l2-reserved-bits",
        "free-inside",
    ]


def listing(path: Path, limit: int) -> tuple[CheckReport, Listed]:
    with FileSource(path) as source:
        check = check_image(source, token=CancelToken())
        wanted = next(found for found in check.groups if found.code == "l2-reserved-bits")
        work = ListingWork(source, inspect_source(source), check.groups, wanted, False, limit)
        return check, work(CancelToken())


def test_all_findings_of_a_kind_are_found_again(tmp_path: Path) -> None:
    path = broken_image().write_to(tmp_path / "broken.qcow2")
    _, listed = listing(path, 1000)
    assert [found.entry for found in listed.findings] == list(range(BROKEN))
    assert {found.code for found in listed.findings} == {"l2-reserved-bits"}
    assert listed.texts == tuple(map(search_text, listed.findings))
    assert len(listing(path, 70)[1].findings) == 70


def test_listing_can_be_stopped(tmp_path: Path) -> None:
    path = broken_image().write_to(tmp_path / "broken.qcow2")
    token = CancelToken()
    token.cancel()
    with FileSource(path) as source:
        check = check_image(source, token=CancelToken())
        work = ListingWork(source, check.image, check.groups, check.groups[0], False)
        with pytest.raises(Cancelled):
            work(token)


def test_a_million_findings_answer_at_once(theme: Theme) -> None:
    many = tuple(map(reserved, range(100_000)))
    first = group("l2-reserved-bits", Severity.CORRUPTION, 1_000_000, many[:64])
    model = FindingsModel(theme)
    model.set_groups((first, *THREE[1:]))
    model.list_all(0, Listed(many, tuple(map(search_text, many))))
    assert model.rowCount() == 1 + 100_000 + 1 + 2

    def everything() -> None:
        model.set_filter(FindingFilter(text="l2[99999] reserved"))
        assert model.rowCount() == 3  # the kind, the one finding, and that there are more
        model.set_filter(FindingFilter())
        for row in (0, 1, 50_000, 100_001, 100_003):
            for column in FindingColumn:
                assert model.index(row, column).data() is not None
        model.set_expanded(0, False)
        model.set_expanded(0, True)

    took = []
    for _ in range(5):
        began = time.perf_counter()
        everything()
        took.append(time.perf_counter() - began)
    assert min(took) < 0.2  # two filters and two openings, each within 100 ms


# -------------------------------------------------------------------------------- the model


def test_the_model_says_what_where_how_bad_and_repaired_how(theme: Theme) -> None:
    model = FindingsModel(theme)
    model.set_groups(THREE)
    model.set_expanded(0, True)

    def cells(row: int) -> list[object]:
        return [model.index(row, column).data() for column in FindingColumn]

    assert cells(0) == [
        "corruption",
        "5",
        "Reserved bits are set in an L2 entry.",
        "L2 table",
        "–",
        "Repair",
        "l2-reserved-bits",
    ]
    assert [str(cell).strip() for cell in cells(2)] == [
        "",
        "",
        "L1[0]/L2[1] has reserved bits 0x2 set",
        "L2 table · entry 1 · 0x5008",
        "0x1000 – 0x2000",
        "Repair",
        "l2-reserved-bits",
    ]
    assert str(cells(4)[FindingColumn.WHAT]).strip().startswith("2 more of this kind")
    assert repair_words(Repair.SALVAGE) == "Salvage"
    role = Qt.ItemDataRole.AccessibleTextRole
    assert model.index(0, 0).data(role) == "Severity: corruption, expanded"
    assert model.index(6, 0).data(role) == "Severity: leak, collapsed"


def test_what_is_open_stays_open_when_a_check_adds_to_it(theme: Theme) -> None:
    model = FindingsModel(theme)
    model.set_groups(THREE[1:])
    model.set_expanded(1, True)
    model.set_filter(FindingFilter(text="leak"))
    model.set_groups(THREE)
    assert (codes(model.list), model.list.is_expanded(2), model.rowCount()) == (["leak"], True, 3)


# -------------------------------------------------------------------------------- the panel


def test_the_panel_shows_the_kinds_and_the_severities(panel: FindingsPanel) -> None:
    assert codes(panel.table.findings.list)[0] == "l2-reserved-bits"
    buttons = panel.bar.severities
    assert buttons[Severity.CORRUPTION].text() == f"Corruption  {BROKEN}"
    assert buttons[Severity.FATAL].isHidden()
    buttons[Severity.CORRUPTION].setChecked(False)
    assert "l2-reserved-bits" not in codes(panel.table.findings.list)
    buttons[Severity.CORRUPTION].setChecked(True)
    assert "l2-reserved-bits" in codes(panel.table.findings.list)


def test_steps_and_enter_select_everywhere(panel: FindingsPanel, session: Session) -> None:
    panel.table.toggle(0)
    panel.step(1)
    assert session.selection.structure is StructureKey.L2
    assert (session.selection.part, session.selection.row) == (0, 0)
    panel.step(1)
    assert session.selection.row == 1
    panel.table.select_row(6)
    assert session.selection.row == 1  # looking through the list selects nothing yet
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    assert session.selection.row == 5
    panel.step(-1)
    assert session.selection.row == 4


def test_a_click_selects_and_the_keys_open_and_close(
    panel: FindingsPanel, session: Session
) -> None:
    table = panel.table
    session.select(Selection(StructureKey.HEADER))
    table.select_row(0)
    QTest.keyClick(table, Qt.Key.Key_Right)
    assert table.findings.list.is_expanded(0)
    place = table.visualRect(table.findings.index(3, FindingColumn.WHERE)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (session.selection.structure, session.selection.row) == (StructureKey.L2, 2)
    QTest.keyClick(table, Qt.Key.Key_Left)
    assert not table.findings.list.is_expanded(0)
    assert table.current_row() == 0


def test_all_of_a_kind_are_listed_on_request(
    qtbot: QtBot, runner: BackgroundRunner, panel: FindingsPanel
) -> None:
    table = panel.table
    table.toggle(0)
    more = table.findings.list.row_of_group(0) or 0
    more += table.findings.list.shown_count(0) + 1
    assert table.findings.list.row(more).is_more
    table.select_row(more)
    with qtbot.waitSignal(panel.status_changed) as said:
        QTest.keyClick(table, Qt.Key.Key_Return)
        assert "being looked for" in str(table.findings.index(more, FindingColumn.WHAT).data())
        settled(qtbot, runner)
    assert said.args == [f"{BROKEN} findings listed"]
    assert table.findings.list.missing(0) == 0
    assert table.findings.list.shown_count(0) == BROKEN


def test_typing_filters_after_a_moment(qtbot: QtBot, panel: FindingsPanel) -> None:
    with qtbot.waitSignal(panel.bar.changed):
        panel.bar.text.setText("l1[0]/l2[17]")
    assert codes(panel.table.findings.list) == ["l2-reserved-bits"]
    assert panel.table.findings.list.shown_count(0) == 1
    panel.show_text("no such words")
    qtbot.waitUntil(lambda: panel.pages.currentWidget() is panel.nothing)
    assert panel.nothing.text() == "No finding passes the filter."


def test_rows_are_copied_with_their_severity(panel: FindingsPanel) -> None:
    table = panel.table
    table.toggle(0)
    table.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for row in (1, 2):
        table.selectionModel().select(table.findings.index(row, 0), flags.Select | flags.Rows)
    table.copy_rows()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert [line.split("\t")[0] for line in lines] == ["corruption", "corruption"]
    assert lines[0].split("\t")[FindingColumn.CODE] == "l2-reserved-bits"
    table.copy_table()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].split("\t") == table.findings.titles()
    assert len(lines) == 1 + table.findings.rowCount()


def test_without_findings_it_says_what_was_looked_at(
    qtbot: QtBot, runner: BackgroundRunner, theme: Theme, data_image: Path
) -> None:
    session = Session(data_image, runner, runner)
    panel = FindingsPanel(session, theme)
    qtbot.addWidget(panel)
    session.load()
    settled(qtbot, runner)
    assert panel.count == 0
    assert panel.pages.currentWidget() is panel.nothing
    assert "etadata consistent" in panel.nothing.text()
