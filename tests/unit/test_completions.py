"""The shells' completions and the man page, judged by the shells and by mandoc themselves."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from qcowgui.cli.command_tree import CommandFacts, command_tree, first_sentence
from qcowgui.cli.completions import SCRIPTS
from qcowgui.cli.integrate import command_line_texts
from qcowgui.cli.main import COMMANDS
from qcowgui.cli.manual_page import manual_page

BASH = r"""
source "$1"
compopt() { :; }
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_qcowgui
printf '%s\n' "${COMPREPLY[@]}"
"""
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=READY; autoload -Uz compinit && compinit -u -D; source $1"
zpty -w shell "zstyle ':completion:*' list-separator '--'; setopt no_beep; echo SET''UP"
zpty -r shell output '*SETUP*READY*' || exit 1
zpty -w -n shell "$2"$'\t'$'\t'
sleep ${3:-1}
zpty -w shell $'\x15''echo D''ONE'
zpty -r shell output '*DONE*'
print -r -- $output
zpty -d shell
"""


@pytest.fixture(scope="module")
def tree() -> list[CommandFacts]:
    return command_tree()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an image, another file, and the scripts beside it."""
    (tmp_path / "here").mkdir()
    for name in ("disk one.qcow2", "info.txt"):
        (tmp_path / "here" / name).touch()
    for shell, text in command_line_texts().items():
        (tmp_path / shell).write_text(text)
    return tmp_path


def ask_bash(folder: Path, *words: str) -> set[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", str(folder / "bash"), *words],
        cwd=folder / "here",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return set(done.stdout.splitlines()) - {""}


def ask_fish(folder: Path, line: str) -> set[str]:
    done = subprocess.run(
        ["fish", "--no-config", "-c", f'source {folder / "fish"}; complete -C "{line}"'],
        cwd=folder / "here",
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {answer.partition("\t")[0] for answer in done.stdout.splitlines()}


def ask_zsh(folder: Path, line: str) -> str:
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH, "zsh", str(folder / "zsh"), line],
        cwd=folder / "here",
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_the_tree_knows_every_command_and_option(tree: list[CommandFacts]) -> None:
    assert [command.name for command in tree] == ["", *COMMANDS]
    for command in tree:
        assert command.summary
        assert command.text
        names = {name for option in command.options for name in option.names}
        assert {"--debug", "--help", "-h"} <= names
    convert = next(command for command in tree if command.name == "convert")
    options = {name: option for option in convert.options for name in option.names}
    assert options["-O"].choices == ("qcow2", "raw")
    assert options["-B"].names_file
    assert options["--level"].takes_value
    assert not options["-c"].takes_value
    assert not options["--allow-backing"].takes_value  # its value follows "=", if any


@pytest.mark.parametrize(
    ("text", "brief"),
    [
        ("Do this.", "Do this"),
        ("Do this. Or that.", "Do this"),
        ("Do\n  this; or that", "Do this"),
        ("Level 1.5 does it.", "Level 1.5 does it"),
        ("", ""),
    ],
)
def test_a_first_sentence(text: str, brief: str) -> None:
    assert first_sentence(text) == brief


def test_bash_offers_commands_and_files(folder: Path) -> None:
    assert ask_bash(folder, "qcowgui", "in") == {"info", "info.txt"} | {
        name for name in COMMANDS if name.startswith("in")
    }
    assert set(COMMANDS) | {"disk one.qcow2", "info.txt"} == ask_bash(folder, "qcowgui", "")
    assert ask_bash(folder, "qcowgui", "info", "") == {"disk one.qcow2", "info.txt"}
    assert ask_bash(folder, "qcowgui", "info", "--debug", "di") == {"disk one.qcow2"}


def test_bash_offers_options_and_their_values(folder: Path) -> None:
    assert ask_bash(folder, "qcowgui", "--de") == {"--debug"}
    assert "--compress" in ask_bash(folder, "qcowgui", "convert", "--c")
    assert "--compress" not in ask_bash(folder, "qcowgui", "info", "--c")
    assert ask_bash(folder, "qcowgui", "convert", "--compress", "z") == {"zlib", "zstd"}
    assert ask_bash(folder, "qcowgui", "info", "--output", "=", "js") == {"json"}
    assert ask_bash(folder, "qcowgui", "info", "--output", "=") == {"human", "json"}
    assert ask_bash(folder, "qcowgui", "convert", "--level", "") == set()
    assert ask_bash(folder, "qcowgui", "convert", "-B", "di") == {"disk one.qcow2"}
    assert "refcounts" in ask_bash(folder, "qcowgui", "dump", "disk one.qcow2", "ref")


def test_fish(folder: Path) -> None:
    assert {"info", "info.txt"} <= ask_fish(folder, "qcowgui in")
    assert ask_fish(folder, "qcowgui convert --compress z") == {"zlib", "zstd"}
    assert "--deep" in ask_fish(folder, "qcowgui check --")
    assert "--deep" not in ask_fish(folder, "qcowgui info --")
    assert "refcounts" in ask_fish(folder, "qcowgui dump x ref")


@pytest.mark.slow
def test_zsh(folder: Path) -> None:
    assert "salvage" in ask_zsh(folder, "qcowgui sal")
    assert "zlib" in ask_zsh(folder, "qcowgui convert --compress z")
    answer = ask_zsh(folder, "qcowgui check --de")
    assert "--deep" in answer
    assert "--debug" in answer


@pytest.mark.parametrize(
    ("shell", "command"),
    [("bash", ["bash", "-n"]), ("fish", ["fish", "--no-execute"]), ("zsh", ["zsh", "-n"])],
)
def test_a_script_is_well_formed(folder: Path, shell: str, command: list[str]) -> None:
    done = subprocess.run(
        [*command, str(folder / shell)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_scripts_quote_what_help_says() -> None:
    nasty = CommandFacts("it's", 'It\'s $(touch x) `y` \\ [z]: "q"', "", "Text.", (), ())
    program = CommandFacts("", "Program.", "", "Text.", (), ())
    for make_script in SCRIPTS.values():
        assert make_script([program, nasty])
    assert "'it'\\''s:It'\\''s $(touch x) `y`" in SCRIPTS["zsh"]([program, nasty])


def test_the_man_page_is_good_to_mandoc(folder: Path) -> None:
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", str(folder / "man")],
        capture_output=True,
        text=True,
        check=False,
    )
    # Without a date the page is the same whenever it is made.
    complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert complaints == []


def test_the_man_page_tells_everything(folder: Path, tree: list[CommandFacts]) -> None:
    text = subprocess.run(
        ["mandoc", "-T", "utf8", "-O", "width=100", str(folder / "man")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    plain = subprocess.run(["col", "-b"], input=text, capture_output=True, text=True, check=True)
    words = set(re.split(r"[\s,\[]+", plain.stdout))
    for command in tree:
        assert f"qcowgui {command.name}".strip() in plain.stdout
        for option in command.options:
            assert set(option.names) <= words
    assert "[zlib|zstd]" in plain.stdout


def test_the_man_page_shows_what_help_shows() -> None:
    text = "A -x \\e.\n\n\b\n.first 'line'\n  second\n\nLast."
    page = manual_page([CommandFacts("", "Does.", "", text, (), ())])
    assert "A \\-x \\ee.\n.PP\n.nf\n\\&.first 'line'\n  second\n.fi\n.PP\nLast.\n" in page
