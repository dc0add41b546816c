"""Named damages of the rich image (`base_images.rich`), one per kind of fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.support.base_images import pattern
from tests.support.built import BuiltImage
from tests.support.damage import (
    append,
    flip_bits,
    get_l1_entry,
    get_l2_entry,
    get_refcount,
    poke,
    set_feature_bit,
    set_field,
    set_integer,
    set_l1_entry,
    set_l2_entry,
    set_refcount,
    truncate_at,
)
from tests.support.layout import Span
from tests.support.preamble import EXT_BITMAPS, EXT_FEATURE_NAMES

COPIED = 1 << 63
COMPRESSED_GUEST_CLUSTER = 8
FAR_OFFSET = 1 << 40


@dataclass(frozen=True)
class Damage:
    """One way in which an image is broken.

    Attributes:
        sentence: What is wrong with the result.
        apply: Takes the healthy rich image and returns the damaged one.
    """

    name: str
    sentence: str
    apply: Callable[[BuiltImage], BuiltImage]


DAMAGES: dict[str, Damage] = {}


def _register(name: str, sentence: str, apply: Callable[[BuiltImage], BuiltImage]) -> None:
    if name in DAMAGES:
        raise ValueError(f"two damages are named {name}")
    DAMAGES[name] = Damage(name, sentence, apply)


def _required(span: Span | None) -> Span:
    if span is None:
        raise LookupError("the damage needs a structure that this image has not")
    return span


def _register_fields() -> None:
    for name, field_name, value, sentence in (
        ("magic", "magic", 0x51464920, "The magic is wrong in its last byte."),
        ("version_1", "version", 1, "The version is that of the old format."),
        ("version_4", "version", 4, "The version does not exist."),
        ("cluster_bits_8", "cluster_bits", 8, "Clusters are smaller than the format allows."),
        ("cluster_bits_22", "cluster_bits", 22, "Clusters are larger than QEMU allows."),
        ("cluster_bits_max", "cluster_bits", 0xFFFFFFFF, "The cluster size is astronomic."),
        ("size_max", "size", (1 << 64) - 1, "The virtual size is the largest number."),
        ("crypt_method_3", "crypt_method", 3, "The encryption method is unknown."),
        ("l1_size_zero", "l1_size", 0, "The L1 has no entries for a disk that needs some."),
        ("l1_size_huge", "l1_size", 0x7FFFFFFF, "The L1 would need 16 GiB."),
        ("l1_unaligned", "l1_table_offset", 0x1234567890ABCDEF, "The L1 offset is nonsense."),
        ("l1_beyond_eof", "l1_table_offset", FAR_OFFSET, "The L1 is beyond the end of the file."),
        ("no_refcount_table", "refcount_table_clusters", 0, "The refcount table has no clusters."),
        ("refcount_table_unaligned", "refcount_table_offset", 0x1001, "It is not aligned."),
        ("refcount_table_huge", "refcount_table_clusters", 0x00020001, "It exceeds 8 MiB."),
        ("refcount_table_beyond_eof", "refcount_table_offset", FAR_OFFSET, "It is past the end."),
        ("refcount_order_7", "refcount_order", 7, "Refcounts have 128 bits."),
        ("nb_snapshots_huge", "nb_snapshots", 0x7FFFFFFF, "There are 2 billion snapshots."),
        ("nb_snapshots_3", "nb_snapshots", 3, "The third snapshot does not exist."),
        ("snapshots_unaligned", "snapshots_offset", 0x1234, "The snapshot table is unaligned."),
        ("snapshots_beyond_eof", "snapshots_offset", FAR_OFFSET, "It is past the end."),
        ("length_96", "header_length", 96, "The header is shorter than version 3 needs."),
        ("length_109", "header_length", 109, "Extensions would start in the middle."),
        ("length_max", "header_length", 0xFFFFFFFF, "The header is 4 GiB long."),
        ("backing_outside", "backing_file_offset", 0x5000, "The name lies in guest space."),
        ("backing_crossing", "backing_file_offset", 0xFFC, "The name runs over cluster 0."),
        ("backing_long", "backing_file_size", 1024, "The name is longer than 1023 bytes."),
        ("zstd_without_bit", "compression_type", 1, "Zstd without its incompatible bit."),
        ("compression_type_2", "compression_type", 2, "The compression type is unknown."),
    ):
        _register(
            f"header_{name}",
            sentence,
            partial(set_field, name=field_name, value=value),
        )


def _register_features() -> None:
    for name, field_name, bit, sentence in (
        ("dirty", "incompatible_features", 0, "The image was not closed cleanly."),
        ("corrupt", "incompatible_features", 1, "The image is marked corrupt."),
        ("data_file_missing", "incompatible_features", 2, "A data file is used but not named."),
        ("compression_bit_alone", "incompatible_features", 3, "The bit is set with deflate."),
        ("extended_l2_small", "incompatible_features", 4, "Subclusters would have 128 bytes."),
        ("incompatible_5", "incompatible_features", 5, "An incompatible feature is unknown."),
        ("incompatible_40", "incompatible_features", 40, "One in the upper half is unknown."),
        ("autoclear_raw_alone", "autoclear_features", 1, "Raw data file without a data file."),
        ("autoclear_unknown", "autoclear_features", 7, "An autoclear feature is unknown."),
        ("compatible_unknown", "compatible_features", 63, "A compatible feature is unknown."),
    ):
        _register(
            f"feature_{name}",
            sentence,
            partial(set_feature_bit, field_name=field_name, bit=bit),
        )


def _set_in_extension(
    image: BuiltImage, extension_type: int, relative_offset: int, width: int, value: int
) -> BuiltImage:
    """`relative_offset` counts from the extension's type word."""
    offset = image.layout.extension(extension_type).offset + relative_offset
    return set_integer(image, offset, width, value)


def _register_extensions() -> None:
    for name, extension_type, relative_offset, width, value, sentence in (
        ("overlong", EXT_FEATURE_NAMES, 4, 4, 0x7FFFFFFF, "An extension of 2 GiB."),
        ("past_cluster", EXT_FEATURE_NAMES, 4, 4, 4000, "An extension runs over cluster 0."),
        ("nb_bitmaps_zero", EXT_BITMAPS, 8, 4, 0, "The bitmaps extension counts none."),
        ("nb_bitmaps_9", EXT_BITMAPS, 8, 4, 9, "It counts more bitmaps than there are."),
        ("bitmaps_reserved", EXT_BITMAPS, 12, 4, 1, "Its reserved field is not zero."),
        ("directory_size_huge", EXT_BITMAPS, 16, 8, 1 << 60, "The directory is an exabyte."),
        ("directory_unaligned", EXT_BITMAPS, 24, 8, 0x1008, "The directory is not aligned."),
        ("directory_beyond_eof", EXT_BITMAPS, 24, 8, FAR_OFFSET, "It is past the end."),
    ):
        _register(
            f"extension_{name}",
            sentence,
            partial(
                _set_in_extension,
                extension_type=extension_type,
                relative_offset=relative_offset,
                width=width,
                value=value,
            ),
        )


def _register_tables() -> None:
    for name, sentence, apply in (
        (
            "l1_names_itself",
            "An L1 entry names the L1's own cluster.",
            lambda image: set_l1_entry(image, 0, COPIED | image.layout.l1.offset),
        ),
        (
            "l1_reserved",
            "An L1 entry has a reserved bit set.",
            lambda image: set_l1_entry(image, 0, get_l1_entry(image, 0) | 1 << 60),
        ),
        (
            "l2_table_unaligned",
            "An L1 entry names an L2 table that is not aligned.",
            lambda image: set_l1_entry(image, 0, get_l1_entry(image, 0) | 0x200),
        ),
        (
            "l2_table_beyond_eof",
            "An L1 entry names an L2 table past the end of the file.",
            lambda image: set_l1_entry(image, 0, COPIED | FAR_OFFSET),
        ),
        (
            "l1_copied_cleared",
            "An L1 entry lacks COPIED though its table's refcount is 1.",
            lambda image: set_l1_entry(image, 0, get_l1_entry(image, 0) & ~COPIED),
        ),
        (
            "l2_reserved",
            "An L2 entry has a reserved bit set.",
            lambda image: set_l2_entry(image, 0, get_l2_entry(image, 0) | 1 << 57),
        ),
        (
            "data_unaligned",
            "An L2 entry names a cluster that is not aligned.",
            lambda image: set_l2_entry(image, 0, get_l2_entry(image, 0) | 0x200),
        ),
        (
            "data_beyond_eof",
            "An L2 entry names a cluster past the end of the file.",
            lambda image: set_l2_entry(image, 0, FAR_OFFSET),
        ),
        (
            "data_at_zero",
            "An L2 entry says allocated, at host offset 0.",
            lambda image: set_l2_entry(image, 0, COPIED),
        ),
        (
            "data_on_refcount_block",
            "An L2 entry names the refcount block.",
            lambda image: set_l2_entry(image, 0, COPIED | image.layout.refcount_blocks[0].offset),
        ),
        (
            "data_shared",
            "Two guest clusters are on one host cluster.",
            lambda image: set_l2_entry(image, 1, get_l2_entry(image, 2)),
        ),
        (
            "data_copied_wrong",
            "An L2 entry's COPIED flag is the opposite of what its refcount says.",
            lambda image: set_l2_entry(image, 2, get_l2_entry(image, 2) ^ COPIED),
        ),
    ):
        _register(f"table_{name}", sentence, apply)


def _lose_refcounts(image: BuiltImage) -> BuiltImage:
    return poke(image, *_zeros(image.layout.refcount_blocks[0]))


def _zeros(span: Span) -> tuple[int, bytes]:
    return span.offset, bytes(span.length)


def _host_cluster_of(image: BuiltImage, guest_cluster_index: int) -> int:
    return image.layout.data[guest_cluster_index].offset >> image.layout.cluster_bits


def _change_refcount(image: BuiltImage, guest_cluster_index: int, change: int) -> BuiltImage:
    cluster = _host_cluster_of(image, guest_cluster_index)
    return set_refcount(image, cluster, get_refcount(image, cluster) + change)


def _set_refcount_table_entry(image: BuiltImage, index: int, word: int) -> BuiltImage:
    return set_integer(image, image.layout.refcount_table.offset + 8 * index, 8, word)


def _register_refcounts() -> None:
    for name, sentence, apply in (
        ("all_zero", "Every cluster counts as free.", _lose_refcounts),
        (
            "too_low",
            "A shared cluster's refcount is one too low.",
            lambda image: _change_refcount(image, 0, -1),
        ),
        (
            "too_high",
            "A cluster's refcount is one too high: a leak.",
            lambda image: _change_refcount(image, 0, 1),
        ),
        (
            "header_free",
            "The header's cluster counts as free.",
            lambda image: set_refcount(image, 0, 0),
        ),
        (
            "block_missing",
            "The refcount table's only entry is zero.",
            lambda image: _set_refcount_table_entry(image, 0, 0),
        ),
        (
            "block_reserved",
            "A refcount table entry has a reserved bit set.",
            lambda image: _set_refcount_table_entry(
                image, 0, image.layout.refcount_blocks[0].offset | 1
            ),
        ),
        (
            "block_unaligned",
            "A refcount block is not aligned.",
            lambda image: _set_refcount_table_entry(
                image, 0, image.layout.refcount_blocks[0].offset | 0x200
            ),
        ),
        (
            "block_twice",
            "Two refcount table entries name the same block.",
            lambda image: _set_refcount_table_entry(
                image, 1, image.layout.refcount_blocks[0].offset
            ),
        ),
        (
            "block_beyond_eof",
            "A refcount block is past the end of the file.",
            lambda image: _set_refcount_table_entry(image, 1, FAR_OFFSET),
        ),
        (
            "block_overflow",
            "A refcount block is at the end of the 64-bit address space.",
            lambda image: _set_refcount_table_entry(image, 1, 0xFFFF_FFFF_FFFF_F000),
        ),
    ):
        _register(f"refcount_{name}", sentence, apply)


def _set_in_snapshot(image: BuiltImage, relative_offset: int, width: int, value: int) -> BuiltImage:
    offset = image.layout.snapshot_entries[0].offset + relative_offset
    return set_integer(image, offset, width, value)


def _set_in_bitmap(image: BuiltImage, relative_offset: int, width: int, value: int) -> BuiltImage:
    offset = image.layout.bitmap_entries[0].offset + relative_offset
    return set_integer(image, offset, width, value)


def _register_records() -> None:
    for name, relative_offset, width, value, sentence in (
        ("l1_unaligned", 0, 8, 0x400200, "A snapshot's L1 is not aligned."),
        ("l1_beyond_eof", 0, 8, FAR_OFFSET, "A snapshot's L1 is past the end of the file."),
        ("l1_huge", 8, 4, 0x10000000, "A snapshot's L1 would need 2 GiB."),
        ("id_overlong", 12, 2, 0xFFFF, "A snapshot's id runs over the table."),
        ("name_overlong", 14, 2, 0xFFFF, "A snapshot's name runs over the table."),
        ("extra_short", 36, 4, 8, "A version 3 snapshot has less than 16 bytes of extra data."),
        ("extra_overlong", 36, 4, 0xFFFFFFF0, "A snapshot has 4 GiB of extra data."),
    ):
        _register(
            f"snapshot_{name}",
            sentence,
            partial(_set_in_snapshot, relative_offset=relative_offset, width=width, value=value),
        )
    for name, relative_offset, width, value, sentence in (
        ("table_unaligned", 0, 8, 0x1001, "A bitmap's table is not aligned."),
        ("table_beyond_eof", 0, 8, FAR_OFFSET, "A bitmap's table is past the end of the file."),
        ("table_huge", 8, 4, 0xFFFFFFFF, "A bitmap's table would need 32 GiB."),
        ("in_use", 12, 4, 1, "A bitmap was not saved."),
        ("flags_reserved", 12, 4, 1 << 31, "A bitmap has a reserved flag."),
        ("type_7", 16, 1, 7, "A bitmap's type is unknown."),
        ("granularity_64", 17, 1, 64, "A bitmap's granularity exceeds 64 bits."),
        ("name_overlong", 18, 2, 0xFFFF, "A bitmap's name runs over the directory."),
        ("extra_overlong", 20, 4, 0xFFFFFFF0, "A bitmap has 4 GiB of extra data."),
    ):
        _register(
            f"bitmap_{name}",
            sentence,
            partial(_set_in_bitmap, relative_offset=relative_offset, width=width, value=value),
        )
    _register(
        "bitmap_table_reserved",
        "A bitmap table entry has reserved bits set.",
        lambda image: flip_bits(image, image.layout.bitmap_tables[0].offset, mask=0x80),
    )


def _flip_in_payload(image: BuiltImage) -> BuiltImage:
    payload = image.layout.payloads[COMPRESSED_GUEST_CLUSTER]
    return flip_bits(image, payload.offset + payload.length // 2, 8)


def _change_sectors(image: BuiltImage, change: int) -> BuiltImage:
    offset_bits = 62 - (image.layout.cluster_bits - 8)
    word = get_l2_entry(image, COMPRESSED_GUEST_CLUSTER)
    return set_l2_entry(image, COMPRESSED_GUEST_CLUSTER, word + (change << offset_bits))


def _move_payload(image: BuiltImage, offset: int) -> BuiltImage:
    offset_bits = 62 - (image.layout.cluster_bits - 8)
    word = get_l2_entry(image, COMPRESSED_GUEST_CLUSTER)
    moved = word >> offset_bits << offset_bits | offset
    return set_l2_entry(image, COMPRESSED_GUEST_CLUSTER, moved)


def _register_payloads() -> None:
    for name, sentence, apply in (
        (
            "flipped",
            "Eight bytes in the middle of a compressed stream are flipped.",
            _flip_in_payload,
        ),
        (
            "copied",
            "A compressed cluster has COPIED set.",
            lambda image: set_l2_entry(
                image,
                COMPRESSED_GUEST_CLUSTER,
                get_l2_entry(image, COMPRESSED_GUEST_CLUSTER) | COPIED,
            ),
        ),
        (
            "sectors_short",
            "A compressed descriptor has one sector too few.",
            lambda image: _change_sectors(image, -1),
        ),
        (
            "sectors_long",
            "A compressed descriptor has four sectors too many.",
            lambda image: _change_sectors(image, 4),
        ),
        (
            "beyond_eof",
            "A compressed cluster is past the end of the file.",
            lambda image: _move_payload(image, FAR_OFFSET),
        ),
        (
            "on_header",
            "A compressed cluster's payload is the header.",
            lambda image: _move_payload(image, 0),
        ),
    ):
        _register(f"payload_{name}", sentence, apply)


def _register_lengths() -> None:
    for name, sentence, apply in (
        (
            "one_byte",
            "The last byte is missing.",
            lambda image: truncate_at(image, len(image.file) - 1),
        ),
        (
            "one_cluster",
            "The last cluster is missing.",
            lambda image: truncate_at(image, len(image.file) - image.layout.cluster_bytes),
        ),
        (
            "at_70_percent",
            "The last 30 % are missing.",
            lambda image: truncate_at(image, len(image.file) * 7 // 10),
        ),
        (
            "in_l2",
            "The file ends in the middle of an L2 table.",
            lambda image: truncate_at(image, image.layout.l2[0].offset + 100),
        ),
        (
            "in_snapshot_table",
            "The file ends in the first snapshot's entry.",
            lambda image: truncate_at(image, _required(image.layout.snapshot_table).offset + 30),
        ),
        (
            "first_cluster_only",
            "Only the first cluster is there.",
            lambda image: truncate_at(image, image.layout.cluster_bytes),
        ),
        ("in_header", "The file ends in the header.", lambda image: truncate_at(image, 50)),
        ("magic_only", "Only the magic is there.", lambda image: truncate_at(image, 4)),
        (
            "trailing_junk",
            "There is junk behind the end.",
            lambda image: append(image, pattern(5000)),
        ),
    ):
        _register(f"length_{name}", sentence, apply)
    _register(
        "header_padding",
        "The padding behind the compression type is not zero.",
        lambda image: flip_bits(image, 105, 7),
    )
    _register(
        "first_cluster_wiped",
        "Cluster 0 is all zeros.",
        lambda image: poke(image, 0, bytes(image.layout.cluster_bytes)),
    )


for _register_group in (
    _register_fields,
    _register_features,
    _register_extensions,
    _register_tables,
    _register_refcounts,
    _register_records,
    _register_payloads,
    _register_lengths,
):
    _register_group()
