"""Draws resources/icons, and the files of icons that Windows and macOS want, from the same picture.

python packaging/draw_icons.py: the files are kept in the tree; run it after a change.

Large icons are the drawing qcowgui.svg. The small ones are the same picture on whole pixels, since
a scaled drawing blurs its nine cells into each other.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

PACKAGING: Final = Path(__file__).resolve().parent
ICONS: Final = PACKAGING.parent / "resources" / "icons"

_FRAME: Final = "#7f93a8"
_GROUND: Final = "#22303f"
_RING: Final = "#ffffff"
_CHOSEN: Final = "#ffb32e"
_CELLS: Final = (
    ("#f4f6f8", "#b79bf0", "#3fab96"),
    ("#3fab96", _CHOSEN, "#4f86c0"),
    ("#4f86c0", "#3fab96", "#3d4c5c"),
)
"""The colours of qcowgui.svg."""


@dataclass(frozen=True, slots=True)
class Grid:
    """How a small icon divides its pixels: frame, pad, three cells with two gaps, pad, frame."""

    frame: int
    pad: int
    cell: int
    gap: int
    ring: int
    corner: float

    @property
    def side(self) -> int:
        """Width and height of the icon, in pixels."""
        return 2 * (self.frame + self.pad) + 3 * self.cell + 2 * self.gap


_SMALL: Final = (
    Grid(frame=1, pad=0, cell=4, gap=1, ring=1, corner=2.5),
    Grid(frame=1, pad=0, cell=6, gap=1, ring=1, corner=3.5),
    Grid(frame=1, pad=1, cell=6, gap=1, ring=1, corner=4.5),
    Grid(frame=1, pad=1, cell=8, gap=2, ring=1, corner=6),
    Grid(frame=2, pad=2, cell=12, gap=2, ring=2, corner=9),
    Grid(frame=2, pad=3, cell=16, gap=3, ring=2, corner=12),
)
_LARGE: Final = (128, 256, 512)


def draw_small(grid: Grid) -> QImage:
    """The icon on whole pixels."""
    image = _blank(grid.side)
    painter = QPainter(image)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inner = grid.side - 2 * grid.frame
    _rounded(painter, _FRAME, 0, grid.side, grid.corner)
    _rounded(painter, _GROUND, grid.frame, inner, grid.corner - grid.frame)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    first, step = grid.frame + grid.pad, grid.cell + grid.gap
    for row, colours in enumerate(_CELLS):
        for column, colour in enumerate(colours):
            x, y = first + column * step, first + row * step
            painter.fillRect(x, y, grid.cell, grid.cell, QColor(colour))
    middle, ring = first + step, grid.ring
    outside = grid.cell + 2 * ring
    painter.fillRect(middle - ring, middle - ring, outside, outside, QColor(_RING))
    painter.fillRect(middle, middle, grid.cell, grid.cell, QColor(_CHOSEN))
    painter.end()
    return image


def draw_large(side: int) -> QImage:
    """The drawing at `side` pixels."""
    image = _blank(side)
    painter = QPainter(image)
    QSvgRenderer(str(ICONS / "qcowgui.svg")).render(painter)
    painter.end()
    return image


def _blank(side: int) -> QImage:
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    return image


def _rounded(painter: QPainter, colour: str, place: int, side: int, corner: float) -> None:
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(QRectF(place, place, side, side), corner, corner)


def ico_file(images: dict[int, bytes]) -> bytes:
    """A Windows icon of PNG images, which Windows Vista and later read; by side in pixels."""
    place = 6 + 16 * len(images)
    head, body = struct.pack("<HHH", 0, 1, len(images)), b""
    for side, png in sorted(images.items()):
        edge = side % 256  # 0 stands for 256
        head += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(png), place + len(body))
        body += png
    return head + body


def icns_file(images: dict[int, bytes]) -> bytes:
    """An icon of macOS of PNG images, by side in pixels."""
    kinds = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}
    body = b"".join(
        kind + struct.pack(">I", 8 + len(images[side])) + images[side]
        for side, kind in kinds.items()
    )
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def main() -> int:
    """Write every icon; the exit status."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _application = QGuiApplication(sys.argv[:1])
    images = [draw_small(grid) for grid in _SMALL] + [draw_large(side) for side in _LARGE]
    written: dict[int, bytes] = {}
    for image in images:
        path = ICONS / f"qcowgui-{image.width()}.png"
        if not image.save(str(path), "PNG"):  # type: ignore[call-overload]  # as QImage.save is
            sys.stderr.write(f"{path} can't be written\n")
            return 1
        written[image.width()] = path.read_bytes()
    small = {side: png for side, png in written.items() if side <= 256}
    (PACKAGING / "windows" / "qcowgui.ico").write_bytes(ico_file(small))
    (PACKAGING / "macos" / "qcowgui.icns").write_bytes(icns_file(written))
    return 0


if __name__ == "__main__":
    sys.exit(main())
