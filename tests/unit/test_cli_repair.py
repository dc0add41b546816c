"""`qcowgui repair`: what is written, what people and programs are told, and the exit status."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from qcowgui.cli import repair as cli_repair
from qcowgui.cli.main import COMMANDS, run
from qcowgui.errors import ExitCode
from tests.support import oracle
from tests.support.base_images import b0, b0_builder, s0_builder
from tests.support.built import BuiltImage
from tests.support.damage import poke_file, set_l2_entry, set_refcount

Capture = pytest.CaptureFixture[str]
COPIED = 1 << 63


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "repair", "Repair.")


def broken() -> BuiltImage:
    """Three leaks, and a cluster in use that counts as free."""
    builder = b0_builder()
    builder.leak(3)
    image = builder.build()
    data = image.layout.data[0].offset >> 16
    return set_refcount(image, data, 0)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return broken().write_to(tmp_path / "image.qcow2")


def test_a_repaired_copy_is_written_and_the_image_stays(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    target = image.with_name("repaired.qcow2")
    assert run(["repair", str(image), "-o", str(target)]) == ExitCode.GOOD
    assert image.read_bytes() == before
    assert oracle.check(target).is_clean
    assert oracle.guest_bytes(target) == broken().guest_bytes()
    told = capsys.readouterr().out
    assert f"{image}: corrupt: " in told
    assert "refcount-zero" in told
    assert "leak" in told
    assert f"{target}: metadata consistent" in told
    assert "checked again" in told


def test_only_leaks(image: Path, capsys: Capture) -> None:
    target = image.with_name("repaired.qcow2")
    assert run(["repair", str(image), "-o", str(target), "--leaks"]) == ExitCode.CORRUPT
    assert oracle.check(target).leaks == 0
    assert oracle.check(target).corruptions > 0
    assert "corrupt: " in capsys.readouterr().out.splitlines()[-1]


def test_a_plan_writes_nothing(image: Path, capsys: Capture) -> None:
    files = set(image.parent.iterdir())
    before = image.read_bytes()
    assert run(["repair", str(image), "--plan"]) == ExitCode.GOOD
    told = capsys.readouterr().out
    assert "2 edits" in told or "1 edit" in told
    assert "[refcount-zero]" in told
    assert "before  00 " in told
    assert "Now: corrupt" in told
    assert "Afterwards: metadata consistent" in told
    assert set(image.parent.iterdir()) == files
    assert image.read_bytes() == before


def test_a_plan_in_json_gives_the_bytes(image: Path, capsys: Capture) -> None:
    assert run(["repair", str(image), "--plan", "--json"]) == ExitCode.GOOD
    plan = json.loads(capsys.readouterr().out)
    assert plan["tier"] == "all"
    data = bytearray(image.read_bytes())
    for edit in plan["edits"]:
        part = slice(edit["offset"], edit["offset"] + edit["length"])
        assert bytes(data[part]).hex() == edit["before"]
        data[part] = bytes.fromhex(edit["after"])
    fixed = image.with_name("by-hand.qcow2")
    fixed.write_bytes(data)
    assert oracle.check(fixed).is_clean


def test_the_result_in_json(image: Path, capsys: Capture) -> None:
    target = image.with_name("repaired.qcow2")
    assert run(["repair", str(image), "-o", str(target), "--json"]) == ExitCode.GOOD
    result = json.loads(capsys.readouterr().out)
    assert result["changes"] == {"leak": 3, "refcount-zero": 1}
    assert result["target"] == str(target)
    assert result["before"]["qemu"]["leaks"] == 3
    assert result["after"]["verdict"] == "consistent"
    assert result["refused"] == []


def test_nothing_to_do_writes_no_copy(tmp_path: Path, capsys: Capture) -> None:
    image = b0().write_to(tmp_path / "healthy.qcow2")
    target = tmp_path / "repaired.qcow2"
    assert run(["repair", str(image), "-o", str(target)]) == ExitCode.GOOD
    assert not target.exists()
    assert "Nothing was changed" in capsys.readouterr().out


def test_what_is_left_is_told_with_advice(tmp_path: Path, capsys: Capture) -> None:
    image = set_l2_entry(b0(), 3, COPIED | 1 << 40).write_to(tmp_path / "image.qcow2")
    target = tmp_path / "repaired.qcow2"
    assert run(["repair", str(image), "-o", str(target)]) == ExitCode.CORRUPT
    told = capsys.readouterr().out
    assert "data-beyond-eof" in told
    assert "qcowgui salvage" in told


def test_an_existing_target_is_replaced_only_with_force(image: Path, capsys: Capture) -> None:
    target = image.with_name("repaired.qcow2")
    target.write_bytes(b"precious")
    assert run(["repair", str(image), "-o", str(target)]) == ExitCode.FAILED
    assert target.read_bytes() == b"precious"
    assert run(["repair", str(image), "-o", str(target), "--force"]) == ExitCode.GOOD
    assert oracle.check(target).is_clean
    capsys.readouterr()


def test_in_place_with_an_undo_file_and_back(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    assert run(["repair", str(image), "--in-place", "--yes"]) == ExitCode.GOOD
    undo = image.with_name("image.qcow2.undo")
    assert undo.exists()
    assert oracle.check(image).is_clean
    assert f"repair --undo {undo}" in capsys.readouterr().out

    assert run(["repair", "--undo", str(undo), str(image)]) == ExitCode.GOOD
    assert image.read_bytes() == before
    assert "bytes put back" in capsys.readouterr().out
    assert run(["repair", "--undo", str(undo)]) == ExitCode.FAILED
    assert "used already" in capsys.readouterr().err


def test_an_undo_file_is_never_overwritten(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    undo = image.with_name("image.qcow2.undo")
    undo.write_bytes(b"an older one")
    arguments = ["repair", str(image), "--in-place", "--yes"]
    assert run([*arguments, "--undo-file", str(undo)]) == ExitCode.FAILED
    assert "--undo-file" in capsys.readouterr().err
    assert undo.read_bytes() == b"an older one"
    assert image.read_bytes() == before
    other = image.with_name("other.undo")
    assert run([*arguments, "--undo-file", str(other)]) == ExitCode.GOOD
    assert other.exists()
    capsys.readouterr()


def test_a_second_repair_gets_an_undo_file_of_its_own(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    undo = Path(f"{image}.undo")
    arguments = ["repair", str(image), "--in-place", "--yes"]
    assert run(arguments) == ExitCode.GOOD
    assert run(["repair", "--undo", str(undo)]) == ExitCode.GOOD
    used = undo.read_bytes()
    assert run(arguments) == ExitCode.GOOD
    assert undo.read_bytes() == used
    assert f"--undo {undo}.2" in capsys.readouterr().out
    assert run(["repair", "--undo", f"{undo}.2"]) == ExitCode.GOOD
    assert image.read_bytes() == before


def test_an_undo_of_a_copy_has_to_be_asked_for(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    assert run(["repair", str(image), "--in-place", "--yes"]) == ExitCode.GOOD
    os.utime(image, ns=(0, 0))
    undo = f"{image}.undo"
    assert run(["repair", "--undo", undo]) == ExitCode.FAILED
    assert "--even-if-changed" in capsys.readouterr().err
    assert run(["repair", "--undo", undo, "--even-if-changed"]) == ExitCode.GOOD
    assert image.read_bytes() == before
    capsys.readouterr()


def test_an_undo_in_json(image: Path, capsys: Capture) -> None:
    run(["repair", str(image), "--in-place", "--yes", "-q"])
    assert capsys.readouterr().out == ""
    undo = f"{image}.undo"
    assert run(["repair", "--undo", undo, "--json"]) == ExitCode.GOOD
    result = json.loads(capsys.readouterr().out)
    assert result["image"] == str(image)
    assert result["restored-bytes"] > 0


def test_without_a_terminal_nobody_can_be_asked(image: Path, capsys: Capture) -> None:
    before = image.read_bytes()
    assert run(["repair", str(image), "--in-place"]) == ExitCode.FAILED
    assert "--yes" in capsys.readouterr().err
    assert image.read_bytes() == before
    assert not Path(f"{image}.undo").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "repaired"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_on_a_terminal_the_user_is_asked(image: Path, answer: bytes, repaired: bool) -> None:
    before = image.read_bytes()
    main, other = pty.openpty()
    code = (
        "import sys; from qcowgui.cli.main import COMMANDS, run; COMMANDS['repair'] = 'Repair.';"
        f"sys.exit(run(['repair', {str(image)!r}, '--in-place']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=other, stdout=subprocess.PIPE, stderr=other
    ) as process:
        os.close(other)
        os.write(main, answer)
        process.communicate(timeout=100)
    os.close(main)
    assert (image.read_bytes() != before) == repaired
    assert process.returncode == (ExitCode.GOOD if repaired else ExitCode.CANCELLED)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["image"], "-o REPAIRED"),
        ([], "what to write"),
        (["--plan"], "which image"),
        (["image", "-o", ""], "empty"),
        (["image", "-o", "x", "--plan"], "exclude each other"),
        (["image", "--in-place", "--undo", "x"], "exclude each other"),
        (["image", "-o", "x", "--yes"], "--in-place"),
        (["image", "--plan", "--undo-file", "x"], "--in-place"),
        (["image", "--in-place", "--force"], "--undo-file FILE"),
        (["image", "--plan", "--even-if-changed"], "is for --undo"),
    ],
)
def test_options_that_make_no_sense(arguments: list[str], told: str, capsys: Capture) -> None:
    assert run(["repair", *arguments]) == ExitCode.FAILED
    assert told in capsys.readouterr().err


def test_no_qcow2_image(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "image.raw"
    path.write_bytes(bytes(4096))
    assert run(["repair", str(path), "--plan"]) == ExitCode.UNSUPPORTED
    capsys.readouterr()


def test_an_image_without_its_first_cluster_is_sent_to_salvage(
    tmp_path: Path, capsys: Capture
) -> None:
    path = b0().write_to(tmp_path / "image.qcow2")
    poke_file(path, 0, bytes(64 << 10))
    assert run(["repair", str(path), "--plan"]) == ExitCode.UNSUPPORTED
    told = capsys.readouterr().err
    assert "first cluster was probably overwritten" in told
    assert "qcowgui salvage" in told
    assert "raw" not in told


def test_a_copy_that_the_disk_falsified_is_not_kept(
    image: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = cli_repair._Repair._check_again

    def falsified(self: cli_repair._Repair, path: Path) -> object:
        poke_file(path, 0x2000A, b"\0\0")
        return real(self, path)

    monkeypatch.setattr(cli_repair._Repair, "_check_again", falsified)
    target = image.with_name("repaired.qcow2")
    assert run(["repair", str(image), "-o", str(target)]) == ExitCode.FAILED
    assert "not what was planned" in capsys.readouterr().err
    assert {path.name for path in image.parent.iterdir()} == {"image.qcow2"}


def test_leaks_that_may_be_data_need_a_word(tmp_path: Path, capsys: Capture) -> None:
    builder = s0_builder()
    builder.write(0, b"\5" * 40000)
    built = builder.build()
    offset = built.layout.l1_entry_offset(0)
    image = built.edited(offset, (1 << 40).to_bytes(8, "big")).write_to(tmp_path / "image.qcow2")
    target = tmp_path / "repaired.qcow2"
    assert run(["repair", str(image), "--plan"]) == ExitCode.CORRUPT
    assert "--free-unowned" in capsys.readouterr().out
    arguments = ["repair", str(image), "-o", str(target), "--free-unowned"]
    assert run(arguments) == ExitCode.CORRUPT
    assert oracle.check(target).leaks == 0
    capsys.readouterr()


def test_a_deep_repair_on_several_threads(image: Path, capsys: Capture) -> None:
    target = image.with_name("repaired.qcow2")
    arguments = ["repair", str(image), "-o", str(target), "--deep", "-m", "2", "--verify-all", "-p"]
    assert run(arguments) == ExitCode.GOOD
    assert oracle.check(target).is_clean
    assert "Compressed" not in capsys.readouterr().err
