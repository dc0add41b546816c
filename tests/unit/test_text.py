"""Untrusted text is made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format.text import decode_name, is_clean_name


@pytest.mark.parametrize(
    ("raw", "shown", "clean"),
    [
        (b"", "", True),
        (b"base.qcow2", "base.qcow2", True),
        ("größe".encode(), "größe", True),
        (b"\x1b[31mred", "\\x1b[31mred", False),
        (b"a\0b", "a\\x00b", False),
        (b"\xff", "\\xff", False),
        ("\u202egpj.exe".encode(), "\\u202egpj.exe", False),
        (b"two\nlines", "two\\nlines", False),
    ],
)
def test_decode_name(raw: bytes, shown: str, clean: bool) -> None:
    assert decode_name(raw) == (shown, clean)


@given(st.binary(max_size=60))
def test_any_bytes_become_printable_text(raw: bytes) -> None:
    text, clean = decode_name(raw)
    assert text.isprintable()
    assert clean == (text.encode() == raw) == is_clean_name(raw)


def test_of_a_long_name_that_needs_escapes_the_start_is_shown() -> None:
    text, clean = decode_name(b"a\0" * 40_000)
    assert text.startswith("a\\x00a\\x00")
    assert text.endswith("… (78,977 more bytes)")
    assert (len(text) < 4000, clean) == (True, False)


def test_a_long_clean_name_is_shown_whole() -> None:
    assert decode_name(b"a" * 80_000) == ("a" * 80_000, True)
