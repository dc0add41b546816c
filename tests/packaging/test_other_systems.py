"""What is built on systems that are not here: read as their tools read it, as far as that goes."""

from __future__ import annotations

import json
import plistlib
import re
from pathlib import Path

import pytest

from qcowgui.desktop.places import MIME_TYPE

PACKAGING = Path(__file__).parents[2] / "packaging"
APPLICATION_ID = "io.github.qcowgui.qcowgui"


# ---------------------------------------------------------------- Windows: Inno Setup

_PARAMETER = re.compile(r'\s*(\w+):\s*("(?:[^"]|"")*"|[^;"]*)\s*(?:;|$)')
_SECTIONS_OF_SETTINGS = frozenset({"Setup"})


def read_script() -> dict[str, list[dict[str, str]]]:
    """Section → its entries; a setting is an entry of one key. Fails on what is neither."""
    sections: dict[str, list[dict[str, str]]] = {}
    name = ""
    for line in (PACKAGING / "windows" / "qcowgui.iss").read_text("utf-8").splitlines():
        if not line.strip() or line.lstrip().startswith((";", "#")):
            continue
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            name = heading[1]
            sections[name] = []
        elif name in _SECTIONS_OF_SETTINGS:
            key, equals, value = line.partition("=")
            assert equals, line
            sections[name].append({key: value})
        else:
            sections[name].append(parse_entry(line))
    return sections


def parse_entry(line: str) -> dict[str, str]:
    entry, position = {}, 0
    while position < len(line):
        found = _PARAMETER.match(line, position)
        assert found, f"not a parameter: {line[position:]}"
        value = found[2].strip()
        entry[found[1]] = value[1:-1].replace('""', '"') if value.startswith('"') else value
        position = found.end()
    return entry


@pytest.fixture(scope="module")
def script() -> dict[str, list[dict[str, str]]]:
    return read_script()


def settings(script: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {key: value for entry in script["Setup"] for key, value in entry.items()}


def test_the_installer_asks_for_no_more_rights_than_it_needs(
    script: dict[str, list[dict[str, str]]],
) -> None:
    found = settings(script)
    assert found["PrivilegesRequired"] == "lowest"
    assert found["ChangesAssociations"] == "yes"
    assert all(entry["Root"] == "HKA" for entry in script["Registry"])


def test_files_that_the_installer_names_are_there(
    script: dict[str, list[dict[str, str]]],
) -> None:
    found = settings(script)
    for key in ("LicenseFile", "SetupIconFile"):
        assert (PACKAGING / "windows" / found[key].replace("\\", "/")).is_file()


def test_windows_opens_images_without_a_console(
    script: dict[str, list[dict[str, str]]],
) -> None:
    commands = [
        entry["ValueData"] for entry in script["Registry"] if entry["Subkey"].endswith("command")
    ]
    assert commands
    assert set(commands) == {'"{app}\\qcowgui-window.exe" "%1"'}
    started = [entry["Filename"] for section in ("Icons", "Run") for entry in script[section]]
    assert set(started) == {"{app}\\qcowgui-window.exe"}
    recipe = (PACKAGING / "qcowgui.spec").read_text()
    assert 'program(f"{NAME}-window", console=False)' in recipe


def test_windows_offers_the_program_and_takes_no_type(
    script: dict[str, list[dict[str, str]]],
) -> None:
    offered = {
        entry["Subkey"].split("\\")[2]: entry["ValueName"]
        for entry in script["Registry"]
        if entry["Subkey"].endswith("OpenWithProgids")
    }
    assert offered == {".qcow2": "{#ProgId}", ".qcow": "{#ProgId}"}
    for entry in script["Registry"]:
        # The default value of an extension's key is the program that opens it.
        assert not re.search(r"Classes\\\.\w+$", entry["Subkey"])


def test_uninstalling_leaves_no_key(script: dict[str, list[dict[str, str]]]) -> None:
    removed = [
        entry["Subkey"]
        for entry in script["Registry"]
        if "uninsdeletekey" in entry.get("Flags", "").split()
    ]
    for entry in script["Registry"]:
        flags = set(entry.get("Flags", "").split())
        inside = any(f"{entry['Subkey']}\\".startswith(f"{key}\\") for key in removed)
        assert inside or flags & {"uninsdeletevalue", "uninsdeletekeyifempty"}, entry["Subkey"]


# ---------------------------------------------------------------- macOS


@pytest.fixture(scope="module")
def properties() -> dict[str, object]:
    with (PACKAGING / "macos" / "Info.plist").open("rb") as file:
        return dict(plistlib.load(file))


def test_macos_shows_images_and_owns_no_type(properties: dict[str, object]) -> None:
    documents = properties["CFBundleDocumentTypes"]
    assert isinstance(documents, list)
    assert {document["CFBundleTypeRole"] for document in documents} == {"Viewer"}
    assert {document["LSHandlerRank"] for document in documents} == {"Alternate", "None"}
    declared = properties["UTImportedTypeDeclarations"]
    assert isinstance(declared, list)
    kind = declared[0]
    assert kind["UTTypeIdentifier"] in documents[0]["LSItemContentTypes"]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"][0] == "qcow2"
    assert kind["UTTypeTagSpecification"]["public.mime-type"] == [MIME_TYPE]
    assert "UTExportedTypeDeclarations" not in properties


def test_macos_finds_what_the_properties_name(properties: dict[str, object]) -> None:
    assert properties["CFBundleIdentifier"] == APPLICATION_ID
    assert (PACKAGING / "macos" / str(properties["CFBundleIconFile"])).is_file()
    assert properties["NSHighResolutionCapable"] is True


# ---------------------------------------------------------------- Flatpak


def test_the_flatpak_manifest() -> None:
    path = PACKAGING / "flatpak" / f"{APPLICATION_ID}.json"
    manifest = json.loads(path.read_text("utf-8"))
    assert manifest["id"] == APPLICATION_ID
    assert manifest["command"] == "qcowgui"
    assert {"runtime", "runtime-version", "sdk", "modules"} <= manifest.keys()
    # What is exported must be named after the application.
    assert manifest["rename-desktop-file"] == "qcowgui.desktop"
    assert manifest["rename-icon"] == "qcowgui"
    assert manifest["rename-appdata-file"] == "qcowgui.metainfo.xml"
    (module,) = manifest["modules"]
    (source,) = module["sources"]
    assert (path.parent / source["path"] / "pyproject.toml").is_file()
    for command in module["build-commands"]:
        for word in re.findall(r"packaging/\S+\.py", command):
            assert (PACKAGING.parent / word).is_file()
    # No network: an inspector of disks has nothing to ask for there.
    assert "--share=network" not in manifest["finish-args"]


def test_all_systems_call_the_application_the_same() -> None:
    metainfo = (PACKAGING.parent / "resources" / "desktop" / "qcowgui.metainfo.xml").read_text(
        "utf-8"
    )
    assert f"<id>{APPLICATION_ID}</id>" in metainfo
