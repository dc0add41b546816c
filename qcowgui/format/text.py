"""Text that an image brings along, made fit to be shown; all of it is untrusted."""

from __future__ import annotations

from typing import Final

_MAX_ESCAPED_BYTES: Final = 1023
"""What is shown of a name that needs escapes: as long as the longest name of a file or a bitmap."""


class _Escapes(dict[int, str]):
    """What stands for each character; only the first 256 are kept, which nearly all names need."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


_ESCAPES: Final = _Escapes()
_ESCAPES.update((code, _ESCAPES[code]) for code in range(256))


def decode_name(raw: bytes) -> tuple[str, bool]:
    r"""The text that `raw` stands for, fit to be shown, and whether it was clean UTF-8.

    Bytes that are no UTF-8 appear as \xNN. Characters that can't be printed (NUL, terminal escapes,
    direction overrides) are escaped too: a name from a hostile image must not steer a terminal. Of
    such a name only the start is shown.
    """
    text = _clean_text(raw)
    if text is not None:
        return text, True
    shown = raw[:_MAX_ESCAPED_BYTES].decode("utf-8", "backslashreplace")
    escaped = shown.translate(_ESCAPES)
    left_out = len(raw) - _MAX_ESCAPED_BYTES
    return escaped + (f"… ({left_out:,} more bytes)" if left_out > 0 else ""), False


def is_clean_name(raw: bytes) -> bool:
    """Whether `decode_name` shows `raw` as it is: UTF-8 without anything to escape."""
    return _clean_text(raw) is not None


def _clean_text(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None
