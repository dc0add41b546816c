"""Findings as rows of a list: kinds that open to their single findings, filtered. Knows no Qt.

A damaged image may have a million findings, of which a check keeps some of each kind; the others of
a kind are looked for again when somebody wants to see them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.check.collector import OTHER_SNAPSHOTS, FindingCollector, FindingGroup
from qcowgui.engine.work import CancelToken
from qcowgui.format import describe
from qcowgui.format.finding import CODES, Finding, Severity
from qcowgui.image.inspect import ImageReport
from qcowgui.image.source import ByteSource
from qcowgui.image.summary import MappingSummary

MAX_LISTED: Final = 100_000
"""Single findings of a kind that are listed: some 50 MB of memory."""

_UNGROUPED: Final = str.maketrans("", "", "_,")
"""Takes the separators of digits away: 0x1_4000 is found by 0x14000, too."""


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Which findings are shown.

    Attributes:
        severities: Those of these severities.
        text: Whose words, place or code contain each of these words; empty: all.
    """

    severities: frozenset[Severity] = frozenset(Severity)
    text: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What must occur, as `search_text` writes it."""
        return tuple(self.text.casefold().translate(_UNGROUPED).split())


class ListRow(NamedTuple):
    """A row of the list.

    Attributes:
        group: Index of the kind in `FindingList.groups`.
        finding: Index in what is listed of that kind; None for the row of the kind itself.
        is_more: Whether the row only says that there are others that are not listed.
    """

    group: int
    finding: int | None = None
    is_more: bool = False


@dataclass(slots=True)
class _Kind:
    """What is known and shown of one kind.

    Attributes:
        listed: Its single findings, as far as they are known.
        texts: What is searched in each of them, once it was needed.
        searched: Whether all were looked for: what is missing then was too much.
        expanded: Whether they are shown.
        shown: Indices in `listed` of those that pass the filter.
    """

    listed: Sequence[Finding]
    texts: Sequence[str] = ()
    searched: bool = False
    expanded: bool = False
    shown: Sequence[int] = field(default_factory=tuple)


def search_text(finding: Finding) -> str:
    """What a filter looks for its words in."""
    text = f"{finding.message} {describe.place_text(finding)} {finding.code}"
    return text.casefold().translate(_UNGROUPED)


def groups_of(check: CheckReport | None, findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """The kinds of everything that is known of an image, the worst first.

    Args:
        check: What a check found, when there was one.
        findings: What else was noticed; what the check has found, too, is not repeated.
    """
    known = () if check is None else check.groups
    codes = {group.code for group in known}
    collector = FindingCollector()
    for finding in findings:
        if finding.code not in codes:
            collector.add(finding)
    return tuple(sorted((*known, *collector.groups()), key=lambda group: -group.severity))


class FindingList:
    """Kinds of findings, and what is shown of them, as rows.

    A kind with a single finding has one row, which is that finding.
    """

    def __init__(self, groups: Sequence[FindingGroup] = ()) -> None:
        self.groups = tuple(groups)
        self._kinds = [_Kind(group.first) for group in self.groups]
        self._filter = FindingFilter()
        self._visible: list[int] = []
        self._starts: list[int] = []
        self._length = 0
        self._apply_filter()

    def __len__(self) -> int:
        """How many rows there are."""
        return self._length

    @property
    def filter(self) -> FindingFilter:
        """What is shown."""
        return self._filter

    @property
    def count(self) -> int:
        """How many findings there are, shown or not."""
        return sum(group.count for group in self.groups)

    def set_filter(self, wanted: FindingFilter) -> None:
        """Show what passes `wanted`."""
        self._filter = wanted
        self._apply_filter()

    # ---------------------------------------------------------------- rows

    def row(self, index: int) -> ListRow:
        """The row at `index`, which must exist."""
        if not 0 <= index < self._length:
            raise IndexError(index)
        place = bisect_right(self._starts, index) - 1
        group = self._visible[place]
        inside = index - self._starts[place]
        shown = self._kinds[group].shown
        if inside == 0:
            return ListRow(group)
        if inside <= len(shown):
            return ListRow(group, shown[inside - 1])
        return ListRow(group, is_more=True)

    def row_of_group(self, group: int) -> int | None:
        """Where the row of a kind is; None when it is not shown."""
        return self._starts[self._visible.index(group)] if group in self._visible else None

    def finding_at(self, row: ListRow) -> Finding | None:
        """The finding that a row is about: of a kind, the first one that is shown."""
        kind = self._kinds[row.group]
        if row.is_more:
            return None
        if row.finding is not None:
            return kind.listed[row.finding]
        if kind.shown:
            return kind.listed[kind.shown[0]]
        return kind.listed[0] if kind.listed else None

    def is_single(self, group: int) -> bool:
        """Whether a kind has only the finding that its own row shows."""
        listed = self._kinds[group].listed
        return len(listed) == 1 and listed[0].count == self.groups[group].count

    def is_expanded(self, group: int) -> bool:
        """Whether the single findings of a kind are shown."""
        return self._kinds[group].expanded

    def was_searched(self, group: int) -> bool:
        """Whether all findings of a kind were looked for."""
        return self._kinds[group].searched

    def missing(self, group: int) -> int:
        """How many findings of a kind are not listed."""
        listed = self._kinds[group].listed
        return max(0, self.groups[group].count - sum(finding.count for finding in listed))

    def shown_count(self, group: int) -> int:
        """How many of those that are listed pass the filter."""
        return len(self._kinds[group].shown)

    def set_expanded(self, group: int, expanded: bool) -> bool:
        """Show or hide the single findings of a kind; whether that changed anything."""
        kind = self._kinds[group]
        if kind.expanded == expanded or self.is_single(group):
            return False
        kind.expanded = expanded
        self._number()
        return True

    def list_all(self, group: int, listed: Listed) -> None:
        """Take all findings of a kind in the place of the first ones."""
        kind = self._kinds[group]
        kind.listed, kind.texts, kind.searched = listed.findings, listed.texts, True
        self._apply_filter()

    def step(self, index: int | None, step: int) -> int | None:
        """The next row (1) or the one before (-1) that is a finding of its own, all round.

        The row of an expanded kind is passed over: the rows below it say the same.
        """
        if not self._length:
            return None
        position = index if index is not None else (-1 if step > 0 else self._length)
        for _ in range(self._length):
            position = (position + step) % self._length
            row = self.row(position)
            opened = row.finding is None and not row.is_more and self._is_open(row.group)
            if not row.is_more and not opened:
                return position
        return None

    # ---------------------------------------------------------------- filtering

    def _apply_filter(self) -> None:
        words = self._filter.words
        self._visible = []
        for index, (group, kind) in enumerate(zip(self.groups, self._kinds, strict=True)):
            kind.shown = ()
            if group.severity not in self._filter.severities:
                continue
            heading = f"{CODES[group.code]} {group.code} {group.severity.name}".casefold()
            left = [word for word in words if word not in heading]
            kind.shown = self._matching(kind, left) if left else range(len(kind.listed))
            if kind.shown or not left:
                self._visible.append(index)
        self._number()

    def _matching(self, kind: _Kind, words: Sequence[str]) -> list[int]:
        """The listed findings of a kind in which all `words` occur."""
        if len(kind.texts) != len(kind.listed):
            kind.texts = tuple(search_text(finding) for finding in kind.listed)
        first, others = words[0], words[1:]
        found = [index for index, text in enumerate(kind.texts) if first in text]
        for word in others:
            found = [index for index in found if word in kind.texts[index]]
        return found

    def _is_open(self, group: int) -> bool:
        return self._kinds[group].expanded and bool(self._kinds[group].shown)

    def _rows_of(self, group: int) -> int:
        kind = self._kinds[group]
        if not kind.expanded or self.is_single(group):
            return 1
        return 1 + len(kind.shown) + (self.missing(group) > 0)

    def _number(self) -> None:
        ends = list(accumulate(self._rows_of(group) for group in self._visible))
        self._starts = [0, *ends[:-1]] if ends else []
        self._length = ends[-1] if ends else 0


# -------------------------------------------------------------------------------- all of a kind


class Listed(NamedTuple):
    """The single findings of a kind.

    Attributes:
        findings: At most `MAX_LISTED`, in the order they were found.
        texts: What is searched in each of them.
    """

    findings: tuple[Finding, ...]
    texts: tuple[str, ...]


class _EnoughError(Exception):
    """Ends a check once as many findings are there as can be shown."""


@dataclass(frozen=True, slots=True)
class ListingWork:
    """Checks an image again to list all findings of a kind.

    Attributes:
        source: The image.
        image: What an open says of it.
        groups: All kinds that the first check found.
        wanted: The kind to list, one of them.
        deep: Whether the first check decoded compressed clusters.
        limit: How many are listed at most.
    """

    source: ByteSource
    image: ImageReport
    groups: tuple[FindingGroup, ...]
    wanted: FindingGroup
    deep: bool
    limit: int = MAX_LISTED

    def __call__(self, token: CancelToken) -> Listed:
        """The findings.

        Raises:
            SourceError: When the operating system refuses a read.
            Cancelled: When the token asks for it.
        """
        found: list[Finding] = []

        def take(finding: Finding) -> None:
            if self._is_wanted(finding):
                found.append(finding)
                if len(found) >= self.limit:
                    raise _EnoughError

        try:
            check_image(self.source, self.image, token=token, deep=self.deep, on_finding=take)
        except _EnoughError:
            token.raise_if_cancelled()
        return Listed(tuple(found), tuple(search_text(finding) for finding in found))

    def _is_wanted(self, finding: Finding) -> bool:
        wanted = self.wanted
        if finding.code != wanted.code or finding.severity != wanted.severity:
            return False
        if wanted.snapshot != OTHER_SNAPSHOTS:
            return finding.snapshot == wanted.snapshot
        own = {group.snapshot for group in self.groups if group.code == wanted.code}
        return finding.snapshot not in own and finding.snapshot is not None


def findings_of(
    report: ImageReport | None, check: CheckReport | None, mapping: MappingSummary | None
) -> tuple[Finding, ...]:
    """Everything that was noticed, worst first, without saying the same thing twice.

    Args:
        report: What inspecting the image found.
        check: What a check found: it says all that `report` does. Of many alike only some are here.
        mapping: What its mapping tables amount to.
    """
    found: list[Finding] = []
    if check is not None:
        found += [finding for group in check.groups for finding in group.first]
    elif report is not None:
        found += report.findings
    if mapping is not None:
        codes = {finding.code for finding in found}
        found += [finding for finding in mapping.findings() if finding.code not in codes]
    return tuple(sorted(found, key=lambda finding: -finding.severity))
