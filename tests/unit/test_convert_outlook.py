"""What is told before a conversion starts: each concern, and that nothing is told without cause."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.convert import outlook as outlook_module
from qcowgui.convert.expected_size import expect_size
from qcowgui.convert.file_system import (
    FileSystem,
    _mounted_type,
    file_system_of,
    makes_holes,
)
from qcowgui.convert.forecast import Candidate, ForecastJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.outlook import outlook
from qcowgui.convert.warnings import Concern
from qcowgui.engine.work import CancelToken, SerialExecutor
from qcowgui.errors import Cancelled
from qcowgui.format.bitmaps import FLAG_IN_USE
from qcowgui.format.features import Compatible
from qcowgui.image.chain import open_image
from qcowgui.image.locks import UNSHARED_BASE, USED_BASE
from tests.converting import ALLOW, ConvertKeywords, convert, job, names_in
from tests.support.base_images import b0, b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import set_field, set_l1_entry, set_l2_entry
from tests.support.options import GIB, KIB, MIB, TIB

ROOMY = FileSystem("ext4", True, None, TIB, 2 * TIB)


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> list[FileSystem]:
    """The file system that targets are on, as the only element; tests may put in another one."""
    places = [ROOMY]
    monkeypatch.setattr(outlook_module, "file_system_of", lambda _: places[0])
    return places


def look(source: Path, target: Path, **keywords: object) -> tuple[Concern, ...]:
    """The concerns of a conversion, by the target's name to raw or qcow2."""
    keywords.setdefault("target_format", "raw" if target.suffix == ".raw" else "qcow2")
    options = ConvertOptions(source, target, **keywords)  # type: ignore[arg-type]
    with open_image(
        source, gate=ALLOW, snapshot=options.snapshot, salvage=options.salvage
    ) as image:
        return outlook(options, image)


def codes(concerns: tuple[Concern, ...]) -> list[tuple[str, str]]:
    return [(concern.code, concern.level) for concern in concerns]


def only(concerns: tuple[Concern, ...], code: str) -> Concern:
    [found] = [concern for concern in concerns if concern.code == code]
    return found


def stored(path: Path, size: int = 8 * MIB, *, total: int = GIB) -> Path:
    """An image of `total` bytes that stores `size` incompressible ones."""
    builder = ImageBuilder(size=total)
    builder.write(0, pattern(size))
    return builder.build().write_to(path)


# ---------------------------------------------------------------- nothing to tell


@pytest.mark.parametrize("name", ["target.raw", "target.qcow2"])
def test_a_plain_conversion_is_of_no_concern(name: str, tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    assert look(source, tmp_path / name) == ()
    assert names_in(tmp_path) == {"source.qcow2"}


def test_a_raw_source(tmp_path: Path) -> None:
    source = tmp_path / "source.raw"
    source.write_bytes(pattern(4 * MIB))
    assert look(source, tmp_path / "target.qcow2", compression="zlib") == ()


# ---------------------------------------------------------------- the target


def test_the_target_is_the_source(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    link = tmp_path / "link.raw"
    link.symlink_to(source)
    assert codes(look(source, link, overwrite=True)) == [("target-is-source", "stop")]
    hard = tmp_path / "hard.qcow2"
    os.link(source, hard)
    assert codes(look(source, hard, overwrite=True)) == [("target-is-source", "stop")]


def test_the_target_is_a_file_of_the_chain(tmp_path: Path) -> None:
    base = stored(tmp_path / "base.qcow2")
    builder = ImageBuilder(size=GIB, backing_file="base.qcow2", backing_format="qcow2")
    source = builder.build().write_to(tmp_path / "over.qcow2")
    assert ("target-is-source", "stop") in codes(look(source, base, overwrite=True))


def test_the_target_is_the_backing_file_that_it_would_keep(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    base = stored(tmp_path / "base.qcow2")
    found = look(source, base, overwrite=True, backing_file="base.qcow2", backing_format="qcow2")
    assert codes(found) == [("target-is-source", "stop")]


def test_the_target_exists(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    target = tmp_path / "target.raw"
    target.write_bytes(b"precious")
    found = only(look(source, target), "target-exists")
    assert (found.level, found.message) == ("stop", f"{target} exists already")
    assert look(source, target, overwrite=True) == ()


def test_no_place_for_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = stored(tmp_path / "source.qcow2")
    assert codes(look(source, tmp_path / "missing" / "t.raw")) == [("target-unusable", "stop")]
    assert codes(look(source, tmp_path / "source.qcow2" / "t.raw")) == [("target-unusable", "stop")]
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = only(look(source, tmp_path / "t.raw"), "target-unusable")
    assert "is not writable for you" in found.message


def test_a_disk_that_is_too_large_for_small_clusters(tmp_path: Path) -> None:
    source = ImageBuilder(size=TIB).build().write_to(tmp_path / "large.qcow2")
    assert codes(look(source, tmp_path / "t.qcow2", cluster_bytes=512)) == [
        ("disk-too-large", "stop")
    ]


# ---------------------------------------------------------------- what is lost


def rich(path: Path) -> Path:
    builder = ImageBuilder(size=GIB, compatible=Compatible.LAZY_REFCOUNTS)
    builder.snapshot("before")
    builder.bitmap("daily")
    builder.bitmap("open", flags=FLAG_IN_USE)
    return builder.build().write_to(path)


def test_metadata_that_is_lost(tmp_path: Path) -> None:
    source = rich(tmp_path / "rich.qcow2")
    found = look(source, tmp_path / "t.qcow2")
    assert codes(found) == [
        ("snapshots-lost", "warning"),
        ("bitmaps-lost", "warning"),
        ("lazy-refcounts-lost", "note"),
    ]
    assert "--snapshots" in found[0].hint
    assert found[1].message == 'Bitmaps are not carried over: "daily", "open".'
    assert "--bitmaps" in found[1].hint


def test_what_is_carried_is_of_no_concern(tmp_path: Path) -> None:
    source = rich(tmp_path / "rich.qcow2")
    found = look(
        source, tmp_path / "t.qcow2", bitmaps=True, snapshots_kept=True, lazy_refcounts=True
    )
    assert codes(found) == [("bitmaps-lost", "warning")]
    assert found[0].message.endswith(
        'not saved cleanly, so that their bits can\'t be believed: "open".'
    )


def test_readers_of_the_result(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    found = look(source, tmp_path / "t.qcow2", compression="zstd", extended_l2=True)
    assert codes(found) == [("zstd-readers", "note"), ("extended-l2-readers", "note")]


def test_backing_and_data_files_become_part_of_the_result(tmp_path: Path) -> None:
    stored(tmp_path / "base.qcow2", MIB)
    builder = ImageBuilder(size=GIB, backing_file="base.qcow2", backing_format="qcow2")
    over = builder.build().write_to(tmp_path / "over.qcow2")
    found = only(look(over, tmp_path / "t.qcow2"), "backing-flattened")
    assert found.message == (
        "The result holds the whole disk, and no longer needs the source's 1 backing file."
    )
    assert "--keep-backing" in found.hint
    assert look(over, tmp_path / "t.qcow2", keep_backing=True) == ()
    (tmp_path / "data.raw").write_bytes(bytes(MIB))
    outside = ImageBuilder(size=MIB, data_file="data.raw").build()
    path = outside.write_to(tmp_path / "outside.qcow2")
    assert codes(look(path, tmp_path / "t.qcow2")) == [("data-file-merged", "note")]


def test_damage_stops_it_unless_it_salvages(tmp_path: Path) -> None:
    image = set_l1_entry(b0(), 0, 1 << 63 | 0x30200)
    source = image.write_to(tmp_path / "damaged.qcow2")
    found = only(look(source, tmp_path / "t.raw"), "source-damaged")
    assert found.level == "stop"
    assert "salvaging" in found.hint
    assert codes(look(source, tmp_path / "t.raw", salvage=True)) == []


@pytest.mark.parametrize("entry", [1 << 63 | 0x4000_0000, 1 << 62 | 0x4000_0000])
def test_a_file_that_is_cut_short_stops_it_unless_it_salvages(entry: int, tmp_path: Path) -> None:
    """What the tables say is sound, and reading fails all the same."""
    image = set_l2_entry(b0(), 3, entry)
    source = image.write_to(tmp_path / "cut.qcow2")
    found = only(look(source, tmp_path / "t.raw"), "source-damaged")
    assert found.level == "stop"
    assert "guest offset 0x3_0000 lies at host offset 0x4000_0000" in found.message
    assert codes(look(source, tmp_path / "t.raw", salvage=True)) == []


def test_an_overlay_hides_where_its_backing_file_is_cut_short(tmp_path: Path) -> None:
    set_l2_entry(b0(), 0, 1 << 63 | 0x4000_0000).write_to(tmp_path / "base.qcow2")
    builder = b0_builder(backing_file="base.qcow2", backing_format="qcow2")
    overlay = builder.build().write_to(tmp_path / "overlay.qcow2")
    assert codes(look(overlay, tmp_path / "t.raw")) == [("backing-flattened", "note")]


def test_a_corrupt_mark_comes_before_notes(tmp_path: Path) -> None:
    image = set_field(b0(), "incompatible_features", 2)
    found = look(image.write_to(tmp_path / "c.qcow2"), tmp_path / "t.qcow2", compression="zstd")
    assert codes(found) == [("source-corrupt", "warning"), ("zstd-readers", "note")]


# ---------------------------------------------------------------- the source in use


@contextmanager
def held_by_qemu(path: Path, permission: int, base: int = USED_BASE) -> Iterator[None]:
    """The lock that QEMU holds of an image it may write (permission 1) or reads (0)."""
    fd = os.open(path, os.O_RDWR)
    try:
        request = struct.pack("@hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, base + permission, 1, 0)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, request)
        yield
    finally:
        os.close(fd)


def test_a_source_in_use(tmp_path: Path) -> None:
    base = stored(tmp_path / "base.qcow2", MIB)
    builder = ImageBuilder(size=GIB, backing_file="base.qcow2", backing_format="qcow2")
    source = builder.build().write_to(tmp_path / "over.qcow2")
    for path in (source, base):
        with held_by_qemu(path, 1):
            found = only(look(source, tmp_path / "t.raw"), "source-in-use")
            assert found.level == "warning"
            assert found.message.startswith(f"{path} is in use: a virtual machine")
    with held_by_qemu(source, 0, UNSHARED_BASE):  # somebody reads it: it stays as it is
        assert "source-in-use" not in dict(codes(look(source, tmp_path / "t.raw")))
    with source.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "flock" in only(look(source, tmp_path / "t.raw"), "source-in-use").message


# ---------------------------------------------------------------- size


def compressed(path: Path, clusters: int = 100) -> Path:
    builder = ImageBuilder(size=GIB)
    for index in range(clusters):
        builder.write_compressed(index, text(64 * KIB, index))
    builder.write(clusters * 64 * KIB, pattern(10 * 64 * KIB))
    return builder.build().write_to(path)


def test_a_compressed_source_grows(tmp_path: Path) -> None:
    source = compressed(tmp_path / "small.qcow2")
    for target, size in (("t.raw", "6.88 MiB"), ("t.qcow2", "7.19 MiB")):
        found = only(look(source, tmp_path / target), "grows")
        assert found.level == "warning"
        assert found.message == (
            "91% of what the source stores is compressed; without compression expect "
            f"{size} instead of 4.14 MiB."
        )
    assert "grows" not in dict(codes(look(source, tmp_path / "t.qcow2", compression="zlib")))


@pytest.mark.parametrize(
    "keywords",
    [
        {"cluster_bytes": 4 * KIB, "refcount_bits": 64},
        {"cluster_bytes": 64 * KIB},
        {"cluster_bytes": 64 * KIB, "extended_l2": True},
        {"cluster_bytes": 2 * MIB},
        {"cluster_bytes": 4 * KIB, "preallocation": "falloc"},
    ],
)
def test_the_expected_size_is_that_of_the_result(keywords: ConvertKeywords, tmp_path: Path) -> None:
    source, target = compressed(tmp_path / "small.qcow2"), tmp_path / "target.qcow2"
    options = job(source, target, **keywords).options
    with open_image(source) as image:
        expected = expect_size(options, image, CancelToken())
    assert expected.compressed_bytes == 100 * 64 * KIB
    assert expected.stored_bytes == 110 * 64 * KIB
    result = convert(source, target, **keywords)
    assert expected.expected_bytes == expected.most_bytes == result.target_bytes
    if "preallocation" in keywords:
        assert expected.length_bytes == expected.reserved_bytes == result.target_bytes


def test_a_forecast_says_what_compression_saves(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2", 4 * MIB)
    options = ConvertOptions(
        source, tmp_path / "t.qcow2", target_format="qcow2", compression="zstd", level=1
    )
    with open_image(source) as image:
        forecast = ForecastJob(image, [Candidate("zstd", 1, 64 * KIB)]).run(SerialExecutor())
        token = CancelToken()
        with_it = expect_size(options, image, token, forecast)
        assert with_it.expected_bytes is not None
        assert abs(with_it.expected_bytes - 4.5 * MIB) < MIB
        assert expect_size(options, image, token).expected_bytes is None
        for other in (
            replace(options, level=2),
            replace(options, compression="zlib"),
            replace(options, cluster_bytes=4 * KIB),
            replace(options, keep_backing=True),
        ):
            assert expect_size(other, image, token, forecast).forecast is None
        default = replace(options, level=None)  # which is not 1
        assert expect_size(default, image, token, forecast).forecast is None


def test_flattening_a_chain_grows(tmp_path: Path) -> None:
    stored(tmp_path / "base.qcow2", 8 * MIB)
    builder = ImageBuilder(size=GIB, backing_file="base.qcow2", backing_format="qcow2")
    source = builder.build().write_to(tmp_path / "over.qcow2")
    found = only(look(source, tmp_path / "t.qcow2"), "grows")
    assert found.message.startswith("100% of the disk's data lies in backing files: expect 8")
    assert "grows" not in dict(codes(look(source, tmp_path / "t.qcow2", keep_backing=True)))


def test_what_another_backing_file_saves_is_not_known(tmp_path: Path) -> None:
    source = compressed(tmp_path / "small.qcow2")
    found = look(source, tmp_path / "t.qcow2", backing_file="b.raw", backing_format="raw")
    assert "grows" not in dict(codes(found))


def test_larger_clusters_grow(tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=GIB)
    for index in range(100):
        builder.write(index * 8 * MIB, pattern(4 * KIB, index))
    source = builder.build().write_to(tmp_path / "thin.qcow2")
    found = only(look(source, tmp_path / "t.qcow2", cluster_bytes=2 * MIB), "grows")
    assert found.message.startswith("The result will be larger than the source: expect 2")


def test_looking_can_be_cancelled(tmp_path: Path) -> None:
    source = stored(tmp_path / "source.qcow2")
    token = CancelToken()
    token.cancel()
    with open_image(source) as image, pytest.raises(Cancelled):
        outlook(ConvertOptions(source, tmp_path / "t.raw"), image, token=token)


# ---------------------------------------------------------------- the place


def test_a_file_system_without_holes(tmp_path: Path, place: list[FileSystem]) -> None:
    source = stored(tmp_path / "source.qcow2")
    place[0] = FileSystem("exfat", False, None, TIB, TIB)
    found = only(look(source, tmp_path / "t.raw"), "no-holes")
    assert found.message == (
        "The file system there (exfat) has no holes: the result will take all of its 1 GiB, "
        "although the source stores only 8 MiB."
    )
    assert codes(look(source, tmp_path / "t.raw")) == [("no-holes", "warning")]
    assert look(source, tmp_path / "t.qcow2") == ()
    place[0] = FileSystem("vfat", False, 4 * GIB - 1, 900 * MIB, TIB)
    assert codes(look(source, tmp_path / "t.raw")) == [
        ("too-little-space", "stop"),
        ("no-holes", "warning"),
    ]


def test_files_that_are_too_long_for_fat(tmp_path: Path, place: list[FileSystem]) -> None:
    place[0] = FileSystem("vfat", False, 4 * GIB - 1, TIB, TIB)
    short = stored(tmp_path / "short.qcow2", MIB, total=4 * GIB - 512)
    long = stored(tmp_path / "long.qcow2", MIB, total=4 * GIB)
    assert codes(look(short, tmp_path / "t.raw")) == [("no-holes", "warning")]
    for source in (short, long):
        assert look(source, tmp_path / "t.qcow2") == ()
    found = only(look(long, tmp_path / "t.raw"), "file-too-long")
    assert (found.level, found.message) == (
        "stop",
        "The file system there (vfat) takes no file of 4 GiB or more; the result has 4 GiB.",
    )


def test_a_qcow2_file_that_may_be_too_long(tmp_path: Path, place: list[FileSystem]) -> None:
    source = stored(tmp_path / "source.qcow2", 8 * MIB)
    place[0] = FileSystem("vfat", False, 4 * MIB - 1, TIB, TIB)
    for keywords in ({}, {"compression": "zlib"}):
        assert only(look(source, tmp_path / "t.qcow2", **keywords), "file-too-long").level == (
            "warning"
        )
    options = ConvertOptions(
        source, tmp_path / "t.qcow2", target_format="qcow2", compression="zstd", level=1
    )
    with open_image(source) as image:
        forecast = ForecastJob(image, [Candidate("zstd", 1, 64 * KIB)]).run(SerialExecutor())
        found = outlook(options, image, forecast=forecast)
    assert only(found, "file-too-long").level == "stop"  # patterns don't compress


def test_too_little_space(tmp_path: Path, place: list[FileSystem]) -> None:
    source = stored(tmp_path / "source.qcow2", 8 * MIB)
    place[0] = FileSystem("ext4", True, None, 5 * MIB, TIB)
    raw = only(look(source, tmp_path / "t.raw"), "too-little-space")
    assert raw == Concern(
        "too-little-space",
        "warning",
        "The result may take up to 8 MiB, and 5 MiB are free.",
        "choose a place with more",
    )
    full = only(look(source, tmp_path / "t.raw", sparse_bytes=0), "too-little-space")
    assert (full.level, full.message) == ("stop", "The result takes 1 GiB, and 5 MiB are free.")
    packed = only(look(source, tmp_path / "t.qcow2", compression="zlib"), "too-little-space")
    assert packed.level == "note"
    assert "before compression" in packed.message
    place[0] = FileSystem("nfs", None, None, None, None)
    assert look(source, tmp_path / "t.raw") == ()


def test_a_length_that_fits_with_its_holes_only(
    tmp_path: Path, place: list[FileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ImageBuilder(size=TIB).build().write_to(tmp_path / "large.qcow2")
    place[0] = FileSystem("ext4", True, None, GIB, GIB)
    usage = type("usage", (), {"total": GIB, "used": 0, "free": GIB})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert codes(look(source, tmp_path / "t.raw")) == [("fits-with-holes-only", "note")]


# ---------------------------------------------------------------- file systems

MOUNTS = rb"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
29 27 0:30 / /dev/shm rw - tmpfs tmpfs rw,size=1k
30 27 8:17 / /media/My\040Stick rw,nosuid shared:7 - vfat /dev/sdb1 rw
31 30 8:18 / /media/My\040Stick/deep rw - exfat /dev/sdb2 rw
32 27 8:19 / /over rw - xfs /dev/a rw
33 27 8:20 / /over rw - btrfs /dev/b rw
broken line
34 27 8:21 / /tail\134 rw - ntfs3 /dev/c rw
"""


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/", "ext4"),
        ("/home/me", "ext4"),
        ("/dev/shmoo", "ext4"),
        ("/dev/shm", "tmpfs"),
        ("/media/My Stick/a b", "vfat"),
        ("/media/My Stick/deep", "exfat"),
        ("/media/My Stick/deeper", "vfat"),
        ("/over/x", "btrfs"),
        ("/tail\\", "ntfs3"),
    ],
)
def test_the_type_of_a_mounted_file_system(folder: str, name: str) -> None:
    assert _mounted_type(folder, MOUNTS) == name


def test_no_list_of_mounts() -> None:
    assert _mounted_type("/", b"") == ""


def test_this_machine(tmp_path: Path) -> None:
    found = file_system_of(tmp_path)
    assert found.name
    assert found.free_bytes is not None
    assert found.total_bytes is not None
    assert 0 < found.free_bytes <= found.total_bytes
    assert makes_holes(tmp_path) is found.has_holes
    assert names_in(tmp_path) == set()
    assert makes_holes(tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("name", "holes", "most"),
    [
        ("vfat", False, 4 * GIB - 1),
        ("exfat", False, None),
        ("ext4", True, None),
        ("", None, None),
    ],
)
def test_what_a_type_means(
    name: str, holes: bool | None, most: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = b"27 1 254:0 / / rw - %s /dev/x rw\n" % name.encode()
    monkeypatch.setattr("qcowgui.convert.file_system._read_mounts", lambda: mounts)
    found = file_system_of(tmp_path)
    assert (found.name, found.has_holes, found.max_file_bytes) == (name, holes, most)
