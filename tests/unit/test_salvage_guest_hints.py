"""Structures of a guest's disk at known places: found, sized, and their copies told apart."""

from __future__ import annotations

import struct

import pytest

from qcowgui.salvage.guest_hints import GuestHints, is_disk_start, read_hints, volume_marks
from tests.support.base_images import pattern
from tests.support.options import GIB, KIB, MIB

UUID = bytes(range(16))


def hints_of(disk: bytes) -> GuestHints:
    return read_hints(lambda offset, length: disk[offset : offset + length])


def ext_superblock(
    *, blocks: int, group: int = 0, log_block: int = 2, sparse: bool = True
) -> bytes:
    data = bytearray(1024)
    struct.pack_into("<I", data, 4, blocks)
    struct.pack_into("<I", data, 20, int(log_block == 0))
    struct.pack_into("<I", data, 24, log_block)
    struct.pack_into("<I", data, 32, 8 * (1024 << log_block))
    data[56:58] = b"\x53\xef"
    struct.pack_into("<H", data, 90, group)
    struct.pack_into("<I", data, 0x64, int(sparse))
    data[104:120] = UUID
    return bytes(data)


def with_at(size: int, *parts: tuple[int, bytes]) -> bytes:
    disk = bytearray(size)
    for offset, data in parts:
        disk[offset : offset + len(data)] = data
    return bytes(disk)


def mbr(*partitions: tuple[int, int]) -> bytes:
    sector = bytearray(512)
    for index, (first, count) in enumerate(partitions):
        struct.pack_into("<B3xB3xII", sector, 446 + 16 * index, 0, 0x83, first, count)
    sector[510:] = b"\x55\xaa"
    return bytes(sector)


def gpt(*, backup: int, starts: tuple[int, ...] = (2048,)) -> bytes:
    header = bytearray(512)
    header[:8] = b"EFI PART"
    struct.pack_into("<QQ", header, 24, 1, backup)
    struct.pack_into("<QII", header, 72, 2, 128, 128)
    entries = b"".join(b"T" * 32 + struct.pack("<QQ", s, s + 9) + bytes(80) for s in starts)
    return bytes(header) + entries


def test_an_ext_file_system_promises_its_copies() -> None:
    blocks = 40 * 8 * 4096  # 40 groups of 128 MiB
    hints = hints_of(with_at(8 * KIB, (1024, ext_superblock(blocks=blocks))))
    assert hints.least_bytes == blocks * 4096
    assert not hints.exact
    assert [mark.guest_offset // (128 * MIB) for mark in hints.marks] == [1, 3, 5, 7, 9, 25, 27]
    mark = hints.marks[2]
    assert mark.check(ext_superblock(blocks=blocks, group=5))
    assert not mark.check(ext_superblock(blocks=blocks, group=3))
    assert not mark.check(bytes(1024))
    assert not mark.check(b"")


def test_ext_copies_with_blocks_of_1_kib_lie_one_block_later() -> None:
    hints = hints_of(with_at(8 * KIB, (1024, ext_superblock(blocks=40_000, log_block=0))))
    assert [mark.guest_offset for mark in hints.marks] == [
        (1 + group * 8192) * 1024 for group in (1, 3)
    ]


def test_without_sparse_super_every_group_has_a_copy() -> None:
    superblock = ext_superblock(blocks=6 * 8 * 4096, sparse=False)
    hints = hints_of(with_at(8 * KIB, (1024, superblock)))
    assert len(hints.marks) == 5


def test_an_mbr_leads_to_the_volumes() -> None:
    disk = with_at(
        2 * MIB, (0, mbr((2048, 40960))), (MIB + 1024, ext_superblock(blocks=3 * 8 * 4096))
    )
    hints = hints_of(disk)
    assert hints.starts == [MIB]
    assert hints.least_bytes == MIB + 3 * 8 * 4096 * 4096
    assert hints.marks[0].guest_offset == MIB + 128 * MIB


def test_a_gpt_tells_the_disks_size_and_where_its_copy_is() -> None:
    backup = 10 * GIB // 512 - 1
    hints = hints_of(with_at(2 * MIB, (0, mbr((1, 0xFFFF))), (512, gpt(backup=backup))))
    assert hints.exact
    assert hints.least_bytes == 10 * GIB
    assert hints.starts == [MIB]
    copy = bytearray(512)
    copy[:8] = b"EFI PART"
    struct.pack_into("<Q", copy, 24, backup)
    assert hints.marks[0].guest_offset == backup * 512
    assert hints.marks[0].check(bytes(copy))
    struct.pack_into("<Q", copy, 24, backup - 1)
    assert not hints.marks[0].check(bytes(copy))


def test_xfs_allocation_groups_carry_their_number() -> None:
    head = bytearray(512)
    head[:4] = b"XFSB"
    struct.pack_into(">IQ", head, 4, 4096, 1 << 20)
    head[32:48] = UUID
    struct.pack_into(">II", head, 84, 1 << 18, 4)
    struct.pack_into(">H", head, 102, 512)
    hints = hints_of(bytes(head))
    assert hints.least_bytes == 4 * GIB
    assert [mark.guest_offset for mark in hints.marks] == [GIB, 2 * GIB, 3 * GIB]
    group = bytes(head) + b"XAGF" + struct.pack(">II", 1, 2) + bytes(500)
    assert hints.marks[1].check(group)
    assert not hints.marks[0].check(group)


def test_btrfs_copies_carry_their_place() -> None:
    head = bytearray(4096)
    head[32:48] = UUID
    head[64:72] = b"_BHRfS_M"
    hints = hints_of(with_at(80 * KIB, (64 * KIB, bytes(head))))
    assert [mark.guest_offset for mark in hints.marks] == [64 * MIB, 256 * GIB]
    struct.pack_into("<Q", head, 48, 64 * MIB)
    assert hints.marks[0].check(bytes(head))
    assert not hints.marks[1].check(bytes(head))


def test_ntfs_keeps_its_boot_sector_at_the_end() -> None:
    boot = bytearray(512)
    boot[3:11] = b"NTFS    "
    struct.pack_into("<H", boot, 11, 512)
    struct.pack_into("<Q", boot, 40, 204_799)
    hints = hints_of(bytes(boot))
    assert hints.least_bytes == 204_800 * 512
    assert hints.marks[0].guest_offset == 204_799 * 512
    assert hints.marks[0].check(bytes(boot))


@pytest.mark.parametrize(
    ("disk", "word"),
    [
        (b"LUKS\xba\xbe" + bytes(600), "LUKS"),
        (with_at(4 * KIB, (512, b"LABELONE" + struct.pack("<Q", 1))), "LVM"),
        (with_at(40 * KIB, (32 * KIB, b"\x01CD001")), "ISO 9660"),
    ],
)
def test_other_volumes_are_named(disk: bytes, word: str) -> None:
    assert word in hints_of(disk).labels[0]


@pytest.mark.parametrize(
    "head",
    [
        mbr((2048, 40960)),
        with_at(4 * KIB, (512, gpt(backup=99))),
        with_at(4 * KIB, (1024, ext_superblock(blocks=99))),
        b"XFSB" + bytes(508),
    ],
)
def test_the_start_of_a_disk_is_recognised(head: bytes) -> None:
    assert is_disk_start(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        bytes(4 * KIB),
        pattern(4 * KIB, 3),
        b"\x11" * 510 + b"\x55\xaa",
        with_at(4 * KIB, (1024, ext_superblock(blocks=99, group=3))),
    ],
)
def test_other_bytes_are_no_start_of_a_disk(head: bytes) -> None:
    assert not is_disk_start(head)


def test_a_volume_can_be_looked_for_at_its_place() -> None:
    marks = volume_marks(MIB)
    superblock = ext_superblock(blocks=99)
    assert [m.guest_offset for m in marks if m.check(superblock)] == [MIB + 1024]


@pytest.mark.parametrize("seed", range(30))
def test_hostile_heads_raise_nothing(seed: int) -> None:
    noise = pattern(80 * KIB, seed)
    for magic, offset in (
        (b"EFI PART", 512),
        (b"XFSB", 0),
        (b"NTFS    ", 3),
        (b"_BHRfS_M", 64 * KIB + 64),
        (b"\x53\xef", 1080),
        (b"CD001", 32 * KIB + 1),
    ):
        disk = with_at(80 * KIB, (0, noise), (offset, magic))
        hints = hints_of(disk)
        assert len(hints.marks) <= 1000
        for mark in hints.marks:
            mark.check(noise[:4096])
