"""Everything that the converter writes, judged by qemu-img: check, compare, info, size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from qcowgui.convert.options import REFCOUNT_BITS, ConvertOptions
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.errors import OptionsError
from tests.converting import ALLOW, ConvertKeywords, convert, mixed_disk
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import GIB, KIB, MIB

Codec = Literal["none", "zlib-32k", "zlib-4k", "zstd"]
CODECS: tuple[Codec, ...] = ("none", "zlib-32k", "zlib-4k", "zstd")
CLUSTERS = (512, 4 * KIB, 64 * KIB, 2 * MIB)
METADATA_SLACK_CLUSTERS = 2


@dataclass(frozen=True)
class Case:
    """What a qcow2 target is asked to be."""

    cluster_bytes: int
    codec: Codec = "none"
    compat: Literal["0.10", "1.1"] = "1.1"
    refcount_bits: int = 16
    extended_l2: bool = False
    lazy_refcounts: bool = False

    def __str__(self) -> str:
        flags = "-ext" * self.extended_l2 + "-lazy" * self.lazy_refcounts
        return f"{self.compat}-{self.cluster_bytes}-{self.codec}-rb{self.refcount_bits}{flags}"

    def keywords(self) -> ConvertKeywords:
        """The converter's options."""
        keywords: ConvertKeywords = {
            "cluster_bytes": self.cluster_bytes,
            "compat": self.compat,
            "refcount_bits": self.refcount_bits,
            "extended_l2": self.extended_l2,
            "lazy_refcounts": self.lazy_refcounts,
        }
        if self.codec == "zstd":
            keywords["compression"] = "zstd"
        elif self.codec != "none":
            keywords["compression"] = "zlib"
            keywords["window"] = "4k" if self.codec == "zlib-4k" else "32k"
        return keywords

    def qemu_arguments(self) -> list[str]:
        """The options of qemu-img that ask for the same."""
        options = [f"cluster_size={self.cluster_bytes}", f"compat={self.compat}"]
        if self.compat == "1.1":
            options.append(f"refcount_bits={self.refcount_bits}")
            options.append(f"extended_l2={'on' if self.extended_l2 else 'off'}")
            options.append(f"lazy_refcounts={'on' if self.lazy_refcounts else 'off'}")
        if self.codec == "zstd":
            options.append("compression_type=zstd")
        return [*(["-c"] if self.codec != "none" else []), "-o", ",".join(options)]


def all_cases() -> Iterator[Case]:
    for cluster_bytes, codec, lazy in itertools.product(CLUSTERS, CODECS, (False, True)):
        if codec != "zstd" and not lazy:
            yield Case(cluster_bytes, codec, "0.10")
        for extended_l2 in (False, True) if cluster_bytes >= 16 * KIB else (False,):
            # Lazy refcounts are one header bit, and two sizes show what a width does to the layout.
            widths = REFCOUNT_BITS if cluster_bytes in (512, 64 * KIB) else (1, 16, 64)
            for refcount_bits in (16,) if lazy else widths:
                yield Case(cluster_bytes, codec, "1.1", refcount_bits, extended_l2, lazy)


FEW = (
    Case(512, "none", refcount_bits=64),
    Case(512, "zlib-32k", "0.10"),
    Case(512, "zstd", refcount_bits=1),
    Case(4 * KIB, "zlib-4k", refcount_bits=2),
    Case(4 * KIB, "none", "0.10"),
    Case(4 * KIB, "zstd", refcount_bits=32, lazy_refcounts=True),
    Case(64 * KIB),
    Case(64 * KIB, "none", extended_l2=True, refcount_bits=8),
    Case(64 * KIB, "zlib-32k", lazy_refcounts=True),
    Case(64 * KIB, "zstd", extended_l2=True),
    Case(64 * KIB, "zlib-4k", refcount_bits=4),
    Case(2 * MIB, "none", extended_l2=True, refcount_bits=1),
    Case(2 * MIB, "zlib-32k", "0.10"),
    Case(2 * MIB, "zstd", refcount_bits=64),
)


def as_parameters() -> list[object]:
    """Every case; those that are not among FEW are slow."""
    rest = [case for case in all_cases() if case not in FEW]
    assert len(rest) + len(FEW) == len(set(all_cases()) | set(FEW)) > 130
    return [
        *(pytest.param(case, id=str(case)) for case in FEW),
        *(pytest.param(case, id=str(case), marks=pytest.mark.slow) for case in rest),
    ]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("disk") / "disk.raw"
    path.write_bytes(mixed_disk())
    return path


def same_guest(left: Path, right: Path) -> None:
    """Let qemu-img compare two images, by their names' ends."""
    formats = ["raw" if path.suffix == ".raw" else "qcow2" for path in (left, right)]
    arguments = ("compare", "-U", "-f", formats[0], "-F", formats[1], left, right)
    done = oracle.qemu_img(*arguments, check=False, folder=left.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def check_asked_options(path: Path, case: Case) -> None:
    info = oracle.info(path)
    data = info["format-specific"]["data"]
    assert info["cluster-size"] == case.cluster_bytes
    assert data["compat"] == case.compat
    assert data["refcount-bits"] == case.refcount_bits
    if case.compat == "1.1":
        assert data["extended-l2"] is case.extended_l2
        assert data["lazy-refcounts"] is case.lazy_refcounts
        assert data["corrupt"] is False
    assert data["compression-type"] == ("zstd" if case.codec == "zstd" else "zlib")


@pytest.mark.parametrize("case", as_parameters())
def test_every_target(case: Case, disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.qcow2"
    result = convert(disk, target, **case.keywords())
    found = oracle.check(target)
    assert found.is_clean, found
    same_guest(disk, target)
    check_asked_options(target, case)
    assert result.target_bytes == target.stat().st_size
    assert result.virtual_bytes == disk.stat().st_size

    theirs = tmp_path / "theirs.qcow2"
    oracle.convert(disk, theirs, *case.qemu_arguments(), source_format="raw", target_format="qcow2")
    # A codec of our own may be a little behind on one disk; packing may not.
    codec_slack = 0.02 if case.codec in ("zlib-32k", "zstd") else 0.0
    allowed = theirs.stat().st_size * (1 + codec_slack)
    assert result.target_bytes <= allowed + METADATA_SLACK_CLUSTERS * case.cluster_bytes

    back = tmp_path / "back.raw"
    convert(theirs, back)
    assert back.read_bytes() == disk.read_bytes()


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1000, 65536, 65537, 4 * MIB + 512])
@pytest.mark.parametrize("codec", ["none", "zlib-32k"])
@pytest.mark.parametrize("cluster_bytes", [512, 64 * KIB])
def test_odd_sizes(size: int, codec: Codec, cluster_bytes: int, tmp_path: Path) -> None:
    source, target, back = (tmp_path / name for name in ("s.raw", "t.qcow2", "b.raw"))
    content = text(size, 3)
    source.write_bytes(content)
    whole_sectors = -(-size // 512) * 512
    result = convert(source, target, **Case(cluster_bytes, codec).keywords())
    assert result.virtual_bytes == whole_sectors
    assert oracle.check(target).is_clean
    same_guest(source, target)
    convert(target, back)
    assert back.read_bytes() == content.ljust(whole_sectors, b"\0")
    theirs = tmp_path / "theirs.raw"
    oracle.convert(source, theirs, source_format="raw")
    assert theirs.stat().st_size == back.stat().st_size


@pytest.mark.parametrize("sparse_bytes", [512, 4 * KIB, 64 * KIB, 2 * MIB, 0])
def test_a_raw_target_is_equal_and_as_sparse_as_asked(
    sparse_bytes: int, disk: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "source.qcow2", tmp_path / "target.raw"
    oracle.convert(disk, source, "-c", source_format="raw", target_format="qcow2")
    result = convert(source, target, sparse_bytes=sparse_bytes)
    same_guest(disk, target)
    status = target.stat()
    used = status.st_blocks * 512
    assert result.target_disk_bytes == used
    if not sparse_bytes:
        assert used >= status.st_size
        return
    content = disk.read_bytes()
    grain = max(sparse_bytes, 4 * KIB)  # file systems allocate whole blocks
    needed = sum(
        grain
        for offset in range(0, len(content), grain)
        if content[offset : offset + grain].strip(b"\0")
    )
    assert used <= needed + 64 * KIB


@pytest.mark.parametrize("executor_threads", [1, 3])
def test_a_large_sparse_disk(executor_threads: int, tmp_path: Path) -> None:
    source, target, back = (tmp_path / name for name in ("s.raw", "t.qcow2", "b.raw"))
    with source.open("wb") as file:
        file.truncate(300 * GIB)
        for offset in (0, 40 * GIB - 100, 299 * GIB + 4096 * 3):
            file.seek(offset)
            file.write(pattern(200 * KIB, offset % 1000))
    with QPoolExecutor(executor_threads) as executor:
        convert(source, target, executor=executor, compression="zstd")
        assert oracle.check(target).is_clean
        same_guest(source, target)
        assert target.stat().st_size < 3 * MIB
        convert(target, back, executor=executor)
    same_guest(target, back)
    assert back.stat().st_blocks * 512 < 2 * MIB


def write_snapshots(path: Path) -> dict[str, bytes]:
    """Write an image with two snapshots of different sizes; return what each of them holds."""
    builder = ImageBuilder(cluster_bits=12, size=2 * MIB)
    builder.write(0, pattern(20 * KIB, 1))
    builder.write_compressed(100, text(4 * KIB, 2))
    builder.snapshot("first", vm_state=pattern(5000, 9))
    builder.resize(3 * MIB)
    builder.write(4 * KIB, pattern(8 * KIB, 3))
    builder.zero(100)
    builder.snapshot("2", id="7")
    builder.write(0, bytes(8 * KIB) + pattern(512, 4))
    image = builder.build()
    image.write_to(path)
    return {"first": image.guest_bytes(snapshot="first"), "2": image.guest_bytes(snapshot="2")}


@pytest.mark.parametrize(
    ("argument", "name"),
    [("first", "first"), ("1", "first"), ("7", "2"), ("snapshot.name=2", "2")],
)
@pytest.mark.parametrize("suffix", ["raw", "qcow2"])
def test_a_snapshot(argument: str, name: str, suffix: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source.qcow2", tmp_path / f"target.{suffix}"
    expected = write_snapshots(source)[name]
    result = convert(source, target, snapshot=argument)
    assert result.virtual_bytes == len(expected)
    flat = tmp_path / "flat.raw"
    oracle.convert(target, flat, source_format="raw" if suffix == "raw" else "qcow2")
    assert flat.read_bytes() == expected
    # qemu-img keeps the size that the disk has today; what follows belongs to the VM state.
    theirs = tmp_path / "theirs.raw"
    oracle.convert(source, theirs, "-l", f"snapshot.name={name}")
    assert theirs.read_bytes()[: len(expected)] == expected


BASES = ("same", "other", "shorter", "longer", "empty")


def write_base(path: Path, kind: str, content: bytes) -> None:
    """Write one of BASES, raw or qcow2 by its name's end; "same" is the source's own."""
    if kind == "other":
        # Differs where the source has data, where it has zeros, and inside single clusters.
        changed = bytearray(content)
        changed[0:512] = bytes(512)
        changed[MIB + 512 : MIB + 1024] = pattern(512, 60)
        changed[5 * MIB : 5 * MIB + 70 * KIB] = pattern(70 * KIB, 61)
        content = bytes(changed)
    elif kind == "shorter":
        content = content[: 2 * MIB + 700 * 512]
    elif kind == "longer":
        content += pattern(300 * KIB, 62)
    elif kind == "empty":
        content = bytes(len(content))
    raw = path.with_suffix(".raw")
    raw.write_bytes(content)
    if path.suffix == ".qcow2":
        oracle.convert(raw, path, source_format="raw", target_format="qcow2")
        raw.unlink()


BACKED = (
    Case(512),
    Case(4 * KIB, "zlib-32k", refcount_bits=1),
    Case(64 * KIB, "none", "0.10"),
    Case(64 * KIB, "none", extended_l2=True),
    Case(64 * KIB, "zstd", extended_l2=True),
    Case(2 * MIB, "zlib-4k", lazy_refcounts=True),
)


def backed_parameters() -> list[object]:
    """Every case with every base of both formats; each value of the three is in a fast one."""
    parameters: list[object] = []
    for number, (case, kind, base_format) in enumerate(
        itertools.product(BACKED, BASES, ("raw", "qcow2"))
    ):
        marks = [pytest.mark.slow] if number % 7 else []
        name = f"{case}-{kind}-{base_format}"
        parameters.append(pytest.param(case, kind, base_format, id=name, marks=marks))
    return parameters


@pytest.mark.parametrize(("case", "kind", "base_format"), backed_parameters())
def test_a_kept_backing_file(case: Case, kind: str, base_format: str, tmp_path: Path) -> None:
    own = tmp_path / f"own.{base_format}"
    write_base(own, "same", mixed_disk())
    source = tmp_path / "source.qcow2"
    oracle.create(source, None, "-b", own.name, "-F", base_format)
    oracle.qemu_io(
        source,
        "write -P 5 64k 100k",
        "write -z 192k 128k",
        "write -P 0 4M 64k",
        "write -P 9 5M 512",
    )
    base = own
    if kind != "same":
        base = tmp_path / f"base.{base_format}"
        write_base(base, kind, mixed_disk())
    target = tmp_path / "target.qcow2"
    keywords = case.keywords()
    keywords |= {"backing_file": base.name, "backing_format": base_format}
    result = convert(source, target, gate=ALLOW, **keywords)
    found = oracle.check(target)
    assert found.is_clean, found
    same_guest(source, target)
    check_asked_options(target, case)
    info = oracle.info(target)
    assert info["backing-filename"] == base.name
    assert info["backing-filename-format"] == base_format
    if kind == "same" and case.codec == "none":
        # Only what the overlay changed was written.
        assert result.target_bytes < 700 * KIB + 6 * case.cluster_bytes

    flat = tmp_path / "flat.raw"
    convert(target, flat, gate=ALLOW)
    same_guest(source, flat)


def test_a_kept_backing_file_with_a_backing_file(tmp_path: Path) -> None:
    bottom, middle, source = (tmp_path / n for n in ("bottom.raw", "middle.qcow2", "top.qcow2"))
    bottom.write_bytes(mixed_disk(2 * MIB))
    oracle.create(middle, 3 * MIB, "-b", bottom.name, "-F", "raw", "-o", "cluster_size=4k")
    oracle.qemu_io(middle, "write -P 3 100k 30k", "write -z 200k 64k", "write -P 4 2500k 9k")
    oracle.create(source, None, "-b", middle.name, "-F", "qcow2")
    oracle.qemu_io(source, "write -P 6 1M 1k", "write -z 0 64k")
    target = tmp_path / "target.qcow2"
    convert(source, target, gate=ALLOW, backing_file="bottom.raw", backing_format="raw")
    assert oracle.check(target).is_clean
    same_guest(source, target)


@pytest.mark.parametrize(
    ("cluster_bytes", "size"), [(512, 128 * GIB), (4 * KIB, 8 << 40), (64 * KIB, 2 << 50)]
)
def test_the_largest_disk_of_a_cluster_size(cluster_bytes: int, size: int, tmp_path: Path) -> None:
    source, target = tmp_path / "source.qcow2", tmp_path / "target.qcow2"
    oracle.create(source, size, "-o", "cluster_size=2M")
    convert(source, target, cluster_bytes=cluster_bytes, verify=False)
    assert oracle.check(target).is_clean
    assert oracle.info(target)["virtual-size"] == size
    larger = tmp_path / "larger.qcow2"
    oracle.create(larger, size + 512, "-o", "cluster_size=2M")
    with pytest.raises(OptionsError, match="larger cluster size"):
        convert(larger, tmp_path / "no.qcow2", cluster_bytes=cluster_bytes)
    refused = oracle.qemu_img(
        "create", "-f", "qcow2", "-o", f"cluster_size={cluster_bytes}",
        tmp_path / "no.qcow2", str(size + 512), check=False,
    )  # fmt: skip
    assert refused.returncode != 0
    assert ConvertOptions(source, target).cluster_bytes == 64 * KIB
