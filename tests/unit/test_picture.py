"""The cluster map as a picture: what file managers show of an image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PySide6.QtGui import QImage

from qcowgui.check.clustermap import ClusterState
from qcowgui.cli.main import run
from qcowgui.cli.picture import command
from qcowgui.desktop import picture
from qcowgui.desktop.picture import cluster_picture, draw
from qcowgui.errors import CorruptError, ExitCode, NotQcow2Error, UnsupportedError
from qcowgui.image.source import FileSource
from qcowgui.report.palette import host_colour
from qcowgui.resources import resource_path
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Four tables, and five guest clusters of data."""
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(5 << 16))
    return builder.build().write_to(tmp_path / "image.qcow2")


def states_in(path: Path, side: int, *, dark: bool = False) -> QImage:
    with FileSource(path) as source:
        image = QImage.fromData(cluster_picture(source, side, dark=dark))
    assert not image.isNull()
    return image


@pytest.mark.parametrize("dark", [False, True])
def test_a_cell_for_each_cluster(image: Path, dark: bool) -> None:
    shown = states_in(image, 128, dark=dark)
    clusters = image.stat().st_size >> 16
    columns = next(n for n in range(1, 9) if n * n >= clusters)
    cell = 128 // columns
    assert shown.width() == columns * cell
    drawn = [
        shown.pixelColor(index % columns * cell, index // columns * cell).name()
        for index in range(clusters)
    ]
    expected = {
        state: host_colour(state).of(dark=dark)
        for state in (
            ClusterState.HEADER,
            ClusterState.REFCOUNT_TABLE,
            ClusterState.REFCOUNT_BLOCK,
            ClusterState.ACTIVE_L1,
            ClusterState.ACTIVE_L2,
        )
    }
    assert drawn[0] == expected[ClusterState.HEADER]
    assert {drawn.count(colour) for colour in expected.values()} == {1}
    assert drawn.count(host_colour(ClusterState.DATA).of(dark=dark)) == 5


def test_one_bad_cluster_in_a_million_is_seen() -> None:
    states = np.full(1_000_003, ClusterState.DATA, dtype=np.uint8)
    states[777_777] = ClusterState.CONTESTED
    pixels = draw(states, 128)
    assert max(pixels.shape) <= 128
    assert np.count_nonzero(pixels == ClusterState.CONTESTED) == 1


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5, 9, 10, 99, 100, 101, 65_537])
@pytest.mark.parametrize("side", [1, 16, 17, 128, 500])
def test_any_number_fits(cells: int, side: int) -> None:
    pixels = draw(np.full(cells, ClusterState.DATA, dtype=np.uint8), side)
    assert 1 <= pixels.shape[0] <= pixels.shape[1] <= side
    assert pixels[0, 0] == ClusterState.DATA
    if cells >= side * side:
        assert pixels.shape[1] > side // 4


@pytest.mark.parametrize(("cells", "side"), [(0, 16), (5, 0)])
def test_nothing_to_draw(cells: int, side: int) -> None:
    with pytest.raises(ValueError, match="needs cells and pixels"):
        draw(np.zeros(cells, dtype=np.uint8), side)


def test_what_has_no_map(tmp_path: Path, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text("text" * 1000)
    with pytest.raises(NotQcow2Error):
        states_in(tmp_path / "text", 128)
    monkeypatch.setattr(picture, "MAX_CELLS", 3)
    with pytest.raises(UnsupportedError, match="more than 3 clusters"):
        states_in(image, 128)
    monkeypatch.undo()
    data = bytearray(image.read_bytes())
    data[20:24] = (99).to_bytes(4, "big")  # cluster_bits
    image.write_bytes(data)
    with pytest.raises(CorruptError, match="how large its clusters are"):
        states_in(image, 128)


def test_no_other_file_is_opened(tmp_path: Path) -> None:
    """The image names a backing file that isn't there."""
    path = rich().write_to(tmp_path / "rich.qcow2")
    assert states_in(path, 64).width() <= 64


def test_the_command(image: Path, tmp_path: Path) -> None:
    before = image.read_bytes()
    target = tmp_path / "map.png"
    arguments = ["picture", "--size", "64", "-o", str(target), str(image)]
    assert run(arguments) == ExitCode.GOOD
    first = target.read_bytes()
    assert QImage(str(target)).width() <= 64
    assert run(arguments) == ExitCode.FAILED
    assert run([*arguments[:-2], str(target), "--force", "--dark", str(image)]) == ExitCode.GOOD
    assert target.read_bytes() != first
    assert image.read_bytes() == before


def test_what_a_thumbnailer_runs(image: Path, tmp_path: Path) -> None:
    """Desktops make the file for the picture first; and an image may have any name."""
    odd = image.rename(tmp_path / "-x y.qcow2")
    target = tmp_path / "thumbnail.png"
    target.touch()
    values = {"%s": "96", "%o": str(target), "%i": str(odd)}
    text = resource_path("desktop", "qcowgui.thumbnailer").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("Exec="))
    program, *words = line.removeprefix("Exec=").split()
    assert program == "qcowgui"
    assert run([values.get(word, word) for word in words]) == ExitCode.GOOD
    assert 0 < QImage(str(target)).width() <= 96


@pytest.mark.parametrize("side", ["15", "8193", "x"])
def test_sizes_that_are_refused(image: Path, tmp_path: Path, side: str) -> None:
    target = tmp_path / "map.png"
    done = CliRunner().invoke(command, ["--size", side, "-o", str(target), str(image)])
    assert done.exit_code != 0
    assert not target.exists()


def test_a_failure_leaves_nothing(tmp_path: Path, image: Path) -> None:
    (tmp_path / "text").write_text("text")
    target = tmp_path / "folder" / "map.png"
    target.parent.mkdir()
    assert run(["picture", "-o", str(target), str(tmp_path / "text")]) == ExitCode.UNSUPPORTED
    assert list(target.parent.iterdir()) == []
    assert (
        run(["picture", "-o", str(tmp_path / "nowhere" / "x.png"), str(image)]) == ExitCode.FAILED
    )
