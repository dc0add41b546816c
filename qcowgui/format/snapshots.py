"""The snapshot table: a row of entries of variable length whose total length is stored nowhere.

Because only walking the entries tells where the table ends, `SnapshotTableParser` is fed from the
front and says how many bytes it still wants; it holds no file. What was parsed before the bytes ran
out stays listed.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from qcowgui.format import fields, limits
from qcowgui.format.finding import Finding, Refusal, Severity, fold
from qcowgui.format.geometry import ENTRY_BYTES, Geometry
from qcowgui.format.text import decode_name, is_clean_name
from qcowgui.units import align_up, format_offset, format_size

# The field table, compiled. A hostile image may have 65,536 entries: reading their fields one by
# one takes 0.9 to 1.5 s of CPU time, this way 0.1 to 0.2 s (2026-11-30).
_FIXED: Final = struct.Struct(
    ">" + "".join({2: "H", 4: "I", 8: "Q"}[field.width_bytes] for field in fields.SNAPSHOT_FIELDS)
)
_FIXED_NAMES: Final = tuple(field.name for field in fields.SNAPSHOT_FIELDS)
_ENTRY_ALIGNMENT: Final = 8
_NO_ICOUNT: Final = 0xFFFF_FFFF_FFFF_FFFF
_SPEC: Final = "1.11"
_STRUCTURE: Final = "snapshot table"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One entry of the snapshot table.

    Attributes:
        index: Position in the table, from 0.
        l1_table_offset: Host offset of the snapshot's L1 table, not validated.
        l1_size: Entries of that table; covers the VM state too.
        date_seconds: When it was taken, in seconds since 1970 (UTC).
        date_nanoseconds: The part below one second.
        vm_clock_nanoseconds: Guest run time.
        vm_state_bytes: The 64-bit size where it exists, else the 32-bit one; 0 = no VM state.
        disk_bytes: Virtual size at that time, or None: then the header's size holds.
        icount: Guest instructions executed, or None when not recorded.
        extra_data: The extra data as stored, unknown tail included, up to QEMU's limit for it.
        extra_data_size: How long the entry says its extra data is.
        id_raw: The id as stored.
        name_raw: The name as stored.
        entry_offset: Host offset of the entry.
        entry_bytes: Its length with the padding up to the next entry.
    """

    index: int
    l1_table_offset: int
    l1_size: int
    date_seconds: int
    date_nanoseconds: int
    vm_clock_nanoseconds: int
    vm_state_bytes: int
    disk_bytes: int | None
    icount: int | None
    extra_data: bytes
    extra_data_size: int
    id_raw: bytes
    name_raw: bytes
    entry_offset: int
    entry_bytes: int

    # Decoded when asked for: a crafted table has 64 MiB of names that nobody looks at.

    @property
    def id(self) -> str:
        """The unique id, fit to be shown; `id_raw` has the bytes."""
        return decode_name(self.id_raw)[0]

    @property
    def name(self) -> str:
        """The name, fit to be shown; `name_raw` has the bytes."""
        return decode_name(self.name_raw)[0]


@dataclass(frozen=True, slots=True)
class NeedMore:
    """An entry that the bytes at hand don't hold completely.

    Attributes:
        entry_bytes: The least number of bytes, from the entry's start, with which parsing gets
            further; the entry's full size (padding left out) once its fixed part is known.
        extra_data_size: What the fixed part says, 0 while it is not known.
    """

    entry_bytes: int
    extra_data_size: int = 0


def parse_snapshot_entry(
    data: bytes | bytearray, start: int, *, index: int, entry_offset: int
) -> Snapshot | NeedMore:
    """The entry at `start` within `data`, or how many bytes it needs.

    The padding after the last entry need not be there: writers stop without it.

    Args:
        data: Bytes of the table.
        start: Where the entry begins inside `data`.
        index: Its position in the table.
        entry_offset: Host offset of the entry.

    Spec: 1.11
    """
    extra_start = start + _FIXED.size
    if extra_start > len(data):
        return NeedMore(_FIXED.size)
    fixed: dict[str, int] = dict(zip(_FIXED_NAMES, _FIXED.unpack_from(data, start), strict=True))
    id_start = extra_start + fixed["extra_data_size"]
    name_start = id_start + fixed["id_str_size"]
    name_end = name_start + fixed["name_size"]
    if name_end > len(data):
        return NeedMore(name_end - start, fixed["extra_data_size"])
    kept_end = min(id_start, extra_start + limits.MAX_SNAPSHOT_EXTRA_BYTES)
    extra_data = bytes(data[extra_start:kept_end])
    extra = {
        field.name: int.from_bytes(extra_data[field.offset : field.end], "big")
        for field in fields.SNAPSHOT_EXTRA_FIELDS
        if field.end <= len(extra_data)
    }
    id_raw = bytes(data[id_start:name_start])
    name_raw = bytes(data[name_start:name_end])
    icount = extra.get("icount", _NO_ICOUNT)
    return Snapshot(
        index=index,
        l1_table_offset=fixed["l1_table_offset"],
        l1_size=fixed["l1_size"],
        date_seconds=fixed["date_sec"],
        date_nanoseconds=fixed["date_nsec"],
        vm_clock_nanoseconds=fixed["vm_clock_nsec"],
        vm_state_bytes=extra.get("vm_state_size_large", fixed["vm_state_size"]),
        disk_bytes=extra.get("disk_size"),
        icount=None if icount == _NO_ICOUNT else icount,
        extra_data=extra_data,
        extra_data_size=fixed["extra_data_size"],
        id_raw=id_raw,
        name_raw=name_raw,
        entry_offset=entry_offset,
        entry_bytes=align_up(name_end - start, _ENTRY_ALIGNMENT),
    )


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    """What could be parsed of a snapshot table.

    Attributes:
        snapshots: The complete entries, in table order.
        findings: What is wrong with the table or its entries.
        table_bytes: Length of the parsed entries, without the padding after the last.
    """

    snapshots: tuple[Snapshot, ...]
    findings: tuple[Finding, ...]
    table_bytes: int


class SnapshotTableParser:
    """Parses a snapshot table that arrives piece by piece, from its start on.

    Read `wanted_bytes` or more at `next_offset`, `feed` them, until `wanted_bytes` is 0 or the file
    ends; then take `finish()`. Beside the entries it holds only what was fed beyond the last one.
    """

    def __init__(self, *, table_offset: int, nb_snapshots: int, version: int) -> None:
        self._table_offset = table_offset
        self._nb_snapshots = nb_snapshots
        self._version = version
        self._snapshots: list[Snapshot] = []
        self._pending = bytearray()
        self._pending_start = 0  # position in the table of the first pending byte
        self._entry_start = 0  # position of the next entry; padding may lie between the two
        self._entry_bytes = _FIXED.size  # the least that entry needs
        self._extra_data_size = 0  # what that entry says, as far as it is known

    @property
    def next_offset(self) -> int:
        """Host offset of the first byte that was not fed yet."""
        return self._table_offset + self._pending_start + len(self._pending)

    @property
    def wanted_bytes(self) -> int:
        """The least number of bytes that gets parsing further; 0 when nothing more is wanted."""
        if self._complete or self._over_limit:
            return 0
        return self._table_offset + self._entry_start + self._entry_bytes - self.next_offset

    @property
    def _complete(self) -> bool:
        return len(self._snapshots) >= min(self._nb_snapshots, limits.MAX_SNAPSHOTS)

    @property
    def _over_limit(self) -> bool:
        return self._entry_start + self._entry_bytes > limits.MAX_SNAPSHOT_TABLE_BYTES

    def feed(self, data: bytes) -> None:
        """Take the bytes that lie at `next_offset`; more than wanted is welcome."""
        self._pending += data
        while not (self._complete or self._over_limit):
            entry = parse_snapshot_entry(
                self._pending,
                self._entry_start - self._pending_start,
                index=len(self._snapshots),
                entry_offset=self._table_offset + self._entry_start,
            )
            self._entry_bytes = entry.entry_bytes
            self._extra_data_size = entry.extra_data_size
            if isinstance(entry, NeedMore) or self._over_limit:
                break
            self._snapshots.append(entry)
            self._entry_start += entry.entry_bytes
            self._entry_bytes, self._extra_data_size = _FIXED.size, 0
        done = min(self._entry_start - self._pending_start, len(self._pending))
        del self._pending[:done]
        self._pending_start += done

    def finish(self) -> SnapshotTable:
        """The table as far as it was fed, judged."""
        entries = (_judge_entry(snapshot, self._version) for snapshot in self._snapshots)
        findings = fold(
            chain(self._judge_table(), chain.from_iterable(entries), _judge_ids(self._snapshots))
        )
        last = self._snapshots[-1] if self._snapshots else None
        unpadded = 0
        if last is not None:
            unpadded = _FIXED.size + last.extra_data_size + len(last.id_raw) + len(last.name_raw)
        table_bytes = 0 if last is None else last.entry_offset - self._table_offset + unpadded
        return SnapshotTable(tuple(self._snapshots), tuple(findings), table_bytes)

    def _judge_table(self) -> list[Finding]:
        parsed = len(self._snapshots)
        broken_offset = self._table_offset + self._entry_start
        if self._complete:
            return []
        if self._over_limit:
            code, refusal = "snapshot-table-too-large", Refusal.QEMU
            limit = format_size(limits.MAX_SNAPSHOT_TABLE_BYTES)
            problem = f"would end beyond QEMU's limit of {limit}"
        else:
            # QEMU reads zeros behind the end of the file, but tests the extra data's size first.
            too_much_extra = self._extra_data_size > limits.MAX_SNAPSHOT_EXTRA_BYTES
            code = "snapshot-table-truncated"
            refusal = Refusal.QEMU if too_much_extra else Refusal.NONE
            problem = "is cut off by the end of the file"
        return [
            Finding(
                code,
                Severity.CORRUPTION,
                f"Entry {parsed} of the snapshot table (counted from 0) {problem}; "
                f"{parsed:,} of {self._nb_snapshots:,} snapshots can be listed.",
                _STRUCTURE,
                host_offset=broken_offset,
                entry=parsed,
                raw=self._entry_bytes,
                expected=f"{self._entry_bytes:,} bytes or more for this entry",
                spec=_SPEC,
                refusal=refusal,
            )
        ]


def parse_snapshot_table(
    data: bytes, *, table_offset: int, nb_snapshots: int, version: int
) -> SnapshotTable:
    """The snapshot table at the start of `data`; taken as cut short where `data` ends.

    Args:
        data: Bytes from the table's start on; may go beyond its end.
        table_offset: Host offset of the table.
        nb_snapshots: Entries that the header announces; the header's findings say when these are
            more than `limits.MAX_SNAPSHOTS`, and no more than that are parsed.
        version: Of the image, 2 or 3.

    Spec: 1.11
    """
    parser = SnapshotTableParser(
        table_offset=table_offset, nb_snapshots=nb_snapshots, version=version
    )
    parser.feed(data)
    return parser.finish()


def check_snapshot_l1(
    snapshot: Snapshot, geometry: Geometry, *, virtual_bytes: int, file_bytes: int
) -> Finding | None:
    """What makes a snapshot's L1 table unusable, or None; the active disk is not affected by it.

    Args:
        snapshot: The entry that names the table.
        geometry: The image's.
        virtual_bytes: The header's size, for entries that don't record the disk's.
        file_bytes: The file's length.

    Spec: 1.11, 2.2 (R13, R14)
    """
    offset, l1_bytes = snapshot.l1_table_offset, snapshot.l1_size * ENTRY_BYTES
    disk_bytes = virtual_bytes if snapshot.disk_bytes is None else snapshot.disk_bytes
    needed = geometry.l1_entries_needed(disk_bytes)
    if not geometry.is_aligned(offset) or (l1_bytes and not offset):
        problem = f"is said to be at {format_offset(offset)}, which is no cluster for it"
    elif l1_bytes > limits.MAX_L1_BYTES:
        problem = f"has {format_size(l1_bytes)}; QEMU allows {format_size(limits.MAX_L1_BYTES)}"
    elif snapshot.l1_size < needed:
        problem = f"has {snapshot.l1_size:,} entries; its disk needs {needed:,}"
    elif l1_bytes and offset + l1_bytes > file_bytes:
        problem = (
            f"needs bytes up to {format_offset(offset + l1_bytes)}, "
            f"but the file ends at {format_offset(file_bytes)}"
        )
    else:
        return None
    return Finding(
        "snapshot-l1",
        Severity.CORRUPTION,
        f"The L1 table of {_label(snapshot)} {problem}: that snapshot can't be read.",
        _STRUCTURE,
        host_offset=snapshot.entry_offset,
        entry=snapshot.index,
        raw=offset,
        spec=_SPEC,
    )


def _label(snapshot: Snapshot) -> str:
    return f"snapshot {snapshot.index} (id “{snapshot.id[:40]}”, name “{snapshot.name[:40]}”)"


def _judge_entry(snapshot: Snapshot, version: int) -> list[Finding]:
    findings = []
    extra_bytes = snapshot.extra_data_size
    if version >= 3 and extra_bytes < limits.MIN_V3_SNAPSHOT_EXTRA_BYTES:
        findings.append(
            Finding(
                "snapshot-extra-data",
                Severity.CORRUPTION,
                f"S{_label(snapshot)[1:]} has {extra_bytes} bytes of extra data; version 3 needs "
                f"at least {limits.MIN_V3_SNAPSHOT_EXTRA_BYTES}.",
                _STRUCTURE,
                host_offset=snapshot.entry_offset,
                entry=snapshot.index,
                raw=extra_bytes,
                expected=f"{limits.MIN_V3_SNAPSHOT_EXTRA_BYTES} or more",
                spec=_SPEC,
            )
        )
    if extra_bytes > limits.MAX_SNAPSHOT_EXTRA_BYTES:
        findings.append(
            Finding(
                "snapshot-extra-data",
                Severity.SUSPICIOUS,
                f"S{_label(snapshot)[1:]} has {extra_bytes:,} bytes of extra data; QEMU refuses "
                f"more than {limits.MAX_SNAPSHOT_EXTRA_BYTES:,}, and the rest is not shown.",
                _STRUCTURE,
                host_offset=snapshot.entry_offset,
                entry=snapshot.index,
                raw=extra_bytes,
                expected=f"at most {limits.MAX_SNAPSHOT_EXTRA_BYTES:,}",
                spec=_SPEC,
                refusal=Refusal.QEMU,
            )
        )
    if not (is_clean_name(snapshot.id_raw) and is_clean_name(snapshot.name_raw)):
        findings.append(
            Finding(
                "snapshot-name-text",
                Severity.SUSPICIOUS,
                f"S{_label(snapshot)[1:]}: the id or the name holds bytes that are not printable "
                "UTF-8 text; they are shown escaped.",
                _STRUCTURE,
                host_offset=snapshot.entry_offset,
                entry=snapshot.index,
                spec=_SPEC,
            )
        )
    return findings


def _judge_ids(snapshots: list[Snapshot]) -> Iterator[Finding]:
    """One finding for each id that occurs more than once, placed at its second entry."""
    counts = Counter(snapshot.id_raw for snapshot in snapshots)
    seen: Counter[bytes] = Counter()
    for snapshot in snapshots:
        seen[snapshot.id_raw] += 1
        if seen[snapshot.id_raw] == 2:
            yield Finding(
                "snapshot-duplicate",
                Severity.SUSPICIOUS,
                f"{counts[snapshot.id_raw]} snapshots have the id “{snapshot.id[:40]}”; "
                "only the first of them can be reached by it.",
                _STRUCTURE,
                host_offset=snapshot.entry_offset,
                entry=snapshot.index,
                expected="a unique id",
                spec=_SPEC,
                count=counts[snapshot.id_raw] - 1,
            )
