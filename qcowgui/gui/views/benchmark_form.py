"""What a benchmark is to measure, as a person chooses it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSpinBox,
    QToolButton,
    QWidget,
)

from qcowgui.convert.benchmark_codecs import BACKENDS
from qcowgui.convert.benchmark_plan import (
    DEFAULT_CLUSTER_SIZES,
    DEFAULT_READS,
    DEFAULT_RUNS,
    BenchmarkPlan,
    choose_methods,
    default_sample_bytes,
    thread_counts,
)
from qcowgui.convert.options import CLUSTER_SIZES
from qcowgui.gui.theme import SPACING
from qcowgui.units import MIB, format_size

_SAMPLE_SIZES: Final = (512 * MIB, 2048 * MIB)
_MOST_RUNS: Final = 99


class ChoiceButton(QToolButton):
    """A button with a menu of things to tick; it says how many are."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self.setProperty("segment", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._menu = QMenu(self)
        self.setMenu(self._menu)

    def add(self, text: str, value: object, *, checked: bool, why_not: str = "") -> QAction:
        """Add a thing; with `why_not` it can't be ticked, and says why."""
        action = self._menu.addAction(f"{text} – {why_not}" if why_not else text)
        action.setData(value)
        action.setCheckable(True)
        action.setChecked(checked and not why_not)
        action.setEnabled(not why_not)
        action.toggled.connect(self._show_count)
        self._show_count()
        return action

    @property
    def chosen(self) -> list[object]:
        """What is ticked."""
        return [action.data() for action in self._menu.actions() if action.isChecked()]

    def _show_count(self) -> None:
        text = f"{self._title}: {len(self.chosen)}"
        self.setText(text)
        self.setAccessibleName(text)


class BenchmarkForm(QWidget):
    """What is tried, in a row; `plan` makes a plan of it.

    Attributes:
        reads: Whether random reads are measured; for the view to place.
        peers: Whether other programs are run; for the view to place.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sample = QComboBox()
        self.clusters = ChoiceButton(self.tr("Cluster sizes"))
        self.backends = ChoiceButton(self.tr("Backends"))
        self.runs = QSpinBox()
        self.reads = QCheckBox(self.tr("Random reads"))
        self.peers = QCheckBox(self.tr("Other programs"))
        self._fill()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACING)
        fields: tuple[tuple[str, QWidget], ...] = (
            (self.tr("Sample"), self.sample),
            (self.tr("Runs"), self.runs),
        )
        for text, field in fields:
            label = QLabel(text)
            label.setBuddy(field)
            layout.addWidget(label)
            layout.addWidget(field)
        layout.addWidget(self.clusters)
        layout.addWidget(self.backends)
        layout.addStretch(1)

    def plan(self) -> BenchmarkPlan:
        """What is chosen.

        Raises:
            OptionsError: When nothing is left to measure.
        """
        sample_bytes = self.sample.currentData()
        backends = [str(name) for name in self.backends.chosen]
        return BenchmarkPlan(
            choose_methods(backends=backends) if backends else (),
            cluster_sizes=tuple(size for size in self.clusters.chosen if isinstance(size, int)),
            threads=thread_counts(),
            runs=self.runs.value(),
            sample_bytes=sample_bytes or None,
            reads=DEFAULT_READS if self.reads.isChecked() else 0,
            peers=self.peers.isChecked(),
        )

    def _fill(self) -> None:
        least = default_sample_bytes(thread_counts())
        enough = default_sample_bytes(thread_counts(), peers=True)
        for size in sorted({least, enough, *(size for size in _SAMPLE_SIZES if size > least)}):
            self.sample.addItem(format_size(size), size)
        self.sample.addItem(self.tr("All that is stored"), 0)
        self.sample.setToolTip(
            self.tr("How much of the disk is tried; it is also written to a temporary folder")
        )
        self.runs.setRange(1, _MOST_RUNS)
        self.runs.setValue(DEFAULT_RUNS)
        self.runs.setToolTip(self.tr("How often each thing is measured"))
        for size in CLUSTER_SIZES:
            self.clusters.add(format_size(size), size, checked=size in DEFAULT_CLUSTER_SIZES)
        missing = self.tr("not installed: pip install 'qcowgui[bench]'")
        for backend in BACKENDS.values():
            why_not = "" if backend.is_available else missing
            self.backends.add(backend.name, backend.name, checked=True, why_not=why_not)
        self.reads.setChecked(True)
        self.reads.setToolTip(
            self.tr("Write an image of each cluster size, and read 4 KiB at random places of it")
        )
        self.peers.setToolTip(
            self.tr(
                "Let qemu-img, and nbdkit with nbdcopy, convert the sample too, where they are"
                " found on this machine"
            )
        )
        self.peers.toggled.connect(self._peers_toggled)

    def _peers_toggled(self, checked: bool) -> None:
        """Take a sample that takes longer to convert than the programs take to start."""
        enough = default_sample_bytes(thread_counts(), peers=True)
        chosen = self.sample.currentData()
        if checked and chosen and chosen < enough:
            self.sample.setCurrentIndex(self.sample.findData(enough))
