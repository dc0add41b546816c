"""What a person knows better than a damaged image: fields for a search for its tables."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from qcowgui.codec.registry import CompressionType
from qcowgui.convert.options import CLUSTER_SIZES
from qcowgui.errors import OptionsError
from qcowgui.gui.theme import SPACING
from qcowgui.salvage.candidates import Overrides
from qcowgui.units import format_size, parse_size

_SIZE_WIDTH: Final = 130


class KnownFields(QWidget):
    """Each field says "as found" until somebody knows better.

    Signals:
        search_requested: A search with what they say is wanted.
    """

    search_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cluster_size = QComboBox()
        self.cluster_size.setAccessibleName(self.tr("Cluster size of the damaged image"))
        self.cluster_size.addItem(self.tr("clusters: as found"), None)
        for size in CLUSTER_SIZES:
            text = self.tr("clusters of {size}").format(size=format_size(size))
            self.cluster_size.addItem(text, size.bit_length() - 1)
        self.virtual_size = QLineEdit()
        self.virtual_size.setAccessibleName(self.tr("Virtual size of the damaged image"))
        self.virtual_size.setPlaceholderText(self.tr("size: as found"))
        self.virtual_size.setToolTip(self.tr("The virtual disk's size, such as 20G"))
        self.virtual_size.setFixedWidth(_SIZE_WIDTH)
        self.compression_type = QComboBox()
        self.compression_type.setAccessibleName(self.tr("Compression of the damaged image"))
        self.compression_type.addItem(self.tr("compression: as found"), None)
        for kind in (CompressionType.ZLIB, CompressionType.ZSTD):
            self.compression_type.addItem(kind.label, kind)
        self.search_button = QPushButton(self.tr("Search again"))
        self.search_button.setAutoDefault(False)
        self.search_button.clicked.connect(self.search_requested)
        self.virtual_size.returnPressed.connect(self.search_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        row.addWidget(QLabel(self.tr("What you know better:")))
        for field in (
            self.cluster_size,
            self.virtual_size,
            self.compression_type,
            self.search_button,
        ):
            row.addWidget(field)
        row.addStretch(1)

    def overrides(self) -> Overrides:
        """What the fields say that the file does not.

        Raises:
            OptionsError: When the size is none.
        """
        text = self.virtual_size.text().strip()
        try:
            virtual_bytes = parse_size(text) if text else None
        except ValueError as error:
            raise OptionsError(str(error)) from error
        return Overrides(
            self.cluster_size.currentData(), virtual_bytes, self.compression_type.currentData()
        )
