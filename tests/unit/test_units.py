"""Sizes, hexadecimal text and alignment."""

from __future__ import annotations

import pytest

from qcowgui import units


@pytest.mark.parametrize(
    ("value", "alignment", "down", "up"),
    [
        (0, 512, 0, 0),
        (1, 512, 0, 512),
        (511, 512, 0, 512),
        (512, 512, 512, 512),
        (1025, 8, 1024, 1032),
    ],
)
def test_alignment(value: int, alignment: int, down: int, up: int) -> None:
    assert units.align_down(value, alignment) == down
    assert units.align_up(value, alignment) == up


def test_ceil_div_is_exact_for_large_numbers() -> None:
    assert units.ceil_div((1 << 64) - 1, 512) == 1 << 55
    assert units.ceil_div(1 << 64, 512) == 1 << 55
    assert units.ceil_div(0, 512) == 0


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (1023, "0.999 KiB"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (197_120, "192 KiB"),  # 192.5: printf rounds ties to even
        (64 << 20, "64 MiB"),
        (152 << 40, "152 TiB"),
        ((1 << 64) - 1, "16 EiB"),
    ],
)
def test_format_size(size_bytes: int, text: str) -> None:
    assert units.format_size(size_bytes) == text


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("512", 512),
        ("64k", 65536),
        ("64K", 65536),
        (" 2M ", 2 << 20),
        ("2 MiB", 2 << 20),
        ("1.5G", 3 << 29),
        ("1t", 1 << 40),
        ("8e", 8 << 60),
        ("1P", 1 << 50),
        ("7b", 7),
        ("9007199254740993", 9007199254740993),  # no detour over a float
    ],
)
def test_parse_size(text: str, size_bytes: int) -> None:
    assert units.parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "k", "-1", "1x", "0x10", "1.5", "1.0001k", "1 2"])
def test_parse_size_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a (size|whole number)"):
        units.parse_size(text)


def test_texts_of_numbers() -> None:
    assert units.format_hex(0x10, 32) == "0x00000010"
    assert units.format_hex(1) == "0x0000000000000001"
    assert units.format_offset(0x1_4000_0000) == "0x1_4000_0000"
    assert units.format_count(1, "cluster") == "1 cluster"
    assert units.format_count(1024, "cluster") == "1,024 clusters"
    assert units.format_count(2, "entry", "entries") == "2 entries"
