"""What runs beside the conversion form: it finds images, looks at them, and says what to expect."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from qcowgui.convert.batch import Found
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.warnings import Concern
from qcowgui.engine.work import Failed, Outcome
from qcowgui.errors import OptionsError
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.dialogs.convert_entries import Entries, Entry
from qcowgui.gui.dialogs.convert_form import preset_candidates
from qcowgui.gui.dialogs.convert_work import (
    FindWork,
    Looked,
    LookWork,
    OutlookWork,
    Planned,
    Unusable,
)
from qcowgui.gui.dialogs.forecast_panel import ForecastPanel, ForecastState
from qcowgui.gui.dialogs.one_run import OneRun
from qcowgui.gui.forecast_work import (
    MAX_UNASKED_BYTES,
    ForecastCache,
    Forecasted,
    ForecastRequest,
)
from qcowgui.gui.jobs import error_texts
from qcowgui.gui.opening import Inspected
from qcowgui.image.references import Reference

_WAIT_MS: Final = 250
"""After a change, before anything is read for it: somebody may be typing."""


class Scout(QObject):
    """Reads what the form wants to know of its entries, one kind of thing at a time.

    Attributes:
        finding: Whether images are being looked for.

    Signals:
        found: Images were looked for: a tuple of Path, and a list of sentences about what is none.
        looked: Entries know more of their sources.
        judged: `concerns` are others, or a forecast has come.
    """

    found = Signal(object, object)
    looked = Signal()
    judged = Signal()

    def __init__(
        self,
        runner: BackgroundRunner,
        entries: Entries,
        panel: ForecastPanel,
        forecasts: ForecastCache,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._entries = entries
        self._panel = panel
        self._forecasts = forecasts
        self._known: dict[Path, Inspected] = {}
        self._find = OneRun(runner, self)
        self._look = OneRun(runner, self)
        self._judge = OneRun(runner, self)
        self._judged: dict[Planned, tuple[Concern, ...]] = {}
        self._disk: ForecastRequest | None = None
        self._paths: tuple[Path, ...] = ()
        self.finding = False
        self._look_timer = self._make_timer(self.look)
        self._judge_timer = self._make_timer(self._judge_now)
        panel.forecasted.connect(self._take_forecast)

    def _make_timer(self, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(_WAIT_MS)
        timer.timeout.connect(call)
        return timer

    @property
    def busy(self) -> bool:
        """Whether something is looked for, looked at or judged, or will be at once."""
        timers = self._look_timer.isActive() or self._judge_timer.isActive()
        return timers or any(run.active for run in (self._find, self._look, self._judge))

    def drop(self) -> None:
        """Stop what runs; nothing is reported any more."""
        self._look_timer.stop()
        self._judge_timer.stop()
        for run in (self._find, self._look, self._judge):
            run.drop()

    # ---------------------------------------------------------------- finding and looking

    def find(self, paths: Sequence[Path]) -> None:
        """Look for images among files and in folders."""
        self.finding = True
        self._paths += tuple(paths)  # with those of a search that this one overtakes
        self._find.start(FindWork(self._paths), self._take_found)

    def know(self, path: Path, inspected: Inspected) -> None:
        """Take what is known of a source already."""
        self._known[path] = inspected

    def look(self) -> None:
        """Look at the sources of which nothing is known."""
        unknown = tuple(
            entry.source
            for entry in self._entries.items
            if entry.looked is None and entry.problem is None
        )
        if unknown:
            self._look.start(LookWork(unknown, self._known), self._take_looked)

    def look_soon(self) -> None:
        """Look once nobody types any more."""
        self._look_timer.start()

    def _take_found(self, outcome: Outcome, found: Found | None) -> None:
        self.finding, self._paths = False, ()
        if found is not None:
            refusals = [
                " – ".join(filter(None, (refusal.sentence, refusal.hint)))
                for refusal in found.refusals
                if refusal.is_failure
            ]
            self.found.emit(found.sources, refusals)
        elif isinstance(outcome, Failed):
            self.found.emit((), [error_texts(outcome.error)[0]])

    def _take_looked(self, _outcome: Outcome, found: dict[Path, Looked | Unusable] | None) -> None:
        if found is not None:
            self._entries.take(found)
            self.looked.emit()

    # ---------------------------------------------------------------- concerns

    def concerns(self) -> list[tuple[Entry, tuple[Concern, ...]]]:
        """What is known by now of each entry as it is."""
        return [
            (entry, (*self._judged_of(planned), *_left_out(entry)))
            for entry, planned in self._planned()
        ]

    def _judged_of(self, planned: Planned | None) -> tuple[Concern, ...]:
        return self._judged.get(planned, ()) if planned is not None else ()

    def follow(self) -> None:
        """The entries are others: judge them anew, and show the forecast of the current one."""
        self._judge_timer.start()
        self._follow_forecast()

    def _judge_now(self) -> None:
        if self._unasked_possible():
            self.start_forecast()
        new = dict.fromkeys(
            planned
            for _, planned in self._planned()
            if planned is not None and planned not in self._judged
        )
        if new:
            self._judge.start(
                OutlookWork(tuple(new)),
                lambda _outcome, found: self._take_judged(tuple(new), found),
            )

    def _take_judged(
        self, planned: tuple[Planned, ...], found: tuple[tuple[Concern, ...], ...] | None
    ) -> None:
        if found is not None:
            # What stays is what the entries are now: a form that is edited for long keeps no past.
            current = {one for _, one in self._planned()}
            self._judged = {one: told for one, told in self._judged.items() if one in current}
            self._judged |= dict(zip(planned, found, strict=True))
            self.judged.emit()

    def _planned(self) -> list[tuple[Entry, Planned | None]]:
        return [(entry, self._plan_of(entry)) for entry in self._entries.items]

    def _plan_of(self, entry: Entry) -> Planned | None:
        """What is to be judged; None while it is not known what the source is."""
        if entry.looked is None:
            return None
        try:
            # With snapshots that are carried along, the active disk is the last.
            options, _ = entry.wanted()[-1]
        except OptionsError:
            return None
        found = self._forecasts.get(disk_of(entry), entry.looked.signature)
        return Planned(_as_judged(options), entry.consent, found.forecast if found else None)

    # ---------------------------------------------------------------- forecasts

    def start_forecast(self) -> None:
        """Forecast for the current entry."""
        entry = self._entries.current
        if entry is not None:
            self._disk = disk_of(entry)
            self._panel.start(request_of(entry))

    def _take_forecast(self, found: Forecasted) -> None:
        self._forecasts.put(found)
        self.follow()
        self.judged.emit()

    def _follow_forecast(self) -> None:
        """Show the forecast of the current entry's disk, if there is one."""
        entry = self._entries.current
        if entry is None or entry.looked is None:
            self._disk = None
            self._panel.clear(possible=False)
            return
        disk = disk_of(entry)
        if disk == self._disk:
            return
        self._disk = disk
        found = self._forecasts.get(disk, entry.looked.signature)
        left = _unread(entry)
        if found is not None:
            self._panel.show_found(found)
        elif left:
            names = ", ".join(reference.name for reference in left)
            hint = self.tr("A forecast needs {names}: allow it first.").format(names=names)
            self._panel.clear(hint, possible=False)
        else:
            self._panel.clear()

    def _unasked_possible(self) -> bool:
        """Whether a forecast may start by itself: of one image that is quick to read."""
        entry = self._entries.current
        if entry is None or entry.looked is None or len(self._entries.items) != 1:
            return False
        return (
            self._panel.state is ForecastState.EMPTY
            and not self._panel.stopped
            and not _unread(entry)
            and not entry.looked.remote
            and entry.looked.file_bytes <= MAX_UNASKED_BYTES
        )


def disk_of(entry: Entry) -> ForecastRequest:
    """What a forecast of an entry would be about, without what it would try."""
    values = entry.values
    return ForecastRequest(
        entry.source,
        values["source_format"],
        values["snapshot"],
        entry.consent,
        salvage=values["salvage"],
        candidates=(),
    )


def request_of(entry: Entry) -> ForecastRequest:
    """The forecast that tells most about an entry."""
    return dataclasses.replace(
        disk_of(entry),
        target_folder=(entry.target or entry.source).parent,
        verify=entry.values["verify"],
        threads=entry.values["threads"],
        candidates=tuple(preset_candidates(entry.values, entry.looked)),
    )


def _unread(entry: Entry) -> list[Reference]:
    """The files that the disk can't be read without, and that nobody has allowed."""
    return entry.open_references() if entry.values["source_format"] != "raw" else []


def _left_out(entry: Entry) -> list[Concern]:
    return [Concern("snapshots-left-out", "warning", sentence) for sentence in entry.left_out()]


def _as_judged(options: ConvertOptions) -> ConvertOptions:
    """The options without what no concern depends on, so that it makes none be judged anew."""
    return dataclasses.replace(options, threads=None, verify=True)
