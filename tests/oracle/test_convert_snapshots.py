"""Snapshots that became images, judged by qemu-img: the same bytes as its own `convert -l`."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcowgui.convert.command_line import qemu_img_command
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.snapshots import SnapshotMode, plan_snapshots
from qcowgui.engine.qpool import QPoolExecutor
from qcowgui.image.inspect import inspect
from qcowgui.image.references import AllowGate
from tests.support import oracle
from tests.support.options import MIB

SNAPSHOTS = ("boot", "two words, and a comma", "later")


@pytest.fixture(scope="module", params=["cluster_size=64k", "cluster_size=1k,refcount_bits=64"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image with a life: writes, zeros, discards between its snapshots."""
    path = tmp_path_factory.mktemp("source") / "source.qcow2"
    oracle.create(path, 9 * MIB + 512, "-o", request.param)
    oracle.qemu_io(path, "write -P 1 0 2M", "write -P 2 3M 100k")
    for name, commands in zip(
        SNAPSHOTS,
        (
            ("write -P 3 64k 300k", "write -z 1M 128k"),
            ("discard 3M 64k", "write -P 4 9M 512"),
            ("write -P 5 70k 1k",),
        ),
        strict=True,
    ):
        oracle.qemu_img("snapshot", "-c", name, path)
        oracle.qemu_io(path, *commands)
    return path


def qemu_disk(source: Path, name: str | None, target: Path) -> bytes:
    """A snapshot's disk, or the active one, by the command that users are given to copy."""
    snapshot = f"snapshot.name={name}" if name else None
    options = ConvertOptions(source, target, source_format="qcow2", snapshot=snapshot)
    oracle.qemu_img(*qemu_img_command(options).argv[1:])
    return target.read_bytes()


@pytest.mark.parametrize("cluster_bytes", [4096, 65536])
@pytest.mark.parametrize("mode", ["files", "chain"])
def test_each_disk_is_what_qemu_reads_of_the_snapshot(
    mode: SnapshotMode, cluster_bytes: int, source: Path, tmp_path: Path
) -> None:
    options = ConvertOptions(
        source, tmp_path / "out.qcow2", target_format="qcow2", cluster_bytes=cluster_bytes
    )
    plan = plan_snapshots(options, inspect(source), mode)
    assert plan.left_out == ()
    with QPoolExecutor(2) as executor:
        for step in plan.steps:
            ConvertJob(step.options, AllowGate((tmp_path,))).run(executor)
    targets = [step.options.target for step in plan.steps]
    for name, target in zip((*SNAPSHOTS, None), targets, strict=True):
        assert oracle.check(target).is_clean
        assert oracle.guest_bytes(target) == qemu_disk(source, name, tmp_path / "qemu.raw")
    backing = [oracle.info(target).get("backing-filename") for target in targets]
    below = [None, *(target.name for target in targets[:-1])]
    assert backing == (below if mode == "chain" else [None] * 4)
    if mode == "chain":
        # An overlay holds the differences alone.
        assert max(target.stat().st_size for target in targets[1:]) < targets[0].stat().st_size / 2
