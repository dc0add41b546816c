"""The settings. Whatever is chosen holds at once; nothing waits for an OK or a new start."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from qcowgui.convert.presets import PRESETS
from qcowgui.engine.work import default_threads
from qcowgui.gui.dialogs.convert_cards import card_text
from qcowgui.gui.dialogs.convert_fields import add_row, make_form
from qcowgui.gui.dialogs.convert_form import OPTIMISE
from qcowgui.gui.settings import MAX_THREADS, ColourScheme, MapPalette, Settings
from qcowgui.gui.theme import SPACING, Theme, scaled_font
from qcowgui.gui.translation import LANGUAGES

_WIDTH: Final = 620


class FolderField(QWidget):
    """A folder that was chosen, or none.

    Signals:
        chosen: Another folder, as text; empty: none.
    """

    chosen = Signal(str)

    def __init__(self, name: str, nothing: str, parent: QWidget | None = None) -> None:
        """An empty field.

        Args:
            name: What the folder is for.
            nothing: What happens while none is chosen.
            parent: Where it stands.
        """
        super().__init__(parent)
        self._name = name
        self.line = QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setPlaceholderText(nothing)
        self.line.setClearButtonEnabled(True)
        self.line.editingFinished.connect(self._edited)
        self.line.textChanged.connect(self._cleared)
        browse = QPushButton(self.tr("Browse…"))
        browse.setAccessibleName(self.tr("{name}: browse").format(name=name))
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        row.addWidget(self.line, 1)
        row.addWidget(browse)
        self.setFocusProxy(self.line)

    def show_folder(self, folder: str) -> None:
        """Show what is chosen, unless somebody is typing."""
        if folder != self.line.text().strip() and not self.line.hasFocus():
            self.line.setText(folder)

    def _edited(self) -> None:
        text = self.line.text().strip()
        self.chosen.emit(str(Path(text).expanduser().absolute()) if text else "")

    def _cleared(self, text: str) -> None:
        if not text:
            self.chosen.emit("")

    def _browse(self) -> None:
        dialog = QFileDialog(self, self._name, self.line.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.finished.connect(dialog.deleteLater)
        dialog.fileSelected.connect(self._browsed)
        dialog.open()

    def _browsed(self, folder: str) -> None:
        self.line.setText(folder)
        self._edited()


class SettingsDialog(QDialog):
    """Shows the settings and changes them; it follows what changes elsewhere."""

    def __init__(self, settings: Settings, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        self._theme = theme
        self._make_appearance_fields()
        self._make_conversion_fields()
        self._lay_out()
        self._connect()
        self.show_settings()
        self.setMinimumWidth(_WIDTH)

    # ---------------------------------------------------------------- building

    def _make_appearance_fields(self) -> None:
        self.scheme = _combo(
            (self.tr("As the system"), ColourScheme.SYSTEM),
            (self.tr("Light"), ColourScheme.LIGHT),
            (self.tr("Dark"), ColourScheme.DARK),
        )
        self.palette_ = _combo(
            (self.tr("A colour for each state"), MapPalette.FULL),
            (self.tr("Greys; only problems in colour"), MapPalette.PROBLEMS),
        )
        languages = ((name, code) for code, name in LANGUAGES.items())
        self.language = _combo((self.tr("As the system"), ""), *languages)

    def _make_conversion_fields(self) -> None:
        presets = (
            (card_text(found.key).title, found.key) for found in PRESETS if found.key != OPTIMISE
        )
        self.preset = _combo((self.tr("The one that was used last"), ""), *presets)
        self.target_folder = FolderField(
            self.tr("Folder for results"), self.tr("as the last time; at first beside the source")
        )
        self.image_folder = FolderField(
            self.tr("Folder with images"), self.tr("where the last image was")
        )
        self.threads = QSpinBox()
        self.threads.setRange(0, MAX_THREADS)
        self.threads.setSpecialValueText(
            self.tr("one for each core ({count})").format(count=default_threads())
        )
        self.verify = QCheckBox(self.tr("Verify: read each result again and compare it"))

    def _lay_out(self) -> None:
        appearance, conversions, files = make_form(), make_form(), make_form()
        add_row(appearance, self.tr("Theme"), self.scheme)
        add_row(appearance, self.tr("Map"), self.palette_)
        add_row(appearance, self.tr("Language"), self.language)
        add_row(conversions, self.tr("Begin with"), self.preset)
        add_row(conversions, self.tr("Results go to"), self.target_folder)
        add_row(conversions, self.tr("Threads"), self.threads)
        add_row(conversions, "", self.verify)
        add_row(files, self.tr("Images are in"), self.image_folder)
        note = QLabel(
            self.tr("Everything holds at once. A conversion’s own settings win over these.")
        )
        note.setWordWrap(True)
        note.setProperty("muted", True)
        close, defaults = (
            QDialogButtonBox.StandardButton.Close,
            QDialogButtonBox.StandardButton.RestoreDefaults,
        )
        self.buttons = QDialogButtonBox(close | defaults)
        self.reset_button = self.buttons.button(defaults)
        self.reset_button.setAutoDefault(False)
        self.buttons.button(close).setDefault(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[SPACING * 2] * 4)
        layout.setSpacing(SPACING * 2)
        for title, form in (
            (self.tr("Appearance"), appearance),
            (self.tr("New conversions"), conversions),
            (self.tr("Opening"), files),
        ):
            heading = QLabel(title)
            heading.setFont(scaled_font(1.0, bold=True))
            section = QVBoxLayout()
            section.setSpacing(SPACING)
            section.addWidget(heading)
            section.addLayout(form)
            layout.addLayout(section)
        layout.addWidget(note)
        layout.addStretch(1)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        settings = self._settings
        self.scheme.currentIndexChanged.connect(
            lambda: self._theme.choose(self.scheme.currentData())
        )
        for combo, name in (
            (self.palette_, "map_palette"),
            (self.language, "language"),
            (self.preset, "chosen_preset"),
        ):
            combo.currentIndexChanged.connect(
                lambda _index, combo=combo, name=name: setattr(settings, name, combo.currentData())
            )
        for field, name in (
            (self.target_folder, "chosen_target_folder"),
            (self.image_folder, "chosen_image_folder"),
        ):
            field.chosen.connect(lambda folder, name=name: setattr(settings, name, folder))
        self.threads.valueChanged.connect(lambda count: setattr(settings, "threads", count))
        self.verify.toggled.connect(lambda wanted: setattr(settings, "verify", wanted))
        self.buttons.rejected.connect(self.reject)
        self.reset_button.clicked.connect(settings.reset)
        settings.chosen.connect(self.show_settings)
        self._theme.changed.connect(self.show_settings)

    # ---------------------------------------------------------------- showing

    def show_settings(self) -> None:
        """Show the settings as they are."""
        settings = self._settings
        for combo, value in (
            (self.scheme, settings.colour_scheme),
            (self.palette_, settings.map_palette),
            (self.language, settings.language),
            (self.preset, settings.chosen_preset),
        ):
            with QSignalBlocker(combo):
                combo.setCurrentIndex(max(0, combo.findData(value)))
        self.target_folder.show_folder(settings.chosen_target_folder)
        self.image_folder.show_folder(settings.chosen_image_folder)
        with QSignalBlocker(self.threads):
            self.threads.setValue(settings.threads)
        with QSignalBlocker(self.verify):
            self.verify.setChecked(settings.verify)


def _combo(*items: tuple[str, object]) -> QComboBox:
    combo = QComboBox()
    for text, value in items:
        combo.addItem(text, value)
    return combo
