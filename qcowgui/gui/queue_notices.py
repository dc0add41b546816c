"""Tells of finished conversions when nobody looks at the window: on the desktop, if it can."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget


class QueueNotices(QObject):
    """Speaks for one window, and only while it is not in front.

    The icon in the desktop's tray, without which no message can be shown, is there from the first
    message until somebody comes back to the window.
    """

    def __init__(self, window: QWidget, icon: QIcon) -> None:
        super().__init__(window)
        self._window = window
        self._icon = icon
        self._tray: QSystemTrayIcon | None = None
        window.installEventFilter(self)

    def tell(self, title: str, text: str, *, trouble: bool = False) -> bool:
        """Say something, unless the window is in front or about to close; whether it was said."""
        if self._window.isActiveWindow() or not self._window.isVisible():
            return False
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return False
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._icon, self)
            self._tray.activated.connect(self._come_back)
            self._tray.messageClicked.connect(self._come_back)
        self._tray.show()
        kind = QSystemTrayIcon.MessageIcon
        self._tray.showMessage(title, text, kind.Warning if trouble else kind.Information)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the icon away when somebody is back."""
        if event.type() is QEvent.Type.WindowActivate and self._tray is not None:
            self._tray.hide()
        return super().eventFilter(watched, event)

    def _come_back(self) -> None:
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.raise_()
        self._window.activateWindow()
