"""Which clusters of the file hold what a finding is about: corners on the map. Knows no widgets.

A wrong entry of a table changes no cluster's state; without a flag the map would look healthy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from qcowgui.check.cells import Cells
from qcowgui.check.clustermap import ClusterState
from qcowgui.check.collector import FindingGroup
from qcowgui.format.finding import Severity
from qcowgui.gui.formatters import SEVERITY_TONES, Tone

MAX_FLAGS: Final = 512
"""ours: what is drawn one by one; of many findings alike a check keeps only some anyway."""


class Flag(NamedTuple):
    """A host cluster with a finding, and how bad the worst of them is."""

    cluster: int
    tone: Tone


def finding_flags(
    groups: Iterable[FindingGroup], states: Cells, cluster_bytes: int
) -> tuple[Flag, ...]:
    """The flags of a check's findings, by cluster; notes have none.

    Args:
        groups: The findings, the worst first.
        states: uint8: a `ClusterState` of each host cluster; those whose state already says that
            something is wrong get no flag.
        cluster_bytes: Size of a cluster.
    """
    found: dict[int, Severity] = {}
    for group in groups:
        if group.severity is Severity.INFO:
            continue
        for finding in group.first:
            if finding.host_offset is None:
                continue
            cluster = finding.host_offset // cluster_bytes
            if cluster >= len(states) or ClusterState(int(states[cluster])).is_fault:
                continue
            found[cluster] = max(group.severity, found.get(cluster, Severity.INFO))
    worst = sorted(found, key=lambda cluster: (-found[cluster], cluster))[:MAX_FLAGS]
    return tuple(Flag(cluster, SEVERITY_TONES[found[cluster]]) for cluster in sorted(worst))
