"""Writing a candidate: whole or not at all, with the list of what is lost beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.work import CancelToken, SerialExecutor
from qcowgui.errors import Cancelled, OutputError, ReferencedFileError
from qcowgui.image.references import DENY, AllowGate, Gate
from qcowgui.image.source import FileSource
from qcowgui.salvage.candidates import Candidate
from qcowgui.salvage.search import search_candidates
from qcowgui.salvage.write import SalvageJob, losses_path
from tests.support import oracle
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import MIB


def disk(**options: str) -> BuiltImage:
    builder = ImageBuilder(cluster_bits=12, size=8 * MIB, **options)  # type: ignore[arg-type]
    for index in range(0, 2048, 3):
        builder.write(index << 12, pattern(4096, index))
    return builder.build()


def best_of(source: FileSource) -> Candidate:
    return search_candidates(source, CancelToken()).candidates[0]


def salvage(
    path: Path,
    target: Path,
    *,
    overwrite: bool = False,
    gate: Gate = DENY,
    backing: Path | None = None,
    cancelled: bool = False,
) -> int:
    """Write the best candidate; the number of lost ranges."""
    target_format = "raw" if target.suffix == ".raw" else "qcow2"
    options = ConvertOptions(
        path,
        target,
        target_format=target_format,  # type: ignore[arg-type]
        salvage=True,
        overwrite=overwrite,
    )
    with FileSource(path) as source:
        job = SalvageJob(options, source, best_of(source), gate=gate, backing=backing)
        if cancelled:
            job.token.cancel()
        return len(job.run(SerialExecutor()).losses)


@pytest.fixture
def wiped(tmp_path: Path) -> Path:
    image = disk()
    return image.edited(0, bytes(4096)).write_to(tmp_path / "wiped.qcow2")


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    image = disk()
    return image.edited(image.layout.l2[1].offset, pattern(4096, 1)).write_to(tmp_path / "torn")


@pytest.mark.parametrize("name", ["out.raw", "out.qcow2"])
def test_a_wiped_header_is_written_whole(wiped: Path, tmp_path: Path, name: str) -> None:
    before = wiped.read_bytes()
    target = tmp_path / name
    assert salvage(wiped, target) == 0
    image_format = "raw" if name == "out.raw" else "qcow2"
    expected = disk().guest_bytes()
    read = oracle.guest_bytes(target, image_format=image_format)
    # The size is not recorded: what is behind the last cluster in use can't be told.
    assert read == expected[: len(read)]
    assert not any(expected[len(read) :])
    assert wiped.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"wiped.qcow2", name}


def test_losses_are_listed_beside_the_output(torn: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.raw"
    assert salvage(torn, target) == 1
    listed = json.loads(losses_path(target).read_text())
    assert listed["lost-bytes"] == 2 * MIB
    assert [(item["start"], item["length"]) for item in listed["losses"]] == [(2 * MIB, 2 * MIB)]
    assert "overwritten" in listed["losses"][0]["reason"]
    expected = bytearray(disk().guest_bytes())
    expected[2 * MIB : 4 * MIB] = bytes(2 * MIB)
    assert target.read_bytes() == expected


def test_a_list_of_an_earlier_run_does_not_stay(wiped: Path, torn: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.raw"
    salvage(torn, target)
    assert salvage(wiped, target, overwrite=True) == 0
    assert json.loads(losses_path(target).read_text())["losses"] == []


@pytest.mark.parametrize("suffix", ["", ".losses.json"])
def test_nothing_is_replaced_unasked(torn: Path, tmp_path: Path, suffix: str) -> None:
    existing = tmp_path / f"out.raw{suffix}"
    existing.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        salvage(torn, tmp_path / "out.raw")
    assert existing.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"torn", existing.name}


def test_the_damaged_image_is_never_the_target(torn: Path) -> None:
    before = torn.read_bytes()
    with pytest.raises(OutputError, match="source itself"):
        salvage(torn, torn, overwrite=True)
    assert torn.read_bytes() == before


def test_cancelling_leaves_nothing(torn: Path, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        salvage(torn, tmp_path / "out.raw", cancelled=True)
    assert {path.name for path in tmp_path.iterdir()} == {"torn"}


def test_a_backing_file_that_the_header_names(tmp_path: Path) -> None:
    base = tmp_path / "base.raw"
    base.write_bytes(pattern(8 * MIB, 9))
    image = disk(backing_file="base.raw", backing_format="raw")
    damaged = image.edited(image.layout.l2[1].offset, pattern(4096, 1))
    path = damaged.write_to(tmp_path / "overlay.qcow2")
    assert salvage(path, tmp_path / "with.raw", gate=AllowGate()) == 1
    expected = bytearray(image.guest_bytes(backing=base.read_bytes()))
    expected[2 * MIB : 4 * MIB] = bytes(2 * MIB)
    assert (tmp_path / "with.raw").read_bytes() == expected


def test_without_the_backing_file_its_data_is_a_loss_and_no_zeros(tmp_path: Path) -> None:
    """BL-O16."""
    image = disk(backing_file="gone.raw", backing_format="raw")
    path = image.write_to(tmp_path / "overlay.qcow2")
    target = tmp_path / "out.raw"
    assert salvage(path, target) > 100
    lost = json.loads(losses_path(target).read_text())
    assert "gone.raw" in lost["losses"][0]["reason"]
    expected = bytearray(image.guest_bytes(backing=pattern(8 * MIB, 1)))
    for item in lost["losses"]:
        expected[item["start"] : item["start"] + item["length"]] = bytes(item["length"])
    assert target.read_bytes() == expected


def test_a_backing_file_for_an_image_without_header(tmp_path: Path) -> None:
    base = tmp_path / "base.raw"
    base.write_bytes(pattern(8 * MIB, 9))
    image = disk(backing_file="base.raw", backing_format="raw")
    path = image.edited(0, bytes(4096)).write_to(tmp_path / "overlay.qcow2")
    target = tmp_path / "out.raw"
    salvage(path, target, backing=base)
    read = target.read_bytes()
    assert read == image.guest_bytes(backing=base.read_bytes())[: len(read)]
    with pytest.raises(OutputError, match="a file that the source refers to"):
        salvage(path, base, backing=base, overwrite=True)


def test_a_permitted_backing_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    image = disk(backing_file="gone.raw", backing_format="raw")
    path = image.write_to(tmp_path / "overlay.qcow2")
    with pytest.raises(ReferencedFileError, match=r"gone\.raw"):
        salvage(path, tmp_path / "out.raw", gate=AllowGate())
    assert {item.name for item in tmp_path.iterdir()} == {"overlay.qcow2"}
