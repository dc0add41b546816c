"""What probably happened to an image: patterns in the result of a check that tell an incident.

A rule looks at plain numbers (`IncidentFacts`; `incident_search.gather_facts` finds them) and says
nothing unless the pattern is complete. The advice comes before any repair: what looks like wasted
space may be the guest's data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qcowgui.check.incident_facts import GUEST_BEYOND_CODES, IncidentFacts
from qcowgui.units import KIB, MIB, format_count, format_offset, format_size

_MIN_DENSE_LEAKS: Final = 64
"""Fewer leaks than this are what a crash leaves behind."""
_MIN_UNMAPPED: Final = 16
_MIN_CONTESTED: Final = 4
"""Fewer tables that are data, too, may come from one wrong offset."""
_MIN_TAIL_CLUSTERS: Final = 16
_PREALLOCATED_SHARE: Final = 0.95
_MAX_ROUND_BYTES: Final = MIB

_SALVAGE: Final = "`qcowgui salvage IMAGE` looks for lost tables and writes a new image."
_NO_REPAIR: Final = (
    "Do not repair: giving the leaked clusters back would let them be overwritten, and what they "
    "hold is probably guest data."
)


@dataclass(frozen=True, slots=True)
class Hint:
    """What probably happened, and what to do.

    Attributes:
        code: Stable identifier, lower case with dashes.
        sentence: What probably happened, one sentence.
        advice: What to do next, one or two sentences.
    """

    code: str
    sentence: str
    advice: str


def incident_hints(facts: IncidentFacts) -> tuple[Hint, ...]:
    """The hints of all rules that recognise something, the gravest incidents first."""
    return tuple(hint for rule in _RULES if (hint := rule(facts)))


def _truncated(facts: IncidentFacts) -> Hint | None:
    if not facts.is_cut:
        return None
    missing = facts.counted_end - facts.file_bytes
    how_much = (
        f"at least {format_size(missing)} are missing at its end"
        if missing > 0
        else ("some of what it refers to lies behind its end")
    )
    lost = facts.count(*GUEST_BEYOND_CODES)
    tables = facts.count("l2-table-beyond-eof", "l2-truncated")
    what = _listed(
        [
            format_count(lost, "guest cluster") if lost else "",
            format_count(tables, "L2 table") if tables else "",
        ]
    )
    sentence = f"The file was cut short: {how_much}{f', with {what}' if what else ''}."
    round_bytes = _round_bytes(facts.file_bytes)
    if round_bytes:
        sentence = (
            f"{sentence[:-1]}; its length is a multiple of {format_size(round_bytes)}, as after a "
            "copy or download that broke off."
        )
    return Hint(
        "truncated-file",
        sentence,
        "Copy or download it again and compare the lengths. Only when there is no other copy, "
        "`qcowgui convert --salvage` writes what is left; QEMU reads zeros there without an error.",
    )


def _round_bytes(length: int) -> int:
    """The largest power of two from 64 KiB to 1 MiB that divides `length`, or 0."""
    size = _MAX_ROUND_BYTES
    while size >= 64 * KIB:
        if length and length % size == 0:
            return size
        size //= 2
    return 0


def _zero_tail(facts: IncidentFacts) -> Hint | None:
    tail = facts.zero_tail
    if tail is None:
        return None
    # A table may well be empty, and a crash leaves clusters that were never written; not so many.
    certain = tail.payload_clusters or (tail.tables and tail.leaked_clusters >= _MIN_UNMAPPED)
    # Disks that were preallocated, or zeroed by the guest, end with zeros, too.
    enough = max(_MIN_TAIL_CLUSTERS, facts.used_clusters // 10)
    plain = tail.data_clusters >= enough and facts.mapped_share < _PREALLOCATED_SHARE
    if not certain and not plain:
        return None
    what = _listed(
        [
            format_count(tail.tables, "table") if tail.tables else "",
            format_count(
                tail.payload_clusters, "cluster of compressed data", "clusters of compressed data"
            )
            if tail.payload_clusters
            else "",
            format_count(tail.data_clusters, "data cluster") if tail.data_clusters else "",
            format_count(
                tail.leaked_clusters, "cluster that counts as used", "clusters that count as used"
            )
            if tail.leaked_clusters
            else "",
        ]
    )
    likely = "was probably" if certain else "was perhaps"
    return Hint(
        "zero-tail",
        f"From {format_offset(tail.start)} to its end the file holds nothing but zeros, in the "
        f"place of {what}: a copy or download {likely} never finished.",
        "Compare the file with its origin, or copy it again. No repair can bring back what was "
        "not copied.",
    )


def _overwritten(facts: IncidentFacts) -> Hint | None:
    tables = facts.count("l1-overwritten", "l2-overwritten")
    if not tables:
        return None
    return Hint(
        "overwritten",
        f"{format_count(tables, 'mapping table')} "
        f"{'holds' if tables == 1 else 'hold'} something else than entries: another program, or "
        "the storage below, probably wrote over the image.",
        "Do not repair before you know what is lost: the clusters that the table named are still "
        f"in the file, counted as used. {_SALVAGE}",
    )


def _overwritten_refcounts(facts: IncidentFacts) -> Hint | None:
    places = facts.count("refcount-table-overwritten", "refcount-block-overwritten")
    if not places:
        return None
    return Hint(
        "overwritten-refcounts",
        f"{format_count(places, 'part')} of the refcounts "
        f"{'was' if places == 1 else 'were'} overwritten by something else; so may guest data be, "
        "which no check can see.",
        "Do not write to the image. `qcowgui repair IMAGE -o REPAIRED --all` writes a copy with "
        "refcounts counted anew; look at the guest's files in it.",
    )


def _leaks(facts: IncidentFacts) -> Hint | None:
    """What became of a table, by the leaks it left: only the surest of these rules speaks."""
    rules = (
        _lost_table,
        _wiped_l1,
        _emptied_table,
        _emptied_snapshot_table,
        _leaks_in_one_window,
    )
    return next((hint for rule in rules if (hint := rule(facts))), None)


def _lost_table(facts: IncidentFacts) -> Hint | None:
    if not facts.lost_tables:
        return None
    missed = facts.count("refcount-too-high")
    others = "the clusters with more references counted than there are" if missed else "the others"
    what = "a snapshot's table" if facts.empty_snapshot_tables else "an L1 entry, or a snapshot,"
    return Hint(
        "lost-l2-table",
        f"{format_count(facts.lost_tables, 'leaked cluster')} of {facts.leaked_clusters:,} "
        f"{'holds an L2 table that maps' if facts.lost_tables == 1 else 'hold L2 tables that map'} "
        f"{facts.lost_entries:,} of {others}: {what} was probably lost.",
        f"{_NO_REPAIR} The tables are still in the file; {_SALVAGE}",
    )


def _wiped_l1(facts: IncidentFacts) -> Hint | None:
    if not facts.l1_entries or facts.l1_used or not _held_data(facts):
        return None
    return Hint(
        "wiped-l1",
        "The L1 table holds nothing but zeros, but "
        f"{format_count(facts.leaked_clusters, 'cluster')} to which nothing refers count as used: "
        "the table was probably overwritten.",
        f"{_NO_REPAIR} The L2 tables may still be in the file; {_SALVAGE}",
    )


def _emptied_table(facts: IncidentFacts) -> Hint | None:
    if not facts.empty_tables or not _held_data(facts):
        return None
    return Hint(
        "emptied-l2-table",
        f"{format_count(facts.empty_tables, 'L2 table')} without any entry "
        f"{'stands' if facts.empty_tables == 1 else 'stand'} beside "
        f"{format_count(facts.leaked_clusters, 'leaked cluster')}: a table was probably "
        "overwritten with zeros.",
        f"{_NO_REPAIR} Which guest address it had is lost with the table; "
        "`qcowgui salvage IMAGE` looks for older tables and lists the clusters that no table maps.",
    )


def _kept_by_repair(facts: IncidentFacts) -> Hint | None:
    if not facts.marked_leaks:
        return None
    return Hint(
        "kept-by-repair",
        f"{format_count(facts.marked_leaks, 'leaked cluster')} "
        f"{'was' if facts.marked_leaks == 1 else 'were'} kept by an earlier repair, because a "
        "reference was probably lost: what the guest misses may be there.",
        "`qcowgui salvage IMAGE` lists the clusters that no table names. When nothing is missed, "
        "`qcowgui repair IMAGE -o REPAIRED --free-unowned` frees them.",
    )


def _held_data(facts: IncidentFacts) -> bool:
    """Whether the leaks are more than a crash leaves.

    It leaves few, and none with a refcount above 1: that is compressed data of several clusters.
    """
    return facts.leaked_clusters >= _MIN_UNMAPPED or facts.shared_leaks > 0


def _emptied_snapshot_table(facts: IncidentFacts) -> Hint | None:
    if not facts.empty_snapshot_tables:
        return None
    # An empty disk has an empty table, too; what tells is that references are missing.
    missed = facts.leaked_clusters + facts.count("refcount-too-high")
    if not _held_data(facts) and not facts.count("refcount-too-high"):
        return None
    return Hint(
        "emptied-snapshot-table",
        f"{format_count(facts.empty_snapshot_tables, 'table')} of snapshots without any entry "
        f"{'stands' if facts.empty_snapshot_tables == 1 else 'stand'} beside "
        f"{format_count(missed, 'cluster')} with more references counted than there are: a "
        "snapshot's table was probably overwritten with zeros.",
        "Do not repair: lowering the counts would let what the snapshot needs be overwritten. "
        f"The disk itself is not affected. {_SALVAGE}",
    )


def _leaks_in_one_window(facts: IncidentFacts) -> Hint | None:
    span = facts.leaks_last - facts.leaks_first + 1
    is_dense = facts.leaked_clusters * 2 >= span
    fits_one_table = span <= facts.l2_entries + facts.l2_entries // 8
    if facts.is_cut or facts.leaked_clusters < _MIN_DENSE_LEAKS:
        return None
    if facts.count("l1-overwritten", "l2-overwritten"):  # that says more
        return None
    if not is_dense or not fits_one_table or _all_mismatch_alike(facts):
        return None
    first = format_offset(facts.leaks_first * facts.cluster_bytes)
    end = format_offset((facts.leaks_last + 1) * facts.cluster_bytes)
    return Hint(
        "leaks-in-one-window",
        f"All {facts.leaked_clusters:,} leaked clusters lie between {first} and {end}, in one "
        "stretch that a single L2 table would map: such a table was perhaps lost or overwritten.",
        f"{_NO_REPAIR} Look first whether the guest misses files; {_SALVAGE}",
    )


def _all_mismatch_alike(facts: IncidentFacts) -> bool:
    return bool(facts.used_clusters) and facts.one_too_high == facts.used_clusters


def _concurrent_writers(facts: IncidentFacts) -> Hint | None:
    # A table that is said to be longer than it is overlaps all that follows it.
    if facts.tables_with_data < _MIN_CONTESTED or facts.count("structure-overlap"):
        return None
    return Hint(
        "concurrent-writers",
        f"{format_count(facts.tables_with_data, 'cluster')} are a table and guest data at once: "
        "two programs probably wrote to the image at the same time, or one that had lost track of "
        "what is free.",
        "Stop every virtual machine and tool that may have the image open, and make a copy of it "
        "before anything else. A repair can't tell which owner is right; `qcowgui salvage IMAGE` "
        "shows what can still be read.",
    )


def _refcounts_all_zero(facts: IncidentFacts) -> Hint | None:
    if facts.used_clusters < 2 or facts.counted_clusters:
        return None
    return Hint(
        "refcounts-all-zero",
        f"All refcounts are 0 though {format_count(facts.used_clusters, 'cluster')} are in use: "
        "the writer kept none, as Docker for Mac does, or they were overwritten.",
        "Guest data is not affected as long as nobody writes to the image. `qcowgui repair IMAGE "
        "-o REPAIRED --all` writes a copy with refcounts counted anew.",
    )


def _refcounts_one_too_high(facts: IncidentFacts) -> Hint | None:
    if facts.used_clusters < 2 or not _all_mismatch_alike(facts):
        return None
    return Hint(
        "refcounts-one-too-high",
        f"The refcount of all {facts.used_clusters:,} clusters in use is one too high: a snapshot "
        "was probably lost from the snapshot table, or never finished.",
        "No data of the disk is at risk. If a snapshot is missing, do not repair before you have "
        "looked for it with `qcowgui salvage IMAGE`; else `qcowgui repair IMAGE -o REPAIRED "
        "--leaks` lowers the counts.",
    )


def _unclean(facts: IncidentFacts) -> Hint | None:
    wrong = facts.count(*_REFCOUNT_CODES)
    if not facts.dirty:
        return None
    cause = (
        "it has lazy refcounts, which are written only then"
        if facts.lazy_refcounts
        else "its refcounts may be out of date"
    )
    found = f"; {format_count(wrong, 'wrong refcount')} had to be expected" if wrong else ""
    return Hint(
        "not-closed",
        f"The image is in use, or its last user crashed before closing it, and {cause}{found}.",
        "If a virtual machine runs on it, shut that down and check again. Else data is not at "
        "risk: `qcowgui repair IMAGE -o REPAIRED --all` counts the references anew.",
    )


def _wrong_compression_type(facts: IncidentFacts) -> Hint | None:
    if not facts.payloads or facts.payloads_of_other_type < facts.payloads:
        return None
    other = "zlib" if facts.compression_type == "zstd" else "zstd"
    return Hint(
        "wrong-compression-type",
        f"The header says that compressed clusters are {facts.compression_type}, but all "
        f"{facts.payloads:,} of them are of another type: the header was changed or damaged.",
        f"The data is there. `qcowgui salvage IMAGE -o OUT --compression-type {other}` writes a "
        "new image with it.",
    )


def _junk_behind(facts: IncidentFacts) -> Hint | None:
    if not facts.trailing_bytes or facts.is_cut or facts.leaked_clusters:
        return None
    if not _round_bytes(facts.file_bytes):
        return None
    return Hint(
        "junk-behind-end",
        f"{format_size(facts.trailing_bytes)} behind the image's last cluster hold other bytes, "
        "and the whole has a round length: the image lies on a larger block device, or was copied "
        "from one.",
        "They do no harm, and nothing refers to them. `qcowgui convert` writes an image without "
        "them.",
    )


def _bitmaps_in_use(facts: IncidentFacts) -> Hint | None:
    count = facts.count("bitmap-in-use")
    if not count:
        return None
    return Hint(
        "bitmaps-in-use",
        f"{format_count(count, 'bitmap')} {'was' if count == 1 else 'were'} not saved: the image "
        "is in use, or the virtual machine was killed.",
        "The disk itself is not affected, but what such a bitmap says of changes can't be trusted: "
        "remove it, and let the next backup be a full one.",
    )


def _listed(parts: list[str]) -> str:
    """The parts that are not empty, as English lists them."""
    parts = [part for part in parts if part]
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


_REFCOUNT_CODES: Final = ("refcount-zero", "refcount-too-low", "refcount-too-high", "leak")

_Rule = Callable[[IncidentFacts], Hint | None]
_RULES: Final[tuple[_Rule, ...]] = (
    _truncated,
    _zero_tail,
    _overwritten,
    _overwritten_refcounts,
    _leaks,
    _kept_by_repair,
    _concurrent_writers,
    _refcounts_all_zero,
    _refcounts_one_too_high,
    _unclean,
    _wrong_compression_type,
    _junk_behind,
    _bitmaps_in_use,
)
