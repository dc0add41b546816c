"""The strip above an image: what it is at a glance, and the health badge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from qcowgui.format import describe
from qcowgui.format.geometry import cluster_bits_valid
from qcowgui.gui.formatters import NOTHING, Tone
from qcowgui.gui.health import Health, health_of, usage_of
from qcowgui.gui.session import CheckState, MappingState, Session
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.image.summary import MappingSummary
from qcowgui.units import format_size

translate = QCoreApplication.translate

_LEAST_WIDTH: Final = 200
"""Of all items together: on a small screen they are cut, not the window."""

Item = tuple[str, str, str]
"""Title, value, and detail for the tooltip."""


def summary_items(session: Session) -> Iterator[Item]:
    """The items of the strip, for a session that is READY."""
    if session.inspected is None:
        return
    sizes, facts = _size_items(session.inspected.report), _fact_items(session.inspected.report)
    yield from sizes
    if session.mapping is not None:
        yield from _mapping_items(session.mapping)
    else:
        value = "…" if session.mapping_state is MappingState.READING else NOTHING
        yield translate("summary", "Allocated"), value, session.looked_at()
        yield translate("summary", "Compressed"), value, session.looked_at()
    yield _fragmented_item(session)
    yield from facts


def _fragmented_item(session: Session) -> Item:
    title = translate("summary", "Fragmented")
    if session.check is None:
        running = session.check_state is CheckState.RUNNING
        return title, "…" if running else NOTHING, session.looked_at()
    mapped = session.check.mapped
    detail = translate(
        "summary", "{count} of {total} don’t lie behind the one before them in the file"
    ).format(
        count=f"{mapped.fragmented:,}",
        total=count_text(mapped.allocated, "stored cluster"),
    )
    share = describe.share_text(mapped.fragmented, mapped.allocated)
    return title, share, detail


def _mapping_items(mapping: MappingSummary) -> Iterator[Item]:
    stored, total = mapping.stored_clusters, mapping.total_clusters
    compressed = mapping.compressed_clusters
    detail = translate("summary", "{stored} of {total} of the virtual disk are stored").format(
        stored=f"{stored:,}", total=count_text(total, "cluster")
    )
    if mapping.zero_clusters:
        detail += "\n" + translate("summary", "{clusters} as zeros").format(
            clusters=count_text(mapping.zero_clusters, "cluster that reads", "clusters that read")
        )
    yield translate("summary", "Allocated"), describe.share_text(stored, total), detail
    detail = translate("summary", "{compressed} of {stored} that are stored").format(
        compressed=f"{compressed:,}", stored=count_text(stored, "cluster")
    )
    yield translate("summary", "Compressed"), describe.share_text(compressed, stored), detail


def _size_items(report: ImageReport) -> Iterator[Item]:
    yield (
        translate("summary", "Virtual size"),
        format_size(report.virtual_bytes),
        describe.size_text(report.virtual_bytes),
    )
    on_disk = ""
    if report.disk_bytes is not None:
        on_disk = "\n" + translate("summary", "on disk: {size}").format(
            size=describe.size_text(report.disk_bytes)
        )
    yield (
        translate("summary", "File size"),
        format_size(report.file_bytes),
        describe.size_text(report.file_bytes) + on_disk,
    )


def _fact_items(report: ImageReport) -> Iterator[Item]:
    header = report.header
    if cluster_bits_valid(header.cluster_bits):
        yield translate("summary", "Clusters"), format_size(1 << header.cluster_bits), ""
    yield (
        translate("summary", "Compression"),
        header.compression_name,
        translate("summary", "the type of compressed clusters, if there are any"),
    )
    yield translate("summary", "Version"), describe.version_text(header.version), ""
    if header.nb_snapshots:
        yield translate("summary", "Snapshots"), f"{header.nb_snapshots:,}", ""
    if report.bitmaps:
        yield translate("summary", "Bitmaps"), f"{len(report.bitmaps):,}", ""
    yield translate("summary", "Backing"), report.backing_name or NOTHING, report.backing_name or ""
    if report.data_file_name:
        yield translate("summary", "Data file"), report.data_file_name, report.data_file_name


class ElidedLabel(QLabel):
    """A label that gives way: text which does not fit loses its middle; the tooltip has it all."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """Room for some characters; less would tell nothing."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self.fontMetrics().averageCharWidth() * 8), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, elided to the width there is."""
        text = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, self.width()
        )
        painter = QPainter(self)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


class Badge(QLabel):
    """A few words on a coloured ground."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone = Tone.NORMAL
        self.setFont(scaled_font(1.0, bold=True))
        self.setObjectName("badge")
        theme.changed.connect(self._paint)

    def say(self, health: Health) -> None:
        """Show the words of `health`."""
        self.setText(health.text)
        self.setToolTip(health.detail)
        self.setAccessibleDescription(health.detail)
        if health.tone is not self._tone or not self.styleSheet():
            self._tone = health.tone
            self._paint()

    def _paint(self) -> None:
        theme, tone = self._theme, self._tone
        self.setStyleSheet(
            f"#badge {{ background: {theme.tone_back(tone)}; color: {theme.tone_colour(tone)};"
            " border-radius: 8px; padding: 6px 14px; }"
        )


class SummaryStrip(QWidget):
    """Name, sizes and so on in one line, and at its end how the image is and who else uses it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: list[Item] = []
        self._items = QHBoxLayout()
        self._items.setSpacing(SPACING * 2 + 4)
        self.usage = Badge(theme)
        self.usage.hide()
        self.badge = Badge(theme)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACING, SPACING // 2, SPACING, SPACING // 2)
        frame = QWidget()
        frame.setLayout(self._items)
        frame.setMinimumWidth(_LEAST_WIDTH)
        self._items.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(frame)
        layout.addStretch(1)
        layout.addWidget(self.usage, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self.badge, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_session(self, session: Session) -> None:
        """Show what is known of an image."""
        self._show_items(list(summary_items(session)))
        self.show_health(session)

    def show_health(self, session: Session) -> None:
        """Show what is to be thought of it now; cheap enough for each step of a check."""
        self.badge.say(health_of(session))
        usage = usage_of(session)
        self.usage.setVisible(usage is not None)
        if usage is not None:
            self.usage.say(usage)

    def _show_items(self, items: list[Item]) -> None:
        if items == self._shown:
            return
        self._shown = items
        while self._items.count():
            item = self._items.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()  # it goes when the event loop runs again
                widget.deleteLater()
        for title, value, detail in items:
            self._items.addWidget(_item(title, value, detail))


def _item(title: str, value: str, detail: str) -> QWidget:
    item = QWidget()
    title_label = ElidedLabel(title)
    title_label.setToolTip(title)
    title_label.setProperty("muted", True)
    title_label.setFont(scaled_font(0.9))
    value_label = ElidedLabel(value)
    value_label.setFont(scaled_font(1.0, bold=True))
    value_label.setToolTip(detail)
    item.setAccessibleName(f"{title}: {value}")
    for label in (title_label, value_label):
        # The wider one decides; Maximum would let the narrower one do so.
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    layout = QVBoxLayout(item)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(1)
    layout.addWidget(title_label)
    layout.addWidget(value_label)
    return item
