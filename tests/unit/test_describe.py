"""The words for values: each of them, and that nothing is claimed which the value does not say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qcowgui.format import describe, fields
from qcowgui.format.bitmaps import BitmapEntry
from qcowgui.format.encryption import (
    KEY_SLOT_DISABLED,
    KEY_SLOT_ENABLED,
    LuksHeader,
    LuksKeySlot,
)
from qcowgui.format.extensions import Extension, ExtensionType
from qcowgui.format.features import FeatureClass
from qcowgui.format.fields import BitField, Field, FieldValue, field_named
from qcowgui.format.finding import CODES, Finding, Refusal, Severity
from qcowgui.format.snapshots import Snapshot

ALL_FIELDS: list[Field] = [
    *fields.HEADER_FIELDS,
    *fields.SNAPSHOT_FIELDS,
    *fields.SNAPSHOT_EXTRA_FIELDS,
    *fields.BITMAPS_EXTENSION_FIELDS,
    *fields.BITMAP_DIRECTORY_FIELDS,
    *fields.ENCRYPTION_EXTENSION_FIELDS,
]


def value_of(field: Field, value: int) -> FieldValue:
    return FieldValue(field, field.offset, value.to_bytes(field.width_bytes, "big"), value)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "0.977 KiB (1,000 bytes)"),
        (1536, "1.5 KiB (1,536 bytes)"),
        (1 << 63, "8 EiB (9,223,372,036,854,775,808 bytes)"),
    ],
)
def test_sizes(size_bytes: int, text: str) -> None:
    assert describe.size_text(size_bytes) == text


def test_offsets_in_both_bases_where_they_differ() -> None:
    assert describe.offset_text(0) == "0"
    assert describe.offset_text(9) == "9"
    assert describe.offset_text(10) == "0xa (10)"
    assert describe.offset_text(0x1_4000_0000) == "0x1_4000_0000 (5,368,709,120)"


def test_long_data_is_cut_and_says_so() -> None:
    assert describe.hex_text(b"") == ""
    assert describe.hex_text(bytes(range(7))) == "00010203 040506"
    assert describe.hex_text(bytes(64)).count("00") == 64
    assert describe.hex_text(bytes(65)).endswith("00000000 … (1 byte more)")
    assert describe.hex_text(bytes(40), 32).endswith(" … (8 bytes more)")


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "0.0%"),
        (0, 10, "0.0%"),
        (1, 1 << 40, "<0.1%"),
        (1, 1000, "0.1%"),
        (5, 8, "62.5%"),
        (999, 1000, "99.9%"),
        ((1 << 40) - 1, 1 << 40, ">99.9%"),
        (10, 10, "100.0%"),
    ],
)
def test_a_share_is_nothing_or_all_only_when_exactly_so(part: int, whole: int, text: str) -> None:
    assert describe.share_text(part, whole) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("magic", 0x514649FB, r"QFI\xfb"),
        ("magic", 0x4B444D56, "0x4b444d56"),
        ("version", 3, "3 (compat 1.1)"),
        ("version", 2, "2 (compat 0.10)"),
        ("version", 7000, "7,000 (unknown)"),
        ("cluster_bits", 16, "16 (64 KiB)"),
        ("cluster_bits", 8, "8 (not possible)"),
        ("cluster_bits", 22, "22 (not possible)"),
        ("cluster_bits", 0xFFFFFFFF, "4,294,967,295 (not possible)"),
        ("refcount_order", 4, "4 (16 bits)"),
        ("refcount_order", 0, "0 (1 bit)"),
        ("refcount_order", 7, "7 (not possible)"),
        ("crypt_method", 2, "2 (LUKS)"),
        ("crypt_method", 3, "3 (unknown)"),
        ("compression_type", 1, "1 (zstd)"),
        ("compression_type", 2, "2 (unknown)"),
        ("l1_table_offset", 0x14000, "0x1_4000 (81,920)"),
        ("l1_table_offset", 0, "none"),
        ("size", 1 << 30, "1 GiB (1,073,741,824 bytes)"),
        ("size", 512, "512 bytes"),
        ("incompatible_features", 0, "none"),
        ("incompatible_features", 0b101, "dirty bit, external data file"),
        ("incompatible_features", 1 << 63, "bit 63"),
        ("padding", 0, "0"),
        ("padding", 1, "not zero"),
        ("nb_snapshots", 65536, "65,536"),
        ("date_sec", 0, "0 (1970-01-01 00:00:00 UTC)"),
        ("date_sec", 0xFFFFFFFF, "4,294,967,295 (2106-02-07 06:28:15 UTC)"),
        ("icount", 0xFFFF_FFFF_FFFF_FFFF, "none"),
        ("icount", 1000, "1,000"),
        ("flags", 0b1_0111, "in_use, auto, extra_data_compatible, bit 4"),
        ("type", 1, "1 (dirty tracking)"),
        ("type", 2, "2 (unknown)"),
        ("granularity_bits", 63, "63 (8 EiB)"),
        ("granularity_bits", 64, "64 (not possible)"),
    ],
)
def test_a_field_says_what_its_number_means(name: str, value: int, text: str) -> None:
    assert describe.field_text(value_of(field_named(ALL_FIELDS, name), value)) == text


def test_an_unknown_bit_has_the_images_own_name() -> None:
    found = value_of(field_named(fields.HEADER_FIELDS, "compatible_features"), 1 << 9 | 1)
    assert describe.field_text(found, {(1, 9): "colour"}) == "lazy refcounts, colour"


@pytest.mark.parametrize(
    ("raw", "text"), [(b"", "absent"), (b"\0\0", "cut off"), (bytes(8), "absent")]
)
def test_a_field_that_is_not_there_says_why(raw: bytes, text: str) -> None:
    found = FieldValue(field_named(fields.HEADER_FIELDS, "size"), 24, raw, None)
    assert describe.field_text(found) == text


def test_names_with_a_meaning_of_their_own_mean_the_same_in_every_table() -> None:
    names = [field.name for field in ALL_FIELDS]
    for name in [*describe._NOTES, *describe.FEATURE_FIELDS, "magic", "icount", "flags"]:
        assert names.count(name) == 1, name


@pytest.mark.parametrize("field", ALL_FIELDS, ids=lambda field: f"{field.spec}-{field.name}")
def test_any_number_has_a_text(field: Field) -> None:
    largest = (1 << 8 * field.width_bytes) - 1
    for value in (0, 1, 64, largest):
        text = describe.field_text(value_of(field, value))
        assert text
        assert text.isprintable()


def test_bits_of_a_word() -> None:
    by_name = {field.name: field for field in fields.L2_STANDARD_BITS}
    word = 1 << 63 | 0x5_0000 | 1
    assert describe.bit_span_text(by_name["copied"]) == "63"
    assert describe.bit_span_text(by_name["host_cluster_offset"]) == "55–9"
    assert describe.bit_field_text(by_name["copied"], word) == "1"
    assert describe.bit_field_text(by_name["host_cluster_offset"], word) == "0x5_0000 (327,680)"
    assert describe.bit_field_text(by_name["host_cluster_offset"], 0) == "none"
    allocated: BitField = fields.SUBCLUSTER_BITS[0]
    assert describe.bit_field_text(allocated, 5) == "0x00000005"
    sectors = fields.compressed_bits(16)[1]
    assert describe.bit_field_text(sectors, 3 << sectors.low) == "3"


def test_facts_of_the_header() -> None:
    assert describe.version_text(3) == "3 (compat 1.1)"
    assert describe.version_text(4) == "4 (unknown)"
    assert describe.crypt_method_text(1) == "AES (legacy)"
    assert describe.crypt_method_text(70_000) == "unknown (70,000)"
    assert describe.feature_class_text(FeatureClass.AUTOCLEAR) == "autoclear"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ExtensionType.BACKING_FORMAT, "“raw\\x1b”"),
        (ExtensionType.CROSVM_BACKING_FORMAT, "“raw\\x1b”"),
        (ExtensionType.DATA_FILE, "“raw\\x1b”"),
        (ExtensionType.BITMAPS, ""),
        (0x12345678, ""),
    ],
)
def test_the_name_in_an_extension(kind: int, text: str) -> None:
    assert describe.extension_name_text(Extension(kind, 104, 4, b"raw\x1b", b"")) == text


SNAPSHOT = Snapshot(
    index=0,
    l1_table_offset=0x7_0000,
    l1_size=1,
    date_seconds=0xFFFFFFFF,
    date_nanoseconds=0,
    vm_clock_nanoseconds=(100 * 3600 + 61) * 10**9 + 5_999_999,
    vm_state_bytes=0,
    disk_bytes=None,
    icount=None,
    extra_data=b"",
    extra_data_size=0,
    id_raw=b"1",
    name_raw=b"one",
    entry_offset=0,
    entry_bytes=48,
)


def test_a_snapshot() -> None:
    assert describe.snapshot_date_text(SNAPSHOT) == "2106-02-07 06:28:15"
    assert describe.snapshot_clock_text(SNAPSHOT) == "100:01:01.005"
    assert describe.snapshot_vm_state_text(SNAPSHOT) == "none"
    assert describe.snapshot_disk_text(SNAPSHOT) == "not recorded"
    full = replace(SNAPSHOT, vm_state_bytes=3072, disk_bytes=0, vm_clock_nanoseconds=2**64 - 1)
    assert describe.snapshot_vm_state_text(full) == "3 KiB"
    assert describe.snapshot_disk_text(full) == "0 B"
    assert describe.snapshot_clock_text(full) == "5,124,095:34:33.709"


def bitmap(flags: int = 0, bitmap_type: int = 1, granularity_bits: int = 16) -> BitmapEntry:
    return BitmapEntry(
        0, 0x9_0000, 1, flags, bitmap_type, granularity_bits, b"", "b", b"b", 0x8_0000, 32
    )


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        (bitmap(), "disabled"),
        (bitmap(flags=2), "recording"),
        (bitmap(flags=3), "not saved cleanly, recording"),
        (bitmap(bitmap_type=2), "not usable, disabled"),
        (bitmap(flags=0x12), "not usable, recording, flags 0x10"),
    ],
)
def test_the_state_of_a_bitmap(entry: BitmapEntry, state: str) -> None:
    assert describe.bitmap_state_text(entry) == state


def test_type_and_granularity_of_a_bitmap() -> None:
    assert describe.bitmap_type_text(bitmap()) == "dirty tracking"
    assert describe.bitmap_type_text(bitmap(bitmap_type=9)) == "unknown (9)"
    assert describe.bitmap_granularity_text(bitmap()) == "64 KiB"
    assert describe.bitmap_granularity_text(bitmap(granularity_bits=200)) == "not possible"


def luks(*states: int) -> LuksHeader:
    slots = tuple(
        LuksKeySlot(index, state, 1000, bytes(32), 4096, 4000) for index, state in enumerate(states)
    )
    return LuksHeader(
        1, "aes", "xts-plain64", "sha256", 4096, 64, bytes(20), bytes(32), 5000, "some-uuid", slots
    )


def test_a_luks_header_by_its_own_names() -> None:
    rows = {name: (value, text) for name, value, text, _ in describe.iter_luks_rows(luks())}
    assert list(rows) == [
        "version",
        "cipher-name",
        "cipher-mode",
        "hash-spec",
        "payload-offset",
        "key-bytes",
        "mk-digest",
        "mk-digest-salt",
        "mk-digest-iterations",
        "uuid",
    ]
    assert rows["payload-offset"] == (4096, "0x1000 (4,096)")
    assert rows["mk-digest"] == ("00" * 20, " ".join(["00000000"] * 5))
    assert rows["mk-digest-iterations"] == (5000, "5,000")
    meanings = [meaning for *_, meaning in describe.iter_luks_rows(luks())]
    assert all(meanings)
    assert "together: aes-256-xts-plain64" in meanings


def test_key_slots() -> None:
    header = luks(KEY_SLOT_ENABLED, KEY_SLOT_DISABLED, 0xBAD, KEY_SLOT_ENABLED)
    assert [describe.key_slot_state_text(slot) for slot in header.key_slots] == [
        "active",
        "empty",
        "damaged (0x00000bad)",
        "active",
    ]
    assert describe.key_slots_text(header) == "2 of 4 (number 0, 3)"
    assert describe.key_slots_text(luks(KEY_SLOT_DISABLED)) == "0 of 1"


FINDING = Finding("l2-truncated", Severity.CORRUPTION, "It ends.", "L1 table")


def test_how_often() -> None:
    assert describe.finding_text(FINDING) == "It ends."
    assert describe.finding_text(replace(FINDING, count=1234)) == "It ends. (×1,234)"


@pytest.mark.parametrize(
    ("finding", "place"),
    [
        (FINDING, "L1 table"),
        (replace(FINDING, entry=1024), "L1 table · entry 1,024"),
        (replace(FINDING, host_offset=0x30008), "L1 table · host 0x3_0008"),
        (replace(FINDING, guest_start=1 << 29), "L1 table · guest 0x2000_0000"),
        (
            replace(FINDING, entry=0, host_offset=0, guest_start=0, guest_end=1 << 16),
            "L1 table · entry 0 · host 0x0 · guest 0x0 – 0x1_0000",
        ),
        (replace(FINDING, guest_end=1 << 16), "L1 table"),
    ],
)
def test_where(finding: Finding, place: str) -> None:
    assert describe.place_text(finding) == place


def test_details() -> None:
    assert describe.finding_detail_text(FINDING) == ""
    full = replace(FINDING, raw=4096, expected="less", refusal=Refusal.QEMU)
    assert describe.finding_detail_text(full).splitlines() == [
        "Expected: less",
        "Found: 4,096 (0x1000)",
        "QEMU refuses the image; guest data can be read.",
    ]
    refused = replace(FINDING, refusal=Refusal.READER)
    assert describe.finding_detail_text(refused).endswith("guest data can't be read.")


def test_every_severity_has_a_word() -> None:
    assert set(describe.SEVERITY_WORDS) == set(Severity)
    assert len(set(describe.SEVERITY_WORDS.values())) == len(Severity)
    assert FINDING.code in CODES


def test_what_was_not_looked_at() -> None:
    assert describe.unseen_text(mapping_read=True) == "refcounts and guest data"
    assert describe.unseen_text(mapping_read=False).startswith("the mapping tables, refcounts")
