"""The test images themselves: QEMU must find nothing wrong with them, and read what was written."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import struct
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings

from tests.support import oracle
from tests.support.base_images import (
    S0_CLUSTER_BITS,
    b0,
    pattern,
    rich,
    rich_builder,
    s0,
    s0_builder,
    text,
)
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import (
    NoDamageError,
    flip_bits,
    get_field,
    get_l2_entry,
    get_refcount,
    poke,
    poke_file,
    set_refcount,
    truncate_at,
)
from tests.support.damages import DAMAGES
from tests.support.guest import OpaqueEntryError
from tests.support.options import GIB, KIB, MIB, ImageOptions, OptionKeywords
from tests.support.preamble import EXT_BACKING_FORMAT, EXT_ENCRYPTION, EXT_FEATURE_NAMES
from tests.support.sparse import SparseBytes
from tests.support.strategies import ImageCase, MutatedImage, image_cases, mutated_images

COPIED = 1 << 63


def assert_qemu_agrees(image: BuiltImage, folder: Path, *, backing: bytes = b"") -> None:
    """QEMU's check finds nothing, and it reads what the builder was told to write."""
    path = image.write_to(folder / "image.qcow2")
    result = oracle.check(path)
    assert result.is_clean, (result.report, result.messages)
    assert oracle.guest_bytes(path) == image.guest_bytes(backing=backing)
    for name in image.snapshot_disks:
        assert oracle.guest_bytes(path, snapshot=name) == image.guest_bytes(
            backing=backing, snapshot=name
        )


def mixed(options: OptionKeywords) -> ImageBuilder:
    """Every kind of guest cluster that the options allow, in up to three L2 tables."""
    builder = ImageBuilder(**options)
    cluster = builder.cluster_bytes
    last = builder.size // cluster - 1
    builder.write(0, pattern(cluster, 1))
    builder.write(2 * cluster + 100, b"in the middle")
    builder.write(last * cluster, pattern(cluster, 2))
    if builder.data_file is None:
        for index in (3, 4, 5, 6):
            builder.write_compressed(index, text(cluster - index, index))
    if builder.version >= 3:
        builder.zero(8)
        builder.zero(9, allocated=True)
    if builder.extended_l2:
        data = pattern(cluster, 3)
        builder.subclusters(10, 0x0000FFFF, 0xFF000000, data)
        builder.subclusters(11, 0, 0xAAAAAAAA, allocated=False)
        builder.subclusters(12, 0, 0, data)
    return builder


@pytest.mark.parametrize("cluster_bits", range(9, 22))
@pytest.mark.parametrize("version", [2, 3])
def test_every_cluster_size_is_clean_and_reads_right(
    tmp_path: Path, cluster_bits: int, version: int
) -> None:
    clusters = 14 if cluster_bits > 12 else 3 * (1 << cluster_bits) // 8 - 5
    builder = mixed(
        {"cluster_bits": cluster_bits, "size": clusters << cluster_bits, "version": version}
    )
    assert_qemu_agrees(builder.build(), tmp_path)


@pytest.mark.parametrize("refcount_order", range(7))
@pytest.mark.parametrize("cluster_bits", [9, 12])
def test_every_refcount_width_is_clean(
    tmp_path: Path, cluster_bits: int, refcount_order: int
) -> None:
    builder = ImageBuilder(
        cluster_bits=cluster_bits, size=700 << cluster_bits, refcount_order=refcount_order
    )
    # Enough for several refcount blocks of every width, with nothing referenced twice.
    builder.write(0, pattern(300 << cluster_bits))
    builder.write_compressed(400, pattern(256), align=1 << cluster_bits)
    image = builder.build()
    if refcount_order >= 4 and cluster_bits == S0_CLUSTER_BITS:
        assert len(image.layout.refcount_blocks) > 1
    assert_qemu_agrees(image, tmp_path)


FEATURES: dict[str, OptionKeywords] = {
    "zstd": {"compression_type": 1},
    "extended_l2": {"cluster_bits": 14, "extended_l2": True},
    "extended_l2_zstd": {"cluster_bits": 16, "extended_l2": True, "compression_type": 1},
    "header_104": {"header_length": 104},
    "header_120": {"header_tail": b"\x01\x02\x03\x04\x05\x06\x07\x08"},
    "header_136": {"header_length": 136},
    "version_2_extensions": {"version": 2, "feature_table": False, "extensions": [(7, b"seven")]},
    "no_feature_table": {"feature_table": False},
    "no_end_extension": {"feature_table": False, "end_extension": False},
    "lazy_refcounts": {"compatible": 1},
    "large_refcount_table": {"refcount_table_clusters": 4},
    "large_l1": {"l1_size": 5000},
    "moved": {
        "placement": {
            "refcount_table": 0x200000,
            "refcount_block[0]": 0x100000,
            "l1": 0x300000,
            "l2[0]": 0x110000,
        }
    },
    "data_file": {"data_file": "guest.data"},
    "data_file_raw": {"data_file": "guest.data", "data_file_raw": True},
    "short_end": {"short_last_cluster": True},
    "odd_size": {"size": 20 * 65536 + 512},
}


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_is_clean_and_reads_right(tmp_path: Path, name: str) -> None:
    defaults: OptionKeywords = {"size": 20 * 65536}
    options: OptionKeywords = {**defaults, **FEATURES[name]}
    assert_qemu_agrees(mixed(options).build(), tmp_path)


def test_an_empty_disk_and_one_of_no_size_are_clean(tmp_path: Path) -> None:
    assert_qemu_agrees(ImageBuilder(size=0).build(), tmp_path)
    assert_qemu_agrees(ImageBuilder(size=MIB).build(), tmp_path)


def test_the_rich_image_is_clean_and_lists_what_it_has(tmp_path: Path) -> None:
    backing = pattern(100_000, 9)
    (tmp_path / "base.raw").write_bytes(backing)
    image = rich()
    assert_qemu_agrees(image, tmp_path, backing=backing)
    answer = oracle.info(tmp_path / "image.qcow2")
    assert [s["name"] for s in answer["snapshots"]] == ["first", "second"]
    assert answer["snapshots"][0]["vm-state-size"] == 3 * KIB
    bitmaps = answer["format-specific"]["data"]["bitmaps"]
    assert [(b["name"], b["granularity"], b["flags"]) for b in bitmaps] == [
        ("dirty", 65536, []),
        ("fine", 512, ["auto"]),
    ]
    assert answer["backing-filename"] == "base.raw"
    assert answer["backing-filename-format"] == "raw"


@pytest.mark.parametrize("version", [2, 3])
def test_snapshots_share_clusters_until_they_are_written(tmp_path: Path, version: int) -> None:
    builder = s0_builder(version=version)
    builder.snapshot("one", vm_state=pattern(1300, 1))
    builder.write(512, pattern(512, 2))
    builder.snapshot("two")
    builder.snapshot("three", disk_size=builder.size)
    builder.write(0, pattern(512, 3))
    image = builder.build()
    assert_qemu_agrees(image, tmp_path)
    shared = image.layout.data[1].offset >> S0_CLUSTER_BITS
    # The active table, and the one that the second and the third snapshot both name.
    assert get_refcount(image, shared) == 3
    assert not get_l2_entry(image, 1) & COPIED
    assert get_l2_entry(image, 0) & COPIED


def test_a_snapshot_keeps_its_size_when_the_disk_grows(tmp_path: Path) -> None:
    builder = s0_builder()
    builder.snapshot("small")
    builder.resize(3 * MIB)
    builder.write(2 * MIB, b"new")
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert oracle.check(path).is_clean
    assert oracle.info(path)["virtual-size"] == 3 * MIB
    assert len(image.guest_bytes(snapshot="small")) == MIB


def test_data_may_lie_gigabytes_away(tmp_path: Path) -> None:
    builder = ImageBuilder()
    builder.write(0, pattern(65536), at=8 * GIB)
    image = builder.build()
    assert_qemu_agrees(image, tmp_path)
    path = tmp_path / "image.qcow2"
    assert path.stat().st_size == 8 * GIB + 65536
    assert path.stat().st_blocks * 512 < MIB
    assert sorted(image.layout.refcount_blocks) == [0, 4]


def test_a_structure_is_placed_even_if_its_need_shows_late(tmp_path: Path) -> None:
    """BL-O03: the second refcount block of 512-byte clusters, at cluster 257."""
    builder = s0_builder(placement={"refcount_block[1]": 257 * 512})
    builder.write(0, pattern(300 * 512))
    image = builder.build()
    assert image.layout.refcount_blocks[1].offset == 257 * 512
    assert_qemu_agrees(image, tmp_path)
    path = set_refcount(image, 257, 0).write_to(tmp_path / "image.qcow2")
    result = oracle.check(path)
    assert (result.exit_code, result.leaks) == (2, 0)


def test_a_host_cluster_shared_within_the_disk_has_two_references(tmp_path: Path) -> None:
    builder = s0_builder()
    builder.share(5, 0)
    image = builder.build()
    assert get_refcount(image, 5) == 2
    assert_qemu_agrees(image, tmp_path)


def test_leaks_and_gaps_are_what_qemu_calls_them(tmp_path: Path) -> None:
    builder = s0_builder()
    builder.gap(4)
    builder.leak(3)
    image = builder.build()
    result = oracle.check(image.write_to(tmp_path / "image.qcow2"))
    assert (result.exit_code, result.leaks, result.corruptions) == (3, 3, 0)
    assert [get_refcount(image, index) for index in range(13)] == [1] * 6 + [0] * 4 + [1] * 3


def test_a_payload_is_packed_behind_the_last_one_even_over_a_border(tmp_path: Path) -> None:
    builder = s0_builder()
    for index in range(1, 6):
        builder.write_compressed(index, text(512, index))
    image = builder.build()
    spans = [image.layout.payloads[index] for index in range(1, 6)]
    assert [span.offset for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert any(span.offset // 512 != (span.end - 1) // 512 for span in spans)
    assert_qemu_agrees(image, tmp_path)


@pytest.mark.parametrize(
    ("version", "wbits", "trailing", "extra_sectors", "align"),
    [(3, -15, b"", 0, 1), (2, -12, b"junk", 0, 1), (3, -12, b"", 3, 1), (3, -12, b"", 0, 64)],
)
def test_unusual_deflate_payloads_are_read_by_qemu(
    tmp_path: Path, version: int, wbits: int, trailing: bytes, extra_sectors: int, align: int
) -> None:
    builder = ImageBuilder(cluster_bits=16, size=MIB, version=version)
    for index in range(4):
        builder.write_compressed(
            index,
            text(40_000, index) + text(25_000, index),
            wbits=wbits,
            trailing=trailing,
            extra_sectors=extra_sectors,
            align=align,
        )
    image = builder.build()
    assert all(span.offset % align == 0 for span in image.layout.payloads.values())
    assert_qemu_agrees(image, tmp_path)


def test_a_32_kib_window_is_really_needed() -> None:
    half = pattern(20_000)
    builder = ImageBuilder(size=MIB)
    builder.write_compressed(0, half + half, wbits=-15)
    builder.write_compressed(1, half + half, wbits=-12)
    far, near = (builder.build().layout.payloads[index] for index in (0, 1))
    assert far.length < 21_000
    assert near.length > 40_000


@pytest.mark.parametrize(("frames", "content_size"), [(1, True), (1, False), (3, True), (5, False)])
def test_unusual_zstd_payloads_are_read_by_qemu(
    tmp_path: Path, frames: int, content_size: bool
) -> None:
    builder = ImageBuilder(size=MIB, compression_type=1)
    builder.write_compressed(1, text(65536), frames=frames, content_size=content_size)
    image = builder.build()
    stored = image.read(*image.layout.payloads[1])
    assert stored.count(zstandard.FRAME_HEADER) == frames
    declared = zstandard.get_frame_parameters(stored).content_size
    assert (declared == -(-65536 // frames)) is content_size
    assert_qemu_agrees(image, tmp_path)


@pytest.mark.parametrize("byteorder", ["big", "little"])
def test_the_unreleased_zstd_layout_has_a_length_before_the_frame(byteorder: str) -> None:
    builder = ImageBuilder(size=MIB, compression_type=1)
    builder.write_compressed(
        0, text(65536), length_prefix="big" if byteorder == "big" else "little"
    )
    image = builder.build()
    stored = image.read(*image.layout.payloads[0])
    assert struct.unpack(">I" if byteorder == "big" else "<I", stored[:4])[0] == len(stored) - 4
    assert stored[4:8] == zstandard.FRAME_HEADER


def test_a_payload_can_be_given_and_placed() -> None:
    stream = zlib.compress(b"x" * 512, wbits=-15)
    builder = s0_builder()
    builder.write_compressed(1, b"x" * 512, payload=stream, at=0x2345)
    image = builder.build()
    assert image.layout.payloads[1] == (0x2345, len(stream))
    assert image.read(0x2345, len(stream)) == stream
    # 512-byte clusters: one bit of sector count, which starts at bit 61.
    assert get_l2_entry(image, 1) == 1 << 62 | 0x2345


def test_b0_lies_where_the_cases_say() -> None:
    image = b0()
    layout = image.layout
    assert len(image.file) == 0x60000
    assert layout.refcount_table.offset == 0x10000
    assert layout.refcount_blocks[0].offset == 0x20000
    assert (layout.l1.offset, layout.l1.length) == (0x30000, 8)
    assert layout.l2[0].offset == 0x40000
    assert layout.data[0].offset == 0x50000
    assert image.read_integer(0x30000, 8) == 0x8000000000040000
    assert image.read_integer(0x40000, 8) == 0x8000000000050000
    assert image.read(0x20000, 14) == b"\x00\x01" * 6 + b"\x00\x00"
    assert image.read(0, 8) == b"QFI\xfb\x00\x00\x00\x03"
    assert image.read_integer(100, 4) == 112


def test_s0_lies_where_the_cases_say(tmp_path: Path) -> None:
    image = s0()
    layout = image.layout
    offsets = [layout.refcount_table.offset, layout.refcount_blocks[0].offset]
    offsets += [layout.l1.offset, layout.l2[0].offset, layout.data[0].offset, len(image.file)]
    assert offsets == [0x200, 0x400, 0x600, 0x800, 0xA00, 0xC00]
    assert_qemu_agrees(image, tmp_path)


def test_the_layout_names_what_is_in_the_bytes() -> None:
    image = rich()
    layout = image.layout
    assert get_field(image, "size") == 4 * MIB
    assert get_field(image, "l1_table_offset") == layout.l1.offset
    assert get_field(image, "nb_snapshots") == len(layout.snapshot_entries) == 2
    assert layout.snapshot_table is not None
    assert get_field(image, "snapshots_offset") == layout.snapshot_table.offset
    assert layout.backing_name is not None
    assert image.read(*layout.backing_name) == b"base.raw"
    extension = layout.extension(EXT_BACKING_FORMAT)
    assert image.read(extension.data_offset, extension.length) == b"raw"
    assert layout.extension(EXT_FEATURE_NAMES).length == 8 * 48
    for index, span in enumerate(layout.snapshot_entries):
        assert image.read_integer(span.offset, 8) == layout.snapshot_l1[index].offset
    for index, span in enumerate(layout.bitmap_entries):
        assert image.read_integer(span.offset, 8) == layout.bitmap_tables[index].offset
    for (index, entry), span in layout.bitmap_data.items():
        table = layout.bitmap_tables[index].offset
        assert image.read_integer(table + 8 * entry, 8) == span.offset
    for (index, l1_index), span in layout.snapshot_l2.items():
        table = layout.snapshot_l1[index].offset
        assert image.read_integer(table + 8 * l1_index, 8) == span.offset
    for guest_cluster_index, span in layout.data.items():
        assert get_l2_entry(image, guest_cluster_index) & 0x00FFFFFFFFFFFE00 == span.offset


def test_structures_do_not_overlap() -> None:
    spans = sorted(span for _, span in rich().layout.structures())
    assert all(first.end <= second.offset for first, second in itertools.pairwise(spans))


def test_a_header_field_past_the_header_is_not_there() -> None:
    assert s0(version=2).layout.header_field("snapshots_offset") == (64, 8)
    with pytest.raises(KeyError):
        s0(version=2).layout.header_field("incompatible_features")
    with pytest.raises(KeyError):
        s0(header_length=104).layout.header_field("compression_type")


def test_luks_is_recognised_by_qemu(tmp_path: Path) -> None:
    builder = ImageBuilder(size=MIB)
    builder.luks(active_slots=(0, 3))
    image = builder.build()
    answer = oracle.info(image.write_to(tmp_path / "image.qcow2"))
    encryption = answer["format-specific"]["data"]["encrypt"]
    assert answer["encrypted"] is True
    assert (encryption["format"], encryption["cipher-alg"]) == ("luks", "aes-256")
    assert (encryption["cipher-mode"], encryption["ivgen-alg"]) == ("xts", "plain64")
    assert [slot["active"] for slot in encryption["slots"]] == [
        index in (0, 3) for index in range(8)
    ]
    extension = image.layout.extension(EXT_ENCRYPTION)
    assert image.layout.luks is not None
    assert image.read_integer(extension.data_offset, 8) == image.layout.luks.offset


def test_legacy_aes_is_recognised_by_qemu(tmp_path: Path) -> None:
    answer = oracle.info(s0(crypt_method=1).write_to(tmp_path / "image.qcow2"))
    assert answer["encrypted"] is True
    assert answer["format-specific"]["data"]["encrypt"]["format"] == "aes"


def test_raw_words_are_stored_and_not_modelled() -> None:
    builder = s0_builder()
    builder.raw_l2_entry(1, 0x1234)
    builder.raw_l1_entry(3, 0x5678)
    image = builder.build()
    assert get_l2_entry(image, 1) == 0x1234
    assert image.read_integer(image.layout.l1_entry_offset(3), 8) == 0x5678
    with pytest.raises(OpaqueEntryError):
        image.guest_bytes()


def test_a_later_state_leaves_the_built_image_alone() -> None:
    builder = s0_builder()
    image = builder.build()
    before, guest = image.to_bytes(), image.guest_bytes()
    builder.write(0, b"changed")
    assert (image.to_bytes(), image.guest_bytes()) == (before, guest)
    assert builder.build().to_bytes() != before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": 2, "compression_type": 1}, "does not fit into a header"),
        ({"version": 2, "refcount_order": 5}, "16-bit"),
        ({"l1_size": 0}, "no room for L1 entry"),
        ({"header_length": 104, "header_tail": b"tail"}, "no room for the tail"),
        ({"backing_file": "x" * 600}, "exceed one cluster"),
        ({"placement": {"l3": 0x10000}}, "that the image has not"),
        ({"placement": {"l1": 0}}, "already taken"),
    ],
)
def test_what_contradicts_itself_is_refused(options: OptionKeywords, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        s0(**options)


def test_a_refcount_that_does_not_fit_is_refused() -> None:
    builder = s0_builder(refcount_order=0)
    builder.share(1, 0)
    with pytest.raises(ValueError, match="refcount 2 needs over 1 bits"):
        builder.build()


def test_zero_clusters_and_subclusters_need_their_version_and_feature() -> None:
    with pytest.raises(ValueError, match="no zero clusters"):
        s0_builder(version=2).zero(0)
    with pytest.raises(ValueError, match="extended_l2"):
        s0_builder().subclusters(0, 1)


def test_option_keywords_are_the_fields_of_the_options() -> None:
    fields = {f.name: f.type for f in dataclasses.fields(ImageOptions)}
    keywords = {name: t.__forward_arg__ for name, t in OptionKeywords.__annotations__.items()}
    assert keywords == fields


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_changes_the_image_and_no_other(name: str) -> None:
    image = rich()
    before = image.to_bytes()
    assert DAMAGES[name].apply(image).to_bytes() != before
    assert image.to_bytes() == before


@pytest.mark.parametrize(
    ("name", "exit_codes"),
    [
        ("header_magic", {1}),
        ("feature_incompatible_40", {1}),
        ("table_l1_names_itself", {2}),
        ("table_l1_copied_cleared", {2}),
        ("table_data_copied_wrong", {2}),
        ("refcount_too_low", {2}),
        ("refcount_too_high", {3}),
        ("refcount_block_missing", {2}),
        ("snapshot_extra_short", {2}),
        ("payload_copied", {2}),
        ("payload_flipped", {0}),
        ("length_at_70_percent", {1, 2}),
        ("length_trailing_junk", {0}),
    ],
)
def test_damages_are_to_qemu_what_they_say(tmp_path: Path, name: str, exit_codes: set[int]) -> None:
    (tmp_path / "base.raw").write_bytes(b"")
    path = DAMAGES[name].apply(rich()).write_to(tmp_path / "image.qcow2")
    assert oracle.check(path).exit_code in exit_codes


def test_edits_that_change_nothing_are_refused(tmp_path: Path) -> None:
    image = s0()
    path = image.write_to(tmp_path / "image.qcow2")
    for edit in (
        lambda: poke(image, 0, b"QFI"),
        lambda: poke_file(path, 0, b"QFI"),
        lambda: flip_bits(image, 0, mask=0x100),
        lambda: flip_bits(image, len(image.file)),
        lambda: truncate_at(image, len(image.file)),
        lambda: set_refcount(image, 0, 1),
    ):
        with pytest.raises(NoDamageError):
            edit()
    poke_file(path, 3, b"\x00")
    assert path.read_bytes()[:5] == b"QFI\x00\x00"


@pytest.mark.parametrize("refcount_order", range(7))
def test_a_stored_refcount_is_set_alone(refcount_order: int) -> None:
    image = s0(refcount_order=refcount_order)
    changed = set_refcount(image, 3, 0)
    assert [get_refcount(changed, index) for index in range(7)] == [1, 1, 1, 0, 1, 1, 0]


def test_sparse_bytes_are_those_of_a_plain_buffer(tmp_path: Path) -> None:
    sparse, plain = SparseBytes(), bytearray(20_000)
    for offset, data in ((4000, b"a" * 200), (8192, b"b" * 4096), (19_999, b"c"), (8200, bytes(9))):
        sparse.write(offset, data)
        plain[offset : offset + len(data)] = data
    assert sparse.to_bytes() == bytes(plain)
    assert sparse.read(3990, 9000) == plain[3990:12990]
    assert sparse.read(19_990, 100) == plain[19_990:]
    sparse.write_to(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == plain
    sparse.resize(9000)
    sparse.resize(12_000)
    assert sparse.to_bytes() == bytes(plain[:9000]) + bytes(3000)


def test_the_oracle_fails_loudly_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    oracle.tool.cache_clear()
    with pytest.raises(oracle.OracleMissingError, match="qemu-utils"):
        oracle.qemu_img("--version")


def test_the_oracle_reports_what_qemu_refuses(tmp_path: Path) -> None:
    path = tmp_path / "not an image"
    path.write_bytes(b"nothing")
    with pytest.raises(oracle.OracleError, match="not in qcow2 format"):
        oracle.info(path)


def test_the_oracle_reads_writes_and_maps(tmp_path: Path) -> None:
    path = oracle.create(tmp_path / "q.qcow2", MIB, "-o", "cluster_size=4k")
    oracle.qemu_io(path, "write -P 17 8k 4k", "write -z 64k 4k")
    extents = oracle.map_extents(path, start=0, length=16 * KIB)
    assert [(e["start"], e["length"], e["data"]) for e in extents] == [
        (0, 8192, False),
        (8192, 4096, True),
        (12288, 4096, False),
    ]
    assert oracle.guest_bytes(path)[8192:12288] == b"\x11" * 4096
    twin = oracle.convert(path, tmp_path / "twin.qcow2", target_format="qcow2")
    assert oracle.guest_sha256(twin) == oracle.guest_sha256(path)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(case=image_cases())
def test_drawn_images_are_clean_and_read_right(tmp_path: Path, case: ImageCase) -> None:
    assert_qemu_agrees(case.build(), tmp_path)


@settings(max_examples=50, deadline=None)
@given(drawn=mutated_images())
def test_drawn_mutations_change_the_bytes(drawn: MutatedImage) -> None:
    assert drawn.mutations
    assert drawn.mutated.to_bytes() != drawn.healthy.to_bytes()


def test_the_support_knows_nothing_of_the_product() -> None:
    for path in Path(oracle.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "."]
            assert not [name for name in names if name.split(".")[0] in ("qcowgui", "")], path


def test_the_rich_image_can_be_varied() -> None:
    image = rich_builder(compression_type=1).build()
    assert get_field(image, "compression_type") == 1
