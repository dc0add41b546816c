"""What the search makes of damaged images: geometry, L1 tables, order, what is lost."""

from __future__ import annotations

import random
import struct
from typing import Unpack

import pytest

from qcowgui.codec.registry import CompressionType
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, QcowError, UnsupportedError
from qcowgui.image.source import BytesSource
from qcowgui.salvage.assemble import open_candidate
from qcowgui.salvage.candidates import Candidate, Origin, Overrides, SalvageReport
from qcowgui.salvage.search import search_candidates
from tests.support.base_images import b0, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import KIB, MIB, OptionKeywords


def search(image: BuiltImage, **overrides: int) -> SalvageReport:
    source = BytesSource(image.to_bytes())
    return search_candidates(source, CancelToken(), overrides=Overrides(**overrides))  # type: ignore[arg-type]


def read_best(image: BuiltImage, **overrides: int) -> tuple[Candidate, bytes]:
    """The first candidate and all that a guest reads through it."""
    source = BytesSource(image.to_bytes())
    report = search_candidates(
        source,
        CancelToken(),
        overrides=Overrides(**overrides),  # type: ignore[arg-type]
    )
    best = report.candidates[0]
    with open_candidate(source, best) as opened:
        return best, opened.read(0, opened.size_bytes)


def filled(
    clusters: int, *, step: int = 3, compress: bool = False, **options: Unpack[OptionKeywords]
) -> ImageBuilder:
    """A disk whose every `step`-th cluster, and the last one, hold data."""
    bits = options.get("cluster_bits", 16)
    options["size"] = clusters << bits
    builder = ImageBuilder(**options)
    for index in range(0, clusters, step):
        if compress and index % 2:
            builder.write_compressed(index, text(builder.cluster_bytes, index))
        else:
            builder.write(index << bits, pattern(builder.cluster_bytes, index))
    builder.write((clusters - 1) << bits, pattern(builder.cluster_bytes, 7))
    return builder


def without_header(image: BuiltImage, filler: bytes = b"\0") -> BuiltImage:
    return image.edited(0, filler * image.layout.cluster_bytes)


def without_l1(image: BuiltImage) -> BuiltImage:
    return image.edited(image.layout.l1.offset, bytes(image.layout.l1.length))


@pytest.mark.parametrize("bits", [9, 10, 12, 16, 18, 21])
@pytest.mark.parametrize("compress", [False, True])
def test_a_wiped_first_cluster_comes_back_whole(bits: int, compress: bool) -> None:
    image = filled(300 if bits < 18 else 12, cluster_bits=bits, compress=compress).build()
    best, read = read_best(without_header(image))
    assert best.geometry.cluster_bits == bits
    assert best.origin is Origin.FOUND
    assert read == image.guest_bytes()


@pytest.mark.parametrize("order", range(7))
def test_the_width_of_the_refcounts_is_found(order: int) -> None:
    image = filled(200, cluster_bits=12, refcount_order=order).build()
    best, read = read_best(without_header(image))
    assert best.geometry.refcount_order == order
    assert best.refcount_table_offset == image.layout.refcount_table.offset
    assert read == image.guest_bytes()


@pytest.mark.parametrize("bits", [14, 16, 17])
@pytest.mark.parametrize("compress", [False, True])
def test_extended_l2_is_found(bits: int, compress: bool) -> None:
    builder = filled(100, cluster_bits=bits, extended_l2=True, compress=compress)
    builder.subclusters(1, 0b1010, 0b0101, pattern(1 << bits, 9))
    image = builder.build()
    best, read = read_best(without_header(image))
    assert best.geometry.extended_l2
    assert best.version == 3
    assert read == image.guest_bytes()


def test_extended_l2_with_nothing_but_payloads_is_found() -> None:
    builder = ImageBuilder(cluster_bits=14, size=4 * MIB, extended_l2=True)
    for index in range(100):
        builder.write_compressed(index, text(16 * KIB, index))
    image = builder.build()
    best, read = read_best(without_header(image), virtual_bytes=4 * MIB)
    assert best.geometry.extended_l2
    assert read == image.guest_bytes()


@pytest.mark.parametrize("kind", list(CompressionType))
def test_the_compression_type_is_found(kind: CompressionType) -> None:
    image = filled(120, cluster_bits=12, compress=True, compression_type=kind).build()
    best, read = read_best(without_header(image))
    assert best.compression_type is kind
    assert read == image.guest_bytes()


def test_a_first_cluster_of_foreign_bytes() -> None:
    """A guest wrote over the first 64 KiB. cloud-hypervisor 8358."""
    image = filled(120).build()
    overwritten = image.edited(0, pattern(64 * KIB, 77))
    _, read = read_best(overwritten)
    assert read == image.guest_bytes()


def test_a_disk_of_which_little_is_in_use() -> None:
    image = b0()
    best, read = read_best(without_header(image), virtual_bytes=64 * MIB)
    assert read == image.guest_bytes()
    assert best.geometry.cluster_bits == 16


def test_the_size_is_a_doubt_unless_it_is_given() -> None:
    image = without_header(b0())
    doubts = " ".join(search(image).candidates[0].undecidable)
    assert "size is not recorded" in doubts
    assert "backing file" in doubts
    doubts = " ".join(search(image, virtual_bytes=64 * MIB).candidates[0].undecidable)
    assert "size is not recorded" not in doubts


def test_snapshots_are_candidates_and_not_the_active_disk() -> None:
    image = rich(backing_file=None, backing_format=None)
    damaged = without_header(image)
    source = BytesSource(damaged.to_bytes())
    report = search_candidates(source, CancelToken())
    origins = [candidate.origin for candidate in report.candidates]
    assert origins == [Origin.FOUND, Origin.SNAPSHOT, Origin.SNAPSHOT]
    expected = [image.guest_bytes()] + [
        image.guest_bytes(snapshot=name) for name in ("first", "second")
    ]
    for candidate, content in zip(report.candidates, expected, strict=True):
        with open_candidate(source, candidate) as opened:
            assert opened.read(0, opened.size_bytes) == content


def test_a_header_that_can_be_read_is_kept() -> None:
    image = rich(backing_file=None, backing_format=None)
    best, read = read_best(image)
    assert best.origin is Origin.HEADER
    assert best.keeps_header
    assert best.score == 1.0
    assert read == image.guest_bytes()


def test_a_wiped_l1_of_a_disk_that_was_filled_from_front_to_back() -> None:
    image = filled(600, cluster_bits=12, step=1).build()
    best, read = read_best(without_l1(image))
    assert best.origin is Origin.ORDERED
    assert read == image.guest_bytes()


def test_a_wiped_l1_says_what_is_not_decidable() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    for table in (3, 1, 9, 20):
        builder.write(table * 32 * KIB, pattern(512, table))
    best = search(without_l1(builder.build())).candidates[0]
    assert any("order of their data in the file" in doubt for doubt in best.undecidable)
    assert best.score < 0.8


def test_a_snapshot_places_the_tables_of_a_wiped_l1() -> None:
    builder = ImageBuilder(cluster_bits=9, size=MIB)
    order = [9, 3, 20, 1, 14]
    for table in order:
        for index in range(0, 40, 2):
            builder.write(table * 32 * KIB + index * 512, pattern(512, table * 64 + index))
    builder.snapshot("before")
    builder.write(3 * 32 * KIB, pattern(512, 1))  # a new version of one table
    image = builder.build()
    best, read = read_best(without_l1(image))
    assert best.origin is Origin.ORDERED
    assert read == image.guest_bytes()
    assert not any("order of their data in the file" in doubt for doubt in best.undecidable)


def test_header_and_l1_gone() -> None:
    image = filled(600, cluster_bits=12, step=1).build()
    best, read = read_best(without_header(without_l1(image)))
    assert best.origin is Origin.ORDERED
    assert read == image.guest_bytes()


@pytest.mark.parametrize("filler", [bytes(4096), pattern(4096, 5)])
def test_a_lost_l2_table_costs_its_range_and_no_more(filler: bytes) -> None:
    image = filled(2000, cluster_bits=12, step=1).build()
    damaged = image.edited(image.layout.l2[1].offset, filler)
    best, read = read_best(damaged)
    coverage = 2 * MIB
    assert [(lost.start, lost.length) for lost in best.lost] == [(coverage, coverage)]
    expected = bytearray(image.guest_bytes())
    expected[coverage : 2 * coverage] = bytes(coverage)
    assert read == expected
    assert (best.whole_tables, best.lost_tables) == (3, 1)


def test_the_data_of_a_lost_l2_table_is_counted() -> None:
    image = filled(2000, cluster_bits=12, step=1).build()
    damaged = image.edited(image.layout.l2[1].offset, bytes(4096))
    orphans = search(damaged).orphans
    assert orphans.clusters == 512
    assert sum(end - start for start, end in orphans.ranges) == 2 * MIB


def test_the_payloads_of_a_lost_l2_table_are_counted() -> None:
    builder = ImageBuilder(cluster_bits=12, size=4 * MIB, compression_type=1)
    for index in range(600):
        builder.write_compressed(index, text(4096, index))
    image = builder.build()
    damaged = image.edited(image.layout.l2[0].offset, pattern(4096, 3))
    assert 500 <= search(damaged).orphans.payloads <= 512


def test_part_of_an_l2_table_overwritten() -> None:
    image = filled(2000, cluster_bits=12, step=1).build()
    table = image.layout.l2[2].offset
    damaged = image.edited(table + 1024, pattern(512, 5))
    best, read = read_best(damaged)
    start = 2 * 2 * MIB + 128 * 4096
    assert [(lost.start, lost.length) for lost in best.lost] == [(start, 64 * 4096)]
    expected = bytearray(image.guest_bytes())
    expected[start : start + 64 * 4096] = bytes(64 * 4096)
    assert read == expected


def test_lost_tables_read_as_zeros_and_not_as_the_backing_file() -> None:
    image = filled(2000, cluster_bits=12, step=2).build()
    damaged = image.edited(image.layout.l2[1].offset, pattern(4096, 5))
    source = BytesSource(damaged.to_bytes())
    best = search_candidates(source, CancelToken()).candidates[0]
    with open_candidate(source, best) as opened:
        kinds = {extent.kind.name for extent in opened.iter_extents(2 * MIB, 4 * MIB)}
        assert kinds == {"ZERO"}
        assert opened.losses is not None
        assert [(lost.start, lost.length) for lost in opened.losses.ranges()] == [
            (2 * MIB, 2 * MIB)
        ]


def test_a_truncated_file_gives_what_is_there() -> None:
    image = filled(2000, cluster_bits=12, step=1).build()
    damaged = image.resized(len(image.file) * 6 // 10)
    source = BytesSource(damaged.to_bytes())
    best = search_candidates(source, CancelToken()).candidates[0]
    assert best.origin is Origin.HEADER
    with open_candidate(source, best) as opened:
        read = opened.read(0, opened.size_bytes)
        assert opened.losses is not None
        lost = opened.losses.ranges()
    assert lost
    expected = bytearray(image.guest_bytes())
    for part in lost:
        expected[part.start : part.end] = bytes(part.length)
    assert read == expected
    assert sum(part.length for part in lost) < len(read) // 2


def test_l2_tables_that_the_l1_lost_are_offered() -> None:
    image = filled(2000, cluster_bits=12, step=1).build()
    damaged = image.edited(image.layout.l1.offset + 8, bytes(8))
    report = search(damaged)
    origins = {candidate.origin for candidate in report.candidates}
    assert origins == {Origin.HEADER, Origin.COMPLETED}
    best, read = read_best(damaged)
    assert best.origin is Origin.COMPLETED
    assert read == image.guest_bytes()


def test_qcow2_files_inside_the_guest_are_not_taken_for_tables() -> None:
    inner = filled(60, cluster_bits=12, step=1).build().to_bytes()
    builder = ImageBuilder(cluster_bits=12, size=2 * MIB)
    builder.write(64 * KIB, inner)
    builder.write(2 * MIB - 4096, pattern(4096, 1))
    image = builder.build()
    _, read = read_best(without_header(image))
    assert read == image.guest_bytes()


def test_the_users_word_counts() -> None:
    image = without_header(filled(300, cluster_bits=12).build())
    best, _ = read_best(image, cluster_bits=12, virtual_bytes=3 * MIB)
    assert best.virtual_bytes == 3 * MIB
    wrong = search(image, cluster_bits=16)
    assert all(c.geometry.cluster_bits == 16 for c in wrong.candidates)


@pytest.mark.parametrize(("offset", "byte"), [(104, 7), (79, 0x80), (23, 77), (7, 9), (35, 5)])
def test_a_header_with_impossible_fields_is_not_believed(offset: int, byte: int) -> None:
    image = filled(300, cluster_bits=12).build()
    damaged = image.edited(offset, bytes([byte]))
    report = search(damaged)
    assert "can't be believed" in report.header_state
    best, read = read_best(damaged)
    assert not best.keeps_header
    assert read == image.guest_bytes()


def test_payloads_know_better_than_the_header() -> None:
    image = filled(120, cluster_bits=12, compress=True, compression_type=1).build()
    best, read = read_best(image.edited(104, b"\0"))
    assert best.keeps_header
    assert best.compression_type is CompressionType.ZSTD
    assert read == image.guest_bytes()


@pytest.mark.parametrize("lost", [False, True])
def test_an_encrypted_image_is_found_but_not_read(lost: bool) -> None:
    image = filled(600, cluster_bits=12, step=1, crypt_method=1).build()
    if lost:
        image = without_l1(image)
    source = BytesSource(image.to_bytes())
    best = search_candidates(source, CancelToken()).candidates[0]
    assert best.whole_tables == 2
    with pytest.raises(UnsupportedError, match="encrypted"):
        open_candidate(source, best)


def test_a_data_file_is_to_be_read_by_itself() -> None:
    image = ImageBuilder(data_file="data.raw").build()
    with pytest.raises(UnsupportedError, match=r"data\.raw"):
        search(image)


@pytest.mark.parametrize("data", [b"", b"x", bytes(MIB), pattern(MIB, 1), text(MIB, 2)])
def test_nothing_is_made_of_nothing(data: bytes) -> None:
    report = search_candidates(BytesSource(data), CancelToken())
    assert report.candidates == ()
    assert "header is gone" in report.header_state


def test_cancelling_stops_the_search() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        search_candidates(BytesSource(b0().to_bytes()), token)


@pytest.mark.parametrize("seed", range(40))
def test_hostile_bytes_raise_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    if seed % 4 == 0:  # a flood of words that look like entries
        offsets = (chance.randrange(1 << 10) << chance.choice((9, 12, 16)) for _ in range(20_000))
        flags = (0, 1, 1 << 62, 1 << 63)
        data = bytearray(b"".join(struct.pack(">Q", o | chance.choice(flags)) for o in offsets))
    else:
        data = bytearray(rich(cluster_bits=chance.choice((12, 14))).to_bytes())
    for _ in range(chance.randrange(1, 30)):
        start, length = chance.randrange(len(data)), chance.choice((1, 8, 512, 4096))
        data[start : start + length] = chance.choice(
            (bytes(length), b"\xff" * length, chance.randbytes(length))
        )
    if seed % 3 == 0:
        data[:4096] = bytes(4096)
    source = BytesSource(bytes(data))
    try:
        report = search_candidates(source, CancelToken())
        for candidate in report.candidates:
            with open_candidate(source, candidate) as opened:
                opened.read(0, MIB)
    except QcowError:
        return
    assert report.file_bytes == len(data)


def test_the_l1_table_of_the_header_is_no_l2_table() -> None:
    """Its one entry names a cluster of zeros, the lost L2 table: so an L2 table would look."""
    image = filled(40, step=1).build()
    damaged = image.edited(image.layout.l2[0].offset, bytes(64 * KIB))
    report = search(damaged)
    best = report.candidates[0]
    assert best.origin is Origin.HEADER
    assert best.score == 0.0
    assert (best.whole_tables, best.lost_tables) == (0, 1)
    assert [(lost.start, lost.length) for lost in best.lost] == [(0, 40 * 64 * KIB)]
    assert best.unowned_clusters == 40
    assert not best.is_whole
    assert all(candidate.score < 0.1 for candidate in report.candidates)


@pytest.mark.parametrize("extended", [False, True])
def test_text_over_an_l2_table_never_becomes_the_guests_first_bytes(extended: bool) -> None:
    image = filled(40, step=1, extended_l2=extended).build()
    damaged = image.edited(image.layout.l2[0].offset, text(64 * KIB, 3))
    best, read = read_best(damaged)
    assert best.lost
    assert not any(read)


@pytest.mark.parametrize("bits", [1, 7, 1 << 56])
def test_flipped_reserved_bits_do_not_cost_the_l1_table(bits: int) -> None:
    image = filled(2000, cluster_bits=12).build()
    entry = int.from_bytes(image.to_bytes()[image.layout.l1.offset :][:8], "big") ^ bits
    best, read = read_best(image.edited(image.layout.l1.offset, entry.to_bytes(8, "big")))
    assert best.origin is Origin.HEADER
    assert best.is_whole
    assert any("reserved bits" in reason for reason in best.reasons)
    assert read == image.guest_bytes()


def test_an_offset_that_leads_to_an_l2_table_does_not_make_it_the_l1_table() -> None:
    image = filled(2000, cluster_bits=12).build()
    wrong = image.layout.l2[1].offset.to_bytes(8, "big")
    best, read = read_best(image.edited(40, wrong))
    assert best.origin is Origin.FOUND
    assert read == image.guest_bytes()


def test_what_is_put_together_is_never_whole() -> None:
    image = filled(600, cluster_bits=12, step=1).build()
    best, read = read_best(without_l1(image))
    assert read == image.guest_bytes()
    assert not best.lost
    assert best.guessed
    assert not best.is_whole
    assert any("put together" in sentence for sentence in best.unknown)


def test_data_that_nothing_names_lowers_the_score() -> None:
    """The first L2 tables and the L1 table are gone with the header; the others look whole."""
    image = filled(2000, cluster_bits=12, step=1).build()
    damaged = without_header(without_l1(image))
    for table in (0, 1):
        damaged = damaged.edited(image.layout.l2[table].offset, bytes(4096))
    best = search(damaged).candidates[0]
    assert best.score < 0.5
    assert best.unowned_clusters == 1024
    assert any("named by no table" in sentence for sentence in best.unknown)


def test_free_clusters_with_old_bytes_are_not_missed() -> None:
    image = filled(200, cluster_bits=12, step=1).build()
    damaged = image.resized(len(image.file) + 8192).edited(len(image.file), pattern(8192, 3))
    report = search(damaged)
    best = report.candidates[0]
    assert best.is_whole
    assert best.score == 1.0
    assert report.orphans.clusters == 2


@pytest.mark.parametrize("structure", ["refcount_table", "refcount_block"])
def test_lost_refcounts_are_no_lost_data(structure: str) -> None:
    image = filled(200, cluster_bits=12, step=1).build()
    layout = image.layout
    span = layout.refcount_table if structure == "refcount_table" else layout.refcount_blocks[0]
    best, read = read_best(image.edited(span.offset, bytes(4096)))
    assert best.is_whole
    assert read == image.guest_bytes()


def test_the_zeros_before_a_found_l1_table_may_be_part_of_it() -> None:
    builder = ImageBuilder(cluster_bits=9, size=8 * MIB)
    for table in range(64, 200):  # one cluster of an L1 table has 64 entries
        builder.write(table * 32 * KIB, pattern(512, table))
    image = builder.build()
    best = search(without_header(image)).candidates[0]
    assert best.origin is Origin.FOUND
    assert best.guessed
    assert not best.is_whole


def test_the_l2_table_of_a_lost_snapshot_is_put_back() -> None:
    builder = filled(40, step=1)
    builder.snapshot("before")
    builder.write(20 << 16, pattern(64 * KIB, 99))
    image = builder.build()
    before = image.guest_bytes(snapshot="before")
    damaged = image.edited(image.layout.snapshot_l1[0].offset, bytes(8))
    source = BytesSource(damaged.to_bytes())
    report = search_candidates(source, CancelToken())
    assert report.candidates[0].origin is Origin.HEADER
    completed, lost = report.candidates[1:]
    assert completed.origin is Origin.COMPLETED
    assert completed.of_snapshot
    assert not completed.is_whole
    with open_candidate(source, completed) as opened:
        assert opened.read(0, opened.size_bytes) == before
    assert lost.origin is Origin.SNAPSHOT
    assert lost.lost_tables == 1
    assert "nothing but zeros" in lost.lost[0].reason


def test_a_whole_snapshot_does_not_stand_in_for_the_active_disk() -> None:
    builder = filled(40, step=1)
    builder.snapshot("before")
    builder.write(20 << 16, pattern(64 * KIB, 99))
    image = builder.build()
    damaged = image.edited(image.layout.l2[0].offset, bytes(64 * KIB))
    best, snapshot = search(damaged).candidates
    assert best.origin is Origin.HEADER
    assert best.lost
    assert not best.is_whole
    assert snapshot.is_whole
