"""`qcowgui info --json` against `qemu-img info --output=json`, key by key.

Intended differences, the complete list:

- "qcowgui" holds what is ours.
- "children" (qemu-img 8.0 and later) is left out: it repeats what other keys say.
- "actual-size" of an image with an external data file is that of the image alone; QEMU adds the
  data file's, which this program does not touch without consent.
- An image that QEMU refuses has no counterpart; `tests/unit/test_cli_info.py` looks at those.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qcowgui.cli.main import run
from tests.support import oracle
from tests.support.base_images import b0_builder, rich_builder
from tests.support.builder import ImageBuilder

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20


def ours(capsys: pytest.CaptureFixture[str], path: Path, *arguments: str) -> Any:  # noqa: ANN401
    assert run(["info", "--json", *arguments, str(path.absolute())]) == 0
    return json.loads(capsys.readouterr().out)


def without(info: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key not in keys}


def assert_agree(capsys: Capture, path: Path, *ignored: str) -> None:
    found = without(ours(capsys, path), "qcowgui", *ignored)
    assert found == without(oracle.info(path), "children", *ignored)


@pytest.mark.parametrize("cluster_bits", [9, 12, 16, 21])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("backing", [None, "raw", "qcow2"])
def test_versions_cluster_sizes_and_backing(
    version: int, cluster_bits: int, backing: str | None, tmp_path: Path, capsys: Capture
) -> None:
    builder = b0_builder(
        version=version,
        cluster_bits=cluster_bits,
        size=8 * MIB,
        backing_file=f"base.{backing}" if backing else None,
        backing_format=backing,
    )
    assert_agree(capsys, builder.build().write_to(tmp_path / "image.qcow2"))


def snapshots() -> ImageBuilder:
    builder = b0_builder()
    builder.snapshot("first", vm_state=b"state" * 999, vm_clock_nanoseconds=3_723_000_000_007)
    builder.snapshot("second one", id="77", date_nanoseconds=5, icount=12345)
    return builder


def bitmaps() -> ImageBuilder:
    builder = b0_builder()
    builder.bitmap("auto", flags=2, granularity_bits=20)
    builder.bitmap("plain")
    builder.bitmap("left open", flags=1)
    return builder


def luks(**options: Any) -> ImageBuilder:  # noqa: ANN401
    builder = b0_builder()
    builder.luks(**options)
    return builder


def version_2_snapshots() -> ImageBuilder:
    builder = b0_builder(version=2)
    builder.snapshot("old")
    return builder


FEATURES: dict[str, Callable[[], ImageBuilder]] = {
    "zstd": lambda: b0_builder(compression_type=1),
    "extended L2": lambda: b0_builder(extended_l2=True),
    "lazy refcounts": lambda: b0_builder(compatible=1),
    "dirty": lambda: b0_builder(incompatible=1),
    "corrupt": lambda: b0_builder(incompatible=2),
    "one-bit refcounts": lambda: b0_builder(refcount_order=0),
    "64-bit refcounts": lambda: b0_builder(refcount_order=6),
    "backing without a format": lambda: b0_builder(backing_file="base.raw"),
    "backing by protocol": lambda: b0_builder(
        backing_file='json:{"driver":"null-co"}', backing_format="raw"
    ),
    "backing elsewhere": lambda: b0_builder(
        backing_file="/nowhere/a b,c.qcow2", backing_format="qcow2"
    ),
    "backing above": lambda: b0_builder(backing_file="../base.raw", backing_format="raw"),
    "3 TiB": lambda: b0_builder(size=3 << 40),
    "odd size": lambda: b0_builder(size=5 * 512),
    "snapshots": snapshots,
    "snapshots of version 2": version_2_snapshots,
    "bitmaps": bitmaps,
    "LUKS": luks,
    "LUKS with essiv": lambda: luks(cipher_mode="cbc-essiv:sha256", key_bytes=32),
    "LUKS with three keys": lambda: luks(active_slots=(0, 2, 7)),
    "AES": lambda: b0_builder(crypt_method=1),
    "rich": rich_builder,
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str, tmp_path: Path, capsys: Capture) -> None:
    assert_agree(capsys, FEATURES[name]().build().write_to(tmp_path / "image.qcow2"))


@pytest.mark.parametrize("raw", [False, True])
def test_data_files(raw: bool, tmp_path: Path, capsys: Capture) -> None:
    builder = b0_builder(data_file="data file.raw", data_file_raw=raw, size=MIB)
    path = builder.build().write_to(tmp_path / "image.qcow2")
    assert_agree(capsys, path, "actual-size")
    assert ours(capsys, path)["actual-size"] == path.stat().st_blocks * 512


@pytest.mark.parametrize(
    "options",
    [
        "compat=0.10",
        "compat=1.1,lazy_refcounts=on,cluster_size=4k",
        "compression_type=zstd,extended_l2=on",
        "refcount_bits=1,cluster_size=2M",
    ],
)
def test_images_that_qemu_img_makes(options: str, tmp_path: Path, capsys: Capture) -> None:
    path = oracle.create(tmp_path / "image.qcow2", 10 * MIB, "-o", options)
    if "refcount_bits=1" not in options:
        oracle.qemu_img("snapshot", "-c", "taken by qemu", path)
    assert_agree(capsys, path)


def test_luks_that_qemu_img_makes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "image.qcow2"
    secret = ("--object", "secret,id=key,data=password")
    options = "encrypt.format=luks,encrypt.key-secret=key,encrypt.iter-time=10"
    oracle.qemu_img("create", "-q", *secret, "-f", "qcow2", "-o", options, path, "1M")
    assert_agree(capsys, path)


@pytest.mark.parametrize("size", [0, 1, 512, 1000, 70000])
def test_raw_disks(size: int, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "disk.raw"
    path.write_bytes(b"\x55" * size)
    found = ours(capsys, path, "-f", "raw")
    expected = without(oracle.info(path, image_format="raw"), "children")
    assert without(found, "qcowgui") == expected


def test_a_chain(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "base.raw").write_bytes(b"b" * MIB)
    (tmp_path / "sub").mkdir()
    middle = b0_builder(size=MIB, backing_file="../base.raw", backing_format="raw").build()
    middle.write_to(tmp_path / "sub" / "middle.qcow2")
    top = b0_builder(size=MIB, backing_file="sub/middle.qcow2", backing_format="qcow2").build()
    path = top.write_to(tmp_path / "top.qcow2")
    arguments = ("info", "-U", "--output=json", "--backing-chain", path)
    expected = json.loads(oracle.qemu_img(*arguments, folder=tmp_path).stdout)
    found = ours(capsys, path, "--backing-chain", "--allow-backing")
    assert len(found) == 3
    assert [without(layer, "qcowgui") for layer in found] == [
        without(layer, "children") for layer in expected
    ]
