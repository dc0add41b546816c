"""The work that writes a report beside the window. Refers to nothing of Qt's widgets or signals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from qcowgui.check.cells import Cells
from qcowgui.check.checker import CheckReport
from qcowgui.engine.work import CancelToken
from qcowgui.gui.heatmap.layers import MapLayer, Order, state_layer
from qcowgui.gui.report.map_picture import map_picture
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import FileSource
from qcowgui.image.summary import MappingSummary
from qcowgui.report.content import ReportContent
from qcowgui.report.inspected import Qcow2File
from qcowgui.report.write import write_report


@dataclass(frozen=True, slots=True)
class ReportWork:
    """Makes a report of what is known now, and writes it.

    Attributes:
        source: The image; it is never replaced.
        image: What an open says of it.
        mapping: How its guest clusters are stored, if that is known.
        check: What a check found, if one was finished.
        check_note: Why there is none, or an empty string.
        usage: That somebody else uses the image, or an empty string.
        host_states: A `ClusterState` of each host cluster; may be empty.
        guest_states: A `GuestState` of each guest cluster; may be empty.
        page: Where the HTML page goes, or None.
        data: Where the JSON goes, or None.
        made_at: The time that the report tells, with a time zone.
    """

    source: FileSource
    image: ImageReport
    mapping: MappingSummary | None
    check: CheckReport | None
    check_note: str
    usage: str
    host_states: Cells
    guest_states: Cells
    page: Path | None
    data: Path | None
    made_at: datetime

    def __call__(self, token: CancelToken) -> tuple[Path, ...]:
        """The files that were written.

        Raises:
            OutputError: When one can't be written.
            Cancelled: When the token was set before anything was written.
        """
        maps = []
        for layer in self._iter_layers():
            token.raise_if_cancelled()
            picture = map_picture(layer) if self.page is not None else None
            if picture is not None:
                maps.append(picture)
        token.raise_if_cancelled()
        content = ReportContent(
            Qcow2File(self.image, self.mapping),
            self.made_at,
            self.check,
            self.check_note,
            self.usage,
            tuple(maps),
        )
        write_report(
            content,
            page=self.page,
            data=self.data,
            overwrite=True,  # a person has agreed to it
            sources=frozenset({self.source.identity}),
        )
        return tuple(path for path in (self.page, self.data) if path is not None)

    def _iter_layers(self) -> Iterator[MapLayer]:
        geometry = self.image.header.geometry
        if geometry is None:
            return
        size = geometry.cluster_bytes
        for order, states, end in (
            (Order.HOST, self.host_states, self.image.file_bytes),
            (Order.GUEST, self.guest_states, self.image.virtual_bytes),
        ):
            if len(states):
                yield state_layer(order, states, cluster_bytes=size, end_bytes=end)
