"""The tools above a map: which clusters, how they lie, what they are coloured by, how near."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import partial
from typing import Final

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QComboBox, QSizePolicy, QToolBar, QWidget

from qcowgui.gui.heatmap.layers import ColourMode, Order
from qcowgui.gui.heatmap.scene import Arrangement
from qcowgui.gui.theme import Theme

_ICON_SIDE: Final = 16


_MODE_LETTERS: Final = 13
"""Of a colour mode, shown in the closed list: with more, the tools are too many for one line."""


class Zoom(Enum):
    """What the zoom buttons ask for."""

    IN = auto()
    OUT = auto()
    FIT = auto()
    CELLS = auto()


class MapTools(QToolBar):
    """A row of tools.

    Attributes:
        modes: The list of colour modes.

    Signals:
        orders_chosen: Other clusters are wanted: a tuple of `Order`.
        arrangement_chosen: Another `Arrangement` is wanted.
        mode_chosen: Another `ColourMode` is wanted.
        zoom_requested: A `Zoom`.
        export_requested: A picture is wanted.
    """

    orders_chosen = Signal(object)
    arrangement_chosen = Signal(object)
    mode_chosen = Signal(object)
    zoom_requested = Signal(object)
    export_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        self._orders = QActionGroup(self)
        self._arrangements = QActionGroup(self)
        self.modes = QComboBox()
        self.modes.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.modes.setMinimumContentsLength(_MODE_LETTERS)
        self.setObjectName("mapTools")
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setAccessibleName(self.tr("Map tools"))
        self._make()
        self.modes.currentIndexChanged.connect(self._mode_chosen)
        theme.changed.connect(self._paint)
        self._paint()

    def _make(self) -> None:
        for text, tip, orders in (
            (self.tr("File"), self.tr("The file’s clusters"), (Order.HOST,)),
            (self.tr("Guest"), self.tr("The guest’s disk"), (Order.GUEST,)),
            (self.tr("Both"), self.tr("Both, beside each other"), (Order.HOST, Order.GUEST)),
        ):
            self._choice(self._orders, text, tip, partial(self.orders_chosen.emit, orders))
        self.addSeparator()
        for text, tip, arrangement in (
            (self.tr("Linear"), self.tr("Row by row"), Arrangement.LINEAR),
            (
                self.tr("Hilbert"),
                self.tr("Along a Hilbert curve: neighbours stay together"),
                Arrangement.HILBERT,
            ),
        ):
            call = partial(self.arrangement_chosen.emit, arrangement)
            self._choice(self._arrangements, text, tip, call)
        self.addSeparator()
        self.modes.setAccessibleName(self.tr("Colour by"))
        self.modes.setToolTip(self.tr("What the clusters are coloured by"))
        self.addWidget(self.modes)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        for icon, text, zoom in (
            ("zoom-in", self.tr("Zoom in (+)"), Zoom.IN),
            ("zoom-out", self.tr("Zoom out (-)"), Zoom.OUT),
            ("zoom-fit", self.tr("Show everything (0)"), Zoom.FIT),
            ("zoom-cells", self.tr("Every cluster on its own (1)"), Zoom.CELLS),
        ):
            self._button(icon, text, partial(self.zoom_requested.emit, zoom))
        self._button("export", self.tr("Save as a picture…"), self.export_requested.emit)

    def show_orders(self, orders: tuple[Order, ...]) -> None:
        """Mark the orders that are shown."""
        index = 2 if len(orders) == 2 else int(orders[0] is Order.GUEST)
        self._orders.actions()[index].setChecked(True)

    def show_arrangement(self, arrangement: Arrangement) -> None:
        """Mark the arrangement that is shown."""
        self._arrangements.actions()[list(Arrangement).index(arrangement)].setChecked(True)

    def show_modes(self, modes: Iterable[ColourMode], current: ColourMode) -> None:
        """Offer colour modes."""
        with QSignalBlocker(self.modes):
            self.modes.clear()
            for mode in modes:
                self.modes.addItem(self.tr("Colour: {mode}").format(mode=mode.title), mode)
            self.modes.setCurrentIndex(self.modes.findData(current))
        # The open list has room for what the closed one elides.
        listed = self.modes.view()
        listed.setMinimumWidth(listed.sizeHintForColumn(0) + 2 * _ICON_SIDE)

    def _choice(self, group: QActionGroup, text: str, tip: str, call: Callable[[], object]) -> None:
        action = group.addAction(text)
        action.setCheckable(True)
        action.setToolTip(tip)
        action.triggered.connect(lambda _checked=False: call())
        self.addAction(action)

    def _button(self, icon: str, text: str, call: Callable[[], object]) -> None:
        action = self.addAction(text)
        action.triggered.connect(lambda _checked=False: call())
        self._icons[action] = icon

    def _mode_chosen(self, index: int) -> None:
        mode = self.modes.itemData(index)
        if mode is not None:
            self.mode_chosen.emit(mode)

    def _paint(self) -> None:
        for action, name in self._icons.items():
            action.setIcon(self._theme.icon(name))
