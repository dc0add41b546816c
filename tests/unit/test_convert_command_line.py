"""Conversions as commands: ours parses back to the same options, qemu-img's says what it lacks."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from qcowgui.cli.convert import command, convert_options
from qcowgui.convert.command_line import command_text, qcowgui_command, qemu_img_command
from qcowgui.convert.options import ConvertOptions
from tests.support.options import KIB, MIB

SOURCE, TARGET = Path("/in/disk one.qcow2"), Path("/out/Ünit %20.qcow2")
RAW = ConvertOptions(SOURCE, TARGET)
QCOW2 = ConvertOptions(SOURCE, TARGET, target_format="qcow2")

VARIANTS = [
    RAW,
    replace(RAW, source_format="raw", sparse_bytes=0, threads=3, verify=False, overwrite=True),
    replace(RAW, sparse_bytes=64 * KIB, snapshot="snapshot.name=a, b", salvage=True),
    QCOW2,
    replace(QCOW2, compression="zlib", level=9, window="4k"),
    replace(QCOW2, compression="zstd", level=19, cluster_bytes=2 * MIB, keep_backing=True),
    replace(QCOW2, extended_l2=True, lazy_refcounts=True, refcount_bits=1, bitmaps=True),
    replace(QCOW2, compat="0.10", backing_file="./base:1.img", backing_format="raw"),
    replace(QCOW2, source=Path("-f"), target=Path("--force"), snapshot="-l"),
    replace(QCOW2, source=Path("line\nbreak"), target=Path("quote'd $(x)")),
]


@pytest.mark.parametrize("options", VARIANTS)
def test_our_own_command_means_the_same(options: ConvertOptions) -> None:
    argv = shlex.split(command_text(qcowgui_command(options)))
    assert argv[:2] == ["qcowgui", "convert"]
    with command.make_context("convert", argv[2:]) as context:
        assert convert_options(context.params) == options


def test_allowed_files_are_named() -> None:
    argv = qcowgui_command(QCOW2, allowed=[Path("/base/a.qcow2"), Path("b")])
    with command.make_context("convert", argv[2:]) as context:
        assert context.params["allow_backing"] == ("/base/a.qcow2", "b")


def test_defaults_are_left_out() -> None:
    assert qcowgui_command(RAW) == [
        "qcowgui",
        "convert",
        "-O",
        "raw",
        str(SOURCE),
        str(TARGET),
    ]


def test_qemu_img_in_full() -> None:
    options = replace(
        QCOW2,
        source_format="qcow2",
        compression="zstd",
        cluster_bytes=128 * KIB,
        refcount_bits=32,
        lazy_refcounts=True,
        backing_file="base.raw",
        backing_format="raw",
        bitmaps=True,
        salvage=True,
        verify=False,
        overwrite=True,
    )
    found = qemu_img_command(options)
    assert found.text == (
        "qemu-img convert -f qcow2 -O qcow2 -c -o "
        "compression_type=zstd,cluster_size=131072,refcount_bits=32,lazy_refcounts=on "
        "-B base.raw -F raw --bitmaps --skip-broken-bitmaps --salvage "
        "'/in/disk one.qcow2' '/out/Ünit %20.qcow2'"
    )
    assert found.left_out == (
        "The list of losses as a file: qemu-img only prints what it could not read.",
    )


def test_what_qemu_img_lacks_is_said() -> None:
    options = replace(QCOW2, compression="zlib", level=3, threads=2, keep_backing=True)
    left_out = qemu_img_command(options).left_out
    assert [text.split(":")[0] for text in left_out] == [
        "The level 3",
        "The window of 32 KiB",
        "The source's own backing file, which qemu-img wants named",
        "The number of threads, 2",
        "Verifying",
        "Keeping a file that exists",
    ]
    assert qemu_img_command(replace(RAW, verify=False, overwrite=True)).left_out == ()


@pytest.mark.parametrize(
    ("name", "shown"),
    [("-x", "./-x"), ("nbd:1", "./nbd:1"), ("a/b:c", "a/b:c"), ("/a:b", "/a:b"), ("a b", "a b")],
)
def test_a_file_name_stays_one_for_qemu_img(name: str, shown: str) -> None:
    argv = qemu_img_command(replace(RAW, source=Path(name), target=Path(name))).argv
    assert argv[-2:] == (shown, shown)


@pytest.mark.parametrize(
    ("snapshot", "shown"),
    [
        ("before", "before"),
        ("a,b", "a,b"),
        ("snapshot.id=1", "snapshot.id=1"),
        ("snapshot.name=a,b=c", "snapshot.name=a,,b=c"),
        ("snapshot.x", "snapshot.name=snapshot.x"),
    ],
)
def test_a_snapshot_for_qemu_img(snapshot: str, shown: str) -> None:
    argv = qemu_img_command(replace(RAW, snapshot=snapshot)).argv
    assert argv[argv.index("-l") + 1] == shown
