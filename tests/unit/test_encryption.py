"""The encryption header extension, LUKS1 headers, legacy AES."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format.encryption import (
    KEY_SLOT_DISABLED,
    KEY_SLOT_ENABLED,
    EncryptionHeaderPointer,
    check_crypt_method,
    parse_encryption_extension,
    parse_luks_header,
)
from qcowgui.format.finding import Finding, Refusal, Severity

AREA_BYTES = 2_068_480
SLOT = 208


def pointer(
    data: bytes, crypt_method: int = 2, cluster_bits: int = 16, file_bytes: int = 1 << 30
) -> tuple[EncryptionHeaderPointer | None, list[Finding]]:
    return parse_encryption_extension(
        data,
        crypt_method=crypt_method,
        cluster_bits=cluster_bits,
        host_offset=120,
        file_bytes=file_bytes,
    )


def luks(**changes: int) -> bytes:
    """A header as QEMU writes it, slot 0 active."""
    values = {"version": 1, "key_bytes": 64, "state": KEY_SLOT_ENABLED, "material": 8}
    values |= {"stripes": 4000} | changes
    head = struct.pack(
        ">6sH32s32s32sII20s32sI40s",
        b"LUKS\xba\xbe",
        values["version"],
        b"aes",
        b"xts-plain64",
        b"sha256",
        4040,
        values["key_bytes"],
        b"d" * 20,
        b"s" * 32,
        1000,
        b"5d4a3e9a-0000-0000-0000-000000000000",
    )
    first = struct.pack(
        ">II32sII", values["state"], 2000, b"t" * 32, values["material"], values["stripes"]
    )
    unused = struct.pack(">II32sII", KEY_SLOT_DISABLED, 0, bytes(32), 512, 4000)
    return head + first + unused * 7


def test_pointer() -> None:
    found, findings = pointer(struct.pack(">QQ", 0x40000, AREA_BYTES))
    assert found == EncryptionHeaderPointer(0x40000, AREA_BYTES)
    assert findings == []


@pytest.mark.parametrize(
    ("offset", "length", "host_offset"),
    [
        (0, 4096, 120),
        (0x40200, 4096, 120),
        (0x40000, 591, 128),
        (0x40000, 1 << 30, 128),
        (0x40000, (1 << 64) - 1, 128),
    ],
)
def test_pointer_rules(offset: int, length: int, host_offset: int) -> None:
    found, (finding,) = pointer(struct.pack(">QQ", offset, length))
    assert found == EncryptionHeaderPointer(offset, length)
    assert finding.code == "encryption-header-location"
    assert (finding.severity, finding.refusal) == (Severity.CORRUPTION, Refusal.QEMU)
    assert finding.host_offset == host_offset


def test_pointer_up_to_the_last_byte_of_the_file() -> None:
    data = struct.pack(">QQ", 0x40000, 592)
    assert pointer(data, file_bytes=0x40000 + 592)[1] == []
    assert len(pointer(data, file_bytes=0x40000 + 591)[1]) == 1


@pytest.mark.parametrize(("length", "parsed"), [(0, False), (15, False), (17, True)])
def test_pointer_of_another_length(length: int, parsed: bool) -> None:
    found, (finding,) = pointer((struct.pack(">QQ", 0x40000, 4096) + b"x")[:length])
    assert (found is not None) is parsed
    assert finding.raw == length


@pytest.mark.parametrize("crypt_method", [0, 1, 3])
def test_pointer_without_luks(crypt_method: int) -> None:
    _, (finding,) = pointer(struct.pack(">QQ", 0x40000, 4096), crypt_method)
    assert finding.code == "encryption-unexpected-header"
    assert finding.raw == crypt_method


def test_old_aes() -> None:
    """BL-O63: named weak, with the way out, and that a wrong password goes unnoticed."""
    (finding,) = check_crypt_method(1, has_encryption_header=False)
    assert (finding.code, finding.severity) == ("aes-legacy", Severity.SUSPICIOUS)
    for words in ("old AES", "weak", "qemu-img still reads it", "can't be detected"):
        assert words in finding.message


def test_luks_needs_a_header() -> None:
    (finding,) = check_crypt_method(2, has_encryption_header=False)
    assert finding.code == "encryption-without-header"
    assert finding.refusal is Refusal.READER
    assert check_crypt_method(2, has_encryption_header=True) == []


@pytest.mark.parametrize("crypt_method", [0, 3, 0xFFFF_FFFF])
def test_other_methods_say_nothing(crypt_method: int) -> None:
    assert check_crypt_method(crypt_method, has_encryption_header=False) == []


def test_luks_fields() -> None:
    header, findings = parse_luks_header(luks(), host_offset=0x40000, area_bytes=AREA_BYTES)
    assert findings == []
    assert header is not None
    assert header.version == 1
    assert header.cipher == "aes-256-xts-plain64"
    assert (header.cipher_name, header.cipher_mode) == ("aes", "xts-plain64")
    assert header.hash_spec == "sha256"
    assert header.payload_offset == 4040 * 512
    assert header.key_bytes == 64
    assert (header.mk_digest, header.mk_digest_salt) == (b"d" * 20, b"s" * 32)
    assert header.mk_digest_iterations == 1000
    assert header.uuid == "5d4a3e9a-0000-0000-0000-000000000000"
    assert [slot.active for slot in header.key_slots] == [True] + [False] * 7
    first = header.key_slots[0]
    assert (first.iterations, first.salt, first.key_material_offset) == (2000, b"t" * 32, 4096)


def test_a_header_written_by_qemu(tmp_path: Path) -> None:
    path = tmp_path / "x.qcow2"
    options = "encrypt.format=luks,encrypt.key-secret=s,encrypt.iter-time=10"
    command = ["qemu-img", "create", "-q", "--object", "secret,id=s,data=word"]
    command += ["-f", "qcow2", "-o", options, str(path), "1M"]
    subprocess.run(command, check=True)
    image = path.read_bytes()
    extension = image.index(struct.pack(">II", 0x0537BE77, 16), 104) + 8
    found, findings = pointer(image[extension : extension + 16], file_bytes=len(image))
    assert found is not None
    assert findings == []
    header, findings = parse_luks_header(
        image[found.offset : found.offset + 592],
        host_offset=found.offset,
        area_bytes=found.length,
    )
    assert findings == []
    assert header is not None
    assert header.cipher == "aes-256-xts-plain64"
    assert sum(slot.active for slot in header.key_slots) == 1
    assert [slot.stripes for slot in header.key_slots] == [4000] * 8


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "ends after 0 bytes"),
        (b"LUKS\xba\xbe\0", "ends after 7 bytes"),
        (b"garbage!" * 100, "67 61 72 62 61 67"),
        (bytes(592), "no LUKS header"),
        (luks(version=2), "LUKS version 2"),
        (luks(version=9), "unknown version 9"),
        (luks()[:207], "ends after 207 bytes"),
    ],
)
def test_what_is_no_luks1_header(data: bytes, words: str) -> None:
    header, (finding,) = parse_luks_header(data, host_offset=0x40000, area_bytes=AREA_BYTES)
    assert header is None
    assert (finding.code, finding.host_offset) == ("luks-header", 0x40000)
    assert words in finding.message


@pytest.mark.parametrize(("length", "slots"), [(208, 0), (255, 0), (256, 1), (591, 7)])
def test_a_header_that_is_cut_short(length: int, slots: int) -> None:
    header, (finding,) = parse_luks_header(luks()[:length], host_offset=0, area_bytes=AREA_BYTES)
    assert header is not None
    assert len(header.key_slots) == slots
    assert f"{slots} of 8 key slots" in finding.message


@pytest.mark.parametrize(
    ("data", "host_offset", "words"),
    [
        (luks(key_bytes=513, material=8), 108, "513 bytes"),
        (luks(stripes=1), SLOT + 44, "1 stripes"),
        (luks(material=1), SLOT + 40, "does not lie inside"),
        (luks(material=0xFFFF_FFFF), SLOT + 40, "does not lie inside"),
        (luks(state=KEY_SLOT_DISABLED), SLOT, "No key slot"),
        (luks()[:8] + bytes(32) + luks()[40:], 8, "names no cipher"),
    ],
)
def test_luks_rules(data: bytes, host_offset: int, words: str) -> None:
    header, (finding,) = parse_luks_header(data, host_offset=0, area_bytes=1 << 24)
    assert header is not None
    assert (finding.code, finding.host_offset) == ("luks-header", host_offset)
    assert words in finding.message


def test_key_slot_state_that_does_not_exist() -> None:
    _, findings = parse_luks_header(luks(state=5), host_offset=0, area_bytes=AREA_BYTES)
    assert [f.host_offset for f in findings] == [SLOT, SLOT]
    assert "neither active nor disabled" in findings[0].message
    assert "No key slot" in findings[1].message


def test_a_cipher_without_xts_uses_the_whole_key() -> None:
    data = luks(key_bytes=32).replace(b"xts-plain64", b"cbc-essiv:s")
    header, _ = parse_luks_header(data, host_offset=0, area_bytes=AREA_BYTES)
    assert header is not None
    assert header.cipher == "aes-256-cbc-essiv:s"


@given(data=st.binary(max_size=700), cut=st.integers(0, 592), area=st.integers(0, (1 << 64) - 1))
def test_any_bytes(data: bytes, cut: int, area: int) -> None:
    mixed = luks()[:cut] + data
    header, findings = parse_luks_header(mixed, host_offset=area, area_bytes=area)
    assert header is not None or findings
    pointer(data)
