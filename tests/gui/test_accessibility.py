"""What people need who see or hear the window in another way: names, contrast, sharpness."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from qcowgui.gui.heatmap.layers import GUEST_KEYS, HOST_KEYS, Key
from qcowgui.gui.main_window import MainWindow
from qcowgui.gui.theme import DARK, LIGHT, Colours, Theme
from qcowgui.report.palette import hatch_of, luminance
from tests.gui.scenes import SCENES, scene, visible_children

_CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QTextEdit,
)
_READABLE = 4.5
"""WCAG 2.1, success criterion 1.4.3, for text of any size."""
_VISIBLE = 3.0
"""Success criterion 1.4.11: what tells a control's place or state."""


def contrast(one: str, other: str) -> float:
    deep, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (deep + 0.05)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", SCENES)
def test_every_control_has_a_name(
    name: str, window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    with scene(name, window, qtbot, rich_image) as root:
        controls = [widget for widget in visible_children(root) if is_control(widget)]
        nameless = [describe(widget) for widget in controls if not spoken_name(widget)]
        assert len(controls) >= (1 if name == "about" else 2)
    assert nameless == []


@pytest.mark.parametrize("name", SCENES)
def test_no_two_controls_of_a_dialog_have_the_same_name(
    name: str, window: MainWindow, qtbot: QtBot, rich_image: Path
) -> None:
    """A name tells two fields apart; what stands on a button is its name in its own group."""
    with scene(name, window, qtbot, rich_image) as root:
        fields = (QAbstractSpinBox, QComboBox, QLineEdit, QSlider)
        names = [
            spoken_name(widget)
            for widget in visible_children(root)
            if isinstance(widget, fields) and not isinstance(widget.parent(), QAbstractSpinBox)
        ]
        assert len(names) == len(set(names)), names


def is_control(widget: QWidget) -> bool:
    return isinstance(widget, _CONTROLS) and not isinstance(widget, QHeaderView)


def spoken_name(widget: QWidget) -> str:
    """What a screen reader says of it: not what is chosen in it, but what there is to choose."""
    labels = widget.window().findChildren(QLabel)
    named = widget.accessibleName() or next(
        (label.text() for label in labels if label.buddy() is widget), ""
    )
    if named or isinstance(widget, QComboBox | QAbstractSpinBox | QLineEdit):
        return named
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip()


def describe(widget: QWidget) -> str:
    parent = widget.parentWidget()
    return f"{type(widget).__name__} {widget.objectName()!r} in {type(parent).__name__}"


# ---------------------------------------------------------------- contrast


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_whatever_it_stands(colours: Colours) -> None:
    places = {
        "text": ("window", "panel", "raised", "hover", "note_back", "warning_back", "danger_back"),
        "muted": ("window", "panel", "raised"),
        "accent": ("window", "panel"),
        "note": ("panel", "note_back"),
        "warning": ("panel", "window", "warning_back"),
        "danger": ("panel", "window", "danger_back"),
        "on_accent": ("accent",),
        "on_selected": ("selected",),
    }
    unreadable = {
        (text, back): round(found, 2)
        for text, backs in places.items()
        for back in backs
        if (found := contrast(getattr(colours, text), getattr(colours, back))) < _READABLE
    }
    assert unreadable == {}


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_what_has_the_focus_is_seen(colours: Colours) -> None:
    for back in (colours.window, colours.panel, colours.raised):
        assert contrast(colours.accent, back) >= _VISIBLE
    assert contrast(colours.selected, colours.panel) >= 2
    # A line of text that is selected differs by more than by its colour: its text is another, too.
    assert contrast(colours.on_selected, colours.selected) >= _READABLE


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("keys", [HOST_KEYS, GUEST_KEYS], ids=["host", "guest"])
def test_neighbouring_states_differ(keys: tuple[Key, ...], *, dark: bool) -> None:
    """In luminance, in colour, or by the stripes that states of trouble have besides."""
    alike = []
    for one, other in combinations(keys, 2):
        if one.fault != other.fault:
            continue  # stripes tell them apart, which `test_stripes_are_seen` measures
        first, second = one.colour.of(dark=dark), other.colour.of(dark=dark)
        if contrast(first, second) < 1.25 and distance(first, second) < 0.06:
            alike.append((one.name, other.name, round(contrast(first, second), 2)))
    assert alike == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("keys", [HOST_KEYS, GUEST_KEYS], ids=["host", "guest"])
def test_stripes_are_seen(keys: tuple[Key, ...], *, dark: bool) -> None:
    for key in keys:
        if key.fault:
            colour = key.colour.of(dark=dark)
            assert contrast(colour, hatch_of(colour)) >= 2.5, key.name


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_state_but_the_empty_is_seen_on_the_panel(*, dark: bool) -> None:
    panel = (DARK if dark else LIGHT).panel
    empty = {"free", "not allocated", "beyond the end of the file"}
    for key in (*HOST_KEYS, *GUEST_KEYS):
        if key.name not in empty:
            colour = key.colour.of(dark=dark)
            assert contrast(colour, panel) >= 1.25 or distance(colour, panel) >= 0.1, key.name


def distance(one: str, other: str) -> float:
    """How different two colours look: their distance in OKLab."""
    first, second = oklab(one), oklab(other)
    return float(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5)


def oklab(colour: str) -> tuple[float, float, float]:
    """Björn Ottosson's perceptual colour space, 2020."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in bytes.fromhex(colour[1:]))
    )
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def test_the_colour_space_is_right() -> None:
    assert oklab("#ffffff") == pytest.approx((1, 0, 0), abs=1e-3)
    assert oklab("#ff0000") == pytest.approx((0.628, 0.225, 0.126), abs=1e-3)


# ---------------------------------------------------------------- sharpness


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_icons_are_drawn_for_the_screen(theme: Theme, ratio: float) -> None:
    """Not scaled up from a picture: as many dots as the screen has."""
    pixmap = theme.icon("check").pixmap(QSize(16, 16), ratio)
    assert pixmap.devicePixelRatio() == pytest.approx(ratio)
    assert pixmap.width() == round(16 * ratio)
