from __future__ import annotations

import threading
from collections import Counter as Tally
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.roles import Role
from qcowgui.check.snapshot_list import SnapshotList, load_snapshot_list
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import Cancelled, ExitCode, NotQcow2Error
from qcowgui.format import limits
from qcowgui.format.finding import Finding, Severity
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import ByteSource, BytesSource, FileSource
from tests.support.base_images import b0, b0_builder, pattern, rich, s0
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.damage import (
    get_l2_entry,
    set_field,
    set_l1_entry,
    set_l2_entry,
    truncate_at,
)
from tests.support.damages import DAMAGES
from tests.support.filled import write_filled_image
from tests.support.options import GIB, MIB
from tests.support.strategies import MutatedImage, mutated_images

COPIED = 1 << 63


def check(image: BuiltImage, *, deep: bool = False) -> CheckReport:
    return check_image(BytesSource(image.to_bytes()), token=CancelToken(), deep=deep)


def test_the_snapshot_table_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """65,536 entries of it, all but two behind the end of the file, cost seconds each time."""
    image = rich()
    crafted = set_field(image, "nb_snapshots", limits.MAX_SNAPSHOTS)
    # Leaks, so that lost tables are looked for, too.
    crafted = set_l1_entry(crafted, 0, 0)
    crafted = truncate_at(crafted, image.layout.snapshot_entries[-1].end)
    loads = Tally[str]()

    for module in ("ownership", "owners", "walk", "payload_batches"):

        def load(source: ByteSource, report: ImageReport, caller: str = module) -> SnapshotList:
            loads[caller] += 1
            return load_snapshot_list(source, report)

        monkeypatch.setattr(f"qcowgui.check.{module}.load_snapshot_list", load)
    report = check(crafted, deep=True)
    assert report.deep is not None
    assert report.ownership.snapshots.entries == limits.MAX_SNAPSHOTS
    assert loads == {"ownership": 1}


def codes(report: CheckReport) -> dict[str, int]:
    tally: Tally[str] = Tally()
    for group in report.groups:
        tally[group.code] += group.count
    return dict(tally)


def messages(report: CheckReport, code: str) -> list[str]:
    return [
        finding.message for group in report.groups if group.code == code for finding in group.first
    ]


@pytest.mark.parametrize("name", sorted(GEOMETRIES))
def test_a_sound_image_is_sound(name: str) -> None:
    image = GEOMETRIES[name].image()
    report = check(image, deep=True)
    assert report.complete
    assert report.counts[Severity.FATAL] == report.counts[Severity.CORRUPTION] == 0
    assert report.counts[Severity.LEAK] == 0
    assert report.exit_code == ExitCode.GOOD
    assert report.hints == ()
    assert report.deep is not None
    assert report.deep.clusters == len(image.layout.payloads)
    assert sum(report.role_clusters.values()) == report.ownership.clusters


def test_the_report_counts_space() -> None:
    builder = b0_builder()
    builder.leak(2)
    builder.gap(3)
    builder.write(65536, pattern(65536, 2))
    report = check(builder.build())
    assert (report.leaked_clusters, report.free_clusters) == (2, 3)
    assert report.role_clusters[Role.FREE] == 5
    assert codes(report)["leak"] == 2
    assert report.exit_code == ExitCode.LEAKS


@pytest.mark.parametrize("name", sorted(set(DAMAGES) - {"header_magic", "first_cluster_wiped"}))
def test_every_finding_is_handed_over_and_counted(name: str) -> None:
    image = DAMAGES[name].apply(rich())
    found: list[Finding] = []
    source = BytesSource(image.to_bytes())
    if name == "header_version_1":
        with pytest.raises(NotQcow2Error):
            check_image(source, token=CancelToken())
        return
    report = check_image(source, token=CancelToken(), on_finding=found.append)
    tally: Tally[str] = Tally()
    for finding in found:
        tally[finding.code] += finding.count
    assert tally == codes(report)
    assert sum(report.counts.values()) == sum(tally.values())
    severities = [group.severity for group in report.groups]
    assert severities == sorted(severities, reverse=True)
    for group in report.groups:
        assert 1 <= len(group.first) <= limits.MAX_FINDINGS_OF_A_KIND
    keys = [(f.code, f.host_offset, f.entry, f.snapshot, f.message) for f in found]
    assert len(set(keys)) == len(keys)


def test_what_an_open_finds_is_found_once() -> None:
    image = DAMAGES["header_padding"].apply(rich())
    assert codes(check(image))["header-padding"] == 1
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    assert codes(check_image(source, report, token=CancelToken()))["header-padding"] == 1


def test_conflicts_say_who_owns_the_cluster() -> None:
    image = b0()
    damaged = set_l2_entry(image, 3, COPIED | image.layout.refcount_blocks[0].offset)
    (message,) = messages(check(damaged), "owner-conflict")
    assert "refcount block 0" in message
    assert "guest 0x3_0000 by L1[0]/L2[3]" in message


def test_wrong_refcounts_say_who_owns_the_cluster() -> None:
    (message,) = messages(check(DAMAGES["refcount_too_low"].apply(rich())), "refcount-too-low")
    assert "snapshot 1" in message


def test_an_entry_of_a_shared_table_is_one_finding() -> None:
    builder = ImageBuilder(size=MIB)
    builder.write(0, pattern(65536))
    for number in range(5):
        builder.snapshot(str(number))
    image = builder.build()
    report = check(set_l2_entry(image, 0, get_l2_entry(image, 0) | 1 << 60))
    assert codes(report)["l2-reserved-bits"] == 1
    assert report.totals.corruptions == 6


def test_no_geometry_is_an_answer_too() -> None:
    report = check(set_field(rich(), "cluster_bits", 30))
    assert not report.complete
    assert report.exit_code == ExitCode.FAILED
    assert report.stored is None
    assert report.role_clusters == {}
    assert codes(report) == {"header-cluster-bits": 1}


def test_too_many_clusters_is_an_answer_too(tmp_path: Path) -> None:
    path = s0().write_to(tmp_path / "image")
    with path.open("r+b") as file:
        file.truncate((1 << 31) * 512)
    with FileSource(path) as source:
        report = check_image(source, token=CancelToken())
    assert not report.complete
    assert codes(report)["clusters-above-limit"] == 1
    assert report.exit_code == ExitCode.FAILED


def test_a_system_without_memory_for_the_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(clusters: int) -> None:
        raise MemoryError(clusters)

    monkeypatch.setattr("qcowgui.check.ownership.ReferenceCounts", refuse)
    report = check(b0())
    assert not report.complete
    assert "not enough memory" in messages(report, "clusters-above-limit")[0]
    assert report.exit_code == ExitCode.FAILED


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(mutated_images())
def test_any_damage_gets_a_report(image: MutatedImage) -> None:
    try:
        report = check(image.mutated, deep=True)
    except NotQcow2Error:
        return
    assert sum(report.counts.values()) == sum(group.count for group in report.groups)
    assert sum(report.role_clusters.values()) == report.ownership.clusters
    assert len(report.ownership.computed) == len(report.ownership.roles)


def test_an_unusable_refcount_table_leaves_the_rest_to_check() -> None:
    image = set_field(rich(), "refcount_table_offset", 0x1001)
    report = check(set_l2_entry(image, 0, get_l2_entry(image, 0) | 1 << 60))
    assert not report.complete
    assert codes(report)["l2-reserved-bits"] == 1
    assert not {"leak", "refcount-zero", "l2-copied"} & set(codes(report))


def test_what_qemu_refuses_is_not_complete() -> None:
    report = check(DAMAGES["feature_incompatible_5"].apply(rich()))
    assert not report.complete
    assert report.exit_code == ExitCode.FAILED


def test_the_tail_is_behind_what_is_in_use_or_counted() -> None:
    image = b0()
    assert "trailing-data" not in codes(check(image))
    longer = image.edited(0x80000, b"junk")
    assert codes(check(longer))["trailing-data"] == 1
    # Without readable counts, references tell what is in use.
    unreadable = DAMAGES["refcount_block_unaligned"].apply(rich())
    assert "trailing-data" not in codes(check(unreadable))


def test_the_length_of_a_data_file() -> None:
    image = GEOMETRIES["data-file-64k"].image()
    source = BytesSource(image.to_bytes())
    report = check_image(source, token=CancelToken(), data_file_bytes=65536)
    assert codes(report)["data-file-short"] > 0
    assert "data-file-short" not in codes(check(image))


def test_payloads_are_looked_at_when_asked() -> None:
    image = DAMAGES["payload_flipped"].apply(rich())
    assert check(image).deep is None
    counter = Counter()
    report = check_image(
        BytesSource(image.to_bytes()), token=CancelToken(), deep=True, counter=counter
    )
    assert report.deep is not None
    assert report.deep.bad == 1
    assert "payload-damaged" in codes(report)
    assert counter.value > 0
    assert report.exit_code == ExitCode.GOOD


def test_hints() -> None:
    report = check(DAMAGES["refcount_all_zero"].apply(rich()))
    assert "refcounts-all-zero" in {hint.code for hint in report.hints}


def test_what_is_no_qcow2_image() -> None:
    with pytest.raises(NotQcow2Error):
        check_image(BytesSource(b"nothing"), token=CancelToken())


def test_the_token_stops_it() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        check_image(BytesSource(b0().to_bytes()), token=token)


def test_the_token_stops_it_in_the_middle(tmp_path: Path) -> None:
    path = write_filled_image(tmp_path / "image", 256 * GIB)
    token = CancelToken()
    ticks: list[int] = []

    def tick() -> None:
        ticks.append(threading.get_ident())
        if len(ticks) == 100:
            token.cancel()

    with FileSource(path) as source, pytest.raises(Cancelled):
        check_image(source, token=token, tick=tick)
    assert len(ticks) == 100
    assert set(ticks) == {threading.get_ident()}


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_full_image_of_many_tables(shuffled: bool, tmp_path: Path) -> None:
    path = write_filled_image(tmp_path / "image", 16 * GIB, shuffled=shuffled)
    with FileSource(path) as source:
        report = check_image(source, token=CancelToken())
    assert report.groups == ()
    assert report.complete
    assert report.totals.allocated_clusters == 16 * GIB // 65536
    assert (report.totals.fragmented_clusters > 0) == shuffled
    assert report.role_clusters[Role.DATA] == 16 * GIB // 65536


def test_a_million_findings_are_few_objects(tmp_path: Path) -> None:
    path = write_filled_image(tmp_path / "image", 64 * GIB)
    with path.open("r+b") as file:
        file.seek(48)
        table = int.from_bytes(file.read(8), "big")
        file.seek(table)
        file.write(bytes(65536))
    with FileSource(path) as source:
        report = check_image(source, token=CancelToken())
    assert codes(report)["refcount-zero"] > 1_000_000
    assert codes(report)["l2-copied"] == 64 * GIB // 65536
    assert sum(len(group.first) for group in report.groups) <= 64 * len(report.groups)


def test_a_file_cut_anywhere_is_checked() -> None:
    image = rich()
    for length in (*range(64, 4096, 333), *range(4096, len(image.file), 3777)):
        report = check(truncate_at(image, length))
        assert report.groups
