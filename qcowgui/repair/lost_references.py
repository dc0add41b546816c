"""Whether what nothing refers to may be what lost references named.

A refcount that is lowered lets a cluster be overwritten. So that is done only where every finding
is of a kind that takes no reference away: what is not listed here keeps all counts as they are.
"""

from __future__ import annotations

from typing import Final

from qcowgui.check.checker import CheckReport
from qcowgui.check.empty_tables import find_empty_tables
from qcowgui.engine.work import CancelToken
from qcowgui.image.source import ByteSource

_REFCOUNTS: Final = frozenset(
    {
        "leak",
        "refcount-zero",
        "refcount-too-low",
        "refcount-too-high",
        "references-above-maximum",
        "refcount-table-missing",
        "refcount-table-offset",
        "refcount-table-too-large",
        "refcount-table-reserved-bits",
        "refcount-block-unaligned",
        "refcount-unreadable",
        "refcount-table-overwritten",
        "refcount-block-overwritten",
    }
)
"""Counts, and where they are: they name no cluster of the guest's."""

_FLAGS: Final = frozenset(
    {
        "dirty",
        "corrupt",
        "l1-copied",
        "l2-copied",
        "snapshot-copied",
        "unknown-compatible",
        "zero-cluster-unaligned",
    }
)
"""Flags that writers keep up to date, or fail to: they stand beside a reference, and for none.

A cluster that is kept for an entry that reads as zeros holds no data, wherever it is. Reserved
bits, and COPIED without a cluster, are not among them: no writer sets these, so that
something else changed the entry, and maybe its offset."""

_ENDS: Final = frozenset(
    {
        "data-truncated",
        "compressed-truncated",
        "payload-sectors-short",
        "payload-sectors-long",
        "trailing-data",
        "trailing-space",
        "free-inside",
    }
)
"""Where things end: the cluster that an entry names is named all the same. A file that was cut has
findings of other kinds, and a hint."""

_HEADER: Final = frozenset(
    {
        "header-length-alignment",
        "header-tail",
        "header-padding",
        "header-virtual-size-alignment",
        "backing-name-location",
        "backing-name-length",
        "backing-name-text",
        "backing-format-length",
        "feature-table-length",
        "data-file-unused-name",
        "extension-duplicate",
        "extension-unknown",
        "extension-misspelt",
        "extension-padding",
        "encryption-unexpected-header",
        "luks-header",
        "aes-legacy",
        "prerelease-zstd",
    }
)
"""Names, paddings and the like. An extension that has clusters of its own needs a feature bit, so
that older writers keep them; an unknown one of these is not listed here."""

_SNAPSHOT_NAMES: Final = frozenset(
    {"snapshot-extra-data", "snapshot-name-duplicate", "snapshot-name-text"}
)
"""What snapshots are called: their L1 tables are walked all the same."""

_BITMAPS: Final = frozenset(
    {
        "bitmaps-extension",
        "bitmaps-not-consistent",
        "bitmap-directory",
        "bitmap-in-use",
        "bitmap-flags",
        "bitmap-type",
        "bitmap-granularity",
        "bitmap-extra-data",
        "bitmap-name",
        "bitmap-table",
        "bitmap-tail",
        "bitmap-data-beyond-eof",
        "metadata-beyond-eof",
    }
)
"""Bitmaps hold no guest data, and what one says is worth nothing once part of it is lost. Of
metadata, their tables alone are found beyond the end under that name."""

BENIGN: Final = _REFCOUNTS | _FLAGS | _ENDS | _HEADER | _SNAPSHOT_NAMES | _BITMAPS
"""Findings beside which clusters that nothing refers to are the leaks that a crash leaves."""

BENIGN_HINTS: Final = frozenset(
    {
        "not-closed",
        "junk-behind-end",
        "bitmaps-in-use",
        "wrong-compression-type",
        "refcounts-all-zero",
        "refcounts-one-too-high",
        "overwritten-refcounts",
    }
)
"""Incidents in which no mapping is lost. With all counts one too high a snapshot may be, but only
its entry and its L1 table; if it had clusters of its own, they are leaks that tell of it."""


def may_have_lost_references(source: ByteSource, before: CheckReport, token: CancelToken) -> bool:
    """Whether no count may be lowered without being asked for.

    Args:
        source: The image.
        before: What a check of it found.
        token: Stops the work.

    Raises:
        SourceError: When the operating system refuses a read.
        Cancelled: When the token was set.
    """
    codes = {group.code for group in before.groups}
    hints = {hint.code for hint in before.hints}
    if codes - BENIGN or hints - BENIGN_HINTS:
        return True
    if "leak" in codes and "refcounts-one-too-high" in hints:
        return True
    geometry = before.image.header.geometry
    if geometry is None or not codes & {"leak", "refcount-too-high"}:
        return False
    empty = find_empty_tables(source, before.image, geometry, before.ownership.snapshots, token)
    if "leak" in codes:
        return empty.any
    # The disk's own lost clusters would be leaks; what it shared with snapshots is too high then.
    return bool(empty.of_snapshots) or (bool(before.image.snapshots) and empty.any)
