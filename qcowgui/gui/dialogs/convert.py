"""The conversion form. It blocks nothing: it stands beside the window until Start or Cancel."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, Self

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from qcowgui.convert.forecast import CandidateForecast
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.presets import PRESETS
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.dialogs.allow import AllowBox
from qcowgui.gui.dialogs.convert_cards import PresetCards
from qcowgui.gui.dialogs.convert_column import SettingsColumn
from qcowgui.gui.dialogs.convert_ending import Ending
from qcowgui.gui.dialogs.convert_entries import (
    Entries,
    is_free,
    merged_concerns,
    remember,
)
from qcowgui.gui.dialogs.convert_form import (
    DEFAULTS,
    OPTIMISE,
    Values,
    Wanted,
    figure_text,
    first_preset,
    forecast_of,
    preset_values,
    values_in,
    values_of,
)
from qcowgui.gui.dialogs.convert_scout import Scout
from qcowgui.gui.dialogs.convert_sources import SourceSection
from qcowgui.gui.dialogs.forecast_panel import ForecastPanel
from qcowgui.gui.dialogs.replace_box import ReplaceBox
from qcowgui.gui.drops import DropTarget, sort_urls
from qcowgui.gui.forecast_work import ForecastCache
from qcowgui.gui.formatters import Tone
from qcowgui.gui.opening import Inspected
from qcowgui.gui.settings import Settings
from qcowgui.gui.theme import SPACING, Theme
from qcowgui.gui.views.banner import Banner

_SIZE: Final = (1180, 720)


class ConvertDialog(QDialog):
    """Asks what to convert into what, for one image or several.

    Signals:
        start_requested: Start was clicked and everything is clear: a list of pairs, ConvertOptions
            and the Consent for it.
    """

    start_requested = Signal(object)

    def __init__(
        self,
        sources: Sequence[Path] = (),
        *,
        theme: Theme,
        settings: Settings,
        runner: BackgroundRunner,
        inspected: Inspected | None = None,
        consent: Consent = NOTHING_ALLOWED,
        preset: str | None = None,
        forecasts: ForecastCache | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """The form, filled in as far as it can be.

        Args:
            sources: Files, and folders that are looked through.
            theme: The colours.
            settings: What is remembered of the last time.
            runner: What runs work beside the window.
            inspected: What is known of the only source, if anything.
            consent: Which files it refers to a person has agreed to open, and where they are.
            preset: The key of the preset to begin with; None: the last one.
            forecasts: Forecasts that outlive the form.
            parent: The window it stands beside.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Convert"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        self._wanted_preset = preset
        self._touched = preset is not None
        self._showing = self._editing = False
        self._refusals: list[str] = []
        folder = settings.target_folder
        self.entries = Entries(Path(folder) if folder else None)
        self.sources = SourceSection(theme, settings.last_folder)
        self.cards = PresetCards((found.key for found in PRESETS), theme)
        self.column = SettingsColumn(theme)
        self.target, self.fields = self.column.target, self.column.fields
        self.concerns = self.column.concerns
        self.forecast = ForecastPanel(runner, theme)
        self.banner = Banner(theme, dismissible=True)
        self.scout = Scout(runner, self.entries, self.forecast, forecasts or ForecastCache(), self)
        self.ending = Ending(self.wanted)
        self._lay_out()
        self._connect()
        self.resize(*_SIZE)
        (self.cards if sources else self.sources.line).setFocus()
        self._begin(sources, inspected, consent)

    @classmethod
    def for_job(
        cls,
        options: ConvertOptions,
        consent: Consent = NOTHING_ALLOWED,
        *,
        theme: Theme,
        settings: Settings,
        runner: BackgroundRunner,
        forecasts: ForecastCache | None = None,
        parent: QWidget | None = None,
    ) -> Self:
        """The form for a conversion that waits: it gives back one pair, with the same source."""
        form = cls(
            theme=theme, settings=settings, runner=runner, forecasts=forecasts, parent=parent
        )
        form.setWindowTitle(form.tr("Settings of a conversion"))
        form.ending.start_button.setText(form.tr("Keep"))
        form.sources.set_fixed()
        form._touched = form._editing = True
        form.entries.add([options.source], values_in(options), consent)
        (entry,) = form.entries.items
        entry.target, entry.target_chosen = options.target, True
        entry.agreed = frozenset([options.target] if options.overwrite else [])
        form._show()
        form.scout.look()
        return form

    def set_taken(self, targets: Collection[Path], awaited: Collection[Path] = ()) -> None:
        """Suggest none of the names `targets`, and refuse those of conversions that run or wait."""
        self.entries.set_taken(targets, awaited)
        self._show()

    def wanted(self) -> list[Wanted]:
        """What the form asks for, in order.

        Raises:
            OptionsError: When something is missing or contradicts something else.
        """
        return [wanted for entry in self.entries.items for wanted in entry.wanted()]

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        middle = QHBoxLayout()
        middle.setSpacing(SPACING * 2)
        middle.addWidget(self.column, 2)
        middle.addWidget(self.forecast, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING + 4)
        layout.addWidget(self.banner)
        layout.addWidget(self.sources)
        layout.addWidget(self.cards)
        layout.addLayout(middle, 1)
        layout.addWidget(self.ending)

    def _connect(self) -> None:
        self.sources.typed.connect(self._source_typed)
        self.sources.added.connect(self.add_paths)
        self.sources.removed.connect(self._remove)
        self.sources.selected.connect(self._select)
        self.sources.allow_requested.connect(self._ask_to_allow)
        self.cards.picked.connect(self.use_preset)
        self.target.target_changed.connect(self._target_changed)
        self.target.folder_changed.connect(self._folder_changed)
        self.fields.edited.connect(self._fields_edited)
        self.scout.found.connect(self._take_found)
        self.scout.looked.connect(self._take_looked)
        self.scout.judged.connect(self._check)
        self.forecast.start_requested.connect(self.scout.start_forecast)
        self.forecast.use_requested.connect(self._use_candidate)
        DropTarget(self).dropped.connect(self._take_drop)
        self.ending.buttons.rejected.connect(self.reject)
        self.ending.start_button.clicked.connect(self._start)

    # ---------------------------------------------------------------- sources

    def _begin(
        self, sources: Sequence[Path], inspected: Inspected | None, consent: Consent
    ) -> None:
        paths = [Path(path).absolute() for path in sources]
        if len(paths) == 1 and inspected is not None:
            self.scout.know(paths[0], inspected)
            self.entries.add(paths, self._first_values(), consent)
            self._show()
            self.scout.look()
        else:
            self._show()
            self.add_paths(paths)

    def _first_values(self) -> Values:
        """The settings before anybody chose any."""
        current = self.entries.current
        if current is not None:
            return current.values
        key = self._wanted_preset or first_preset(self._settings.preset, None)
        defaults = DEFAULTS | self._settings.conversion_defaults
        return preset_values(key, defaults, None) or defaults

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files, and the images in folders; they appear when they were looked at."""
        if not self.scout.finding:
            self._refusals = []
        if paths:
            self.scout.find(paths)

    def _take_drop(self, urls: Sequence[QUrl], _place: QPoint) -> None:
        if self._editing:
            return
        dropped = sort_urls(urls, folders=True)
        self.add_paths(dropped.paths)
        self._refuse(dropped.refusals, some=bool(dropped.paths))

    def _take_found(self, sources: Sequence[Path], refusals: Sequence[str]) -> None:
        self.entries.add(sources, self._first_values())
        self._show()
        self.scout.look()
        self._refuse(refusals, some=bool(self.entries.items))

    def _refuse(self, refusals: Sequence[str], *, some: bool) -> None:
        self._refusals += [text for text in refusals if text not in self._refusals]
        if self._refusals:
            nothing = self.tr("Nothing of this can be converted")
            title = self.tr("Not everything can be converted") if some else nothing
            self.banner.say(title, "\n".join(self._refusals), tone=Tone.WARNING)

    def _take_looked(self) -> None:
        """More is known of the sources: what suits them may be something else."""
        if not self._touched:
            self.entries.begin_with(self._settings.preset)
        elif self._wanted_preset is not None:
            self.entries.use_preset(self._wanted_preset)
            self._wanted_preset = None
        self._show()

    def _source_typed(self, text: str) -> None:
        name = text.strip()
        self.entries.replace_all(Path(name).absolute() if name else None, self._first_values())
        self._show()
        self.scout.look_soon()

    def _remove(self) -> None:
        self.entries.remove_selected()
        self._show()

    def _select(self, indices: Sequence[int]) -> None:
        self.entries.select(indices)
        self._show()

    # ---------------------------------------------------------------- settings

    def use_preset(self, key: str) -> None:
        """Give the chosen images the settings of a preset."""
        self._touched = True
        refused = self.entries.use_preset(key)
        self._show()
        if refused:
            names = ", ".join(entry.source.name for entry in refused)
            self.ending.say(self.tr("This does not suit {names}.").format(names=names))

    def _use_candidate(self, item: CandidateForecast) -> None:
        current = self.entries.current
        if current is not None:
            self._touched = True
            self.entries.set_values(values_of(item))
            self._show()

    def _fields_edited(self) -> None:
        if not self._showing and self.entries.items:
            self._touched = True
            self.entries.set_values(self.fields.changed_values())
            if self.fields.snapshots_changed:
                self.entries.carry_snapshots(self.fields.snapshot_mode)
            self.fields.set_mixed(self.entries.mixed)
            self._show_around_fields()

    def _target_changed(self) -> None:
        entry = self.entries.current
        if self._showing or entry is None or len(self.entries.selected) != 1:
            return
        field = self.target.target
        entry.target, entry.target_chosen = field.path, field.chosen
        if field.path is not None and field.may_replace:
            entry.agreed |= {field.path}
        self._show()

    def _folder_changed(self) -> None:
        if not self._showing:
            self.entries.folder = self.target.folder
            self.entries.rename()
            self._show()

    # ---------------------------------------------------------------- showing

    def _show(self) -> None:
        """Show the entries as they are."""
        chosen, current = self.entries.chosen, self.entries.current
        snapshots = [entry.looked.snapshots for entry in chosen if entry.looked is not None]
        self._showing = True
        self.fields.set_snapshots(
            snapshots[0] if len(chosen) == len(snapshots) == 1 else (), some=any(snapshots)
        )
        if current is not None:
            self.fields.set_values(current.values, current.snapshots)
            self.fields.set_mixed(self.entries.mixed)
        self._showing = False
        self._show_around_fields()

    def _show_around_fields(self) -> None:
        """Show all but the fields: in one of them, somebody may be typing."""
        entries, current = self.entries, self.entries.current
        looked = current.looked if current is not None else None
        self._showing = True
        self.sources.show_entries(entries.items, entries.selected)
        self.target.show_entries(entries.chosen, entries.folder)
        self._showing = False
        self.cards.offer(OPTIMISE, offered=looked is not None and looked.format == "qcow2")
        self.ending.say("")
        self._check()
        self.scout.follow()

    def _check(self) -> None:
        """Say at once what is wrong, and offer Start when nothing is."""
        current = self.entries.current
        message = self.entries.conflict_text()
        if current is None:
            message = self.tr("Choose the image to convert")
        concerns = [] if message else merged_concerns(self.scout.concerns())
        self.concerns.set_concerns(concerns)
        stopped = any(concern.level == "stop" for _, concern in concerns)
        self.ending.refuse(message, stopped=stopped, quiet=self.scout.finding)
        self.target.set_summary(self.entries.settings_text())
        self._show_figures()

    def _show_figures(self) -> None:
        """What the forecast says of the cards and of the form."""
        current, found = self.entries.current, self.forecast.found
        values = current.values if current is not None else DEFAULTS
        looked = current.looked if current is not None else None
        self.cards.set_current(self.entries.preset)
        for card in self.cards.cards.values():
            card.set_figure(figure_text(preset_values(card.key, values, looked), found))
        if found is not None:
            self.forecast.show_settings(forecast_of(values, found), values["target_format"])

    # ---------------------------------------------------------------- questions to a person

    def _ask_to_allow(self) -> None:
        references = [found for entry in self.entries.chosen for found in entry.open_references()]
        box = AllowBox(references, self)
        box.allowed.connect(self._allow)
        box.open()

    def _allow(self, paths: list[Path]) -> None:
        for entry in self.entries.chosen:
            entry.consent = entry.consent.allowing(paths)
        self._show()

    def _start(self) -> None:
        wanted = self.wanted()
        existing = [
            options.target
            for options, _ in wanted
            if not options.overwrite and not is_free(options.target)
        ]
        if existing:
            box = ReplaceBox(existing, self)
            box.agreed.connect(self._replace)
            box.open()
            return
        if not self._editing:
            remember(self._settings, self.entries)
        self.start_requested.emit(wanted)
        self.accept()

    def _replace(self, targets: list[Path]) -> None:
        for entry in self.entries.items:
            entry.agreed |= frozenset(targets)
        self._start()

    def done(self, result: int) -> None:
        """Stop what runs beside the form."""
        self.scout.drop()
        self.forecast.drop()
        super().done(result)
