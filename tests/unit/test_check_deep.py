"""The deep check over whole images: what it finds, once each, whoever shares it."""

from __future__ import annotations

import functools
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.collector import FindingCollector
from qcowgui.check.deep import DeepSummary, deep_check
from qcowgui.check.payloads import PayloadKind
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken, Counter, SerialExecutor
from qcowgui.errors import Cancelled
from qcowgui.format.finding import Finding, Repair, Severity
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource, FileSource
from tests.support import damage
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import KIB, MIB
from tests.support.payload import DEFLATE, ZSTD, deflate_stream, zstd_stream

BOTH = pytest.mark.parametrize("compression_type", [DEFLATE, ZSTD])


@pytest.fixture
def threads() -> Iterator[QPoolExecutor]:
    with QPoolExecutor(3) as pool:
        yield pool


def deep(
    image: BuiltImage, executor: QPoolExecutor | SerialExecutor | None = None
) -> tuple[DeepSummary, list[Finding]]:
    source = BytesSource(image.to_bytes())
    findings: list[Finding] = []
    counter = Counter()
    summary = deep_check(
        source,
        inspect_source(source),
        executor or SerialExecutor(),
        CancelToken(),
        FindingCollector(findings.append),
        counter=counter,
    )
    assert counter.value == summary.payload_bytes
    assert sum(summary.kinds.values()) == summary.clusters
    assert summary.bad == len(findings)
    return summary, findings


def builder(
    compression_type: int,
    *,
    cluster_bits: int = 12,
    size: int = 4 * MIB,
    extended_l2: bool = False,
) -> ImageBuilder:
    return ImageBuilder(
        cluster_bits=cluster_bits,
        size=size,
        extended_l2=extended_l2,
        compression_type=compression_type,
    )


def filled(image: ImageBuilder, clusters: int = 40, *, first: int = 0) -> ImageBuilder:
    for index in range(first, first + clusters):
        image.write_compressed(index, text(image.cluster_bytes, index))
    return image


@BOTH
@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
def test_healthy_image(compression_type: int, cluster_bits: int) -> None:
    image = filled(builder(compression_type, cluster_bits=cluster_bits, size=64 << cluster_bits), 8)
    image.write(9 << cluster_bits, pattern(100))
    summary, findings = deep(image.build())
    assert findings == []
    assert summary.kinds == {PayloadKind.OK: 8}
    assert (summary.clusters, summary.bad, summary.unreadable, summary.refusal) == (8, 0, 0, "")


@BOTH
def test_extended_entries(compression_type: int) -> None:
    image = filled(builder(compression_type, cluster_bits=14, extended_l2=True), 6).build()
    word = damage.get_l2_entry(image, 3)
    bad = damage.set_l2_entry(image, 3, word + (2 << 62 - 6))
    summary, [finding] = deep(bad)
    assert summary.kinds == {PayloadKind.OK: 5, PayloadKind.SECTORS_LONG: 1}
    assert finding.host_offset == image.layout.l2_entry_offset(3)
    assert finding.expected == f"{word:#018x}"


@BOTH
def test_every_kind_in_one_image(compression_type: int) -> None:
    """BL-O14 and the rest: each finding names its entry, its guest range and the right word."""
    image = builder(compression_type)
    cluster = image.cluster_bytes
    own: Callable[[bytes], bytes]
    other: Callable[[bytes], bytes]
    own, other = deflate_stream, zstd_stream
    if compression_type == ZSTD:
        own, other = other, own
    filled(image, 10)
    image.write_compressed(10, text(cluster, 10), extra_sectors=2)
    image.write_compressed(11, text(cluster, 11), extra_sectors=-1)
    image.write_compressed(12, b"", payload=own(text(1000, 12)))
    image.write_compressed(13, b"", payload=other(text(cluster, 13)))
    image.write_compressed(14, b"", payload=b"\xff" * 700)
    filled(image, 10, first=15)
    built = image.build()
    summary, findings = deep(built)
    assert {(finding.code, finding.severity, finding.guest_start) for finding in findings} == {
        ("payload-sectors-long", Severity.SUSPICIOUS, 10 * cluster),
        ("payload-sectors-short", Severity.CORRUPTION, 11 * cluster),
        ("payload-short", Severity.CORRUPTION, 12 * cluster),
        ("payload-other-type", Severity.CORRUPTION, 13 * cluster),
        ("payload-damaged", Severity.CORRUPTION, 14 * cluster),
    }
    assert summary.kinds[PayloadKind.OK] == 20
    assert summary.unreadable == 4
    by_cluster = {(finding.guest_start or 0) // cluster: finding for finding in findings}
    for index, finding in by_cluster.items():
        assert finding.guest_end == (index + 1) * cluster
        assert finding.host_offset == built.layout.l2_entry_offset(index)
        assert finding.entry == index
        assert finding.raw == damage.get_l2_entry(built, index)
        assert finding.structure == "L2 table"
        assert finding.message.startswith(f"L1[0]/L2[{index}] ")
        assert finding.message.endswith(".")
    one_sector = 1 << 62 - 4
    for index, excess in ((10, 2), (11, -1)):
        right = damage.get_l2_entry(built, index) - excess * one_sector
        assert by_cluster[index].expected == f"{right:#018x}"
        assert by_cluster[index].repair is Repair.ALL
    assert "1,000 of 4,096 bytes" in by_cluster[12].message
    assert by_cluster[14].repair is Repair.SALVAGE


def test_prerelease_layout() -> None:
    image = builder(ZSTD)
    image.write_compressed(0, text(image.cluster_bytes), length_prefix="big")
    summary, [finding] = deep(image.build())
    assert summary.kinds == {PayloadKind.PRERELEASE: 1}
    assert finding.code == "prerelease-zstd"
    assert "not by QEMU" in finding.message


def test_unended_stream_is_suspicious() -> None:
    image = builder(DEFLATE)
    stream = deflate_stream(text(image.cluster_bytes) + b"more")
    image.write_compressed(0, b"", payload=stream)
    summary, [finding] = deep(image.build())
    assert summary.kinds == {PayloadKind.UNENDED: 1}
    assert (finding.code, finding.severity) == ("payload-damaged", Severity.SUSPICIOUS)
    assert summary.unreadable == 0


@BOTH
def test_truncated_file(compression_type: int) -> None:
    """BL-O32: payloads behind the end are counted, the one at the end is named."""
    built = filled(builder(compression_type), 30).build()
    cut = built.layout.payloads[20]
    short = damage.truncate_at(built, cut.offset + cut.length // 2)
    summary, [finding] = deep(short)
    assert summary.kinds == {PayloadKind.OK: 20, PayloadKind.TRUNCATED: 1}
    assert summary.beyond_file == 9
    assert finding.code == "payload-damaged"
    assert "inside which the file ends" in finding.message


@BOTH
def test_snapshots_share_payloads(compression_type: int) -> None:
    """A table shared, and a table copied of which one entry is new: each payload once."""
    image = filled(builder(compression_type), 30)
    image.snapshot("first")
    filled(image, 1)
    image.snapshot("second")
    image.discard(1)
    image.write_compressed(2, text(image.cluster_bytes, 99))
    built = image.build()
    summary, findings = deep(built)
    # The 30 of the first snapshot, cluster 0 of the second, and cluster 2 of the active disk.
    assert (summary.clusters, findings) == (32, [])


@BOTH
def test_payload_that_only_a_snapshot_has(compression_type: int) -> None:
    image = filled(builder(compression_type), 3)
    image.write_compressed(3, b"", payload=b"\xff" * 700)
    image.snapshot("first")
    image.discard(3)
    built = image.build()
    summary, [finding] = deep(built)
    assert summary.clusters == 4
    assert finding.snapshot == 0
    assert finding.message.startswith("L1[0]/L2[3] of snapshot 0 names compressed data at ")


def test_entry_that_is_cut_by_the_end_of_the_file() -> None:
    """Half a descriptor names nothing."""
    image = filled(builder(DEFLATE), 8)
    built = image.build()
    table = built.layout.l2[0]
    moved = damage.append(built, built.read(table.offset, 3 * 8 + 3))
    word = 1 << 63 | len(built.to_bytes())
    summary, findings = deep(damage.set_l1_entry(moved, 0, word))
    assert (summary.clusters, findings) == (3, [])


def test_copied_flag_does_not_make_another_payload() -> None:
    image = filled(builder(DEFLATE), 3)
    image.snapshot("first")
    image.write(4096 * 3, pattern(100))
    built = image.build()
    word = damage.get_l2_entry(built, 1) | 1 << 63
    summary, findings = deep(damage.set_l2_entry(built, 1, word))
    assert (summary.clusters, findings) == (3, [])


def test_shared_payload_in_one_table_is_decoded_once() -> None:
    image = filled(builder(DEFLATE), 5)
    image.share(100, 2)
    summary, findings = deep(image.build())
    assert (summary.clusters, findings) == (5, [])


def test_cluster_behind_the_end_of_the_disk_affects_no_guest_data() -> None:
    image = builder(DEFLATE, size=10 * 4096 - 512)
    image.write_compressed(9, b"", payload=b"\xff" * 700)
    image.write_compressed(10, b"", payload=b"\xff" * 700)
    _, [last, behind] = deep(image.build())
    assert (last.guest_start, last.guest_end) == (9 * 4096, 10 * 4096 - 512)
    assert (behind.guest_start, behind.guest_end) == (None, None)
    assert behind.message.endswith("No guest data is affected.")


def test_unknown_compression_type_and_impossible_header() -> None:
    built = filled(builder(DEFLATE), 5).build()
    summary, findings = deep(damage.set_field(built, "compression_type", 7))
    assert findings == []
    assert summary.refusal == "Compression type 7 is not known, so no payload can be decoded."
    summary, findings = deep(damage.set_field(built, "cluster_bits", 60))
    assert findings == []
    assert summary.refusal == "The header does not say how large a cluster is."


def test_image_with_a_data_file() -> None:
    image = ImageBuilder(data_file="data.raw")
    image.write(0, pattern(100))
    summary, findings = deep(image.build())
    assert (summary.clusters, findings) == (0, [])


def test_threads_find_the_same_in_the_same_order(threads: QPoolExecutor) -> None:
    image = builder(DEFLATE, size=64 * MIB)
    for index in range(0, 6000, 3):
        image.write_compressed(index, text(400, index), extra_sectors=index % 5 == 0)
        image.write_compressed(index + 1, b"", payload=text(300, index))
    built = image.build()
    summary, findings = deep(built)
    assert summary.clusters == 4000
    assert len(findings) == 2400
    assert deep(built, threads) == (summary, findings)


def test_cancel(threads: QPoolExecutor) -> None:
    built = filled(builder(DEFLATE, size=64 * MIB), 3000).build()
    source = BytesSource(built.to_bytes())
    for executor in (threads, SerialExecutor()):
        token = CancelToken()
        token.cancel()
        with pytest.raises(Cancelled):
            deep_check(source, inspect_source(source), executor, token, FindingCollector())


def test_cancel_among_damaged_payloads_answers_at_once() -> None:
    """A batch of the slowest kind: every payload needs the thorough look."""
    image = builder(DEFLATE, cluster_bits=21, size=64 * MIB)
    stream = deflate_stream(text(2 * MIB))
    for index in range(24):
        image.write_compressed(index, b"", payload=stream[: len(stream) // 2] + b"\xff" * 1000)
    source = BytesSource(image.build().to_bytes())
    token = CancelToken()
    stopped_at = 0.0

    def cancel(_: Finding) -> None:
        nonlocal stopped_at
        stopped_at = time.monotonic()
        token.cancel()

    with pytest.raises(Cancelled):
        deep_check(
            source,
            inspect_source(source),
            SerialExecutor(),
            token,
            FindingCollector(cancel),
        )
    assert time.monotonic() - stopped_at < 2


def test_memory_does_not_grow_with_the_damage() -> None:
    image = builder(DEFLATE, cluster_bits=9, size=8 * MIB)
    for index in range(4000):
        image.write_compressed(index, b"", payload=b"\xff" * 40)
    source = BytesSource(image.build().to_bytes())
    report = inspect_source(source)
    collector = FindingCollector()
    tracemalloc.start()
    try:
        summary = deep_check(source, report, SerialExecutor(), CancelToken(), collector)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert summary.kinds == {PayloadKind.DAMAGED: 4000}
    assert peak < 20 * MIB
    [group] = collector.groups()
    assert (group.count, len(group.first)) == (4000, 64)
    assert group.guest_ranges.spans == ((0, 4000 * 512),)


@pytest.mark.parametrize("options", ["", "cluster_size=512", "compression_type=zstd"])
def test_what_qemu_writes_is_clean(tmp_path: Path, options: str) -> None:
    raw, image = tmp_path / "disk.raw", tmp_path / "disk.qcow2"
    data = b"".join(text(3 * KIB, seed) + bytes(5 * KIB) for seed in range(300))
    raw.write_bytes(data)
    subprocess.run(
        ["qemu-img", "convert", "-c", "-f", "raw", "-O", "qcow2"]
        + (["-o", options] if options else [])
        + [raw, image],
        check=True,
    )
    findings: list[Finding] = []
    with FileSource(image) as source:
        summary = deep_check(
            source,
            inspect_source(source),
            SerialExecutor(),
            CancelToken(),
            FindingCollector(findings.append),
        )
    assert findings == []
    assert summary.clusters == summary.kinds[PayloadKind.OK] > 30


@functools.cache
def _mutable(compression_type: int) -> bytes:
    image = filled(builder(compression_type), 30)
    image.snapshot("first")
    filled(image, 3)
    return image.build().to_bytes()


@BOTH
@hypothesis.settings(max_examples=60)
@given(
    edits=st.lists(
        st.tuples(st.floats(0, 0.999), st.binary(min_size=1, max_size=9)), min_size=1, max_size=8
    ),
    cut=st.floats(0.3, 1),
)
def test_any_bytes_are_judged(
    compression_type: int, edits: list[tuple[float, bytes]], cut: float
) -> None:
    """Whatever an image holds, its payloads are counted and nothing is raised."""
    data = bytearray(_mutable(compression_type))
    for place, replacement in edits:
        start = 120 + int(place * (len(data) - 120))
        data[start : start + len(replacement)] = replacement
    source = BytesSource(bytes(data[: int(cut * len(data))]))
    collector = FindingCollector()
    summary = deep_check(source, inspect_source(source), SerialExecutor(), CancelToken(), collector)
    assert sum(summary.kinds.values()) == summary.clusters
    assert sum(group.count for group in collector.groups()) == summary.bad
