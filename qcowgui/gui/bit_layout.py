"""The words that a person looks at bit by bit: what each bit means, and which are wrong.

From the bit tables of `format.fields`, for the geometry and the version at hand. Knows no widgets.
Spec: 1.3, 1.7 to 1.10, 1.12
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.format import bitmaps, describe, fields
from qcowgui.format.entries import L2Entry, SubclusterKind
from qcowgui.format.features import Feature, FeatureClass
from qcowgui.format.fields import BitField
from qcowgui.format.geometry import COPIED, OFFSET_MASK, SUBCLUSTERS
from qcowgui.units import format_hex

translate = QCoreApplication.translate

WORD_BITS: Final = 64
_MAX_OFFSET_BITS: Final = 56
"""Host offsets have no more bits, even where a compressed descriptor has room. Spec: 1.9"""
_BITMAP_FLAG_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class BitPart:
    """Some neighbouring bits of a word, with what they say there.

    Attributes:
        field: Which bits, their name and meaning.
        text: Their value, for reading.
        wrong_mask: The bits of the word, in their places, that are set and must not be.
        reason: Why they must not be; empty when none is wrong.
    """

    field: BitField
    text: str
    wrong_mask: int = 0
    reason: str = ""

    @property
    def mask(self) -> int:
        """The bits in their places."""
        return (1 << self.field.high + 1) - (1 << self.field.low)


@dataclass(frozen=True, slots=True)
class BitWord:
    """A word with its parts.

    Attributes:
        title: What the word is.
        value: Its number.
        width_bits: How many bits it has, 1 to 64.
        parts: Every bit is in exactly one; the most significant first.
        marked: Index of the part that matters here, or None.
    """

    title: str
    value: int
    width_bits: int
    parts: tuple[BitPart, ...]
    marked: int | None = None

    @property
    def hex_text(self) -> str:
        """The number in hexadecimal, with all its digits, in groups of four."""
        digits = format_hex(self.value, max(4, self.width_bits))[2:]
        groups = [digits[max(0, end - 4) : end] for end in range(len(digits), 0, -4)]
        return "0x" + "_".join(reversed(groups))

    @property
    def decimal_text(self) -> str:
        """The number in decimal."""
        return f"{self.value:,}"

    @property
    def wrong_mask(self) -> int:
        """All bits that are set and must not be."""
        mask = 0
        for part in self.parts:
            mask |= part.wrong_mask
        return mask

    def part_at(self, bit: int) -> int:
        """The index in `parts` of the part with `bit`, 0 to `width_bits` - 1."""
        return next(
            index
            for index, part in enumerate(self.parts)
            if part.field.low <= bit <= part.field.high
        )


def l1_word(word: int) -> BitWord:
    """An L1 entry."""
    return _word(translate("bits", "L1 entry"), word, fields.L1_BITS)


def l2_words(entry: L2Entry, version: int) -> tuple[BitWord, ...]:
    """An L2 entry: one word, or with extended entries two.

    Args:
        entry: The entry.
        version: Of the format: 2 has no zero flag.
    """
    if entry.is_compressed:
        title = translate("bits", "Compressed cluster descriptor")
        word = _word(title, entry.word, _compressed_bits(entry.geometry.cluster_bits))
        reason = translate("bits", "must be zero for a compressed cluster")
        word = _marked(word, entry.word & COPIED, reason)
    else:
        layout = fields.L2_STANDARD_BITS
        if version < 3:
            layout = _without_zero_flag(layout, translate("bits", "must be zero in version 2"))
        elif entry.geometry.extended_l2:
            reason = translate("bits", "must be zero in extended entries: the bitmap says it")
            layout = _without_zero_flag(layout, reason)
        word = _word(translate("bits", "L2 entry"), entry.word, layout)
    if not entry.geometry.extended_l2:
        return (word,)
    return word, _subcluster_word(entry)


def refcount_table_word(word: int) -> BitWord:
    """An entry of the refcount table."""
    return _word(translate("bits", "Refcount table entry"), word, fields.REFCOUNT_TABLE_BITS)


def refcount_word(count: int, refcount_bits: int) -> BitWord:
    """An entry of a refcount block; it has 1 to 64 bits."""
    meaning = translate("bits", "how often the cluster is used")
    layout = (BitField("refcount", 0, refcount_bits - 1, meaning),)
    return _word(translate("bits", "Refcount"), count, layout, refcount_bits)


def bitmap_table_word(word: int) -> BitWord:
    """An entry of a bitmap's table."""
    found = _word(translate("bits", "Bitmap table entry"), word, fields.BITMAP_TABLE_BITS)
    wrong = word & 1 if word & OFFSET_MASK else 0
    return _marked(found, wrong, translate("bits", "must be zero beside an offset"))


def bitmap_flags_word(flags: int) -> BitWord:
    """The flags of an entry of the bitmap directory."""
    known = (
        (bitmaps.FLAG_IN_USE, translate("bits", "not saved cleanly: its bits can’t be trusted")),
        (bitmaps.FLAG_AUTO, translate("bits", "records as soon as the image is written")),
        (
            bitmaps.FLAG_EXTRA_DATA_COMPATIBLE,
            translate("bits", "usable by who does not know the extra data"),
        ),
    )
    single = {
        flag.bit_length() - 1: (describe.flags_text("flags", flag, {}), meaning, False)
        for flag, meaning in known
    }
    layout = tuple(_iter_single_bits(single, _BITMAP_FLAG_BITS, translate("bits", "must be zero")))
    return _word(translate("bits", "Bitmap flags"), flags, layout, _BITMAP_FLAG_BITS)


def feature_word(
    field_name: str, word: int, features: Sequence[Feature], marked_bit: int | None = None
) -> BitWord:
    """A set of feature bits of the header.

    Args:
        field_name: The header's field, a key of `describe.FEATURE_FIELDS`.
        word: Its value.
        features: The bits that are known or set, as an image has them.
        marked_bit: The bit that matters here, or None.
    """
    feature_class = describe.FEATURE_FIELDS[field_name]
    refused = feature_class is FeatureClass.INCOMPATIBLE
    single = {
        found.bit: (found.name, found.meaning, refused and not found.known)
        for found in features
        if found.feature_class is feature_class
    }
    layout = tuple(_iter_single_bits(single, WORD_BITS, translate("bits", "means nothing today")))
    found = _word(field_name, word, layout)
    return found if marked_bit is None else replace(found, marked=found.part_at(marked_bit))


# -------------------------------------------------------------------------------- inside


def _word(
    title: str, value: int, layout: Iterable[BitField], width_bits: int = WORD_BITS
) -> BitWord:
    """A word whose reserved bits are wrong where they are set."""
    parts = []
    for field in sorted(layout, key=lambda field: -field.low):
        part = BitPart(field, describe.bit_field_text(field, value))
        if field.reserved and value & part.mask:
            text = format_hex(field.extract(value), field.high - field.low + 1)
            part = replace(part, text=text, wrong_mask=value & part.mask, reason=field.meaning)
        parts.append(part)
    return BitWord(title, value, width_bits, tuple(parts))


def _marked(word: BitWord, wrong_mask: int, reason: str) -> BitWord:
    """`word` with more bits that are wrong, all of them in one part."""
    if not wrong_mask:
        return word
    index = word.part_at(wrong_mask.bit_length() - 1)
    part = replace(word.parts[index], wrong_mask=wrong_mask, reason=reason)
    return replace(word, parts=(*word.parts[:index], part, *word.parts[index + 1 :]))


def _without_zero_flag(layout: Iterable[BitField], meaning: str) -> tuple[BitField, ...]:
    return tuple(
        replace(field, meaning=meaning, reserved=True) if field.name == "reads_zero" else field
        for field in layout
    )


def _compressed_bits(cluster_bits: int) -> Iterator[BitField]:
    """The fields of a descriptor; with small clusters the offset has bits that must be zero."""
    for field in fields.compressed_bits(cluster_bits):
        if field.name == "host_offset" and field.high >= _MAX_OFFSET_BITS:
            yield replace(field, high=_MAX_OFFSET_BITS - 1)
            meaning = translate("bits", "must be zero")
            yield BitField("reserved", _MAX_OFFSET_BITS, field.high, meaning, reserved=True)
        else:
            yield field


def _subcluster_word(entry: L2Entry) -> BitWord:
    title = translate("bits", "Subcluster bitmap")
    if entry.is_compressed:
        meaning = translate("bits", "must be zero for a compressed cluster")
        layout = (BitField("reserved", 0, WORD_BITS - 1, meaning, reserved=True),)
        return _word(title, entry.bitmap, layout)
    invalid = sum(
        1 << index
        for index, kind in enumerate(entry.subclusters())
        if kind is SubclusterKind.INVALID
    )
    parts = []
    for field in sorted(fields.SUBCLUSTER_BITS, key=lambda field: -field.low):
        bits = field.extract(entry.bitmap)
        wrong = bits & invalid
        if entry.host_offset:
            reason = translate("bits", "a subcluster can’t have data and read as zeros")
        else:
            reason = translate("bits", "there is no host cluster that could have the data")
        parts.append(BitPart(field, _runs_text(bits), wrong << field.low, reason if wrong else ""))
    return BitWord(title, entry.bitmap, WORD_BITS, tuple(parts))


def _runs_text(bits: int) -> str:
    """Which subclusters have their bit set: "0–4, 7"."""
    if not bits:
        return translate("bits", "none")
    runs = []
    first: int | None = None
    for index in range(SUBCLUSTERS + 1):
        if bits >> index & 1:
            first = index if first is None else first
        elif first is not None:
            runs.append(f"{first}" if first == index - 1 else f"{first}–{index - 1}")
            first = None
    return ", ".join(runs)


def _iter_single_bits(
    single: dict[int, tuple[str, str, bool]], width_bits: int, rest_meaning: str
) -> Iterator[BitField]:
    """Fields of one bit each by (name, meaning, reserved), and what lies between as reserved."""
    start = 0
    for bit in sorted(single):
        if start < bit:
            yield BitField("reserved", start, bit - 1, rest_meaning, reserved=True)
        name, meaning, reserved = single[bit]
        yield BitField(name, bit, bit, meaning, reserved)
        start = bit + 1
    if start < width_bits:
        yield BitField("reserved", start, width_bits - 1, rest_meaning, reserved=True)
