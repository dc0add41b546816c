"""Where our totals differ from those of `qemu-img check` on purpose, and why."""

from __future__ import annotations

from typing import Final

NOT_QCOW2: Final = (
    "qemu-img was told that the file is a qcow2 image and can't open it: exit code 1. We say what "
    "the file is instead, with the exit code for a format that has no check, 63."
)
NEEDS_THE_KEY: Final = (
    "qemu-img opens no encrypted image without its key, though a check looks at no encrypted byte. "
    "We check the metadata, which is not encrypted."
)
NEEDS_THE_BACKING_FILE: Final = (
    "qemu-img opens the whole backing chain for a check, and fails where a file is missing. "
    "We check the image itself: its metadata is complete in the one file."
)

INTENDED_DIFFERENCES: Final[dict[str, str]] = {
    "header_magic": NOT_QCOW2,
    "header_version_1": NOT_QCOW2,
    "first_cluster_wiped": NOT_QCOW2,
    "F-version-1": NOT_QCOW2,
    "F-first-cluster-wiped": NOT_QCOW2,
    "O-aes": NEEDS_THE_KEY,
    "O-backing-file-gone": NEEDS_THE_BACKING_FILE,
}
"""By the name of a damage, in every geometry."""

INTENDED_DIFFERENCES_OF_GEOMETRIES: Final[dict[str, str]] = {"luks-64k": NEEDS_THE_KEY}
"""By the name of a geometry, for every damage."""
