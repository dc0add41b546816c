"""A window from which a file can be dragged: python -m tests.e2e.drag_source FILE X Y."""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

SIDE = 120


class DragSource(QLabel):
    """Gives away one file."""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        """Begin to drag as soon as the button is held and the pointer moves."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            drag = QDrag(self)
            content = QMimeData()
            content.setUrls([QUrl.fromLocalFile(self.text())])
            drag.setMimeData(content)
            drag.exec(Qt.DropAction.CopyAction)


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    source = DragSource(sys.argv[1])
    source.setWindowTitle("drag source")
    source.setWindowFlag(Qt.WindowType.WindowStaysOnTopHint)
    source.setFixedSize(SIDE, SIDE)
    source.move(int(sys.argv[2]), int(sys.argv[3]))
    source.show()
    sys.exit(application.exec())
