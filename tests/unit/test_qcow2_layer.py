"""One qcow2 file as a layer: every kind of cluster, whole and in part, sound and damaged."""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path

import pytest

from qcowgui.errors import CorruptError, ImageError, TruncatedError
from qcowgui.image.chain import open_image
from qcowgui.image.layer import Extent, ExtentKind, LostRange
from qcowgui.image.references import AllowGate
from tests.support.base_images import b0, b0_builder, pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import get_l2_entry, poke_file, set_l2_entry, truncate_at
from tests.support.damages import DAMAGES
from tests.support.options import KIB, MIB
from tests.support.payload import LengthPrefix, deflate_stream, zstd_stream

COPIED = 1 << 63
COMPRESSED = 1 << 62
CLUSTER = 64 * KIB


def write(image: BuiltImage, folder: Path) -> Path:
    return image.write_to(folder / "image.qcow2")


def read_all(path: Path) -> bytes:
    with open_image(path, gate=AllowGate()) as image:
        return image.read(0, image.size_bytes)


def extents(path: Path, start: int = 0, end: int | None = None) -> list[Extent]:
    with open_image(path, gate=AllowGate()) as image:
        return list(image.iter_extents(start, end))


def salvage(path: Path) -> tuple[bytes, list[LostRange]]:
    with open_image(path, gate=AllowGate(), salvage=True) as image:
        data = image.read(0, image.size_bytes)
        assert image.losses is not None
        return data, image.losses.ranges()


def error_of(path: Path) -> ImageError:
    with open_image(path, gate=AllowGate()) as image, pytest.raises(ImageError) as caught:
        image.read(0, image.size_bytes)
    return caught.value


def assert_lost(path: Path, expected: bytes, start: int, length: int) -> LostRange:
    """Salvage gives `expected` with zeros in the one range that it notes."""
    data, losses = salvage(path)
    (lost,) = losses
    assert (lost.start, lost.length) == (start, length)
    assert data == expected[:start] + bytes(length) + expected[start + length :]
    return lost


# Compressed clusters


@pytest.mark.parametrize("window_bits", [-9, -12, -15])
@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
def test_deflate_of_any_window(window_bits: int, cluster_bits: int, tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=cluster_bits, size=4 << cluster_bits)
    content = text(1 << cluster_bits, 1)
    builder.write_compressed(1, content, wbits=window_bits)
    image = builder.build()
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


def test_matches_that_reach_back_over_4_kib_need_the_larger_window(tmp_path: Path) -> None:
    """Random bytes, repeated 16 KiB later, are nothing but such matches."""
    builder = b0_builder()
    content = pattern(16 * KIB) * 4
    assert len(deflate_stream(content, wbits=-15)) < 20 * KIB < len(deflate_stream(content))
    builder.write_compressed(3, content, wbits=-15)
    image = builder.build()
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


@pytest.mark.parametrize("content_size", [True, False])
@pytest.mark.parametrize("frames", [1, 2, 7])
def test_zstd_of_several_frames(frames: int, content_size: bool, tmp_path: Path) -> None:
    builder = b0_builder(compression_type=1)
    builder.write_compressed(2, text(CLUSTER), frames=frames, content_size=content_size)
    image = builder.build()
    path = write(image, tmp_path)
    assert read_all(path) == image.guest_bytes()
    with open_image(path) as opened:
        opened.read(0, MIB)
        assert opened.prerelease_seen == 0


@pytest.mark.parametrize("byte_order", ["big", "little"])
def test_prerelease_zstd_is_read_and_counted(byte_order: LengthPrefix, tmp_path: Path) -> None:
    """Each read counts, and any thread's context does."""
    builder = b0_builder(compression_type=1)
    builder.write_compressed(2, text(CLUSTER, 2), length_prefix=byte_order)
    builder.write_compressed(3, text(CLUSTER, 3), length_prefix=byte_order)
    image = builder.build()
    with open_image(write(image, tmp_path)) as opened:
        assert opened.prerelease_seen == 0
        assert opened.read(0, MIB) == image.guest_bytes()[:MIB]
        assert opened.prerelease_seen == 2
        opened.read(3 * CLUSTER, 10, opened.context())
        assert opened.prerelease_seen == 3


@pytest.mark.parametrize("compression_type", [0, 1])
@pytest.mark.parametrize("cluster_bits", [12, 16])
def test_clusters_that_a_writer_placed_in_no_order(
    cluster_bits: int, compression_type: int, tmp_path: Path
) -> None:
    """As `qemu-img convert -W` does; zstd and small clusters come in few pieces all the same."""
    cluster_bytes = 1 << cluster_bits
    builder = ImageBuilder(
        cluster_bits=cluster_bits, size=40 * cluster_bytes, compression_type=compression_type
    )
    for index in [(number * 11) % 37 for number in range(37)]:
        builder.write_compressed(index, text(cluster_bytes, index))
    image = builder.build()
    path = write(image, tmp_path)
    assert read_all(path) == image.guest_bytes()
    with open_image(path) as opened:
        context = opened.context()
        start = cluster_bytes // 2
        pieces = opened.read_pieces(start, 40 * cluster_bytes, context)
        got = b"".join(bytes(piece.data) for piece in pieces)
        assert got == image.guest_bytes()[start : 37 * cluster_bytes]
        if compression_type or cluster_bits == 12:
            assert len(opened.read_pieces(0, 37 * cluster_bytes, context)) < 20


@pytest.mark.parametrize("compression_type", [0, 1])
def test_payloads_that_cross_host_clusters(compression_type: int, tmp_path: Path) -> None:
    """At 512 bytes nearly all do; incompressible data makes them as long as they get."""
    builder = ImageBuilder(cluster_bits=9, size=128 * KIB, compression_type=compression_type)
    for index in range(0, 200, 3):
        builder.write_compressed(index, pattern(300, index))
    image = builder.build()
    spans = image.layout.payloads.values()
    assert sum(span.offset // 512 != (span.end - 1) // 512 for span in spans) > 20
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


@pytest.mark.parametrize("compression_type", [0, 1])
@pytest.mark.parametrize(("extra_sectors", "trailing"), [(4, b""), (0, b"junk" * 99), (2, b"\0")])
def test_junk_behind_the_stream(
    extra_sectors: int, trailing: bytes, compression_type: int, tmp_path: Path
) -> None:
    builder = b0_builder(compression_type=compression_type)
    builder.write_compressed(1, text(CLUSTER), extra_sectors=extra_sectors, trailing=trailing)
    builder.write_compressed(2, text(CLUSTER, 2))
    builder.write(3 * CLUSTER, pattern(CLUSTER))
    image = builder.build()
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


def test_sectors_that_reach_behind_the_file_are_no_loss(tmp_path: Path) -> None:
    """The last payload ends the file; its descriptor names whole sectors, and more."""
    builder = b0_builder(short_last_cluster=True)
    builder.write_compressed(1, text(CLUSTER), extra_sectors=9)
    image = builder.build()
    path = write(image, tmp_path)
    assert path.stat().st_size == image.layout.payloads[1].end
    assert read_all(path) == image.guest_bytes()


@pytest.mark.parametrize("compression_type", [0, 1])
def test_a_payload_cut_by_the_end_of_the_file(compression_type: int, tmp_path: Path) -> None:
    builder = b0_builder(size=8 * CLUSTER, compression_type=compression_type)
    builder.write_compressed(1, text(CLUSTER))
    image = builder.build()
    end = image.layout.payloads[1].end
    path = write(truncate_at(image, end - 100), tmp_path)
    error = error_of(path)
    assert isinstance(error, TruncatedError)
    assert (error.guest_offset, error.file_bytes) == (CLUSTER, end - 100)
    assert_lost(path, image.guest_bytes(), CLUSTER, CLUSTER)


def test_too_few_sectors_are_damage(tmp_path: Path) -> None:
    builder = b0_builder(size=8 * CLUSTER)
    builder.write_compressed(1, text(CLUSTER), extra_sectors=-1)
    builder.write_compressed(2, text(CLUSTER, 2))
    image = builder.build()
    path = write(image, tmp_path)
    error = error_of(path)
    assert isinstance(error, CorruptError)
    assert error.guest_offset == CLUSTER
    assert "can't be decoded" in error.message
    assert_lost(path, image.guest_bytes(), CLUSTER, CLUSTER)


def test_a_payload_that_gives_less_than_a_cluster(tmp_path: Path) -> None:
    builder = b0_builder(size=4 * CLUSTER)
    builder.write_compressed(1, b"", payload=deflate_stream(bytes(CLUSTER - 1)))
    assert f"{CLUSTER - 1} bytes" in error_of(write(builder.build(), tmp_path)).message


@pytest.mark.parametrize("compression_type", [0, 1])
def test_a_payload_that_claims_more_than_a_cluster_is_bounded(
    compression_type: int, tmp_path: Path
) -> None:
    """Deflate: QEMU stops when the cluster is full, and so do we. Zstd: a frame declares it."""
    bomb = bytes(64 * MIB)
    stream = zstd_stream(bomb) if compression_type else zlib_raw(bomb)
    builder = b0_builder(size=4 * CLUSTER, compression_type=compression_type)
    builder.write_compressed(1, b"", payload=stream)
    path = write(builder.build(), tmp_path)
    if compression_type:
        assert "declares" in error_of(path).message
    else:
        assert read_all(path)[CLUSTER:] == bytes(3 * CLUSTER)


def zlib_raw(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def test_reads_inside_compressed_clusters(tmp_path: Path) -> None:
    builder = b0_builder()
    for index in range(1, 5):
        builder.write_compressed(index, text(CLUSTER, index))
    image = builder.build()
    expected = image.guest_bytes()
    with open_image(write(image, tmp_path)) as opened:
        for start, length in (
            (CLUSTER, 1),
            (CLUSTER + 100, 200),
            (2 * CLUSTER - 1, 2),
            (CLUSTER + 7, 3 * CLUSTER),
            (5 * CLUSTER - 1, 10),
        ):
            assert opened.read(start, length) == expected[start : start + length]


def test_payloads_far_apart_and_out_of_order(tmp_path: Path) -> None:
    """Payloads are read in groups by host offset: gaps, backward order, one shared payload."""
    builder = ImageBuilder(cluster_bits=16, size=80 * CLUSTER)
    places = [0x40_0000, 0x12_3456, 1 << 33, 0x20_0001, 0x1000_0001]
    for index, at in enumerate(places):
        builder.write_compressed(index, text(CLUSTER, index), at=at)
    builder.share(9, 2)
    image = builder.build()
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


def test_more_payload_than_one_read_takes(tmp_path: Path) -> None:
    """Descriptors may claim up to two clusters each: 20 of 2 MiB are more than 8 MiB."""
    builder = ImageBuilder(cluster_bits=21, size=24 * 2 * MIB)
    for index in range(20):
        builder.write_compressed(index, pattern(700 * KIB, index), extra_sectors=2000)
    image = builder.build()
    assert read_all(write(image, tmp_path)) == image.guest_bytes()


# Extended L2


def extended_builder(data_file: str | None = None) -> ImageBuilder:
    """16 KiB clusters, 512-byte subclusters."""
    builder = ImageBuilder(
        cluster_bits=14, size=32 * 16 * KIB, extended_l2=True, data_file=data_file
    )
    builder.subclusters(1, 0x0000_000F, 0xF000_0000, pattern(16 * KIB, 1))
    builder.subclusters(2, 0xAAAA_AAAA, 0x5555_5555, pattern(16 * KIB, 2))
    builder.subclusters(3, 0, 0x0000_FFFF, allocated=False)
    builder.zero(4)
    builder.zero(5, allocated=True)
    builder.write(6 * 16 * KIB, pattern(16 * KIB, 6))
    return builder


def test_subclusters(tmp_path: Path) -> None:
    image = extended_builder().build()
    path = write(image, tmp_path)
    expected = image.guest_bytes()
    assert read_all(path) == expected
    with open_image(path) as opened:
        for start in range(16 * KIB - 700, 8 * 16 * KIB, 1337):
            assert opened.read(start, 3000) == expected[start : start + 3000]


def test_extents_of_subclusters(tmp_path: Path) -> None:
    image = extended_builder().build()
    host = image.layout.data[1].offset
    base = 16 * KIB
    assert extents(write(image, tmp_path), base + 100, 2 * base - 100) == [
        Extent(base + 100, 4 * 512 - 100, ExtentKind.DATA, 0, host + 100),
        Extent(base + 4 * 512, 24 * 512, ExtentKind.UNALLOCATED, 0, None)._replace(
            host_offset=extents_host(image, 1, 4)
        ),
        Extent(base + 28 * 512, 4 * 512 - 100, ExtentKind.ZERO, 0, host + 28 * 512),
    ]


def extents_host(image: BuiltImage, cluster: int, subcluster: int) -> int:
    return image.layout.data[cluster].offset + subcluster * 512


@pytest.mark.parametrize(
    ("allocated", "zero", "has_host"), [(1, 1, True), (0xFFFF_FFFF, 0, False), (4, 3, False)]
)
def test_impossible_bitmaps_are_damage(
    allocated: int, zero: int, has_host: bool, tmp_path: Path
) -> None:
    builder = extended_builder()
    image = builder.build()
    word = image.layout.data[6].offset | COPIED if has_host else 0
    path = write(set_l2_entry(image, 6, word, zero << 32 | allocated), tmp_path)
    error = error_of(path)
    assert isinstance(error, CorruptError)
    assert "bitmap" in error.message
    assert_lost(path, image.guest_bytes(), 6 * 16 * KIB, 16 * KIB)


# External data files


def test_data_file_from_its_first_byte_on(tmp_path: Path) -> None:
    builder = ImageBuilder(size=8 * CLUSTER, data_file="guest.data")
    builder.write(0, pattern(CLUSTER, 1))
    builder.write(3 * CLUSTER, pattern(2 * CLUSTER, 2))
    image = builder.build()
    path = write(image, tmp_path)
    assert read_all(path) == image.guest_bytes()
    found = extents(path)
    assert [(e.start, e.length, e.host_offset) for e in found if e.kind is ExtentKind.DATA] == [
        (0, CLUSTER, 0),
        (3 * CLUSTER, 2 * CLUSTER, 3 * CLUSTER),
    ]
    with open_image(path, gate=AllowGate()) as opened:
        assert opened.layers[0].name == str(tmp_path / "guest.data")


def test_subclusters_in_the_first_cluster_of_a_data_file(tmp_path: Path) -> None:
    """Its host offset is 0, which means no cluster everywhere else."""
    builder = extended_builder("guest.data")
    builder.subclusters(0, 0x0000_00FF, 0xFF00_0000, pattern(16 * KIB, 9))
    image = builder.build()
    path = write(image, tmp_path)
    assert read_all(path) == image.guest_bytes()
    first = extents(path)[0]
    assert first == Extent(0, 8 * 512, ExtentKind.DATA, 0, 0)


@pytest.mark.parametrize("word", [COPIED | 3 * CLUSTER, COMPRESSED | 3 * CLUSTER, COPIED])
def test_wrong_entries_with_a_data_file(word: int, tmp_path: Path) -> None:
    builder = ImageBuilder(size=8 * CLUSTER, data_file="guest.data")
    builder.write(2 * CLUSTER, pattern(CLUSTER))
    image = builder.build()
    path = write(set_l2_entry(image, 2, word), tmp_path)
    error = error_of(path)
    assert isinstance(error, CorruptError)
    assert error.guest_offset == 2 * CLUSTER
    assert_lost(path, image.guest_bytes(), 2 * CLUSTER, CLUSTER)


def test_data_file_that_is_too_short(tmp_path: Path) -> None:
    builder = ImageBuilder(size=8 * CLUSTER, data_file="guest.data")
    builder.write(6 * CLUSTER, pattern(2 * CLUSTER))
    image = builder.build()
    path = write(image, tmp_path)
    data_file = tmp_path / "guest.data"
    with data_file.open("r+b") as file:
        file.truncate(7 * CLUSTER + 1000)
    error = error_of(path)
    assert isinstance(error, TruncatedError)
    assert (error.guest_offset, error.path) == (7 * CLUSTER + 1000, str(data_file))
    assert_lost(path, image.guest_bytes(), 7 * CLUSTER + 1000, CLUSTER - 1000)


# Damage


@pytest.mark.parametrize("missing_bytes", [1, 1000, CLUSTER, CLUSTER + 5])
def test_truncated_plain_data(missing_bytes: int, tmp_path: Path) -> None:
    builder = ImageBuilder(size=8 * CLUSTER)
    builder.write(CLUSTER, pattern(3 * CLUSTER))
    image = builder.build()
    path = write(truncate_at(image, len(image.file) - missing_bytes), tmp_path)
    error = error_of(path)
    assert isinstance(error, TruncatedError)
    assert error.guest_offset == 4 * CLUSTER - missing_bytes
    assert_lost(path, image.guest_bytes(), 4 * CLUSTER - missing_bytes, missing_bytes)


def test_only_what_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    """A strict reader judges the bytes of the read, not the clusters that they lie in."""
    image = truncate_at(b0(size=4 * CLUSTER), 0x50000 + 1000)
    with open_image(write(image, tmp_path)) as opened:
        assert opened.read(0, 1000) == pattern(CLUSTER)[:1000]
        with pytest.raises(TruncatedError):
            opened.read(0, 1001)


def test_a_cut_l2_table(tmp_path: Path) -> None:
    builder = ImageBuilder(size=8 * CLUSTER, placement={"l2[0]": 1 << 20})
    builder.write(0, pattern(3 * CLUSTER))
    image = builder.build()
    path = write(truncate_at(image, (1 << 20) + 16), tmp_path)
    error = error_of(path)
    assert isinstance(error, TruncatedError)
    assert error.guest_offset == 2 * CLUSTER
    data, losses = salvage(path)
    assert data == image.guest_bytes()[: 2 * CLUSTER] + bytes(6 * CLUSTER)
    assert [(lost.start, lost.length) for lost in losses] == [(2 * CLUSTER, 6 * CLUSTER)]
    with open_image(path) as opened, pytest.raises(TruncatedError):
        list(opened.iter_extents())
    with open_image(path, salvage=True) as opened:
        kinds = [extent.kind for extent in opened.iter_extents(with_hosts=False)]
        assert kinds == [ExtentKind.DATA, ExtentKind.ZERO]
        assert opened.losses is not None
        (lost,) = opened.losses.ranges()
        assert (lost.start, lost.length) == (2 * CLUSTER, 6 * CLUSTER)


def test_a_cut_l1_table(tmp_path: Path) -> None:
    """Entries that are still there are used; the others are not taken for zeros."""
    builder = ImageBuilder(cluster_bits=9, size=MIB, placement={"l1": 1 << 20})
    builder.write(0, pattern(512))
    image = builder.build()
    path = write(truncate_at(image, (1 << 20) + 12), tmp_path)
    with open_image(path) as opened:
        assert opened.read(0, 32 * KIB) == image.guest_bytes()[: 32 * KIB]
        with pytest.raises(TruncatedError) as caught:
            opened.read(0, 32 * KIB + 1)
    assert caught.value.guest_offset == 32 * KIB
    data, losses = salvage(path)
    assert data == image.guest_bytes()
    assert sum(lost.length for lost in losses) == MIB - 32 * KIB


@pytest.mark.parametrize("word", [0x5_0200, COPIED | 0x5_0001 << 9, COPIED, COPIED | 1 << 8])
def test_entries_that_contradict_the_format(word: int, tmp_path: Path) -> None:
    image = b0(size=4 * CLUSTER)
    path = write(set_l2_entry(image, 2, word), tmp_path)
    assert isinstance(error_of(path), CorruptError)
    lost = assert_lost(path, image.guest_bytes(), 2 * CLUSTER, CLUSTER)
    assert f"{word:#018x}" in lost.reason


def test_reads_of_a_part_of_an_unusable_cluster_lose_that_part(tmp_path: Path) -> None:
    path = write(set_l2_entry(b0(size=4 * CLUSTER), 2, 0x5_0200), tmp_path)
    with open_image(path, salvage=True) as opened:
        assert opened.read(2 * CLUSTER + 100, 50) == bytes(50)
        assert opened.losses is not None
        (lost,) = opened.losses.ranges()
        assert (lost.start, lost.length) == (2 * CLUSTER + 100, 50)


def test_zero_flag_in_version_2_is_damage(tmp_path: Path) -> None:
    path = write(set_l2_entry(b0(version=2, size=4 * CLUSTER), 1, 1), tmp_path)
    assert "version 2" in error_of(path).message


def test_zero_flag_with_a_host_cluster(tmp_path: Path) -> None:
    image = b0(size=4 * CLUSTER)
    path = write(set_l2_entry(image, 0, get_l2_entry(image, 0) | 1), tmp_path)
    assert read_all(path) == bytes(4 * CLUSTER)
    assert extents(path)[0] == Extent(0, CLUSTER, ExtentKind.ZERO, 0, 0x50000)


def test_reserved_bits_do_not_change_what_is_read(tmp_path: Path) -> None:
    """As in QEMU; a check reports them."""
    image = b0(size=4 * CLUSTER)
    path = write(set_l2_entry(image, 0, get_l2_entry(image, 0) | 1 << 57 | 1 << 3), tmp_path)
    assert read_all(path) == image.guest_bytes()


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_every_named_damage_raises_only_image_errors(name: str, tmp_path: Path) -> None:
    image = DAMAGES[name].apply(rich())
    (tmp_path / "base.raw").write_bytes(pattern(MIB))
    path = write(image, tmp_path)
    with contextlib.suppress(ImageError):
        read_all(path)
    try:
        opened = open_image(path, gate=AllowGate(), salvage=True)
    except ImageError:
        return
    with opened:
        assert len(opened.read(0, opened.size_bytes)) == opened.size_bytes


# Sizes


@pytest.mark.parametrize("size", [512, 700, 65536 + 512, 3 * CLUSTER - 512])
def test_the_disk_ends_with_its_last_whole_sector(size: int, tmp_path: Path) -> None:
    builder = ImageBuilder(size=size)
    builder.write(0, pattern(size))
    path = write(builder.build(), tmp_path)
    with open_image(path) as opened:
        assert opened.size_bytes == size // 512 * 512
        assert opened.read(0, 1 << 30) == pattern(size)[: opened.size_bytes]
        assert opened.read(opened.size_bytes, 5) == b""
        assert opened.read(opened.size_bytes + 1000, 5) == b""
        assert sum(extent.length for extent in opened.iter_extents()) == opened.size_bytes


def test_data_changed_behind_our_back_is_read_as_it_is_now(tmp_path: Path) -> None:
    """Nothing of the guest's data is cached."""
    path = write(b0(size=CLUSTER), tmp_path)
    with open_image(path) as opened:
        opened.read(0, 10)
        poke_file(path, 0x50000, b"changed")
        assert opened.read(0, 7) == b"changed"
