"""Preallocated targets: every cluster has its place, the space is there, the bytes are the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from qcowgui.convert.options import ConvertOptions, Preallocation
from qcowgui.convert.outlook import outlook
from qcowgui.convert.output import OutputFile
from qcowgui.convert.preallocation import length_bytes, reserved_bytes
from qcowgui.convert.qcow2_writer import Qcow2Writer
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.engine.work import CancelToken
from qcowgui.errors import Cancelled, OptionsError, OutputError
from qcowgui.format.geometry import OFFSET_MASK
from qcowgui.image.chain import open_image
from qcowgui.image.inspect import inspect
from qcowgui.image.layer import ExtentKind
from qcowgui.image.qcow2_layer import Qcow2Layer
from tests.converting import convert, mixed_disk, names_in
from tests.support.options import GIB, KIB, MIB, TIB

SIZE = 6 * MIB + 1536


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    path.write_bytes(mixed_disk(SIZE))
    return path


def places(path: Path) -> list[int]:
    """The host offset of each guest cluster, by its L2 entry."""
    with open_image(path) as image:
        layer = image.layers[0]
        assert isinstance(layer, Qcow2Layer)
        return [
            int(word) & OFFSET_MASK
            for span in layer.mapping.iter_spans(0, image.size_bytes)
            if span.view is not None
            for word in span.view.words
        ]


@pytest.mark.parametrize(
    ("cluster_bytes", "extended_l2"),
    [*itertools.product((512, 16 * KIB, 64 * KIB, 2 * MIB), (False,)), (16 * KIB, True)],
)
@pytest.mark.parametrize("mode", ["metadata", "falloc", "full"])
def test_every_cluster_has_its_place(
    mode: Preallocation, cluster_bytes: int, extended_l2: bool, disk: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.qcow2"
    result = convert(
        disk, target, preallocation=mode, cluster_bytes=cluster_bytes, extended_l2=extended_l2
    )
    assert result.verified
    found = places(target)
    assert len(set(found)) == -(-SIZE // cluster_bytes)
    assert min(found) > 0
    back = tmp_path / "back.raw"
    convert(target, back)
    assert back.read_bytes() == disk.read_bytes()
    if mode != "metadata":
        assert target.stat().st_blocks * 512 >= SIZE


@pytest.mark.parametrize("mode", ["metadata", "falloc", "full"])
def test_the_length_is_known_before(mode: Preallocation, disk: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.qcow2"
    options = ConvertOptions(disk, target, target_format="qcow2", preallocation=mode)
    convert(disk, target, preallocation=mode)
    assert length_bytes(options, SIZE) == target.stat().st_size
    assert reserved_bytes(options, SIZE) == (0 if mode == "metadata" else target.stat().st_size)


def test_clusters_follow_one_another(disk: Path, tmp_path: Path) -> None:
    """What preallocation is for: a guest that writes in order writes in order in the file."""
    target = tmp_path / "target.qcow2"
    convert(disk, target, preallocation="metadata")
    with open_image(target) as image:
        [extent] = image.iter_extents()
    assert (extent.start, extent.end, extent.kind) == (0, SIZE, ExtentKind.DATA)


def test_the_same_bytes_with_any_number_of_workers(disk: Path, tmp_path: Path) -> None:
    one, many = tmp_path / "one.qcow2", tmp_path / "many.qcow2"
    convert(disk, one, preallocation="metadata", cluster_bytes=4 * KIB)
    with QPoolExecutor(4) as executor:
        convert(disk, many, executor=executor, preallocation="metadata", cluster_bytes=4 * KIB)
    assert one.read_bytes() == many.read_bytes()


@pytest.mark.parametrize("mode", ["falloc", "full"])
def test_a_raw_target_gets_its_space(mode: Preallocation, tmp_path: Path) -> None:
    source = tmp_path / "empty.raw"
    with source.open("wb") as file:
        file.truncate(8 * MIB)
    target = tmp_path / "target.raw"
    convert(source, target, preallocation=mode)
    assert target.read_bytes() == bytes(8 * MIB)
    assert target.stat().st_blocks * 512 >= 8 * MIB


def test_an_empty_disk(tmp_path: Path) -> None:
    source = tmp_path / "empty.raw"
    source.write_bytes(b"")
    target = tmp_path / "target.qcow2"
    convert(source, target, preallocation="full")
    assert inspect(target).virtual_bytes == 0


def test_a_terabyte_of_places_is_quick(tmp_path: Path) -> None:
    source = tmp_path / "large.raw"
    with source.open("wb") as file:
        file.truncate(TIB)
    target = tmp_path / "target.qcow2"
    convert(source, target, preallocation="metadata", cluster_bytes=2 * MIB, verify=False)
    assert target.stat().st_size > TIB
    assert target.stat().st_blocks * 512 < 64 * MIB


def test_placing_can_be_cancelled(tmp_path: Path) -> None:
    options = ConvertOptions(
        tmp_path / "a", tmp_path / "b", target_format="qcow2", preallocation="metadata"
    )
    token = CancelToken()
    token.cancel()
    with OutputFile(options.target, overwrite=False) as output:
        writer = Qcow2Writer(output, options, virtual_bytes=TIB, workers=1)
        with pytest.raises(Cancelled):
            writer.finish(token)
    assert names_in(tmp_path) == set()


def test_no_room_is_said_before_anything_is_written(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("usage", (), {"total": GIB, "used": 0, "free": MIB})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match="would take 6"):
        convert(disk, tmp_path / "target.qcow2", preallocation="falloc")
    assert names_in(tmp_path) == {disk.name}
    options = ConvertOptions(
        disk, tmp_path / "target.qcow2", target_format="qcow2", preallocation="falloc"
    )
    with open_image(disk, format="raw") as image:
        [found] = [item for item in outlook(options, image) if item.code == "too-little-space"]
    assert found.level == "stop"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"preallocation": "some"}, "The preallocation 'some' does not exist"),
        ({"preallocation": "metadata"}, "A raw target can't have preallocated metadata"),
        (
            {"preallocation": "full", "target_format": "qcow2", "compression": "zlib"},
            "can't be compressed",
        ),
        (
            {"preallocation": "full", "target_format": "qcow2", "keep_backing": True},
            "can't have a backing file",
        ),
    ],
)
def test_contradictions(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        ConvertOptions(Path("a"), Path("b"), **keywords)  # type: ignore[arg-type]
