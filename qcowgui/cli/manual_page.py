"""The man page qcowgui(1), made of the command line's own facts, as man(7) source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qcowgui import __version__
from qcowgui.cli.command_tree import CommandFacts, OptionFacts

_LAID_OUT = "\b"
"""click's mark of a paragraph whose lines stay as they are."""


def manual_page(tree: Sequence[CommandFacts]) -> str:
    """The page; equal for equal commands, whatever the day."""
    program, *commands = tree
    lines = [
        f'.TH QCOWGUI 1 "" "qcowgui {__version__}" "User Commands"',
        ".SH NAME",
        r"qcowgui \- " + _escaped(program.summary[0].lower() + program.summary[1:]),
        ".SH SYNOPSIS",
        *(_synopsis(command) for command in commands),
        ".B qcowgui",
        ".RI [ IMAGE ...]",
        ".SH DESCRIPTION",
        *_paragraphs(program.text),
        ".SH OPTIONS",
        *_options(program),
        ".SH COMMANDS",
    ]
    for command in commands:
        lines += [f".SS qcowgui {command.name} {_escaped(command.usage)}"]
        lines += _paragraphs(command.text)
        lines += _options(command)
    lines += [
        ".SH SEE ALSO",
        ".BR qemu\\-img (1)",
    ]
    return "\n".join(lines) + "\n"


def _synopsis(command: CommandFacts) -> str:
    usage = _escaped(command.usage)
    return f".B qcowgui {command.name}\n{usage}\n.br"


def _options(command: CommandFacts) -> Iterator[str]:
    for option in command.options:
        yield ".TP"
        yield ", ".join(rf"\fB{_escaped(name)}\fR" for name in option.names) + _value(option)
        yield _escaped(" ".join(option.help.split()))


def _value(option: OptionFacts) -> str:
    if not option.metavar:
        return ""
    gap = " " if option.takes_value else ""
    return rf"{gap}\fI{_escaped(option.metavar)}\fR"


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n[ \t]*\n", text)):
        if number:
            yield ".PP"
        lines = paragraph.splitlines()
        if lines and lines[0].strip() == _LAID_OUT:
            yield ".nf"
            yield from map(_escaped, lines[1:])
            yield ".fi"
        else:
            yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    """`text` as a line of text: no backslash, minus or leading dot means anything else."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text
