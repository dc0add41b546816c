"""What a report tells: the results of an open and a check, and pictures of the map."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from qcowgui.report.check_object import report_object
from qcowgui.report.info_object import image_info
from qcowgui.report.inspected import Qcow2File
from qcowgui.report.schema import SCHEMA

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport


class LegendEntry(NamedTuple):
    """One line of a map's legend.

    Attributes:
        colour: Of its cells, as #rrggbb.
        name: What the state is called.
        meaning: A sentence.
        clusters: How many there are.
        bytes: How large they are together.
        fault: Whether it says that something is wrong.
    """

    colour: str
    name: str
    meaning: str
    clusters: int
    bytes: int
    fault: bool


@dataclass(frozen=True, slots=True)
class MapPicture:
    """A map as it is printed: always in the light colours.

    Attributes:
        title: What the cells are.
        png: The picture, as a file of that format.
        width: Its pixels, which are also the page's.
        height: The same.
        legend: The states that occur, the worst first.
    """

    title: str
    png: bytes
    width: int
    height: int
    legend: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything a report is made from.

    Attributes:
        image: The image, and how its guest clusters are stored.
        made_at: When the report was made, with a time zone.
        check: What a check found; None when none was finished.
        check_note: Why there is no check, or an empty string.
        usage: That somebody else uses the image, or an empty string.
        maps: Pictures of its clusters; may be empty.
    """

    image: Qcow2File
    made_at: datetime
    check: CheckReport | None = None
    check_note: str = ""
    usage: str = ""
    maps: tuple[MapPicture, ...] = field(default=())


def content_object(content: ReportContent) -> dict[str, Any]:
    """A report for programs: the objects of `info --json` and of `check --json`, each as it is."""
    return {
        "schema": SCHEMA,
        "filename": content.image.name,
        "made-at": content.made_at.isoformat(timespec="seconds"),
        "info": image_info(content.image),
        "check": None if content.check is None else report_object(content.check),
        "check-note": content.check_note or None,
        "usage": content.usage or None,
    }
