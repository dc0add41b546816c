"""A repair plan in words and in JSON: each edit with its offset, what stands there, what will."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from qcowgui.format.finding import REPAIRS, Repair
from qcowgui.image.patched import Content, Edit, content_bytes, read_content
from qcowgui.repair.edits import RepairPlan
from qcowgui.units import MIB, format_count, format_offset, format_size

TEXT_BYTES: Final = 16
"""Bytes of an edit that the text shows: a line holds them."""
JSON_BYTES: Final = 4096
"""Bytes of an edit that the JSON shows; of a longer one it has the digest."""
_PIECE_BYTES: Final = MIB


def iter_plan_text(plan: RepairPlan) -> Iterator[str]:
    """The plan as lines of text."""
    if plan.is_empty:
        yield f"{plan.source_name}: nothing to change."
    else:
        edits = format_count(len(plan.edits), "edit")
        yield f"{plan.source_name}: {edits}, {format_count(plan.written_bytes, 'byte')} written."
    if plan.growth_bytes:
        yield (
            f"The file grows by {format_size(plan.growth_bytes)} to {plan.new_file_bytes:,} bytes."
        )
    for edit in plan.edits:
        yield ""
        yield f"{format_offset(edit.offset)}  {edit.why}{f' [{edit.code}]' if edit.code else ''}"
        yield f"  before  {_text_of(edit.before, edit.length_bytes)}"
        yield f"  after   {_text_of(edit.after, edit.length_bytes)}"
    for title, sentences in (("Notes", plan.notes), ("Left as it is", plan.refused)):
        if sentences:
            yield ""
            yield f"{title}:"
            yield from (f"  {sentence}" for sentence in sentences)


def iter_plan_json(plan: RepairPlan) -> Iterator[str]:
    """The plan as lines which together are one JSON object.

    A line per edit, so that a million of them take no memory.
    """
    head = {
        "image": plan.source_name,
        "tier": plan.tier.name.lower(),
        "file-bytes": plan.fingerprint.size_bytes,
        "new-file-bytes": plan.new_file_bytes,
        "written-bytes": plan.written_bytes,
        "notes": list(plan.notes),
        "refused": list(plan.refused),
    }
    yield json.dumps(head, indent=2)[: -len("\n}")] + ","
    if not plan.edits:
        yield '  "edits": []'
    else:
        yield '  "edits": ['
        last = len(plan.edits) - 1
        for index, edit in enumerate(plan.edits):
            yield f"    {json.dumps(edit_record(edit))}{',' if index < last else ''}"
        yield "  ]"
    yield "}"


def edit_record(edit: Edit) -> dict[str, Any]:
    """One edit as an object for JSON.

    `before` and `after` are hexadecimal. Of a run longer than `JSON_BYTES` they are the first so
    many bytes, and `before-sha256` and `after-sha256` are those of all.
    """
    record: dict[str, Any] = {
        "offset": edit.offset,
        "length": edit.length_bytes,
        "before": read_content(edit.before, 0, JSON_BYTES).hex(),
        "after": read_content(edit.after, 0, JSON_BYTES).hex(),
    }
    if edit.length_bytes > JSON_BYTES:
        record["before-sha256"] = _sha256(edit.before)
        record["after-sha256"] = _sha256(edit.after)
    record["why"] = edit.why
    if edit.code:
        record["code"] = edit.code
        record["tier"] = REPAIRS.get(edit.code, Repair.NONE).name.lower()
    return record


def _sha256(content: Content) -> str:
    digest = hashlib.sha256()
    for start in range(0, content_bytes(content), _PIECE_BYTES):
        digest.update(read_content(content, start, _PIECE_BYTES))
    return digest.hexdigest()


def _text_of(content: Content, length: int) -> str:
    """What of an edit's `length` bytes exists, on one line."""
    there = content_bytes(content)
    if not there:
        return "(behind the end of the file)"
    text = read_content(content, 0, TEXT_BYTES).hex(" ")
    if there > TEXT_BYTES:
        value = _only_byte(content)
        text = (
            f"{text} … ({there:,} bytes)"
            if value is None
            else f"{format_count(there, 'byte')} of {value:02x}"
        )
    return f"{text} (then the file ends)" if there < length else text


def _only_byte(content: Content) -> int | None:
    """The value that every byte of a run has, or None when they differ."""
    first = read_content(content, 0, 1)
    for start in range(0, content_bytes(content), _PIECE_BYTES):
        piece = read_content(content, start, _PIECE_BYTES)
        if piece != first * len(piece):
            return None
    return first[0]
