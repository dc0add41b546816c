"""The hints of a check as the window says them: its own commands in the place of command lines."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.check.hints import Hint
from qcowgui.gui.formatters import Tone

translate = QCoreApplication.translate

_COMMAND: Final = re.compile(r"`qcowgui (\w+)([^`]*)`")
_QUOTED: Final = re.compile(r"`([^`]*)`")


class HintAction(Enum):
    """What the window can do about an incident."""

    SALVAGE = auto()
    REPAIR = auto()
    DEEP_CHECK = auto()
    CONVERT = auto()


_ACTIONS: Final = {
    "truncated-file": (HintAction.SALVAGE,),
    "zero-tail": (HintAction.SALVAGE,),
    "lost-l2-table": (HintAction.SALVAGE,),
    "wiped-l1": (HintAction.SALVAGE,),
    "emptied-l2-table": (HintAction.SALVAGE, HintAction.DEEP_CHECK),
    "overwritten": (HintAction.SALVAGE,),
    "overwritten-refcounts": (HintAction.REPAIR,),
    "kept-by-repair": (HintAction.SALVAGE,),
    "emptied-snapshot-table": (HintAction.SALVAGE,),
    "leaks-in-one-window": (HintAction.SALVAGE,),
    "concurrent-writers": (HintAction.SALVAGE, HintAction.DEEP_CHECK),
    "refcounts-all-zero": (HintAction.REPAIR,),
    "refcounts-one-too-high": (HintAction.SALVAGE, HintAction.REPAIR),
    "not-closed": (HintAction.REPAIR,),
    "wrong-compression-type": (HintAction.SALVAGE,),
    "junk-behind-end": (HintAction.CONVERT,),
}
"""By the hint's code; what comes first is the advice, and never a repair where the hint warns of
one."""

_LOST: Final = frozenset(
    {
        "truncated-file",
        "zero-tail",
        "lost-l2-table",
        "wiped-l1",
        "emptied-l2-table",
        "emptied-snapshot-table",
        "overwritten",
        "concurrent-writers",
        "wrong-compression-type",
    }
)
"""Hints on incidents in which guest data is, or may be, gone."""


def hint_actions(hint: Hint) -> tuple[HintAction, ...]:
    """What the window offers, the most advisable first; maybe nothing."""
    return _ACTIONS.get(hint.code, ())


def hint_tone(hint: Hint) -> Tone:
    """How bad the incident looks."""
    return Tone.DANGER if hint.code in _LOST else Tone.WARNING


def advice_text(hint: Hint) -> str:
    """The advice, in which the window's commands stand in the place of command lines."""
    text = _COMMAND.sub(_command_words, hint.advice)
    return _QUOTED.sub(r"\1", text)


def action_text(action: HintAction) -> str:
    """What the button of an action says."""
    return {
        HintAction.SALVAGE: translate("hints", "Salvage…"),
        HintAction.REPAIR: translate("hints", "Repair as a copy…"),
        HintAction.DEEP_CHECK: translate("hints", "Deep check"),
        HintAction.CONVERT: translate("hints", "Convert…"),
    }[action]


def _command_words(found: re.Match[str]) -> str:
    name, options = found.group(1), found.group(2)
    if name == "salvage" or (name == "convert" and "--salvage" in options):
        return translate("hints", "“Salvage…”")
    return {
        "repair": translate("hints", "“Repair as a copy…”"),
        "convert": translate("hints", "“Convert…”"),
    }.get(name, f"qcowgui {name}{options}")
