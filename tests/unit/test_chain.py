"""Opening an image with everything it refers to: formats, the gate, loops, snapshots."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from qcowgui.errors import (
    CorruptError,
    ImageError,
    NotQcow2Error,
    ReferencedFileError,
    SourceError,
    UnsupportedError,
)
from qcowgui.format import limits
from qcowgui.image.chain import OpenedImage, open_image, probe_format
from qcowgui.image.inspect import inspect
from qcowgui.image.references import (
    AllowGate,
    AskGate,
    Gate,
    Reference,
    backing_reference,
)
from qcowgui.image.source import BytesSource
from tests.support.base_images import b0, b0_builder, pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import set_feature_bit, set_field, set_integer, truncate_at
from tests.support.options import KIB, MIB

CLUSTER = 64 * KIB


def overlay(
    path: Path, backing: str, backing_format: str | None = None, *, cluster: int = 1
) -> Path:
    """An image of 4 clusters with data in one, over a backing file."""
    builder = ImageBuilder(size=4 * CLUSTER, backing_file=backing, backing_format=backing_format)
    builder.write(cluster * CLUSTER, pattern(CLUSTER, cluster))
    return builder.build().write_to(path)


def refused(path: Path, gate: Gate | None = None) -> ReferencedFileError:
    with pytest.raises(ReferencedFileError) as caught:
        open_image(path, gate=AllowGate() if gate is None else gate)
    return caught.value


def first_byte_pattern(image: OpenedImage) -> bytes:
    return image.read(0, 100)


# Formats


def test_probing() -> None:
    assert probe_format(BytesSource(b0().read(0, 4096))) == "qcow2"
    assert probe_format(BytesSource(pattern(4096))) == "raw"
    for data in (b"", b"KDMV" + bytes(4092)):
        with pytest.raises(NotQcow2Error):
            probe_format(BytesSource(data))


def test_a_format_that_is_not_ours(tmp_path: Path) -> None:
    path = b0().write_to(tmp_path / "image.qcow2")
    with pytest.raises(UnsupportedError, match="'vmdk' is not supported"):
        open_image(path, format="vmdk")


def test_a_qcow2_file_read_as_raw_is_its_own_bytes(tmp_path: Path) -> None:
    image = b0()
    path = image.write_to(tmp_path / "image.qcow2")
    with open_image(path, format="raw") as opened:
        assert opened.read(0, opened.size_bytes) == image.to_bytes()
        assert (opened.format, opened.report) == ("raw", None)


def test_a_raw_file_said_to_be_qcow2(tmp_path: Path) -> None:
    path = tmp_path / "image.raw"
    path.write_bytes(pattern(CLUSTER))
    with pytest.raises(NotQcow2Error):
        open_image(path, format="qcow2")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_files_stay_open_no_longer_than_needed(tmp_path: Path) -> None:
    """Neither after a close nor after a failure anywhere in the chain."""
    before = open_files()
    (tmp_path / "base.raw").write_bytes(bytes(CLUSTER))
    good = overlay(tmp_path / "good.qcow2", "base.raw", "raw")
    bad = overlay(tmp_path / "bad.qcow2", "base.raw", "qcow2")
    open_image(good, gate=AllowGate()).close()
    with pytest.raises(NotQcow2Error):
        open_image(bad, gate=AllowGate())
    with pytest.raises(ImageError):
        open_image(good, gate=AllowGate(), snapshot="none")
    assert open_files() == before


def test_layers_are_described(tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(CLUSTER + 100))
    overlay(tmp_path / "middle.qcow2", "base.raw")
    path = overlay(tmp_path / "top.qcow2", "middle.qcow2", "qcow2")
    with open_image(path, gate=AllowGate()) as image:
        assert [layer.path.name for layer in image.chain] == [
            "top.qcow2",
            "middle.qcow2",
            "base.raw",
        ]
        assert [layer.format for layer in image.chain] == ["qcow2", "qcow2", "raw"]
        assert [layer.format_guessed for layer in image.chain] == [False, False, True]
        assert [layer.size_bytes for layer in image.chain] == [
            4 * CLUSTER,
            4 * CLUSTER,
            CLUSTER + 512,
        ]
        assert image.chain[2].file_bytes == CLUSTER + 100
        assert image.chain[0].reference is None
        assert image.chain[1].reference is not None
        assert image.chain[1].reference.name == "middle.qcow2"
        assert image.identities == {layer.identity for layer in image.chain}
        assert image.report is not None


@pytest.mark.parametrize("number", [0xE2792ACA, 0xE279268F])
def test_the_backing_format_under_either_number(number: int, tmp_path: Path) -> None:
    """crosvm writes it under the second one, which its source meant to be the first."""
    b0().write_to(tmp_path / "base")
    builder = ImageBuilder(size=4 * CLUSTER, backing_file="base", extensions=[(number, b"raw")])
    path = builder.build().write_to(tmp_path / "top.qcow2")
    with open_image(path, gate=AllowGate()) as image:
        assert (image.chain[1].format, image.chain[1].format_guessed) == ("raw", False)


@pytest.mark.parametrize("recorded", ["composite", "vmdk", "", "QCOW2"])
def test_an_unknown_recorded_format_is_guessed_and_marked(recorded: str, tmp_path: Path) -> None:
    b0().write_to(tmp_path / "base.qcow2")
    path = overlay(tmp_path / "top.qcow2", "base.qcow2", recorded)
    with open_image(path, gate=AllowGate()) as image:
        assert (image.chain[1].format, image.chain[1].format_guessed) == ("qcow2", True)
        assert first_byte_pattern(image) == pattern(100)


def test_a_backing_file_in_another_format_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "base.vmdk").write_bytes(b"KDMV" + b"\1" + bytes(4096))
    for recorded in ("vmdk", None):
        path = overlay(tmp_path / "top.qcow2", "base.vmdk", recorded)
        with pytest.raises(NotQcow2Error, match="VMDK"):
            open_image(path, gate=AllowGate())


def test_the_recorded_format_wins_over_the_content(tmp_path: Path) -> None:
    """A guest can write a qcow2 header into its raw disk; following it would open any file."""
    base = b0().write_to(tmp_path / "base")
    path = overlay(tmp_path / "top.qcow2", "base", "raw")
    with open_image(path, gate=AllowGate()) as image:
        assert (image.chain[1].format, image.chain[1].format_guessed) == ("raw", False)
        assert first_byte_pattern(image) == base.read_bytes()[:100]


def test_a_wrong_recorded_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "base").write_bytes(pattern(CLUSTER))
    path = overlay(tmp_path / "top.qcow2", "base", "qcow2")
    with pytest.raises(NotQcow2Error) as caught:
        open_image(path, gate=AllowGate())
    assert caught.value.path == str(tmp_path / "base")


def test_a_backing_file_beside_raw_external_data_is_ignored(tmp_path: Path) -> None:
    """With the raw flag the data file alone is the disk."""
    builder = ImageBuilder(
        size=4 * CLUSTER, data_file="guest.data", data_file_raw=True, backing_file="gone.raw"
    )
    builder.write(CLUSTER, pattern(CLUSTER))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    assert backing_reference(inspect(path)) is None
    with open_image(path, gate=AllowGate()) as opened:
        assert opened.read(0, MIB) == image.guest_bytes()


# The gate


def test_following_is_off_by_default(tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(b"")
    path = overlay(tmp_path / "top.qcow2", "base.raw", "raw")
    with pytest.raises(ReferencedFileError) as caught:
        open_image(path)
    error = caught.value
    assert (error.reason, error.name) == ("denied", "base.raw")
    assert "which was not opened" in error.message
    assert "following references is off" in error.hint
    assert "--allow-backing" in error.hint


def test_allowed_paths_only(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "base.raw").write_bytes(pattern(CLUSTER, len(folder)))
    path = overlay(tmp_path / "top.qcow2", "a/base.raw", "raw")
    for allowed in (tmp_path / "a", tmp_path / "a" / "base.raw", tmp_path):
        open_image(path, gate=AllowGate((allowed,))).close()
    assert refused(path, AllowGate((tmp_path / "b",))).reason == "denied"
    (tmp_path / "b" / "base.raw").unlink()
    (tmp_path / "b" / "base.raw").symlink_to(tmp_path / "a" / "base.raw")
    linked = overlay(tmp_path / "top.qcow2", "b/base.raw", "raw")
    assert refused(linked, AllowGate((tmp_path / "b",))).reason == "denied"


def test_backing_files_anywhere_but_data_files_beside_the_image(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "base.raw").write_bytes(pattern(CLUSTER))
    open_image(
        overlay(inside / "top.qcow2", "../outside/base.raw", "raw"), gate=AllowGate()
    ).close()
    builder = ImageBuilder(size=4 * CLUSTER, data_file="guest.data")
    image = builder.build()
    image.write_to(inside / "near.qcow2")
    open_image(inside / "near.qcow2", gate=AllowGate()).close()
    builder = ImageBuilder(size=4 * CLUSTER, data_file=str(outside / "base.raw"))
    builder.build().file.write_to(inside / "far.qcow2")
    assert refused(inside / "far.qcow2").reason == "denied"
    open_image(inside / "far.qcow2", gate=AllowGate((outside,))).close()


def test_data_file_through_a_link_that_leaves_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_bytes(pattern(CLUSTER))
    (inside / "guest.data").symlink_to(tmp_path / "secret")
    builder = ImageBuilder(size=4 * CLUSTER, data_file="guest.data")
    builder.build().file.write_to(inside / "image.qcow2")
    assert refused(inside / "image.qcow2").reason == "denied"


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "fifo", "folder"])
def test_special_files_are_never_opened(name: str, tmp_path: Path) -> None:
    """Not even when they are named, and never with a wait: a FIFO has no writer."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    path = overlay(tmp_path / "top.qcow2", name, "raw")
    reasons: list[str] = []

    def look() -> None:
        for gate in (AllowGate(), AllowGate((Path("/dev"), tmp_path))):
            try:
                open_image(path, gate=gate).close()
            except (ReferencedFileError, SourceError) as error:
                reasons.append(getattr(error, "reason", "source"))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
    assert len(reasons) == 2
    assert set(reasons) <= {"denied", "special", "source"}


def test_a_file_of_the_kernel_gives_none_of_its_bytes(tmp_path: Path) -> None:
    """It is regular to look at, but has no length: nothing of it is read."""
    path = overlay(tmp_path / "top.qcow2", "/proc/self/mem", "raw")
    with open_image(path, gate=AllowGate()) as image:
        assert image.chain[1].file_bytes == 0
        assert image.read(0, CLUSTER) == bytes(CLUSTER)


def test_asking_sees_every_reference_once(tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(CLUSTER))
    overlay(tmp_path / "middle.qcow2", "base.raw", "raw")
    path = overlay(tmp_path / "top.qcow2", "middle.qcow2", "qcow2")
    asked: list[Reference] = []

    def ask(reference: Reference) -> bool:
        asked.append(reference)
        return reference.name != "base.raw"

    assert refused(path, AskGate(ask)).name == "base.raw"
    assert [reference.name for reference in asked] == ["middle.qcow2", "base.raw"]
    assert [reference.image_path.name for reference in asked] == ["top.qcow2", "middle.qcow2"]


@pytest.mark.parametrize("name", ["nbd://host/export", "file:base.raw", 'json:{"driver":"raw"}'])
def test_protocols_are_not_opened(name: str, tmp_path: Path) -> None:
    assert refused(overlay(tmp_path / "top.qcow2", name, "raw")).reason == "protocol"


def test_a_missing_base_says_where_it_was_looked_for(tmp_path: Path) -> None:
    error = refused(overlay(tmp_path / "top.qcow2", "sub/gone.raw", "raw"))
    assert error.reason == "missing"
    assert str(tmp_path / "sub" / "gone.raw") in error.message


# Loops and depth


def test_an_image_that_is_its_own_backing_file(tmp_path: Path) -> None:
    error = refused(overlay(tmp_path / "a.qcow2", "a.qcow2", "qcow2"))
    assert error.reason == "loop"
    assert error.message.count("a.qcow2") == 2


@pytest.mark.parametrize("name", ["link.qcow2", "sub/../a.qcow2", "./a.qcow2", "hard.qcow2"])
def test_a_ring_is_recognised_under_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    path = overlay(tmp_path / "a.qcow2", "b.qcow2", "qcow2")
    (tmp_path / "link.qcow2").symlink_to("a.qcow2")
    (tmp_path / "hard.qcow2").hardlink_to(path)
    overlay(tmp_path / "b.qcow2", name, "qcow2")
    error = refused(path)
    assert error.reason == "loop"
    assert error.message.index("a.qcow2") < error.message.index("b.qcow2")


def make_chain(folder: Path, layers: int) -> Path:
    (folder / "0.qcow2").write_bytes(pattern(512))
    for number in range(1, layers):
        builder = ImageBuilder(
            cluster_bits=9,
            size=300 * 512,
            backing_file=f"{number - 1}.qcow2",
            backing_format="raw" if number == 1 else "qcow2",
        )
        builder.write(number * 512, pattern(512, number))
        builder.build().write_to(folder / f"{number}.qcow2")
    return folder / f"{layers - 1}.qcow2"


def test_long_chains_up_to_the_limit(tmp_path: Path) -> None:
    """60 as in real life, 256 without a RecursionError, 257 refused in words."""
    make_chain(tmp_path, limits.MAX_CHAIN_LAYERS + 1)
    for layers in (60, limits.MAX_CHAIN_LAYERS):
        with open_image(tmp_path / f"{layers - 1}.qcow2", gate=AllowGate()) as image:
            assert len(image.chain) == layers
            assert image.read(0, layers * 512) == b"".join(
                pattern(512, number) for number in range(layers)
            )
            extents = list(image.iter_extents())
            assert [extent.depth for extent in extents[:layers]] == list(range(layers))[::-1]
    error = refused(tmp_path / f"{limits.MAX_CHAIN_LAYERS}.qcow2")
    assert error.reason == "depth"
    assert "more than 256 layers" in error.message


# What is no readable image


@pytest.mark.parametrize(
    ("image", "kind"),
    [
        (set_feature_bit(b0(), "incompatible_features", 5), UnsupportedError),
        (set_field(b0(), "version", 4), UnsupportedError),
        (set_field(b0(), "compression_type", 2), ImageError),
        (set_field(b0(), "l1_size", 0), CorruptError),
        (set_field(b0(), "cluster_bits", 22), CorruptError),
        (set_field(b0(), "l1_table_offset", 0x30001), CorruptError),
        (truncate_at(b0(), 50), CorruptError),
    ],
)
def test_refusals(image: BuiltImage, kind: type[ImageError], tmp_path: Path) -> None:
    path = image.write_to(tmp_path / "image.qcow2")
    with pytest.raises(kind) as caught:
        open_image(path, salvage=True)
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("luks", [False, True])
def test_encrypted_images_are_refused(luks: bool, tmp_path: Path) -> None:
    builder = b0_builder(crypt_method=0 if luks else 1)
    if luks:
        builder.luks()
    path = builder.build().write_to(tmp_path / "image.qcow2")
    with pytest.raises(UnsupportedError, match="encrypted"):
        open_image(path)


def test_dirty_and_corrupt_marks_do_not_stop_a_reader(tmp_path: Path) -> None:
    image = set_feature_bit(b0(), "incompatible_features", 0)
    image = set_feature_bit(image, "incompatible_features", 1)
    with open_image(image.write_to(tmp_path / "image.qcow2")) as opened:
        assert opened.read(0, CLUSTER) == pattern(CLUSTER)


# Snapshots


def snapshots_image() -> BuiltImage:
    """Three states of a disk that grows; the second one's name is the first one's id."""
    builder = ImageBuilder(size=2 * CLUSTER)
    builder.write(0, pattern(CLUSTER, 1))
    builder.snapshot("first", vm_state=pattern(3 * CLUSTER, 99))
    builder.write(0, pattern(CLUSTER, 2))
    builder.resize(5 * CLUSTER + 512)
    builder.write(4 * CLUSTER, pattern(CLUSTER, 3))
    builder.snapshot("1", vm_state=pattern(100, 98))
    builder.resize(3 * CLUSTER)
    builder.write(CLUSTER, pattern(CLUSTER, 4))
    return builder.build()


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("first", "first"),
        ("1", "first"),
        ("2", "1"),
        ("snapshot.id=1", "first"),
        ("snapshot.id=2", "1"),
        ("snapshot.name=1", "1"),
        ("snapshot.name=first", "first"),
    ],
)
def test_a_snapshot_is_read_at_its_own_size(wanted: str, name: str, tmp_path: Path) -> None:
    image = snapshots_image()
    path = image.write_to(tmp_path / "image.qcow2")
    with open_image(path, snapshot=wanted) as opened:
        expected = image.guest_bytes(snapshot=name)
        assert opened.size_bytes == len(expected)
        # What follows in the snapshot's tables is VM state: no part of the disk.
        assert opened.read(0, 100 * CLUSTER) == expected
        assert sum(extent.length for extent in opened.iter_extents()) == len(expected)


@pytest.mark.parametrize("wanted", ["none", "snapshot.id=first", "snapshot.name=2", ""])
def test_a_snapshot_that_is_not_there(wanted: str, tmp_path: Path) -> None:
    path = snapshots_image().write_to(tmp_path / "image.qcow2")
    with pytest.raises(ImageError) as caught:
        open_image(path, snapshot=wanted)
    assert caught.value.hint == "snapshots here: 1 (first), 2 (1)"


def test_snapshots_of_files_that_have_none(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="no snapshot 'x'") as caught:
        open_image(b0().write_to(tmp_path / "image.qcow2"), snapshot="x")
    assert caught.value.hint == "snapshots here: none"
    (tmp_path / "raw").write_bytes(pattern(CLUSTER))
    with pytest.raises(ImageError, match="a raw file has no snapshots"):
        open_image(tmp_path / "raw", snapshot="x")


def test_a_snapshot_reads_through_the_backing_file(tmp_path: Path) -> None:
    base = pattern(4 * CLUSTER, 7)
    (tmp_path / "base.raw").write_bytes(base)
    builder = ImageBuilder(size=4 * CLUSTER, backing_file="base.raw", backing_format="raw")
    builder.write(0, pattern(CLUSTER, 1))
    builder.snapshot("old")
    builder.write(0, pattern(4 * CLUSTER, 2))
    path = builder.build().write_to(tmp_path / "image.qcow2")
    with open_image(path, gate=AllowGate(), snapshot="old") as opened:
        assert opened.read(0, 4 * CLUSTER) == pattern(CLUSTER, 1) + base[CLUSTER:]


def test_a_snapshot_of_version_2_has_the_present_size(tmp_path: Path) -> None:
    builder = ImageBuilder(size=3 * CLUSTER, version=2)
    builder.write(CLUSTER, pattern(CLUSTER, 1))
    builder.snapshot("old")
    builder.write(CLUSTER, pattern(CLUSTER, 2))
    image = builder.build()
    path = image.write_to(tmp_path / "image.qcow2")
    with open_image(path, snapshot="old") as opened:
        assert opened.read(0, MIB) == image.guest_bytes(snapshot="old")


def snapshot_field(image: BuiltImage, offset: int, width: int, value: int) -> BuiltImage:
    """The image with another value in the fixed part of its first snapshot entry."""
    assert image.layout.snapshot_table is not None
    return set_integer(image, image.layout.snapshot_entries[0].offset + offset, width, value)


@pytest.mark.parametrize(
    ("offset", "width", "value", "text"),
    [
        (0, 8, 0x400200, "no cluster"),
        (0, 8, 0, "no cluster"),
        (8, 4, 0x10000000, "QEMU allows"),
        (8, 4, 0, "its disk needs"),
        (48, 8, 1 << 62, "its disk needs"),
    ],
)
def test_a_snapshot_whose_table_is_not_usable(
    offset: int, width: int, value: int, text: str, tmp_path: Path
) -> None:
    """Neither garbage nor zeros: an error, also for salvage. The active disk is not affected."""
    image = snapshot_field(snapshots_image(), offset, width, value)
    path = image.write_to(tmp_path / "image.qcow2")
    for salvage in (False, True):
        with pytest.raises(CorruptError) as caught:
            open_image(path, snapshot="first", salvage=salvage)
        assert text in caught.value.message
        assert caught.value.finding is not None
        assert caught.value.finding.code == "snapshot-l1"
    with open_image(path) as opened:
        assert opened.read(0, MIB) == image.guest_bytes()


def test_a_snapshot_whose_table_is_beyond_the_file(tmp_path: Path) -> None:
    image = snapshot_field(snapshots_image(), 0, 8, 1 << 40)
    path = image.write_to(tmp_path / "image.qcow2")
    with open_image(path, snapshot="first") as opened, pytest.raises(ImageError, match="beyond"):
        opened.read(0, 1)
    with open_image(path, snapshot="first", salvage=True) as opened:
        assert opened.read(0, MIB) == bytes(2 * CLUSTER)
        assert opened.losses is not None
        assert sum(lost.length for lost in opened.losses.ranges()) == 2 * CLUSTER
