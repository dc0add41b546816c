"""Overlays of damaged images: an answer or one of our errors, and never a wrong answer."""

from __future__ import annotations

from collections import Counter as Tallies
from collections.abc import Callable
from pathlib import Path

import pytest

from qcowgui.convert.differences import Difference
from qcowgui.engine.work import CancelToken, RunningWork, SerialExecutor, Worker
from qcowgui.errors import QcowError, SourceError
from qcowgui.gui.comparison import CompareWork
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.overlays import BitmapWork, Overlay, SnapshotWork
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import FileSource
from tests.support.base_images import b0, pattern, rich
from tests.support.damages import DAMAGES
from tests.support.options import KIB, MIB

UNIT = 4 * KIB


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the healthy image and its backing file."""
    (tmp_path / "base.raw").write_bytes(pattern(MIB, seed=9))
    rich().write_to(tmp_path / "healthy.qcow2")
    return tmp_path


def tried(work: Callable[[CancelToken], Overlay]) -> Overlay | None:
    try:
        return work(CancelToken())
    except QcowError as error:
        assert error.message  # noqa: PT017  the rule is that there is no other kind
        return None


def opened(path: Path) -> OpenedImage:
    return open_image(path, gate=Consent((path.parent,)).gate(), salvage=True)


@pytest.mark.parametrize("name", list(DAMAGES))
def test_a_damaged_image_beside_the_healthy_one(folder: Path, name: str) -> None:
    damaged = DAMAGES[name].apply(rich()).write_to(folder / "damaged.qcow2")
    healthy = folder / "healthy.qcow2"
    gate = Consent((folder,)).gate()
    overlay = tried(CompareWork(healthy, damaged, gate, SerialExecutor(), UNIT))
    if overlay is None:
        return
    with opened(healthy) as left, opened(damaged) as right:
        end = min(max(left.size_bytes, right.size_bytes), 8 * MIB)
        one, other = (image.read(0, end).ljust(end, b"\0") for image in (left, right))
        assert right.losses is not None
        lost = right.losses.ranges()
    for index, cell in enumerate(overlay.layer.cells[: end // UNIT].tolist()):
        start, stop = index * UNIT, (index + 1) * UNIT
        unknown = any(found.start < stop and start < found.end for found in lost)
        same = one[start:stop] == other[start:stop]
        assert (cell == Difference.UNKNOWN) == unknown
        assert unknown or (cell == Difference.SAME) == same


@pytest.mark.parametrize("name", list(DAMAGES))
def test_snapshots_and_bitmaps_of_a_damaged_image(folder: Path, name: str) -> None:
    path = DAMAGES[name].apply(rich()).write_to(folder / "damaged.qcow2")
    with FileSource(path) as source:
        try:
            report = inspect_source(source)
        except QcowError:
            return  # no image at all
        works: list[Callable[[CancelToken], Overlay]] = [
            *(SnapshotWork(source, report, snapshot) for snapshot in report.snapshots),
            *(BitmapWork(source, report, bitmap) for bitmap in report.bitmaps),
        ]
        for work in works:
            overlay = tried(work)
            if overlay is not None:
                values = {key.value for key in overlay.layer.keys}
                assert set(Tallies(overlay.layer.cells.tolist())) <= values
                assert overlay.sentence


def test_an_image_that_is_written_meanwhile_has_no_answer(tmp_path: Path) -> None:
    left = b0().write_to(tmp_path / "left.qcow2")
    right = b0().write_to(tmp_path / "right.qcow2")

    class Writer(SerialExecutor):
        """Writes to the right image while the two are compared."""

        def start(self, worker: Worker, token: CancelToken) -> RunningWork:
            running = super().start(worker, token)
            with right.open("ab") as file:
                file.write(b"x" * 4096)
            return running

    work = CompareWork(left, right, NOTHING_ALLOWED.gate(), Writer(), 64 * KIB)
    with pytest.raises(SourceError):
        work(CancelToken())
