"""Words drawn bit by bit: pointing, the keyboard, sizes, and what is said of a part."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from qcowgui.format.entries import L2Entry
from qcowgui.format.geometry import Geometry
from qcowgui.gui.bit_layout import BitWord, l1_word, l2_words, refcount_word
from qcowgui.gui.settings import ColourScheme
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.bit_fields import BitFields
from qcowgui.gui.views.bit_grid import BitGrid, explanation

WORD = l1_word(2**63 + 0x5_0000)


@pytest.fixture
def fields(qtbot: QtBot, theme: Theme) -> BitFields:
    made = BitFields(theme)
    qtbot.addWidget(made)
    show(made, WORD, 300)
    return made


def show(fields: BitFields, word: BitWord, width: int) -> None:
    fields.show_word(word)
    fields.resize(width, fields.heightForWidth(width))
    fields.show()


def chosen(grid: BitGrid) -> str:
    return "" if grid.current is None else grid.current.field.name


def bit_points(grid: BitGrid) -> dict[int, QPoint]:
    """The middle of each bit."""
    metrics = grid._metrics(grid.width())
    assert grid.word is not None
    bits = range(grid.word.width_bits)
    return {bit: grid._bit_rect(bit, metrics).center() for bit in bits}


@pytest.mark.parametrize("width", [236, 260, 300, 420, 700, 1400])
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16, 32, 64])
def test_every_bit_is_inside_and_answers_for_its_part(
    fields: BitFields, width: int, bits: int
) -> None:
    show(fields, WORD if bits == 64 else refcount_word(1, bits), width)
    grid = fields.grid
    assert grid.word is not None
    metrics = grid._metrics(grid.width())
    seen: list[QRect] = []
    for bit in range(bits):
        rect = grid._bit_rect(bit, metrics)
        assert grid.rect().contains(rect), bit
        assert not any(rect.intersects(other) for other in seen)
        assert grid.part_at(rect.center()) == grid.word.part_at(bit)
        seen.append(rect)
    assert metrics.cell >= 10


def test_rows_follow_the_bits(fields: BitFields) -> None:
    grid = fields.grid
    metrics = grid._metrics(grid.width())
    rows = [grid._row_rect(index, metrics) for index in range(4)]
    assert [grid.part_at(rect.center()) for rect in rows] == [0, 1, 2, 3]
    assert rows[-1].bottom() < grid.height()
    assert grid.part_at(QPoint(5, grid.height() + 50)) is None


def test_a_narrow_word_is_taller(fields: BitFields) -> None:
    assert fields.grid.heightForWidth(240) > fields.grid.heightForWidth(500)


def test_pointing_explains_and_leaving_returns(fields: BitFields) -> None:
    grid, points = fields.grid, bit_points(fields.grid)
    QTest.mouseClick(grid, Qt.MouseButton.LeftButton, pos=points[63])
    assert chosen(grid) == "copied"
    QTest.mouseMove(grid, points[20])
    assert chosen(grid) == "l2_table_offset"
    assert "0x5_0000 (327,680)" in fields.explanation.toPlainText()
    grid._hover(None)
    assert chosen(grid) == "copied"
    assert "exactly one" in fields.explanation.toPlainText()


def test_the_keyboard_steps_through_the_parts(fields: BitFields) -> None:
    grid = fields.grid
    expected = {
        Qt.Key.Key_Right: "copied",
        Qt.Key.Key_Down: "reserved",
        Qt.Key.Key_End: "reserved",
        Qt.Key.Key_Up: "l2_table_offset",
        Qt.Key.Key_Left: "reserved",
        Qt.Key.Key_Home: "copied",
    }
    for key, name in expected.items():
        QTest.keyClick(grid, key)
        assert chosen(grid) == name, key
    assert grid.accessibleDescription() == fields.explanation.toPlainText()
    assert grid.accessibleName() == "L1 entry 0x8000_0000_0005_0000"


def test_a_part_is_copied(fields: BitFields) -> None:
    QTest.keyClick(fields.grid, Qt.Key.Key_Home)
    QTest.keySequence(fields.grid, "Ctrl+C")
    assert QGuiApplication.clipboard().text().startswith("63 copied = 1: ")


def test_a_wrong_part_is_explained_at_once(fields: BitFields) -> None:
    entry = L2Entry(0x5_0100, 0, Geometry(16))
    show(fields, l2_words(entry, 3)[0], 300)
    assert fields.explanation.toPlainText() == "8–1 reserved = 0x80: must be zero."


def test_the_choice_stays_with_the_same_parts(fields: BitFields) -> None:
    QTest.keyClick(fields.grid, Qt.Key.Key_Home)
    fields.show_word(l1_word(0x9_0000))
    assert chosen(fields.grid) == "copied"
    assert fields.explanation.toPlainText().startswith("63 copied = 0")
    fields.show_word(refcount_word(1, 16))
    assert not chosen(fields.grid)
    assert fields.number.text() == "0x0001 = 1"


def test_a_reason_is_said_once() -> None:
    compressed = L2Entry(3 << 62, 0, Geometry(16))
    (word,) = l2_words(compressed, 3)
    assert explanation(word.parts[0]).count("must be zero for a compressed cluster") == 1
    conflict = L2Entry(0x5_0000, 1 << 32 | 1, Geometry(16, extended_l2=True))
    text = explanation(l2_words(conflict, 3)[1].parts[0])
    assert text.endswith("A subcluster can’t have data and read as zeros.")


def test_wrong_bits_look_different_in_both_themes(fields: BitFields, theme: Theme) -> None:
    reserved = bit_points(fields.grid)[60]
    for scheme in (ColourScheme.LIGHT, ColourScheme.DARK):
        theme.choose(scheme)
        colours = []
        for value in (2**63, 2**63 | 1 << 60):
            show(fields, l1_word(value), 300)
            fields.grid.choose(0)
            image = fields.grid.grab().toImage()
            colours.append(image.pixelColor(reserved + QPoint(-5, -6)))
        assert colours[0] != colours[1], scheme
