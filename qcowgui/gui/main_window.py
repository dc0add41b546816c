"""The window: images in tabs, conversions below, and everything that arrives by drop or menu."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QUrl
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.actions import Actions, Commands, Situation
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.closing import CloseGuard
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.drops import DropTarget, sort_urls
from qcowgui.gui.image_dialogs import ImageDialogs
from qcowgui.gui.image_tabs import ImageTabs
from qcowgui.gui.samples import SampleImages
from qcowgui.gui.session import CheckState, Session
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.image_view import ImageView
from qcowgui.gui.views.log_panel import LogPanel
from qcowgui.gui.views.queue_drop import DropZones, convert_zone, inspect_zone
from qcowgui.gui.views.start_page import StartPage
from qcowgui.gui.window_conversions import WindowConversions
from qcowgui.gui.window_dialogs import WindowDialogs
from qcowgui.gui.window_docks import WindowDocks
from qcowgui.gui.window_layout import WindowLayout
from qcowgui.gui.window_log import WindowLog
from qcowgui.gui.window_notices import WindowNotices

_LOAD_INTERVAL_MS: Final = 20
_TOOL_ICON_SIZE: Final = QSize(18, 18)


class MainWindow(QMainWindow):
    """One window. It is fed by `open_paths`, whatever the way a file came."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.loader = BackgroundRunner(self, interval_ms=_LOAD_INTERVAL_MS)
        self.notices = WindowNotices(theme, self)
        self.notice = self.notices.banner
        self.start_page = StartPage(theme, settings)
        self.samples = SampleImages(self.loader, self)
        self.tabs = ImageTabs(theme)
        self.queue = WindowConversions(self, self.tabs, self.loader, theme, settings)
        self.controller, self.conversions = self.queue.controller, self.queue.panel
        self._guard = CloseGuard(self, self.controller, self.loader, self._count_copies)
        self.dialogs = ImageDialogs(theme, self)
        self.own_dialogs = WindowDialogs(self, theme, settings)
        self._central = QWidget()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self.tabs)
        self._set_central()
        self._zones = self._make_drop_zones()
        self.log = LogPanel()
        self.docks = WindowDocks(self, self.conversions, self.log)
        self._log = WindowLog(self.log, self.controller, self)
        self._layout = WindowLayout(self, self.docks, self.tabs, settings)
        self.actions_ = Actions(self, self._commands(), theme, settings.colour_scheme)
        self._recent_menu = QMenu(self.tr("Open &recent"), self)
        self._recent_menu.triggered.connect(lambda action: self.open_paths([action.data()]))
        self.actions_.fill_menus(self._recent_menu, self.docks.toggle_actions())
        self._make_toolbar()
        self._connect()
        self._make_status_bar()
        self._fill_recent_menu()
        self._layout.restore()
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
        return self.tabs.views()

    def current_view(self) -> ImageView | None:
        """The image that is shown, or None on the start page."""
        return self.tabs.current_view()

    def show_problem(self, title: str, details: str) -> None:
        """Say that something could not be done, with details that can be copied."""
        self.notices.problem(title, details)

    def note(self, line: str, problem: bool = False) -> None:
        """Write a line into the log; whether it tells of a problem."""
        self._log.add(line, problem)

    def _open(self, path: Path) -> Session:
        known = self.tabs.view_of(path)
        if known is not None:
            self.tabs.setCurrentWidget(known)
            return known.session
        session = Session(path, self.loader)
        session.load()  # it reads while the view is made
        self.tabs.add_view(self._make_view(session))
        return session

    def _make_view(self, session: Session) -> ImageView:
        view = ImageView(session, self._theme, self.tabs.page_parent)
        session.setParent(view)
        for signal in (session.changed, session.check_changed, session.selection_changed):
            signal.connect(self._update_commands)
        session.changed.connect(lambda: self._show_bytes_of(view))
        view.status_changed.connect(self.statusBar().showMessage)
        view.convert_requested.connect(self._convert)
        view.repair_requested.connect(lambda: self.dialogs.repair(view))
        view.salvage_requested.connect(lambda: self.dialogs.salvage(view))
        view.open_requested.connect(lambda path: self.open_paths([path]))
        view.report.written.connect(self._report_written)
        view.report.failed.connect(self.notices.report_failed)
        view.restore_layout(self._settings.layout("image"))
        view.findings.count_changed.connect(self._show_finding_count)
        self.docks.findings.add_panel(view.findings)
        self.docks.hex.add_panel(view.hex)
        self._log.follow(session)
        return view

    def _show_bytes_of(self, view: ImageView) -> None:
        """Of a file that is no image the bytes are all there is to see."""
        session = view.session
        if view is self.current_view() and session.error is not None and session.source is not None:
            self.docks.raise_dock(self.docks.hex)

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

    def _report_written(self, paths: tuple[Path, ...]) -> None:
        text = self.tr("Report written: {files}").format(files=", ".join(map(str, paths)))
        self.statusBar().showMessage(text)
        self._log.add(text)

    def _count_copies(self) -> int:
        return sum(len(self.dialogs.writing(view)) for view in self.views())

    def _close_tab(self, view: ImageView | None) -> None:
        writing = [] if view is None else self.dialogs.writing(view)
        if writing:
            writing[0].raise_()
            writing[0].activateWindow()
            self.statusBar().showMessage(
                self.tr("A copy of this image is being written: stop that first.")
            )
        elif view is not None:
            self.dialogs.close_all(view)
            view.close_panels()
            self._settings.set_layout("image", view.layout_state())
            self.tabs.removeTab(self.tabs.indexOf(view))
            self.docks.findings.remove_panel(view.findings)
            self.docks.hex.remove_panel(view.hex)
            view.deleteLater()

    # ---------------------------------------------------------------- converting

    def convert_dialog(self) -> ConvertDialog:
        """The conversion form for the image that is shown, or an empty one."""
        return self.queue.form()

    def _convert(self) -> None:
        self.convert_dialog().show()

    def _start_conversion(self, options: ConvertOptions, allowed: list[Path]) -> None:
        self.queue.start(options, allowed)

    # ---------------------------------------------------------------- drag and drop

    def _make_drop_zones(self) -> DropZones:
        zones = DropZones([inspect_zone(), convert_zone()], self._theme, self._central)
        target = DropTarget(self)
        target.held.connect(lambda place: zones.hold(self._place_in_zones(place)))
        target.left.connect(zones.hide)
        target.dropped.connect(self._drop)
        return zones

    def _place_in_zones(self, place: QPoint) -> QPoint:
        """A place of the window as one of its middle; whatever lies around that inspects."""
        inside = self._central.mapFrom(self, place)
        return inside if self._central.rect().contains(inside) else QPoint()

    def _drop(self, urls: list[QUrl], place: QPoint) -> None:
        """Open or convert the files, and say why the rest can't be."""
        converts = self._zones.zone_at(self._place_in_zones(place)) == "convert"
        dropped = sort_urls(urls, folders=converts)
        if dropped.refusals:
            title = self.tr("Not everything that was dropped can be opened")
            self.notices.refuse(title, dropped.refusals)
        if not converts:
            self.open_paths(dropped.paths)
        elif dropped.paths:
            self.queue.form(dropped.paths).show()

    # ---------------------------------------------------------------- closing

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close at once when nothing runs; else ask, or wait for what ends by itself."""
        if self._guard.may_close():
            self._layout.save()
            self.samples.clean_up()
            event.accept()
        else:
            event.ignore()

    def changeEvent(self, event: QEvent) -> None:
        """Look at the file again when somebody comes back: not every system tells of changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._with_view(lambda view: view.live.look())

    # ---------------------------------------------------------------- building

    def _set_central(self) -> None:
        layout = QVBoxLayout(self._central)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        notice_frame = QWidget()
        notice_layout = QVBoxLayout(notice_frame)
        notice_layout.setContentsMargins(SPACING + 2, 0, SPACING + 2, 0)
        notice_layout.addWidget(self.notice)
        layout.addWidget(notice_frame)
        layout.addWidget(self._pages, 1)
        self.setCentralWidget(self._central)

    def _make_toolbar(self) -> None:
        bar = self.addToolBar(self.tr("Commands"))
        bar.setObjectName("commands")
        bar.setMovable(False)
        bar.setIconSize(_TOOL_ICON_SIZE)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        actions = self.actions_
        bar.addActions([actions.open, actions.convert, actions.reload])
        bar.addSeparator()
        bar.addActions([actions.check, actions.deep_check, actions.repair])
        bar.addSeparator()
        bar.addActions([actions.back, actions.forward, actions.go_to])
        for action in (actions.back, actions.forward):
            button = bar.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)

    def _make_status_bar(self) -> None:
        label = QLabel(self.tr("read-only"))
        label.setToolTip(
            self.tr("Images are opened for reading only: whatever writes asks for a new file.")
        )
        label.setProperty("muted", True)
        self.statusBar().addPermanentWidget(label)

    def _commands(self) -> Commands:
        return Commands(
            open=self._choose_files,
            convert=self._convert,
            optimise=lambda: self.queue.form(preset="optimise").show(),
            export_report=lambda: self._with_view(lambda view: view.report.choose_file()),
            reload=lambda: self._with_session(Session.load),
            close_tab=lambda: self._close_tab(self.current_view()),
            quit=self.close,
            copy=lambda: self._with_table("copy_cells"),
            copy_rows=lambda: self._with_table("copy_rows"),
            copy_table=lambda: self._with_table("copy_table"),
            next_tab=lambda: self.tabs.step(1),
            previous_tab=lambda: self.tabs.step(-1),
            back=lambda: self._with_session(Session.go_back),
            forward=lambda: self._with_session(Session.go_forward),
            go_to=lambda: self._with_view(self.dialogs.go_to),
            next_finding=lambda: self._step_finding(1),
            previous_finding=lambda: self._step_finding(-1),
            show_map=lambda: self._with_view(ImageView.show_map),
            show_table=lambda: self._with_view(ImageView.show_table),
            show_hex=lambda: self.docks.raise_dock(self.docks.hex),
            show_findings=lambda: self.docks.raise_dock(self.docks.findings),
            show_conversions=lambda: self.docks.raise_dock(self.docks.conversions),
            check=lambda: self._with_session(lambda session: session.start_check(deep=False)),
            deep_check=lambda: self._with_session(lambda session: session.start_check(deep=True)),
            cancel_check=lambda: self._with_session(Session.cancel_check),
            repair=lambda: self._with_view(self.dialogs.repair),
            salvage=lambda: self._with_view(self.dialogs.salvage),
            compare=lambda: self._with_view(lambda view: view.show_compare().choose_image()),
            benchmark=lambda: self._with_view(ImageView.show_benchmark),
            choose_scheme=self._theme.choose,
            reset_layout=self._layout.reset,
            settings=self.own_dialogs.show_settings,
            manual=lambda: self.own_dialogs.show_manual(self.actions_.all(), self.current_view()),
            keyboard=lambda: self.own_dialogs.show_keys(self.actions_.all()),
            copy_diagnostics=self._log.copy_diagnostics,
            about=self.own_dialogs.show_about,
        )

    def _connect(self) -> None:
        self.start_page.open_requested.connect(self._choose_files)
        self.start_page.convert_requested.connect(self._convert)
        self.start_page.file_chosen.connect(lambda path: self.open_paths([path]))
        self.start_page.sample_requested.connect(self.samples.request)
        self.samples.busy_changed.connect(self.start_page.set_samples_busy)
        self.samples.ready.connect(self._open)
        self.dialogs.open_requested.connect(lambda path: self.open_paths([path]))
        self.samples.failed.connect(
            lambda error: self.show_problem(self.tr("The samples can’t be made"), str(error))
        )
        self.conversions.open_requested.connect(lambda path: self.open_paths([path]))
        self.queue.shown.connect(lambda: self.docks.raise_dock(self.docks.conversions))
        self.queue.refused.connect(self.notices.refuse)
        self.queue.missing.connect(self.notices.tell_of_lack)
        self._settings.recent_files_changed.connect(self._fill_recent_menu)
        self.tabs.currentChanged.connect(self._tab_changed)
        self.tabs.close_requested.connect(self._close_tab)

    # ---------------------------------------------------------------- small commands

    def _with_view(self, command: Callable[[ImageView], object]) -> None:
        view = self.current_view()
        if view is not None:
            command(view)

    def _with_session(self, command: Callable[[Session], object]) -> None:
        self._with_view(lambda view: command(view.session))

    def _step_finding(self, step: int) -> None:
        self._with_view(lambda view: view.findings.step(step))

    def _with_table(self, method: str) -> None:
        view = self.current_view()
        if view is not None:
            getattr(view.focused_table(), method)()

    def _tab_changed(self) -> None:
        view = self.current_view()
        self._pages.setCurrentWidget(self.tabs if view else self.start_page)
        self.setWindowTitle(f"{view.session.path.name} – qcowgui" if view else "qcowgui")
        self.setWindowFilePath(str(view.session.path) if view else "")
        self.statusBar().clearMessage()
        self.docks.findings.show_panel(view.findings if view else None)
        self._show_finding_count()
        self.docks.hex.show_panel(view.hex if view else None)
        self._layout.show_docks(view is not None, conversions=bool(self.controller.jobs))
        self._update_commands()

    def _show_finding_count(self) -> None:
        view = self.current_view()
        self.docks.findings.set_count(view.findings.count if view else None)

    def _update_commands(self) -> None:
        view = self.current_view()
        if view is None:
            self.actions_.enable_for(Situation())
            return
        session = view.session
        self.actions_.enable_for(
            Situation(
                image=session.inspected is not None,
                tabs=self.tabs.count(),
                can_go_back=session.history.can_go_back,
                can_go_forward=session.history.can_go_forward,
                checking=session.check_state is CheckState.RUNNING,
            )
        )

    def _fill_recent_menu(self) -> None:
        self._recent_menu.clear()
        for path in self._settings.recent_files:
            text = path.replace("&", "&&")
            self._recent_menu.addAction(text).setData(path)
        self._recent_menu.setEnabled(not self._recent_menu.isEmpty())
