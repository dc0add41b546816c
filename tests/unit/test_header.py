"""The header and its rules."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pytest

from qcowgui.format import limits
from qcowgui.format.feature_rules import check_features
from qcowgui.format.finding import Finding, Refusal, Severity
from qcowgui.format.header import MAGIC_BYTES, Header, parse_header
from qcowgui.format.header_rules import check_header
from tests.support.layout import HEADER_FIELDS

FILE_BYTES = 0x60000


def header_bytes(*, length: int = 112, tail: bytes = b"", **changes: int) -> bytes:
    """The header of B0 with changed fields, and what follows it."""
    return built(changes | {"header_length": length}) + tail


def built(changes: Mapping[str, int]) -> bytes:
    """The 112 bytes of B0's header with changed fields."""
    values = {
        "magic": 0x514649FB,
        "version": 3,
        "cluster_bits": 16,
        "size": 64 << 20,
        "l1_size": 1,
        "l1_table_offset": 0x30000,
        "refcount_table_offset": 0x10000,
        "refcount_table_clusters": 1,
        "refcount_order": 4,
        "header_length": 112,
    } | dict(changes)
    data = bytearray(112)
    for name, value in values.items():
        offset, width = HEADER_FIELDS[name]
        data[offset : offset + width] = value.to_bytes(width, "big")
    return bytes(data)


def parsed(**changes: int) -> Header:
    return parse_header(built(changes))


def judged(*, file_bytes: int = FILE_BYTES, **changes: int) -> list[Finding]:
    return check_header(parsed(**changes), available_bytes=file_bytes)


def codes(findings: list[Finding]) -> list[str]:
    return [found.code for found in findings]


def test_magic() -> None:
    assert MAGIC_BYTES == b"QFI\xfb"


def test_a_healthy_header() -> None:
    header = parsed()
    assert (header.version, header.compat, header.end) == (3, "1.1", 112)
    assert header.geometry is not None
    assert header.geometry.cluster_bytes == 65536
    assert header.compression_name == "zlib"
    flags = (header.dirty, header.corrupt, header.has_data_file, header.data_file_raw)
    assert flags == (False,) * 4
    assert not header.extended_l2
    assert judged() == []
    assert check_features(header, {}) == []


@pytest.mark.parametrize("name", HEADER_FIELDS)
def test_every_field_is_read_from_its_place(name: str) -> None:
    width = HEADER_FIELDS[name][1]
    value = 3 if name in ("version", "header_length") else 0x8182_8384_8586_8788 >> 64 - 8 * width
    data = built({name: value})
    if name == "header_length":
        value, data = 120, header_bytes(length=120, tail=bytes(8))
    assert getattr(parse_header(data), name) == value


@pytest.mark.parametrize("length", [104, 109, 112, 120, 136])
def test_header_length(length: int) -> None:
    data = header_bytes(length=length, compression_type=1, tail=b"\x5a" * 200)
    header = parse_header(data)
    assert header.end == length
    assert len(header.raw) == length
    # A field whose end is beyond header_length counts as absent.
    assert header.compression_type == (1 if length > 104 else 0)
    assert header.tail == b"\x5a" * max(0, length - 112)
    values = {found.field.name: found.value for found in header.field_values()}
    assert values["compression_type"] == (1 if length > 104 else None)
    assert values["padding"] == (0 if length >= 112 else None)
    found = codes(check_header(header, available_bytes=FILE_BYTES))
    assert found == {
        109: ["header-length-alignment"],
        120: ["header-tail"],
        136: ["header-tail"],
    }.get(length, [])


@pytest.mark.parametrize("length", [0, 1, 72, 96, 103, 65537, 1 << 21, 0x7FFFFFFF, 0xFFFFFFFF])
def test_impossible_header_length(length: int) -> None:
    """The mandatory fields are read all the same; nothing of the claimed length is kept."""
    header = parse_header(header_bytes(length=length, compression_type=1, tail=bytes(3000)))
    assert header.header_length == length
    assert header.refcount_order == 4
    assert len(header.raw) <= 3112
    assert len(header.tail) <= 3000
    (finding,) = check_header(header, available_bytes=FILE_BYTES)
    assert (finding.code, finding.refusal, finding.raw) == (
        "header-length",
        Refusal.READER,
        length,
    )


def test_header_length_may_be_a_whole_cluster() -> None:
    assert judged(header_length=512, cluster_bits=9, size=1 << 15, l1_table_offset=0x30000) == []
    assert codes(judged(header_length=513, cluster_bits=9, size=1 << 15)) == ["header-length"]


def test_version_2_ends_at_byte_72() -> None:
    data = header_bytes(version=2)[:72] + b"\xff" * 40
    header = parse_header(data)
    assert (header.version, header.compat, header.end) == (2, "0.10", 72)
    assert (header.refcount_order, header.header_length) == (4, 72)
    assert (header.incompatible_features, header.compression_type, header.padding) == (0, 0, 0)
    assert header.tail == b""
    absent = {found.field.name for found in header.field_values() if found.value is None}
    assert absent == {name for name, (offset, _) in HEADER_FIELDS.items() if offset >= 72} | {
        "padding"
    }
    assert check_header(header, available_bytes=FILE_BYTES) == []
    assert check_features(header, {}) == []


@pytest.mark.parametrize("length", range(4, 112))
def test_a_header_cut_anywhere(length: int) -> None:
    header = parse_header(header_bytes()[:length])
    found = check_header(header, available_bytes=length)
    values = [found.value for found in header.field_values()]
    assert values[0] == 0x514649FB
    if length < 72:
        assert found[0].code == "header-truncated"
    if length >= 104:
        assert "header-truncated" not in codes(found)


@pytest.mark.parametrize(("version", "minimum"), [(2, 72), (3, 104)])
def test_least_length_of_the_file(version: int, minimum: int) -> None:
    header = parse_header(header_bytes(version=version, length=104))
    assert "header-truncated" not in codes(check_header(header, available_bytes=minimum))
    finding = check_header(header, available_bytes=minimum - 1)[0]
    assert (finding.code, finding.raw) == ("header-truncated", minimum - 1)


@pytest.mark.parametrize("version", [0, 1, 4, 0xFFFFFFFF])
def test_unknown_version(version: int) -> None:
    (finding,) = judged(version=version)
    assert (finding.code, finding.refusal) == ("header-version", Refusal.READER)


@pytest.mark.parametrize("bits", [0, 8, 22, 31, 63, 64, 0xFFFFFFFF])
def test_cluster_bits_outside_the_bounds(bits: int) -> None:
    header = parsed(cluster_bits=bits)
    assert header.geometry is None
    found = check_header(header, available_bytes=FILE_BYTES)
    assert codes(found) == ["header-cluster-bits"]
    assert "9 to 21" in found[0].message


@pytest.mark.parametrize("order", range(7))
def test_refcount_orders(order: int) -> None:
    assert judged(refcount_order=order) == []


@pytest.mark.parametrize("order", [7, 32, 0xFFFFFFFF])
def test_refcount_order_too_large(order: int) -> None:
    assert parsed(refcount_order=order).geometry is None
    assert codes(judged(refcount_order=order)) == ["header-refcount-order"]


@pytest.mark.parametrize("method", [3, 0xFFFFFFFF])
def test_crypt_method(method: int) -> None:
    assert codes(judged(crypt_method=method)) == ["header-crypt-method"]
    assert codes(judged(crypt_method=2)) == []


@pytest.mark.parametrize("byte", range(105, 112))
def test_padding(byte: int) -> None:
    data = bytearray(header_bytes())
    data[byte] = 1
    (finding,) = check_header(parse_header(bytes(data)), available_bytes=FILE_BYTES)
    assert (finding.code, finding.severity) == ("header-padding", Severity.SUSPICIOUS)


@pytest.mark.parametrize(
    ("offset", "size", "code"),
    [
        (0, 5000, None),  # no name
        (112, 10, None),
        (120, 0, None),
        (65536 - 12, 12, None),
        (65536, 0, None),
        (1, 5, "backing-name-location"),
        (111, 5, "backing-name-location"),
        (65537, 1, "backing-name-location"),
        (0x50000, 12, "backing-name-location"),
        (0xFFF8, 16, "backing-name-length"),
        (65536, 1, "backing-name-length"),
        (200, 1023, None),
        (200, 1024, "backing-name-length"),
        (200, 0xFFFFFFFF, "backing-name-length"),
        (0xFFFF_FFFF_FFFF_FFFF, 1, "backing-name-location"),
    ],
)
def test_backing_name_place(offset: int, size: int, code: str | None) -> None:
    found = judged(backing_file_offset=offset, backing_file_size=size)
    assert codes(found) == ([code] if code else [])
    assert all(finding.refusal is Refusal.READER for finding in found)


@pytest.mark.parametrize(
    ("size", "l1_size", "expected"),
    [
        (0, 0, []),
        (0, 5, []),
        (64 << 20, 0, ["l1-too-small"]),
        (512 << 20, 1, []),
        ((512 << 20) + 512, 1, ["l1-too-small"]),
        (152 << 40, 311_296, []),
        (152 << 40, 311_295, ["l1-too-small"]),
        ((1 << 63) - 512, 1, ["header-virtual-size"]),
        ((1 << 64) - 1, 1, ["header-virtual-size", "header-virtual-size-alignment"]),
        (1000, 1, ["header-virtual-size-alignment"]),
        (64 << 20, limits.MAX_L1_BYTES // 8, []),
        (64 << 20, limits.MAX_L1_BYTES // 8 + 1, ["l1-too-large"]),
        (64 << 20, 0x7FFFFFFF, ["l1-too-large"]),
    ],
)
def test_virtual_size_and_l1_size(size: int, l1_size: int, expected: list[str]) -> None:
    assert codes(judged(size=size, l1_size=l1_size, file_bytes=1 << 40)) == expected


@pytest.mark.parametrize(
    ("offset", "file_bytes", "expected"),
    [
        (0x30000, 0x30008, []),
        (0x30000, 0x30007, [("l1-truncated", Refusal.NONE)]),
        (0x70000, 0x30000, [("l1-truncated", Refusal.NONE)]),
        (0, FILE_BYTES, [("l1-offset", Refusal.NONE)]),
        (0x30200, FILE_BYTES, [("l1-offset", Refusal.READER)]),
        (0x1234567890ABCDEF, FILE_BYTES, [("l1-offset", Refusal.READER)]),
        ((1 << 63) - 65536, FILE_BYTES, [("l1-truncated", Refusal.NONE)]),
        (1 << 63, FILE_BYTES, [("l1-offset", Refusal.READER)]),
        ((1 << 64) - 65536, FILE_BYTES, [("l1-offset", Refusal.READER)]),
    ],
)
def test_l1_place(offset: int, file_bytes: int, expected: list[tuple[str, Refusal]]) -> None:
    found = judged(l1_table_offset=offset, file_bytes=file_bytes, refcount_table_clusters=1)
    ours = [(f.code, f.refusal) for f in found if f.code.startswith("l1")]
    assert ours == expected


def test_a_table_behind_the_end_is_told_with_both_numbers() -> None:
    (finding,) = judged(l1_table_offset=0x70000, file_bytes=0x30000)
    assert (
        "The file ends at 0x3_0000 but the L1 table needs bytes up to 0x7_0008" in finding.message
    )


@pytest.mark.parametrize(
    ("clusters", "offset", "file_bytes", "expected"),
    [
        (0, 0, FILE_BYTES, [("refcount-table-missing", Severity.CORRUPTION, Refusal.QEMU)]),
        (128, 0x10000, 1 << 30, []),
        (129, 0x10000, 1 << 30, [("refcount-table-too-large", Severity.CORRUPTION, Refusal.QEMU)]),
        (1, 0x10001, FILE_BYTES, [("refcount-table-offset", Severity.CORRUPTION, Refusal.QEMU)]),
        (1, 0, FILE_BYTES, [("refcount-table-offset", Severity.CORRUPTION, Refusal.NONE)]),
        (1, 1 << 63, FILE_BYTES, [("refcount-table-offset", Severity.CORRUPTION, Refusal.QEMU)]),
        (1, 0x50000, 0x50000, [("refcount-table-truncated", Severity.CORRUPTION, Refusal.NONE)]),
        # The unused rest of the last cluster may be missing (crosvm, QEMU).
        (1, 0x50000, 0x5FFFF, [("refcount-table-truncated", Severity.SUSPICIOUS, Refusal.NONE)]),
    ],
)
def test_refcount_table_place(
    clusters: int, offset: int, file_bytes: int, expected: list[tuple[str, Severity, Refusal]]
) -> None:
    found = judged(
        refcount_table_clusters=clusters, refcount_table_offset=offset, file_bytes=file_bytes
    )
    assert [(f.code, f.severity, f.refusal) for f in found] == expected


@pytest.mark.parametrize(
    ("count", "offset", "expected"),
    [
        (0, 0, []),
        (0, 0x1234, [("snapshot-table-offset", Refusal.QEMU)]),
        (1, 0x1234, [("snapshot-table-offset", Refusal.QEMU)]),
        (1, 0, [("snapshot-table-offset", Refusal.NONE)]),
        (65536, 0x50000, []),
        (65537, 0x50000, [("snapshot-count", Refusal.QEMU)]),
        (65536, (1 << 63) - 65536, [("snapshot-table-offset", Refusal.QEMU)]),
        (0x7FFFFFFF, 0x50000, [("snapshot-count", Refusal.QEMU)]),
    ],
)
def test_snapshot_table_place(count: int, offset: int, expected: list[tuple[str, Refusal]]) -> None:
    found = judged(nb_snapshots=count, snapshots_offset=offset)
    assert [(f.code, f.refusal) for f in found] == expected


@pytest.mark.parametrize("bit", range(64))
@pytest.mark.parametrize(
    ("field", "kind", "known"),
    [
        ("incompatible_features", "incompatible", range(5)),
        ("compatible_features", "compatible", range(1)),
        ("autoclear_features", "autoclear", range(2)),
    ],
)
def test_each_feature_bit(field: str, kind: str, known: range, bit: int) -> None:
    class_number = ("incompatible", "compatible", "autoclear").index(kind)
    names = {(class_number, bit): "its name"}
    found = check_features(parsed(**{field: 1 << bit}), names)
    unknown = [finding for finding in found if finding.code == f"unknown-{kind}"]
    assert len(unknown) == (bit not in known)
    for finding in unknown:
        assert f"bit {bit}, called “its name” by the image, is set" in finding.message
        refusal = Refusal.READER if kind == "incompatible" else Refusal.NONE
        assert finding.refusal is refusal


def test_an_unknown_bit_without_a_name() -> None:
    (finding,) = check_features(parsed(incompatible_features=1 << 40), {})
    assert "bit 40 is set" in finding.message


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"incompatible_features": 1}, [("dirty", Refusal.NONE)]),
        ({"incompatible_features": 2}, [("corrupt", Refusal.NONE)]),
        ({"incompatible_features": 8}, [("compression-type-bit", Refusal.READER)]),
        ({"compression_type": 1}, [("compression-type-bit", Refusal.READER)]),
        ({"incompatible_features": 8, "compression_type": 1}, []),
        (
            {"incompatible_features": 8, "compression_type": 2},
            [("compression-type-unknown", Refusal.READER)],
        ),
        (
            {"compression_type": 255},
            [
                ("compression-type-unknown", Refusal.READER),
                ("compression-type-bit", Refusal.READER),
            ],
        ),
        ({"incompatible_features": 16, "cluster_bits": 14}, []),
        (
            {"incompatible_features": 16, "cluster_bits": 13},
            [("extended-l2-cluster", Refusal.READER)],
        ),
        ({"autoclear_features": 2}, [("raw-external-without-data-file", Refusal.QEMU)]),
        ({"autoclear_features": 2, "incompatible_features": 4}, []),
    ],
)
def test_feature_rules(changes: dict[str, int], expected: list[tuple[str, Refusal]]) -> None:
    found = check_features(parsed(**changes), {})
    assert [(finding.code, finding.refusal) for finding in found] == expected


def test_names_of_compression_types() -> None:
    assert parsed(compression_type=1).compression_name == "zstd"
    assert parsed(compression_type=9).compression_name == "9"


def test_header_is_packed_as_in_the_specification() -> None:
    numbers = struct.unpack_from(">IIQIIQIIQQIIQQQQII", header_bytes(), 0)
    assert numbers[:2] == (0x514649FB, 3)
    assert struct.calcsize(">IIQIIQIIQQIIQQQQII") == 104
