"""Text that an image brings along, made fit to be shown; all of it is untrusted."""

from __future__ import annotations


def decode_name(raw: bytes) -> tuple[str, bool]:
    r"""The text that `raw` stands for, fit to be shown, and whether it was clean UTF-8.

    Bytes that are no UTF-8 appear as \xNN. Characters that can't be printed (NUL, terminal escapes,
    direction overrides) are escaped too: a name from a hostile image must not steer a terminal.
    """
    text = raw.decode("utf-8", "backslashreplace")
    if not text.isprintable():
        text = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in text
        )
    # Escaping makes text longer, so only a clean name survives the way there and back.
    return text, text.encode("utf-8") == raw
