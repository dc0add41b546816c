"""The resources: found from wherever the program was installed, and fit for their purpose."""

from __future__ import annotations

import configparser
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from qcowgui import resources
from qcowgui.resources import resource_path

ROLES: Final = {
    "header",
    "refcount-table",
    "refcount-block",
    "active-l1",
    "active-l2",
    "data",
    "compressed",
    "zero-allocated",
    "snapshot-only",
    "free",
    "leaked",
    "contested",
    "used-but-free",
    "beyond-end",
}

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
VISIONS: Final = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]
    ),
    "deuteranopia": np.array(
        [[0.3674, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
    "tritanopia": np.array(
        [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]
    ),
}
# From linear RGB to the cone response, and from its cube root to Oklab (Ottosson, 2020).
CONES: Final = np.array(
    [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
)
OKLAB: Final = np.array(
    [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]
)
LEAST_DISTANCE: Final = 0.09
"""In Oklab; two patches closer than about 0.02 look the same side by side."""


@pytest.fixture
def fresh_root() -> Iterator[None]:
    """Forget the folder that was found, before and after a test that moves it."""
    resources._resource_root.cache_clear()
    yield
    resources._resource_root.cache_clear()


def a_folder_with(path: Path, text: str) -> Path:
    path.mkdir(parents=True)
    (path / "note.txt").write_text(text)
    return path


@pytest.mark.usefixtures("fresh_root")
def test_an_installed_package_finds_its_own_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "qcowgui"
    a_folder_with(package / "_resources", "ours")
    a_folder_with(tmp_path / "site-packages" / "resources", "somebody else's")
    monkeypatch.setattr(resources, "_PACKAGE_FOLDER", package)
    assert resource_path("note.txt").read_text() == "ours"


@pytest.mark.usefixtures("fresh_root")
def test_a_neighbour_called_resources_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_folder_with(tmp_path / "resources", "somebody else's")
    monkeypatch.setattr(resources, "_PACKAGE_FOLDER", tmp_path / "qcowgui")
    with pytest.raises(FileNotFoundError, match="no resources in any of"):
        resource_path("note.txt")


@pytest.mark.usefixtures("fresh_root")
def test_the_source_tree_serves_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_folder_with(tmp_path / "resources", "source")
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(resources, "_PACKAGE_FOLDER", tmp_path / "qcowgui")
    assert resource_path("note.txt").read_text() == "source"


@pytest.mark.usefixtures("fresh_root")
def test_a_bundle_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_folder_with(tmp_path / "qcowgui" / "_resources", "bundle")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert resource_path("note.txt").read_text() == "bundle"


def test_a_missing_resource_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"icons/absent\.svg"):
        resource_path("icons", "absent.svg")


@pytest.mark.parametrize("parts", [("..", "pyproject.toml"), ("/etc/passwd",)])
def test_nothing_outside_is_served(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="outside the resources"):
        resource_path(*parts)


def test_every_role_has_a_colour_in_both_themes() -> None:
    roles = json.loads(resource_path("colours.json").read_text())["roles"]
    assert set(roles) == ROLES
    for colours in roles.values():
        assert set(colours) == {"light", "dark"}
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours.values())


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_two_roles_look_alike(theme: str, vision: str) -> None:
    roles = json.loads(resource_path("colours.json").read_text())["roles"]
    seen = {role: oklab(colours[theme], VISIONS[vision]) for role, colours in roles.items()}
    for one, other in itertools.combinations(seen, 2):
        distance = float(np.linalg.norm(seen[one] - seen[other]))
        assert distance >= LEAST_DISTANCE, f"{one} and {other}"


def oklab(colour: str, vision: NDArray[np.float64]) -> NDArray[np.float64]:
    """A colour "#rrggbb" as Oklab's three coordinates, as somebody with that vision sees it."""
    srgb = np.frombuffer(bytes.fromhex(colour[1:]), dtype=np.uint8) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen: NDArray[np.float64] = OKLAB @ np.cbrt(CONES @ np.clip(vision @ linear, 0, 1))
    return seen


def test_the_desktop_entry_opens_qcow2_images() -> None:
    desktop = configparser.ConfigParser(interpolation=None)
    desktop.optionxform = str  # type: ignore[assignment,method-assign]
    desktop.read_string(resource_path("desktop", "qcowgui.desktop").read_text("utf-8"))
    entry = desktop["Desktop Entry"]
    assert entry["Exec"] == "qcowgui %F"
    assert entry["MimeType"] == "application/x-qemu-disk;"
    assert resource_path("icons", f"{entry['Icon']}.svg").is_file()
