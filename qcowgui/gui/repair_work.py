"""The work behind the repair dialog: planning, listing the edits, writing and checking a copy.

Nothing here knows Qt: it runs in other threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.engine.work import CancelToken, Counter, Executor
from qcowgui.format.finding import CODES
from qcowgui.gui.translation import count_text
from qcowgui.image.inspect import ImageReport
from qcowgui.image.patched import Content, Edit, content_bytes, read_content
from qcowgui.image.source import FileSource
from qcowgui.repair.apply import apply_to_copy, require_as_planned
from qcowgui.repair.planner import ProvenPlan, RepairRequest, plan_repair
from qcowgui.units import KIB

MAX_ROWS: Final = 20_000
"""Changes that are listed one by one; the summary counts them all."""
_WORD_BYTES: Final = 8
_SPLIT_BYTES: Final = 64 * KIB
"""Longer edits write whole tables, which nobody reads word by word."""
_SHOWN_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class EditRow:
    """One change for a person: a word of the format where an edit has words, else the edit.

    Attributes:
        offset: File offset in bytes.
        length_bytes: How many bytes it writes.
        before: What stands there, in hexadecimal; empty behind the end of the file.
        after: What will.
        why: The reason of the edit, a sentence.
        code: The finding that it removes, or an empty string.
    """

    offset: int
    length_bytes: int
    before: str
    after: str
    why: str
    code: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and its first changes in words.

    Attributes:
        proven: The plan, proven.
        rows: The first `MAX_ROWS` changes.
        complete: Whether these are all.
    """

    proven: ProvenPlan
    rows: tuple[EditRow, ...]
    complete: bool

    @property
    def changes(self) -> tuple[tuple[str, int, str], ...]:
        """Code, number of changes and meaning, the most frequent first."""
        ordered = sorted(self.proven.changes.items(), key=lambda item: (-item[1], item[0]))
        return tuple((code, count, CODES[code]) for code, count in ordered)


@dataclass(frozen=True, slots=True)
class PlanWork:
    """Plans a repair and proves the plan; nothing is written.

    Attributes:
        source: The image; it stays open until the plan was carried out.
        image: What an open says of it.
        request: What to repair.
        executor: What decodes payloads; None: the work's own thread.
        decoded: Gets the bytes of payloads that were decoded.
    """

    source: FileSource
    image: ImageReport
    request: RepairRequest
    executor: Executor | None = None
    decoded: Counter = field(default_factory=Counter)

    def __call__(self, token: CancelToken) -> Planned:
        """The plan.

        Raises:
            ProofError: When the plan turned out to be wrong.
            SourceError: When the operating system refuses a read, or the file was changed.
            Cancelled: When the token asks for it.
        """
        proven = plan_repair(
            self.source,
            self.request,
            report=self.image,
            token=token,
            executor=self.executor,
            counter=self.decoded,
        )
        rows: list[EditRow] = []
        for row in _iter_rows(proven.plan.edits):
            token.raise_if_cancelled()
            if len(rows) == MAX_ROWS:
                return Planned(proven, tuple(rows), complete=False)
            rows.append(row)
        return Planned(proven, tuple(rows), complete=True)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired copy that is in place.

    Attributes:
        target: Where it is; symbolic links are followed.
        written_bytes: How many bytes the edits wrote.
        checked: What a check of the copy found.
    """

    target: Path
    written_bytes: int
    checked: CheckReport


@dataclass(frozen=True, slots=True)
class CopyWork:
    """Writes a repaired copy, and checks it before it takes its name.

    Attributes:
        source: The image that the plan was made for.
        proven: The plan.
        target: Where the copy will be.
        overwrite: Whether an existing file may be replaced.
        copied: Gets the bytes that were copied and written; see `total_bytes`.
    """

    source: FileSource
    proven: ProvenPlan
    target: Path
    overwrite: bool
    copied: Counter = field(default_factory=Counter)

    @property
    def total_bytes(self) -> int:
        """What `copied` comes to before the check."""
        return self.source.size_bytes + self.proven.plan.written_bytes

    def __call__(self, token: CancelToken) -> Repaired:
        """The copy, complete and checked.

        Raises:
            SourceError: When the image can't be read, or is not as it was.
            OutputError: When the copy can't be written, or is not what was planned.
            Cancelled: When the token asks for it; nothing is left behind then.
        """
        found: list[CheckReport] = []

        def examine(copy: Path) -> None:
            with FileSource(copy) as written:
                found.append(check_image(written, token=token))
            require_as_planned(self.proven.after, found[0], self.target)

        result = apply_to_copy(
            self.proven.plan,
            self.source,
            self.target,
            overwrite=self.overwrite,
            token=token,
            counter=self.copied,
            before_move=examine,
        )
        return Repaired(result.target, result.written_bytes, found[0])


def _iter_rows(edits: Iterable[Edit]) -> Iterator[EditRow]:
    for edit in edits:
        same_length = content_bytes(edit.before) == edit.length_bytes
        if same_length and _WORD_BYTES < edit.length_bytes <= _SPLIT_BYTES:
            yield from _iter_words(edit)
        else:
            before, after = content_text(edit.before), content_text(edit.after)
            yield EditRow(edit.offset, edit.length_bytes, before, after, edit.why, edit.code)


def _iter_words(edit: Edit) -> Iterator[EditRow]:
    """The words of an edit that change; those between them are in it only to join them."""
    before = read_content(edit.before, 0, edit.length_bytes)
    after = read_content(edit.after, 0, edit.length_bytes)
    start = 0
    while start < edit.length_bytes:
        end = start + _WORD_BYTES - (edit.offset + start) % _WORD_BYTES
        old, new = before[start:end], after[start:end]
        if old != new:
            yield EditRow(
                edit.offset + start,
                len(new),
                content_text(old),
                content_text(new),
                edit.why,
                edit.code,
            )
        start = end


def content_text(content: Content) -> str:
    """Bytes of an edit on one line: a word as the format has it, or the first bytes of more."""
    there = content_bytes(content)
    if not there:
        return ""
    first = read_content(content, 0, min(there, _SHOWN_BYTES))
    if there <= _WORD_BYTES:
        return f"0x{first.hex()}"
    text = first.hex(" ")
    return f"{text} … ({count_text(there, 'byte')})" if there > _SHOWN_BYTES else text
