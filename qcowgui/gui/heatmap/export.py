"""A map as a picture in a file: its cells, its legend and the image's name."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSaveFile, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QImageWriter, QPainter

from qcowgui.check.cells import Tally
from qcowgui.errors import OutputError
from qcowgui.gui.heatmap.layers import Key
from qcowgui.gui.heatmap.swatches import SIDE, draw_swatch
from qcowgui.gui.theme import Colours
from qcowgui.report.palette import hatch_of
from qcowgui.units import format_size

_MARGIN: Final = 16
_LINE: Final = 24
_LEGEND_WIDTH: Final = 320
_FONT_PIXELS: Final = 13
_SVG_PATTERN: Final = (
    '<defs><pattern id="fault" width="4" height="4" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect width="1.4" height="4"/></pattern></defs>'
)


@dataclass(frozen=True, slots=True)
class Plate:
    """What goes into the file.

    Attributes:
        title: The image's name.
        subtitle: What the map shows.
        cells: The map as it is seen; its device pixel ratio tells its size.
        legend: The keys that occur, and how much there is of each.
        colours: The theme's.
        dark: Whether it is the dark one.
    """

    title: str
    subtitle: str
    cells: QImage
    legend: Sequence[tuple[Key, Tally]]
    colours: Colours
    dark: bool

    @property
    def map_width(self) -> int:
        """Device-independent pixels."""
        return round(self.cells.width() / self.cells.devicePixelRatio())

    @property
    def map_height(self) -> int:
        """Device-independent pixels."""
        return round(self.cells.height() / self.cells.devicePixelRatio())

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the whole."""
        top = _MARGIN + 2 * _LINE
        height = max(self.map_height, len(self.legend) * _LINE)
        return self.map_width + _LEGEND_WIDTH + 3 * _MARGIN, top + height + _MARGIN

    def legend_rows(self) -> list[tuple[float, Key, str]]:
        """(top, key, amount) of each row of the legend."""
        top = float(_MARGIN + 2 * _LINE)
        return [
            (top + index * _LINE, key, f"{amount.clusters:,} · {format_size(amount.bytes)}")
            for index, (key, amount) in enumerate(self.legend)
        ]


def plate_image(plate: Plate) -> QImage:
    """The plate as an image, as sharp as the map in it."""
    ratio = plate.cells.devicePixelRatio()
    width, height = plate.size
    image = QImage(round(width * ratio), round(height * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(plate.colours.window))
    painter = QPainter(image)
    font = QFont()
    font.setPixelSize(_FONT_PIXELS)
    bold = QFont(font)
    bold.setBold(True)
    text, muted = QColor(plate.colours.text), QColor(plate.colours.muted)
    painter.setFont(bold)
    painter.setPen(text)
    line = QRectF(_MARGIN, _MARGIN, width - 2 * _MARGIN, _LINE)
    title = QFontMetrics(bold).elidedText(
        plate.title, Qt.TextElideMode.ElideMiddle, int(line.width())
    )
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, title)
    painter.setFont(font)
    painter.setPen(muted)
    painter.drawText(line.translated(0, _LINE), Qt.AlignmentFlag.AlignVCenter, plate.subtitle)
    painter.drawImage(
        QRectF(_MARGIN, _MARGIN + 2 * _LINE, plate.map_width, plate.map_height), plate.cells
    )
    left = plate.map_width + 2 * _MARGIN
    for top, key, amount in plate.legend_rows():
        draw_swatch(painter, QRectF(left, top + 4, SIDE, SIDE), key, dark=plate.dark)
        row = QRectF(left + SIDE + 8, top, _LEGEND_WIDTH - SIDE - 8, _LINE)
        painter.setPen(text)
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, key.name)
        painter.setPen(muted)
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, amount)
    painter.end()
    return image


def plate_svg(plate: Plate) -> str:
    """The plate as SVG: text and legend as such, the cells as an image of exact pixels."""
    width, height = plate.size
    colours = plate.colours
    left = plate.map_width + 2 * _MARGIN
    top = _MARGIN + 2 * _LINE
    picture = f'width="{plate.map_width}" height="{plate.map_height}"'
    font = f'font-family="sans-serif" font-size="{_FONT_PIXELS}"'
    view = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} {font}>',
        f"<title>{_xml(plate.title)}</title>",
        _SVG_PATTERN,
        f'<rect width="{width}" height="{height}" fill="{colours.window}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN + 16})">',
        f'<text font-weight="bold" fill="{colours.text}">{_xml(plate.title)}</text>',
        f'<text y="{_LINE}" fill="{colours.muted}">{_xml(plate.subtitle)}</text></g>',
        f'<image x="{_MARGIN}" y="{top}" {picture} style="image-rendering:pixelated"',
        f' href="data:image/png;base64,{_base64(plate.cells)}"/>',
    ]
    for y, key, amount in plate.legend_rows():
        colour = key.colour.of(dark=plate.dark)
        square = f'x="{left}" y="{y + 4}" width="{SIDE}" height="{SIDE}"'
        lines.append(f'<rect {square} fill="{colour}" stroke="{hatch_of(colour)}"/>')
        if key.fault:
            lines.append(f'<rect {square} fill="url(#fault)"/>')
        lines.append(
            f'<text x="{left + SIDE + 8}" y="{y + 16}" fill="{colours.text}">{_xml(key.name)}'
            f"<title>{_xml(key.meaning)}</title></text>"
        )
        lines.append(
            f'<text x="{left + _LEGEND_WIDTH}" y="{y + 16}" text-anchor="end"'
            f' fill="{colours.muted}">{_xml(amount)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def save_plate(plate: Plate, path: str) -> None:
    """Write a plate: as SVG when the name says so, else as PNG. All of it or nothing.

    Raises:
        OutputError: When the file can't be written.
    """
    is_svg = path.lower().endswith(".svg")
    data = QByteArray(plate_svg(plate).encode()) if is_svg else _png(plate_image(plate))
    file = QSaveFile(path)
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == data.size()
    if not (written and file.commit()):
        raise OutputError(f"{path} can't be written: {file.errorString()}")


def _png(image: QImage) -> QByteArray:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    buffer.close()
    return data


def _base64(image: QImage) -> str:
    return base64.b64encode(bytes(_png(image).data())).decode("ascii")


def _xml(text: str) -> str:
    """Text for XML, which allows no control characters: a file's name may hold any."""
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))
