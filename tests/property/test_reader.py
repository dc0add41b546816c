"""Reading damaged images: only documented errors, in bounded time and memory.

The reader is as strict as QEMU at least: what both of them read, they read alike.
"""

from __future__ import annotations

import itertools
import tempfile
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcowgui.errors import ImageError, QcowError
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.inspect import inspect
from qcowgui.image.layer import ExtentKind
from qcowgui.image.references import AllowGate
from qcowgui.image.source import FileSource
from qcowgui.image.summary import summarise_mapping
from tests.support import oracle
from tests.support.built import BuiltImage
from tests.support.options import KIB, MIB
from tests.support.strategies import ImageCase, MutatedImage, image_cases, mutated_images

MAX_READ_BYTES = 4 * MIB
MAX_EXTENTS = 5000
PROCESSOR_SECONDS = 10.0
PEAK_BYTES = 150 * MIB

many = settings(max_examples=60, suppress_health_check=list(HealthCheck))
few = settings(max_examples=40, suppress_health_check=list(HealthCheck))


def read_ends(image: OpenedImage) -> bytes:
    """The whole of a small disk, the first and last part of a large one."""
    size = image.size_bytes
    if size <= MAX_READ_BYTES:
        return image.read(0, size)
    return image.read(0, MAX_READ_BYTES - 64 * KIB) + image.read(size - 64 * KIB, 64 * KIB)


def read_strictly(path: Path) -> bytes | None:
    """What a strict read gives; None for a documented error."""
    try:
        with open_image(path, gate=AllowGate()) as image:
            for extent in itertools.islice(image.iter_extents(), MAX_EXTENTS):
                assert extent.length > 0
            return read_ends(image)
    except QcowError:
        return None


def read_in_salvage(path: Path) -> bytes | None:
    """What salvage gives; None when there is no mapping at all. Data is never a reason to stop."""
    try:
        image = open_image(path, gate=AllowGate(), salvage=True)
    except QcowError:
        return None
    with image:
        data = read_ends(image)
        assert len(data) == min(image.size_bytes, MAX_READ_BYTES)
        assert image.losses is not None
        for lost in image.losses.ranges():
            assert 0 <= lost.start < lost.start + lost.length <= image.size_bytes
            assert lost.reason
            if image.size_bytes <= MAX_READ_BYTES:
                lost_bytes = data[lost.start : lost.start + lost.length]
                assert lost_bytes == bytes(lost.length)
        return data


@given(mutated_images())
@many
def test_damaged_images(example: MutatedImage) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = example.mutated.write_to(Path(folder) / "image.qcow2")
        tracemalloc.start()
        began = time.process_time()
        try:
            strict = read_strictly(path)
            salvaged = read_in_salvage(path)
            try:
                with FileSource(path) as source:
                    summarise_mapping(source, inspect(path))
            except ImageError:
                pass
            assert time.process_time() - began < PROCESSOR_SECONDS
            assert tracemalloc.get_traced_memory()[1] < PEAK_BYTES
        finally:
            tracemalloc.stop()
        if strict is not None:
            assert salvaged == strict


@given(image_cases(), st.data())
@many
def test_healthy_images_read_as_they_were_written(case: ImageCase, data: st.DataObject) -> None:
    image = case.build()
    expected = image.guest_bytes()
    expected = expected[: len(expected) // 512 * 512]
    with tempfile.TemporaryDirectory() as folder:
        path = image.write_to(Path(folder) / "image.qcow2")
        with open_image(path) as opened:
            assert opened.read(0, opened.size_bytes) == expected
            assert_extents(opened, expected, image)
            context = opened.context()
            for _ in range(5):
                start = data.draw(st.integers(0, len(expected)))
                length = data.draw(st.integers(0, 70 * KIB))
                assert opened.read(start, length, context) == expected[start : start + length]
        for name, disk in image.snapshot_disks.items():
            with open_image(path, snapshot=f"snapshot.name={name}") as opened:
                assert opened.read(0, MIB * 8) == disk.read(0, opened.size_bytes)


def assert_extents(opened: OpenedImage, expected: bytes, image: BuiltImage) -> None:
    """Complete, in order; zeros are zeros, and plain data is where the extent says."""
    position = 0
    for extent in opened.iter_extents():
        assert extent.start == position
        position = extent.end
        content = expected[extent.start : extent.end]
        if extent.kind in (ExtentKind.UNALLOCATED, ExtentKind.ZERO):
            assert content == bytes(extent.length)
        elif extent.kind is ExtentKind.DATA:
            assert extent.host_offset is not None
            assert (
                image.read(extent.host_offset, extent.length).ljust(extent.length, b"\0") == content
            )
    assert position == len(expected)


@pytest.mark.slow
@given(mutated_images(max_edits=2))
@few
def test_what_we_and_qemu_read_is_the_same(example: MutatedImage) -> None:
    """Where QEMU reads and we refuse is in the cases; where both read, the bytes are equal."""
    with tempfile.TemporaryDirectory() as folder:
        path = example.mutated.write_to(Path(folder) / "image.qcow2")
        try:
            with open_image(path, gate=AllowGate()) as image:
                if image.size_bytes > MAX_READ_BYTES:
                    return
                ours = image.read(0, image.size_bytes)
        except QcowError:
            return
        target = Path(folder) / "guest.raw"
        command = ("convert", "-U", "-f", "qcow2", "-O", "raw", path, target)
        if oracle.qemu_img(*command, check=False, folder=path.parent).returncode == 0:
            assert target.read_bytes() == ours
