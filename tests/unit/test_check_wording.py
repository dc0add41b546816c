"""What findings about entries and clusters say."""

from __future__ import annotations

import re

import pytest

from qcowgui.check.cluster_wording import (
    ClusterFacts,
    cluster_codes,
    cluster_finding,
    cluster_severity,
)
from qcowgui.check.entry_facts import EntryFacts, EntryPlace
from qcowgui.check.ranges import Ranges
from qcowgui.check.rule_context import QEMU_WEIGHT, RuleContext
from qcowgui.check.wording import (
    entry_codes,
    entry_finding,
    entry_severity,
    guest_range_text,
    guest_ranges_text,
)
from qcowgui.format.finding import CODES, REPAIRS, Repair, Severity
from qcowgui.format.geometry import Geometry
from qcowgui.units import GIB, MIB

COPIED = 1 << 63
CONTEXT = RuleContext(Geometry(16, extended_l2=True), 3, 0x60000, data_file_bytes=0x10000)
L2_PLACE = EntryPlace("L2 table", 0x40088, 17, 3, 0x3011_0000, 0x3012_0000)
L1_PLACE = EntryPlace("L1 table", 0x30018, 3, None, 0x3000_0000, 0x4000_0000)


def said(
    code: str, word: int, *, bitmap: int = 0, refcount: int | None = None, l1: bool = False
) -> tuple[str, str]:
    place = L1_PLACE if l1 else L2_PLACE
    finding = entry_finding(code, EntryFacts(place, word, CONTEXT, bitmap, refcount))
    return finding.message, finding.expected


@pytest.mark.parametrize("code", sorted(entry_codes()))
def test_every_entry_finding_is_complete(code: str) -> None:
    place = L1_PLACE if code.startswith("l1-") else L2_PLACE
    facts = EntryFacts(place, COPIED | 0x5_0201, CONTEXT, 0x3_0000_0005, 2)
    finding = entry_finding(code, facts, count=1)
    assert finding.message.startswith(f"{place} ")
    assert finding.message.endswith(".")
    assert "None" not in finding.message
    assert (finding.host_offset, finding.entry) == (place.host_offset, place.entry)
    assert (finding.guest_start, finding.guest_end) == (place.guest_start, place.guest_end)
    assert finding.raw == facts.word
    assert finding.severity is entry_severity(code)
    # QEMU itself leaves one of them on healthy images.
    assert (finding.severity is Severity.INFO) == (code == "snapshot-copied")
    assert re.match(r"[12]\.\d", finding.spec)
    assert finding.snapshot is None


@pytest.mark.parametrize("code", sorted(cluster_codes()))
def test_every_cluster_finding_is_complete(code: str) -> None:
    finding = cluster_finding(code, ClusterFacts(5, 3, 1, 65536, 65535, "guest 0x0"))
    assert finding.message.startswith("Host cluster 5 at 0x5_0000 ")
    assert finding.message.endswith(". It belongs to guest 0x0.")
    assert (finding.host_offset, finding.entry, finding.raw) == (0x50000, 5, 3)
    assert finding.severity is cluster_severity(code) > Severity.INFO


def test_what_qemu_counts_has_a_sentence() -> None:
    assert QEMU_WEIGHT.keys() <= entry_codes()
    assert entry_codes() | cluster_codes() <= CODES.keys()
    assert not entry_codes() & cluster_codes()
    # What QEMU calls corruption is that for us too, or at least not less than suspicious.
    assert all(entry_severity(code) >= Severity.SUSPICIOUS for code in QEMU_WEIGHT)


def test_repairs_are_named_for_known_codes() -> None:
    assert REPAIRS.keys() <= CODES.keys()
    assert Repair.NONE not in REPAIRS.values()
    assert entry_finding("l2-copied", EntryFacts(L2_PLACE, 1, CONTEXT)).repair is Repair.ALL
    assert cluster_finding("leak", ClusterFacts(1, 1, 0, 512, 1)).repair is Repair.LEAKS


def test_an_l1_entry() -> None:
    message, expected = said("l2-offset-unaligned", COPIED | 0x40200, l1=True)
    assert message == (
        "L1[3] names an L2 table at 0x4_0200, which is no cluster boundary. "
        "Guest 0x3000_0000 to 0x4000_0000 can't be read."
    )
    assert expected == "a multiple of 65,536"
    message, expected = said("l1-reserved-bits", 0x40000 | 1 << 60 | 4, l1=True)
    assert "reserved bits 0x1000000000000004 set" in message
    assert expected == "0x0000000000040000"
    message, _ = said("l2-truncated", 0x5_8000, l1=True)
    assert "of which the last 32,768 bytes lie beyond the end of the file at 0x6_0000" in message


def test_an_l2_entry() -> None:
    message, expected = said("data-beyond-eof", 0x70000)
    assert message == (
        "L1[3]/L2[17] names a cluster at 0x7_0000, beyond the end of the file at 0x6_0000. "
        "Guest 0x3011_0000 to 0x3012_0000 is lost; QEMU reads zeros there without an error."
    )
    assert expected == "below 0x6_0000"
    message, expected = said("subcluster-conflict", 0x50000, bitmap=0x0F << 32 | 0xFF_000E)
    assert "subclusters 1 to 3 both" in message
    message, expected = said("subclusters-without-cluster", 0, bitmap=0b1011 | 1 << 40 | 1 << 31)
    assert "subclusters 0 to 1, 3, 31 hold data" in message
    assert expected == f"bitmap {1 << 40:#018x}"
    message, expected = said("data-file-offset", 0x50000)
    assert expected == "0x3011_0000"


def test_a_compressed_entry() -> None:
    word = 1 << 62 | 1 << 54 | 0x70123
    message, _ = said("compressed-beyond-eof", word)
    assert "claims compressed data at 0x7_0123 to 0x7_0400" in message
    message, expected = said("compressed-copied", word | COPIED)
    assert expected == f"{word:#018x}"


@pytest.mark.parametrize(
    ("word", "refcount", "state", "expected"),
    [
        (0x50000, 1, "clear, but the refcount of what it names is 1:", COPIED | 0x50000),
        (COPIED | 0x50000, 2, "set, but the refcount of what it names is 2:", 0x50000),
        (COPIED | 0x50000, 0, "set, but the refcount of what it names is 0:", 0x50000),
    ],
)
def test_the_copied_flag(word: int, refcount: int, state: str, expected: int) -> None:
    for code, l1 in (("l1-copied", True), ("l2-copied", False)):
        message, wanted = said(code, word, refcount=refcount, l1=l1)
        assert f"has COPIED {state}" in message
        assert wanted == f"{expected:#018x}"


def test_a_refcount_table_entry() -> None:
    place = EntryPlace("refcount table", 0x10008, 1)
    finding = entry_finding(
        "refcount-block-beyond-eof", EntryFacts(place, 0xFFFF_FFFF_FFFF_0000, CONTEXT)
    )
    assert finding.message.startswith("Refcount table entry 1 names a block at 0xffff_ffff_ffff_0")
    assert (finding.guest_start, finding.guest_end) == (None, None)
    assert finding.repair is Repair.ALL


def test_whose_table_it_is_and_how_often() -> None:
    place = L2_PLACE._replace(snapshot=4)
    facts = EntryFacts(place, 0x50200, CONTEXT, bitmap=1)
    finding = entry_finding("data-cluster-unaligned", facts, count=1000)
    assert finding.message.startswith("L1[3]/L2[17] of snapshot 4 names")
    assert finding.message.endswith("1,000 references to the table make this 1,000 times wrong.")
    assert (finding.count, finding.snapshot) == (1000, 4)
    assert str(EntryPlace("L2 table", 0, 5)) == "L2[5]"


def test_no_guest_data_is_affected_behind_the_disk() -> None:
    place = L2_PLACE._replace(guest_start=None, guest_end=None)
    finding = entry_finding("data-beyond-eof", EntryFacts(place, 0x70000, CONTEXT))
    assert finding.message.endswith("the file at 0x6_0000. No guest data is affected.")


def test_cluster_sentences_have_the_numbers() -> None:
    leak = cluster_finding("leak", ClusterFacts(1000, 1, 0, 65536, 65535))
    assert leak.message == (
        "Host cluster 1,000 at 0x3e8_0000 counts as used (refcount 1), but nothing refers to it."
    )
    assert (leak.severity, leak.raw, leak.expected) == (Severity.LEAK, 1, "0")
    low = cluster_finding("refcount-too-low", ClusterFacts(2, 1, 3, 512, 1))
    assert "has refcount 1 but 3 references" in low.message
    most = cluster_finding("references-above-maximum", ClusterFacts(2, 1, 2, 512, 1))
    assert "counts to 1." in most.message


@pytest.mark.parametrize(
    ("spans", "complete", "text"),
    [
        ((), True, ""),
        (((5 * GIB, 5 * GIB + GIB // 2),), True, "guest 5 GiB – 5.5 GiB"),
        (((0, MIB), (2 * MIB, 3 * MIB)), True, "guest 0 B – 1 MiB, 2 MiB – 3 MiB"),
        (((0, MIB),), False, "guest 0 B – 1 MiB and others"),
        (
            tuple((n * MIB, n * MIB + 512) for n in range(0, 10, 2)),
            True,
            "guest 0 B – 512 B, 0x20_0000 – 0x20_0200, 0x40_0000 – 0x40_0200 and 2 others",
        ),
        (
            tuple((n * MIB, (n + 1) * MIB) for n in range(0, 10, 2)),
            False,
            "guest 0 B – 1 MiB, 2 MiB – 3 MiB, 4 MiB – 5 MiB and 2 others or more",
        ),
    ],
)
def test_guest_ranges(spans: tuple[tuple[int, int], ...], complete: bool, text: str) -> None:
    assert guest_ranges_text(Ranges(spans, complete)) == text


def test_one_guest_range() -> None:
    assert guest_range_text(5 * GIB, 5 * GIB + 65536) == "guest 0x1_4000_0000 – 0x1_4001_0000"
