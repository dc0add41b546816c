"""The collector, against findings made one by one."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.check.cluster_wording import ClusterFacts, cluster_finding
from qcowgui.check.collector import (
    MAX_SNAPSHOT_GROUPS,
    OTHER_SNAPSHOTS,
    FindingCollector,
    FindingGroup,
    TableRef,
    TableRun,
)
from qcowgui.check.entry_facts import EntryFacts
from qcowgui.check.ranges import MAX_RANGES, Ranges
from qcowgui.check.rule_context import Hit, RuleContext
from qcowgui.check.wording import entry_finding
from qcowgui.format import limits
from qcowgui.format.finding import Finding, Repair, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.units import MIB

CONTEXT = RuleContext(Geometry(12), 3, MIB)
CLUSTER = 4096
L2 = TableRef("L2 table", 0x5000, 0, 8, None, 0, CLUSTER, 0)


def hit(code: str, indices: Sequence[int]) -> Hit:
    return Hit(code, np.array(indices, dtype=np.intp))


def words(count: int, word: int = 0x200_0200) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.full(count, word, dtype=np.uint64)


def joined(pairs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for start, end in sorted(pair for pair in pairs if pair[0] < pair[1]):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return tuple(spans)


def naive_groups(
    findings: list[Finding], host_bytes: list[int]
) -> dict[tuple[str, Severity, int | None], FindingGroup]:
    """The groups of findings made one by one; `host_bytes` is the length of each one's place."""
    groups = {}
    for kind in {(f.code, f.severity, f.snapshot) for f in findings}:
        chosen = [
            (finding, length)
            for finding, length in zip(findings, host_bytes, strict=True)
            if (finding.code, finding.severity, finding.snapshot) == kind
        ]
        guest = [
            (f.guest_start, f.guest_end)
            for f, _ in chosen
            if f.guest_start is not None and f.guest_end is not None
        ]
        host = [(f.host_offset or 0, (f.host_offset or 0) + length) for f, length in chosen]
        groups[kind] = FindingGroup(
            *kind,
            sum(f.count for f, _ in chosen),
            tuple(f for f, _ in chosen[: limits.MAX_FINDINGS_OF_A_KIND]),
            Ranges(joined(guest)),
            Ranges(joined(host)),
        )
    return groups


CODES = st.sampled_from(["data-cluster-unaligned", "data-beyond-eof", "l2-reserved-bits"])
TABLES = st.builds(
    lambda l1_index, host, owner: TableRef(
        "L2 table", host * CLUSTER, 0, 8, owner, l1_index * 512 * CLUSTER, CLUSTER, l1_index
    ),
    st.integers(0, 3),
    st.integers(1, 9),
    st.none() | st.integers(0, 2),
)
RUNS = st.builds(
    lambda l1_indices, host, owner: TableRun(
        np.arange(host, host + 4, dtype=np.int64)[::-1] * CLUSTER,
        np.array(sorted(l1_indices), dtype=np.int64),
        16,
        8,
        CLUSTER,
        owner,
    ),
    st.sets(st.integers(0, 9), min_size=4, max_size=4),
    st.integers(1, 9),
    st.none() | st.integers(0, 2),
)
HITS = st.lists(
    st.tuples(CODES, st.sets(st.integers(0, 63), min_size=1, max_size=40).map(sorted)),
    max_size=3,
    unique_by=lambda pair: pair[0],
)


@given(
    st.lists(st.tuples(TABLES | RUNS, HITS, st.sampled_from([1, 1, 3])), max_size=5),
    st.none() | st.integers(0, 2 * MIB),
    st.booleans(),
)
def test_tables_against_single_findings(
    tables: list[tuple[TableRef | TableRun, list[tuple[str, list[int]]], int]],
    virtual_bytes: int | None,
    told: bool,
) -> None:
    context = replace(CONTEXT, virtual_bytes=virtual_bytes)
    heard: list[Finding] = []
    collector = FindingCollector(heard.append if told else None)
    single = []
    rng = np.random.default_rng(1)
    for table, hits, multiplicity in tables:
        table_words = rng.integers(0, 1 << 62, 64, dtype=np.uint64)
        collector.add_entries(
            [hit(code, indices) for code, indices in hits],
            table,
            table_words,
            context=context,
            multiplicity=multiplicity,
        )
        for code, indices in hits:
            for index in indices:
                place = table.place(index)
                start, end = place.guest_start, place.guest_end
                if virtual_bytes is not None and place.snapshot is None and start is not None:
                    end = min(end or 0, virtual_bytes)
                    place = place._replace(
                        guest_start=start if start < end else None,
                        guest_end=end if start < end else None,
                    )
                facts = EntryFacts(place, int(table_words[index]), context)
                single.append(entry_finding(code, facts, count=multiplicity))
    expected = naive_groups(single, [8] * len(single))
    found = collector.groups()
    assert len(found) == len(expected)
    for group in found:
        naive = expected[group.code, group.severity, group.snapshot]
        # With more ranges than are kept, those that are kept are still true.
        for ranges, all_ranges in (
            (group.guest_ranges, naive.guest_ranges),
            (group.host_ranges, naive.host_ranges),
        ):
            if ranges.complete:
                assert ranges == all_ranges
            else:
                assert joined([*ranges.spans, *all_ranges.spans]) == all_ranges.spans
        assert (
            replace(group, guest_ranges=naive.guest_ranges, host_ranges=naive.host_ranges) == naive
        )
    assert [group.severity for group in found] == sorted(
        (group.severity for group in found), reverse=True
    )
    assert heard == (single if told else [])
    counts = collector.counts()
    assert sum(counts.values()) == sum(finding.count for finding in single)


@given(st.sets(st.integers(0, 500), max_size=200).map(sorted), st.booleans())
def test_clusters_against_single_findings(clusters: list[int], told: bool) -> None:
    heard: list[Finding] = []
    collector = FindingCollector(heard.append if told else None)
    numbers = np.array(clusters, dtype=np.int64)
    owners = {cluster: f"owner {cluster}" for cluster in clusters[:3]}
    collector.add_clusters(
        "leak",
        numbers,
        np.full(len(numbers), 3, dtype=np.uint64),
        np.zeros(len(numbers), dtype=np.uint16),
        context=CONTEXT,
        owners=owners,
    )
    single = [
        cluster_finding(
            "leak", ClusterFacts(cluster, 3, 0, CLUSTER, 65535, owners.get(cluster, ""))
        )
        for cluster in clusters
    ]
    expected = naive_groups(single, [CLUSTER] * len(single))
    for group in collector.groups():
        naive = expected.pop((group.code, group.severity, None))
        if group.host_ranges.complete:
            assert group == naive
        else:
            assert group.host_ranges.spans == naive.host_ranges.spans[:MAX_RANGES]
            assert replace(group, host_ranges=naive.host_ranges) == naive
    assert not expected
    assert heard == (single if told else [])


def test_findings_one_by_one() -> None:
    collector = FindingCollector()
    bad = Finding(
        "payload-damaged", Severity.CORRUPTION, "Bad.", "L2 table", guest_start=0, guest_end=CLUSTER
    )
    collector.add(bad)
    collector.add(replace(bad, guest_start=CLUSTER, guest_end=2 * CLUSTER, count=5))
    collector.add(Finding("dirty", Severity.INFO, "Dirty.", "header"))
    worst, note = collector.groups()
    assert (worst.code, worst.count, worst.repair) == ("payload-damaged", 6, Repair.SALVAGE)
    assert worst.guest_ranges == Ranges(((0, 2 * CLUSTER),))
    assert (note.code, note.count, note.guest_ranges, note.repair) == (
        "dirty",
        1,
        Ranges(()),
        Repair.ALL,
    )
    assert collector.counts() == {
        Severity.INFO: 1,
        Severity.LEAK: 0,
        Severity.SUSPICIOUS: 0,
        Severity.CORRUPTION: 6,
        Severity.FATAL: 0,
    }


def test_one_code_of_two_severities_makes_two_groups() -> None:
    collector = FindingCollector()
    for severity in (Severity.SUSPICIOUS, Severity.CORRUPTION):
        collector.add(Finding("snapshot-extra-data", severity, "Bad.", "snapshot table"))
    assert [group.severity for group in collector.groups()] == [
        Severity.CORRUPTION,
        Severity.SUSPICIOUS,
    ]


def test_thousands_of_snapshots_do_not_make_thousands_of_groups() -> None:
    collector = FindingCollector()
    for snapshot in range(1000):
        table = L2._replace(owner=snapshot)
        hits = [hit("data-cluster-unaligned", [1])]
        collector.add_entries(hits, table, words(2), context=CONTEXT)
    collector.add_entries([hit("data-cluster-unaligned", [1])], L2, words(2), context=CONTEXT)
    groups = collector.groups()
    assert [group.snapshot for group in groups] == [
        *range(MAX_SNAPSHOT_GROUPS),
        OTHER_SNAPSHOTS,
        None,
    ]
    others = groups[-2]
    assert others.count == 1000 - MAX_SNAPSHOT_GROUPS
    assert [finding.snapshot for finding in others.first[:2]] == [16, 17]


def test_the_copied_rules_get_the_refcount() -> None:
    collector = FindingCollector()
    refcounts = np.array([0, 2, 7], dtype=np.uint64)
    collector.add_entries(
        [hit("l2-copied", [1, 2])],
        L2,
        words(3, 1 << 63 | 0x5000),
        context=CONTEXT,
        refcounts=refcounts,
    )
    messages = [finding.message for finding in collector.groups()[0].first]
    assert "names is 2" in messages[0]
    assert "names is 7" in messages[1]


def test_extended_entries_keep_their_bitmaps() -> None:
    context = RuleContext(Geometry(16, extended_l2=True), 3, MIB)
    table = TableRef("L2 table", 0x50000, 0, 16, None, 0, 65536, 0)
    collector = FindingCollector()
    bitmaps = np.array([0, 1 << 5 | 1 << 37], dtype=np.uint64)
    collector.add_entries(
        [hit("subcluster-conflict", [1])], table, words(2), context=context, bitmaps=bitmaps
    )
    (finding,) = collector.groups()[0].first
    assert "subclusters 5 both" in finding.message
    assert finding.host_offset == 0x50010


def test_a_table_without_guest_data() -> None:
    table = TableRef("refcount table", 0x1000, 5, 8)
    collector = FindingCollector()
    collector.add_entries(
        [hit("refcount-block-unaligned", [0, 2])], table, words(3), context=CONTEXT
    )
    (group,) = collector.groups()
    assert group.guest_ranges == Ranges(())
    assert group.host_ranges == Ranges(((0x1000, 0x1008), (0x1010, 0x1018)))
    assert [(finding.entry, finding.host_offset) for finding in group.first] == [
        (5, 0x1000),
        (7, 0x1010),
    ]


@pytest.mark.parametrize("step", [1, 2])
def test_a_million_hits_cost_little(step: int) -> None:
    entries = 8192 * step
    indices = np.arange(0, entries, step, dtype=np.intp)
    table_words = words(entries)
    collector = FindingCollector()
    tracemalloc.start()
    started = time.process_time()
    for l1_index in range(123):
        table = L2._replace(first_guest_offset=l1_index * entries * CLUSTER, l1_index=l1_index)
        collector.add_entries(
            [Hit("data-cluster-unaligned", indices)], table, table_words, context=CONTEXT
        )
    seconds = time.process_time() - started
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (group,) = collector.groups()
    assert group.count == 123 * 8192
    assert len(group.first) == limits.MAX_FINDINGS_OF_A_KIND
    assert peak_bytes < 4 * MIB
    # Measured with the memory tracer: 0.2 s (2026-11-30).
    assert seconds < 3
    if step == 1:
        assert group.guest_ranges == Ranges(((0, 123 * 8192 * CLUSTER),))
    else:
        assert not group.guest_ranges.complete
