"""The snapshot table, entry by entry and as a whole."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import limits
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.snapshots import (
    NeedMore,
    Snapshot,
    SnapshotTable,
    SnapshotTableParser,
    parse_snapshot_entry,
    parse_snapshot_table,
)
from qcowgui.format.text import decode_name

TABLE_OFFSET = 0x50000
FULL_EXTRA = struct.pack(">QQQ", 0, 1 << 30, 0xFFFF_FFFF_FFFF_FFFF)


def entry(
    id: bytes = b"1",
    name: bytes = b"before update",
    extra: bytes = FULL_EXTRA,
    vm_state_size: int = 0,
    extra_size: int | None = None,
) -> bytes:
    fixed = struct.pack(
        ">QIHHIIQII",
        0x70000,
        2,
        len(id),
        len(name),
        1_700_000_000,
        250,
        99,
        vm_state_size,
        len(extra) if extra_size is None else extra_size,
    )
    data = fixed + extra + id + name
    return data + bytes(-len(data) % 8)


def parse(data: bytes, count: int, version: int = 3) -> SnapshotTable:
    return parse_snapshot_table(
        data, table_offset=TABLE_OFFSET, nb_snapshots=count, version=version
    )


def only(table: SnapshotTable) -> Finding:
    (finding,) = table.findings
    return finding


def test_all_fields() -> None:
    data = entry(b"17", "größer".encode())
    table = parse(data + b"surplus", 1)
    assert table.findings == ()
    assert table.snapshots == (
        Snapshot(
            index=0,
            l1_table_offset=0x70000,
            l1_size=2,
            date_seconds=1_700_000_000,
            date_nanoseconds=250,
            vm_clock_nanoseconds=99,
            vm_state_bytes=0,
            disk_bytes=1 << 30,
            icount=None,
            extra_data=FULL_EXTRA,
            extra_data_size=24,
            id_raw=b"17",
            name_raw="größer".encode(),
            entry_offset=TABLE_OFFSET,
            entry_bytes=len(data),
        ),
    )
    assert table.table_bytes == 40 + 24 + 2 + 8


def test_entries_follow_each_other_at_multiples_of_eight() -> None:
    first = entry(b"1", b"x")
    table = parse(first + entry(b"2"), 2)
    assert [s.id for s in table.snapshots] == ["1", "2"]
    assert table.snapshots[1].entry_offset == TABLE_OFFSET + len(first)
    assert len(first) % 8 == 0
    assert table.findings == ()


@pytest.mark.parametrize(
    ("extra", "vm_state_bytes", "disk_bytes", "icount"),
    [
        (b"", 7, None, None),
        (struct.pack(">I", 5), 7, None, None),
        (struct.pack(">Q", 1 << 33), 1 << 33, None, None),
        (struct.pack(">QI", 1 << 33, 5), 1 << 33, None, None),
        (struct.pack(">QQ", 0, 123), 0, 123, None),
        (struct.pack(">QQI", 0, 123, 1), 0, 123, None),
        (struct.pack(">QQQ", 1, 123, 77), 1, 123, 77),
        (struct.pack(">QQQ", 1, 123, (1 << 64) - 1), 1, 123, None),
        (struct.pack(">QQQ", 1, 123, 77) + b"future", 1, 123, 77),
    ],
)
def test_extra_data(
    extra: bytes, vm_state_bytes: int, disk_bytes: int | None, icount: int | None
) -> None:
    table = parse(entry(extra=extra, vm_state_size=7), 1, version=2)
    (snapshot,) = table.snapshots
    assert snapshot.vm_state_bytes == vm_state_bytes
    assert snapshot.disk_bytes == disk_bytes
    assert snapshot.icount == icount
    assert snapshot.extra_data == extra
    assert snapshot.name == "before update"
    assert table.findings == ()


@pytest.mark.parametrize(("extra_bytes", "bad"), [(0, True), (15, True), (16, False)])
def test_version_3_needs_sixteen_bytes_of_extra_data(extra_bytes: int, bad: bool) -> None:
    table = parse(entry(extra=bytes(extra_bytes)), 1)
    assert [f.code for f in table.findings] == ["snapshot-extra-data"] * bad
    if bad:
        assert only(table).severity is Severity.CORRUPTION
        assert only(table).raw == extra_bytes


@pytest.mark.parametrize(("extra_bytes", "bad"), [(1024, False), (1025, True)])
def test_extra_data_beyond_the_limit_is_not_kept(extra_bytes: int, bad: bool) -> None:
    table = parse(entry(extra=bytes(extra_bytes)) + entry(b"2"), 2)
    assert len(table.snapshots) == 2
    assert table.snapshots[0].extra_data_size == extra_bytes
    assert len(table.snapshots[0].extra_data) == 1024
    assert [f.refusal for f in table.findings] == [Refusal.QEMU] * bad


def test_table_cut_after_the_second_entry() -> None:
    """BL-O18: what is there is listed, the third is called unreadable."""
    entries = [entry(b"1"), entry(b"2"), entry(b"3")]
    table = parse(b"".join(entries)[: len(entries[0]) * 2 + 50], 3)
    assert [s.id for s in table.snapshots] == ["1", "2"]
    finding = only(table)
    assert finding.code == "snapshot-table-truncated"
    assert finding.severity is Severity.CORRUPTION
    assert finding.entry == 2
    assert finding.host_offset == TABLE_OFFSET + len(entries[0]) * 2
    assert "2 of 3" in finding.message


@pytest.mark.parametrize("cut", range(78))
def test_every_cut_of_one_entry(cut: int) -> None:
    data = entry()[:78]  # fixed 40, extra 24, id 1, name 13; no padding
    table = parse(data[:cut], 1)
    assert table.snapshots == ()
    assert only(table).code == "snapshot-table-truncated"
    assert parse(data, 1).findings == ()


def test_duplicate_ids() -> None:
    table = parse(entry(b"1") + entry(b"2") + entry(b"1") + entry(b"1"), 4)
    finding = only(table)
    assert finding.code == "snapshot-duplicate"
    assert finding.severity is Severity.SUSPICIOUS
    assert (finding.entry, finding.count) == (2, 2)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a\0b", b"\x1b[2J", "a\u202eb".encode()])
def test_names_that_are_no_clean_text(name: bytes) -> None:
    table = parse(entry(name=name), 1)
    assert only(table).code == "snapshot-name-text"
    (snapshot,) = table.snapshots
    assert snapshot.name.isprintable()
    assert snapshot.name_raw == name


@pytest.mark.parametrize(
    ("raw", "shown", "clean"),
    [
        (b"", "", True),
        (b"plain \\xff", "plain \\xff", True),
        (b"\xff", "\\xff", False),
        (b"a\nb", "a\\nb", False),
        ("日本".encode(), "日本", True),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80", False),
    ],
)
def test_decode_name(raw: bytes, shown: str, clean: bool) -> None:
    assert decode_name(raw) == (shown, clean)


@pytest.mark.parametrize("compat", ["0.10", "1.1"])
def test_a_table_written_by_qemu(tmp_path: Path, compat: str) -> None:
    path = str(tmp_path / "x.qcow2")
    create = ["qemu-img", "create", "-q", "-f", "qcow2", "-o", f"compat={compat}", path, "3M"]
    subprocess.run(create, check=True)
    for name in ("first", "zweiter Schnappschuß"):
        subprocess.run(["qemu-img", "snapshot", "-c", name, path], check=True)
    told = subprocess.run(
        ["qemu-img", "info", "--output=json", path], check=True, capture_output=True
    )
    expected = json.loads(told.stdout)["snapshots"]
    image = Path(path).read_bytes()
    nb_snapshots, offset = struct.unpack_from(">IQ", image, 60)
    table = parse_snapshot_table(
        image[offset:], table_offset=offset, nb_snapshots=nb_snapshots, version=image[7]
    )
    assert table.findings == ()
    assert [
        (s.id, s.name, s.date_seconds, s.date_nanoseconds, s.vm_state_bytes)
        for s in table.snapshots
    ] == [(e["id"], e["name"], e["date-sec"], e["date-nsec"], e["vm-state-size"]) for e in expected]
    assert [s.disk_bytes for s in table.snapshots] == [3 << 20] * 2


def test_no_snapshots_want_no_bytes() -> None:
    parser = SnapshotTableParser(table_offset=0, nb_snapshots=0, version=3)
    assert parser.wanted_bytes == 0
    assert parser.finish() == SnapshotTable((), (), 0)


def test_parser_asks_for_exactly_what_it_needs() -> None:
    data = entry(b"1", b"x") + entry(b"22", b"yy")
    parser = SnapshotTableParser(table_offset=TABLE_OFFSET, nb_snapshots=2, version=3)
    position = 0
    wanted = []
    while parser.wanted_bytes:
        assert parser.next_offset == TABLE_OFFSET + position
        wanted.append(parser.wanted_bytes)
        parser.feed(data[position : position + wanted[-1]])
        position += wanted[-1]
    # fixed part, rest of the entry, padding (6) with the next fixed part, its rest
    assert wanted == [40, 26, 46, 28]
    assert parser.finish() == parse(data, 2)


def test_parse_entry_says_how_much_it_needs() -> None:
    data = entry(b"1", b"x")
    assert parse_snapshot_entry(data[:39], 0, index=0, entry_offset=0) == NeedMore(40)
    assert parse_snapshot_entry(data[:65], 0, index=0, entry_offset=0) == NeedMore(66, 24)
    found = parse_snapshot_entry(b"12345678" + data, 8, index=4, entry_offset=800)
    assert isinstance(found, Snapshot)
    assert (found.index, found.entry_offset, found.name) == (4, 800, "x")


def test_an_entry_that_claims_gigabytes_is_not_waited_for() -> None:
    parser = SnapshotTableParser(table_offset=0, nb_snapshots=2, version=3)
    parser.feed(entry() + entry(b"2", extra_size=0xFFFF_FFFF))
    assert parser.wanted_bytes == 0
    table = parser.finish()
    assert len(table.snapshots) == 1
    finding = only(table)
    assert finding.code == "snapshot-table-too-large"
    assert finding.refusal is Refusal.QEMU
    assert finding.entry == 1


def test_a_table_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    one = entry(b"1", b"1234567")
    assert len(one) == 72
    monkeypatch.setattr(limits, "MAX_SNAPSHOT_TABLE_BYTES", 144)
    assert [f.code for f in parse(one + entry(b"2", b"1234567"), 2).findings] == []
    monkeypatch.setattr(limits, "MAX_SNAPSHOT_TABLE_BYTES", 143)
    table = parse(one + entry(b"2", b"1234567"), 2)
    assert len(table.snapshots) == 1
    assert only(table).code == "snapshot-table-too-large"


def test_no_more_entries_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SNAPSHOTS", 2)
    table = parse(entry(b"1") + entry(b"2") + entry(b"3"), 0xFFFF_FFFF)
    assert [s.id for s in table.snapshots] == ["1", "2"]


@given(
    data=st.binary(max_size=400),
    count=st.integers(0, 0xFFFF_FFFF),
    offset=st.integers(0, (1 << 64) - 1),
    version=st.sampled_from([2, 3]),
    pieces=st.lists(st.integers(1, 100), max_size=8),
)
def test_any_bytes_in_any_pieces(
    data: bytes, count: int, offset: int, version: int, pieces: list[int]
) -> None:
    parser = SnapshotTableParser(table_offset=offset, nb_snapshots=count, version=version)
    position = 0
    for length in pieces:
        parser.feed(data[position : position + length])
        position += length
    parser.feed(data[position:])
    whole = parse_snapshot_table(data, table_offset=offset, nb_snapshots=count, version=version)
    assert parser.finish() == whole
    assert whole.table_bytes <= len(data)
