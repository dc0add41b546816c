"""Everything about converting in one window: the form, the queue, what was dropped, the notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from qcowgui.convert.done_record import state_folder
from qcowgui.convert.options import ConvertOptions
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert import ConvertDialog
from qcowgui.gui.forecast_work import ForecastCache
from qcowgui.gui.image_tabs import ImageTabs
from qcowgui.gui.jobs import Job, JobController, JobState, error_texts
from qcowgui.gui.queue_notices import QueueNotices
from qcowgui.gui.queue_store import QueueStore
from qcowgui.gui.queue_text import summary_text
from qcowgui.gui.queue_total import QueueTotal
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import Theme
from qcowgui.gui.views.conversions import ConversionsPanel
from qcowgui.gui.views.queue_map import QueueMap


class WindowConversions(QObject):
    """Belongs to a window.

    Attributes:
        controller: The queue.
        panel: Shows it.

    Signals:
        shown: There is something new to see in the panel.
        refused: Something that was asked for can't be done: a title, and sentences.
        missing: The system lacks something: a sentence.
    """

    shown = Signal()
    refused = Signal(str, object)
    missing = Signal(str)

    def __init__(
        self,
        window: QWidget,
        tabs: ImageTabs,
        loader: BackgroundRunner,
        theme: Theme,
        settings: Settings,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._tabs = tabs
        self._loader = loader
        self._theme = theme
        self._settings = settings
        self._forecasts = ForecastCache()
        self.controller = JobController(self)
        self.panel = ConversionsPanel(self.controller, theme)
        self.map = QueueMap(self.controller, tabs, theme)
        self._notices = QueueNotices(window, theme.icon("convert", theme.colours.accent))
        self.panel.allow_requested.connect(self._ask_to_allow)
        self.panel.edit_requested.connect(self._edit)
        self.panel.dropped.connect(lambda paths: self.form(paths).show())
        self.panel.add_requested.connect(lambda: self.form().show())
        self.panel.refused.connect(self._refuse)
        self.panel.bar.finished.connect(self._tell)
        self.controller.job_added.connect(self._added)
        self.controller.store_failed.connect(self._store_failed)

    def remember(self) -> None:
        """Keep the queue on disk, and show what an earlier window has left unfinished."""
        try:
            folder = state_folder()
        except RuntimeError as error:  # there is no home
            self._store_failed(error)
        else:
            self.controller.remember_in(QueueStore(folder))

    def form(self, paths: Sequence[Path] = (), *, preset: str | None = None) -> ConvertDialog:
        """The conversion form.

        Args:
            paths: Files, and folders to look through; none: the image that is shown, if there is
                one.
            preset: What to begin with; None: what was chosen last.
        """
        view = None if paths else self._tabs.current_view()
        session = view.session if view is not None else None
        form = ConvertDialog(
            paths if session is None else [session.path],
            theme=self._theme,
            settings=self._settings,
            runner=self._loader,
            inspected=session.inspected if session is not None else None,
            consent=session.permissions.consent if session is not None else NOTHING_ALLOWED,
            preset=preset,
            forecasts=self._forecasts,
            parent=self._window,
        )
        self._keep_names_apart(form)
        form.start_requested.connect(self.start_all)
        return form

    def start(self, options: ConvertOptions, allowed: Sequence[Path] = ()) -> None:
        """Put a conversion that may read the files `allowed` into the queue, and show that."""
        self.start_all([(options, Consent(tuple(allowed)))])

    def start_all(self, wanted: Sequence[tuple[ConvertOptions, Consent]]) -> None:
        """Put conversions into the queue, and show that."""
        self.shown.emit()
        self.controller.start_all(wanted)

    def _edit(self, job: Job) -> None:
        form = ConvertDialog.for_job(
            job.options,
            job.consent,
            theme=self._theme,
            settings=self._settings,
            runner=self._loader,
            forecasts=self._forecasts,
            parent=self._window,
        )
        self._keep_names_apart(form, but_for=job)
        form.start_requested.connect(lambda wanted: self._change(job, *wanted[0]))
        form.show()

    def _keep_names_apart(self, form: ConvertDialog, *, but_for: Job | None = None) -> None:
        others = [job for job in self.controller.jobs if job is not but_for]
        form.set_taken(
            [job.options.target for job in others if job.state is not JobState.DONE],
            [job.options.target for job in others if not job.state.ended],
        )

    def _change(self, job: Job, options: ConvertOptions, consent: Consent) -> None:
        if job in self.controller.jobs and self.controller.can_edit(job):
            self.controller.edit(job, options, consent)
        else:
            name = job.options.source.name
            text = self.tr("{name} has begun meanwhile, with the settings it had.")
            self.refused.emit(self.tr("Nothing was changed"), (text.format(name=name),))

    def _ask_to_allow(self, job: Job) -> None:
        box = AllowBox(job.refused, self._window)
        box.allowed.connect(lambda paths: self.controller.retry(job, paths))
        box.open()

    # ---------------------------------------------------------------- telling

    def _added(self, job: Job) -> None:
        if job.state is JobState.INTERRUPTED:
            self.shown.emit()

    def _refuse(self, sentences: tuple[str, ...]) -> None:
        self.refused.emit(self.tr("Not everything that was dropped can be converted"), sentences)

    def _store_failed(self, error: BaseException) -> None:
        reason, _ = error_texts(error)
        text = self.tr("The queue of conversions can’t be kept for the next start: {reason}")
        self.missing.emit(text.format(reason=reason))

    def _tell(self, total: QueueTotal) -> None:
        title = (
            self.tr("Conversions finished")
            if not total.failed
            else self.tr("Conversions finished, not all of them well")
        )
        self._notices.tell(title, summary_text(total), trouble=bool(total.failed))
