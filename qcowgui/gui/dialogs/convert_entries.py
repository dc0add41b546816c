"""The images of a conversion form, which of them the settings are for, and their targets' names."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.naming import TargetNames, name_key
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import SnapshotMode, SnapshotPlan, plan_snapshots
from qcowgui.convert.warnings import Concern
from qcowgui.errors import OptionsError, QcowError
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.dialogs.convert_form import (
    DEFAULTS,
    OPTIMISE,
    Values,
    Wanted,
    first_preset,
    fitting,
    matching_preset,
    preset_values,
    settings_text,
)
from qcowgui.gui.dialogs.convert_work import Looked, Unusable
from qcowgui.gui.settings import Settings
from qcowgui.gui.translation import count_text
from qcowgui.image.references import Reference

translate = QCoreApplication.translate

_ASKED_AT_THE_START: Final = ("target-exists",)
"""Concerns that the form settles by a question."""
_MAX_NAMES: Final = 3


@dataclass(slots=True, eq=False)
class Entry:
    """One image of the form, and what becomes of it.

    Attributes:
        source: The image to read.
        values: The settings for it.
        target: The file to make; None while there is no name.
        target_chosen: Whether a person gave that name: then it follows no settings.
        snapshots: How its internal snapshots are carried along; None: not at all.
        agreed: Existing files that a person has agreed to replace.
        consent: Which referenced files a person has agreed to open, and where they are.
        looked: What was found of it; None until somebody looked.
        problem: Why it can't be read as what its content shows; None when it can.
    """

    source: Path
    values: Values = field(default_factory=lambda: dict(DEFAULTS))
    target: Path | None = None
    target_chosen: bool = False
    snapshots: SnapshotMode | None = None
    agreed: frozenset[Path] = frozenset()
    consent: Consent = NOTHING_ALLOWED
    looked: Looked | None = None
    problem: QcowError | None = None

    def options(self) -> ConvertOptions:
        """The conversion of the disk that is chosen.

        Raises:
            OptionsError: When something is missing or contradicts something else.
        """
        if self.problem is not None and self.values["source_format"] is None:
            raise OptionsError(self.problem.message, hint=self.problem.hint)
        if self.target is None:
            raise OptionsError(translate("convert", "Choose a name for the target"))
        values = self.values
        if self.looked is not None and self.looked.format == "raw":
            values = values | {"bitmaps": False}  # it has none, and qemu-img refuses to look
        return ConvertOptions(
            self.source, self.target, **values, overwrite=self.target in self.agreed
        )

    def wanted(self) -> list[Wanted]:
        """All conversions in their order: those of the snapshots, where they are carried, first.

        Raises:
            OptionsError: When something is missing or contradicts something else.
        """
        plan = self._plan()
        if plan is None:
            return [(self.options(), self.consent)]
        return [
            (
                dataclasses.replace(step.options, overwrite=step.options.target in self.agreed),
                self.consent.allowing(step.allowed),
            )
            for step in plan.steps
        ]

    def left_out(self) -> tuple[str, ...]:
        """What carrying the snapshots leaves out, in whole sentences."""
        try:
            plan = self._plan()
        except OptionsError:
            return ()
        return plan.left_out if plan is not None else ()

    def _plan(self) -> SnapshotPlan | None:
        if self.snapshots is None or self.looked is None or not self.looked.snapshots:
            return None
        return plan_snapshots(self.options(), self.looked.report, self.snapshots)

    def open_references(self) -> list[Reference]:
        """The files that the source refers to and that nobody has allowed yet."""
        if self.looked is None:
            return []
        return [
            reference
            for reference in map(self.consent.locate, self.looked.references)
            if reference.path is not None and reference.path not in self.consent.allowed
        ]


class Entries:
    """The images in the order in which they will be converted.

    Attributes:
        items: All of them.
        selected: Indices of those that the settings are for; not empty while there are items.
        folder: Where the targets are; None: each beside its source.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.items: list[Entry] = []
        self.selected: list[int] = []
        self.folder = folder
        self._taken: frozenset[Path] = frozenset()
        self._awaited: frozenset[str] = frozenset()

    @property
    def chosen(self) -> list[Entry]:
        """The images that the settings are for."""
        return [self.items[index] for index in self.selected]

    @property
    def current(self) -> Entry | None:
        """The image whose settings are shown."""
        return self.items[self.selected[0]] if self.selected else None

    def set_taken(self, targets: Collection[Path], awaited: Collection[Path] = ()) -> None:
        """Names that other conversions make.

        Args:
            targets: Those that are not suggested.
            awaited: Those that can't be chosen either: their conversions run or wait.
        """
        self._taken = frozenset(targets)
        self._awaited = frozenset(map(name_key, awaited))
        self.rename()

    def conflict_text(self) -> str:
        """What speaks against starting all of these, or an empty string."""
        return conflict_text(self.items) or self._awaited_text()

    def _awaited_text(self) -> str:
        for entry in self.items:
            for options, _ in entry.wanted():
                if name_key(options.target) in self._awaited:
                    text = translate("convert", "Another conversion of the queue makes {target}")
                    return text.format(target=options.target.name)
        return ""

    def add(self, paths: Iterable[Path], values: Values, consent: Consent = NOTHING_ALLOWED) -> int:
        """Add images that are not here yet, and select all; returns how many were added."""
        known = {name_key(entry.source) for entry in self.items}
        before = len(self.items)
        for path in paths:
            if name_key(path) not in known:
                known.add(name_key(path))
                # A snapshot is one image's own.
                own = values if not self.items else values | {"snapshot": None}
                self.items.append(Entry(path, dict(own), consent=consent))
        self.select(range(len(self.items)))
        self.rename()
        return len(self.items) - before

    def replace_all(self, path: Path | None, values: Values) -> None:
        """Have one image only, or none."""
        self.items.clear()
        self.selected = []
        if path is not None:
            self.add([path], values | {"snapshot": None})

    def remove_selected(self) -> None:
        """Take those out that the settings are for; then they are for all that are left."""
        gone = set(self.selected)
        self.items = [entry for index, entry in enumerate(self.items) if index not in gone]
        self.select(range(len(self.items)))
        self.rename()

    def select(self, indices: Iterable[int]) -> None:
        """Choose the images that the settings are for; none means all."""
        wanted = sorted(index for index in indices if 0 <= index < len(self.items))
        self.selected = wanted or list(range(len(self.items)))

    def set_values(self, changed: Mapping[str, Any]) -> None:
        """Give the chosen images these settings; each keeps its other ones.

        Of several, each keeps its own snapshot as well.
        """
        chosen = self.chosen
        for entry in chosen:
            own = {"snapshot": entry.values["snapshot"]} if len(chosen) > 1 else {}
            entry.values = fitting(entry.values | dict(changed) | own)
        self.rename()

    def carry_snapshots(self, mode: SnapshotMode | None) -> None:
        """How the chosen images' internal snapshots are carried along; None: not at all."""
        for entry in self.chosen:
            entry.snapshots = mode

    @property
    def mixed(self) -> frozenset[str]:
        """The settings that are not the same for all chosen images."""
        chosen = self.chosen
        found = {
            key for key in DEFAULTS if any(e.values[key] != chosen[0].values[key] for e in chosen)
        }
        # A snapshot is one image's own, and the same choice has another name in each.
        return frozenset(found - {"snapshot"})

    @property
    def preset(self) -> str | None:
        """The key of the preset that all chosen images have; None when there is no such."""
        keys = {matching_preset(entry.values, entry.looked) for entry in self.chosen}
        return keys.pop() if len(keys) == 1 else None

    def settings_text(self) -> str:
        """The settings of the chosen images, a line for each kind; empty without any image."""
        kinds = Counter(settings_text(entry.values) for entry in self.chosen)
        if len(kinds) <= 1:
            return "".join(kinds)
        named = kinds.most_common(_MAX_NAMES)
        shown = [f"{count_text(count, 'image')}: {text}" for text, count in named]
        others = len(self.chosen) - sum(count for _, count in named)
        if others:
            text = translate("convert", "{images} with other settings")
            shown.append(text.format(images=count_text(others, "image")))
        return "\n".join(shown)

    def use_preset(self, key: str) -> list[Entry]:
        """Give the chosen images a preset's settings; returns those that it does not suit."""
        refused = []
        for entry in self.chosen:
            values = preset_values(key, entry.values, entry.looked)
            if values is None:
                refused.append(entry)
            else:
                entry.values = values
        self.rename()
        return refused

    def begin_with(self, remembered: str) -> None:
        """Give every image the preset that was used last, where that makes sense."""
        for entry in self.items:
            key = first_preset(remembered, entry.looked)
            entry.values = preset_values(key, entry.values, entry.looked) or entry.values
        self.rename()

    def take(self, found: Mapping[Path, Looked | Unusable]) -> None:
        """Note what was found of the images."""
        for entry in self.items:
            match found.get(entry.source):
                case Looked() as looked:
                    entry.looked, entry.problem = looked, None
                case Unusable(error=error):
                    entry.looked, entry.problem = None, error
                case None:
                    pass

    def rename(self) -> None:
        """Suggest a name for every target that no person has named."""
        named = [entry.target for entry in self.items if entry.target_chosen and entry.target]
        # A source is no place for a result of another one.
        sources = [entry.source for entry in self.items]
        names = TargetNames([*self._taken, *named, *sources])
        for entry in self.items:
            if entry.target_chosen:
                continue
            entry.target = None
            if entry.source.name:  # "/" has none
                entry.target = names.pick(
                    entry.source,
                    entry.values["target_format"],
                    entry.values["compression"],
                    folder=self.folder,
                    is_free=is_free,
                )


def is_free(path: Path) -> bool:
    """Whether nothing has this name; what can't be looked at counts as free."""
    try:
        path.lstat()
    except (OSError, ValueError):
        return True
    return False


def error_text(error: OptionsError) -> str:
    """A contradiction in one line."""
    return f"{error.message} – {error.hint}" if error.hint else error.message


def conflict_text(entries: Iterable[Entry]) -> str:
    """What speaks against starting these together, or an empty string."""
    seen: dict[Path, Path] = {}
    for entry in entries:
        try:
            wanted = entry.wanted()
        except OptionsError as error:
            return f"{entry.source.name}: {error_text(error)}"
        for options, _ in wanted:
            other = seen.setdefault(options.target, entry.source)
            if other != entry.source:
                text = translate("convert", "{first} and {second} would both become {target}")
                return text.format(
                    first=other.name, second=entry.source.name, target=options.target.name
                )
    return ""


def merged_concerns(
    found: Sequence[tuple[Entry, Sequence[Concern]]],
) -> list[tuple[str, Concern]]:
    """The concerns of several images, each once, with whom it is about where that is not all."""
    about: dict[Concern, list[str]] = {}
    for entry, concerns in found:
        for concern in concerns:
            about.setdefault(concern, []).append(entry.source.name)
    return [
        (_whom_text(names, len(found)), concern)
        for concern, names in about.items()
        if concern.code not in _ASKED_AT_THE_START
    ]


def _whom_text(names: Sequence[str], all_images: int) -> str:
    if len(names) == all_images:
        return ""
    return ", ".join(names) if len(names) <= _MAX_NAMES else count_text(len(names), "image")


def remember(settings: Settings, entries: Entries) -> None:
    """Begin the next form as this one ended: with its preset, and where its results go."""
    if not entries.items:
        return
    first, folder = entries.items[0], entries.folder
    key = matching_preset(first.values, first.looked)
    if key is not None and key != OPTIMISE:
        settings.preset = key
    if len(entries.items) == 1 and first.target_chosen and first.target is not None:
        beside = first.target.parent == first.source.parent
        folder = None if beside else first.target.parent
    settings.target_folder = "" if folder is None else str(folder)
