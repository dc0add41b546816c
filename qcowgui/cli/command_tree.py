"""The command line as plain facts: what the man page and the shells' completions are made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import click

from qcowgui.cli.main import COMMANDS, qcowgui
from qcowgui.cli.parameters import FORMATS

_PATHS: Final = frozenset({"FILE", "FOLDER", "OUT", "PATH"})
"""Metavars of values that name files."""
_FORMAT: Final = "FMT"


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """One option.

    Attributes:
        names: As they are typed, shortest first.
        metavar: What its value is called; empty when it takes none.
        help: What it does.
        choices: The values it takes, where these are known.
        names_file: Whether its value is a path.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...]
    names_file: bool

    @property
    def takes_value(self) -> bool:
        """Whether the next word belongs to it."""
        return bool(self.metavar) and not self.metavar.startswith("[=")

    @property
    def brief(self) -> str:
        """The first sentence of its help, without a full stop."""
        return first_sentence(self.help)


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """One sub-command, or the program itself.

    Attributes:
        name: Its name; empty for the program.
        summary: One sentence.
        usage: What follows its name, as in "[OPTIONS] IMAGE".
        text: Its help, paragraphs apart by an empty line; one that starts with a line of a single
            backspace is laid out already.
        options: Its options.
        words: Words that it takes in place of a file, such as dump's structures.
    """

    name: str
    summary: str
    usage: str
    text: str
    options: tuple[OptionFacts, ...]
    words: tuple[str, ...]


def command_tree() -> list[CommandFacts]:
    """The program, and after it every sub-command in the order of its help."""
    program = click.Context(qcowgui, info_name="qcowgui", **qcowgui.context_settings)
    facts = [_facts(program, "", "")]
    for name, summary in COMMANDS.items():
        command = qcowgui.get_command(program, name)
        if command is None:
            raise LookupError(f"{name} is listed, but is no command")
        context = click.Context(command, info_name=name, parent=program)
        facts.append(_facts(context, name, summary))
    return facts


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line, without the full stop."""
    line = " ".join(text.split())
    for end in (". ", "; ", ": "):
        line = line.partition(end)[0]
    return line.removesuffix(".")


def _facts(context: click.Context, name: str, summary: str) -> CommandFacts:
    command = context.command
    parameters = command.get_params(context)
    text = inspect.cleandoc(command.help or "")
    return CommandFacts(
        name,
        summary or first_sentence(text),
        " ".join(command.collect_usage_pieces(context)),
        text,
        tuple(_options(context, parameters)),
        tuple(_words(parameters)),
    )


def _options(context: click.Context, parameters: list[click.Parameter]) -> Iterator[OptionFacts]:
    for option in parameters:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        names = tuple(sorted((*option.opts, *option.secondary_opts), key=len))
        flag = option.is_flag or option.count
        metavar = "" if flag else (option.metavar or option.make_metavar(context))
        choices = _choices(option) or (FORMATS if metavar == _FORMAT else ())
        is_path = isinstance(option.type, click.Path) or metavar in _PATHS
        yield OptionFacts(names, metavar, option.help or "", choices, is_path)


def _choices(parameter: click.Parameter) -> tuple[str, ...]:
    kind = parameter.type
    return tuple(map(str, kind.choices)) if isinstance(kind, click.Choice) else ()


def _words(parameters: list[click.Parameter]) -> Iterator[str]:
    for parameter in parameters:
        if isinstance(parameter, click.Argument):
            yield from _choices(parameter)
