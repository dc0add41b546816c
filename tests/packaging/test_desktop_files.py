"""What desktops read of the program, judged by the desktops' own tools."""

from __future__ import annotations

import configparser
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage, QImageReader

from qcowgui.desktop.entry import with_command
from qcowgui.desktop.places import MIME_TYPE
from qcowgui.resources import resource_path

PROJECT = Path(__file__).parents[2]
SIDES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
LIGHT, DARK = "#f6f6f6", "#1e1e1e"


def entry_of(path: Path, group: str) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text("utf-8"))
    return parser[group]


def test_the_desktop_entry_is_valid() -> None:
    path = resource_path("desktop", "qcowgui.desktop")
    done = subprocess.run(
        ["desktop-file-validate", str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def test_the_metainfo_is_valid() -> None:
    path = resource_path("desktop", "qcowgui.metainfo.xml")
    subprocess.run(["appstreamcli", "validate", "--strict", "--no-net", str(path)], check=True)


def test_the_metainfo_names_what_is_there() -> None:
    root = ET.parse(resource_path("desktop", "qcowgui.metainfo.xml")).getroot()
    entry = entry_of(resource_path("desktop", "qcowgui.desktop"), "Desktop Entry")
    assert root.findtext("launchable") == "qcowgui.desktop"
    assert root.findtext("icon") == entry["Icon"]
    assert root.findtext("provides/mediatype") == MIME_TYPE
    assert f"{MIME_TYPE};" == entry["MimeType"]


def test_the_type_of_qcow2_files_is_known_already() -> None:
    """No type of our own is added to the system's database."""
    found = Path("/usr/share/mime/packages/freedesktop.org.xml").read_text("utf-8")
    assert f'<mime-type type="{MIME_TYPE}">' in found


def test_a_released_version_is_in_the_metainfo_and_in_the_changelog() -> None:
    root = ET.parse(resource_path("desktop", "qcowgui.metainfo.xml")).getroot()
    changelog = (PROJECT / "CHANGELOG.md").read_text("utf-8")
    versions = [release.get("version", "") for release in root.iterfind("releases/release")]
    headings = [line for line in changelog.splitlines() if line.startswith("## [")]
    assert headings[0] == "## [Unreleased]"
    assert [line[4:].partition("]")[0] for line in headings[1:]] == versions


def test_the_thumbnailer_starts_this_program() -> None:
    path = resource_path("desktop", "qcowgui.thumbnailer")
    entry = entry_of(path, "Thumbnailer Entry")
    assert entry["MimeType"] == f"{MIME_TYPE};"
    text = with_command(path.read_text("utf-8"), ["/opt/a b/qcowgui"])
    assert 'Exec="/opt/a b/qcowgui" picture --force --size %s --output %o -- %i\n' in text
    assert "TryExec=/opt/a b/qcowgui\n" in text


@pytest.mark.parametrize("side", SIDES)
def test_an_icon_of_each_size(side: int) -> None:
    image = QImage(str(resource_path("icons", f"qcowgui-{side}.png")))
    assert (image.width(), image.height()) == (side, side)
    assert image.hasAlphaChannel()
    assert image.pixelColor(0, 0).alpha() < 128  # round corners


def test_no_icon_is_missing_or_left_over() -> None:
    names = {path.name for path in resource_path("icons").iterdir()}
    assert names == {"qcowgui.svg", *(f"qcowgui-{side}.png" for side in SIDES)}


@pytest.mark.parametrize("background", [LIGHT, DARK])
@pytest.mark.parametrize("side", [16, 22, 24, 32])
def test_a_small_icon_is_legible(side: int, background: str) -> None:
    """The cell in the middle stands out of its neighbours, and the frame of the desktop."""
    image = QImage(str(resource_path("icons", f"qcowgui-{side}.png")))
    middle = image.pixelColor(side // 2, side // 2)
    neighbours = [
        image.pixelColor(side // 2, side // 5),
        image.pixelColor(side // 2, side - 1 - side // 5),
        image.pixelColor(side // 5, side // 2),
        image.pixelColor(side - 1 - side // 5, side // 2),
    ]
    assert all(contrast(middle, neighbour) >= 1.3 for neighbour in neighbours)
    assert all(distance(middle, neighbour) >= 100 for neighbour in neighbours)
    frame = image.pixelColor(0, side // 2)
    assert frame.alpha() == 255
    assert contrast(frame, QColor(background)) >= 2.8


@pytest.mark.parametrize("side", [16, 22, 24, 32])
def test_a_small_icon_is_sharp(side: int) -> None:
    """Away from the round corners it has no mixed colours: all lies on whole pixels."""
    image = QImage(str(resource_path("icons", f"qcowgui-{side}.png")))
    corner = side // 4
    colours = {
        image.pixelColor(x, y).name() for x in range(corner, side - corner) for y in range(side)
    }
    assert len(colours) <= 9


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        ("windows/qcowgui.ico", {16, 32, 48, 256}),
        ("macos/qcowgui.icns", {16, 32, 64, 128, 256, 512}),
    ],
)
def test_icons_of_other_systems(name: str, sides: set[int]) -> None:
    reader = QImageReader(str(PROJECT / "packaging" / name))
    found: dict[int, QImage] = {}
    for index in range(reader.imageCount()):
        assert reader.jumpToImage(index)
        image = reader.read()
        assert not image.isNull(), reader.errorString()
        found[image.width()] = image
    assert sides <= found.keys()
    drawn = QImage(str(resource_path("icons", "qcowgui-32.png")))
    rgba = QImage.Format.Format_ARGB32
    assert found[32].convertToFormat(rgba) == drawn.convertToFormat(rgba)


def luminance(colour: QColor) -> float:
    """WCAG's relative luminance."""
    linear = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (colour.redF(), colour.greenF(), colour.blueF())
    )
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def distance(one: QColor, other: QColor) -> int:
    """The sum of the channels' differences."""
    return (
        abs(one.red() - other.red())
        + abs(one.green() - other.green())
        + abs(one.blue() - other.blue())
    )
