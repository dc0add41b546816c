"""Findings that follow from a damage without naming it; which of them depends on the geometry."""

from __future__ import annotations

LOST = "leak refcount-too-high"
"""What was referred to by an entry that now refers to something else."""

WRONG_COUNTS = (
    "refcount-zero refcount-too-low refcount-too-high leak l1-copied l2-copied "
    "refcount-block-overwritten"
)
"""What a refcount structure says that was not written as one, or is not there."""

OTHER_CLUSTERS = (
    f"{LOST} l2-copied refcount-zero refcount-too-low shared-data owner-conflict "
    "references-above-maximum"
)
"""What a reference that is not aligned makes of the two clusters that it touches."""

MISREAD_TABLE = (
    "l2-reserved-bits data-cluster-unaligned zero-cluster-unaligned data-file-offset "
    "data-beyond-eof data-truncated data-at-header copied-without-cluster shared-data "
    "compressed-beyond-eof compressed-truncated compressed-copied compressed-subclusters "
    "compressed-offset-high compressed-with-data-file subcluster-conflict "
    "subclusters-without-cluster extended-zero-flag zero-flag-v2 l1-reserved-bits l1-flags-only "
    "l2-offset-unaligned l2-table-beyond-eof l2-truncated owner-conflict structure-overlap "
    "l1-overwritten l2-overwritten refcount-table-overwritten "
    f"refcount-block-shared references-above-maximum free-inside {WRONG_COUNTS}"
)
"""What a table may seem to hold that is something else."""

SHORT_FILE = (
    "file-shorter-than-image metadata-beyond-eof l1-truncated refcount-table-truncated "
    "refcount-block-beyond-eof refcount-unreadable snapshot-table-truncated snapshot-l1 "
    "snapshot-extra-data bitmap-directory bitmap-table bitmap-data-beyond-eof "
    "encryption-header-location luks-header trailing-data trailing-space "
    f"{MISREAD_TABLE}"
)
"""What may be missing from a file that is cut."""
