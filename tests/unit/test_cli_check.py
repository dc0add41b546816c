"""`qcowgui check`: what people and programs are told, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.collector import OTHER_SNAPSHOTS, FindingGroup
from qcowgui.check.hints import Hint
from qcowgui.check.payloads import PayloadKind
from qcowgui.check.ranges import Ranges
from qcowgui.cli import check_text
from qcowgui.cli.check import exit_status
from qcowgui.cli.check_json import FindingStream
from qcowgui.cli.main import COMMANDS, run
from qcowgui.engine.work import CancelToken
from qcowgui.errors import ExitCode
from qcowgui.format.finding import CODES, Finding, Severity
from qcowgui.image.source import BytesSource
from qcowgui.report.check_object import report_object
from tests.support import oracle
from tests.support.base_images import b0, b0_builder, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import flip_bits, set_field, set_l2_entry, set_refcount, truncate_at
from tests.support.damages import DAMAGES
from tests.support.options import KIB

Capture = pytest.CaptureFixture[str]
CLUSTER = 64 * KIB
COPIED = 1 << 63


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "check", "Check.")


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    return b0().write_to(tmp_path / "healthy.qcow2")


def on_metadata() -> BuiltImage:
    """An image with guest data on the L1 table; the data's own cluster leaks."""
    image = b0()
    return set_l2_entry(image, 0, COPIED | image.layout.l1.offset)


def leaking(clusters: int, **options: int) -> BuiltImage:
    builder = b0_builder(**options)  # type: ignore[arg-type]
    builder.leak(clusters)
    return builder.build()


def compressed() -> BuiltImage:
    builder = b0_builder()
    for index in range(1, 5):
        builder.write_compressed(index, text(CLUSTER, index))
    return builder.build()


def checked(image: BuiltImage, *, deep: bool = False) -> CheckReport:
    source = BytesSource(image.to_bytes(), "disk.qcow2")
    return check_image(source, token=CancelToken(), deep=deep)


def lines_of(capsys: Capture, *arguments: str | Path, status: int) -> list[str]:
    assert run(["check", *map(str, arguments)]) == status
    return capsys.readouterr().out.splitlines()


def object_of(capsys: Capture, *arguments: str | Path, status: int) -> dict[str, Any]:
    assert run(["check", *map(str, arguments)]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def text_of(capsys: Capture, report: CheckReport, *, with_findings: bool = True) -> str:
    check_text.print_report(report, with_findings=with_findings)
    return capsys.readouterr().out


def group_of(code: str, severity: Severity, message: str, *, count: int = 1) -> FindingGroup:
    finding = Finding(code, severity, message, "L2 table", host_offset=0x4000, entry=3)
    return FindingGroup(code, severity, None, count, (finding,), Ranges(()), Ranges(()))


# ------------------------------------------------------------------------------------ for people


def test_a_healthy_image(healthy: Path, capsys: Capture) -> None:
    assert lines_of(capsys, healthy, status=0) == [
        f"{healthy}: metadata consistent",
        "Guest data was not looked at.",
        "",
        "Totals",
        "  found                      here  qemu-img check",
        "  corruptions                   0               0",
        "  leaks                         0               0",
        "  what could not be checked                     0",
        "  suspicious                    0",
        "  notes                         0",
        "",
        "Clusters",
        "  guest      1 of 1,024 clusters allocated (<0.1%)",
        "  image end  0x6_0000; file end 0x6_0000",
    ]


def test_a_damaged_image_fits_on_one_screen(tmp_path: Path, capsys: Capture) -> None:
    path = on_metadata().write_to(tmp_path / "bad.qcow2")
    lines = lines_of(capsys, path, status=ExitCode.CORRUPT)
    assert lines[0].startswith(f"{path}: corrupt: ")
    assert len(lines) < 40
    assert lines.index("Corruption") < lines.index("Leak")
    conflict = next(i for i, line in enumerate(lines) if "owner-conflict · " in line)
    assert "Host cluster 3 at 0x3_0000" in lines[conflict - 1]
    assert lines[conflict].endswith("; see qcowgui salvage")
    leak = next(line for line in lines if line.startswith("      leak · "))
    assert leak.endswith("; see qcowgui repair --leaks")
    assert lines[-2:] == [
        f"To see what a repair would change: qcowgui repair --plan {path}",
        f"To see what can be brought back: qcowgui salvage {path}",
    ]


def test_leaks_alone(tmp_path: Path, capsys: Capture) -> None:
    path = leaking(3).write_to(tmp_path / "leaks of mine.qcow2")
    lines = lines_of(capsys, path, status=ExitCode.LEAKS)
    assert lines[0] == (
        f"{path}: metadata consistent but for 3 leaks: counted as used, referred to by nothing"
    )
    assert "  leaked     3 clusters inside the file (192 KiB)" in lines
    # A name with spaces can be copied as it is.
    assert lines[-1] == f"To see what a repair would change: qcowgui repair --plan '{path}'"


def test_what_the_guest_loses_is_said_for_the_whole_kind(capsys: Capture) -> None:
    image = b0_builder(size=8 * CLUSTER)
    for index in (4, 5, 6):
        image.raw_l2_entry(index, COPIED | 1 << 40 | index << 16)
    lines = text_of(capsys, checked(image.build())).splitlines()
    place = next(i for i, line in enumerate(lines) if "data-beyond-eof · " in line)
    assert lines[place - 1].endswith(" (×3)")
    assert "guest 256 KiB – 448 KiB" in lines[place]


def test_hints_come_before_the_numbers_and_instead_of_other_advice(capsys: Capture) -> None:
    hint = Hint(
        code="lost-l2-table",
        sentence="An L2 table was probably lost.",
        advice="Do not repair; salvage first.",
    )
    lines = text_of(capsys, replace(checked(on_metadata()), hints=(hint,))).splitlines()
    assert lines[2:6] == [
        "",
        "What probably happened",
        "  ! An L2 table was probably lost.",
        "    Do not repair; salvage first.",
    ]
    assert not any(line.startswith("To see what") for line in lines)


def test_leaks_that_a_repair_keeps_are_not_offered_to_one(capsys: Capture) -> None:
    hint = Hint(code="overwritten", sentence="A table was overwritten.", advice="Look first.")
    report = checked(leaking(3))
    assert "; see qcowgui repair --leaks\n" in text_of(capsys, report)
    kept = text_of(capsys, replace(report, hints=(hint,)))
    assert "repair --leaks" not in kept
    assert "; a repair keeps it, see above\n" in kept


def test_only_so_many_kinds_are_shown(capsys: Capture) -> None:
    codes = sorted(CODES)[: check_text.MAX_GROUPS + 3]
    groups = tuple(group_of(code, Severity.CORRUPTION, f"{code} is wrong.") for code in codes)
    report = replace(checked(b0()), groups=groups)
    shown = text_of(capsys, report)
    assert shown.count(" is wrong.") == check_text.MAX_GROUPS
    assert "… and 3 more kinds of findings; --all shows every finding\n" in shown
    exactly = text_of(capsys, replace(report, groups=groups[: check_text.MAX_GROUPS]))
    assert "more kind" not in exactly


def test_what_nothing_repairs(capsys: Capture) -> None:
    unknown = group_of("extension-unknown", Severity.INFO, "Kept.")
    broken = group_of("header-cluster-bits", Severity.CORRUPTION, "Broken.")
    report = replace(checked(b0()), groups=(broken, unknown))
    assert broken.repair == unknown.repair == 0
    lines = text_of(capsys, report).splitlines()
    place = "L2 table · entry 3 · host 0x4000"
    assert f"      header-cluster-bits · {place}; no repair is known" in lines
    assert f"      extension-unknown · {place}" in lines
    assert not any(line.startswith("To see what") for line in lines)


def test_many_snapshots_share_a_group(capsys: Capture) -> None:
    group = group_of("snapshot-copied", Severity.SUSPICIOUS, "Set.", count=5)
    report = replace(checked(b0()), groups=(replace(group, snapshot=OTHER_SNAPSHOTS),))
    assert "snapshot-copied · L2 table · of further snapshots" in text_of(capsys, report)


def test_where_qemu_says_nothing_its_reason_stands(tmp_path: Path, capsys: Capture) -> None:
    path = set_field(b0(), "cluster_bits", 22).write_to(tmp_path / "huge.qcow2")
    lines = lines_of(capsys, path, status=ExitCode.FAILED)
    assert lines[0] == f"{path}: fatal: where the guest's data lies can't be told from this header"
    assert "  corruptions                   1               –" in lines
    assert "  qemu-img can't open the image: cluster_bits is 22; 9 to 21 are allowed." in lines
    assert "Clusters" not in lines


def test_names_do_not_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    path = b0().write_to(tmp_path / "evil\x1b[2J.qcow2")
    assert "\x1b" not in "".join(lines_of(capsys, path, status=0))


def test_quiet(tmp_path: Path, capsys: Capture) -> None:
    path = on_metadata().write_to(tmp_path / "bad.qcow2")
    for options in ([], ["--json"], ["--all"], ["--all", "--json"], ["-p"]):
        assert run(["check", "-q", *options, str(path)]) == ExitCode.CORRUPT
        assert capsys.readouterr() == ("", "")


# ------------------------------------------------------------------------------------ every one


def test_every_finding_is_a_line_of_its_own(tmp_path: Path, capsys: Capture) -> None:
    leaks = 3000
    path = leaking(leaks, cluster_bits=9, size=64 * KIB).write_to(tmp_path / "leaks.qcow2")
    lines = lines_of(capsys, "--all", path, status=ExitCode.LEAKS)
    found = [line for line in lines if line.startswith("leak: Host cluster ")]
    assert len(set(found)) == leaks
    assert lines[leaks].startswith(f"{path}: metadata consistent but for 3,000 leaks")
    assert "Leak" not in lines
    # Without it there are no more lines than for three.
    assert len(lines_of(capsys, path, status=ExitCode.LEAKS)) < 25
    everything = object_of(capsys, "--all", "--json", path, status=ExitCode.LEAKS)
    assert len({finding["host-offset"] for finding in everything["findings"]}) == leaks
    assert all(finding["count"] == 1 for finding in everything["findings"])
    short = object_of(capsys, "--json", path, status=ExitCode.LEAKS)
    assert len(short["findings"]) < 100
    assert {key: value for key, value in short.items() if key != "findings"} == {
        key: value for key, value in everything.items() if key != "findings"
    }


def test_findings_are_written_when_they_are_found(capsys: Capture) -> None:
    stream = FindingStream("disk.qcow2")
    beginning = capsys.readouterr().out
    stream.add(Finding("leak", Severity.LEAK, "One.", "refcount block", snapshot=2))
    first = capsys.readouterr().out
    assert '"One."' in first
    report = checked(b0())
    stream.close(report)
    found = json.loads(beginning + first + capsys.readouterr().out)
    (finding,) = found.pop("findings")
    assert finding["snapshot"] == 2
    assert finding["repair"] == "leaks"
    assert found == {
        key: value for key, value in report_object(report).items() if key != "findings"
    }


def test_an_object_without_findings(healthy: Path, capsys: Capture) -> None:
    for options in ([], ["--all"]):
        assert object_of(capsys, *options, "--json", healthy, status=0)["findings"] == []


# ------------------------------------------------------------------------------------ for programs


def test_the_keys_of_the_object(tmp_path: Path, capsys: Capture) -> None:
    path = on_metadata().write_to(tmp_path / "bad.qcow2")
    found = object_of(capsys, "--output=json", path, status=ExitCode.CORRUPT)
    assert found["schema"] == 1
    assert found["filename"] == str(path)
    assert found["verdict"] == "corrupt"
    assert found["complete"] is True
    assert found["deep"] is None
    assert found["hints"] == []
    assert list(found["counts"]) == ["fatal", "corruption", "suspicious", "leak", "info"]
    conflict = next(item for item in found["findings"] if item["code"] == "owner-conflict")
    assert conflict["severity"] == "corruption"
    assert conflict["host-offset"] == 0x30000
    assert conflict["repair"] == "salvage"
    group = next(item for item in found["groups"] if item["code"] == "owner-conflict")
    assert group["count"] == 1
    assert group["host-ranges"] == {"ranges": [[0x30000, 0x40000]], "complete": True}
    assert found["clusters"] == {
        "cluster-size": CLUSTER,
        "considered": 6,
        "leaked": 1,
        "free": 0,
        "roles": {
            "free": 1,
            "header": 1,
            "active-l1": 1,
            "active-l2": 1,
            "refcount-table": 1,
            "refcount-block": 1,
        },
    }


def test_hints_for_programs() -> None:
    hint = Hint(code="truncated", sentence="The download stopped early.", advice="Fetch it again.")
    found = report_object(replace(checked(b0()), hints=(hint,)))
    assert found["hints"] == [
        {
            "code": "truncated",
            "sentence": "The download stopped early.",
            "advice": "Fetch it again.",
        }
    ]


@pytest.mark.parametrize(
    "name",
    [
        None,
        "table_l1_copied_cleared",
        "table_data_on_refcount_block",
        "refcount_all_zero",
        "refcount_too_high",
        "refcount_block_beyond_eof",
        "payload_copied",
        "table_data_beyond_eof",
    ],
)
def test_qemus_object_and_status_are_qemus(
    name: str | None, tmp_path: Path, capsys: Capture
) -> None:
    image = rich(backing_file=None, backing_format=None)
    if name is not None:
        image = DAMAGES[name].apply(image)
    path = image.write_to(tmp_path / "image.qcow2")
    theirs = oracle.check(path)
    assert run(["check", "--json", str(path)]) == theirs.exit_code
    found = json.loads(capsys.readouterr().out)
    assert found["qemu"] == theirs.report
    assert found["qemu-refusal"] is None


def test_where_qemu_refuses_there_is_no_object(tmp_path: Path, capsys: Capture) -> None:
    path = set_field(b0(), "cluster_bits", 22).write_to(tmp_path / "huge.qcow2")
    found = object_of(capsys, "--json", path, status=ExitCode.FAILED)
    assert oracle.check(path).report == {}
    assert found["qemu"] is None
    assert found["qemu-refusal"].startswith("qemu-img can't open the image: ")
    assert found["verdict"] == "fatal"
    assert found["complete"] is False


# ------------------------------------------------------------------------------------ exit status


def test_what_qemu_misses_counts_too(tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(version=2)
    builder.write(0, pattern(CLUSTER))
    builder.raw_l2_entry(1, 1)
    path = builder.build().write_to(tmp_path / "zero-flag.qcow2")
    assert oracle.check(path).exit_code == 0
    found = object_of(capsys, "--json", path, status=ExitCode.CORRUPT)
    assert [finding["code"] for finding in found["findings"]] == ["zero-flag-v2"]
    assert "corruptions" not in found["qemu"]


@pytest.mark.parametrize(
    ("theirs", "counts", "complete", "status"),
    [
        ({}, {}, True, ExitCode.GOOD),
        ({}, {Severity.SUSPICIOUS: 4, Severity.INFO: 1}, True, ExitCode.GOOD),
        ({"leaks": 1}, {Severity.LEAK: 1}, True, ExitCode.LEAKS),
        ({"leaks": 1}, {Severity.CORRUPTION: 1}, True, ExitCode.CORRUPT),
        ({"corruptions": 1}, {Severity.LEAK: 1}, True, ExitCode.CORRUPT),
        ({"check_errors": 1, "corruptions": 1}, {Severity.CORRUPTION: 1}, True, ExitCode.FAILED),
        ({"refusal": "No."}, {Severity.FATAL: 1}, False, ExitCode.FAILED),
        ({}, {}, False, ExitCode.FAILED),
        ({}, {Severity.CORRUPTION: 1}, False, ExitCode.CORRUPT),
    ],
)
def test_the_worse_of_both_statuses(
    theirs: dict[str, Any], counts: dict[Severity, int], complete: bool, status: ExitCode
) -> None:
    report = checked(b0())
    ours = dict.fromkeys(Severity, 0) | counts
    totals = replace(report.totals, **theirs)
    assert exit_status(replace(report, totals=totals, counts=ours, complete=complete)) is status


def test_what_is_no_qcow2_image(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(bytes(1 << 20))
    assert run(["check", str(path)]) == ExitCode.UNSUPPORTED
    assert run(["check", "-f", "qcow2", str(path)]) == ExitCode.UNSUPPORTED
    assert run(["check", "-f", "raw", str(path)]) == ExitCode.UNSUPPORTED
    assert run(["check", "-f", "vmdk", str(path)]) == ExitCode.UNSUPPORTED
    assert run(["check", "--all", "--json", str(path)]) == ExitCode.UNSUPPORTED
    said = capsys.readouterr()
    assert said.out == ""
    assert "a raw disk has no metadata to check" in said.err
    assert run(["check", str(tmp_path / "nothing.qcow2")]) == ExitCode.FAILED


def test_an_image_that_has_lost_its_header(tmp_path: Path, capsys: Capture) -> None:
    path = DAMAGES["first_cluster_wiped"].apply(rich()).write_to(tmp_path / "wiped.qcow2")
    assert run(["check", str(path)]) == ExitCode.UNSUPPORTED
    said = capsys.readouterr()
    assert said.out == ""
    assert "its first cluster was probably overwritten" in said.err
    assert "qcowgui salvage" in said.err


def test_repairing_is_another_command(healthy: Path, capsys: Capture) -> None:
    before = healthy.read_bytes()
    for tier in ("leaks", "all", "everything"):
        assert run(["check", "-r", tier, str(healthy)]) == ExitCode.FAILED
        said = capsys.readouterr()
        assert said.out == ""
        assert "check writes nothing" in said.err
        assert "qcowgui repair IMAGE -o REPAIRED" in said.err
    assert healthy.read_bytes() == before


def test_options_of_qemu_img(healthy: Path, capsys: Capture) -> None:
    arguments = ("-U", "-f", "qcow2", "--output", "json")
    assert object_of(capsys, *arguments, healthy, status=0)["verdict"] == "consistent"


# ------------------------------------------------------------------------------------ deep


def test_without_deep_it_is_said_that_payloads_were_not_decoded(capsys: Capture) -> None:
    assert text_of(capsys, checked(compressed())).splitlines()[1] == (
        "Guest data was not looked at; --deep decodes the compressed clusters."
    )


@pytest.mark.parametrize("options", [[], ["-m", "1"], ["-m", "2"]])
def test_a_damaged_payload(options: list[str], tmp_path: Path, capsys: Capture) -> None:
    image = compressed()
    # Deflate has no checksum: in the middle of the stream this might well go unnoticed.
    code_lengths = image.layout.payloads[2].offset + 1
    path = flip_bits(image, code_lengths, 8).write_to(tmp_path / "flipped.qcow2")
    assert run(["check", str(path)]) == ExitCode.GOOD
    capsys.readouterr()
    lines = lines_of(capsys, "--deep", *options, path, status=ExitCode.CORRUPT)
    assert lines[1] == (
        "Compressed clusters were decoded; whether data is what the guest wrote, none can tell."
    )
    start = lines.index("Compressed clusters")
    assert lines[start + 1].startswith("  decoded  4 clusters (")
    assert lines[start + 2 : start + 4] == ["  damaged  1", "  good     3"]
    found = object_of(capsys, "--deep", "--json", *options, path, status=ExitCode.CORRUPT)
    (finding,) = found["findings"]
    assert finding["code"] == "payload-damaged"
    assert (finding["guest-start"], finding["guest-end"]) == (2 * CLUSTER, 3 * CLUSTER)
    assert found["deep"]["kinds"] == {"ok": 3, "damaged": 1}
    assert found["deep"]["bad"] == found["deep"]["unreadable"] == 1
    assert found["deep"]["refusal"] is None


def test_every_kind_of_payload_has_a_word() -> None:
    assert list(check_text._KIND_WORDS) == [kind.name for kind in PayloadKind]


def test_what_can_not_be_decoded_at_all(capsys: Capture) -> None:
    report = checked(set_field(compressed(), "compression_type", 7), deep=True)
    assert report.deep is not None
    shown = text_of(capsys, report)
    assert f"  decoded  none: {report.deep.refusal}\n" in shown
    assert report_object(report)["deep"]["refusal"] == report.deep.refusal != ""


def test_progress_is_told_when_asked_for(tmp_path: Path, capsys: Capture) -> None:
    path = compressed().write_to(tmp_path / "packed.qcow2")
    assert run(["check", "--deep", "-p", str(path)]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("checking, ")
    assert last.endswith(" decoded")
    assert run(["check", "--deep", str(path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [[], ["--json"], ["--all"], ["--deep"], ["--deep", "-m", "1"]])
def test_small_images_are_checked_without_qt(options: list[str], tmp_path: Path) -> None:
    path = compressed().write_to(tmp_path / "packed.qcow2")
    program = (
        "import sys; from qcowgui.cli import main; main.COMMANDS.setdefault('check', '');"
        "status = main.run(sys.argv[1:]);"
        "print('PySide6' in sys.modules, file=sys.stderr);"
        "sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "check", *options, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "False\n"


# ------------------------------------------------------------------------------------ data file


def test_the_data_file_is_looked_at_with_consent(tmp_path: Path, capsys: Capture) -> None:
    builder = ImageBuilder(size=4 * CLUSTER, data_file="disk.data")
    builder.write(0, pattern(4 * CLUSTER))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    data_file = tmp_path / "disk.data"
    assert run(["check", "--allow-backing", str(path)]) == 0
    with data_file.open("r+b") as file:
        file.truncate(2 * CLUSTER)
    assert run(["check", str(path)]) == 0
    capsys.readouterr()
    found = object_of(capsys, "--json", "--allow-backing", path, status=ExitCode.CORRUPT)
    assert {finding["code"] for finding in found["findings"]} == {"data-file-short"}
    data_file.unlink()
    assert run(["check", "--allow-backing", str(path)]) == 0
    assert "the data file was not looked at: " in capsys.readouterr().err


def test_a_file_that_is_cut_short(tmp_path: Path, capsys: Capture) -> None:
    image = b0()
    path = truncate_at(image, image.layout.data[0].offset).write_to(tmp_path / "cut.qcow2")
    found = object_of(capsys, "--json", path, status=oracle.check(path).exit_code)
    assert "data-beyond-eof" in {finding["code"] for finding in found["findings"]}
    (group,) = (item for item in found["groups"] if item["code"] == "data-beyond-eof")
    assert group["guest-ranges"] == {"ranges": [[0, CLUSTER]], "complete": True}


def test_a_refcount_that_is_too_low(tmp_path: Path, capsys: Capture) -> None:
    path = set_refcount(b0(), 5, 0).write_to(tmp_path / "low.qcow2")
    lines = lines_of(capsys, path, status=ExitCode.CORRUPT)
    assert any("refcount-zero · " in line and "repair --all" in line for line in lines)
