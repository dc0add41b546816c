"""The damages after whose repair `qemu-img check` still finds something, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tests.support.check_damages.overwritten import CONTENTS

_REFERENCE_LOST = (
    "An entry names what is not in the file, or is no cluster. To make another entry of it would "
    "make up data, and what it once named may be among the leaks."
)
_OVERWRITTEN = "The entries are gone, none is made up, and what they named stays counted."
_CUT = "The file is cut: what the tables name is not in it, and no byte of it can be made up."
_HEADER = "The header's own numbers are senseless; what they should be can only be guessed."
CONTESTED = "Tables lie upon each other: whose the bytes are can't be told."
_SNAPSHOT = "Where the snapshots or their tables are can't be told, and none is dropped."

NOT_CLEAN: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "R1-l2-table",
                "R1-l2-table-at-the-end-of-numbers",
                "R1-data",
                "R1-compressed",
                "R1-snapshot-data",
                "R1-snapshot-l2",
                "R4-l2-table-unaligned",
                "R4-snapshot-l2-unaligned",
                "R7-compressed-with-data-file",
                "R10b-data-unaligned",
                "M-compressed-offset-high",
            ),
            _REFERENCE_LOST,
        ),
        **dict.fromkeys(
            (
                *(f"O-{table}-overwritten-{name}" for table in ("l1", "l2") for name in CONTENTS),
                "O-l2-overwritten-first-half",
                "O-l2-overwritten-second-half",
                "O-l2-overwritten-zeros",
            ),
            _OVERWRITTEN,
        ),
        "M-data-on-refcount-block-uncounted": "An entry names a refcount block. What it named "
        "before stays counted.",
        **dict.fromkeys(
            (
                "F-huge-claim",
                "R1-cut-at-70-percent",
                "R1-cut-behind-first-cluster",
                "R1-cut-in-l2",
                "R1-l1",
            ),
            _CUT,
        ),
        **dict.fromkeys(
            (
                "F-backing-outside",
                "F-cluster-bits-22",
                "F-cluster-bits-8",
                "F-cluster-bits-max",
                "F-compression-type-2",
                "F-compression-zstd-without-bit",
                "F-crypt-3",
                "F-extension-lieven",
                "F-extension-overlong",
                "F-header-length-max",
                "F-incompatible-40",
                "F-incompatible-5",
                "F-incompatible-named",
                "F-l1-size-max",
                "F-l1-size-zero",
                "F-l1-unaligned",
                "F-size-max",
                "F-version-4",
                "M-header-109-feature-table",
            ),
            _HEADER,
        ),
        **dict.fromkeys(
            (
                "M-l1-names-itself",
                "M-l1-names-itself-marked",
                "M-l1-over-l2-table",
                "M-l2-table-on-refcount-block",
                "R22-snapshot-l1-on-header",
            ),
            CONTESTED,
        ),
        **dict.fromkeys(
            (
                "R1-snapshot-l1",
                "R12-snapshots-with-data-file",
                "R13-snapshot-l1-unaligned",
                "R14-snapshot-l1-huge",
                "S3-table-beyond-eof",
                "S3-table-unaligned",
                "S5-table-too-large",
            ),
            _SNAPSHOT,
        ),
        "R0-too-many-clusters": "Nobody can count so many clusters.",
        "O-aes": "QEMU opens no encrypted image without its key.",
        "O-backing-file-gone": "QEMU opens no image without its backing file.",
    }
)
