"""What the rules on entries count, against `qemu-img check`.

The entries name nothing inside the file, so that no refcount is wrong: what QEMU counts is what the
entries' own faults are worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qcowgui.check.l1_rules import judge_l1
from qcowgui.check.l2_rules import judge_l2
from qcowgui.check.rule_context import QEMU_WEIGHT, Hit, RuleContext
from qcowgui.format.tables import decode_l2, parse_words
from qcowgui.image.inspect import inspect
from tests.support import oracle
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

COPIED = 1 << 63
COMPRESSED = 1 << 62
FAR = 1 << 40
UNALIGNED = 0x200

V3: dict[str, Any] = {"cluster_bits": 16}
V2: dict[str, Any] = {"cluster_bits": 16, "version": 2}
SMALL: dict[str, Any] = {"cluster_bits": 9, "size": 1 << 20}
LARGE: dict[str, Any] = {"cluster_bits": 21, "size": 1 << 28}
EXTENDED: dict[str, Any] = {"cluster_bits": 16, "extended_l2": True}
DATA_FILE: dict[str, Any] = {"cluster_bits": 16, "data_file": "disk.raw"}
BOTH: dict[str, Any] = EXTENDED | DATA_FILE

STANDARD_WORDS = [
    1 << 1,
    1 << 61,
    1 << 56 | 1 << 8,
    1,
    1 | 1 << 57,
    COPIED,
    COPIED | 1,
    FAR,
    FAR | 1,
    FAR | UNALIGNED,
    FAR | UNALIGNED | 1,
    FAR | 1 << 58,
    COMPRESSED | FAR,
    COMPRESSED | FAR | COPIED,
]
EXTENDED_ENTRIES = [
    (FAR, 1),
    (FAR | UNALIGNED, 0),
    (FAR | UNALIGNED, 1 << 32),
    (FAR | UNALIGNED, 1),
    (FAR | UNALIGNED, 1 | 1 << 32),
    (FAR, 1 | 1 << 32),
    (0, 1),
    (0, 1 | 1 << 32),
    (COPIED, 1),
    (COPIED, 0),
    (1, 0),
    (1 << 57, 1),
    (COMPRESSED | FAR, 0),
    (COMPRESSED | FAR, 5),
    (COMPRESSED | FAR | COPIED, 5),
]


def counted(path: Path) -> int:
    """The corruptions that QEMU should count, by the rules, over the active tables."""
    report = inspect(path)
    context = RuleContext.of(report)
    assert context
    geometry, data = context.geometry, path.read_bytes()
    l1_end = report.header.l1_table_offset + report.header.l1_size * 8
    l1 = parse_words(data[report.header.l1_table_offset : l1_end])
    hits: list[Hit] = judge_l1(l1, context)
    for index, word in enumerate(l1.tolist()):
        table = word & 0xFF_FFFF_FFFF_FE00
        if not table or table >= len(data):
            continue
        words = parse_words(data[table : table + geometry.cluster_bytes])
        bitmaps = None
        if geometry.extended_l2:
            words, bitmaps = words[0::2].copy(), words[1::2].copy()
        start = index * geometry.l1_coverage_bytes
        view = decode_l2(
            words,
            bitmaps,
            geometry,
            version=context.version,
            data_file_guest_offset=start if context.has_data_file else None,
        )
        hits += judge_l2(view, context, first_guest_offset=start)
    return sum(QEMU_WEIGHT.get(hit.code, 0) * len(hit.indices) for hit in hits)


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        *((options, [(word, 0)]) for options in (V3, V2, DATA_FILE) for word in STANDARD_WORDS),
        *((options, [entry]) for options in (EXTENDED, BOTH) for entry in EXTENDED_ENTRIES),
        (SMALL, [(COMPRESSED | 1 << 57, 0)]),
        (SMALL, [(COMPRESSED | 0xC00, 0), (COMPRESSED | 0xBFF, 0), (COMPRESSED | 0xE00, 0)]),
        (SMALL, [(COMPRESSED | 1 << 61 | 0xA00, 0)]),
        (LARGE, [(COMPRESSED | 1 << 48, 0), (COMPRESSED | COPIED | 1 << 48, 0)]),
        (V3, [(word, 0) for word in STANDARD_WORDS]),
        (EXTENDED, EXTENDED_ENTRIES),
    ],
)
def test_entries(options: dict[str, Any], entries: list[tuple[int, int]], tmp_path: Path) -> None:
    builder = ImageBuilder(**options)
    builder.write(0, pattern(builder.cluster_bytes))
    for index, (word, bitmap) in enumerate(entries):
        builder.raw_l2_entry(1 + index, word, bitmap)
    image = builder.build()
    path = tmp_path / "image.qcow2"
    path.write_bytes(image.to_bytes())
    if image.data_file is not None:
        (tmp_path / "disk.raw").write_bytes(image.data_file.to_bytes())
    answer = oracle.check(path)
    # An entry that names clusters inside the file changes refcounts as well.
    refcounts = answer.messages.count("refcount=")
    assert answer.corruptions - refcounts == counted(path)
    assert answer.check_errors == 0


@pytest.mark.parametrize(
    "word", [FAR, FAR | UNALIGNED, FAR | 1 << 60, COPIED | FAR | 1, FAR | 1 << 56]
)
def test_l1_entries(word: int, tmp_path: Path) -> None:
    builder = ImageBuilder(cluster_bits=12, size=1 << 26)
    builder.write(0, pattern(builder.cluster_bytes))
    builder.raw_l1_entry(3, word)
    path = tmp_path / "image.qcow2"
    path.write_bytes(builder.build().to_bytes())
    answer = oracle.check(path)
    copied = answer.messages.count("OFLAG_COPIED")
    assert answer.corruptions - copied == counted(path) > 0
