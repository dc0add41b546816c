"""The rules on L1 entries and refcount table entries, in words."""

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
from qcowgui.format.entries import L1Entry
from qcowgui.format.finding import Severity
from qcowgui.units import format_count, format_offset

_UNREADABLE: Final = "can't be read"
_LOST: Final = "is lost; QEMU reads zeros there without an error"


def _cut_table(facts: EntryFacts) -> str:
    missing = facts.table_offset + facts.context.geometry.cluster_bytes - facts.context.file_bytes
    return (
        f"names an L2 table at {format_offset(facts.table_offset)}, of which the last "
        f"{format_count(missing, 'byte')} lie beyond {facts.file_end}. "
        + facts.guest_is("may be lost in part")
    )


L1_RULES: Final[dict[str, EntryRule]] = {
    "l1-reserved-bits": EntryRule(
        Severity.CORRUPTION,
        "1.7",
        lambda f: (
            f"has reserved bits {L1Entry(f.word).reserved:#x} set; programs that give them "
            "no meaning read its L2 table all the same."
        ),
        without_bits(geo.L1_RESERVED_MASK),
    ),
    "l1-flags-only": EntryRule(
        Severity.SUSPICIOUS,
        "1.7",
        lambda f: (
            f"is {word_text(f.word)}: flags, but no L2 table. It reads as unallocated; QEMU's "
            "check takes the header for its table and reports errors there that do not exist."
        ),
        lambda _: word_text(0),
    ),
    "l2-offset-unaligned": EntryRule(
        Severity.CORRUPTION,
        "1.7",
        lambda f: (
            f"names an L2 table at {format_offset(f.table_offset)}, which is no cluster "
            f"boundary. {f.guest_is(_UNREADABLE)}"
        ),
        aligned_offset,
    ),
    "l2-table-beyond-eof": EntryRule(
        Severity.CORRUPTION,
        "2.2 R1",
        lambda f: (
            f"names an L2 table at {format_offset(f.table_offset)}, beyond {f.file_end}. "
            f"{f.guest_is(_LOST)}"
        ),
        lambda f: f"below {format_offset(f.context.file_bytes)}",
    ),
    "l2-truncated": EntryRule(Severity.CORRUPTION, "1.1", _cut_table),
    "l1-copied": EntryRule(Severity.CORRUPTION, "2.2 R24", copied_sentence, copied_expected),
}

REFCOUNT_TABLE_RULES: Final[dict[str, EntryRule]] = {
    "refcount-table-reserved-bits": EntryRule(
        Severity.CORRUPTION,
        "1.10",
        lambda f: (
            f"has reserved bits {f.word & geo.REFCOUNT_RESERVED_MASK:#x} set: QEMU refuses "
            "to use the refcounts of its block."
        ),
        without_bits(geo.REFCOUNT_RESERVED_MASK),
    ),
    "refcount-block-unaligned": EntryRule(
        Severity.CORRUPTION,
        "2.2 R18",
        lambda f: (
            f"names a block at {format_offset(f.block_offset)}, which is no cluster "
            "boundary; QEMU's own repair fails on that."
        ),
        aligned_offset,
    ),
    "refcount-block-beyond-eof": EntryRule(
        Severity.CORRUPTION,
        "2.2 R19",
        lambda f: (
            f"names a block at {format_offset(f.block_offset)}, beyond {f.file_end}: its "
            "refcounts are lost."
        ),
        lambda f: f"below {format_offset(f.context.file_bytes)}",
    ),
    "refcount-block-shared": EntryRule(
        Severity.CORRUPTION,
        "2.2 R20",
        lambda f: (
            f"names the block at {format_offset(f.block_offset)}, which something else uses "
            "as well: writing refcounts destroys that, or the other way round."
        ),
        lambda _: "a block of its own",
    ),
    "refcount-unreadable": EntryRule(
        Severity.CORRUPTION,
        "2.2 R21",
        lambda f: f"names a block at {format_offset(f.block_offset)} that can't be read.",
    ),
}
