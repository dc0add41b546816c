"""Real cases of reading guest data, whole chains and snapshots."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qcowgui.errors import (
    CorruptError,
    ImageError,
    ReferencedFileError,
    TruncatedError,
    UnsupportedError,
)
from qcowgui.image.chain import open_image
from qcowgui.image.inspect import inspect
from qcowgui.image.layer import Extent, ExtentKind
from qcowgui.image.references import AllowGate, AskGate, Reference, resolve_reference
from qcowgui.image.source import FileSource
from qcowgui.image.summary import MappingSummary, summarise_mapping
from tests.support.base_images import b0, b0_builder, pattern, text
from tests.support.builder import ImageBuilder
from tests.support.damage import (
    flip_bits,
    set_feature_bit,
    set_field,
    set_l2_entry,
    truncate_at,
)
from tests.support.options import GIB, KIB, MIB
from tests.support.records import BITMAP_DIRTY_TRACKING

CLUSTER = 64 * KIB
COPIED = 1 << 63
U, Z, D, C = ExtentKind.UNALLOCATED, ExtentKind.ZERO, ExtentKind.DATA, ExtentKind.COMPRESSED


def summarise(path: Path) -> MappingSummary:
    with FileSource(path) as source:
        return summarise_mapping(source, inspect(path))


def read_all(path: Path) -> bytes:
    with open_image(path, gate=AllowGate()) as image:
        return image.read(0, image.size_bytes)


def kinds(path: Path) -> list[tuple[int, ExtentKind]]:
    with open_image(path, gate=AllowGate()) as image:
        return [(extent.start, extent.kind) for extent in image.iter_extents(with_hosts=False)]


def write_overlay(
    path: Path, backing: str, backing_format: str | None, *, size: int = 4 * CLUSTER
) -> Path:
    builder = ImageBuilder(size=size, backing_file=backing, backing_format=backing_format)
    return builder.build().write_to(path)


def test_a_data_cluster_at_8_gib(tmp_path: Path) -> None:
    """BL-O10: valid; the end offset is told, and neither map nor read walks the gap."""
    builder = ImageBuilder()
    builder.write(0, pattern(CLUSTER), at=8 * GIB)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    summary = summarise(path)
    assert summary.host_end_offset == 8 * GIB + CLUSTER
    assert (summary.stored_clusters, summary.findings()) == (1, [])
    with open_image(path) as image:
        assert next(image.iter_extents()) == Extent(0, CLUSTER, D, 0, 8 * GIB)
        assert image.read(0, CLUSTER) == pattern(CLUSTER)


def test_data_on_the_refcount_block(tmp_path: Path) -> None:
    """BL-O13: reading the contested cluster is possible: it gives the block's bytes."""
    image = set_l2_entry(b0(), 0, COPIED | 0x20000)
    path = image.write_to(tmp_path / "image.qcow2")
    with open_image(path) as opened:
        assert opened.read(0, CLUSTER) == image.read(0x20000, CLUSTER)


@pytest.mark.parametrize("compression_type", [0, 1])
def test_a_broken_payload(compression_type: int, tmp_path: Path) -> None:
    """BL-O14: metadata is clean; a read names the guest offset, salvage the range.

    Neither format has checksums here: some flips only decode to other bytes.
    """
    builder = b0_builder(size=4 * CLUSTER, compression_type=compression_type)
    builder.write_compressed(2, text(CLUSTER))
    image = builder.build()
    span = image.layout.payloads[2]
    path = tmp_path / "image.qcow2"
    noticed = 0
    for offset in range(span.offset, span.end - 8, span.length // 16):
        damaged = flip_bits(image, offset, 8)
        damaged.write_to(path)
        assert inspect(path).findings == ()
        assert summarise(path).findings() == []
        with open_image(path, salvage=True) as opened:
            data = opened.read(0, 4 * CLUSTER)
            assert opened.losses is not None
            losses = [(lost.start, lost.length) for lost in opened.losses.ranges()]
        assert data[: 2 * CLUSTER] == image.guest_bytes()[: 2 * CLUSTER]
        assert losses in ([], [(2 * CLUSTER, CLUSTER)])
        noticed += len(losses)
        if losses:
            with open_image(path) as opened, pytest.raises(CorruptError) as caught:
                opened.read(0, 4 * CLUSTER)
            assert caught.value.guest_offset == 2 * CLUSTER
        assert path.read_bytes() == damaged.to_bytes()
    assert noticed


def test_an_overlay_without_its_base(tmp_path: Path) -> None:
    """BL-O16: what exists is read, what was in the base is unknown and never shown as zeros."""
    builder = ImageBuilder(backing_file="deleted.qcow2", backing_format="qcow2")
    for index in range(0, 100, 10):
        builder.write(index * CLUSTER, pattern(CLUSTER, index))
    path = builder.build().write_to(tmp_path / "overlay.qcow2")
    with pytest.raises(ReferencedFileError) as missing:
        open_image(path, gate=AllowGate())
    assert missing.value.reason == "missing"
    with open_image(path, follow=False) as image:
        own = [extent.start for extent in image.iter_extents() if extent.kind is D]
        assert own == [index * CLUSTER for index in range(0, 100, 10)]
        for start in own:
            assert image.read(start, CLUSTER) == pattern(CLUSTER, start // CLUSTER)
        with pytest.raises(ImageError, match="which was not opened"):
            image.read(CLUSTER, 1)
    with open_image(path, follow=False, salvage=True) as image:
        image.read(0, image.size_bytes)
        assert image.losses is not None
        lost = image.losses.ranges()
        assert sum(each.length for each in lost) == (1024 - 10) * CLUSTER
        assert {each.reason for each in lost} == {
            "data is left to the backing file 'deleted.qcow2', which was not opened"
        }


def test_not_closed_cleanly(tmp_path: Path) -> None:
    """BL-O23: a reader uses no refcounts, so stale ones don't matter to it."""
    image = set_feature_bit(b0(), "incompatible_features", 0)
    image = image.edited(image.layout.refcount_blocks[0].offset, bytes(CLUSTER))
    path = image.write_to(tmp_path / "image.qcow2")
    assert read_all(path) == image.guest_bytes()
    assert any(feature.bit == 0 and feature.is_set for feature in inspect(path).features)


def test_an_l1_of_no_entries(tmp_path: Path) -> None:
    """BL-O30: refused, not a disk full of zeros."""
    builder = b0_builder()
    builder.snapshot("kept")
    image = builder.build()
    path = set_field(image, "l1_size", 0).write_to(tmp_path / "image.qcow2")
    with pytest.raises(CorruptError, match="0 entries"):
        open_image(path)


def test_a_partial_download(tmp_path: Path) -> None:
    """BL-O32: known from metadata alone; reading refuses unless it may fill with zeros."""
    builder = ImageBuilder()
    builder.write(0, pattern(300 * CLUSTER))
    image = builder.build()
    path = truncate_at(image, len(image.file) * 7 // 10).write_to(tmp_path / "image.qcow2")
    (finding,) = summarise(path).findings()
    assert finding.code == "file-shorter-than-image"
    assert "cut short" in finding.message
    assert "of 300 stored clusters (30." in finding.message
    with pytest.raises(TruncatedError):
        read_all(path)
    with open_image(path, salvage=True) as opened:
        data = opened.read(0, opened.size_bytes)
        assert opened.losses is not None
        (lost,) = opened.losses.ranges()
    assert lost.start == len(image.file) * 7 // 10 - image.layout.data[0].offset
    assert lost.start + lost.length == 300 * CLUSTER
    assert data[: lost.start] == image.guest_bytes()[: lost.start]
    assert data[lost.start :] == bytes(64 * MIB - lost.start)


def test_a_download_that_ends_in_the_l2_table(tmp_path: Path) -> None:
    """BL-O32: what the rest of the table mapped can't even be counted, and that is said."""
    builder = ImageBuilder()
    builder.write(0, pattern(300 * CLUSTER))
    image = builder.build()
    path = truncate_at(image, image.layout.l2[0].offset + 800).write_to(tmp_path / "image.qcow2")
    summary = summarise(path)
    assert [finding.code for finding in summary.findings()] == [
        "file-shorter-than-image",
        "l2-truncated",
    ]
    assert (summary.cut_clusters, summary.unmapped_clusters) == (100, 924)
    with pytest.raises(TruncatedError):
        read_all(path)


def test_a_table_of_zero_flags(tmp_path: Path) -> None:
    """BL-O45: the value 1 is a flag, not an offset."""
    builder = ImageBuilder(size=8 * MIB)
    for index in range(128):
        builder.raw_l2_entry(index, 1)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert read_all(path) == bytes(8 * MIB)
    assert kinds(path) == [(0, Z)]


def test_zeros_over_a_backing_file(tmp_path: Path) -> None:
    """BL-O46: a zeroed cluster hides what is below it."""
    (tmp_path / "base.raw").write_bytes(b"\x11" * 4 * CLUSTER)
    builder = ImageBuilder(size=4 * CLUSTER, backing_file="base.raw", backing_format="raw")
    builder.raw_l2_entry(0, 1)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert read_all(path) == bytes(CLUSTER) + b"\x11" * 3 * CLUSTER
    assert kinds(path) == [(0, Z), (CLUSTER, D)]


def test_entries_without_a_cluster(tmp_path: Path) -> None:
    """BL-O47: an empty entry reads as zeros; one that is allocated at offset 0 is damage."""
    builder = ImageBuilder(size=6 * CLUSTER)
    for index in (0, 2, 4):
        builder.write(index * CLUSTER, pattern(CLUSTER, index))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert read_all(path) == image.guest_bytes()
    set_l2_entry(image, 1, COPIED).write_to(path)
    with pytest.raises(CorruptError, match="at offset 0, where the header is") as caught:
        read_all(path)
    assert caught.value.guest_offset == CLUSTER


def test_compressed_clusters_after_plain_ones(tmp_path: Path) -> None:
    """BL-O48: they are read, and their number is known before one is touched."""
    builder = ImageBuilder()
    builder.write(0, pattern(9 * CLUSTER))
    for index in range(9, 40):
        builder.write_compressed(index, text(CLUSTER, index))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert summarise(path).compressed_clusters == 31
    assert read_all(path) == image.guest_bytes()
    assert kinds(path) == [(0, D), (9 * CLUSTER, C), (40 * CLUSTER, U)]


def test_zstd(tmp_path: Path) -> None:
    """BL-O49: type 1 with its bit is read; without the bit, and type 2, it is refused."""
    builder = b0_builder(compression_type=1)
    builder.write_compressed(1, text(CLUSTER))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert read_all(path) == image.guest_bytes()
    set_field(image, "incompatible_features", 0).write_to(path)
    with pytest.raises(ImageError) as contradiction:
        open_image(path)
    assert inspect(path).mapping_refusals[0].code == "compression-type-bit"
    assert contradiction.value.path == str(path)
    set_field(image, "compression_type", 2).write_to(path)
    with pytest.raises(UnsupportedError, match="2"):
        open_image(path)


@pytest.mark.parametrize("base_format", ["raw", "qcow2"])
def test_an_overlay_larger_than_its_base(base_format: str, tmp_path: Path) -> None:
    """BL-O51: zeros behind the base's end, also in the cluster that it fills in part."""
    content = pattern(MIB + 512)
    if base_format == "raw":
        (tmp_path / "base").write_bytes(content)
    else:
        builder = ImageBuilder(size=MIB + 512)
        builder.write(0, content)
        builder.build().write_to(tmp_path / "base")
    path = write_overlay(tmp_path / "top.qcow2", "base", base_format, size=2 * MIB)
    assert read_all(path) == content + bytes(MIB - 512)
    with open_image(path, gate=AllowGate()) as image:
        assert image.read(MIB, 1024) == content[MIB:] + bytes(512)


def test_a_qcow2_base_without_a_recorded_format(tmp_path: Path) -> None:
    """BL-O52: its own format is honoured, and the chain shows that it was a guess."""
    base = b0(size=4 * CLUSTER)
    base.write_to(tmp_path / "base")
    path = write_overlay(tmp_path / "top.qcow2", "base", None)
    assert read_all(path) == base.guest_bytes()
    with open_image(path, gate=AllowGate()) as image:
        bottom = image.chain[1]
        assert (bottom.format, bottom.format_guessed) == ("qcow2", True)
        assert bottom.size_bytes == 4 * CLUSTER


def test_two_internal_snapshots(tmp_path: Path) -> None:
    """BL-O53: each gives its own pattern, whatever VM state it has; a name may be another's id."""
    builder = ImageBuilder(size=4 * CLUSTER)
    builder.write(0, b"\x11" * 4 * CLUSTER)
    builder.snapshot("2", vm_state=pattern(5 * CLUSTER))
    builder.write(0, b"\x22" * 4 * CLUSTER)
    builder.snapshot("second", vm_state=pattern(100))
    builder.write(0, b"\x33" * 4 * CLUSTER)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    found = {}
    for wanted in ("1", "2", "second", "snapshot.name=2"):
        with open_image(path, snapshot=wanted) as image:
            data = image.read(0, 8 * CLUSTER)
            assert len(data) == 4 * CLUSTER
            (found[wanted],) = set(data)
    assert found == {"1": 0x11, "2": 0x22, "second": 0x22, "snapshot.name=2": 0x11}


@pytest.mark.parametrize("name", ["a.qcow2", "b.qcow2", "link.qcow2", "./../dir/a.qcow2"])
def test_loops(name: str, tmp_path: Path) -> None:
    """BL-O54: called a loop, with the ring shown."""
    folder = tmp_path / "dir"
    folder.mkdir()
    path = write_overlay(folder / "a.qcow2", name, "qcow2")
    write_overlay(folder / "b.qcow2", "a.qcow2", "qcow2")
    (folder / "link.qcow2").symlink_to(path)
    with pytest.raises(ReferencedFileError, match=r"The backing chain is a loop: .* → ") as caught:
        open_image(path, gate=AllowGate())
    assert caught.value.reason == "loop"


def test_a_chain_of_60(tmp_path: Path) -> None:
    """BL-O54: deep but honest."""
    (tmp_path / "0").write_bytes(pattern(CLUSTER))
    for number in range(1, 60):
        write_overlay(tmp_path / str(number), str(number - 1), "raw" if number == 1 else "qcow2")
    assert read_all(tmp_path / "59") == pattern(CLUSTER) + bytes(3 * CLUSTER)
    assert kinds(tmp_path / "59") == [(0, D), (CLUSTER, U)]


@pytest.mark.parametrize("name", ["base/base.raw", "../base.raw", "{absolute}"])
def test_backing_names_with_folders(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BL-O55: relative to the image's folder, never to the current one."""
    image_folder = tmp_path / "images"
    name = name.format(absolute=tmp_path / "elsewhere" / "base.raw")
    target = Path(os.path.normpath(image_folder / name))
    (image_folder / "base").mkdir(parents=True)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(pattern(CLUSTER))
    path = write_overlay(image_folder / "top.qcow2", name, "raw")
    monkeypatch.chdir("/")
    assert read_all(path)[:CLUSTER] == pattern(CLUSTER)


@pytest.mark.parametrize("name", ["file:base.raw", "a:b.raw"])
def test_odd_backing_names(name: str, tmp_path: Path) -> None:
    """BL-O55: shown and not opened, even where a file of that name exists."""
    (tmp_path / name).write_bytes(pattern(CLUSTER))
    path = write_overlay(tmp_path / "top.qcow2", name, "raw")
    assert inspect(path).backing_name == name
    with pytest.raises(ReferencedFileError) as caught:
        open_image(path, gate=AllowGate())
    assert caught.value.reason == "protocol"


def test_a_base_that_moved(tmp_path: Path) -> None:
    """BL-O56: says which file is missing, where it looked, and that one lies beside the image."""
    path = write_overlay(tmp_path / "top.qcow2", "/home/old/base.qcow2", "qcow2")
    b0().write_to(tmp_path / "base.qcow2")
    with pytest.raises(ReferencedFileError) as caught:
        open_image(path, gate=AllowGate())
    assert caught.value.reason == "missing"
    assert "'/home/old/base.qcow2'" in caught.value.message
    assert "looked at /home/old/base.qcow2" in caught.value.message
    assert str(tmp_path / "base.qcow2") in caught.value.hint


@pytest.mark.parametrize("base_format", ["raw", "qcow2"])
def test_no_recorded_format(base_format: str, tmp_path: Path) -> None:
    """BL-O57: the content decides, and the guess is marked as one."""
    base = b0(size=4 * CLUSTER)
    content = base.guest_bytes()
    if base_format == "raw":
        (tmp_path / "base").write_bytes(content)
    else:
        base.write_to(tmp_path / "base")
    path = write_overlay(tmp_path / "top.qcow2", "base", None)
    assert inspect(path).backing_format is None
    with open_image(path, gate=AllowGate()) as image:
        assert image.read(0, 4 * CLUSTER) == content
        assert (image.chain[1].format, image.chain[1].format_guessed) == (base_format, True)


def test_a_data_file_that_names_a_host_file(tmp_path: Path) -> None:
    """BL-O58: refused by default and by a general yes; an explicit one names the file."""
    secret = tmp_path / "outside" / "secret"
    secret.parent.mkdir()
    secret.write_bytes(pattern(CLUSTER))
    folder = tmp_path / "images"
    folder.mkdir()
    builder = ImageBuilder(size=CLUSTER, data_file=str(secret))
    builder.write(0, bytes(CLUSTER))
    path = folder / "image.qcow2"
    builder.build().file.write_to(path)
    asked: list[Reference] = []

    def ask(reference: Reference) -> bool:
        asked.append(reference)
        return False

    for gate in (AllowGate(), AskGate(ask)):
        with pytest.raises(ReferencedFileError) as caught:
            open_image(path, gate=gate)
        assert caught.value.reason == "denied"
        assert str(secret) in caught.value.message
    assert [(reference.kind, reference.in_folder) for reference in asked] == [("data file", False)]
    with open_image(path, gate=AllowGate((secret,))) as image:
        assert image.read(0, CLUSTER) == pattern(CLUSTER)


def test_special_files_as_backing_files(tmp_path: Path) -> None:
    """BL-O59: nothing is opened without consent, and a FIFO never blocks."""
    os.mkfifo(tmp_path / "fifo")
    for name in ("/dev/zero", "fifo", ".", "/dev/sdb-that-is-not-there"):
        path = write_overlay(tmp_path / "top.qcow2", name, "raw")
        with pytest.raises(ReferencedFileError) as caught:
            open_image(path)
        assert caught.value.reason == "denied"
        with pytest.raises(ReferencedFileError) as caught:
            open_image(path, gate=AllowGate())
        assert caught.value.reason in ("denied", "missing")


@pytest.mark.parametrize("size", [152 << 40, (1 << 63) - 512, (1 << 64) - 1])
def test_a_small_file_that_claims_a_huge_disk(size: int, tmp_path: Path) -> None:
    """BL-O60: an instant answer; no zeros are given for what a table would have to say."""
    image = set_field(b0(), "size", size)
    l1_entries = -(-size // (512 * MIB))
    if l1_entries < 1 << 32:
        image = set_field(image, "l1_size", l1_entries)
    path = truncate_at(image, 516).write_to(tmp_path / "image.qcow2")
    assert inspect(path).virtual_bytes == size // 512 * 512
    with pytest.raises(ImageError), open_image(path) as opened:
        opened.read(0, 1)


def test_following_is_off(tmp_path: Path) -> None:
    """BL-O61: a policy, not damage: how to switch it on is said."""
    path = write_overlay(tmp_path / "top.qcow2", "base.raw", "raw")
    with pytest.raises(ReferencedFileError) as caught:
        open_image(path)
    assert (caught.value.reason, int(caught.value.exit_code)) == ("denied", 1)
    assert "--allow-backing turns it on" in caught.value.hint
    assert "corrupt" not in str(caught.value).lower()


def test_why_a_file_is_so_big(tmp_path: Path) -> None:
    """BL-O83: of a file that is larger than its disk, what the active disk stores of it."""
    builder = ImageBuilder(size=4 * MIB)
    builder.write(0, pattern(3 * MIB))
    builder.snapshot("old")
    builder.write(0, pattern(2 * MIB, 1))
    builder.leak(20)
    builder.gap(26)
    builder.bitmap("dirty", type=BITMAP_DIRTY_TRACKING)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    summary = summarise(path)
    assert summary.stored_clusters == 48
    assert summary.file_bytes > 4 * MIB > summary.stored_clusters * CLUSTER


def test_a_path_through_a_symbolic_link(tmp_path: Path) -> None:
    """BL-O86: the folder of the given path first, then that of the real one, with a notice."""
    real = tmp_path / "data" / "image.qcow2"
    real.parent.mkdir()
    write_overlay(real, "base.raw", "raw")
    (real.parent / "base.raw").write_bytes(pattern(CLUSTER))
    link = tmp_path / "link.qcow2"
    link.symlink_to(real)
    assert read_all(link)[:CLUSTER] == pattern(CLUSTER)
    assert "symbolic link" in resolve_reference("backing file", "base.raw", link).note
    (tmp_path / "base.raw").write_bytes(pattern(CLUSTER, 1))
    assert read_all(link)[:CLUSTER] == pattern(CLUSTER, 1)
