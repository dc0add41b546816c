"""Desktop entries and thumbnailer files that start this program from wherever it lies.

Spec: Desktop Entry Specification 1.5, "The Exec key" and "Possible value types".
"""

from __future__ import annotations

from collections.abc import Sequence

_RESERVED = frozenset(" \t\n\"'\\><~|&;$*?#()`")
"""What makes an argument of Exec one that must be quoted."""
_ESCAPED_INSIDE_QUOTES = '"`$\\'


def exec_value(command: Sequence[str], arguments: str) -> str:
    """The value of an Exec key that runs `command`.

    Args:
        command: The program and its first arguments, as they are.
        arguments: What follows, field codes as `%F` included, written as the key wants it.
    """
    # GLib looks for the program before it makes one % of two.
    words = ["env", *command] if "%" in command[0] else command
    line = " ".join(_quoted(word.replace("%", "%%")) for word in words)
    return escaped(line) + (f" {arguments}" if arguments else "")


def escaped(text: str) -> str:
    r"""A text as a value of type string: backslashes and line ends as \\ and \n."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def with_command(entry: str, command: Sequence[str]) -> str:
    """`entry` with its Exec and TryExec keys starting `command` instead of `qcowgui`.

    Args:
        entry: The text of a desktop entry or a thumbnailer file whose Exec starts with `qcowgui`.
        command: The program, and what it always gets.
    """
    lines = []
    for line in entry.splitlines(keepends=True):
        key, equals, value = line.rstrip("\n").partition("=")
        if equals and key == "Exec":
            arguments = value.removeprefix("qcowgui").lstrip()
            lines.append(f"Exec={exec_value(command, arguments)}\n")
        elif equals and key == "TryExec":
            lines.append(f"TryExec={escaped(command[0])}\n")
        else:
            lines.append(line)
    return "".join(lines)


def _quoted(word: str) -> str:
    """One argument of Exec, in double quotes where it needs them."""
    if word and not _RESERVED.intersection(word):
        return word
    inside = "".join(
        f"\\{letter}" if letter in _ESCAPED_INSIDE_QUOTES else letter for letter in word
    )
    return f'"{inside}"'
