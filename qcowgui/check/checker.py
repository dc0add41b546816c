"""Checking a whole image: all rules over all structures, in one pass, and the numbers of QEMU.

Findings are for people: one for each entry that is wrong, however often a table is shared. The
totals are those of `qemu-img check`, which counts some of them again and others not at all.
Spec: 2.1, 2.2, 2.5
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qcowgui.check.checked_tables import TableChecker
from qcowgui.check.cluster_findings import ClusterChecker
from qcowgui.check.collector import FindingCollector, FindingGroup
from qcowgui.check.hints import Hint, incident_hints
from qcowgui.check.incident_search import gather_facts
from qcowgui.check.overwritten import overwritten_counts
from qcowgui.check.ownership import Ownership, build
from qcowgui.check.refcount_rules import CopiedRules, RefcountSummary
from qcowgui.check.roles import Role
from qcowgui.check.rule_context import RuleContext
from qcowgui.check.stored import NarrowRefcounts, StoredRefcounts
from qcowgui.check.structure_rules import (
    iter_structure_findings,
    judge_cluster_count,
    judge_free_clusters,
    judge_tail,
)
from qcowgui.check.totals import MappedClusters, QemuTotals, refusal_of
from qcowgui.engine.work import CancelToken, Counter, Executor, SerialExecutor
from qcowgui.errors import ExitCode
from qcowgui.format.finding import Finding, Severity
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import ByteSource

if TYPE_CHECKING:
    from qcowgui.check.deep import DeepSummary

__all__ = ["CheckReport", "check_image"]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What checking an image came to.

    Attributes:
        image: What an open says of it.
        groups: All findings, those of an open included; the worst first.
        counts: How many findings of each severity there are; every severity is a key.
        totals: What `qemu-img check` says.
        complete: False when something could not be looked at: no geometry, too many clusters, no
            usable refcount table, tables that can't all be in the file, or an image that QEMU
            refuses: then even leaks may be somebody's.
        ownership: Who owns each cluster; of no cluster when there were too many.
        stored: The refcount table, to ask for stored refcounts; None without a geometry. It reads
            from the source that was checked.
        refcounts: What comparing the refcounts came to.
        role_clusters: How many clusters have each role; roles without any are left out.
        hints: What probably happened to the image, and what to do.
        deep: What decoding all compressed clusters came to; None when that was not asked for.
        mapped: The guest clusters that the active disk's tables map: as in `totals`, but without
            what was written over a table, which QEMU takes for entries.
    """

    image: ImageReport
    groups: tuple[FindingGroup, ...]
    counts: dict[Severity, int]
    totals: QemuTotals
    complete: bool
    ownership: Ownership
    stored: StoredRefcounts | None
    refcounts: RefcountSummary
    role_clusters: dict[Role, int]
    hints: tuple[Hint, ...]
    deep: DeepSummary | None
    mapped: MappedClusters

    @property
    def leaked_clusters(self) -> int:
        """Clusters that count as used though nothing refers to them."""
        return self.refcounts.leaked - self.refcounts.untold

    @property
    def free_clusters(self) -> int:
        """Clusters inside the file, before the last one in use, that nobody uses or counts."""
        return self.refcounts.free_inside

    @property
    def exit_code(self) -> ExitCode:
        """What `qemu-img check` returns for the image."""
        return self.totals.exit_code


def check_image(
    source: ByteSource,
    report: ImageReport | None = None,
    *,
    token: CancelToken,
    counter: Counter | None = None,
    executor: Executor | None = None,
    deep: bool = False,
    data_file_bytes: int | None = None,
    on_finding: Callable[[Finding], None] | None = None,
    tick: Callable[[], None] | None = None,
) -> CheckReport:
    """Everything that is wrong with an image, whatever its content. Nothing is written.

    Args:
        source: The image; stays open for as long as the report's `stored` is asked.
        report: What `inspect_source` says of it, when that is known.
        token: Stops the check.
        counter: Progress of decoding, in bytes of payloads.
        executor: What decodes; by default the calling thread.
        deep: Whether every compressed cluster is decoded, too.
        data_file_bytes: Length of the external data file, when it may be opened.
        on_finding: Gets each single finding, as it is found; `groups` keeps the first of a kind.
        tick: Called now and then in the calling thread.

    Raises:
        NotQcow2Error: When no report is given, and the source is no qcow2 image.
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    report = report or inspect_source(source)
    check = _Check(source, report, token, data_file_bytes, on_finding)
    check.metadata(tick)
    summary = None
    if deep:
        summary = check.payloads(executor or SerialExecutor(), counter, tick)
    return check.result(summary)


def _no_memory(clusters: int) -> Finding:
    return Finding(
        "clusters-above-limit",
        Severity.CORRUPTION,
        f"The file has {clusters:,} clusters, and this system has not enough memory to count the "
        "references to them: refcounts and owners were not checked.",
        "file",
        raw=clusters,
        spec="2.2 R0",
    )


class _Check:
    """One run of `check_image`."""

    def __init__(
        self,
        source: ByteSource,
        report: ImageReport,
        token: CancelToken,
        data_file_bytes: int | None,
        on_finding: Callable[[Finding], None] | None,
    ) -> None:
        self._source = source
        self._report = report
        self._token = token
        self._context = RuleContext.of(
            report, file_bytes=source.size_bytes, data_file_bytes=data_file_bytes
        )
        self._collector = FindingCollector(on_finding)
        self._totals = QemuTotals()
        self._stored: StoredRefcounts | None = None
        self._summary = RefcountSummary()
        self._mapped_by_nobody = MappedClusters()
        self._ownership: Ownership | None = None
        self._complete = True

    def metadata(self, tick: Callable[[], None] | None) -> None:
        """Judge all but the payloads."""
        for finding in self._report.findings:
            self._collector.add(finding)
        context = self._context
        if context is None:
            self._complete = False
            return
        for finding in iter_structure_findings(self._source, self._report, token=self._token):
            self._collector.add(finding)
        too_many = judge_cluster_count(self._source.size_bytes, context.geometry)
        if too_many is not None:
            self._collector.add(too_many)
            self._complete = False
            return
        try:
            self._walk(context, tick)
        except MemoryError:
            self._collector.add(_no_memory(context.geometry.clusters(self._source.size_bytes)))
            self._ownership = None
            self._complete = False

    def _walk(self, context: RuleContext, tick: Callable[[], None] | None) -> None:
        stored = self._stored = StoredRefcounts(self._source, self._report)
        # A reference may reach into the cluster behind the last one.
        clusters = context.geometry.clusters(self._source.size_bytes) + 1
        refcounts = NarrowRefcounts(stored, clusters)
        # The snapshots that the header announces: each may refer to a cluster.
        disks = 1 + self._report.header.nb_snapshots
        overwritten = overwritten_counts(refcounts.counts, context.geometry, disks)
        copied = CopiedRules(refcounts, overwritten) if stored.usable else None
        tables = TableChecker(context, self._report, self._collector, self._totals, copied)
        ownership = self._ownership = build(
            self._source,
            self._report,
            stored=stored,
            token=self._token,
            on_l1=tables.judge_l1,
            on_l2=tables.judge_l2,
            tick=tick,
        )
        self._mapped_by_nobody = tables.mapped_by_nobody
        self._complete &= ownership.complete and stored.usable
        self._totals.count_structures(self._report, ownership)
        clusters_checker = ClusterChecker(
            self._source,
            self._report,
            context,
            ownership,
            refcounts,
            overwritten,
            self._collector,
            self._token,
        )
        clusters_checker.judge_owners()
        if not stored.usable:
            return
        self._summary = clusters_checker.judge_refcounts(stored, self._totals)
        self._judge_space(context, ownership)

    def _judge_space(self, context: RuleContext, ownership: Ownership) -> None:
        """What nobody uses, inside the file and behind its last cluster in use."""
        cluster_bytes = context.geometry.cluster_bytes
        findings = [judge_free_clusters(self._summary.free_inside, cluster_bytes)]
        if ownership.complete:
            end = max(self._summary.end, ownership.references.referenced_end) * cluster_bytes
            findings.append(judge_tail(self._source, end_offset=end, token=self._token))
        for finding in findings:
            if finding is not None:
                self._collector.add(finding)

    def payloads(
        self, executor: Executor, counter: Counter | None, tick: Callable[[], None] | None
    ) -> DeepSummary:
        """Decode every compressed cluster."""
        from qcowgui.check.deep import deep_check

        return deep_check(
            self._source,
            self._report,
            executor,
            self._token,
            self._collector,
            snapshots=None if self._ownership is None else self._ownership.snapshots,
            counter=counter,
            tick=tick,
        )

    def result(self, deep: DeepSummary | None) -> CheckReport:
        """The report, with what probably happened to the image."""
        ownership = self._ownership or Ownership.empty()
        self._totals.refusal = refusal_of(self._report, ownership, self._stored)
        # What no program can open may have references where nobody looked for them.
        complete = self._complete and not self._totals.refusal
        groups = self._collector.groups()
        facts = gather_facts(
            self._source,
            self._report,
            groups=groups,
            totals=self._totals,
            ownership=ownership,
            stored=self._stored,
            refcounts=self._summary,
            deep=deep,
            token=self._token,
        )
        return CheckReport(
            image=self._report,
            groups=groups,
            counts=self._collector.counts(),
            totals=self._totals,
            complete=complete,
            ownership=ownership,
            stored=self._stored,
            refcounts=self._summary,
            role_clusters=ownership.role_clusters(),
            hints=() if facts is None else incident_hints(facts),
            deep=deep,
            mapped=self._totals.mapped.without(self._mapped_by_nobody),
        )
