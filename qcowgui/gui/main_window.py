"""The window: images in tabs, conversions below, and everything that arrives by drop or menu."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.actions import Actions, Commands
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.closing import CloseGuard
from qcowgui.gui.dialogs.about import AboutDialog, KeyboardDialog
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.drops import sort_urls
from qcowgui.gui.formatters import Tone
from qcowgui.gui.jobs import Job, JobController
from qcowgui.gui.session import Session
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.banner import Banner
from qcowgui.gui.views.conversions import ConversionsPanel
from qcowgui.gui.views.image_view import ImageView
from qcowgui.gui.views.start_page import StartPage

_LOAD_INTERVAL_MS: Final = 20
_LAYOUT_VERSION: Final = 1
_DEFAULT_SIZE: Final = QSize(1180, 780)
_DOCK_HEIGHT: Final = 190
_CLOSE_ICON_SIZE: Final = QSize(14, 14)
_TOOL_ICON_SIZE: Final = QSize(18, 18)


class MainWindow(QMainWindow):
    """One window. It is fed by `open_paths`, whatever the way a file came."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self.setAcceptDrops(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.loader = BackgroundRunner(self, interval_ms=_LOAD_INTERVAL_MS)
        self.controller = JobController(self)
        self._guard = CloseGuard(self, self.controller, self.loader)
        self.notice = Banner(theme, dismissible=True)
        self.start_page = StartPage(theme, settings)
        self.tabs = self._make_tabs()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self.tabs)
        self._set_central()
        self.conversions = ConversionsPanel(self.controller, theme)
        self._dock = self._make_dock()
        self.actions_ = Actions(self, self._commands(), theme, settings.colour_scheme)
        self._recent_menu = QMenu(self.tr("Open &recent"), self)
        self._recent_menu.triggered.connect(lambda action: self.open_paths([action.data()]))
        self.actions_.fill_menus(self._recent_menu, [self._dock.toggleViewAction()])
        self._make_toolbar()
        self._connect()
        self.statusBar()
        self._fill_recent_menu()
        self._restore_layout()
        self._tab_changed()

    # ---------------------------------------------------------------- opening

    def open_paths(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Open each file in a tab of its own; one that is open already comes to the front."""
        for path in paths:
            session = self._open(Path(path).absolute())
            self._settings.add_recent_file(session.path)
            self._settings.last_folder = str(session.path.parent)

    def views(self) -> list[ImageView]:
        """The open images, in the order of the tabs."""
        widgets = (self.tabs.widget(index) for index in range(self.tabs.count()))
        return [widget for widget in widgets if isinstance(widget, ImageView)]

    def current_view(self) -> ImageView | None:
        """The image that is shown, or None on the start page."""
        widget = self.tabs.currentWidget()
        return widget if isinstance(widget, ImageView) else None

    def show_problem(self, title: str, details: str) -> None:
        """Say that something unexpected happened, with details that can be copied."""
        self.notice.say(title, details.strip().rsplit("\n", 1)[-1], tone=Tone.DANGER)
        self.notice.add_copy_button(details)

    def _open(self, path: Path) -> Session:
        for view in self.views():
            if view.session.path == path:
                self.tabs.setCurrentWidget(view)
                return view.session
        session = Session(path, self.loader)
        view = ImageView(session, self._theme)
        session.setParent(view)
        session.changed.connect(self._update_commands)
        view.status_changed.connect(self.statusBar().showMessage)
        view.convert_requested.connect(self._convert)
        index = self.tabs.addTab(view, self._theme.icon("image"), path.name.replace("&", "&&"))
        self.tabs.setTabToolTip(index, str(path))
        self._add_close_button(index, view)
        self.tabs.setCurrentIndex(index)
        session.load()
        return session

    def _choose_files(self) -> None:
        dialog = QFileDialog(self, self.tr("Open disk images"), self._settings.last_folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        # qcow2 images have many names, so that the filter which hides nothing comes first.
        dialog.setNameFilters(
            [self.tr("All files (*)"), self.tr("qcow2 images (*.qcow2 *.qcow *.img)")]
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.open_paths)
        dialog.open()

    def _add_close_button(self, index: int, view: ImageView) -> None:
        button = QToolButton()
        button.setIcon(self._theme.icon("close", self._theme.colours.muted))
        button.setIconSize(_CLOSE_ICON_SIZE)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # by keyboard it is Close tab
        button.setToolTip(self.tr("Close tab"))
        button.setAccessibleName(self.tr("Close {name}").format(name=view.session.path.name))
        button.clicked.connect(lambda _checked=False: self._close_tab(view))
        self.tabs.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, button)

    def _close_tab(self, view: ImageView | None) -> None:
        if view is not None:
            view.session.abandon()
            self.tabs.removeTab(self.tabs.indexOf(view))
            view.deleteLater()

    # ---------------------------------------------------------------- converting

    def convert_dialog(self) -> ConvertDialog:
        """The conversion form for the image that is shown, or an empty one."""
        view = self.current_view()
        session = view.session if view else None
        dialog = ConvertDialog(
            session.path if session else None, session.inspected if session else None, self
        )
        dialog.start_requested.connect(self._start_conversion)
        return dialog

    def _convert(self) -> None:
        self.convert_dialog().show()

    def _start_conversion(self, options: ConvertOptions, allowed: list[Path]) -> None:
        if not self._dock.isVisible():
            self._dock.show()
            self.resizeDocks([self._dock], [_DOCK_HEIGHT], Qt.Orientation.Vertical)
        self.controller.start(options, allowed)

    def _ask_to_allow(self, job: Job) -> None:
        box = AllowBox(job.refused, self)
        box.allowed.connect(lambda paths: self.controller.retry(job, paths))
        box.open()

    # ---------------------------------------------------------------- drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files, and only those."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            self.start_page.set_drop_hot(True)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Go on accepting them, or some systems refuse the drop."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take back the sign that a drop is welcome."""
        self.start_page.set_drop_hot(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the files, and say why the rest can't be."""
        self.start_page.set_drop_hot(False)
        dropped = sort_urls(event.mimeData().urls())
        event.acceptProposedAction()
        if dropped.refusals:
            self.notice.say(
                self.tr("Not everything that was dropped can be opened"),
                "\n".join(dropped.refusals),
                tone=Tone.WARNING,
            )
        self.open_paths(dropped.paths)

    # ---------------------------------------------------------------- closing

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close at once when nothing runs; else ask, or wait for what ends by itself."""
        if self._guard.may_close():
            self._save_layout()
            event.accept()
        else:
            event.ignore()

    # ---------------------------------------------------------------- building

    def _make_tabs(self) -> QTabWidget:
        tabs = QTabWidget()
        tabs.setDocumentMode(True)
        tabs.setMovable(True)
        tabs.setElideMode(Qt.TextElideMode.ElideMiddle)
        tabs.tabBar().setDrawBase(False)
        tabs.currentChanged.connect(self._tab_changed)
        return tabs

    def _set_central(self) -> None:
        central = QWidget()
        layout = QVBoxLayout(central)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        notice_frame = QWidget()
        notice_layout = QVBoxLayout(notice_frame)
        notice_layout.setContentsMargins(SPACING + 2, 0, SPACING + 2, 0)
        notice_layout.addWidget(self.notice)
        layout.addWidget(notice_frame)
        layout.addWidget(self._pages, 1)
        self.setCentralWidget(central)

    def _make_dock(self) -> QDockWidget:
        dock = QDockWidget(self.tr("Conversions"), self)
        dock.setObjectName("conversions")  # by which a saved layout knows it
        dock.setWidget(self.conversions)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
        dock.hide()
        return dock

    def _make_toolbar(self) -> None:
        bar = self.addToolBar(self.tr("Commands"))
        bar.setObjectName("commands")
        bar.setMovable(False)
        bar.setIconSize(_TOOL_ICON_SIZE)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        bar.addActions([self.actions_.open, self.actions_.convert, self.actions_.reload])

    def _commands(self) -> Commands:
        return Commands(
            open=self._choose_files,
            convert=self._convert,
            reload=self._reload,
            close_tab=lambda: self._close_tab(self.current_view()),
            quit=self.close,
            copy=lambda: self._with_table("copy_cells"),
            copy_rows=lambda: self._with_table("copy_rows"),
            copy_table=lambda: self._with_table("copy_table"),
            next_tab=lambda: self._step_tab(1),
            previous_tab=lambda: self._step_tab(-1),
            choose_scheme=self._theme.choose,
            reset_layout=self._reset_layout,
            keyboard=lambda: KeyboardDialog(self.actions_.all(), self._theme, self).show(),
            about=lambda: AboutDialog(self.windowIcon(), self).show(),
        )

    def _connect(self) -> None:
        self.start_page.open_requested.connect(self._choose_files)
        self.start_page.convert_requested.connect(self._convert)
        self.start_page.file_chosen.connect(lambda path: self.open_paths([path]))
        self.conversions.open_requested.connect(lambda path: self.open_paths([path]))
        self.conversions.allow_requested.connect(self._ask_to_allow)
        self._settings.recent_files_changed.connect(self._fill_recent_menu)
        self._theme.changed.connect(self._paint_tabs)

    # ---------------------------------------------------------------- small commands

    def _reload(self) -> None:
        view = self.current_view()
        if view is not None:
            view.session.load()

    def _with_table(self, method: str) -> None:
        view = self.current_view()
        if view is not None:
            getattr(view.focused_table(), method)()

    def _step_tab(self, step: int) -> None:
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + step) % self.tabs.count())

    def _tab_changed(self) -> None:
        view = self.current_view()
        self._pages.setCurrentWidget(self.tabs if view else self.start_page)
        self.setWindowTitle(f"{view.session.path.name} – qcowgui" if view else "qcowgui")
        self.setWindowFilePath(str(view.session.path) if view else "")
        self.statusBar().clearMessage()
        self._update_commands()

    def _update_commands(self) -> None:
        view = self.current_view()
        shown = view is not None and view.session.inspected is not None
        self.actions_.enable_for(image=shown, tabs=self.tabs.count())

    def _paint_tabs(self) -> None:
        for index in range(self.tabs.count()):
            self.tabs.setTabIcon(index, self._theme.icon("image"))
            button = self.tabs.tabBar().tabButton(index, QTabBar.ButtonPosition.RightSide)
            if isinstance(button, QToolButton):
                button.setIcon(self._theme.icon("close", self._theme.colours.muted))

    def _fill_recent_menu(self) -> None:
        self._recent_menu.clear()
        for path in self._settings.recent_files:
            text = path.replace("&", "&&")
            self._recent_menu.addAction(text).setData(path)
        self._recent_menu.setEnabled(not self._recent_menu.isEmpty())

    # ---------------------------------------------------------------- layout

    def _save_layout(self) -> None:
        self._settings.set_layout("geometry", self.saveGeometry())
        self._settings.set_layout("state", self.saveState(_LAYOUT_VERSION))

    def _restore_layout(self) -> None:
        self.resize(_DEFAULT_SIZE)
        geometry, state = self._settings.layout("geometry"), self._settings.layout("state")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if state is not None:
            self.restoreState(state, _LAYOUT_VERSION)

    def _reset_layout(self) -> None:
        self._settings.forget_layout()
        self.resize(_DEFAULT_SIZE)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._dock)
        self._dock.setFloating(False)
        self._dock.setVisible(bool(self.controller.jobs))
