"""The rules on a host cluster's refcount and owners, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from qcowgui.format.finding import Finding, Severity
from qcowgui.units import format_count, format_offset


class ClusterFacts(NamedTuple):
    """What a sentence on one host cluster may mention.

    Attributes:
        cluster: Its index in the file.
        stored: Its refcount.
        computed: The references that were counted.
        cluster_bytes: Of the image.
        refcount_max: The largest number a refcount of the image can hold.
        owners: Who refers to it, in words; empty when that was not looked up.
    """

    cluster: int
    stored: int
    computed: int
    cluster_bytes: int
    refcount_max: int
    owners: str = ""


class _ClusterRule(NamedTuple):
    severity: Severity
    spec: str
    sentence: Callable[[ClusterFacts], str]
    """What follows the cluster's name."""
    counted: bool = True
    """Whether raw and expected are the refcounts."""


def _references(facts: ClusterFacts) -> str:
    return format_count(facts.computed, "reference")


_CLUSTER_RULES: Final[dict[str, _ClusterRule]] = {
    "leak": _ClusterRule(
        Severity.LEAK,
        "2.2 R23",
        lambda f: f"counts as used (refcount {f.stored:,}), but nothing refers to it.",
    ),
    "refcount-too-high": _ClusterRule(
        Severity.LEAK,
        "2.2 R23",
        lambda f: f"has refcount {f.stored:,} but {_references(f)}: it will never become free.",
    ),
    "refcount-too-low": _ClusterRule(
        Severity.CORRUPTION,
        "2.2 R22",
        lambda f: (
            f"has refcount {f.stored:,} but {_references(f)}: a writer may change or free it "
            "while others still need it."
        ),
    ),
    "refcount-zero": _ClusterRule(
        Severity.CORRUPTION,
        "2.2 R22",
        lambda f: f"counts as free, but has {_references(f)}: the next write may overwrite it.",
    ),
    "references-above-maximum": _ClusterRule(
        Severity.CORRUPTION,
        "2.2 R2",
        lambda f: f"has {_references(f)}; a refcount of this image counts to {f.refcount_max:,}.",
    ),
    "owner-conflict": _ClusterRule(
        Severity.CORRUPTION,
        "2.5",
        lambda _: "has owners that exclude each other: writing one destroys the other.",
        counted=False,
    ),
    "shared-data": _ClusterRule(
        Severity.SUSPICIOUS,
        "2.5",
        lambda f: (
            f"holds the data of more than one guest cluster ({_references(f)}), and no "
            "snapshot explains that. One of them probably reads another's data."
        ),
        counted=False,
    ),
}


def cluster_codes() -> frozenset[str]:
    """The codes that `cluster_finding` has a rule for."""
    return frozenset(_CLUSTER_RULES)


def cluster_severity(code: str) -> Severity:
    """How bad a host cluster that breaks the rule is."""
    return _CLUSTER_RULES[code].severity


def cluster_finding(code: str, facts: ClusterFacts) -> Finding:
    """The finding that a host cluster breaks the rule `code`.

    Raises:
        KeyError: When there is no rule of that name.
    """
    rule = _CLUSTER_RULES[code]
    offset = facts.cluster * facts.cluster_bytes
    message = f"Host cluster {facts.cluster:,} at {format_offset(offset)} {rule.sentence(facts)}"
    if facts.owners:
        message += f" It belongs to {facts.owners}."
    return Finding(
        code,
        rule.severity,
        message,
        "refcount block" if rule.counted else "host cluster",
        host_offset=offset,
        entry=facts.cluster,
        raw=facts.stored,
        expected=f"{facts.computed:,}" if rule.counted else "",
        spec=rule.spec,
    )
