"""A finding: one thing in an image that is wrong, unusual or worth knowing.

Findings are the only way in which format/ reports bad content. Their codes are stable: scripts,
the manual and the tests refer to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from qcowgui.format import limits


class Severity(IntEnum):
    """How bad a finding is; a larger value is worse."""

    INFO = 0
    """Worth knowing; nothing is wrong."""
    LEAK = 1
    """Space is wasted; no data is at risk."""
    SUSPICIOUS = 2
    """Legal or harmless, but unusual."""
    CORRUPTION = 3
    """A structure contradicts the format; data may be affected."""
    FATAL = 4
    """Guest data can't be mapped at all."""


class Refusal(IntEnum):
    """Who refuses to open an image because of a finding."""

    NONE = 0
    """Nobody: the image opens."""
    QEMU = 1
    """QEMU refuses; this program can still read guest data."""
    READER = 2
    """QEMU refuses, and no honest reader could present guest data."""


class Repair(IntEnum):
    """Which kind of repair removes what a finding is about; each does what those before it do."""

    NONE = 0
    """None: nothing is wrong, or nothing that a program could decide."""
    LEAKS = 1
    """Giving back space that nothing refers to."""
    ALL = 2
    """Changing metadata so that it is consistent, with no guest byte read differently."""
    SALVAGE = 3
    """Writing a new image from what can still be read; some guest data may be lost."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One judgement about one place in an image.

    Attributes:
        code: Stable identifier from `CODES`, lower case with dashes.
        severity: How bad it is.
        message: One sentence that a user understands, with the values concerned.
        structure: The format's name for the place ("header", "L1 table", "snapshot table"…).
        host_offset: File offset in bytes of the field or entry, or None.
        entry: Index of the entry inside its table, or None.
        guest_start: First guest byte affected, or None.
        guest_end: End (exclusive) of the guest bytes affected, or None.
        raw: The value found, or None.
        expected: What should be there, in words, or an empty string.
        spec: Section of the format description this rests on.
        count: How many identical findings this one stands for.
        refusal: Who refuses to open the image because of it.
        snapshot: Index of the internal snapshot whose tables it concerns; None for the active
            disk, and for what belongs to no disk.
    """

    code: str
    severity: Severity
    message: str
    structure: str
    host_offset: int | None = None
    entry: int | None = None
    guest_start: int | None = None
    guest_end: int | None = None
    raw: int | None = None
    expected: str = ""
    spec: str = ""
    count: int = 1
    refusal: Refusal = Refusal.NONE
    snapshot: int | None = None

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"finding code {self.code!r} is not in CODES")

    @property
    def repair(self) -> Repair:
        """Which kind of repair removes it."""
        return REPAIRS.get(self.code, Repair.NONE)


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """`findings` in their order, without the flood that a crafted table of 65,536 entries makes.

    Of each code, told apart by who refuses, the first `limits.MAX_FINDINGS_OF_A_KIND` are kept;
    the last of them counts the others.
    """
    kept: list[Finding] = []
    seen: Counter[tuple[str, Refusal]] = Counter()
    last: dict[tuple[str, Refusal], int] = {}
    left_out: Counter[tuple[str, Refusal]] = Counter()
    for finding in findings:
        kind = finding.code, finding.refusal
        seen[kind] += 1
        if seen[kind] <= limits.MAX_FINDINGS_OF_A_KIND:
            last[kind] = len(kept)
            kept.append(finding)
        else:
            left_out[kind] += finding.count
    for kind, count in left_out.items():
        finding = kept[last[kind]]
        kept[last[kind]] = replace(
            finding,
            message=f"{finding.message} There are {count:,} more of this kind.",
            count=finding.count + count,
        )
    return kept


CODES: Final[dict[str, str]] = {
    # header
    "header-truncated": "The file ends inside the header.",
    "header-version": "The version number is neither 2 nor 3.",
    "header-cluster-bits": "cluster_bits is outside 9..21.",
    "header-length": "header_length is impossible for this image.",
    "header-length-alignment": "header_length is not a multiple of 8.",
    "header-tail": "The header has bytes beyond the fields known today; they are kept.",
    "header-padding": "Header padding that should be zero is not.",
    "header-crypt-method": "crypt_method is not one of 0, 1, 2.",
    "header-refcount-order": "refcount_order is above 6.",
    "header-virtual-size": "The virtual size needs more L1 entries than can exist.",
    "header-virtual-size-alignment": "The virtual size is not a multiple of 512.",
    "backing-name-location": "The backing file name does not lie inside the first cluster.",
    "backing-name-length": "The backing file name is longer than allowed.",
    "backing-name-text": "The backing file name is not clean UTF-8 text.",
    "l1-too-small": "The L1 table is too small for the virtual size.",
    "l1-too-large": "The L1 table is larger than QEMU's limit.",
    "l1-offset": "The L1 table's offset is not usable.",
    "l1-truncated": "The file ends before the end of the L1 table.",
    "refcount-table-missing": "The image has no refcount table.",
    "refcount-table-too-large": "The refcount table is larger than QEMU's limit.",
    "refcount-table-offset": "The refcount table's offset is not usable.",
    "refcount-table-truncated": "The file ends before the end of the refcount table.",
    "structure-overlap": "Two structures that exclude each other share bytes of the file.",
    # features
    "dirty": "The image was not closed cleanly; refcounts may be stale.",
    "corrupt": "A writer marked the image as corrupt.",
    "unknown-incompatible": "An unknown incompatible feature bit is set.",
    "unknown-compatible": "An unknown compatible feature bit is set.",
    "unknown-autoclear": "An unknown autoclear feature bit is set; a writer would clear it.",
    "compression-type-bit": "compression_type and its incompatible bit contradict each other.",
    "compression-type-unknown": "The compression type is not known.",
    "extended-l2-cluster": "Extended L2 entries need clusters of 16 KiB or more.",
    "data-file-missing-name": "The image uses an external data file but does not name it.",
    "data-file-unused-name": "A data file is named though the external data file bit is clear.",
    "raw-external-without-data-file": "The raw external data bit is set without a data file.",
    # extensions
    "extension-count": "There are more header extensions than any writer makes.",
    "extension-overlong": "A header extension is longer than the space that is left for it.",
    "extension-unterminated": "The header extensions have no end marker.",
    "extension-duplicate": "A header extension type occurs more than once.",
    "extension-unknown": "A header extension of unknown type; it is kept.",
    "extension-misspelt": "A backing format extension under a wrong number (written by crosvm).",
    "extension-legacy-compression": "The compression extension proposed in 2017, never adopted.",
    "extension-padding": "Extension padding that should be zero is not.",
    "extension-truncated": "The file ends inside the header extensions.",
    "extension-length": "A header extension has a length that its type does not allow.",
    "backing-format-length": "The backing format name is longer than QEMU accepts.",
    "feature-table-length": "The feature name table's length is not a multiple of 48.",
    "encryption-header-location": "The encryption header's location is not usable.",
    "encryption-without-header": "The image is LUKS-encrypted but names no encryption header.",
    "encryption-unexpected-header": "An encryption header is named though crypt_method is not 2.",
    "luks-header": "The LUKS header is damaged or of an unknown kind.",
    "aes-legacy": "The image uses the old AES encryption, which is weak.",
    # snapshots
    "snapshot-count": "There are more snapshots than QEMU accepts.",
    "snapshot-table-offset": "The snapshot table's offset is not usable.",
    "snapshot-table-truncated": "The file ends inside the snapshot table.",
    "snapshot-table-too-large": "The snapshot table is larger than QEMU's limit.",
    "snapshot-extra-data": "A snapshot entry's extra data has an unusual size.",
    "snapshot-l1": "A snapshot's L1 table is not usable.",
    "snapshot-duplicate": "Two snapshots have the same id.",
    "snapshot-name-duplicate": "Two snapshots have the same name.",
    "snapshot-name-text": "A snapshot's id or name is not clean UTF-8 text.",
    "snapshots-with-data-file": "Snapshots exist in an image with an external data file.",
    # bitmaps
    "bitmaps-extension": "The bitmaps extension is not usable.",
    "bitmaps-not-consistent": "Bitmaps exist but the autoclear bit says they may be stale.",
    "bitmap-directory": "The bitmap directory is damaged.",
    "bitmap-in-use": "A bitmap was not saved cleanly; its content can't be trusted.",
    "bitmap-flags": "A bitmap has flags that are not defined.",
    "bitmap-type": "A bitmap has an unknown type.",
    "bitmap-granularity": "A bitmap's granularity is outside what QEMU accepts.",
    "bitmap-extra-data": "A bitmap has extra data.",
    "bitmap-name": "A bitmap's name is unusable or not unique.",
    "bitmap-table": "A bitmap's table is damaged or has an impossible size.",
    "bitmap-tail": "A bitmap has bits set for what lies behind the end of the disk.",
    "bitmap-data-beyond-eof": "A bitmap's bits lie beyond the end of the file.",
    # L1 entries
    "l1-reserved-bits": "Reserved bits are set in an L1 entry.",
    "l1-flags-only": "An L1 entry has flags but names no L2 table.",
    "l1-overwritten": "An L1 table holds something else than L1 entries.",
    "l1-copied": "An L1 entry's COPIED flag contradicts the refcount of its L2 table.",
    "l2-offset-unaligned": "An L1 entry names an L2 table that is no cluster.",
    "l2-table-beyond-eof": "An L2 table lies beyond the end of the file.",
    "l2-truncated": "The file ends before the end of an L2 table.",
    "l2-overwritten": "An L2 table holds something else than L2 entries.",
    # L2 entries
    "l2-reserved-bits": "Reserved bits are set in an L2 entry.",
    "l2-copied": "An L2 entry's COPIED flag contradicts the refcount of its cluster.",
    "copied-without-cluster": "An L2 entry has the COPIED flag but names no cluster.",
    "snapshot-copied": "A snapshot's table has COPIED for what does not have refcount 1.",
    "zero-flag-v2": "An L2 entry has the zero flag, which version 2 does not have.",
    "extended-zero-flag": "Bit 0, the zero flag of standard entries, is set in an extended one.",
    "zero-cluster-unaligned": "The host offset of a cluster that holds no data is unaligned.",
    "data-cluster-unaligned": "The host offset of a data cluster is unaligned.",
    "data-at-header": "An L2 entry says allocated at host offset 0, where the header is.",
    "data-beyond-eof": "A data cluster lies beyond the end of the file.",
    "data-truncated": "The file ends inside a data cluster.",
    "data-file-offset": "A cluster's offset in the data file differs from its guest offset.",
    "data-file-short": "The external data file ends before a cluster that it should hold.",
    "subcluster-conflict": "A subcluster is both allocated and zero.",
    "subclusters-without-cluster": "Subclusters are allocated though the entry has no cluster.",
    "compressed-copied": "A compressed cluster has the COPIED flag.",
    "compressed-with-data-file": "A compressed cluster in an image with an external data file.",
    "compressed-subclusters": "A compressed cluster has a subcluster bitmap.",
    "compressed-offset-high": "A compressed cluster's offset has bits above 55.",
    "compressed-beyond-eof": "A compressed cluster ends a cluster or more beyond the file's end.",
    "compressed-missing": "No byte of a compressed cluster lies inside the file.",
    "compressed-truncated": "The file ends inside the sectors of a compressed cluster.",
    # compressed payloads
    "payload-damaged": "A compressed cluster can't be decoded.",
    "payload-short": "A compressed stream ends before its cluster is full.",
    "payload-sectors-short": "A compressed cluster's sector count is too small for its stream.",
    "payload-sectors-long": "A compressed cluster's sector count is larger than its stream needs.",
    "payload-other-type": "A compressed cluster is of another compression type than the image.",
    # refcounts
    "refcount-table-reserved-bits": "Reserved bits are set in a refcount table entry.",
    "refcount-block-unaligned": "A refcount table entry names a block that is no cluster.",
    "refcount-block-beyond-eof": "A refcount block lies beyond the end of the file.",
    "refcount-block-shared": "A refcount block has another owner, or several entries name it.",
    "refcount-table-overwritten": "The refcount table holds something else than its entries.",
    "refcount-block-overwritten": "A refcount block holds something else than refcounts.",
    "refcount-unreadable": "Refcounts can't be read.",
    "refcount-zero": "A cluster that is in use counts as free.",
    "refcount-too-low": "A cluster's refcount is lower than the references to it.",
    "refcount-too-high": "A cluster's refcount is higher than the references to it.",
    "references-above-maximum": "A cluster has more references than a refcount can count.",
    "leak": "A cluster counts as used, but nothing refers to it.",
    # the file as a whole
    "clusters-above-limit": "The file has more clusters than can be checked.",
    "owner-conflict": "A host cluster has owners that exclude each other.",
    "shared-data": "Guest clusters share a host cluster though no snapshot explains it.",
    "metadata-beyond-eof": "A structure lies beyond the end of the file.",
    "trailing-data": "There are bytes other than zero behind the last cluster in use.",
    "trailing-space": "There are zeros behind the last cluster in use.",
    "free-inside": "There are free clusters inside the file.",
    "file-shorter-than-image": "The file is shorter than its own structures need.",
    "prerelease-zstd": "Zstandard clusters in a pre-release QEMU's layout (length before frame).",
}
"""Every finding code with its meaning in one sentence."""

REPAIRS: Final[dict[str, Repair]] = {
    "leak": Repair.LEAKS,
    "refcount-too-high": Repair.LEAKS,
    **dict.fromkeys(
        (
            # header, extensions, records
            "header-padding",
            "refcount-table-missing",
            "refcount-table-too-large",
            "refcount-table-offset",
            "refcount-table-truncated",
            "dirty",
            "corrupt",
            "unknown-autoclear",
            "raw-external-without-data-file",
            "extension-padding",
            "extension-misspelt",
            "snapshot-extra-data",
            "snapshot-count",
            "snapshot-table-truncated",
            "bitmaps-not-consistent",
            "bitmaps-extension",
            "bitmap-directory",
            "bitmap-table",
            "bitmap-flags",
            "bitmap-type",
            "bitmap-granularity",
            "bitmap-extra-data",
            "bitmap-name",
            "bitmap-data-beyond-eof",
            "bitmap-tail",
            "metadata-beyond-eof",
            # entries
            "l1-reserved-bits",
            "l1-flags-only",
            "l1-copied",
            "l2-reserved-bits",
            "l2-copied",
            "copied-without-cluster",
            "snapshot-copied",
            "extended-zero-flag",
            "zero-flag-v2",
            "zero-cluster-unaligned",
            "subclusters-without-cluster",
            "subcluster-conflict",
            "compressed-copied",
            "compressed-subclusters",
            "payload-sectors-short",
            "payload-sectors-long",
            # refcounts
            "refcount-table-reserved-bits",
            "refcount-block-unaligned",
            "refcount-block-beyond-eof",
            "refcount-block-shared",
            "refcount-table-overwritten",
            "refcount-block-overwritten",
            "refcount-unreadable",
            "refcount-zero",
            "refcount-too-low",
            "references-above-maximum",
        ),
        Repair.ALL,
    ),
    **dict.fromkeys(
        (
            "l1-too-small",
            "l1-too-large",
            "l1-offset",
            "l1-truncated",
            "file-shorter-than-image",
            "structure-overlap",
            "l2-offset-unaligned",
            "l2-table-beyond-eof",
            "l2-truncated",
            "l1-overwritten",
            "l2-overwritten",
            "data-cluster-unaligned",
            "data-at-header",
            "data-beyond-eof",
            "data-truncated",
            "data-file-offset",
            "compressed-with-data-file",
            "compressed-offset-high",
            "compressed-beyond-eof",
            "compressed-missing",
            "compressed-truncated",
            "payload-damaged",
            "payload-short",
            "payload-other-type",
            "owner-conflict",
        ),
        Repair.SALVAGE,
    ),
}
"""The codes that a repair removes, with its kind; the others are `Repair.NONE`."""
