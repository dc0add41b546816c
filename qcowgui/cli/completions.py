"""Completion scripts for bash, zsh and fish, made of the command line's own facts.

They know every command and option by themselves: no key press starts the program. Where a file may
stand, files are offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from qcowgui.cli.command_tree import CommandFacts, OptionFacts

_BASH: Final = r"""# bash completion for qcowgui, made from its command line
_qcowgui_offer() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}
_qcowgui_offer_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"; compgen -f -- "$cur")
}
_qcowgui() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command= options= words= word commands="@COMMANDS@"
    # Readline makes three words of --option=value.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ " $commands " == *" $word "* ]]; then
            command=$word
        fi
        [[ $word == -* ]] || break
    done
    COMPREPLY=()
    case $command,$prev in
@VALUES@
    esac
    case $command in
@OPTIONS@
    esac
    if [[ $cur == -* ]]; then
        _qcowgui_offer "$options"
    else
        _qcowgui_offer_files "$words"
    fi
}
complete -F _qcowgui qcowgui
"""
_ZSH: Final = r"""#compdef qcowgui
# zsh completion for qcowgui, made from its command line
_qcowgui() {
    local context state state_descr line
    typeset -A opt_args
    local -a commands
    commands=(
@COMMANDS@
    )
    _arguments -C \
@PROGRAM@
        '1: :->first' \
        '*:: :->rest'
    case $state in
        first)
            _alternative 'commands:command:{_describe command commands}' 'files:image:_files'
            ;;
        rest)
            case $words[1] in
@CASES@
                *) _files ;;
            esac
            ;;
    esac
}
if [ "$funcstack[1]" = _qcowgui ]; then
    _qcowgui "$@"
else
    compdef _qcowgui qcowgui
fi
"""


def bash_script(tree: Sequence[CommandFacts]) -> str:
    """The script for bash 4.4 and later."""
    values, options = [], []
    for command in tree:
        for option in command.options:
            if option.takes_value:
                pattern = "|".join(f"{command.name},{name}" for name in option.names)
                values.append(f"        {pattern}) {_bash_value(option)} ;;")
        names = " ".join(name for option in command.options for name in option.names)
        words = _names(tree) if not command.name else " ".join(command.words)
        pattern = command.name or "''"
        options.append(f'        {pattern}) options="{names}" words="{words}" ;;')
    script = _BASH.replace("@COMMANDS@", _names(tree))
    return script.replace("@VALUES@", "\n".join(values)).replace("@OPTIONS@", "\n".join(options))


def _bash_value(option: OptionFacts) -> str:
    if option.choices:
        return f'_qcowgui_offer "{" ".join(option.choices)}"; return'
    return "_qcowgui_offer_files; return" if option.names_file else "return"


def zsh_script(tree: Sequence[CommandFacts]) -> str:
    """The script for zsh, to be called _qcowgui in a folder of `fpath`."""
    program, *commands = tree
    listed = "\n".join(
        f"        {_quoted(f'{command.name}:{command.summary}')}" for command in commands
    )
    cases = []
    for command in commands:
        specs = [*_zsh_options(command)]
        if command.words:
            words = " ".join(command.words)
            specs += ["'1:image:_files'", f"'2:structure:({words})'", "'*:which:_files'"]
        else:
            specs.append("'*:file:_files'")
        lines = " \\\n".join(f"                        {spec}" for spec in specs)
        cases.append(
            f"                {command.name})\n                    _arguments -s \\\n{lines}\n"
            "                    ;;"
        )
    own = "\n".join(f"        {spec} \\" for spec in _zsh_options(program))
    script = _ZSH.replace("@COMMANDS@", listed).replace("@PROGRAM@", own)
    return script.replace("@CASES@", "\n".join(cases))


def _zsh_options(command: CommandFacts) -> Iterator[str]:
    for option in command.options:
        brief = option.brief.replace("[", "(").replace("]", ")")
        value = ""
        if option.takes_value:
            value = f":{option.metavar.replace(':', ' ')}:"
            if option.choices:
                value += f"({' '.join(option.choices)})"
            elif option.names_file:
                value += "_files"
        for name in option.names:
            # A long option's value may follow "=", too.
            joined = "=" if value and name.startswith("--") else ""
            yield _quoted(f"*{name}{joined}[{brief}]{value}")


def fish_script(tree: Sequence[CommandFacts]) -> str:
    """The script for fish 3 and later."""
    lines = ["# fish completion for qcowgui, made from its command line"]
    program, *commands = tree
    first = "__fish_use_subcommand"
    lines += [
        f"complete -c qcowgui -n {first} -a {command.name} -d {_fish_quoted(command.summary)}"
        for command in commands
    ]
    lines += _fish_options(program, first)
    for command in commands:
        seen = _fish_quoted(f"__fish_seen_subcommand_from {command.name}")
        if command.words:
            words = _fish_quoted(" ".join(command.words))
            lines.append(f"complete -c qcowgui -n {seen} -a {words}")
        lines += _fish_options(command, seen)
    return "\n".join(lines) + "\n"


def _fish_options(command: CommandFacts, condition: str) -> Iterator[str]:
    for option in command.options:
        words = [f"complete -c qcowgui -n {condition}"]
        words += [
            f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
        ]
        if option.choices:
            words.append(f"-x -a {_fish_quoted(' '.join(option.choices))}")
        elif option.takes_value:
            words.append("-r -F" if option.names_file else "-x")
        words.append(f"-d {_fish_quoted(option.brief)}")
        yield " ".join(words)


def _names(tree: Sequence[CommandFacts]) -> str:
    return " ".join(command.name for command in tree if command.name)


def _quoted(text: str) -> str:
    """`text` as one word of a Bourne shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Final[dict[str, Callable[[Sequence[CommandFacts]], str]]] = {
    "bash": bash_script,
    "fish": fish_script,
    "zsh": zsh_script,
}
"""Shell → what makes its script."""
