"""Guest ranges that read what is not their data: no edit of metadata can bring it back.

An entry may name a table, or the cluster of another guest address. The image can be made
consistent around it, but what the guest had there is lost, or in a cluster that nothing names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qcowgui.check.checker import CheckReport
from qcowgui.check.owners import Owner, owners_of
from qcowgui.check.roles import Role
from qcowgui.engine.work import CancelToken
from qcowgui.image.source import ByteSource
from qcowgui.units import format_count, format_offset

_CLUSTERS_NAMED: Final = 8
_RANGES_NAMED: Final = 4
_ORPHANS: Final = (
    "if the data is still in the file, it is in a cluster that counts as used and that nothing "
    "names: `qcowgui salvage` lists these. Look there before you free what was kept"
)


def iter_misread(source: ByteSource, before: CheckReport, token: CancelToken) -> Iterator[str]:
    """A sentence for each cluster that guest data shares with what excludes it; not of too many.

    Args:
        source: The image.
        before: What a check of it found.
        token: Stops the work.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token asks for it.
    """
    contested = [*before.ownership.conflicts.tolist(), *before.ownership.shared.tolist()]
    if not contested:
        return
    found = owners_of(
        source,
        before.image,
        contested[:_CLUSTERS_NAMED],
        token=token,
        snapshots=before.ownership.snapshots,
    )
    for cluster, owners in found.items():
        sentence = _sentence(cluster, owners, before)
        if sentence:
            yield sentence
    others = len(contested) - _CLUSTERS_NAMED
    if others > 0:
        yield (
            f"The same may be true of {format_count(others, 'other cluster')} with several owners."
        )


def _sentence(cluster: int, owners: list[Owner], before: CheckReport) -> str:
    """What the guest reads at `cluster`; empty when no data of it is said to be there."""
    cluster_bytes = before.ownership.cluster_bytes
    guest: list[str] = []
    tables: list[str] = []
    for owner in owners:
        if owner.guest_offset is None or owner.l2_index is None:
            tables.append(str(owner))
        elif owner.role is not Role.ZERO_ALLOC:
            guest.append(_range_text(owner, cluster_bytes))
    if not guest:
        return ""
    more = len(guest) - _RANGES_NAMED
    named = ", ".join(guest[:_RANGES_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    where = f"the cluster at {format_offset(cluster * cluster_bytes)}"
    if tables:
        return f"Guest {named}: not its data is read there, but {where}, {tables[0]}; {_ORPHANS}."
    return f"Guest {named}: all read {where}, which can be the data of one only; {_ORPHANS}."


def _range_text(owner: Owner, cluster_bytes: int) -> str:
    start = owner.guest_offset or 0
    text = f"{format_offset(start)} to {format_offset(start + cluster_bytes)}"
    if owner.mapping is not None and owner.mapping.snapshot is not None:
        text += f" of snapshot {owner.mapping.snapshot}"
    return text
