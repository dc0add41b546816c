"""Plans: what they demand of their edits, and how they are shown."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcowgui.errors import SourceError
from qcowgui.format.finding import REPAIRS, Repair
from qcowgui.image.patched import Deferred, Edit
from qcowgui.image.source import BytesSource, FileSource
from qcowgui.repair.edits import (
    JOIN_BYTES,
    Fingerprint,
    RepairPlan,
    edits_between,
    take_fingerprint,
)
from qcowgui.repair.listing import JSON_BYTES, iter_plan_json, iter_plan_text
from tests.support.options import KIB, MIB

OLD = bytes(range(100))


def plan_of(
    *edits: Edit, size: int = 100, new_size: int = 100, **sentences: tuple[str, ...]
) -> RepairPlan:
    return RepairPlan(
        "disk.qcow2", Fingerprint(None, size, None), edits, new_size, Repair.ALL, **sentences
    )


def test_a_plan_shows_its_result() -> None:
    plan = plan_of(
        Edit(3, b"\3\4", b"AB", "One."), Edit(98, b"\x62\x63", b"CDEF", "Two."), new_size=104
    )
    result = plan.applied_to(BytesSource(OLD)).read_at(0, 200)
    assert result == OLD[:3] + b"AB" + OLD[5:98] + b"CDEF\0\0"
    assert (plan.written_bytes, plan.growth_bytes, plan.is_empty) == (6, 4, False)
    assert plan_of().is_empty
    assert not plan_of(new_size=101).is_empty


@pytest.mark.parametrize(
    ("edits", "new_size", "message"),
    [
        ((Edit(9, b"a", b"b", ""), Edit(3, b"a", b"b", "")), 100, "0x3 overlap or are not in"),
        ((Edit(3, b"ab", b"cd", ""), Edit(4, b"a", b"b", "")), 100, "0x4 overlap"),
        ((Edit(3, b"a", b"bc", ""),), 100, "0x3 must know 2 bytes before"),
        ((Edit(99, b"ab", b"cd", ""),), 101, "0x63 must know 1 bytes before"),
        ((Edit(100, b"", b"a", ""),), 100, "behind the file's new end"),
        ((), 99, "would cut the file to 99 bytes"),
    ],
)
def test_a_plan_refuses_nonsense(edits: tuple[Edit, ...], new_size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_of(*edits, new_size=new_size)


@given(
    st.binary(max_size=300),
    st.dictionaries(st.integers(0, 299), st.integers(0, 255), max_size=12),
    st.binary(max_size=20),
)
def test_edits_between_lead_from_one_to_the_other(
    before: bytes, changes: dict[int, int], more: bytes
) -> None:
    wanted = bytearray(before)
    for place, value in changes.items():
        if place < len(wanted):
            wanted[place] = value
    after = bytes(wanted) + more
    edits = edits_between(1000, before, after, "Why.", "dirty")
    result = bytearray(before.ljust(len(after), b"\xee"))
    last_end = None
    for edit in edits:
        start = edit.offset - 1000
        assert isinstance(edit.before, bytes)
        assert isinstance(edit.after, bytes)
        assert edit.before == before[start : start + edit.length_bytes]
        assert edit.before[:1] != edit.after[:1]
        assert edit.before[-1:] != edit.after[-1:] or len(edit.before) < len(edit.after)
        assert last_end is None or start > last_end + JOIN_BYTES
        assert (edit.why, edit.code) == ("Why.", "dirty")
        result[start : start + edit.length_bytes] = edit.after
        last_end = start + edit.length_bytes
    assert result == after


def test_edits_between_never_shorten() -> None:
    with pytest.raises(ValueError, match="3 bytes can't become 2"):
        edits_between(0, b"abc", b"ab", "Why.")


def test_a_fingerprint_is_of_the_file_that_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(OLD)
    with FileSource(path) as source:
        found = take_fingerprint(source)
        status = path.stat()
        assert found == Fingerprint((status.st_dev, status.st_ino), len(OLD), status.st_mtime_ns)
        os.utime(path, ns=(0, status.st_mtime_ns + 1))
        with pytest.raises(SourceError, match="was changed"):
            take_fingerprint(source)
        other = tmp_path / "other"
        other.write_bytes(OLD)
        other.replace(path)
        with pytest.raises(SourceError, match="was replaced by another file"):
            take_fingerprint(source)
        path.unlink()
        with pytest.raises(SourceError, match="is no longer there"):
            take_fingerprint(source)
    assert take_fingerprint(BytesSource(OLD)) == Fingerprint(None, len(OLD), None)


def test_text_of_a_plan() -> None:
    plan = plan_of(
        Edit(0x48, bytes(8), bytes(7) + b"\1", "The dirty bit is cleared.", "dirty"),
        Edit(0x1_0000, bytes(64 * KIB), b"\0\1" * (32 * KIB), "All refcounts are 1."),
        Edit(0x2_FFFF, b"\7", b"\7\7", "The last cluster is filled up."),
        Edit(0x3_0001, b"", b"\xff" * 4096, "A new table."),
        size=0x3_0000,
        new_size=0x3_1001,
        notes=("No guest byte changes.",),
        refused=("Snapshot 3: its L1 table can't be found.",),
    )
    assert list(iter_plan_text(plan)) == [
        "disk.qcow2: 4 edits, 69,642 bytes written.",
        "The file grows by 4 KiB to 200,705 bytes.",
        "",
        "0x48  The dirty bit is cleared. [dirty]",
        "  before  00 00 00 00 00 00 00 00",
        "  after   00 00 00 00 00 00 00 01",
        "",
        "0x1_0000  All refcounts are 1.",
        "  before  65,536 bytes of 00",
        "  after   00 01 00 01 00 01 00 01 00 01 00 01 00 01 00 01 … (65,536 bytes)",
        "",
        "0x2_ffff  The last cluster is filled up.",
        "  before  07 (then the file ends)",
        "  after   07 07",
        "",
        "0x3_0001  A new table.",
        "  before  (behind the end of the file)",
        "  after   4,096 bytes of ff",
        "",
        "Notes:",
        "  No guest byte changes.",
        "",
        "Left as it is:",
        "  Snapshot 3: its L1 table can't be found.",
    ]
    assert list(iter_plan_text(plan_of())) == ["disk.qcow2: nothing to change."]


def test_json_of_a_plan() -> None:
    long = os.urandom(JSON_BYTES + 1)
    plan = plan_of(
        Edit(0x48, b"\0", b"\1", "Why “so”?", "dirty"),
        Edit(99, b"\x63", long, "Long."),
        new_size=99 + len(long),
        notes=("Note.",),
    )
    assert json.loads("\n".join(iter_plan_json(plan))) == {
        "image": "disk.qcow2",
        "tier": "all",
        "file-bytes": 100,
        "new-file-bytes": 99 + len(long),
        "written-bytes": 1 + len(long),
        "notes": ["Note."],
        "refused": [],
        "edits": [
            {
                "offset": 0x48,
                "length": 1,
                "before": "00",
                "after": "01",
                "why": "Why “so”?",
                "code": "dirty",
                "tier": REPAIRS["dirty"].name.lower(),
            },
            {
                "offset": 99,
                "length": len(long),
                "before": "63",
                "after": long[:JSON_BYTES].hex(),
                "before-sha256": hashlib.sha256(b"\x63").hexdigest(),
                "after-sha256": hashlib.sha256(long).hexdigest(),
                "why": "Long.",
            },
        ],
    }
    assert json.loads("\n".join(iter_plan_json(plan_of())))["edits"] == []


def test_a_huge_edit_is_shown_in_a_line() -> None:
    made: list[int] = []

    def make(start: int, length: int) -> bytes:
        assert start % MIB in {0, 1, 16}
        made.append(length)
        return bytes(length)

    run = Deferred(64 * MIB, make)
    size = 100 * MIB
    [_, _, _, before, after] = iter_plan_text(
        plan_of(Edit(0, run, run, "x"), size=size, new_size=size)
    )
    assert before == "  before  67,108,864 bytes of 00"
    assert after == "  after   67,108,864 bytes of 00"
    assert max(made) <= MIB
