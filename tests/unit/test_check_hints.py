"""What the patterns of real incidents say, and that sound or merely odd images say nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qcowgui.check.checker import check_image
from qcowgui.check.hints import Hint, incident_hints
from qcowgui.check.incident_facts import IncidentFacts, ZeroTail
from qcowgui.check.incident_search import gather_facts
from qcowgui.check.wiped_header import wiped_first_cluster
from qcowgui.engine.work import CancelToken
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import ByteSource, BytesSource, FileSource
from qcowgui.units import format_size
from tests.support import damage
from tests.support.base_images import b0, pattern, rich, s0, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damages import DAMAGES
from tests.support.options import KIB, MIB

SOUND = IncidentFacts(
    file_bytes=100 * MIB + 512,
    cluster_bytes=64 * KIB,
    l2_entries=8192,
    used_clusters=1600,
    counted_clusters=1600,
    l1_entries=4,
    l1_used=1,
    mapped_share=0.3,
)


def hints_of_source(source: ByteSource) -> tuple[Hint, ...]:
    token = CancelToken()
    checked = check_image(source, token=token, deep=True)
    facts = gather_facts(
        source,
        checked.image,
        groups=checked.groups,
        totals=checked.totals,
        ownership=checked.ownership,
        stored=checked.stored,
        refcounts=checked.refcounts,
        deep=checked.deep,
        token=token,
    )
    return () if facts is None else incident_hints(facts)


def hints_of(image: BuiltImage | bytes) -> dict[str, Hint]:
    data = image if isinstance(image, bytes) else image.to_bytes()
    return {hint.code: hint for hint in hints_of_source(BytesSource(data))}


def codes(facts: IncidentFacts) -> list[str]:
    return [hint.code for hint in incident_hints(facts)]


def filled(clusters: int = 200) -> ImageBuilder:
    """512-byte clusters: 64 entries a table, so that several tables are soon full."""
    builder = ImageBuilder(cluster_bits=9, size=256 * KIB)
    for index in range(clusters):
        builder.write(index * 512, pattern(512, index))
    return builder


# --- by plain numbers


def test_sound_image_has_no_hint() -> None:
    assert codes(SOUND) == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"findings": {"data-beyond-eof": 3}, "counted_end": 101 * MIB}, "truncated-file"),
        (
            {"findings": {"l1-truncated": 1, "refcount-table-truncated": 1}, "counted_end": 0},
            "truncated-file",
        ),
        ({"zero_tail": ZeroTail(MIB, payload_clusters=1)}, "zero-tail"),
        ({"zero_tail": ZeroTail(MIB, tables=1, leaked_clusters=16)}, "zero-tail"),
        ({"zero_tail": ZeroTail(MIB, data_clusters=160)}, "zero-tail"),
        ({"leaked_clusters": 9, "lost_tables": 1, "lost_entries": 8}, "lost-l2-table"),
        ({"leaked_clusters": 16, "l1_used": 0}, "wiped-l1"),
        ({"leaked_clusters": 16, "empty_tables": 1}, "emptied-l2-table"),
        ({"leaked_clusters": 1, "shared_leaks": 1, "l1_used": 0}, "wiped-l1"),
        ({"leaked_clusters": 1, "shared_leaks": 1, "empty_tables": 1}, "emptied-l2-table"),
        ({"leaked_clusters": 16, "empty_snapshot_tables": 1}, "emptied-snapshot-table"),
        (
            {"findings": {"refcount-too-high": 1}, "empty_snapshot_tables": 1},
            "emptied-snapshot-table",
        ),
        ({"leaked_clusters": 64, "leaks_last": 127}, "leaks-in-one-window"),
        ({"tables_with_data": 4}, "concurrent-writers"),
        ({"counted_clusters": 0}, "refcounts-all-zero"),
        ({"one_too_high": 1600}, "refcounts-one-too-high"),
        ({"dirty": True}, "not-closed"),
        ({"trailing_bytes": MIB, "file_bytes": 100 * MIB}, "junk-behind-end"),
        ({"findings": {"bitmap-in-use": 2}}, "bitmaps-in-use"),
        ({"payloads": 5, "payloads_of_other_type": 5}, "wrong-compression-type"),
    ],
)
def test_each_pattern(changed: dict[str, object], code: str) -> None:
    facts = replace(SOUND, **changed)  # type: ignore[arg-type]
    [hint] = incident_hints(facts)
    assert hint.code == code
    for text_ in (hint.sentence, hint.advice):
        assert text_[0].isupper() or text_[0].isdigit()
        assert text_.endswith(".")
        assert ".." not in text_
        assert "  " not in text_


@pytest.mark.parametrize(
    "changed",
    [
        {"findings": {"data-truncated": 1}},
        {"findings": {"leak": 3, "compressed-truncated": 1}},
        {"zero_tail": ZeroTail(MIB, data_clusters=159)},
        {"zero_tail": ZeroTail(MIB, tables=1, leaked_clusters=15)},
        {"zero_tail": ZeroTail(MIB, data_clusters=1600), "mapped_share": 1.0},
        {"leaked_clusters": 63, "leaks_last": 63},
        {"leaked_clusters": 64, "leaks_last": 128},
        {"leaked_clusters": 9000, "leaks_last": 9300},
        {"leaked_clusters": 15, "empty_tables": 1, "leaks_last": 900},
        {"leaked_clusters": 15, "l1_used": 0, "leaks_last": 900},
        {"leaked_clusters": 15, "empty_snapshot_tables": 1, "leaks_last": 900},
        {"findings": {"data-beyond-eof": 3}, "counted_end": 100 * MIB + 64 * KIB},
        {"findings": {"l1-truncated": 1}},
        {"tables_with_data": 3},
        {"tables_with_data": 9, "findings": {"structure-overlap": 1}},
        {"counted_clusters": 1},
        {"one_too_high": 1599},
        {"trailing_bytes": MIB},
        {"lazy_refcounts": True},
        {"payloads": 5, "payloads_of_other_type": 4},
    ],
)
def test_an_incomplete_pattern_says_nothing(changed: dict[str, object]) -> None:
    assert codes(replace(SOUND, **changed)) == []  # type: ignore[arg-type]


def test_only_the_surest_rule_speaks_of_lost_tables() -> None:
    facts = replace(
        SOUND, leaked_clusters=100, leaks_last=99, lost_tables=1, empty_tables=1, l1_used=0
    )
    assert codes(facts) == ["lost-l2-table"]
    assert codes(replace(facts, lost_tables=0)) == ["wiped-l1"]
    assert codes(replace(facts, lost_tables=0, l1_used=1)) == ["emptied-l2-table"]


def test_the_gravest_comes_first() -> None:
    facts = replace(
        SOUND,
        findings={"data-beyond-eof": 3, "bitmap-in-use": 1},
        counted_end=200 * MIB,
        dirty=True,
        leaked_clusters=9,
        lost_tables=1,
    )
    assert codes(facts) == ["truncated-file", "lost-l2-table", "not-closed", "bitmaps-in-use"]


def test_a_round_length_is_told() -> None:
    facts = replace(SOUND, findings={"data-beyond-eof": 3}, counted_end=200 * MIB)
    assert "multiple of" not in incident_hints(facts)[0].sentence
    rounded = replace(facts, file_bytes=96 * KIB * 2)
    assert "a multiple of 64 KiB" in incident_hints(rounded)[0].sentence


# --- on whole images


@pytest.mark.parametrize("build", [b0, s0, rich])
def test_healthy_images_have_no_hint(build: Callable[[], BuiltImage]) -> None:
    assert hints_of(build()) == {}


def test_an_image_without_a_geometry() -> None:
    assert hints_of(damage.set_field(b0(), "cluster_bits", 99)) == {}


@pytest.mark.parametrize("extended", [False, True])
def test_lost_l1_entry(extended: bool) -> None:
    """The leaks are a table and what it maps: repairing them would give the data away."""
    if extended:
        builder = ImageBuilder(cluster_bits=14, size=64 * MIB, extended_l2=True)
        for index in range(30):
            builder.write(index << 14, pattern(1 << 14, index))
        built = builder.build()
    else:
        built = filled().build()
    hints = hints_of(damage.set_l1_entry(built, 0, 0))
    assert list(hints) == ["lost-l2-table"]
    hint = hints["lost-l2-table"]
    mapped = 30 if extended else 64
    assert f"1 leaked cluster of {mapped + 1} holds an L2 table that maps {mapped} of" in (
        hint.sentence
    )
    assert "Do not repair" in hint.advice
    assert "salvage" in hint.advice


def test_lost_entry_of_compressed_clusters() -> None:
    builder = ImageBuilder(cluster_bits=9, size=256 * KIB)
    for index in range(64, 128):
        builder.write_compressed(index, text(512, index))
    hints = hints_of(damage.set_l1_entry(builder.build(), 1, 0))
    assert list(hints) == ["lost-l2-table"]
    assert "maps 64 of the others" in hints["lost-l2-table"].sentence


def test_lost_tables_of_which_a_snapshot_has_one() -> None:
    builder = filled(64)
    builder.snapshot("first")
    builder.write(64 * 512, pattern(64 * 512, 500))
    hints = hints_of(damage.set_l1_entry(builder.build(), 1, 0))
    assert list(hints) == ["lost-l2-table"]


def test_table_overwritten_with_zeros() -> None:
    built = filled().build()
    span = built.layout.l2[1]
    hints = hints_of(damage.poke(built, span.offset, bytes(span.length)))
    assert list(hints) == ["emptied-l2-table"]
    assert "64 leaked clusters" in hints["emptied-l2-table"].sentence


def test_l1_overwritten_with_zeros() -> None:
    built = filled().build()
    span = built.layout.l1
    hints = hints_of(damage.poke(built, span.offset, bytes(span.length)))
    # The tables are still there, and say more than the empty L1 does.
    assert list(hints) == ["lost-l2-table"]
    assert "hold L2 tables that map 200 of the others" in hints["lost-l2-table"].sentence


def test_l1_and_l2_tables_overwritten_with_zeros() -> None:
    built = filled().build()
    for span in (built.layout.l1, *built.layout.l2.values()):
        built = damage.poke(built, span.offset, bytes(span.length))
    assert list(hints_of(built)) == ["wiped-l1"]


def test_table_of_compressed_clusters_overwritten_with_zeros() -> None:
    """A host cluster of payloads has many references, so that few leaks tell of much data."""
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    for index in range(20):
        builder.write_compressed(index, text(4096, index))
    built = builder.build()
    span = built.layout.l2[0]
    hints = hints_of(damage.poke(built, span.offset, bytes(span.length)))
    assert list(hints) == ["emptied-l2-table"]
    assert "Do not repair" in hints["emptied-l2-table"].advice


def with_snapshot(*, rewritten: bool) -> BuiltImage:
    """A snapshot that shares 8 data clusters with the disk, and their table unless `rewritten`."""
    builder = ImageBuilder(cluster_bits=9, size=16 * KIB)
    builder.write(0, pattern(8 * 512))
    builder.snapshot("first")
    if rewritten:
        builder.write(0, pattern(512, 9))
    return builder.build()


def test_l1_of_a_snapshot_overwritten_with_zeros() -> None:
    built = with_snapshot(rewritten=True)
    offset = inspect_source(BytesSource(built.to_bytes())).snapshots[0].l1_table_offset
    hints = hints_of(damage.poke(built, offset, bytes(8)))
    assert list(hints) == ["lost-l2-table"]
    assert "a snapshot's table was probably lost" in hints["lost-l2-table"].sentence


def test_l1_of_a_snapshot_without_tables_of_its_own_overwritten_with_zeros() -> None:
    built = with_snapshot(rewritten=False)
    offset = inspect_source(BytesSource(built.to_bytes())).snapshots[0].l1_table_offset
    hints = hints_of(damage.poke(built, offset, bytes(8)))
    assert list(hints) == ["emptied-snapshot-table"]


def test_leaks_of_crashes_are_just_leaks() -> None:
    builder = filled()
    builder.leak(30)
    assert hints_of(builder.build()) == {}


def test_refcounts_all_zero() -> None:
    """Docker for Mac, BL-O11: every cluster is in use and none is counted."""
    built = filled().build()
    for span in built.layout.refcount_blocks.values():
        built = damage.poke(built, span.offset, bytes(span.length))
    hints = hints_of(built)
    assert list(hints) == ["refcounts-all-zero"]
    assert "Docker for Mac" in hints["refcounts-all-zero"].sentence


def test_refcounts_one_too_high() -> None:
    built = b0()
    for cluster in range(6):
        built = damage.set_refcount(built, cluster, 2)
    assert list(hints_of(built)) == ["refcounts-one-too-high"]
    assert hints_of(damage.set_refcount(built, 3, 1)) == {}


def test_dirty_image() -> None:
    """BL-O23: what is expected of an image that was not closed."""
    built = damage.set_refcount(damage.set_feature_bit(b0(), "incompatible_features", 0), 5, 0)
    hints = hints_of(built)
    assert list(hints) == ["not-closed"]
    assert "1 wrong refcount had to be expected" in hints["not-closed"].sentence
    lazy = hints_of(damage.set_feature_bit(built, "compatible_features", 0))
    assert "lazy refcounts" in lazy["not-closed"].sentence


@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
def test_truncated_file(share: float) -> None:
    """BL-O32."""
    built = filled().build()
    whole = len(built.to_bytes())
    hints = hints_of(damage.truncate_at(built, int(whole * share) // 512 * 512))
    assert list(hints) == ["truncated-file"]
    assert "are missing at its end" in hints["truncated-file"].sentence


def test_last_cluster_cut_short_is_no_incident() -> None:
    built = filled().build()
    assert hints_of(damage.truncate_at(built, len(built.to_bytes()) - 1)) == {}


def test_tail_of_zeros_with_tables_and_payloads() -> None:
    """An unfinished copy: the file has its length, the rest was never written."""
    builder = ImageBuilder(cluster_bits=12, size=64 * MIB)
    for index in range(600):
        builder.write_compressed(index, text(4096, index))
    data = builder.build().to_bytes()
    cut = len(data) * 3 // 4
    hints = hints_of(data[:cut] + bytes(len(data) - cut))
    assert "zero-tail" in hints
    assert "clusters of compressed data: a copy or download was probably" in (
        hints["zero-tail"].sentence
    )


def test_tail_of_zeros_with_plain_data() -> None:
    data = filled().build().to_bytes()
    cut = len(data) - 100 * 512
    hints = hints_of(data[:cut] + bytes(100 * 512))
    assert list(hints) == ["zero-tail"]
    assert "100 data clusters: a copy or download was perhaps never" in hints["zero-tail"].sentence


def test_junk_behind_the_end() -> None:
    """The image lies on a logical volume, which had other content before."""
    data = b0().to_bytes()
    volume = data + pattern(4 * MIB - len(data))
    assert list(hints_of(volume)) == ["junk-behind-end"]
    assert hints_of(data + bytes(4 * MIB - len(data))) == {}


def test_bitmaps_in_use() -> None:
    """BL-O64."""
    builder = ImageBuilder(size=MIB)
    builder.bitmap("left over", flags=1)
    assert list(hints_of(builder.build())) == ["bitmaps-in-use"]


@pytest.mark.parametrize(("compression_type", "other"), [(0, "zstd"), (1, "zlib")])
def test_wrong_compression_type(compression_type: int, other: str) -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB, compression_type=1 - compression_type)
    for index in range(20):
        builder.write_compressed(index, text(4096, index))
    built = damage.set_field(builder.build(), "compression_type", compression_type)
    hint = hints_of(built)["wrong-compression-type"]
    assert "all 20 of them are of another type" in hint.sentence
    assert f"--compression-type {other}`" in hint.advice


def test_tables_overwritten_by_data() -> None:
    """cloud-hypervisor 8606: data was put where live L2 tables are."""
    built = filled().build()
    for index, span in built.layout.l2.items():
        built = damage.set_l2_entry(built, 100 + index, 1 << 63 | span.offset)
    hints = hints_of(built)
    assert list(hints) == ["concurrent-writers"]
    assert hints["concurrent-writers"].sentence.startswith("4 clusters are a table and guest data")


def test_wrong_offsets_are_no_cut_file() -> None:
    built = damage.set_l2_entry(b0(), 0, 1 << 63 | 1 << 40)
    assert hints_of(built) == {}
    assert hints_of(damage.set_l1_entry(b0(), 0, 1 << 63 | 1 << 40)) == {}


@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
@pytest.mark.parametrize("filling", [b"\0", b"\xff"])
def test_wiped_first_cluster(cluster_bits: int, filling: bytes) -> None:
    builder = ImageBuilder(cluster_bits=cluster_bits, size=16 << cluster_bits)
    builder.write(0, pattern(100))
    data = builder.build().to_bytes()
    cluster = 1 << cluster_bits
    assert wiped_first_cluster(BytesSource(data)) is None
    hint = wiped_first_cluster(BytesSource(filling * cluster + data[cluster:]))
    assert hint is not None
    assert hint.code == "wiped-first-cluster"
    assert f"clusters of {format_size(cluster)}:" in hint.sentence
    assert "salvage" in hint.advice


def test_wiped_first_cluster_of_the_rich_image() -> None:
    hint = wiped_first_cluster(BytesSource(DAMAGES["first_cluster_wiped"].apply(rich()).to_bytes()))
    assert hint is not None


def test_files_that_never_were_images() -> None:
    data = b0().to_bytes()
    wiped = bytes(0x10000) + data[0x10000:]
    for content in (
        b"",
        bytes(4 * MIB),
        pattern(MIB),
        b"MBR" * 100000,
        wiped[:0x20004],  # cut
        damage.poke(b0(), 0x30000, bytes(8)).to_bytes()[1:],  # shifted
        wiped[:0x10000] + wiped[0x20000:],  # without its refcount table
        wiped[:0x30000] + b"\x12" * 0x10000 + wiped[0x40000:],  # another L1
    ):
        assert wiped_first_cluster(BytesSource(content)) is None


@pytest.mark.parametrize("preallocation", ["off", "metadata", "falloc", "full"])
def test_what_qemu_makes_has_no_hint(tmp_path: Path, preallocation: str) -> None:
    image = tmp_path / "disk.qcow2"
    options = f"preallocation={preallocation}"
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", "-o", options, image, "64M"], check=True
    )
    script = [argument for index in range(40) for argument in ("-c", f"write -P 7 {index}M 64k")]
    subprocess.run(["qemu-io", *script, image], check=True, stdout=subprocess.DEVNULL)
    with FileSource(image) as source:
        assert hints_of_source(source) == ()


def test_a_huge_sparse_file_is_looked_at_quickly(tmp_path: Path) -> None:
    """The end of the file is searched by the file system's map, not by reading zeros."""
    path = b0().write_to(tmp_path / "disk.qcow2")
    os.truncate(path, 1 << 40)
    with FileSource(path) as source:
        assert hints_of_source(source) == ()


def test_census_of_many_leaks_is_exact() -> None:
    builder = filled(20)
    builder.leak(5)
    builder.gap(3)
    builder.leak(7)
    built = builder.build()
    source = BytesSource(built.to_bytes())
    checked = check_image(source, token=CancelToken())
    facts = gather_facts(
        source,
        checked.image,
        groups=checked.groups,
        totals=checked.totals,
        ownership=checked.ownership,
        stored=checked.stored,
        refcounts=checked.refcounts,
        deep=checked.deep,
        token=CancelToken(),
    )
    assert facts is not None
    first, second = (span.offset // 512 for span in built.layout.leaks)
    assert facts.leaked_clusters == 12
    assert (facts.leaks_first, facts.leaks_last) == (first, second + 6)
    assert facts.counted_clusters == facts.used_clusters + 12
    assert np.count_nonzero(checked.ownership.computed) == facts.used_clusters
