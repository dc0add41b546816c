"""Structures of a guest's disk that lie at known places: partition tables, superblocks, copies.

They confirm that guest offset 0 was found, tell the disk's size, and, where a copy carries its own
number, tell which place in the disk a piece of it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from qcowgui.units import GIB, KIB, MIB, SECTOR_BYTES, format_size

Read = Callable[[int, int], bytes]
"""Guest bytes from an offset on; empty, or zeros, where nothing is known."""

HEAD_BYTES: Final = 4 * KIB
"""How much of the disk's first bytes tells that it is the first."""
_MAX_MARKS: Final = 256
"""ours: copies of one file system that are looked for."""
_MAX_PARTITIONS: Final = 128


@dataclass(frozen=True, slots=True)
class GuestMark:
    """Bytes that, where they are found, tell their own guest offset.

    Attributes:
        guest_offset: Where they belong.
        length: How many to read.
        check: Whether bytes are these.
        label: What they are, for a sentence.
    """

    guest_offset: int
    length: int
    check: Callable[[bytes], bool]
    label: str


@dataclass(slots=True)
class GuestHints:
    """What the known places of a disk say.

    Attributes:
        labels: What was found, for sentences.
        least_bytes: The disk has at least so many bytes, by what its structures say; 0: unknown.
        exact: Whether that is the disk's size, as a GPT tells it.
        marks: Where further copies must be.
        starts: Guest offsets where a volume begins.
        ext_volumes: (guest offset, superblock) of each ext file system.
    """

    labels: list[str] = field(default_factory=list)
    least_bytes: int = 0
    exact: bool = False
    marks: list[GuestMark] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ext_volumes: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, label: str, end_bytes: int = 0) -> None:
        """Note a structure, and where what it describes ends (exclusive guest offset)."""
        self.labels.append(label)
        if end_bytes < 1 << 62:
            self.least_bytes = max(self.least_bytes, end_bytes)


def read_hints(read: Read) -> GuestHints:
    """What the disk that `read` gives says of itself."""
    hints = GuestHints()
    head = read(0, HEAD_BYTES)
    partitions = _read_partitions(head, read, hints)
    # A disk without partitions may be one volume as a whole.
    for start in partitions or [0]:
        hints.starts.append(start)
        _read_volume(start, read, hints)
    return hints


def is_disk_start(head: bytes) -> bool:
    """Whether bytes are those of guest offset 0 of a disk: partitions, or a volume."""
    if head[512:520] == b"EFI PART" or any(_mbr_entries(head)):
        return True
    return any(mark.check(head[mark.guest_offset :][: mark.length]) for mark in _start_marks(0, 4))


def volume_marks(start: int) -> list[GuestMark]:
    """What a volume at guest offset `start` can begin with, for finding where it is."""
    return list(_start_marks(start, 16))


def _start_marks(start: int, last_lvm_sector: int) -> Iterator[GuestMark]:
    yield GuestMark(start + 1024, 1024, lambda data: is_ext(data, 0), "ext superblock")
    yield GuestMark(start, 512, lambda data: data[:4] == b"XFSB", "XFS superblock")
    yield GuestMark(start, 512, lambda data: data[3:11] == b"NTFS    ", "NTFS boot sector")
    yield GuestMark(start, 512, lambda data: data[:6] == b"LUKS\xba\xbe", "LUKS header")
    for sector in range(min(4, last_lvm_sector)):
        yield GuestMark(
            start + sector * SECTOR_BYTES,
            SECTOR_BYTES,
            partial(_is_lvm, sector=sector),
            "LVM label",
        )


def usual_ext_copies() -> Iterator[tuple[int, GuestMark]]:
    """Where copies of an ext superblock are on most disks: (guest offset of the volume, mark).

    For a disk whose first sectors are lost: groups have as many blocks as a block has bits, and
    the volume is the disk, or begins at 1 MiB.
    """
    for start in (0, MIB):
        for log_block in range(3):
            block_bytes = 1024 << log_block
            for group in (1, 3, 5, 7, 9, 25, 27, 49):
                block = group * 8 * block_bytes + (1 if log_block == 0 else 0)
                check = partial(_is_usual_ext, group=group, log_block=log_block)
                label = f"an ext superblock's copy in group {group}"
                yield start, GuestMark(start + block * block_bytes, 1024, check, label)


def _is_usual_ext(data: bytes, group: int, log_block: int) -> bool:
    usual = 8 * (1024 << log_block)
    return (
        is_ext(data, group) and _little(data, 24, 4) == log_block and _little(data, 32, 4) == usual
    )


def ext_hints(start: int, superblock: bytes) -> GuestHints:
    """What a copy of an ext superblock says, and where the others and the first one must be."""
    hints = GuestHints()
    _read_ext(superblock, start, "", hints)
    hints.marks.append(
        GuestMark(
            start + 1024,
            1024,
            partial(_is_ext_copy, group=0, uuid=superblock[104:120]),
            "the ext superblock",
        )
    )
    return hints


def _little(data: bytes, offset: int, width: int) -> int:
    return int.from_bytes(data[offset : offset + width], "little")


def _big(data: bytes, offset: int, width: int) -> int:
    return int.from_bytes(data[offset : offset + width], "big")


def _mbr_entries(head: bytes) -> list[tuple[int, int, int]]:
    """(type, first sector, sectors) of an MBR's entries; none when it is no MBR."""
    if head[510:512] != b"\x55\xaa":
        return []
    entries = [head[446 + 16 * n : 462 + 16 * n] for n in range(4)]
    # A boot sector of a file system ends like that as well, but has code there.
    if any(entry[0] not in (0, 0x80) for entry in entries):
        return []
    found = [(entry[4], _little(entry, 8, 4), _little(entry, 12, 4)) for entry in entries]
    return [entry for entry in found if entry[0] and entry[1] and entry[2]]


def _read_partitions(head: bytes, read: Read, hints: GuestHints) -> list[int]:
    """Where partitions begin, by the GPT or else by the MBR."""
    if head[512:520] == b"EFI PART":
        return _read_gpt(head[512:1024], read, hints)
    entries = _mbr_entries(head)
    if entries:
        end = max(first + count for _, first, count in entries) * SECTOR_BYTES
        hints.add(f"a partition table (MBR) with {len(entries)} partitions", end)
    return [first * SECTOR_BYTES for _, first, _ in entries]


def _read_gpt(header: bytes, read: Read, hints: GuestHints) -> list[int]:
    backup = _little(header, 32, 8)
    end = (backup + 1) * SECTOR_BYTES
    count, entry_bytes = _little(header, 80, 4), _little(header, 84, 4)
    hints.exact = 0 < backup < 1 << 50
    starts = []
    if 128 <= entry_bytes <= 4096:
        table = read(_little(header, 72, 8) * SECTOR_BYTES % (1 << 62), _MAX_PARTITIONS * 128)
        for index in range(min(count, _MAX_PARTITIONS, len(table) // entry_bytes)):
            entry = table[index * entry_bytes :][:entry_bytes]
            if any(entry[:16]):
                starts.append(_little(entry, 32, 8) * SECTOR_BYTES)
    hints.add(f"a partition table (GPT) with {len(starts)} partitions", end)
    if hints.exact:
        hints.marks.append(
            GuestMark(
                backup * SECTOR_BYTES,
                SECTOR_BYTES,
                lambda data: data[:8] == b"EFI PART" and _little(data, 24, 8) == backup,
                "the GPT's copy at the end of the disk",
            )
        )
    return [start for start in starts if 0 < start < 1 << 62]


def _read_volume(start: int, read: Read, hints: GuestHints) -> None:
    """Look for the superblocks that a volume at `start` can have."""
    head = read(start, HEAD_BYTES)
    where = f" at guest offset {format_size(start)}" if start else ""
    if is_ext(head[1024:2048], 0):
        _read_ext(head[1024:2048], start, where, hints)
    elif head[:4] == b"XFSB":
        _read_xfs(head, start, where, hints)
    elif head[3:11] == b"NTFS    ":
        _read_ntfs(head, start, where, hints)
    elif head[:6] == b"LUKS\xba\xbe":
        hints.add(f"a LUKS header{where}")
    elif any(_is_lvm(head[512 * n : 512 * n + 512], n) for n in range(4)):
        hints.add(f"an LVM label{where}")
    else:
        _read_far(start, where, read, hints)


def _read_far(start: int, where: str, read: Read, hints: GuestHints) -> None:
    """Look for what lies behind the first sectors: btrfs and ISO 9660."""
    data = read(start + 64 * KIB, 4 * KIB)
    if data[64:72] == b"_BHRfS_M":
        hints.add(f"a btrfs superblock{where}")
        fsid = data[32:48]
        for place in (64 * MIB, 256 * GIB):
            hints.marks.append(
                GuestMark(
                    start + place,
                    4 * KIB,
                    partial(_is_btrfs, fsid=fsid, place=place),
                    "a btrfs superblock's copy",
                )
            )
        return
    data = read(start + 32 * KIB, 2 * KIB)
    if data[1:6] == b"CD001":
        hints.add(f"an ISO 9660 volume{where}", start + _little(data, 80, 4) * 2048)


def _is_btrfs(data: bytes, fsid: bytes, place: int) -> bool:
    is_copy = data[64:72] == b"_BHRfS_M" and data[32:48] == fsid
    return is_copy and _little(data, 48, 8) == place


def is_ext(data: bytes, group: int) -> bool:
    """Whether bytes are the ext2/3/4 superblock of a block group."""
    return (
        len(data) >= 1024
        and data[56:58] == b"\x53\xef"
        and _little(data, 90, 2) == group
        and _little(data, 24, 4) <= 6
        and _little(data, 32, 4) > 0
    )


def _is_ext_copy(data: bytes, group: int, uuid: bytes) -> bool:
    # The superblock's number of its group has 16 bits.
    return is_ext(data, group & 0xFFFF) and data[104:120] == uuid


def _read_ext(data: bytes, start: int, where: str, hints: GuestHints) -> None:
    block_bytes = 1024 << _little(data, 24, 4)
    blocks, per_group = _little(data, 4, 4), _little(data, 32, 4)
    if _little(data, 0x60, 4) & 0x80:  # 64-bit block numbers
        blocks |= _little(data, 0x150, 4) << 32
    first_block, uuid = _little(data, 20, 4), data[104:120]
    hints.ext_volumes.append((start, data))
    hints.add(
        f"an ext file system of {format_size(blocks * block_bytes)}{where}",
        start + blocks * block_bytes,
    )
    groups = -(-max(0, blocks - first_block) // per_group)
    if _little(data, 0x5C, 4) & 0x200:  # sparse_super2: two groups, named
        copies = [_little(data, 0x24C, 4), _little(data, 0x250, 4)]
    elif _little(data, 0x64, 4) & 1:  # sparse_super: 1 and the powers of 3, 5 and 7
        copies = sorted({1} | {base**power for base in (3, 5, 7) for power in range(1, 40)})
    else:
        copies = list(range(1, min(groups, _MAX_MARKS)))
    for group in [copy for copy in copies if 0 < copy < groups][:_MAX_MARKS]:
        hints.marks.append(
            GuestMark(
                start + (first_block + group * per_group) * block_bytes,
                1024,
                partial(_is_ext_copy, group=group, uuid=uuid),
                f"the ext superblock's copy in group {group}",
            )
        )


def _is_ag(data: bytes, sector_bytes: int, uuid: bytes, number: int) -> bool:
    free_space = data[sector_bytes:]
    is_copy = data[:4] == b"XFSB" and data[32:48] == uuid
    return is_copy and free_space[:4] == b"XAGF" and _big(free_space, 8, 4) == number


def _read_xfs(data: bytes, start: int, where: str, hints: GuestHints) -> None:
    block_bytes, blocks = _big(data, 4, 4), _big(data, 8, 8)
    ag_blocks, ag_count, sector = _big(data, 84, 4), _big(data, 88, 4), _big(data, 102, 2)
    uuid = data[32:48]
    hints.add(
        f"an XFS file system of {format_size(blocks * block_bytes)}{where}",
        start + blocks * block_bytes,
    )
    if not SECTOR_BYTES <= sector <= 4 * KIB or not ag_blocks:
        return
    for number in range(1, min(ag_count, _MAX_MARKS)):
        hints.marks.append(
            GuestMark(
                start + number * ag_blocks * block_bytes,
                2 * sector,
                partial(_is_ag, sector_bytes=sector, uuid=uuid, number=number),
                f"the headers of XFS allocation group {number}",
            )
        )


def _read_ntfs(data: bytes, start: int, where: str, hints: GuestHints) -> None:
    sector, sectors = _little(data, 11, 2) or SECTOR_BYTES, _little(data, 40, 8)
    boot, end = data[:SECTOR_BYTES], start + (sectors + 1) * sector
    hints.add(f"an NTFS volume of {format_size(sectors * sector)}{where}", end)
    if 0 < sectors < 1 << 50:
        hints.marks.append(
            GuestMark(
                start + sectors * sector,
                SECTOR_BYTES,
                lambda copy: copy == boot,
                "the NTFS boot sector's copy",
            )
        )


def _is_lvm(data: bytes, sector: int) -> bool:
    return data[:8] == b"LABELONE" and _little(data, 8, 8) == sector
