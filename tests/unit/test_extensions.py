"""The list of header extensions, whatever is in it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format import limits
from qcowgui.format.extensions import Extension, ExtensionType, first_of, parse_extensions
from qcowgui.format.finding import Finding, Refusal

START = 112
END = 4096


def ext(kind: int, data: bytes = b"", *, length: int | None = None, pad: bytes = b"\0") -> bytes:
    padding = pad * (-len(data) % 8)
    return struct.pack(">II", kind, len(data) if length is None else length) + data + padding


def parse(
    content: bytes, *, start: int = START, end: int = END, file_bytes: int | None = None
) -> tuple[list[Extension], list[Finding]]:
    """Parse `content` behind a header; the file is filled with zeros up to `end`."""
    data = (bytes(start) + content).ljust(end, b"\0")
    return parse_extensions(data[:file_bytes], start=start, end=end)


def codes(findings: list[Finding]) -> list[str]:
    return [found.code for found in findings]


def test_numbers_of_the_types() -> None:
    assert {kind.name: kind.value for kind in ExtensionType} == {
        "END": 0x00000000,
        "BACKING_FORMAT": 0xE2792ACA,
        "FEATURE_NAMES": 0x6803F857,
        "BITMAPS": 0x23852875,
        "ENCRYPTION_HEADER": 0x0537BE77,
        "DATA_FILE": 0x44415441,
        "CROSVM_BACKING_FORMAT": 0xE279268F,
        "LEGACY_COMPRESSION": 0xC03183A3,
        "CLB3": 0x434C4233,
    }


def test_a_healthy_list() -> None:
    content = ext(0xE2792ACA, b"raw") + ext(0x44415441, b"datafile") + ext(0) + ext(0xDEADBEEF)
    found, findings = parse(content)
    assert findings == []
    assert [(e.type, e.offset, e.length, e.data, e.padding) for e in found] == [
        (0xE2792ACA, 112, 3, b"raw", bytes(5)),
        (0x44415441, 128, 8, b"datafile", b""),
    ]
    assert [e.name for e in found] == ["backing format name", "external data file name"]
    assert found[0].text == "raw"


def test_nothing_at_all() -> None:
    assert parse(b"") == ([], [])
    assert parse_extensions(bytes(112), start=112, end=112) == ([], [])


def test_unknown_ones_are_kept_with_their_bytes() -> None:
    found, findings = parse(ext(0x12345678, b"keep me") + ext(0x434C4233))
    assert [(e.type, e.data) for e in found] == [(0x12345678, b"keep me"), (0x434C4233, b"")]
    assert codes(findings) == ["extension-unknown", "extension-unknown"]
    assert found[0].name == "unknown 0x12345678"
    assert all(finding.refusal is Refusal.NONE for finding in findings)


def test_duplicates_are_all_kept_and_the_first_counts() -> None:
    found, findings = parse(ext(0xE2792ACA, b"raw") + ext(0xE2792ACA, b"qcow2"))
    assert len(found) == 2
    assert codes(findings) == ["extension-duplicate"]
    first = first_of(found, ExtensionType.BACKING_FORMAT)
    assert first is not None
    assert first.text == "raw"


def test_first_of_follows_the_order_of_the_question() -> None:
    found, _ = parse(ext(0xE279268F, b"composite") + ext(0xE2792ACA, b"raw"))
    kinds = ExtensionType.BACKING_FORMAT, ExtensionType.CROSVM_BACKING_FORMAT
    first = first_of(found, *kinds)
    assert first is not None
    assert first.text == "raw"
    assert first_of([], *kinds) is None


@pytest.mark.parametrize("length", [0x7FFFFFFF, 0xFFFFFFFF, END - START - 8 + 1])
def test_overlong(length: int) -> None:
    found, findings = parse(ext(0x6803F857, b"x" * 48, length=length) + ext(0xE2792ACA, b"raw"))
    (extension,) = found
    assert len(extension.data) == END - START - 8
    assert codes(findings) == ["extension-overlong"]
    assert (findings[0].refusal, findings[0].raw) == (Refusal.QEMU, length)


def test_an_extension_may_fill_the_area_without_an_end_marker() -> None:
    found, findings = parse(ext(0x6803F857, b"", length=END - START - 8))
    assert len(found[0].data) == END - START - 8
    assert findings == []


def test_data_may_end_the_area_without_its_padding() -> None:
    found, findings = parse_extensions(
        bytes(112) + ext(0xE2792ACA, b"raw")[:11], start=112, end=123
    )
    assert (found[0].data, found[0].padding) == (b"raw", b"")
    assert findings == []


@pytest.mark.parametrize("left", range(1, 8))
def test_unterminated(left: int) -> None:
    """QEMU reads a head over the end of the area, and refuses."""
    found, findings = parse(ext(0xE2792ACA, b"raw"), end=START + 16 + left)
    assert len(found) == 1
    assert [(f.code, f.refusal, f.host_offset) for f in findings] == [
        ("extension-unterminated", Refusal.QEMU, START + 16)
    ]


def test_end_marker_with_a_length() -> None:
    assert codes(parse(ext(0, length=8) + ext(0x12345678))[1]) == ["extension-length"]
    (finding,) = parse(ext(0, length=1 << 31))[1]
    assert (finding.code, finding.refusal) == ("extension-overlong", Refusal.QEMU)


def test_padding_that_is_not_zero() -> None:
    found, findings = parse(ext(0xE2792ACA, b"raw", pad=b"\x5a"))
    assert found[0].padding == b"\x5a" * 5
    assert codes(findings) == ["extension-padding"]


def test_padding_counts_from_the_extension() -> None:
    """A header_length that is no multiple of 8 shifts all extensions."""
    found, findings = parse(ext(0xE2792ACA, b"raw") + ext(0x44415441, b"d"), start=109)
    assert [(e.offset, e.data, e.padding) for e in found] == [
        (109, b"raw", bytes(5)),
        (125, b"d", bytes(7)),
    ]
    assert findings == []


@pytest.mark.parametrize("file_bytes", [START + 1, START + 7, START + 16 + 4])
def test_the_file_ends_in_a_head(file_bytes: int) -> None:
    _, findings = parse(ext(0xE2792ACA, b"raw") + ext(0x44415441, b"d"), file_bytes=file_bytes)
    assert codes(findings) == ["extension-truncated"]
    assert findings[0].refusal is Refusal.NONE


def test_the_file_ends_in_the_data() -> None:
    found, findings = parse(ext(0xE2792ACA, b"qcow2"), file_bytes=START + 10)
    assert found[0].data == b"qc"
    assert codes(findings) == ["extension-truncated"]


def test_too_many() -> None:
    count = limits.MAX_EXTENSIONS
    head = ext(0xE2792ACA)
    found, findings = parse(head * (count + 1), end=START + 8 * (count + 1))
    assert len(found) == count
    assert codes(findings)[0] == "extension-count"


def test_crosvm() -> None:
    found, findings = parse(ext(0xE279268F, b"composite\x1b"))
    assert codes(findings) == ["extension-misspelt"]
    assert "“composite\\x1b”" in findings[0].message
    assert found[0].name == "backing format name (misspelt by crosvm)"


def test_compression_proposal_of_2017() -> None:
    assert codes(parse(ext(0xC03183A3, bytes(16)))[1]) == ["extension-legacy-compression"]


@pytest.mark.parametrize(("length", "refused"), [(15, False), (16, True), (1000, True)])
def test_length_of_the_backing_format(length: int, refused: bool) -> None:
    _, findings = parse(ext(0xE2792ACA, b"x" * length))
    assert codes(findings) == (["backing-format-length"] if refused else [])
    assert all(finding.refusal is Refusal.QEMU for finding in findings)


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 400))
def test_any_bytes_give_a_list_inside_the_area(data: bytes, start: int, end: int) -> None:
    found, findings = parse_extensions(data, start=start, end=end)
    position = start
    for extension in found:
        assert extension.offset >= position
        position = extension.offset + 8 + len(extension.data) + len(extension.padding)
        assert position <= max(end, start)
        assert extension.text.isprintable()
    assert parse_extensions(data, start=start, end=end) == (found, findings)
