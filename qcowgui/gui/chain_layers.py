"""The files of a backing chain, as far as a person has allowed to open them. Knows no widgets.

Where permission ends, the file system is asked whether something is there; nothing is opened. A
file that lies elsewhere than the image says can be located by hand: that changes no image.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error, QcowError, ReferencedFileError
from qcowgui.format.text import is_clean_name
from qcowgui.image.chain import FORMATS, probe_format
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.references import (
    ChainGuard,
    Gate,
    Reference,
    backing_reference,
    data_file_reference,
    locate,
    open_reference,
)
from qcowgui.image.source import FileSource

translate = QCoreApplication.translate


class LinkState(Enum):
    """How far a file of the chain is known."""

    OPENED = "opened"
    NOT_ALLOWED = "not-allowed"
    """Something is there; nobody has agreed to open it."""
    MISSING = "missing"
    NO_FILE_NAME = "no-file-name"
    LOOP = "loop"
    TOO_LONG = "too-long"
    SPECIAL = "special"
    """Neither a file nor a block device."""
    UNREADABLE = "unreadable"


_STATES = {
    "denied": LinkState.NOT_ALLOWED,
    "missing": LinkState.MISSING,
    "protocol": LinkState.NO_FILE_NAME,
    "loop": LinkState.LOOP,
    "depth": LinkState.TOO_LONG,
    "special": LinkState.SPECIAL,
}


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One file of a chain.

    Attributes:
        depth: 0 for the image itself; a data file has the depth of its image.
        state: How far it is known.
        path: Where it is or should be; None when its name is no plain file name.
        format: "qcow2" or "raw"; of a file that was not opened, what is recorded, or empty.
        format_guessed: Whether no format is recorded, so that the content decides.
        reference: How it is named; None for the image itself.
        referrer: The image that names it; None for the image itself.
        located: Whether it was found by hand.
        virtual_bytes: Size of the guest's disk that it holds, when it was opened.
        file_bytes: Its length, when it was opened.
        detail: What is wrong or to be known, or an empty string.
        nearby: A file of the same name beside the image, when it is missing; or None.
    """

    depth: int
    state: LinkState
    path: Path | None
    format: str
    format_guessed: bool = False
    reference: Reference | None = None
    referrer: Path | None = None
    located: bool = False
    virtual_bytes: int | None = None
    file_bytes: int | None = None
    detail: str = ""
    nearby: Path | None = None

    @property
    def in_folder(self) -> bool:
        """Whether it lies in the folder of the image that names it, or below."""
        return self.reference is None or self.reference.in_folder

    @property
    def can_be_allowed(self) -> bool:
        """Whether a person's agreement is all that is missing."""
        return self.state is LinkState.NOT_ALLOWED

    @property
    def can_be_located(self) -> bool:
        """Whether it may lie somewhere else."""
        return self.reference is not None and self.state in (
            LinkState.MISSING,
            LinkState.NO_FILE_NAME,
            LinkState.SPECIAL,
            LinkState.UNREADABLE,
        )

    @property
    def is_data_file(self) -> bool:
        """Whether it holds the clusters of the image that names it."""
        return self.reference is not None and self.reference.kind == "data file"


@dataclass(frozen=True, slots=True)
class ChainWork:
    """Looks at the chain, beside the window.

    Attributes:
        source: The image itself.
        report: What an open says of it.
        gate: Which files may be opened, and where they are that lie elsewhere than images say.
    """

    source: FileSource
    report: ImageReport
    gate: Gate

    def __call__(self, token: CancelToken) -> tuple[ChainLink, ...]:
        """The files, from the image itself to the bottom; after one that is not opened, none.

        Raises:
            Cancelled: When the token was set.
        """
        return tuple(self._iter_links(token))

    def _iter_links(self, token: CancelToken) -> Iterator[ChainLink]:
        guard = ChainGuard()
        guard.enter(self.source)
        report, depth, trusted = self.report, 0, True
        yield ChainLink(
            0,
            LinkState.OPENED,
            self.source.path,
            "qcow2",
            virtual_bytes=report.virtual_bytes,
            file_bytes=report.file_bytes,
        )
        while True:
            token.raise_if_cancelled()
            data_file = data_file_reference(report, trusted=trusted)
            if data_file is not None:
                yield self._look(data_file, depth, "raw", guard=None)[0]
            backing = backing_reference(report, trusted=trusted)
            if backing is None:
                return
            depth += 1
            recorded = report.backing_format or ""
            link, found = self._look(backing, depth, recorded, guard=guard)
            yield link
            if found is None:
                return
            report, trusted = found, trusted and not link.format_guessed

    def _look(
        self, named: Reference, depth: int, recorded: str, *, guard: ChainGuard | None
    ) -> tuple[ChainLink, ImageReport | None]:
        """A referenced file, and its own report if it is an image to go on with."""
        reference = locate(named, self.gate)
        link = ChainLink(
            depth,
            LinkState.OPENED,
            reference.path,
            recorded,
            reference=reference,
            referrer=named.image_path,
            located=reference is not named,
            detail=reference.note,
        )
        try:
            with open_reference(reference, self.gate) as source:
                if guard is not None:
                    guard.enter(source)
                return _inspected(link, source)
        except ReferencedFileError as error:
            return _refused(link, error), None
        except QcowError as error:
            return replace(link, state=LinkState.UNREADABLE, detail=error.message), None


def _inspected(link: ChainLink, source: FileSource) -> tuple[ChainLink, ImageReport | None]:
    """An opened file: what it is, and its report if it is a qcow2 image."""
    if link.is_data_file:
        return replace(link, file_bytes=source.size_bytes), None
    guessed = link.format not in FORMATS
    found = probe_format(source) if guessed else link.format
    link = replace(link, format=found, format_guessed=guessed, file_bytes=source.size_bytes)
    if found == "raw":
        return replace(link, virtual_bytes=source.size_bytes), None
    try:
        report = inspect_source(source)
    except NotQcow2Error as error:
        return replace(link, state=LinkState.UNREADABLE, detail=error.message), None
    detail = link.detail
    if report.refusals:
        detail = report.refusals[0].message
    return replace(link, virtual_bytes=report.virtual_bytes, detail=detail), report


def _refused(link: ChainLink, error: ReferencedFileError) -> ChainLink:
    state = _STATES.get(error.reason, LinkState.UNREADABLE)
    path = link.path
    if state is LinkState.NOT_ALLOWED and path is not None and not os.path.lexists(path):
        state = LinkState.MISSING
    if state is LinkState.NOT_ALLOWED:
        return replace(link, state=state)
    nearby = None
    if state is LinkState.MISSING and path is not None and link.referrer is not None:
        beside = link.referrer.parent / path.name
        nearby = beside if beside != path and beside.is_file() else None
    return replace(link, state=state, nearby=nearby, detail=_detail(state, error))


def _detail(state: LinkState, error: ReferencedFileError) -> str:
    if state is LinkState.MISSING:
        return translate("chain", "Nothing is there. The file may have been moved or renamed.")
    return error.message if not error.hint else f"{error.message}. {error.hint}"


def rebase_command(link: ChainLink) -> str:
    """The qemu-img command that writes a located backing file's place into the image; or nothing.

    There is none for names that a terminal can't show. It changes the image's header alone, and
    only a person may run it: this program writes nothing.
    """
    if not link.located or link.path is None or link.referrer is None or link.is_data_file:
        return ""
    words = ["qemu-img", "rebase", "-u", "-f", "qcow2", "-b", str(link.path)]
    if link.format:
        words += ["-F", link.format]
    words.append(str(link.referrer))
    if not all(is_clean_name(os.fsencode(word)) for word in words):
        return ""
    return shlex.join(words)
