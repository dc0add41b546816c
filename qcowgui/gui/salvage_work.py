"""The work behind the salvage dialog, and what it finds in words. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.job import ConvertResult, Phase, Progress
from qcowgui.engine.work import CancelToken, Counter, Executor
from qcowgui.gui.formatters import Column, Row, Table, Tone
from qcowgui.gui.translation import count_text
from qcowgui.image.layer import LostRange
from qcowgui.image.source import FileSource
from qcowgui.salvage.candidates import Candidate, Overrides, SalvageReport
from qcowgui.salvage.search import search_candidates
from qcowgui.salvage.write import SalvageJob
from qcowgui.units import format_offset, format_size

translate = QCoreApplication.translate

_MAX_LOSSES: Final = 5000
_MAX_LINES: Final = 40
_GOOD_SCORE: Final = 0.9
_POOR_SCORE: Final = 0.5


@dataclass(frozen=True, slots=True)
class SearchWork:
    """Looks for what can be made of a damaged image; nothing is written.

    Attributes:
        source: The image.
        overrides: What the user knows better.
        scanned: Gets the bytes of the file that were looked at.
    """

    source: FileSource
    overrides: Overrides
    scanned: Counter = field(default_factory=Counter)

    def __call__(self, token: CancelToken) -> SalvageReport:
        """What was found.

        Raises:
            UnsupportedError: When the guest's data lies in another file.
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        return search_candidates(self.source, token, counter=self.scanned, overrides=self.overrides)


@dataclass(frozen=True, slots=True)
class SalvageWork:
    """Writes a candidate as a new image.

    Attributes:
        job: What is written; run once.
        executor: What it runs on.
    """

    job: SalvageJob
    executor: Executor

    def __call__(self, token: CancelToken) -> ConvertResult:
        """What came of it.

        Raises:
            QcowError: When something can't be read or written.
            Cancelled: When the token asks for it; nothing is left behind then.
        """
        token.raise_if_cancelled()
        return self.job.run(self.executor)


def progress_text(progress: Progress) -> str:
    """How far writing is, in words."""
    phase = {
        Phase.PREPARING: translate("salvage", "Preparing"),
        Phase.CONVERTING: translate("salvage", "Writing"),
        Phase.VERIFYING: translate("salvage", "Verifying"),
        Phase.FINISHING: translate("salvage", "Finishing"),
    }[progress.phase]
    if not progress.total_bytes:
        return f"{phase}…"
    return translate("salvage", "{phase}: {done} of {total}").format(
        phase=phase,
        done=format_size(progress.done_bytes),
        total=format_size(progress.total_bytes),
    )


def lost_bytes(losses: Sequence[LostRange]) -> int:
    """How many guest bytes are lost."""
    return sum(lost.length for lost in losses)


def candidates_table(candidates: Sequence[Candidate]) -> Table:
    """The candidates, the most plausible first."""
    return Table(
        (
            Column(translate("salvage", "#"), right=True),
            Column(translate("salvage", "Score"), right=True),
            Column(translate("salvage", "Read by"), wide=True),
            Column(translate("salvage", "Virtual size"), right=True),
            Column(translate("salvage", "Clusters"), right=True),
            Column(translate("salvage", "L2 tables")),
            Column(translate("salvage", "Known losses"), right=True),
        ),
        tuple(_candidate_row(candidate) for candidate in candidates),
        sortable=True,
    )


def losses_table(losses: Sequence[LostRange]) -> Table:
    """What could not be read, by guest offset."""
    rows = [
        Row(
            (
                format_offset(lost.start),
                format_offset(lost.start + lost.length),
                format_size(lost.length),
                lost.reason,
            ),
            sort_keys=(lost.start, lost.start + lost.length, lost.length, lost.reason),
        )
        for lost in losses[:_MAX_LOSSES]
    ]
    if len(losses) > _MAX_LOSSES:
        more = count_text(len(losses) - _MAX_LOSSES, "more range")
        end = losses[-1].start + losses[-1].length
        rows.append(Row(("", "", "", more), tone=Tone.MUTED, sort_keys=(end, end, 0, more)))
    return Table(
        (
            Column(translate("salvage", "Guest from"), monospaced=True, right=True),
            Column(translate("salvage", "to"), monospaced=True, right=True),
            Column(translate("salvage", "Length"), right=True),
            Column(translate("salvage", "Why it is lost"), wide=True),
        ),
        tuple(rows),
        sortable=True,
    )


def candidate_text(candidate: Candidate, report: SalvageReport) -> str:
    """What speaks for a candidate, what nothing in the file tells, and what it loses."""
    return "\n".join(_iter_candidate_lines(candidate, report))


def found_text(report: SalvageReport) -> str:
    """What became of the header, and what else was found."""
    sentences = [report.header_state]
    found = report.structures
    if found is not None:
        parts = [
            count_text(len(found.l1_tables), "L1 table"),
            count_text(
                found.l2_count,
                "cluster shaped like an L2 table",
                "clusters shaped like L2 tables",
            ),
            count_text(len(found.snapshots), "snapshot"),
        ]
        sentences.append(translate("salvage", "Found: {what}.").format(what=", ".join(parts)))
    if not report.candidates:
        sentences.append(
            translate(
                "salvage",
                "Nothing that could be an L1 or L2 table was found: this was no qcow2 image, or"
                " all of its tables are gone.",
            )
        )
    return " ".join((*sentences, *report.notes))


def _candidate_row(candidate: Candidate) -> Row:
    geometry = candidate.geometry
    lost = lost_bytes(candidate.lost)
    tone = Tone.NORMAL if candidate.score >= _GOOD_SCORE else Tone.WARNING
    return Row(
        (
            f"{candidate.number}",
            f"{candidate.score:.2f}",
            candidate.title,
            format_size(candidate.virtual_bytes),
            format_size(geometry.cluster_bytes),
            _tables_text(candidate),
            format_size(lost) if lost else translate("salvage", "none"),
        ),
        tone=Tone.DANGER if candidate.score < _POOR_SCORE else tone,
        sort_keys=(
            candidate.number,
            -round(candidate.score * 1000),
            candidate.title,
            candidate.virtual_bytes,
            geometry.cluster_bytes,
            candidate.whole_tables,
            lost,
        ),
    )


def _tables_text(candidate: Candidate) -> str:
    """How many L2 tables are whole; damaged and lost ones only where there are any."""
    parts = [translate("salvage", "{count} whole").format(count=f"{candidate.whole_tables:,}")]
    if candidate.damaged_tables:
        words = translate("salvage", "{count} damaged")
        parts.append(words.format(count=f"{candidate.damaged_tables:,}"))
    if candidate.lost_tables:
        words = translate("salvage", "{count} lost")
        parts.append(words.format(count=f"{candidate.lost_tables:,}"))
    return ", ".join(parts)


def _iter_candidate_lines(candidate: Candidate, report: SalvageReport) -> Iterator[str]:
    geometry = candidate.geometry
    wide = translate("salvage", ", extended L2 entries") if geometry.extended_l2 else ""
    yield translate(
        "salvage", "Version {version}, {bytes} bytes, {compression}{wide}, {bits}-bit refcounts"
    ).format(
        version=candidate.version,
        bytes=f"{candidate.virtual_bytes:,}",
        compression=candidate.compression_type.label,
        wide=wide,
        bits=geometry.refcount_bits,
    )
    for title, sentences in (
        (translate("salvage", "What speaks for it"), candidate.reasons),
        (translate("salvage", "What nothing in the file tells"), candidate.undecidable),
        (translate("salvage", "What it loses"), tuple(_iter_losses(candidate.lost))),
        (translate("salvage", "What it leaves unused"), tuple(_iter_unused(candidate, report))),
    ):
        if sentences:
            yield ""
            yield title
            yield from (f"  •  {sentence}" for sentence in sentences)


def _iter_losses(losses: Sequence[LostRange]) -> Iterator[str]:
    for lost in losses[:_MAX_LINES]:
        yield translate("salvage", "guest {start} – {end}: {reason}").format(
            start=format_offset(lost.start),
            end=format_offset(lost.start + lost.length),
            reason=lost.reason,
        )
    if len(losses) > _MAX_LINES:
        yield count_text(len(losses) - _MAX_LINES, "more range")


def _iter_unused(candidate: Candidate, report: SalvageReport) -> Iterator[str]:
    """Only known of the first candidate."""
    orphans = report.orphans
    if candidate.number != 1:
        return
    if orphans.tables:
        yield count_text(len(orphans.tables), "L2 table")
    if orphans.clusters:
        size = format_size(orphans.clusters << candidate.geometry.cluster_bits)
        text = count_text(
            orphans.clusters,
            "cluster with data",
            "clusters with data",
        )
        yield f"{text} ({size})"
    for start, end in orphans.ranges[:_MAX_LINES]:
        yield translate("salvage", "host {start} – {end}").format(
            start=format_offset(start), end=format_offset(end)
        )
