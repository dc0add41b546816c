"""The cluster map of an image: both orders, the tools, the legend and the list of ranges."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from qcowgui.errors import OutputError
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.formatters import tsv
from qcowgui.gui.heatmap.canvas import ZOOM_STEP, MapCanvas
from qcowgui.gui.heatmap.export import Plate, save_plate
from qcowgui.gui.heatmap.layers import ColourMode, Order, Shown
from qcowgui.gui.heatmap.lights import Lights, first_entry, lights_of
from qcowgui.gui.heatmap.map_pane import MapPane
from qcowgui.gui.heatmap.map_tools import MapTools, Zoom
from qcowgui.gui.heatmap.readout import SEPARATOR, cluster_text
from qcowgui.gui.heatmap.scene import Arrangement
from qcowgui.gui.heatmap.side_panel import SidePanel
from qcowgui.gui.heatmap.trail import Trail
from qcowgui.gui.pages import PageCache
from qcowgui.gui.selection import Selection
from qcowgui.gui.session import Session
from qcowgui.gui.structures import StructureKey
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.boundary import Boundary
from qcowgui.image.references import Reference
from qcowgui.units import format_offset, format_size

_SIDE_WIDTHS: Final = (760, 320)


class MapView(QWidget):
    """The map of a session; selects, and follows what is selected elsewhere.

    Attributes:
        host: The clusters of the file.
        guest: The clusters of the guest's disk.
        side: Legend and ranges of the one in use.
        trail: The way to the selected guest byte, in words.

    Signals:
        readout: What is below the pointer, in one line; empty when nothing is.
    """

    readout = Signal(str)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._pages: PageCache | None = None
        self._lights = Lights()
        self.host = MapPane(session, theme, Order.HOST)
        self.guest = MapPane(session, theme, Order.GUEST)
        self._active = self.host
        self.side = SidePanel(session.runner, theme)
        self.trail = Trail()
        self.tools = MapTools(theme)
        self.tools.show_arrangement(Arrangement.LINEAR)
        self._lay_out()
        self._connect()
        self.show_orders(Order.HOST)
        self._fill_modes()
        self._follow()

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        self.panes = QSplitter(Qt.Orientation.Horizontal)
        self.panes.addWidget(self.host)
        self.panes.addWidget(self.guest)
        self.panes.setChildrenCollapsible(False)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.panes)
        self.split.addWidget(self.side)
        self.split.setStretchFactor(0, 1)
        self.split.setSizes(list(_SIDE_WIDTHS))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, SPACING // 2, 0, 0)
        layout.setSpacing(SPACING // 2)
        layout.addWidget(self.tools)
        layout.addWidget(self.split, 1)
        layout.addWidget(Boundary(self.trail))

    def _connect(self) -> None:
        session = self._session
        for pane in (self.host, self.guest):
            canvas = pane.canvas
            canvas.chosen.connect(partial(self._cluster_chosen, pane))
            canvas.range_chosen.connect(partial(self._range_chosen, pane))
            canvas.hovered.connect(partial(self._hovered, pane))
            canvas.step_requested.connect(partial(self._step, pane))
            canvas.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            canvas.customContextMenuRequested.connect(partial(self._show_menu, pane))
            pane.activated.connect(partial(self._activate, pane))
            pane.layer_changed.connect(partial(self._layer_changed, pane))
            pane.refused.connect(partial(self._ask, pane))
        self.side.shown_changed.connect(self._shown_chosen)
        self.side.range_chosen.connect(self._list_chosen)
        self.tools.orders_chosen.connect(lambda orders: self.show_orders(*orders))
        self.tools.arrangement_chosen.connect(self.set_arrangement)
        self.tools.mode_chosen.connect(self.set_mode)
        self.tools.zoom_requested.connect(self._zoom)
        self.tools.export_requested.connect(self.choose_file)
        session.changed.connect(self._follow)
        session.selection_changed.connect(self._follow)
        session.index_changed.connect(self._follow)
        session.check_changed.connect(self._follow)

    # ---------------------------------------------------------------- for the window

    @property
    def canvas(self) -> MapCanvas:
        """The picture in use."""
        return self._active.canvas

    @property
    def active(self) -> MapPane:
        """The pane in use."""
        return self._active

    @property
    def lights(self) -> Lights:
        """What the selection lights up."""
        return self._lights

    def abandon(self) -> None:
        """Take no more results: the tab is being closed."""
        self.host.abandon()
        self.guest.abandon()
        self.side.abandon()

    def show_orders(self, *orders: Order) -> None:
        """Show the file's clusters, the guest's, or both beside each other."""
        self.host.setVisible(Order.HOST in orders)
        self.guest.setVisible(Order.GUEST in orders)
        self.tools.show_orders(orders)
        if self._active.order not in orders:
            self._activate(self.guest if self._active is self.host else self.host)

    def set_arrangement(self, arrangement: Arrangement) -> None:
        """Lay out the cells of both orders."""
        self.tools.show_arrangement(arrangement)
        for pane in (self.host, self.guest):
            pane.set_arrangement(arrangement)

    def set_mode(self, mode: ColourMode) -> None:
        """Colour the pane in use by something else, and the other one where it makes sense."""
        self._active.set_mode(mode)
        other = self.guest if self._active is self.host else self.host
        other.set_mode(mode)
        self._fill_modes()

    # ---------------------------------------------------------------- the pane in use

    def focus_pane(self) -> None:
        """Give the pane in use the keyboard; as a focus proxy it would let Tab skip the tools."""
        self._active.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _activate(self, pane: MapPane) -> None:
        if pane is not self._active:
            self._active = pane
            self._fill_modes()
            self._layer_changed(pane)
            self._point_in_list()

    def _layer_changed(self, pane: MapPane) -> None:
        if pane is self._active:
            self.side.show_layer(pane.layer, pane.shown)

    def _fill_modes(self) -> None:
        modes = [mode for mode in ColourMode if self._active.order in mode.orders]
        self.tools.show_modes(modes, self._active.mode)

    def _shown_chosen(self, shown: Shown) -> None:
        self._active.set_shown(shown)

    def _zoom(self, zoom: Zoom) -> None:
        match zoom:
            case Zoom.IN:
                self.canvas.zoom(ZOOM_STEP)
            case Zoom.OUT:
                self.canvas.zoom(1 / ZOOM_STEP)
            case Zoom.FIT:
                self.canvas.fit()
            case Zoom.CELLS:
                self.canvas.show_single_cells()

    def _ask(self, pane: MapPane, refused: list[Reference]) -> None:
        """Ask whether files that the mode needs may be read; only a person can answer that."""
        box = AllowBox(refused, self)
        box.allowed.connect(pane.allow)
        box.rejected.connect(lambda: self.set_mode(ColourMode.STATE))
        box.open()

    # ---------------------------------------------------------------- selecting

    def _cluster_chosen(self, pane: MapPane, cluster: int) -> None:
        locator, layer = self._session.locator, pane.layer
        if locator is None or layer is None:
            return
        if pane.order is Order.GUEST:
            self._session.select(locator.at_entry(StructureKey.GUEST, None, cluster))
        else:
            self._session.select(first_entry(locator, cluster * layer.cluster_bytes))
        text = cluster_text(self._session, layer, cluster)
        pane.canvas.setAccessibleDescription(text)
        self.readout.emit(text)

    def _range_chosen(self, pane: MapPane, first: int, last: int) -> None:
        layer = pane.layer
        if layer is None:
            return
        span = first * layer.cluster_bytes, min(last * layer.cluster_bytes, layer.end_bytes)
        if pane.order is Order.GUEST:
            selection = Selection(StructureKey.GUEST, guest=span)
        else:
            selection = Selection(StructureKey.CLUSTER, host=span)
        self._session.select(selection)
        amount = self.tr("{count} clusters").format(count=f"{last - first:,}")
        texts = [amount, format_size(span[1] - span[0])]
        texts.append(f"{format_offset(span[0])} – {format_offset(span[1] - 1)}")
        self.readout.emit(SEPARATOR.join(texts))

    def _list_chosen(self, first: int, last: int) -> None:
        pane = self._active
        if last - first == 1:
            self._cluster_chosen(pane, first)
        else:
            self._range_chosen(pane, first, last)
        pane.canvas.show_cluster(first)

    def _step(self, pane: MapPane, step: int) -> None:
        """Go to the next cluster, or the one before, of the selected one's state."""
        scene, layer, current = pane.canvas.scene, pane.layer, pane.canvas.current
        if scene is None or layer is None or current is None:
            return
        value = layer.value_of(current)
        key = layer.key(value)
        found = None if key is None else scene.next_like(current, value, step)
        if found is None:
            name = "" if key is None else key.name
            self.readout.emit(self.tr("No other cluster: {state}").format(state=name))
            return
        self._cluster_chosen(pane, found)
        pane.canvas.show_cluster(found)

    def _follow(self) -> None:
        """Point out what is selected, in both orders."""
        session = self._session
        if session.pages is not self._pages:
            self._pages = session.pages
            if self._pages is not None:
                self._pages.loaded.connect(self._page_loaded)
        lights = lights_of(session)
        moved = (lights.host, lights.guest) != (self._lights.host, self._lights.guest)
        self._lights = lights
        self.host.canvas.set_selected(lights.host, lights.steps)
        self.guest.canvas.set_selected(lights.guest)
        if moved:
            for pane, mark in ((self.host, lights.host), (self.guest, lights.guest)):
                if mark is not None:
                    pane.show_part_of(mark.first)
                    pane.canvas.show_cluster(mark.first)
        self.trail.show_way(lights.trail)
        self._point_in_list()

    def _page_loaded(self) -> None:
        if not self._lights.complete:
            self._follow()

    def _point_in_list(self) -> None:
        self.side.show_cluster(self._active.canvas.current)

    # ---------------------------------------------------------------- reading out, copying

    def _hovered(self, pane: MapPane, cluster: int | None) -> None:
        self.readout.emit("" if cluster is None else self._text(pane, cluster))

    def _text(self, pane: MapPane, cluster: int) -> str:
        layer, scene, view = pane.layer, pane.canvas.scene, pane.canvas.view
        if layer is None or scene is None or view is None:
            return ""
        shared_by = scene.clusters_below(view)
        return cluster_text(self._session, layer, cluster, shared_by=shared_by)

    def _show_menu(self, pane: MapPane, position: QPoint) -> None:
        menu = self.context_menu(pane, pane.canvas.cluster_at(position.toPointF()))
        menu.popup(pane.canvas.mapToGlobal(position))

    def context_menu(self, pane: MapPane, cluster: int | None) -> QMenu:
        """The menu for a cluster; it deletes itself when it is closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if cluster is not None:
            text = cluster_text(self._session, pane.layer, cluster) if pane.layer else ""
            menu.addAction(self.tr("Copy cluster")).triggered.connect(lambda: _copy(text))
            row = text.split(SEPARATOR)
            menu.addAction(self.tr("Copy as a row")).triggered.connect(lambda: _copy(tsv([row])))
        copy_legend = menu.addAction(self.tr("Copy legend"))
        copy_legend.triggered.connect(self.copy_table)
        menu.addSeparator()
        value = 0 if cluster is None or pane.layer is None else pane.layer.value_of(cluster)
        if value:
            only = menu.addAction(self.tr("Only this state"))
            only.triggered.connect(lambda: self._only(pane, value))
        everything = menu.addAction(self.tr("All states"))
        everything.setEnabled(not pane.shown.is_everything)
        everything.triggered.connect(lambda: pane.set_shown(Shown()))
        menu.addAction(self.tr("Save as a picture…")).triggered.connect(self.choose_file)
        return menu

    def _only(self, pane: MapPane, value: int) -> None:
        pane.set_shown(Shown(value, pane.shown.hidden - {value}))

    def copy_cells(self) -> None:
        """Put what is known of the selected cluster on the clipboard, in a line."""
        if text := self._current_text():
            _copy(text)

    def copy_rows(self) -> None:
        """The same as a row of a table."""
        if text := self._current_text():
            _copy(tsv([text.split(SEPARATOR)]))

    def _current_text(self) -> str:
        layer, cluster = self._active.layer, self._active.canvas.current
        if layer is None or cluster is None:
            return ""
        return cluster_text(self._session, layer, cluster)

    def copy_table(self) -> None:
        """Put the legend on the clipboard as a table."""
        lines = [[self.tr("State"), self.tr("Clusters"), self.tr("Bytes")]]
        lines += [
            [key.name, str(amount.clusters), str(amount.bytes)]
            for key, amount in self.side.legend.rows()
        ]
        _copy(tsv(lines))

    # ---------------------------------------------------------------- saving

    def choose_file(self) -> None:
        """Ask where to save the picture."""
        dialog = QFileDialog(self, self.tr("Save the map"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("PNG image (*.png)"), self.tr("SVG image (*.svg)")])
        dialog.setDefaultSuffix("png")
        dialog.filterSelected.connect(
            lambda text: dialog.setDefaultSuffix("svg" if "svg" in text else "png")
        )
        dialog.selectFile(f"{self._session.path.name}-map.png")
        dialog.fileSelected.connect(self.save_picture)
        dialog.open()

    def save_picture(self, path: str) -> None:
        """Save what is visible, with the legend; SVG or PNG by the file's name."""
        pane = self._active
        cells = pane.canvas.picture()
        if cells is None:
            return
        plate = Plate(
            title=self._session.path.name,
            subtitle=f"{pane.title.text()}{SEPARATOR}{pane.mode.title}",
            cells=cells,
            legend=self.side.legend.rows(),
            colours=self._theme.colours,
            dark=self._theme.dark,
        )
        try:
            save_plate(plate, path)
        except OutputError as error:
            self.readout.emit(error.message)
        else:
            self.readout.emit(self.tr("Saved {path}").format(path=path))


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
