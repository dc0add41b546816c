"""The bitmaps extension, the bitmap directory and bitmap tables."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import limits
from qcowgui.format.bitmap_directory import parse_bitmap_directory
from qcowgui.format.bitmaps import (
    BitmapClusterKind,
    BitmapEntry,
    BitmapsExtension,
    bitmap_table_entries_needed,
    decode_bitmap_table,
    parse_bitmaps_extension,
)
from qcowgui.format.finding import Finding, Refusal, Severity

DIRECTORY_OFFSET = 0x80000
GIB = 1 << 30


def entry(
    name: bytes = b"daily",
    *,
    table_offset: int = 0x90000,
    table_entries: int = 1,
    flags: int = 0,
    type: int = 1,
    granularity_bits: int = 16,
    extra: bytes = b"",
) -> bytes:
    fixed = struct.pack(
        ">QIIBBHI",
        table_offset,
        table_entries,
        flags,
        type,
        granularity_bits,
        len(name),
        len(extra),
    )
    data = fixed + extra + name
    return data + bytes(-len(data) % 8)


def parse(
    data: bytes, count: int = 1, *, size: int | None = None, virtual_bytes: int = GIB
) -> tuple[list[BitmapEntry], list[Finding]]:
    return parse_bitmap_directory(
        data,
        directory_offset=DIRECTORY_OFFSET,
        nb_bitmaps=count,
        cluster_bits=16,
        virtual_bytes=virtual_bytes,
        directory_size=size,
    )


def extension(data: bytes, cluster_bits: int = 16) -> tuple[BitmapsExtension | None, list[Finding]]:
    return parse_bitmaps_extension(data, cluster_bits=cluster_bits, host_offset=120)


def test_extension() -> None:
    found, findings = extension(struct.pack(">IIQQ", 2, 0, 64, 0x80000))
    assert found == BitmapsExtension(2, 0, 64, 0x80000)
    assert findings == []


@pytest.mark.parametrize(
    ("values", "host_offset", "raw"),
    [
        ((0, 0, 64, 0x80000), 120, 0),
        ((65536, 0, 64, 0x80000), 120, 65536),
        ((1, 9, 64, 0x80000), 124, 9),
        ((1, 0, 0, 0x80000), 128, 0),
        ((1, 0, 1024 * 65535 + 1, 0x80000), 128, 1024 * 65535 + 1),
        ((1, 0, 64, 0x80200), 136, 0x80200),
        ((1, 0, 64, 0), 136, 0),
    ],
)
def test_extension_rules(values: tuple[int, ...], host_offset: int, raw: int) -> None:
    found, (finding,) = extension(struct.pack(">IIQQ", *values))
    assert found == BitmapsExtension(*values)
    assert (finding.code, finding.refusal) == ("bitmaps-extension", Refusal.QEMU)
    assert (finding.host_offset, finding.raw) == (host_offset, raw)


def test_extension_at_its_bounds() -> None:
    assert extension(struct.pack(">IIQQ", 65535, 0, 1024 * 65535, 1 << 63))[1] == []
    assert extension(struct.pack(">IIQQ", 1, 0, 64, 512), cluster_bits=9)[1] == []


@pytest.mark.parametrize(("length", "parsed"), [(0, False), (23, False), (25, True)])
def test_extension_of_another_length(length: int, parsed: bool) -> None:
    data = struct.pack(">IIQQ", 1, 0, 64, 0x80000) + b"x"
    found, findings = extension(data[:length])
    assert (found is not None) is parsed
    assert [f.raw for f in findings] == [length]


def test_entry_fields() -> None:
    data = entry("täglich".encode(), flags=2)
    entries, findings = parse(data)
    assert findings == []
    (found,) = entries
    assert found == BitmapEntry(
        index=0,
        bitmap_table_offset=0x90000,
        bitmap_table_size=1,
        flags=2,
        type=1,
        granularity_bits=16,
        extra_data=b"",
        name="täglich",
        name_raw="täglich".encode(),
        entry_offset=DIRECTORY_OFFSET,
        entry_bytes=32,
    )
    assert (found.in_use, found.auto, found.extra_data_compatible) == (False, True, False)
    assert found.granularity_bytes == 65536
    assert found.usable


def test_bitmap_in_use_is_no_damage() -> None:
    """BL-O64: listed as inconsistent with advice; not counted as image damage."""
    (found,), (finding,) = parse(entry(flags=1, table_entries=1), virtual_bytes=1 << 50)
    assert found.in_use
    assert not found.usable
    assert finding.code == "bitmap-in-use"
    assert finding.severity < Severity.CORRUPTION
    for word in ("inconsistent", "name stays taken", "remove it", "full one", "not damaged"):
        assert word in finding.message


def test_compatible_extra_data_is_listed() -> None:
    """BL-O65: with the flag it may be ignored; the walk keeps its alignment."""
    data = entry(b"abc", flags=4, extra=b"12345678") + entry(b"next")
    (first, second), (finding,) = parse(data, 2)
    assert first.extra_data == b"12345678"
    assert first.usable
    assert (second.name, second.entry_offset) == ("next", DIRECTORY_OFFSET + 40)
    assert (finding.code, finding.severity) == ("bitmap-extra-data", Severity.INFO)


def test_other_extra_data_is_kept_but_unusable() -> None:
    """BL-O65: without the flag nobody may use the bitmap."""
    (found,), (finding,) = parse(entry(extra=b"12345678"))
    assert found.extra_data == b"12345678"
    assert not found.usable
    assert (finding.code, finding.severity) == ("bitmap-extra-data", Severity.SUSPICIOUS)


def test_compatible_flag_without_extra_data_is_a_note() -> None:
    (found,), (finding,) = parse(entry(flags=4))
    assert found.usable
    assert (finding.code, finding.severity) == ("bitmap-flags", Severity.INFO)


@pytest.mark.parametrize(
    ("bits", "granularity_bytes", "severity"),
    [
        (0, 1, Severity.INFO),
        (8, 256, Severity.INFO),
        (9, 512, None),
        (31, 1 << 31, None),
        (32, 1 << 32, Severity.INFO),
        (63, 1 << 63, Severity.INFO),
        (64, None, Severity.CORRUPTION),
        (255, None, Severity.CORRUPTION),
    ],
)
def test_granularity(bits: int, granularity_bytes: int | None, severity: Severity | None) -> None:
    """BL-O65: 64 is invalid; 0 is allowed by the format, QEMU takes 9 to 31."""
    (found,), findings = parse(entry(granularity_bits=bits), virtual_bytes=65536)
    assert found.granularity_bytes == granularity_bytes
    assert found.usable is (granularity_bytes is not None)
    assert [(f.code, f.severity) for f in findings] == (
        [] if severity is None else [("bitmap-granularity", severity)]
    )


@pytest.mark.parametrize(
    ("data", "code", "severity", "usable"),
    [
        (entry(flags=8), "bitmap-flags", Severity.CORRUPTION, False),
        (entry(flags=1 << 31), "bitmap-flags", Severity.CORRUPTION, False),
        (entry(type=0), "bitmap-type", Severity.CORRUPTION, False),
        (entry(type=2), "bitmap-type", Severity.CORRUPTION, False),
        (entry(table_offset=0), "bitmap-table", Severity.CORRUPTION, True),
        (entry(table_offset=0x90001), "bitmap-table", Severity.CORRUPTION, True),
        (entry(table_entries=0), "bitmap-table", Severity.CORRUPTION, True),
        (entry(table_entries=8193), "bitmap-table", Severity.CORRUPTION, True),
        (entry(b""), "bitmap-name", Severity.CORRUPTION, True),
        (entry(b"x" * 1024), "bitmap-name", Severity.SUSPICIOUS, True),
        (entry(b"\xff"), "bitmap-name", Severity.SUSPICIOUS, True),
    ],
)
def test_entry_rules(data: bytes, code: str, severity: Severity, usable: bool) -> None:
    (found,), (finding,) = parse(data)
    assert (finding.code, finding.severity) == (code, severity)
    assert finding.host_offset == DIRECTORY_OFFSET
    assert found.usable is usable


def test_entry_at_its_bounds() -> None:
    # 8192 clusters of bits, the most that QEMU takes, are 256 TiB at this granularity.
    assert parse(entry(b"x" * 1023, table_entries=8192), virtual_bytes=1 << 48)[1] == []


@pytest.mark.parametrize(("table_entries", "good"), [(1, False), (2, True), (3, False)])
def test_table_must_fit_the_disk(table_entries: int, good: bool) -> None:
    # 64 KiB of bits cover 512 Ki granules of 64 KiB: 32 GiB.
    _, findings = parse(entry(table_entries=table_entries), virtual_bytes=(32 << 30) + 1)
    assert [f.code for f in findings] == ([] if good else ["bitmap-table"])


def test_duplicate_names() -> None:
    _, (finding,) = parse(entry(b"a") + entry(b"b") + entry(b"a"), 3)
    assert (finding.code, finding.severity) == ("bitmap-name", Severity.CORRUPTION)
    assert finding.entry == 2


@pytest.mark.parametrize(
    ("data", "count", "size", "listed", "words"),
    [
        (entry() + entry(b"b"), 1, None, 1, "end after 32 bytes"),
        (entry(), 2, None, 1, "does not fit"),
        (entry()[:30], 1, None, 1, "end after 32 bytes"),
        (entry()[:28], 1, None, 0, "does not fit"),
        (entry() + entry(b"b")[:20], 2, 64, 1, "cut off by the end of the file"),
        (b"", 1, 32, 0, "cut off"),
    ],
)
def test_directory_as_a_whole(
    data: bytes, count: int, size: int | None, listed: int, words: str
) -> None:
    entries, (finding,) = parse(data, count, size=size)
    assert len(entries) == listed
    assert (finding.code, finding.severity) == ("bitmap-directory", Severity.CORRUPTION)
    assert words in finding.message


def test_more_bitmaps_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BITMAPS", 1)
    entries, (finding,) = parse(entry() + entry(b"b"), 2)
    assert [e.name for e in entries] == ["daily"]
    assert "limit of 1" in finding.message


def test_bytes_beyond_the_directory_are_not_read() -> None:
    entries, findings = parse(entry() + entry(b"b"), 1, size=32)
    assert [e.name for e in entries] == ["daily"]
    assert findings == []


def test_bitmaps_written_by_qemu(tmp_path: Path) -> None:
    path = str(tmp_path / "x.qcow2")
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", path, "3M"], check=True)
    add = ["qemu-img", "bitmap", "--add"]
    subprocess.run([*add, "-g", "512", path, "fine"], check=True)
    subprocess.run([*add, "--disable", "-g", "2M", path, "a name"], check=True)
    image = Path(path).read_bytes()
    at = image.index(struct.pack(">II", 0x23852875, 24), 104) + 8
    found, findings = parse_bitmaps_extension(image[at : at + 24], cluster_bits=16, host_offset=at)
    assert findings == []
    assert found is not None
    start, size = found.bitmap_directory_offset, found.bitmap_directory_size
    entries, findings = parse_bitmap_directory(
        image[start : start + size],
        directory_offset=start,
        nb_bitmaps=found.nb_bitmaps,
        cluster_bits=16,
        virtual_bytes=3 << 20,
        directory_size=size,
    )
    assert findings == []
    assert [(e.name, e.granularity_bytes, e.auto, e.in_use) for e in entries] == [
        ("fine", 512, True, False),
        ("a name", 2 << 20, False, False),
    ]
    for bitmap in entries:
        table_start = bitmap.bitmap_table_offset
        data = image[table_start : table_start + bitmap.bitmap_table_size * 8]
        table = decode_bitmap_table(data, cluster_bits=16)
        assert table.kind.tolist() == [BitmapClusterKind.ZEROS] * bitmap.bitmap_table_size


@pytest.mark.parametrize(
    ("virtual_bytes", "granularity_bits", "cluster_bits", "needed"),
    [
        (0, 16, 16, 0),
        (1, 16, 16, 1),
        (32 << 30, 16, 16, 1),
        ((32 << 30) + 1, 16, 16, 2),
        (512 * 8 * 512, 9, 9, 1),
        (512 * 8 * 512 + 1, 9, 9, 2),
        ((1 << 64) - 1, 63, 9, 1),
        ((1 << 64) - 1, 0, 9, 1 << 52),
    ],
)
def test_table_entries_needed(
    virtual_bytes: int, granularity_bits: int, cluster_bits: int, needed: int
) -> None:
    assert bitmap_table_entries_needed(virtual_bytes, granularity_bits, cluster_bits) == needed


def test_table_entries() -> None:
    words = {
        0: BitmapClusterKind.ZEROS,
        1: BitmapClusterKind.ONES,
        0x90000: BitmapClusterKind.ALLOCATED,
        0x00FF_FFFF_FFFF_0000: BitmapClusterKind.ALLOCATED,
        0x90001: BitmapClusterKind.INVALID,
        0x90200: BitmapClusterKind.INVALID,
    }
    reserved = [bit for bit in range(64) if 1 <= bit <= 8 or bit >= 56]
    words |= {1 << bit: BitmapClusterKind.INVALID for bit in reserved}
    table = decode_bitmap_table(struct.pack(f">{len(words)}Q", *words), cluster_bits=16)
    assert table.kind.tolist() == list(words.values())
    assert table.kind.dtype == np.dtype(np.uint8)
    assert table.cluster_offset.dtype == np.dtype(np.uint64)
    expected = [w if k is BitmapClusterKind.ALLOCATED else 0 for w, k in words.items()]
    assert table.cluster_offset.tolist() == expected


def test_offset_alignment_follows_the_cluster_size() -> None:
    data = struct.pack(">Q", 0x90200)
    assert decode_bitmap_table(data, cluster_bits=9).kind.tolist() == [BitmapClusterKind.ALLOCATED]


@pytest.mark.parametrize(("length", "entries"), [(0, 0), (7, 0), (8, 1), (15, 1)])
def test_incomplete_entry_is_left_out(length: int, entries: int) -> None:
    assert len(decode_bitmap_table(bytes(length), cluster_bits=16).kind) == entries


@given(
    data=st.binary(max_size=300),
    count=st.integers(0, 0xFFFF_FFFF),
    size=st.none() | st.integers(0, (1 << 64) - 1),
    virtual_bytes=st.integers(0, (1 << 64) - 1),
    cluster_bits=st.integers(9, 21),
)
def test_any_bytes(
    data: bytes, count: int, size: int | None, virtual_bytes: int, cluster_bits: int
) -> None:
    entries, findings = parse_bitmap_directory(
        data,
        directory_offset=(1 << 64) - 512,
        nb_bitmaps=count,
        cluster_bits=cluster_bits,
        virtual_bytes=virtual_bytes,
        directory_size=size,
    )
    assert len(entries) <= min(count, len(data) // 24)
    assert len(entries) == count or findings
    extension(data, cluster_bits)
    assert len(decode_bitmap_table(data, cluster_bits=cluster_bits).kind) == len(data) // 8
