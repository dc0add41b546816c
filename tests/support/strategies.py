"""Hypothesis strategies: small images of every kind, and ways to break them.

Images are described by plain values (`ImageCase`) and built by `build`, so that a failing example
prints as a recipe and shrinks towards the plainest image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import append, flip_bits, get_field, set_field, truncate_at
from tests.support.layout import HEADER_FIELDS
from tests.support.options import OptionKeywords

MAX_GUEST_CLUSTERS = 80
"""More than one L2 table of the smallest clusters."""

INTERESTING = (
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    16,
    21,
    22,
    31,
    63,
    64,
    103,
    104,
    105,
    109,
    112,
    120,
    0x200,
    0x1FF,
    0x1000,
    0xFFFF,
    0x10000,
    0x10001,
    1 << 24,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 40,
    (1 << 56) - 512,
    1 << 56,
    (1 << 63) - 512,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 512,
    (1 << 64) - 1,
)
"""Numbers at the borders of fields, masks, limits and 32- or 64-bit arithmetic."""


@dataclass(frozen=True)
class Content:
    """What to do with one guest cluster.

    Attributes:
        kind: "standard", "compressed", "zero", "zero_allocated", "subclusters", "leak", "gap" or
            "snapshot"; the last three ignore the cluster.
        seed: Makes the data differ; for subclusters the masks too.
    """

    kind: str
    guest_cluster_index: int
    seed: int


@dataclass(frozen=True)
class ImageCase:
    """A small image: options and content, in the order of writing."""

    options: OptionKeywords
    contents: tuple[Content, ...]
    with_bitmap: bool = False

    def build(self) -> BuiltImage:
        """Return the image."""
        builder = ImageBuilder(**self.options)
        for number, content in enumerate(self.contents):
            _apply(builder, content, number)
        if self.with_bitmap:
            builder.bitmap("bitmap", granularity_bits=9, set_ranges=[(0, 1024)])
        return builder.build()


def _apply(builder: ImageBuilder, content: Content, number: int) -> None:
    index, seed, cluster_bytes = content.guest_cluster_index, content.seed, builder.cluster_bytes
    if content.kind == "standard":
        builder.write(index * cluster_bytes, pattern(cluster_bytes, seed))
    elif content.kind == "compressed":
        builder.write_compressed(index, text(cluster_bytes // 2, seed))
    elif content.kind in ("zero", "zero_allocated"):
        builder.zero(index, allocated=content.kind == "zero_allocated")
    elif content.kind == "subclusters":
        masks = int.from_bytes(pattern(8, seed), "big")
        alloc_mask = masks & 0xFFFFFFFF
        zero_mask = masks >> 32 & ~alloc_mask
        builder.subclusters(index, alloc_mask, zero_mask, pattern(cluster_bytes, seed))
    elif content.kind == "leak":
        builder.leak(1 + seed % 3)
    elif content.kind == "gap":
        builder.gap(1 + seed % 3)
    else:
        builder.snapshot(f"snapshot {number}", vm_state=pattern(seed % 700, seed))


@st.composite
def image_options(draw: st.DrawFn, *, data_file: bool = False) -> OptionKeywords:
    """Draw geometry, version and features that go together; clusters of 512 bytes mostly."""
    version = draw(st.sampled_from([3, 2]))
    extended_l2 = version == 3 and not data_file and draw(st.booleans())
    # 16 KiB is the smallest cluster whose subclusters have a whole sector.
    cluster_bits = 14 if extended_l2 else draw(st.sampled_from([9, 9, 9, 10, 12]))
    clusters = draw(st.integers(1, MAX_GUEST_CLUSTERS))
    tail_bytes = draw(st.integers(0, (1 << cluster_bits) // 512 - 1)) * 512
    options: OptionKeywords = {
        "cluster_bits": cluster_bits,
        "size": (clusters << cluster_bits) - tail_bytes,
        "version": version,
        "short_last_cluster": draw(st.booleans()),
    }
    if version == 3:
        options["refcount_order"] = draw(st.sampled_from([4, 3, 5, 6]))
        options["extended_l2"] = extended_l2
        options["header_tail"] = draw(st.sampled_from([b"", b"\x5a" * 8]))
        options["compression_type"] = 0 if data_file else draw(st.integers(0, 1))
        options["compatible"] = draw(st.sampled_from([0, 1, 1 << 40]))
    if data_file and version == 3:
        options["data_file"] = "guest.data"
    return options


@st.composite
def image_cases(
    draw: st.DrawFn,
    *,
    snapshots: bool = True,
    bitmaps: bool = True,
    leaks: bool = False,
    max_contents: int = 12,
) -> ImageCase:
    """Draw a small image that is clean in a check, unless `leaks` are allowed."""
    options = draw(image_options())
    version = options.get("version", 3)
    kinds = ["standard", "compressed", "gap"]
    if version == 3:
        kinds += ["zero", "zero_allocated"]
    if options.get("extended_l2"):
        kinds += ["subclusters"]
    if snapshots:
        kinds += ["snapshot"]
    if leaks:
        kinds += ["leak"]
    clusters = -(-options["size"] // (1 << options["cluster_bits"]))
    content = st.builds(
        Content,
        kind=st.sampled_from(kinds),
        guest_cluster_index=st.integers(0, clusters - 1),
        seed=st.integers(0, 999),
    )
    contents = tuple(draw(st.lists(content, max_size=max_contents)))
    with_bitmap = bitmaps and version == 3 and draw(st.booleans())
    return ImageCase(options, contents, with_bitmap)


@dataclass(frozen=True)
class FieldSet:
    """A header field is given a value."""

    name: str
    value: int

    def apply(self, image: BuiltImage) -> BuiltImage:
        """Return the image with the field set."""
        return set_field(image, self.name, self.value)


@dataclass(frozen=True)
class WordSet:
    """Eight bytes of a metadata structure are given a value; a table's word or half of two."""

    structure: str
    host_offset: int
    value: int

    def apply(self, image: BuiltImage) -> BuiltImage:
        """Return the image with the word set."""
        return image.edited(self.host_offset, self.value.to_bytes(8, "big"))


@dataclass(frozen=True)
class BitsFlipped:
    """Some bits of one byte are flipped."""

    structure: str
    host_offset: int
    mask: int

    def apply(self, image: BuiltImage) -> BuiltImage:
        """Return the image with the bits flipped."""
        return flip_bits(image, self.host_offset, mask=self.mask)


@dataclass(frozen=True)
class Truncated:
    """The file ends early."""

    length: int

    def apply(self, image: BuiltImage) -> BuiltImage:
        """Return the image cut."""
        return truncate_at(image, self.length)


@dataclass(frozen=True)
class Appended:
    """The file has bytes that do not belong to it."""

    data: bytes

    def apply(self, image: BuiltImage) -> BuiltImage:
        """Return the longer image."""
        return append(image, self.data)


Mutation = FieldSet | WordSet | BitsFlipped | Truncated | Appended


@st.composite
def field_sets(draw: st.DrawFn, image: BuiltImage) -> FieldSet:
    """Draw a header field and an interesting value that it does not have."""
    header_bytes = image.layout.header.length
    names = [n for n, (offset, width) in HEADER_FIELDS.items() if offset + width <= header_bytes]
    name = draw(st.sampled_from(names))
    width_bits = 8 * HEADER_FIELDS[name][1]
    current = get_field(image, name)
    near = (current - 1, current + 1, current ^ 1 << width_bits - 1)
    values = {value for value in (*INTERESTING, *near) if 0 <= value < 1 << width_bits}
    return FieldSet(name, draw(st.sampled_from(sorted(values - {current}))))


@st.composite
def word_sets(draw: st.DrawFn, image: BuiltImage) -> WordSet:
    """Draw a word of a metadata structure; flag bits, interesting numbers and real offsets."""
    spans = {name: span for name, span in image.layout.structures() if span.length >= 8}
    name = draw(st.sampled_from(sorted(spans)))
    used_words = spans[name].length // 8
    word_index = draw(st.integers(0, min(used_words, MAX_GUEST_CLUSTERS) - 1))
    offsets = sorted(span.offset for span in spans.values())
    base = draw(st.sampled_from(INTERESTING) | st.sampled_from(offsets))
    flags = draw(st.sampled_from([0, 1 << 63, 1 << 62, 3 << 62, 1]))
    word = WordSet(name, spans[name].offset + 8 * word_index, base | flags)
    assume(image.read_integer(word.host_offset, 8) != word.value)
    return word


@st.composite
def bits_flipped(draw: st.DrawFn, image: BuiltImage) -> BitsFlipped:
    """Draw a byte of a metadata structure, or of a payload, and the bits to flip."""
    spans: Mapping[str, tuple[int, int]] = dict(image.layout.structures()) | {
        f"payload[{index}]": span for index, span in image.layout.payloads.items()
    }
    file_bytes = len(image.file)
    present = {name: span for name, span in spans.items() if span[1] and span[0] < file_bytes}
    name = draw(st.sampled_from(sorted(present)))
    offset, length = present[name]
    relative_offset = draw(st.integers(0, min(length, file_bytes - offset) - 1))
    return BitsFlipped(name, offset + relative_offset, draw(st.integers(1, 255)))


def edits(image: BuiltImage) -> st.SearchStrategy[Mutation]:
    """Draw a change of bytes within the file."""
    return st.one_of(field_sets(image), word_sets(image), bits_flipped(image))


def length_changes(image: BuiltImage) -> st.SearchStrategy[Mutation]:
    """Draw another length of the file."""
    return st.one_of(
        st.builds(Truncated, st.integers(0, len(image.file) - 1)),
        st.builds(Appended, st.binary(min_size=1, max_size=600)),
    )


@dataclass(frozen=True)
class MutatedImage:
    """A healthy image and what became of it."""

    case: ImageCase
    mutations: tuple[Mutation, ...]
    healthy: BuiltImage
    mutated: BuiltImage

    def __repr__(self) -> str:
        return f"MutatedImage({self.case!r}, {self.mutations!r})"


@st.composite
def mutated_images(draw: st.DrawFn, *, max_edits: int = 3) -> MutatedImage:
    """Draw a small image, up to `max_edits` edits of it, then perhaps another length."""
    case = draw(image_cases(leaks=True))
    healthy = mutated = case.build()
    chosen: list[Mutation] = []
    for _ in range(draw(st.integers(0, max_edits))):
        chosen.append(draw(edits(mutated)))
        mutated = chosen[-1].apply(mutated)
    if not chosen or draw(st.booleans()):
        chosen.append(draw(length_changes(mutated)))
        mutated = chosen[-1].apply(mutated)
    # Two edits may undo each other.
    assume(mutated.to_bytes() != healthy.to_bytes())
    return MutatedImage(case, tuple(chosen), healthy, mutated)
