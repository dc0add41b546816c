"""Untrusted text is made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format.text import decode_name


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
    assert clean == (text.encode() == raw)
