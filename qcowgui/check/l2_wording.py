"""The rules on L2 entries, in words."""

from __future__ import annotations

from typing import Final

from qcowgui.check.entry_facts import (
    EntryFacts,
    EntryRule,
    aligned_offset,
    copied_expected,
    copied_sentence,
    without_bits,
    word_text,
)
from qcowgui.format import geometry as geo
from qcowgui.format.finding import Severity
from qcowgui.units import format_count, format_offset

_UNREADABLE: Final = "can't be read"
_LOST: Final = "is lost; QEMU reads zeros there without an error"
_PARTLY_MISSING: Final = "is missing at least in part, and reads as zeros"


def _cut_cluster(facts: EntryFacts) -> str:
    end = facts.l2.host_offset + facts.context.geometry.cluster_bytes
    missing = format_count(end - facts.context.file_bytes, "byte")
    return (
        f"names the cluster at {format_offset(facts.l2.host_offset)}, of which the last {missing} "
        f"lie beyond {facts.file_end}; they read as zeros. A writer may have left zeros off, or "
        "the file was cut."
    )


STANDARD_RULES: Final[dict[str, EntryRule]] = {
    "l2-reserved-bits": EntryRule(
        Severity.CORRUPTION,
        "1.7",
        lambda f: (
            f"has reserved bits {f.l2.reserved:#x} set; programs that give them no meaning "
            "read the cluster all the same."
        ),
        without_bits(geo.L2_RESERVED_MASK),
    ),
    "l2-copied": EntryRule(Severity.CORRUPTION, "2.2 R25", copied_sentence, copied_expected),
    "copied-without-cluster": EntryRule(
        Severity.SUSPICIOUS,
        "1.7",
        lambda _: "has COPIED set but names no cluster; the flag means nothing there.",
        without_bits(geo.COPIED),
    ),
    "snapshot-copied": EntryRule(
        # QEMU leaves it so when a second snapshot is taken, and sets the flags anew on applying.
        Severity.INFO,
        "1.11",
        lambda f: (
            "has COPIED set, but the refcount of what it names is "
            f"{'not 1' if f.refcount is None else f'{f.refcount:,}'}. QEMU sets the flag anew "
            "when the snapshot is applied; a program that does not would write into clusters "
            "that others still need."
        ),
        without_bits(geo.COPIED),
    ),
    "zero-flag-v2": EntryRule(
        Severity.CORRUPTION,
        "1.7",
        lambda f: f"has the zero flag, which version 2 does not have. {f.guest_is(_UNREADABLE)}",
        without_bits(geo.READS_ZERO),
    ),
    "extended-zero-flag": EntryRule(
        Severity.SUSPICIOUS,
        "1.8",
        lambda _: (
            "has bit 0 set. It is the zero flag of standard entries only; an extended entry "
            "says by its bitmap what reads as zeros, so the bit is ignored."
        ),
        without_bits(geo.READS_ZERO),
    ),
    "zero-cluster-unaligned": EntryRule(
        Severity.CORRUPTION,
        "2.2 R10",
        lambda f: (
            f"keeps a cluster at {format_offset(f.l2.host_offset)}, which is no cluster "
            "boundary. It holds no data, so nothing is lost, but it can't be read as it stands."
        ),
        aligned_offset,
    ),
    "data-cluster-unaligned": EntryRule(
        Severity.CORRUPTION,
        "2.2 R10",
        lambda f: (
            f"names data at {format_offset(f.l2.host_offset)}, which is no cluster "
            f"boundary. {f.guest_is(_UNREADABLE)}"
        ),
        aligned_offset,
    ),
    "data-at-header": EntryRule(
        Severity.CORRUPTION,
        "1.7",
        lambda f: (
            "says that the cluster is allocated, at host offset 0, where the header is. "
            f"{f.guest_is('has lost its data, or never had any')} QEMU reads it as unallocated."
        ),
        lambda _: "an offset that is not 0, or no COPIED flag",
    ),
    "data-beyond-eof": EntryRule(
        Severity.CORRUPTION,
        "2.2 R1",
        lambda f: (
            f"names a cluster at {format_offset(f.l2.host_offset)}, beyond {f.file_end}. "
            f"{f.guest_is(_LOST)}"
        ),
        lambda f: f"below {format_offset(f.context.file_bytes)}",
    ),
    "data-truncated": EntryRule(Severity.SUSPICIOUS, "1.1", _cut_cluster),
    "data-file-offset": EntryRule(
        Severity.CORRUPTION,
        "1.14",
        lambda f: (
            f"names offset {format_offset(f.l2.host_offset)} of the data file, but data lies "
            f"there at its guest offset. {f.guest_is(_UNREADABLE)}"
        ),
        lambda f: (
            "the guest offset"
            if f.place.guest_start is None
            else format_offset(f.place.guest_start)
        ),
    ),
    "data-file-short": EntryRule(
        Severity.CORRUPTION,
        "1.14",
        lambda f: (
            f"names offset {format_offset(f.l2.host_offset)} of the data file, which ends at "
            f"{format_offset(f.context.data_file_bytes or 0)}. {f.guest_is(_PARTLY_MISSING)}"
        ),
    ),
    "subcluster-conflict": EntryRule(
        Severity.CORRUPTION,
        "1.8",
        lambda f: (
            f"says of subclusters {_bits(f.bitmap & f.bitmap >> 32)} both that they hold "
            f"data and that they read as zeros. {f.guest_is(_UNREADABLE)}"
        ),
        lambda _: "no subcluster with both bits set",
    ),
    "subclusters-without-cluster": EntryRule(
        Severity.CORRUPTION,
        "1.8",
        lambda f: (
            f"says that subclusters {_bits(f.bitmap & 0xFFFF_FFFF)} hold data, but names no "
            f"host cluster. {f.guest_is(_UNREADABLE)}"
        ),
        lambda f: f"bitmap {word_text(f.bitmap >> 32 << 32)}",
    ),
}

COMPRESSED_RULES: Final[dict[str, EntryRule]] = {
    "compressed-copied": EntryRule(
        Severity.CORRUPTION,
        "1.9",
        lambda _: "is compressed and has COPIED set, which a compressed cluster must not.",
        without_bits(geo.COPIED),
    ),
    "compressed-with-data-file": EntryRule(
        Severity.CORRUPTION,
        "1.9",
        lambda f: (
            "is compressed, but the image keeps its data in another file, where nothing can "
            f"be compressed. {f.guest_is(_UNREADABLE)}"
        ),
        lambda _: "no compressed cluster",
    ),
    "compressed-subclusters": EntryRule(
        Severity.CORRUPTION,
        "1.8",
        lambda f: (
            f"is compressed and has the subcluster bitmap {word_text(f.bitmap)}. It is read as a "
            "whole; the bitmap must be 0."
        ),
        lambda _: "bitmap 0",
    ),
    "compressed-offset-high": EntryRule(
        Severity.CORRUPTION,
        "1.9",
        lambda f: (
            f"puts its compressed data at {format_offset(f.l2.host_offset)}; bits above 55 "
            f"must be 0. {f.guest_is(_UNREADABLE)}"
        ),
        lambda f: f"an offset below {format_offset(f.context.file_bytes)}",
    ),
    "compressed-beyond-eof": EntryRule(
        Severity.CORRUPTION,
        "2.2 R1",
        lambda f: (
            f"claims compressed data at {f.payload}, beyond {f.file_end}. {f.guest_is('is lost')}"
        ),
        lambda f: f"an end at most {format_offset(f.context.file_end)}",
    ),
    "compressed-missing": EntryRule(
        Severity.CORRUPTION,
        "1.9",
        lambda f: (
            f"claims compressed data at {f.payload}, beyond {f.file_end}. {f.guest_is('is lost')}"
        ),
        lambda f: f"an end at most {format_offset(f.context.file_end)}",
    ),
    "compressed-truncated": EntryRule(
        Severity.SUSPICIOUS,
        "1.9",
        lambda f: (
            f"claims compressed data at {f.payload}, but the file ends at "
            f"{format_offset(f.context.file_bytes)}. Either the file was cut, or the sector count "
            "is too large; a deep check tells."
        ),
        lambda f: f"an end at most {format_offset(f.context.file_end)}",
    ),
}


def _bits(mask: int) -> str:
    """The positions of the bits that are set, as ranges: "0 to 3, 7"."""
    texts: list[str] = []
    position = 0
    while mask >> position:
        if mask >> position & 1:
            last = position
            while mask >> last + 1 & 1:
                last += 1
            texts.append(f"{position} to {last}" if last > position else f"{position}")
            position = last
        position += 1
    return ", ".join(texts)
