"""The bitmap directory: a row of entries of variable length, walked and judged.

Whether a bitmap *may* be used is kept apart from whether its bytes are well formed: a bitmap that
was in use when the machine died is listed, named inconsistent, and no damage to the image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from qcowgui.format import fields, limits
from qcowgui.format.bitmaps import (
    MAX_SHIFT_BITS,
    TYPE_DIRTY_TRACKING,
    BitmapEntry,
    bitmap_table_entries_needed,
)
from qcowgui.format.finding import Finding, Refusal, Severity, fold
from qcowgui.format.text import decode_name, is_clean_name
from qcowgui.units import align_up, format_size

_ENTRY_BYTES: Final = fields.BITMAP_DIRECTORY_FIELDS[-1].end
_ENTRY_ALIGNMENT: Final = 8


def parse_bitmap_directory(
    data: bytes,
    *,
    directory_offset: int,
    nb_bitmaps: int,
    cluster_bits: int,
    virtual_bytes: int,
    directory_size: int | None = None,
    loaded: bool = True,
) -> tuple[list[BitmapEntry], list[Finding]]:
    """The directory's entries as far as they can be walked, and what is wrong with them.

    Args:
        data: The directory's bytes; shorter than `directory_size` where the file ends.
        directory_offset: Its host offset.
        nb_bitmaps: Entries that the extension announces.
        cluster_bits: Of the image.
        virtual_bytes: The guest disk's size.
        directory_size: What the extension says; None stands for the length of `data`.
        loaded: Whether QEMU loads the bitmaps when it opens the image (version 3 with the
            autoclear bit): then it refuses the whole image because of one bad entry.

    Spec: 1.12
    """
    size = len(data) if directory_size is None else directory_size
    data = data[: min(size, limits.MAX_BITMAP_DIRECTORY_BYTES)]
    entries: list[BitmapEntry] = []
    position = 0
    while len(entries) < min(nb_bitmaps, limits.MAX_BITMAPS):
        entry = _parse_entry(data, position, len(entries), directory_offset + position)
        if entry is None:
            break
        entries.append(entry)
        position += entry.entry_bytes
    findings = []
    problem = _walk_problem(len(entries), nb_bitmaps, position, size, len(data))
    if problem:
        findings.append(
            Finding(
                "bitmap-directory",
                Severity.CORRUPTION,
                problem,
                "bitmap directory",
                host_offset=directory_offset + position,
                entry=len(entries),
                raw=nb_bitmaps,
                expected="exactly nb_bitmaps entries that fill the directory",
                spec="1.12",
                refusal=Refusal.QEMU,
            )
        )
    judged = (_judge_entry(entry, cluster_bits, virtual_bytes) for entry in entries)
    findings = fold(chain(findings, chain.from_iterable(judged), _judge_duplicates(entries)))
    if not loaded:
        findings = [replace(finding, refusal=Refusal.NONE) for finding in findings]
    return entries, findings


def _parse_entry(data: bytes, start: int, index: int, entry_offset: int) -> BitmapEntry | None:
    """The entry at `start`, or None when `data` ends before it does."""
    fixed_end = start + _ENTRY_BYTES
    if fixed_end > len(data):
        return None
    fixed = fields.parse_fields(fields.BITMAP_DIRECTORY_FIELDS, data[start:fixed_end])
    name_start = fixed_end + fixed["extra_data_size"]
    name_end = name_start + fixed["name_size"]
    if name_end > len(data):
        return None
    name_raw = data[name_start:name_end]
    return BitmapEntry(
        index=index,
        bitmap_table_offset=fixed["bitmap_table_offset"],
        bitmap_table_size=fixed["bitmap_table_size"],
        flags=fixed["flags"],
        type=fixed["type"],
        granularity_bits=fixed["granularity_bits"],
        extra_data=data[fixed_end:name_start],
        name=decode_name(name_raw)[0],
        name_raw=name_raw,
        entry_offset=entry_offset,
        entry_bytes=align_up(name_end - start, _ENTRY_ALIGNMENT),
    )


def _walk_problem(
    found: int, nb_bitmaps: int, walked_bytes: int, directory_size: int, data_bytes: int
) -> str:
    """What is wrong with the directory as a whole, or an empty string."""
    if found < min(nb_bitmaps, limits.MAX_BITMAPS):
        if data_bytes < min(directory_size, limits.MAX_BITMAP_DIRECTORY_BYTES):
            reason = "is cut off by the end of the file"
        else:
            reason = "does not fit into the directory"
        return (
            f"Entry {found} of the bitmap directory (counted from 0) {reason}; "
            f"{found:,} of {nb_bitmaps:,} bitmaps can be listed."
        )
    if nb_bitmaps > limits.MAX_BITMAPS:
        return f"The directory has more bitmaps than QEMU's limit of {limits.MAX_BITMAPS:,}."
    if walked_bytes != directory_size:
        return (
            f"The {found:,} entries of the bitmap directory end after {walked_bytes:,} bytes; "
            f"the directory is said to have {directory_size:,}."
        )
    return ""


class _Judgement(NamedTuple):
    """A finding about an entry, without the place."""

    code: str
    severity: Severity
    message: str
    raw: int
    expected: str = ""
    refusal: Refusal = Refusal.QEMU


def _judge_entry(entry: BitmapEntry, cluster_bits: int, virtual_bytes: int) -> list[Finding]:
    judgements = chain(
        _iter_flag_judgements(entry),
        _iter_granularity_judgements(entry),
        _iter_table_judgements(entry, cluster_bits, virtual_bytes),
        _iter_name_judgements(entry),
    )
    return [
        Finding(
            code,
            severity,
            f"Bitmap {entry.index} (“{entry.name[:40]}”) {message}",
            "bitmap directory",
            host_offset=entry.entry_offset,
            entry=entry.index,
            raw=raw,
            expected=expected,
            spec="1.12",
            refusal=refusal,
        )
        for code, severity, message, raw, expected, refusal in judgements
    ]


def _iter_flag_judgements(entry: BitmapEntry) -> Iterator[_Judgement]:
    if entry.in_use:
        yield _Judgement(
            "bitmap-in-use",
            Severity.SUSPICIOUS,
            "was not saved cleanly, so it is inconsistent. Its name stays taken: remove it, and "
            "let the next backup be a full one. The image itself is not damaged by this.",
            entry.flags,
            refusal=Refusal.NONE,
        )
    if entry.unknown_flags:
        yield _Judgement(
            "bitmap-flags",
            Severity.CORRUPTION,
            f"has undefined flags {entry.unknown_flags:#x}.",
            entry.flags,
            "only bits 0 to 2",
        )
    if entry.type != TYPE_DIRTY_TRACKING:
        yield _Judgement(
            "bitmap-type",
            Severity.CORRUPTION,
            f"has the unknown type {entry.type}.",
            entry.type,
            "1 (dirty tracking)",
        )
    if entry.extra_data:
        if entry.extra_data_compatible:
            severity, use = Severity.INFO, "by its flags the bitmap may be used all the same"
        else:
            severity, use = Severity.SUSPICIOUS, "without knowing them the bitmap can't be used"
        yield _Judgement(
            "bitmap-extra-data",
            severity,
            f"has {len(entry.extra_data):,} bytes of extra data. They are kept; {use}. "
            "QEMU refuses any extra data.",
            len(entry.extra_data),
        )
    elif entry.extra_data_compatible:
        yield _Judgement(
            "bitmap-flags",
            Severity.INFO,
            "has the extra-data-compatible flag but no extra data; QEMU refuses the flag.",
            entry.flags,
        )


def _iter_granularity_judgements(entry: BitmapEntry) -> Iterator[_Judgement]:
    bits = entry.granularity_bits
    if bits > MAX_SHIFT_BITS:
        yield _Judgement(
            "bitmap-granularity",
            Severity.CORRUPTION,
            f"has granularity_bits {bits}, which is impossible.",
            bits,
            f"0 to {MAX_SHIFT_BITS}",
        )
    elif not limits.MIN_BITMAP_GRANULARITY_BITS <= bits <= limits.MAX_BITMAP_GRANULARITY_BITS:
        yield _Judgement(
            "bitmap-granularity",
            Severity.INFO,
            f"has granularity_bits {bits}; the format allows that, QEMU does not take it.",
            bits,
            "9 to 31 for QEMU",
        )


def _iter_table_judgements(
    entry: BitmapEntry, cluster_bits: int, virtual_bytes: int
) -> Iterator[_Judgement]:
    cluster_bytes = 1 << cluster_bits
    table_entries = entry.bitmap_table_size
    if entry.bitmap_table_offset == 0 or entry.bitmap_table_offset % cluster_bytes:
        yield _Judgement(
            "bitmap-table",
            Severity.CORRUPTION,
            f"has its table at {entry.bitmap_table_offset:#x}, which is not a usable cluster.",
            entry.bitmap_table_offset,
            f"a multiple of {cluster_bytes:,}, not 0",
        )
    most_entries = min(limits.MAX_BITMAP_TABLE_ENTRIES, limits.MAX_BITMAP_BYTES // cluster_bytes)
    if not 1 <= table_entries <= most_entries:
        yield _Judgement(
            "bitmap-table",
            Severity.CORRUPTION,
            f"has a table of {table_entries:,} entries; QEMU accepts 1 to {most_entries:,} "
            f"({format_size(limits.MAX_BITMAP_BYTES)} of bits).",
            table_entries,
            f"1 to {most_entries:,}",
        )
        return
    # A bitmap in use may lag behind a resize; it is not believed anyway.
    if entry.in_use or entry.granularity_bytes is None:
        return
    needed = bitmap_table_entries_needed(virtual_bytes, entry.granularity_bits, cluster_bits)
    if table_entries < needed:
        yield _Judgement(
            "bitmap-table",
            Severity.CORRUPTION,
            f"has a table of {table_entries:,} entries; the disk needs {needed:,}.",
            table_entries,
            f"{needed:,}",
        )
    elif table_entries > needed:
        yield _Judgement(
            "bitmap-table",
            Severity.SUSPICIOUS,
            f"has a table of {table_entries:,} entries; the disk needs {needed:,}, and QEMU takes "
            "no more.",
            table_entries,
            f"{needed:,}",
        )


def _iter_name_judgements(entry: BitmapEntry) -> Iterator[_Judgement]:
    name_bytes = len(entry.name_raw)
    if name_bytes == 0:
        yield _Judgement(
            "bitmap-name", Severity.CORRUPTION, "has an empty name.", 0, "1 byte or more"
        )
    elif name_bytes > limits.MAX_BITMAP_NAME_BYTES:
        yield _Judgement(
            "bitmap-name",
            Severity.SUSPICIOUS,
            f"has a name of {name_bytes:,} bytes; QEMU accepts {limits.MAX_BITMAP_NAME_BYTES:,}.",
            name_bytes,
            f"at most {limits.MAX_BITMAP_NAME_BYTES:,}",
        )
    if not is_clean_name(entry.name_raw):
        yield _Judgement(
            "bitmap-name",
            Severity.SUSPICIOUS,
            "has a name that is not printable UTF-8 text; it is shown escaped.",
            name_bytes,
            refusal=Refusal.NONE,
        )


def _judge_duplicates(entries: list[BitmapEntry]) -> list[Finding]:
    """One finding for each name that occurs more than once, placed at its second entry."""
    counts = Counter(entry.name_raw for entry in entries)
    seen: Counter[bytes] = Counter()
    findings = []
    for entry in entries:
        seen[entry.name_raw] += 1
        if seen[entry.name_raw] == 2:
            findings.append(
                Finding(
                    "bitmap-name",
                    Severity.CORRUPTION,
                    f"{counts[entry.name_raw]:,} bitmaps are named “{entry.name[:40]}”.",
                    "bitmap directory",
                    host_offset=entry.entry_offset,
                    entry=entry.index,
                    expected="a unique name",
                    spec="1.12",
                    refusal=Refusal.QEMU,
                    count=counts[entry.name_raw] - 1,
                )
            )
    return findings
