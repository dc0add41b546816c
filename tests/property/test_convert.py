"""Whatever a disk holds and whatever is asked for: converted there and back, it is the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcowgui.convert.options import CLUSTER_SIZES, REFCOUNT_BITS
from qcowgui.errors import QcowError
from tests.converting import ALLOW, ConvertKeywords, convert
from tests.support import oracle
from tests.support.base_images import pattern, text
from tests.support.options import KIB, MIB
from tests.support.strategies import ImageCase, MutatedImage, image_cases, mutated_images

SMALL_CLUSTERS = [size for size in CLUSTER_SIZES if size <= 64 * KIB]


@st.composite
def disks(draw: st.DrawFn) -> bytes:
    """Draw a disk of up to about 200 KiB: runs of zeros, noise and text with odd borders."""
    run = st.tuples(
        st.sampled_from(["zeros", "zeros", "noise", "text", "byte"]),
        st.sampled_from([1, 511, 512, 513, 4096, 5000, 65536]),
    )
    parts = []
    for seed, (kind, length) in enumerate(draw(st.lists(run, max_size=8))):
        if kind == "zeros":
            parts.append(bytes(length))
        elif kind == "noise":
            parts.append(pattern(length, seed))
        elif kind == "text":
            parts.append(text(length, seed))
        else:
            parts.append(b"\x01" + bytes(length - 1))
    return b"".join(parts)


@st.composite
def qcow2_options(draw: st.DrawFn) -> ConvertKeywords:
    """Draw the options of a qcow2 target that go together."""
    keywords: ConvertKeywords = {
        "target_format": "qcow2",
        "compression": draw(st.sampled_from(["none", "zlib", "zstd"])),
        "cluster_bytes": draw(st.sampled_from(SMALL_CLUSTERS)),
        "compat": draw(st.sampled_from(["1.1", "1.1", "0.10"])),
    }
    if keywords["compression"] == "zlib":
        keywords["window"] = draw(st.sampled_from(["32k", "4k"]))
        keywords["level"] = draw(st.integers(0, 9))
    if keywords["compat"] == "0.10":
        if keywords["compression"] == "zstd":
            keywords["compression"] = "none"
        return keywords
    keywords["refcount_bits"] = draw(st.sampled_from(REFCOUNT_BITS))
    keywords["lazy_refcounts"] = draw(st.booleans())
    keywords["extended_l2"] = keywords["cluster_bytes"] >= 16 * KIB and draw(st.booleans())
    return keywords


def there_and_back(
    folder: Path, disk: bytes, keywords: ConvertKeywords, *, sparse_bytes: int = 4 * KIB
) -> tuple[Path, Path]:
    """Convert a disk to qcow2 and to raw again; return the two targets."""
    source, target, back = (folder / name for name in ("disk.raw", "image.qcow2", "back.raw"))
    source.write_bytes(disk)
    keywords["verify"] = False
    convert(source, target, **keywords)
    convert(target, back, gate=ALLOW, sparse_bytes=sparse_bytes)
    return target, back


def whole_sectors(disk: bytes) -> bytes:
    return disk.ljust(-(-len(disk) // 512) * 512, b"\0")


@given(disk=disks(), keywords=qcow2_options(), sparse_bytes=st.sampled_from([0, 512, 4096]))
@settings(max_examples=60)
def test_there_and_back(disk: bytes, keywords: ConvertKeywords, sparse_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        _, back = there_and_back(Path(name), disk, keywords, sparse_bytes=sparse_bytes)
        assert back.read_bytes() == whole_sectors(disk)


@given(disk=disks(), base=disks(), keywords=qcow2_options())
@settings(max_examples=40)
def test_over_any_backing_file(disk: bytes, base: bytes, keywords: ConvertKeywords) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "base.raw").write_bytes(base)
        keywords |= {"backing_file": "base.raw", "backing_format": "raw"}
        _, back = there_and_back(folder, disk, keywords)
        assert back.read_bytes() == whole_sectors(disk)


@given(case=image_cases(leaks=True), keywords=qcow2_options())
@settings(max_examples=40)
def test_any_image(case: ImageCase, keywords: ConvertKeywords) -> None:
    image = case.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = image.write_to(folder / "source.qcow2")
        convert(source, folder / "target.qcow2", **keywords)
        convert(folder / "target.qcow2", folder / "back.raw")
        assert (folder / "back.raw").read_bytes() == image.guest_bytes()


@given(damaged=mutated_images())
@settings(max_examples=60)
def test_a_damaged_image_gives_a_whole_target_or_an_error_of_ours(damaged: MutatedImage) -> None:
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "source.qcow2", Path(name) / "target.qcow2"
        damaged.mutated.write_to(source)
        before = source.read_bytes()
        try:
            convert(source, target, cluster_bytes=2 * MIB)
        except QcowError:
            assert not target.exists()
        else:
            assert target.stat().st_size >= 2 * MIB
        assert not list(Path(name).glob(".*"))
        assert source.read_bytes() == before


@pytest.mark.slow
@given(disk=disks(), base=st.none() | disks(), keywords=qcow2_options())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_qemu_agrees(disk: bytes, base: bytes | None, keywords: ConvertKeywords) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if base is not None:
            (folder / "base.raw").write_bytes(base)
            keywords |= {"backing_file": "base.raw", "backing_format": "raw"}
        target, _ = there_and_back(folder, disk, keywords)
        found = oracle.check(target)
        assert found.is_clean, found
        assert oracle.guest_bytes(target) == whole_sectors(disk)
