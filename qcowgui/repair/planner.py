"""Planning a repair: from the check of an image to a plan that was proven on it.

A plan is applied to the image in memory and checked again, before anyone may carry it out. Nothing
is left of it when the result would be worse than what was there; that the guest would read anything
else is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.engine.work import CancelToken, Counter, Executor
from qcowgui.format.finding import Finding, Repair, Severity
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import ByteSource
from qcowgui.repair.draft import Draft, Drafting, header_is_editable
from qcowgui.repair.edits import RepairPlan, take_fingerprint
from qcowgui.repair.entry_pass import View
from qcowgui.repair.feature_fixes import clear_state_bits
from qcowgui.repair.guest_proof import GuestProof, first_contested
from qcowgui.repair.lost_references import may_have_lost_references
from qcowgui.repair.misread_guest import iter_misread
from qcowgui.repair.remains import HANDS_OFF, iter_remaining
from qcowgui.repair.sector_fixes import SECTOR_CODES
from qcowgui.units import format_offset

_NO_GAIN = (
    "Nothing is repaired: the tables lie upon each other in such a way that what puts one right "
    "makes another wrong. `qcowgui salvage` writes a new image from what can be read."
)
_CONTESTED = (
    "Nothing is repaired: the cluster at {offset}, where an edit is needed ({why}), is claimed by "
    "guest data too, and who owns it can't be told. `qcowgui salvage` writes a new image from what "
    "can be read."
)


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What is asked of a repair.

    Attributes:
        tier: `Repair.LEAKS` or `Repair.ALL`.
        deep: Whether compressed clusters are decoded, and wrong sector counts put right.
        free_unowned: Whether clusters to which nothing refers are freed even if they may hold what
            lost tables mapped.
        verify_all: Whether every guest byte is compared, and not only what edited entries map.
    """

    tier: Repair = Repair.ALL
    deep: bool = False
    free_unowned: bool = False
    verify_all: bool = False


@dataclass(frozen=True, slots=True)
class ProvenPlan:
    """A plan, and what was found with it and without.

    Attributes:
        plan: What to change.
        changes: How many entries, refcounts or fields change, by finding code.
        before: What a check finds in the image as it is.
        after: What a check finds in the repaired image; the same object when nothing changes.
    """

    plan: RepairPlan
    changes: dict[str, int]
    before: CheckReport
    after: CheckReport


def plan_repair(
    source: ByteSource,
    request: RepairRequest,
    *,
    report: ImageReport | None = None,
    token: CancelToken,
    executor: Executor | None = None,
    counter: Counter | None = None,
    tick: Callable[[], None] | None = None,
) -> ProvenPlan:
    """The plan for an image, whatever its content, proven on it. Nothing is written.

    Args:
        source: The image; it must stay open until the plan was carried out.
        request: What to repair.
        report: What `inspect_source` says of it, when that is known.
        token: Stops the work.
        executor: What decodes payloads; by default the calling thread.
        counter: Progress of decoding, in bytes of payloads.
        tick: Called now and then in the calling thread.

    Raises:
        NotQcow2Error: When no report is given, and the source is no qcow2 image.
        ProofError: When the plan turned out to be wrong.
        SourceError: When the operating system refuses a read, or the file changed meanwhile.
        Cancelled: When the token asks for it.
    """
    if request.tier not in (Repair.LEAKS, Repair.ALL):
        raise ValueError(f"no plan repairs {request.tier!r}")
    planning = _Planning(source, request, token, executor, counter, tick)
    return planning.run(report or inspect_source(source))


class _Planning:
    """One run of `plan_repair`."""

    def __init__(
        self,
        source: ByteSource,
        request: RepairRequest,
        token: CancelToken,
        executor: Executor | None,
        counter: Counter | None,
        tick: Callable[[], None] | None,
    ) -> None:
        self._source = source
        self._request = request
        self._token = token
        self._executor = executor
        self._counter = counter
        self._tick = tick
        self._sector_findings: list[Finding] = []

    def run(self, report: ImageReport) -> ProvenPlan:
        before = self._check(self._source, report, self._note_finding)
        draft = self._draft(before)
        if draft.kept_leaks and self._takes_evidence_away(draft):
            draft = self._draft(before, mark_kept=True)
        if not draft.edits and draft.new_file_bytes == self._source.size_bytes:
            after = before
            plan = self._plan(draft, draft.refused + self._left(before, before))
        else:
            draft, after = self._prove(before, draft)
            plan = self._plan(draft, draft.refused + self._left(before, after))
        self._source.require_unchanged()
        return ProvenPlan(plan, draft.changes, before, after)

    def _left(self, before: CheckReport, after: CheckReport) -> tuple[str, ...]:
        """What no edit puts right: what the guest misreads, and the findings that remain."""
        misread = iter_misread(self._source, before, self._token)
        return (*misread, *iter_remaining(after))

    def _note_finding(self, finding: Finding) -> None:
        if finding.code in SECTOR_CODES:
            self._sector_findings.append(finding)

    def _check(
        self,
        source: ByteSource,
        report: ImageReport,
        on_finding: Callable[[Finding], None] | None = None,
    ) -> CheckReport:
        deep = self._request.deep
        return check_image(
            source,
            report,
            token=self._token,
            counter=self._counter,
            executor=self._executor,
            deep=deep,
            on_finding=on_finding if deep else None,
            tick=self._tick,
        )

    def _takes_evidence_away(self, draft: Draft) -> bool:
        """Whether a next repair would see no reason to keep what this one keeps."""
        if not draft.edits or self._request.tier is not Repair.ALL:
            return False
        view = self._applied(draft)
        after = self._check(view.source, view.report)
        return not may_have_lost_references(view.source, after, self._token)

    def _draft(self, before: CheckReport, *, mark_kept: bool = False) -> Draft:
        """All edits; the state bits are cleared as if nothing were left to repair."""
        geometry = before.image.header.geometry
        codes = {group.code for group in before.groups}
        unclear = before.image.mapping_refusals or codes & HANDS_OFF
        if geometry is None or unclear or not before.ownership.clusters:
            return Draft((), self._source.size_bytes, {})
        drafting = Drafting(
            self._source,
            before,
            geometry,
            self._token,
            self._tick,
            keep_leaks=may_have_lost_references(self._source, before, self._token),
            free_unowned=self._request.free_unowned,
            mark_kept=mark_kept,
        )
        if self._request.tier is Repair.LEAKS:
            return drafting.draft_leaks()
        return self._with_state_bits(before, drafting.draft_all(self._sector_findings))

    def _with_state_bits(self, before: CheckReport, draft: Draft) -> Draft:
        edit = clear_state_bits(self._source, before.image)
        if edit is None or not header_is_editable(before.ownership):
            return draft
        edits = sorted((*draft.edits, edit), key=lambda found: found.offset)
        changes = draft.changes | {
            code: 1
            for code, is_set in (
                ("dirty", before.image.header.dirty),
                ("corrupt", before.image.header.corrupt),
            )
            if is_set
        }
        return replace(draft, edits=tuple(edits), changes=changes)

    def _prove(self, before: CheckReport, draft: Draft) -> tuple[Draft, CheckReport]:
        """The draft, without clearing the state bits if something is left, and its check."""
        contested = first_contested(draft.edits, before.ownership, self._source.size_bytes)
        if contested is not None:
            refused = _CONTESTED.format(
                offset=format_offset(contested.offset), why=contested.why.rstrip(".")
            )
            return Draft((), self._source.size_bytes, {}, refused=(refused,)), before
        view = self._applied(draft)
        after = self._check(view.source, view.report)
        if draft.changes.keys() & {"dirty", "corrupt"} and not _is_clean(after):
            draft = _without_state_bits(draft)
            view = self._applied(draft)
            after = self._check(view.source, view.report)
        if _is_worse(before, after):
            nothing = Draft((), self._source.size_bytes, {}, refused=(_NO_GAIN,))
            return nothing, before
        proof = GuestProof(
            View(self._source, before.image), view, token=self._token, tick=self._tick
        )
        if self._request.verify_all:
            proof.require_all_equal()
        else:
            proof.require_equal(draft.guest_ranges, draft.payload_ranges)
        return draft, after

    def _applied(self, draft: Draft) -> View:
        source = self._plan(draft, ()).applied_to(self._source)
        return View(source, inspect_source(source))

    def _plan(self, draft: Draft, refused: tuple[str, ...]) -> RepairPlan:
        return RepairPlan(
            self._source.name,
            take_fingerprint(self._source),
            draft.edits,
            draft.new_file_bytes,
            self._request.tier,
            draft.notes,
            refused,
        )


def _is_clean(checked: CheckReport) -> bool:
    """Whether a program may write to the image again: leaks are wasted space, no more."""
    serious = checked.counts[Severity.CORRUPTION] + checked.counts[Severity.FATAL]
    totals = checked.totals
    return not (serious or totals.corruptions or totals.check_errors or totals.refusal)


def _without_state_bits(draft: Draft) -> Draft:
    edits = tuple(edit for edit in draft.edits if edit.code not in ("dirty", "corrupt"))
    changes = {
        code: count for code, count in draft.changes.items() if code not in ("dirty", "corrupt")
    }
    return replace(draft, edits=edits, changes=changes)


def _is_worse(before: CheckReport, after: CheckReport) -> bool:
    """Whether more is wrong with the repaired image than with the image, here or in QEMU's eyes."""
    return _badness(after) > _badness(before) or _qemu_badness(after) > _qemu_badness(before)


def _badness(checked: CheckReport) -> tuple[int, ...]:
    counts = checked.counts
    serious = counts[Severity.FATAL], counts[Severity.CORRUPTION], counts[Severity.LEAK]
    # Where the refcounts could not be read, nothing was said of them.
    unknown = int(not checked.complete)
    return (unknown, *serious)


def _qemu_badness(checked: CheckReport) -> tuple[int, ...]:
    totals = checked.totals
    return (
        int(bool(totals.refusal)),
        totals.check_errors,
        totals.corruptions,
        totals.leaks,
    )
