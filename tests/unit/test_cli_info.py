"""`qcowgui info`: what people read, what scripts get, damaged images and other formats."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from qcowgui.errors import ExitCode
from qcowgui.report.info_object import full_backing_name
from tests.support.base_images import b0, b0_builder, rich
from tests.support.builder import ImageBuilder
from tests.support.damage import set_feature_bit, set_field, truncate_at
from tests.support.damages import DAMAGES

Capture = pytest.CaptureFixture[str]


def json_value(capsys: Capture, *arguments: str | Path) -> object:
    assert run(["info", "--json", *map(str, arguments)]) == 0
    found: object = json.loads(capsys.readouterr().out)
    return found


def json_info(capsys: Capture, *arguments: str | Path) -> dict[str, Any]:
    found = json_value(capsys, *arguments)
    assert isinstance(found, dict)
    return found


def json_chain(capsys: Capture, *arguments: str | Path) -> list[dict[str, Any]]:
    found = json_value(capsys, "--backing-chain", *arguments)
    assert isinstance(found, list)
    return found


def text_info(capsys: Capture, *arguments: str | Path) -> str:
    assert run(["info", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def value(text: str, name: str) -> str:
    """What stands behind a name in a list of facts."""
    lines = [line.strip() for line in text.splitlines()]
    found = [line[len(name) :].strip() for line in lines if line.startswith(f"{name}  ")]
    assert len(found) == 1, (name, text)
    return found[0]


def test_sizes_have_a_label_each(tmp_path: Path, capsys: Capture) -> None:
    """BL-O80."""
    path = b0().write_to(tmp_path / "image.qcow2")
    with path.open("r+b") as file:
        file.truncate(1 << 20)
    text = text_info(capsys, path)
    assert value(text, "virtual size") == "64 MiB (67,108,864 bytes)"
    assert value(text, "file length") == "1 MiB (1,048,576 bytes)"
    blocks = path.stat().st_blocks * 512
    assert f"({blocks:,} bytes) of the file system" in value(text, "blocks used")


def test_sections_of_a_rich_image(tmp_path: Path, capsys: Capture) -> None:
    path = rich().write_to(tmp_path / "rich.qcow2")
    text = text_info(capsys, path)
    assert value(text, "format") == "qcow2, version 3 (compat 1.1)"
    assert value(text, "cluster size") == "4 KiB (4,096 bytes)"
    assert value(text, "refcounts") == "16 bits each"
    assert value(text, "QEMU accepts it") == "yes"
    assert value(text, "backing file") == "base.raw"
    assert value(text, "backing format") == "raw"
    assert value(text, "leads to") == f"{tmp_path / 'base.raw'} (nothing is there)"
    assert "  1   first   2026-11-30 12:00:00     3 KiB  0:00:00.000      4 MiB\n" in text
    assert "  2   second  2026-11-30 12:00:00      none  0:00:00.000      4 MiB\n" in text
    assert "  dirty        64 KiB  disabled   dirty tracking\n" in text
    assert "  fine          512 B  recording  dirty tracking\n" in text
    assert "unknown 0x12345678" in text
    assert "[extension-unknown · header extension · host " in text


def test_nothing_found_says_what_was_not_looked_at(tmp_path: Path, capsys: Capture) -> None:
    text = text_info(capsys, b0().write_to(tmp_path / "image.qcow2"))
    assert text.endswith(
        "\nFindings: none when opening (refcounts and guest data were not looked at)\n"
    )


def test_version_2_has_no_version_3_facts(tmp_path: Path, capsys: Capture) -> None:
    """BL-O20."""
    path = b0(version=2).write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert value(text, "format") == "qcow2, version 2 (compat 0.10)"
    assert "closed cleanly" not in text
    assert "Features" not in text
    data = json_info(capsys, path)["format-specific"]["data"]
    assert data == {"compat": "0.10", "compression-type": "zlib", "refcount-bits": 16}


def test_state_bits(tmp_path: Path, capsys: Capture) -> None:
    """BL-O23: the dirty and the corrupt bit are shown; neither hides anything else."""
    damaged = set_field(b0(), "incompatible_features", 0b11)
    path = damaged.write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert value(text, "closed cleanly") == "no: the dirty bit is set"
    assert value(text, "marked corrupt") == "yes"
    info = json_info(capsys, path)
    assert info["dirty-flag"] is True
    assert info["format-specific"]["data"]["corrupt"] is True


def test_an_unknown_incompatible_bit_is_named_and_refused(tmp_path: Path, capsys: Capture) -> None:
    """BL-O22, BL-O24: parsed and readable are two answers, and the exit status is good."""
    path = set_feature_bit(b0(), "incompatible_features", 40).write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert value(text, "QEMU accepts it") == "no, see the findings"
    assert "\nFatal\n" in text
    assert "QEMU would refuse this image: unknown-incompatible" in text
    ours = json_info(capsys, path)["qcowgui"]
    assert ours["readable"] is False
    assert len(ours["refusals"]) == 1
    assert "40" in ours["refusals"][0]


def test_a_finding_as_json(tmp_path: Path, capsys: Capture) -> None:
    path = set_field(b0(), "l1_table_offset", 0x30200).write_to(tmp_path / "image.qcow2")
    ours = json_info(capsys, path)["qcowgui"]
    assert ours["schema"] == 1
    found = next(item for item in ours["findings"] if item["code"] == "l1-offset")
    assert found["severity"] == "fatal"
    assert found["host-offset"] == 40
    assert found["raw"] == 0x30200
    assert found["refused-by"] == "reader"
    assert "guest-start" not in found


@pytest.mark.parametrize("length", [4, 8, 71, 72, 103, 104, 105, 200])
def test_a_cut_header_is_shown_as_far_as_it_goes(
    length: int, tmp_path: Path, capsys: Capture
) -> None:
    path = truncate_at(b0(), length).write_to(tmp_path / "image.qcow2")
    info = json_info(capsys, path)
    assert info["format"] == "qcow2"
    assert info["qcowgui"]["file-bytes"] == length
    assert info["qcowgui"]["findings"]
    assert value(text_info(capsys, path), "file length") == f"{length} bytes"


@pytest.mark.parametrize("version", [0, 4, 0xFFFFFFFF])
def test_an_unknown_version_claims_no_compat(version: int, tmp_path: Path, capsys: Capture) -> None:
    path = set_field(b0(), "version", version).write_to(tmp_path / "image.qcow2")
    info = json_info(capsys, path)
    assert "compat" not in info["format-specific"]["data"]
    assert info["qcowgui"]["version"] == version
    assert value(text_info(capsys, path), "format") == f"qcow2, version {version:,} (unknown)"


def test_version_1_is_the_format_before(tmp_path: Path, capsys: Capture) -> None:
    path = set_field(b0(), "version", 1).write_to(tmp_path / "image.qcow2")
    assert run(["info", str(path)]) == ExitCode.UNSUPPORTED
    assert "qcow version 1" in capsys.readouterr().err


def test_an_impossible_cluster_size_is_not_computed(tmp_path: Path, capsys: Capture) -> None:
    """BL-O27."""
    path = set_field(b0(), "cluster_bits", 0xFFFFFFFF).write_to(tmp_path / "image.qcow2")
    assert "cluster-size" not in json_info(capsys, path)
    assert value(text_info(capsys, path), "cluster_bits") == "4,294,967,295 (not possible)"


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_is_reported_with_a_good_exit_status(
    name: str, tmp_path: Path, capsys: Capture
) -> None:
    image = DAMAGES[name].apply(rich())
    path = image.write_to(tmp_path / "image.qcow2")
    if image.read(0, 8) == b"QFI\xfb\0\0\0\1" or image.read(0, 4) != b"QFI\xfb":
        # Another format by now, or a disk as it stands.
        assert run(["info", str(path)]) in (0, ExitCode.UNSUPPORTED)
        return
    assert json_info(capsys, path)["format"] == "qcow2"
    assert "Traceback" not in text_info(capsys, path)


def test_names_of_an_image_do_not_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder(backing_file="base\x1b]0;title\x07.raw", backing_format="raw")
    builder.snapshot("evil\x1b[2J")
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert "\x1b" not in text_info(capsys, path)


def test_luks(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.luks(active_slots=(0, 3), cipher_mode="cbc-essiv:sha256", key_bytes=32)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert value(text, "cipher") == "aes-256-cbc-essiv:sha256"
    assert value(text, "active key slots") == "2 of 8 (number 0, 3)"
    encrypt = json_info(capsys, path)["format-specific"]["data"]["encrypt"]
    assert encrypt["cipher-mode"] == "cbc"
    assert (encrypt["ivgen-alg"], encrypt["ivgen-hash-alg"]) == ("essiv", "sha256")
    assert [slot["active"] for slot in encrypt["slots"]] == [True, False, False, True] + 4 * [False]


def test_bitmaps_that_may_be_stale_are_for_people_only(tmp_path: Path, capsys: Capture) -> None:
    """BL-O64: one in use is inconsistent, no damage; without the autoclear bit QEMU sees none."""
    builder = b0_builder()
    builder.bitmap("left open", flags=1)
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert "left open       64 KiB  not saved cleanly, disabled  dirty tracking" in text_info(
        capsys, path
    )
    bitmaps = json_info(capsys, path)["format-specific"]["data"]["bitmaps"]
    assert bitmaps == [{"name": "left open", "granularity": 65536, "flags": ["in-use"]}]
    path = set_field(image, "autoclear_features", 0).write_to(tmp_path / "stale.qcow2")
    assert "bitmaps" not in json_info(capsys, path)["format-specific"]["data"]
    assert "left open" in text_info(capsys, path)


def test_a_raw_disk(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(b"\x01" * 1000)
    info = json_info(capsys, path)
    assert info["format"] == "raw"
    assert info["virtual-size"] == 1024
    assert info["qcowgui"]["file-bytes"] == 1000
    assert value(text_info(capsys, path), "virtual size") == "1 KiB (1,024 bytes)"


def test_format_raw_looks_at_the_file_as_it_stands(tmp_path: Path, capsys: Capture) -> None:
    path = b0().write_to(tmp_path / "image.qcow2")
    info = json_info(capsys, "-f", "raw", path)
    assert (info["format"], info["virtual-size"]) == ("raw", path.stat().st_size)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.vmdk", b"KDMV" + struct.pack("<I", 1) + bytes(504), "VMDK"),
        ("a.gz", b"\x1f\x8b\x08" + bytes(100), "gzip"),
        ("a.qcow2", b"<!DOCTYPE html><html>" + b" " * 600, "HTML"),
        ("a.img", b"", "empty"),
    ],
)
def test_other_formats_are_named(
    name: str, content: bytes, said: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert run(["info", str(path)]) == ExitCode.UNSUPPORTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_format_qcow2_of_something_else(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(b"\x01" * 1000)
    assert run(["info", "-f", "qcow2", str(path)]) == ExitCode.UNSUPPORTED
    assert run(["info", "-f", "vmdk", str(path)]) == ExitCode.UNSUPPORTED
    assert "the format 'vmdk' is not supported" in capsys.readouterr().err


def overlay(path: Path, backing: str, backing_format: str | None = "qcow2") -> Path:
    path.parent.mkdir(exist_ok=True)
    return b0(backing_file=backing, backing_format=backing_format).write_to(path)


def test_a_chain_is_shown_when_its_files_are_allowed(tmp_path: Path, capsys: Capture) -> None:
    """BL-O61: without consent what is known is shown, and the error says how to give it."""
    base = b0().write_to(tmp_path / "base.qcow2")
    top = overlay(tmp_path / "sub" / "top.qcow2", "../base.qcow2")
    layers = json_chain(capsys, "--allow-backing", top)
    assert [layer["filename"] for layer in layers] == [str(top), f"{top.parent}/../base.qcow2"]
    text = text_info(capsys, "--backing-chain", f"--allow-backing={base}", top)
    assert text.startswith(f"[0] {top}\n")
    assert f"\n[1] {top.parent}/../base.qcow2\n" in text

    assert run(["info", "--json", "--backing-chain", str(top)]) == ExitCode.FAILED
    captured = capsys.readouterr()
    assert [layer["filename"] for layer in json.loads(captured.out)] == [str(top)]
    assert "was not opened" in captured.err
    assert "--allow-backing" in captured.err


def test_a_loop_is_shown_as_a_ring(tmp_path: Path, capsys: Capture) -> None:
    """BL-O54."""
    top = overlay(tmp_path / "a.qcow2", "b.qcow2")
    overlay(tmp_path / "b.qcow2", "./../" + tmp_path.name + "/a.qcow2")
    arguments = ["info", "--json", "--backing-chain", "--allow-backing", str(top)]
    assert run(arguments) == ExitCode.FAILED
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) == 2
    assert "The backing chain is a loop" in captured.err
    assert captured.err.count("a.qcow2") == 2


def test_a_format_that_is_not_recorded_is_guessed_only_on_request(
    tmp_path: Path, capsys: Capture
) -> None:
    """BL-O57."""
    b0().write_to(tmp_path / "base.qcow2")
    top = overlay(tmp_path / "top.qcow2", "base.qcow2", None)
    assert value(text_info(capsys, top), "backing format").startswith("not recorded (with")
    guessed = value(text_info(capsys, "--allow-backing", top), "backing format")
    assert guessed.startswith("not recorded; looks like: ")
    assert "qcow2" in guessed.lower()
    missing = overlay(tmp_path / "missing.qcow2", "none.qcow2", None)
    said = value(text_info(capsys, "--allow-backing", missing), "backing format")
    assert "looking failed" in said


@pytest.mark.parametrize("name", ["/etc/passwd", "/dev/zero", "json:{}", "nbd://host/x"])
def test_referenced_files_are_shown_and_never_opened(
    name: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O58, BL-O59."""
    builder = ImageBuilder(data_file="local.raw", size=1 << 20)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    top = overlay(tmp_path / "top.qcow2", name, "raw")

    def refuse(*_: object) -> None:
        raise AssertionError("a referenced file was opened")

    monkeypatch.setattr("qcowgui.cli.layers.open_reference", refuse)
    assert value(text_info(capsys, top), "backing file") == name
    assert value(text_info(capsys, path), "data file") == "local.raw"


@pytest.mark.parametrize(
    ("image", "backing", "full"),
    [
        ("top.qcow2", "base.raw", "base.raw"),
        ("sub/top.qcow2", "../base.raw", "sub/../base.raw"),
        ("/a/top.qcow2", "/b/base.raw", "/b/base.raw"),
        ("sub/top.qcow2", "json:{}", "json:{}"),
    ],
)
def test_full_backing_name(image: str, backing: str, full: str) -> None:
    assert full_backing_name(image, backing) == full


def test_huge_sizes_stay_integers(tmp_path: Path, capsys: Capture) -> None:
    """BL-O81."""
    path = b0(size=3 << 40).write_to(tmp_path / "image.qcow2")
    assert json_info(capsys, path)["virtual-size"] == 3 << 40


def test_clusters_are_counted(tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder()
    builder.write_compressed(1, b"text " * 100)
    builder.zero(2)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert value(text, "stored") == "2 of 1,024 clusters (0.2%), 1 compressed"
    assert value(text, "zero clusters") == "1"
    clusters = json_info(capsys, path)["qcowgui"]["clusters"]
    assert {key: clusters[key] for key in ("total", "normal", "compressed", "zero")} == {
        "total": 1024,
        "normal": 1,
        "compressed": 1,
        "zero": 1,
    }


def test_large_tables_are_counted_on_request_only(tmp_path: Path, capsys: Capture) -> None:
    path = b0(size=1 << 40).write_to(tmp_path / "image.qcow2")
    assert "clusters" not in json_info(capsys, path)["qcowgui"]
    assert json_info(capsys, "--count", path)["qcowgui"]["clusters"]["normal"] == 1


def test_a_file_that_is_cut_short(tmp_path: Path, capsys: Capture) -> None:
    """What is missing is told from the metadata alone."""
    builder = b0_builder()
    builder.write(0, b"d" * 65536 * 4)
    path = truncate_at(builder.build(), 0x70000).write_to(tmp_path / "image.qcow2")
    text = text_info(capsys, path)
    assert "The file is cut short: at least 128 KiB more are needed; 2 of 4 stored" in text
    codes = [found["code"] for found in json_info(capsys, path)["qcowgui"]["findings"]]
    assert "file-shorter-than-image" in codes
