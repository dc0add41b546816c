"""Guest extents and guest bytes of the strict reader against QEMU's, over the feature matrix.

Intended differences, all of them in `comparable` or in `read_disk`:

- QEMU asks the host file system about stored clusters when it thinks the image preallocated, and
  says zero and data where the file has a hole. We say what the image says: data.
- QEMU splits what it reports at the borders of its own requests; neighbours are joined.
- A snapshot is read by us at its own disk size, by qemu-img 7.2 at the active disk's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.layer import BATCH_BYTES, ExtentKind
from qcowgui.image.references import AllowGate
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import MIB

GRAINS: Final = 20
"""The disk's size in grains: units of at least 4 KiB, a cluster each where clusters are larger."""
BACKINGS: Final = ("none", "raw", "qcow2", "raw shorter", "qcow2 shorter", "qcow2 longer")
_STORED: Final = (ExtentKind.DATA, ExtentKind.COMPRESSED)


@dataclass(frozen=True)
class Case:
    """One cell of the matrix; `data_file` is "", "plain" or "raw"."""

    compat: str = "1.1"
    cluster_bytes: int = 65536
    compression: str = "none"
    backing: str = "none"
    extended_l2: bool = False
    data_file: str = ""
    snapshot: bool = False

    @property
    def is_valid(self) -> bool:
        """Whether the format has this combination."""
        if self.compat == "0.10" and (
            self.compression == "zstd" or self.extended_l2 or self.data_file
        ):
            return False
        if self.extended_l2 and self.cluster_bytes < 16384:
            return False
        if self.data_file and (self.compression != "none" or self.snapshot):
            return False
        return not (self.data_file == "raw" and self.backing != "none")

    @property
    def grain_bytes(self) -> int:
        return max(self.cluster_bytes, 4096)

    @property
    def size(self) -> int:
        """Ends inside a cluster, where clusters have more than a sector."""
        return GRAINS * self.grain_bytes - 512

    @property
    def create_options(self) -> str:
        options = [f"cluster_size={self.cluster_bytes}", f"compat={self.compat}"]
        if self.compression == "zstd":
            options.append("compression_type=zstd")
        if self.extended_l2:
            options.append("extended_l2=on")
        if self.data_file:
            options.append("data_file=guest.data")
        if self.data_file == "raw":
            options.append("data_file_raw=on")
        return ",".join(options)

    def __str__(self) -> str:
        parts = [self.compat, str(self.cluster_bytes), self.compression, self.backing]
        parts += ["extended"] * self.extended_l2 + [f"data file {self.data_file}"] * bool(
            self.data_file
        )
        return " ".join(parts + ["snapshot"] * self.snapshot)


def every_case() -> list[Case]:
    cases = itertools.starmap(
        Case,
        itertools.product(
            ("0.10", "1.1"),
            (512, 4096, 65536, 2 << 20),
            ("none", "zlib", "zstd"),
            BACKINGS,
            (False, True),
            ("", "plain", "raw"),
            (False, True),
        ),
    )
    return [case for case in cases if case.is_valid]


SELECTION: Final = [
    Case(compat="0.10", compression="zlib", backing="raw shorter", snapshot=True),
    Case(cluster_bytes=512, compression="zstd", backing="qcow2 longer", snapshot=True),
    Case(cluster_bytes=4096, compression="zlib", backing="qcow2 shorter"),
    Case(cluster_bytes=2 << 20, compression="zstd"),
    Case(extended_l2=True, compression="zstd", backing="raw", snapshot=True),
    Case(extended_l2=True, data_file="plain", backing="qcow2"),
    Case(data_file="raw"),
]
REST: Final = [case for case in every_case() if case not in SELECTION]


def make_backing(case: Case, folder: Path) -> list[str]:
    """Make the backing file; returns qemu-img's options that name it."""
    if case.backing == "none":
        return []
    grain = case.grain_bytes
    size = case.size
    if "shorter" in case.backing:
        size = 10 * grain + 512
    elif "longer" in case.backing:
        size = 30 * grain
    image_format = case.backing.partition(" ")[0]
    path = folder / f"base.{image_format}"
    options = [] if image_format == "raw" else ["-o", f"cluster_size={case.cluster_bytes}"]
    oracle.create(path, size, *options, image_format=image_format)
    commands = [f"write -P 9 {grain} {5 * grain}", f"write -P 10 {size - grain} {grain}"]
    if image_format == "qcow2":
        commands.append(f"write -z {8 * grain} {grain}")
    oracle.qemu_io(path, *commands, image_format=image_format)
    return ["-b", path.name, "-F", image_format]


def make_image(case: Case, folder: Path) -> Path:
    """Make the image with every kind of cluster that it may have."""
    path = folder / "image.qcow2"
    grain = case.grain_bytes
    backing = make_backing(case, folder)
    oracle.create(path, case.size, "-o", case.create_options, *backing)
    write = "write" if case.compression == "none" else "write -c"
    oracle.qemu_io(
        path,
        f"write -P 65 0 {grain}",
        f"{write} -P 66 {2 * grain} {grain}",
        f"write -P 67 {4 * grain + 512} 1024",
        f"write -z {6 * grain} {2 * grain}",
        f"{write} -P 68 {9 * grain} {4 * grain}",
        f"write -P 69 {14 * grain} {4 * grain}",
        f"write -z {15 * grain} {grain}",
        f"discard {16 * grain} {grain}",
        f"write -P 70 {case.size - 512} 512",
    )
    if case.snapshot:
        oracle.qemu_img("snapshot", "-c", "kept", path)
        oracle.qemu_io(path, f"write -P 71 {grain} {12 * grain}")
    return path


def comparable(extents: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Extents without what is meant to differ; see this module's docstring."""
    result: list[dict[str, Any]] = []
    for found in extents:
        extent = {**found, "zero": found["zero"] and not found["data"]}
        last = result[-1] if result else None
        if last is not None and _continues(last, extent):
            last["length"] += extent["length"]
        else:
            result.append(extent)
    return result


def _continues(left: dict[str, Any], right: dict[str, Any]) -> bool:
    if any(left[key] != right[key] for key in ("depth", "present", "zero", "data")):
        return False
    if "offset" in left and "offset" in right:
        return bool(left["offset"] + left["length"] == right["offset"])
    return "offset" not in left and "offset" not in right


def our_extents(image: OpenedImage, start: int = 0, end: int | None = None) -> list[dict[str, Any]]:
    return comparable(
        {
            "start": extent.start,
            "length": extent.length,
            "depth": extent.depth,
            "present": extent.kind is not ExtentKind.UNALLOCATED,
            "zero": extent.kind not in _STORED,
            "data": extent.kind in _STORED,
            **({} if extent.host_offset is None else {"offset": extent.host_offset}),
        }
        for extent in image.iter_extents(start, end)
    )


def read_disk(image: OpenedImage) -> bytes:
    """The whole disk in steps that begin and end inside clusters."""
    context = image.context()
    step = BATCH_BYTES - 1536
    return b"".join(image.read(start, step, context) for start in range(0, image.size_bytes, step))


def assert_agreement(path: Path, *, snapshot: str | None = None) -> None:
    with open_image(path, format="qcow2", gate=AllowGate(), snapshot=snapshot) as image:
        expected = oracle.guest_bytes(path, snapshot=snapshot)[: image.size_bytes]
        assert len(expected) == image.size_bytes
        assert read_disk(image) == expected
        if snapshot is None:
            assert our_extents(image) == comparable(iter(oracle.map_extents(path)))


def assert_case(case: Case, folder: Path) -> None:
    path = make_image(case, folder)
    assert_agreement(path)
    if case.snapshot:
        assert_agreement(path, snapshot="kept")


@pytest.mark.parametrize("case", SELECTION, ids=str)
def test_selection_of_the_matrix(case: Case, tmp_path: Path) -> None:
    assert_case(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", REST, ids=str)
def test_rest_of_the_matrix(case: Case, tmp_path: Path) -> None:
    assert_case(case, tmp_path)


def test_a_part_of_the_map(tmp_path: Path) -> None:
    """Ranges that begin and end inside clusters and subclusters are byte-exact, as QEMU's are."""
    case = Case(extended_l2=True, compression="zlib", backing="raw shorter")
    path = make_image(case, tmp_path)
    with open_image(path, gate=AllowGate()) as image:
        for start, length in ((0, 1), (1000, 200_000), (case.grain_bytes * 4 + 700, 70_000)):
            expected = comparable(iter(oracle.map_extents(path, start=start, length=length)))
            assert our_extents(image, start, start + length) == expected


def build_with_cluster_bits(cluster_bits: int, *, extended_l2: bool, zstd: bool) -> ImageBuilder:
    """An image by our own builder: more than one L2 table, payloads packed across clusters."""
    options = ImageBuilder(cluster_bits=cluster_bits, extended_l2=extended_l2)
    cluster = options.cluster_bytes
    tables = 2 if cluster_bits < 14 else 1
    builder = ImageBuilder(
        cluster_bits=cluster_bits,
        size=min(tables * options.l2_entries, MIB * 64 // cluster) * cluster
        - 512 * (cluster_bits > 9),
        extended_l2=extended_l2,
        compression_type=int(zstd),
        refcount_order=2 + cluster_bits % 5,
        header_tail=b"\x5a" * 8 * (cluster_bits % 3),
    )
    last = -(-builder.size // cluster) - 1
    small = min(cluster, 1 << 16)
    builder.write(0, pattern(3 * small, 1))
    for index in (4, 5, 7):
        builder.write_compressed(index, text(small, index), frames=2 if zstd else 1)
    builder.write_compressed(6, text(small, 6), wbits=-15)
    builder.gap(1)
    builder.zero(8)
    builder.zero(9, allocated=True)
    if extended_l2:
        builder.subclusters(10, 0x0F0F_00FF, 0xF0F0_0000, pattern(small, 10))
    builder.write_compressed(last - 1, text(small, 99))
    builder.write(last * cluster, pattern(512, 11))
    return builder


@pytest.mark.parametrize("cluster_bits", range(9, 22))
def test_every_cluster_size(cluster_bits: int, tmp_path: Path) -> None:
    for extended_l2, zstd in itertools.product((False, True), repeat=2):
        if extended_l2 and cluster_bits < 14:
            continue
        builder = build_with_cluster_bits(cluster_bits, extended_l2=extended_l2, zstd=zstd)
        path = builder.build().write_to(tmp_path / f"{extended_l2}-{zstd}.qcow2")
        with open_image(path) as image:
            assert our_extents(image) == comparable(iter(oracle.map_extents(path)))
            target = oracle.convert(path, tmp_path / "guest.raw")
            with target.open("rb") as expected:
                for start in range(0, image.size_bytes, BATCH_BYTES):
                    assert image.read(start, BATCH_BYTES) == expected.read(BATCH_BYTES)
