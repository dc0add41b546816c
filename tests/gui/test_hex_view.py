"""The hex dock: bytes of any file, selected everywhere, found, copied, decoded."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAction,
    QColor,
    QGuiApplication,
    QImage,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from qcowgui.check.clustermap import ClusterState
from qcowgui.check.guestmap import GuestState
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.hex_copy import MAX_COPY_BYTES
from qcowgui.gui.hex_search import PatternKind
from qcowgui.gui.hex_text import CopyFormat
from qcowgui.gui.pages import PAGE_BYTES, PageCache
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import DARK, LIGHT, Theme
from qcowgui.gui.views.hex_painter import MARK_FILL, TINT
from qcowgui.gui.views.hex_panel import HexPanel
from qcowgui.gui.views.hex_space import Space
from qcowgui.gui.views.hex_tints import OwnerMap
from qcowgui.gui.views.hex_view import HexView
from qcowgui.image.source import BytesSource, FileSource
from qcowgui.report.palette import luminance
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.damages import DAMAGES

KEY = Qt.Key
NO_KEY = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    made.deleteLater()


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> HexView:
    made = HexView(theme)
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    made.setFocus()
    return made


def show(view: HexView, runner: BackgroundRunner, data: bytes, qtbot: QtBot) -> PageCache:
    pages = PageCache(BytesSource(data), runner, view)
    view.set_pages(pages)
    rest(view, runner, qtbot)
    return pages


def rest(widget: HexView, runner: BackgroundRunner, qtbot: QtBot) -> None:
    """Wait until all that is visible is there."""
    widget.viewport().repaint()
    qtbot.waitUntil(lambda: not runner.active)
    widget.viewport().repaint()


def place_of(view: HexView, offset: int) -> QPoint:
    """Where the digits of a byte are."""
    layout = view.layout_
    row, index = divmod(offset, layout.row_bytes)
    left, right = layout.hex_span(index, index + 1)
    y = (row - view.top_row + 1.5) * layout.row_height
    return QPoint(round((left + right) / 2), round(y))


def hover(view: HexView, offset: int) -> None:
    """Move the pointer over a byte; the real one's place is not the test's business."""
    place = QPointF(place_of(view, offset))
    moved = QMouseEvent(
        QEvent.Type.MouseMove,
        place,
        view.viewport().mapToGlobal(place),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        NO_KEY,
    )
    QApplication.sendEvent(view.viewport(), moved)


def picture(view: HexView) -> QImage:
    return view.viewport().grab().toImage()


def selected(view: HexView) -> tuple[int, int]:
    return view.cursor_.start, view.cursor_.end


# ---------------------------------------------------------------- the view


def test_bytes_appear_when_their_page_is_there(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    pages = PageCache(BytesSource(pattern(100_000)), runner, view)
    view.set_pages(pages)
    view.viewport().repaint()
    before = picture(view)
    qtbot.waitUntil(lambda: not runner.active)
    assert picture(view) != before
    show(view, runner, bytes(100_000), qtbot)
    assert picture(view) != before


def test_a_click_picks_a_byte(view: HexView, runner: BackgroundRunner, qtbot: QtBot) -> None:
    show(view, runner, pattern(5000), qtbot)
    for offset in (0, 7, 8, 15, 16 * 3 + 5):
        with qtbot.waitSignal(view.picked) as signal:
            QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, offset))
        assert signal.args == [offset]
        assert selected(view) == (offset, offset + 1)


def test_ranges_words_and_lines_are_selected_by_mouse(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    show(view, runner, pattern(5000), qtbot)
    port = view.viewport()
    QTest.mouseClick(port, LEFT, NO_KEY, place_of(view, 35))
    QTest.mouseClick(port, LEFT, SHIFT, place_of(view, 20))
    assert selected(view) == (20, 36)
    QTest.mousePress(port, LEFT, NO_KEY, place_of(view, 2))
    QTest.mouseMove(port, place_of(view, 50))
    QTest.mouseRelease(port, LEFT, NO_KEY, place_of(view, 50))
    assert selected(view) == (2, 51)
    QTest.mouseDClick(port, LEFT, NO_KEY, place_of(view, 13))
    assert selected(view) == (8, 16)
    QTest.mouseClick(port, LEFT, NO_KEY, QPoint(30, place_of(view, 32).y()))
    assert selected(view) == (32, 48)


def test_a_click_beside_the_bytes_picks_nothing(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    show(view, runner, b"abc", qtbot)
    picked: list[object] = []
    view.picked.connect(picked.append)
    for offset in (3, 16, 40):
        QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, offset))
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, QPoint(100, 3))
    assert picked == []
    assert selected(view) == (0, 1)


@pytest.mark.parametrize(
    ("key", "modifiers", "expected"),
    [
        (KEY.Key_Right, NO_KEY, (1001, 1002)),
        (KEY.Key_Left, SHIFT, (999, 1001)),
        (KEY.Key_Down, SHIFT, (1000, 1017)),
        (KEY.Key_Right, CONTROL, (1008, 1009)),
        (KEY.Key_Home, NO_KEY, (992, 993)),
        (KEY.Key_End, SHIFT, (1000, 1008)),
        (KEY.Key_End, CONTROL, (4999, 5000)),
        (KEY.Key_Home, CONTROL | SHIFT, (0, 1001)),
        (KEY.Key_W, NO_KEY, (1000, 1008)),
        (KEY.Key_L, NO_KEY, (992, 1008)),
        (KEY.Key_A, CONTROL, (0, 5000)),
    ],
)
def test_keys(
    view: HexView,
    runner: BackgroundRunner,
    qtbot: QtBot,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier,
    expected: tuple[int, int],
) -> None:
    show(view, runner, pattern(5000), qtbot)
    view.select_range(1000, 1001)
    QTest.keyClick(view, key, modifiers)
    assert selected(view) == expected
    rest(view, runner, qtbot)


def test_a_key_scrolls_to_the_cursor(view: HexView, runner: BackgroundRunner, qtbot: QtBot) -> None:
    show(view, runner, pattern(PAGE_BYTES), qtbot)
    for _ in range(40):
        QTest.keyClick(view, KEY.Key_Down)
        row = view.cursor_.position // view.layout_.row_bytes
        assert view.top_row <= row < view.top_row + view.visible_rows
    assert view.top_row > 0
    QTest.keyClick(view, KEY.Key_Home, CONTROL)
    assert view.top_row == 0


def sparse(path: Path, size: int, *pieces: tuple[int, bytes]) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
        for offset, data in pieces:
            file.seek(offset)
            file.write(data)
    return path


def test_a_terabyte_is_scrolled_to_every_row(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    size = 1 << 40
    with FileSource(sparse(tmp_path / "disk", size, (size - 4, b"last"))) as source:
        view.set_pages(PageCache(source, runner, view))
        bar = view.verticalScrollBar()
        last_top = size // 16 - view.visible_rows
        bar.setValue(bar.maximum())
        assert view.top_row == last_top
        bar.setValue(bar.maximum() // 2)
        assert abs(view.top_row - last_top // 2) < 1000
        top = view.top_row
        for action, step in (
            (QAbstractSlider.SliderAction.SliderSingleStepAdd, 1),
            (QAbstractSlider.SliderAction.SliderPageStepAdd, view.visible_rows),
            (QAbstractSlider.SliderAction.SliderSingleStepSub, -1),
        ):
            bar.triggerAction(action)
            top += step
            assert view.top_row == top
        turn(view, -120)
        assert view.top_row == top + 3
        turn(view, 40)
        assert view.top_row == top + 2
        QTest.keyClick(view, KEY.Key_End, CONTROL)
        assert view.cursor_.position == size - 1
        assert view.top_row == last_top
        rest(view, runner, qtbot)
        assert view.pages is not None
        assert view.pages.read(size - 4, 4) == b"last"
        view.set_pages(None)


def turn(view: HexView, delta: int) -> None:
    """Turn the wheel."""
    event = QWheelEvent(
        QPointF(50, 50),
        QPointF(50, 50),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        NO_KEY,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_scrolling_never_stalls(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    size = 1 << 40
    with FileSource(sparse(tmp_path / "disk", size)) as source:
        view.resize(1400, 900)
        view.set_pages(PageCache(source, runner, view))
        rest(view, runner, qtbot)
        slowest = 0.0
        for step in range(60):
            began = time.perf_counter()
            view.set_top_row(step * 123_456_789)
            view.viewport().repaint()
            slowest = max(slowest, time.perf_counter() - began)
            QApplication.processEvents()
        assert slowest < 0.25  # 10 ms on an idle machine
        qtbot.waitUntil(lambda: not runner.active)
        view.set_pages(None)


def test_a_wide_view_has_longer_rows_and_keeps_its_place(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    show(view, runner, pattern(200_000), qtbot)
    assert view.layout_.row_bytes == 16
    view.set_top_row(1000)
    view.resize(1700, 300)
    assert view.layout_.row_bytes == 32
    assert view.top_row == 500
    view.resize(300, 300)
    assert view.layout_.row_bytes == 8
    assert view.top_row == 2000
    assert view.horizontalScrollBar().maximum() > 0
    rest(view, runner, qtbot)


def test_what_cannot_be_read_is_not_shown_as_zeros(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    from tests.gui.test_pages import Damaged

    zeros = show(view, runner, bytes(4096), qtbot)
    healthy = picture(view)
    view.set_pages(PageCache(Damaged(bytes(4096), (0, 16)), runner, view))
    view.cursor_.place(0)
    rest(view, runner, qtbot)
    assert picture(view) != healthy
    assert view.pages is not None
    assert view.pages.lost(0, 4096)[0][:2] == (0, 512)
    assert zeros.lost(0, 4096) == ()


def test_the_mark_is_visible_and_can_be_selected(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    show(view, runner, pattern(5000), qtbot)
    before = picture(view)
    view.set_mark((24, 32))
    assert picture(view) != before
    view.reveal(4000, 4008)
    assert view.top_row > 0
    menu = view.make_menu()
    texts = [action.text() for action in menu.actions()]
    menu.actions()[texts.index("Select the marked bytes")].trigger()
    assert selected(view) == (24, 32)
    menu.close()


def test_a_view_without_bytes_says_why(view: HexView) -> None:
    empty = picture(view)
    view.set_placeholder("There is nothing.")
    assert picture(view) != empty
    QTest.keyClick(view, KEY.Key_End, CONTROL)
    QTest.keyClick(view, KEY.Key_A, CONTROL)
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, QPoint(120, 50))
    assert selected(view)[0] >= selected(view)[1]


def test_an_empty_file_is_shown(view: HexView, runner: BackgroundRunner, qtbot: QtBot) -> None:
    show(view, runner, b"", qtbot)
    QTest.keyClick(view, KEY.Key_Down)
    assert view.cursor_.position == 0


def test_the_screen_reader_is_told_where_the_cursor_is(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot
) -> None:
    show(view, runner, b"QFI\xfb" + bytes(100), qtbot)
    view.select_range(0, 4)
    assert view.accessibleDescription() == "0x0 – 0x3 · 4 bytes: 51 46 49 fb"


def test_its_keys_are_not_the_windows(runner: BackgroundRunner, theme: Theme, qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    view = HexView(theme)
    window.setCentralWidget(view)
    triggered: list[str] = []
    for keys in ("Ctrl+C", "Ctrl+A", "W", "B"):
        action = QAction(keys, window)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda _=False, keys=keys: triggered.append(keys))
        window.addAction(action)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    view.setFocus()
    show(view, runner, pattern(500), qtbot)
    with qtbot.waitSignal(view.copy_requested) as signal:
        QTest.keyClick(view, KEY.Key_C, CONTROL)
    assert signal.args == [CopyFormat.HEX]
    QTest.keyClick(view, KEY.Key_A, CONTROL)
    assert selected(view) == (0, 500)
    QTest.keyClick(view, KEY.Key_W)
    assert selected(view) == (0, 8)
    QTest.keyClick(view, KEY.Key_B)
    assert triggered == ["B"]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def over(colour: str, back: str, share: float) -> str:
    pairs = zip(bytes.fromhex(back[1:]), bytes.fromhex(colour[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_on_every_tint(dark: bool) -> None:
    colours = DARK if dark else LIGHT
    made = (
        OwnerMap.of_file(1, np.arange(len(ClusterState), dtype=np.uint8)),
        OwnerMap.of_guest(1, np.arange(len(GuestState), dtype=np.uint8)),
    )
    owners = [owners.at(state) for owners in made for state in range(1, len(owners.states))]
    for owner in owners:
        assert owner is not None
        back = over(owner.colour.of(dark=dark), colours.panel, TINT)
        assert contrast(colours.muted, back) >= 4.5, owner.name
        assert contrast(colours.text, over(colours.accent, back, MARK_FILL)) >= 7, owner.name
    assert contrast(colours.danger, colours.danger_back) >= 4.5


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_rows_touch_at_every_scale(
    view: HexView, runner: BackgroundRunner, qtbot: QtBot, ratio: float
) -> None:
    show(view, runner, pattern(50_000), qtbot)
    view.set_owners(OwnerMap.of_file(1 << 16, np.full(1, ClusterState.CONTESTED, np.uint8)))
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    view.render(painter, QPoint())
    painter.end()
    first = math.ceil(view.layout_.row_height * ratio) + 1
    last = int((view.visible_rows + 1) * view.layout_.row_height * ratio)
    strip = {image.pixel(int(6 * ratio), y) for y in range(first, last)}
    assert len(strip) == 1


# ---------------------------------------------------------------- the panel


class Opened:
    """A session with its hex dock."""

    def __init__(self, path: Path, runner: BackgroundRunner, theme: Theme, qtbot: QtBot) -> None:
        self.session = Session(path, runner)
        self.panel = HexPanel(self.session, theme)
        self.view = self.panel.view
        self.panel.resize(1000, 400)
        self.panel.show()
        self.runner = runner
        self.qtbot = qtbot

    def rest(self) -> None:
        rest(self.view, self.runner, self.qtbot)

    def load(self) -> None:
        self.session.load()
        self.rest()

    def close(self) -> None:
        self.panel.abandon()
        self.session.abandon()
        self.qtbot.waitUntil(lambda: not self.runner.active)
        self.panel.close()
        self.panel.deleteLater()
        self.session.deleteLater()


@pytest.fixture
def opened(
    request: pytest.FixtureRequest, runner: BackgroundRunner, theme: Theme, qtbot: QtBot
) -> Iterator[Opened]:
    """The image of the fixture that the test names; by default `data_image`."""
    path: Path = request.getfixturevalue(getattr(request, "param", "data_image"))
    made = Opened(path, runner, theme, qtbot)
    made.load()
    yield made
    made.close()


@pytest.fixture
def raw_file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"Not an image.\n" * 1000 + b"needle" + bytes(5000))
    return path


def test_a_selection_elsewhere_is_marked_and_shown(opened: Opened) -> None:
    session, view = opened.session, opened.view
    assert session.locator is not None
    entry = session.locator.at_entry(StructureKey.L1, None, 0)
    session.select(entry)
    assert view.mark == session.selection.host
    assert view.mark is not None
    assert selected(view) == view.mark
    row = view.mark[0] // view.layout_.row_bytes
    assert view.top_row <= row < view.top_row + view.visible_rows
    session.select(Selection(StructureKey.CLUSTER, 0, host=(0, 65536)))
    assert view.mark == (0, 65536)
    assert selected(view) == (0, 1)
    opened.rest()


def test_a_byte_is_selected_everywhere(opened: Opened) -> None:
    session, view = opened.session, opened.view
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, 24))
    assert session.selection.structure is StructureKey.HEADER
    assert session.selection.host is not None
    start, end = session.selection.host
    assert start <= 24 < end
    assert view.mark == (start, end)
    assert selected(view) == (24, 25), "what a person selected stays"
    top = view.top_row
    QTest.keyClick(view, KEY.Key_Down)
    assert session.selection.host != (start, end)
    assert view.top_row == top


def test_the_owner_is_said_while_hovering(opened: Opened) -> None:
    said: list[str] = []
    opened.panel.status_changed.connect(said.append)
    assert opened.session.check_state is CheckState.DONE
    hover(opened.view, 24)
    assert said[-1] == "host 0x18 · cluster 0 · header"


def test_bytes_are_tinted_by_their_owner(opened: Opened, theme: Theme) -> None:
    strip = picture(opened.view).pixelColor(6, opened.view.layout_.row_height * 2)
    assert strip != QColor(theme.colours.panel)
    theme.choose(ColourScheme.DARK)
    dark = picture(opened.view).pixelColor(6, opened.view.layout_.row_height * 2)
    assert dark not in (strip, QColor(theme.colours.panel))


def test_the_first_bytes_are_numbers(opened: Opened) -> None:
    opened.view.select_range(0, 4)
    numbers = opened.panel.footer.numbers
    assert "u32 0x514649fb = 1,363,560,955" in numbers.text()
    assert opened.panel.footer.place.text() == "0x0 – 0x3 · 4 bytes"
    opened.panel.footer.order.click()
    assert "u32 0xfb494651 = 4,215,883,345" in numbers.text()


def test_going_to_an_offset(opened: Opened) -> None:
    panel = opened.panel
    panel.offset.setText("0x1_0004")
    QTest.keyClick(panel.offset, KEY.Key_Return)
    assert selected(opened.view) == (0x10004, 0x10005)
    assert opened.session.selection.host is not None
    panel.offset.setText("-4")
    QTest.keyClick(panel.offset, KEY.Key_Return)
    assert selected(opened.view) == (0x10000, 0x10001)
    panel.offset.setText("1 EiB or so")
    QTest.keyClick(panel.offset, KEY.Key_Return)
    assert "not an offset" in panel.message
    opened.rest()


def search(opened: Opened, text: str, kind: PatternKind, *, key: Qt.KeyboardModifier) -> None:
    bar = opened.panel.search
    bar.kind.setCurrentIndex(bar.kind.findData(kind))
    bar.edit.setText(text)
    QTest.keyClick(bar.edit, KEY.Key_Return, key)
    opened.rest()


@pytest.mark.parametrize("opened", ["raw_file"], indirect=True)
def test_any_file_is_shown_and_searched(opened: Opened) -> None:
    assert opened.session.locator is None
    assert not opened.panel.switch.guest_button.isEnabled()
    search(opened, "needle", PatternKind.UTF8, key=NO_KEY)
    assert selected(opened.view) == (14_000, 14_006)
    assert opened.panel.message == ""
    search(opened, "6e6f?? 61", PatternKind.HEX, key=NO_KEY)
    assert opened.panel.message == "Not found"
    search(opened, "4e 6f ?? 20", PatternKind.HEX, key=NO_KEY)
    assert selected(opened.view) == (0, 4)
    assert "going round" in opened.panel.message
    search(opened, "4e 6f ?? 20", PatternKind.HEX, key=SHIFT)
    assert selected(opened.view) == (13_986, 13_990)
    search(opened, "4e 6", PatternKind.HEX, key=NO_KEY)
    assert "not a row of bytes" in opened.panel.message
    QTest.mouseClick(opened.view.viewport(), LEFT, NO_KEY, place_of(opened.view, 13_990))
    opened.rest()


def test_a_search_can_be_stopped(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened.session.source is not None
    real = opened.session.source.read_at

    def slow(offset: int, length: int) -> bytes:
        time.sleep(0.05)
        return real(offset, min(length, 512))

    monkeypatch.setattr(opened.session.source, "read_at", slow)
    monkeypatch.setattr("qcowgui.gui.hex_search._CHUNK_BYTES", 512)
    bar = opened.panel.search
    bar.edit.setText("de ad be ef 99")
    QTest.keyClick(bar.edit, KEY.Key_Return)
    opened.qtbot.waitUntil(lambda: "%" in opened.panel.message)
    QTest.keyClick(bar.edit, KEY.Key_Escape)
    opened.qtbot.waitUntil(lambda: not opened.runner.active)
    assert opened.panel.message == "Search stopped"


def test_bytes_are_copied(opened: Opened) -> None:
    clipboard = QGuiApplication.clipboard()
    opened.view.select_range(0, 4)
    QTest.keyClick(opened.view, KEY.Key_C, CONTROL)
    opened.qtbot.waitUntil(lambda: opened.panel.message == "Copied")
    assert clipboard.text() == "51 46 49 fb"
    opened.panel.copy(CopyFormat.PYTHON)
    opened.rest()
    assert clipboard.text() == 'data = (\n    b"\\x51\\x46\\x49\\xfb"\n)'


@pytest.mark.parametrize("opened", ["raw_file"], indirect=True)
def test_too_much_is_not_copied(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    QGuiApplication.clipboard().setText("before")
    monkeypatch.setattr("qcowgui.gui.views.hex_panel.MAX_COPY_BYTES", 100)
    QTest.keyClick(opened.view, KEY.Key_A, CONTROL)
    opened.panel.copy(CopyFormat.HEX)
    opened.rest()
    assert "too many" in opened.panel.message
    assert QGuiApplication.clipboard().text() == "before"
    assert MAX_COPY_BYTES >= 1 << 20


def test_the_guests_disk_is_decoded(opened: Opened) -> None:
    panel, view = opened.panel, opened.view
    panel.switch.guest_button.click()
    opened.rest()
    opened.rest()
    assert panel.space is Space.GUEST
    assert view.size_bytes == 1 << 20
    assert view.pages is not None
    assert view.pages.read(0, 64) == pattern(64)
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, 20))
    opened.rest()
    selection = opened.session.selection
    assert selection.structure is StructureKey.CLUSTER
    assert selection.guest is not None
    assert selection.guest[0] <= 20 < selection.guest[1]
    assert view.mark == selection.guest
    said: list[str] = []
    panel.status_changed.connect(said.append)
    hover(view, 24)
    assert said[-1] == "guest 0x18 · guest cluster 0 · data"
    panel.switch.file_button.click()
    assert view.mark == selection.host
    opened.rest()


@pytest.mark.parametrize("opened", ["rich_image"], indirect=True)
def test_data_of_a_backing_file_that_was_not_opened_is_not_made_up(opened: Opened) -> None:
    opened.panel.show_guest()
    opened.rest()
    last = opened.view.size_bytes - 16
    opened.view.select_range(last, last + 16)
    opened.rest()
    assert "base.raw" in opened.panel.footer.numbers.text()
    opened.panel.copy(CopyFormat.HEX)
    opened.rest()
    assert "can’t be read and became zeros" in opened.panel.message
    said: list[str] = []
    opened.panel.status_changed.connect(said.append)
    hover(opened.view, last)
    assert "can’t be read: data is left to the backing file" in said[-1]


@pytest.mark.parametrize("name", sorted(DAMAGES)[::13])
def test_a_damaged_image_is_shown_in_both_ways(
    name: str, tmp_path: Path, runner: BackgroundRunner, theme: Theme, qtbot: QtBot
) -> None:
    path = DAMAGES[name].apply(rich()).write_to(tmp_path / "damaged.qcow2")
    made = Opened(path, runner, theme, qtbot)
    made.load()
    assert made.view.pages is not None
    assert made.view.pages.read(0, 512) == path.read_bytes()[:512]
    for show_bytes in (made.panel.show_file, made.panel.show_guest):
        show_bytes()
        made.rest()
        for offset in (0, made.view.size_bytes // 2, made.view.size_bytes - 1):
            made.panel._picked(max(0, offset))
            made.view.reveal(offset, offset + 1)
            made.rest()
    assert bool(made.view.size_bytes) or "can’t be shown" in made.panel._missing_text()
    made.close()


@pytest.fixture
def snapshot_image(tmp_path: Path) -> Path:
    """An image whose first cluster changed after its snapshot "before & after" was taken."""
    path = tmp_path / "snapshot.qcow2"
    for command in (
        ["qemu-img", "create", "-q", "-f", "qcow2", str(path), "1M"],
        ["qemu-io", "-c", "write -q -P 0x11 0 64k", str(path)],
        ["qemu-img", "snapshot", "-c", "before & after", str(path)],
        ["qemu-io", "-c", "write -q -P 0x22 0 64k", str(path)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.mark.parametrize("opened", ["snapshot_image"], indirect=True)
def test_the_disk_of_a_snapshot_is_decoded(opened: Opened) -> None:
    panel, view, session = opened.panel, opened.view, opened.session
    panel.show_guest()
    opened.rest()
    assert view.pages is not None
    assert view.pages.read(0, 4) == b"\x22" * 4
    menu = panel.switch.guest_button.menu()
    assert [action.text() for action in menu.actions()] == ["Active disk", "before && after"]
    menu.actions()[1].trigger()
    opened.rest()
    assert view.pages is not None
    assert view.pages.read(0, 4) == b"\x11" * 4
    assert panel.switch.guest_button.text() == "Guest disk: before && after"
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, 5))
    opened.rest()
    old = session.selection
    assert old.snapshot == 0
    assert (view.mark, old.guest) == ((0, 65536), (0, 65536))
    menu.actions()[0].trigger()
    opened.rest()
    assert view.pages is not None
    assert view.pages.read(0, 4) == b"\x22" * 4
    assert view.mark is None, "the selection is of the snapshot's disk"
    QTest.mouseClick(view.viewport(), LEFT, NO_KEY, place_of(view, 5))
    opened.rest()
    new = session.selection
    assert new.snapshot is None
    assert new.host != old.host


@pytest.fixture
def encrypted_image(tmp_path: Path) -> Path:
    path = ImageBuilder(size=1 << 20).build().write_to(tmp_path / "secret.qcow2")
    with path.open("r+b") as file:
        file.seek(32)
        file.write((1).to_bytes(4, "big"))
    return path


@pytest.mark.parametrize("opened", ["encrypted_image"], indirect=True)
def test_a_guest_that_cannot_be_read_says_why(opened: Opened) -> None:
    opened.panel.show_guest()
    opened.rest()
    assert opened.view.pages is None
    assert "can’t be shown" in opened.panel._missing_text()
    assert "encrypt" in opened.panel._missing_text()
    opened.panel.show_file()
    assert opened.view.pages is opened.session.pages
    opened.rest()


def test_a_reload_shows_the_new_bytes(opened: Opened) -> None:
    opened.panel.show_guest()
    opened.rest()
    opened.panel.show_file()
    opened.view.select_range(0x30, 0x31)
    old = opened.view.pages
    with opened.session.path.open("r+b") as file:
        file.seek(60)
        file.write(b"\1")
    opened.load()
    opened.rest()
    assert opened.view.pages is opened.session.pages is not old
    assert opened.view.pages is not None
    assert opened.view.pages.read(60, 1) == b"\1"


def test_a_file_that_vanished_leaves_a_sentence(opened: Opened) -> None:
    opened.session.path.unlink()
    opened.load()
    assert opened.view.pages is None
    assert "No such file" in opened.panel._missing_text()
    QTest.keyClick(opened.view, KEY.Key_Down)
    opened.panel.copy(CopyFormat.HEX)
    opened.panel.search.edit.setText("00")
    QTest.keyClick(opened.panel.search.edit, KEY.Key_Return)
    opened.rest()


def test_a_panel_can_be_closed_while_it_reads(
    data_image: Path, runner: BackgroundRunner, theme: Theme, qtbot: QtBot
) -> None:
    made = Opened(data_image, runner, theme, qtbot)
    made.load()
    made.panel.show_guest()
    made.panel.search.edit.setText("99 98 97")
    made.panel._search(True)
    made.close()
