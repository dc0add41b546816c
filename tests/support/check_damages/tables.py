"""Damages of L1 and L2 tables: R1, R3 to R11, R24, R25, and what QEMU misses in them."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import LOST, MISREAD_TABLE, OTHER_CLUSTERS
from tests.support.check_damages.geometries import (
    COMPRESSED,
    OWNED,
    SHARED,
    SUBCLUSTERS,
    SUBCLUSTERS_ALLOC_MASK,
    SUBCLUSTERS_ZERO_MASK,
    UNUSED,
    ZERO_ALLOCATED,
    Geometry,
    Has,
)
from tests.support.check_damages.record import Book, Edit, Verdict, edited
from tests.support.damage import (
    get_l1_entry,
    get_l2_entry,
    poke,
    set_l1_entry,
    set_l2_entry,
)
from tests.support.guest import ALL_SUBCLUSTERS

COPIED = 1 << 63
COMPRESSED_FLAG = 1 << 62
FAR_OFFSET = 1 << 40
"""Aligned to every cluster size, and behind the end of every image here."""


def l1_word(change: Callable[[int, BuiltImage], int], l1_index: int = 0) -> Edit:
    """Return an edit of a word of the active L1."""
    return lambda image: set_l1_entry(image, l1_index, change(get_l1_entry(image, l1_index), image))


def l2_word(
    guest_cluster_index: int, change: Callable[[int, BuiltImage], int], bitmap: int | None = None
) -> Edit:
    """Return an edit of a descriptor of the active disk, and of its subcluster bitmap."""

    def edit(image: BuiltImage) -> BuiltImage:
        word = change(get_l2_entry(image, guest_cluster_index), image)
        kept = bitmap if image.layout.extended_l2 else None
        return set_l2_entry(image, guest_cluster_index, word, kept)

    return edit


def _with_bit(bit: int) -> Callable[[int, BuiltImage], int]:
    return lambda word, _: word | 1 << bit


def half_cluster(image: BuiltImage) -> int:
    """Return the bit that an aligned offset never has."""
    return image.layout.cluster_bytes // 2


def offset_bits(image: BuiltImage) -> int:
    """Return how many bits of a compressed descriptor are its offset."""
    return 62 - (image.layout.cluster_bits - 8)


def moved_payload(guest_cluster_index: int, offset: Callable[[BuiltImage], int]) -> Edit:
    """Return an edit that puts another host offset into a compressed descriptor."""

    def change(word: int, image: BuiltImage) -> int:
        bits = offset_bits(image)
        return word >> bits << bits | offset(image)

    return l2_word(guest_cluster_index, change)


def _enter_l1(book: Book) -> None:
    enter = book.enter
    for name, bit in (("bit-60", 60), ("bit-62", 62), ("bit-0", 0)):
        enter(
            f"R3-l1-reserved-{name}",
            f"The first L1 entry has reserved bit {bit} set.",
            "R3, 4.2.3",
            "l1-reserved-bits",
            edited(l1_word(_with_bit(bit))),
            says="reserved bits set",
        )
    enter(
        "R3-l1-flags-only",
        "An L1 entry has a flag, and no table.",
        "R3",
        "l1-flags-only",
        edited(l1_word(lambda _word, _image: 1 << 59, 1)),
        may=MISREAD_TABLE,
        needs=[Has.SECOND_L1_ENTRY],
        says="reserved bits set",
    )
    enter(
        "R3-l1-copied-only",
        "An L1 entry says COPIED, and no table.",
        "R3",
        "l1-flags-only",
        edited(l1_word(lambda _word, _image: COPIED, 1)),
        may=MISREAD_TABLE,
        needs=[Has.SECOND_L1_ENTRY],
        says="refcount=|overflow",
    )
    enter(
        "R4-l2-table-unaligned",
        "The first L2 table is not aligned to a cluster.",
        "R4",
        "l2-offset-unaligned",
        edited(l1_word(lambda word, image: word | half_cluster(image))),
        may=MISREAD_TABLE,
        needs=[Has.ALIGNMENT],
        says="not cluster aligned",
    )
    enter(
        "R1-l2-table",
        "The first L2 table is behind the end of the file.",
        "R1",
        "l2-table-beyond-eof",
        edited(l1_word(lambda _word, _image: FAR_OFFSET)),
        may=LOST,
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R1-l2-table-at-the-end-of-numbers",
        "The first L2 table is at the last offset that an entry can name.",
        "R1",
        "l2-table-beyond-eof",
        edited(l1_word(lambda _word, image: (1 << 56) - image.layout.cluster_bytes)),
        may=LOST,
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R24-l1-copied-cleared",
        "The first L2 table's refcount is 1, and its L1 entry lacks COPIED.",
        "R24",
        "l1-copied",
        edited(l1_word(lambda word, _: word & ~COPIED)),
        says="OFLAG_COPIED L2 cluster",
    )
    enter(
        "R24-l1-copied-on-shared",
        "An L1 entry says COPIED, though a snapshot has the table too.",
        "R24",
        "l1-copied",
        _copied_on_a_shared_table,
        says="OFLAG_COPIED L2 cluster",
        needs=[Has.SNAPSHOTS],
    )


def _copied_on_a_shared_table(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.snapshot("third")
    return l1_word(lambda word, _: word | COPIED)(builder.build())


def _enter_standard(book: Book) -> None:
    enter = book.enter
    for bit in (57, 61, 1, 8):
        enter(
            f"R5-l2-reserved-bit-{bit}",
            f"An L2 entry has reserved bit {bit} set.",
            "R5, 4.2.3",
            "l2-reserved-bits",
            edited(l2_word(OWNED, _with_bit(bit))),
            says="reserved bits set",
        )
    enter(
        "R1-data",
        "An L2 entry names a cluster behind the end of the file.",
        "R1",
        "data-beyond-eof",
        edited(l2_word(OWNED, lambda _word, _image: FAR_OFFSET)),
        may=LOST,
        needs=[Has.DATA_INSIDE],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R10a-zero-unaligned",
        "A cluster that reads as zeros is not aligned in the file.",
        "R10a",
        "zero-cluster-unaligned",
        edited(l2_word(ZERO_ALLOCATED, lambda word, image: word | half_cluster(image))),
        may=OTHER_CLUSTERS,
        needs=[Has.V3, Has.ALIGNMENT, Has.DATA_INSIDE],
        says="offset=.*not properly aligned|Preallocated.*not properly aligned",
    )
    enter(
        "R10b-data-unaligned",
        "A data cluster is not aligned in the file.",
        "R10b",
        "data-cluster-unaligned",
        edited(l2_word(OWNED, lambda word, image: word | half_cluster(image))),
        may=OTHER_CLUSTERS,
        needs=[Has.ALIGNMENT, Has.DATA_INSIDE],
        says="not properly aligned",
    )
    for name, index in (("data", OWNED), ("zero", ZERO_ALLOCATED)):
        enter(
            f"R25-{name}-copied-cleared",
            "A host cluster's refcount is 1, and its L2 entry lacks COPIED.",
            "R25",
            "l2-copied",
            edited(l2_word(index, lambda word, _: word & ~COPIED)),
            says="OFLAG_COPIED data cluster",
            needs=[Has.DATA_INSIDE, *([Has.V3] if name == "zero" else [])],
            # There the table with the allocated zero cluster is the snapshots', too.
            without=[Has.SNAPSHOTS] if name == "zero" else [],
        )
    enter(
        "R25-data-copied-on-shared",
        "An L2 entry says COPIED, though a snapshot has the cluster too.",
        "R25",
        "l2-copied",
        edited(l2_word(SHARED, lambda word, _: word | COPIED)),
        says="OFLAG_COPIED data cluster",
        needs=[Has.SNAPSHOTS],
    )
    enter(
        "M-zero-flag-v2",
        "An entry of a version 2 image has the zero flag, which came with version 3.",
        "2.5.3",
        "zero-flag-v2",
        edited(l2_word(OWNED, lambda word, _: word | 1)),
        needs=[Has.V2],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-data-at-header",
        "An L2 entry says COPIED and names host offset 0, which is the header.",
        "BL-O47, 2.5.2",
        "data-at-header",
        edited(l2_word(UNUSED, lambda _word, _image: COPIED)),
        needs=[Has.DATA_INSIDE, Has.STANDARD_L2],
        qemu=Verdict.CLEAN,
    )

    enter(
        "O-zero-everywhere",
        "Every entry of the first L2 table reads as zeros, without a cluster.",
        "BL-O45",
        "leak",
        edited(
            lambda image: poke(
                image,
                image.layout.l2[0].offset,
                (1).to_bytes(8, "big") * (image.layout.cluster_bytes // 8),
            )
        ),
        may="refcount-too-high",
        needs=[Has.V3, Has.STANDARD_L2, Has.DATA_INSIDE],
        qemu=Verdict.LEAKS,
        says="Leaked cluster",
    )


def _enter_compressed(book: Book) -> None:
    enter = book.enter
    enter(
        "R1-compressed",
        "A payload is behind the end of the file.",
        "R1",
        "compressed-beyond-eof",
        edited(moved_payload(COMPRESSED, lambda _: FAR_OFFSET)),
        may=LOST,
        needs=[Has.COMPRESSED],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R6-compressed-copied",
        "A compressed cluster has COPIED set.",
        "R6",
        "compressed-copied",
        edited(l2_word(COMPRESSED, lambda word, _: word | COPIED)),
        needs=[Has.COMPRESSED],
        says="copied flag must never be set for compressed",
    )
    enter(
        "R7-compressed-with-data-file",
        "An entry is compressed in an image with an external data file.",
        "R7",
        "compressed-with-data-file",
        edited(
            l2_word(
                UNUSED,
                lambda _word, image: COMPRESSED_FLAG | image.layout.l2[0].offset,
            )
        ),
        may="owner-conflict refcount-too-low",
        needs=[Has.DATA_FILE],
        says="compressed cluster .* with data file",
    )
    enter(
        "R8-compressed-subclusters",
        "A compressed entry has a subcluster bitmap.",
        "R8",
        "compressed-subclusters",
        edited(l2_word(COMPRESSED, lambda word, _: word, 1)),
        may="leak refcount-too-high",
        needs=[Has.EXTENDED_L2],
        says="compressed cluster .* (with|has) non-zero subcluster|non-zero subcluster",
    )
    enter(
        "M-compressed-offset-high",
        "A compressed entry's offset has bit 56 set, which no file can reach.",
        "2.5.5, 4.2.9",
        "compressed-offset-high",
        edited(l2_word(COMPRESSED, lambda word, _: word | 1 << 56)),
        may=f"{LOST} compressed-beyond-eof",
        # From 16 KiB clusters on, bit 56 belongs to the number of sectors.
        only=["v3-512", "v3-4k", "v2-512", "zstd-512"],
        says="counting reference for region exceeding the end of the file",
    )


def _enter_extended(book: Book) -> None:
    enter = book.enter
    enter(
        "R9-subcluster-conflict",
        "A subcluster has data and reads as zeros at the same time.",
        "R9",
        "subcluster-conflict",
        edited(
            l2_word(
                SUBCLUSTERS,
                lambda word, _: word,
                (SUBCLUSTERS_ZERO_MASK | 1) << 32 | SUBCLUSTERS_ALLOC_MASK,
            )
        ),
        needs=[Has.EXTENDED_L2],
        says="invalid subcluster bitmap|both allocated and zero|allocation bitmap",
    )
    enter(
        "R10a-preallocated-unaligned",
        "A cluster whose subclusters have no data yet is not aligned in the file.",
        "R10a, 1.15",
        "zero-cluster-unaligned",
        edited(l2_word(SUBCLUSTERS, lambda word, image: word | half_cluster(image), 0)),
        may=OTHER_CLUSTERS,
        needs=[Has.EXTENDED_L2],
        says="not properly aligned",
    )
    for name, bitmap in (("one", 1), ("all", ALL_SUBCLUSTERS)):
        enter(
            f"R11-{name}-subclusters-without-cluster",
            "Subclusters have data though there is no host cluster.",
            "R11",
            "subclusters-without-cluster",
            edited(l2_word(UNUSED, lambda word, _: word, bitmap)),
            needs=[Has.EXTENDED_L2],
            says="unallocated cluster|subcluster",
        )
    enter(
        "M-copied-without-cluster",
        "An extended L2 entry says COPIED and names no cluster.",
        "BL-O47, 2.5.2",
        "copied-without-cluster",
        edited(l2_word(UNUSED, lambda _word, _image: COPIED)),
        needs=[Has.EXTENDED_L2],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-extended-zero-flag",
        "An extended L2 entry has bit 0 set; its bitmap should say what reads as zeros.",
        "2.5.5",
        "extended-zero-flag",
        edited(l2_word(OWNED, lambda word, _: word | 1, ALL_SUBCLUSTERS)),
        needs=[Has.EXTENDED_L2],
        qemu=Verdict.CLEAN,
    )


def _enter_data_file(book: Book) -> None:
    book.enter(
        "M-data-file-offset",
        "A cluster is not at its guest offset in the external data file.",
        "2.5.5",
        "data-file-offset",
        edited(l2_word(OWNED, lambda _word, image: COPIED | 40 * image.layout.cluster_bytes)),
        needs=[Has.DATA_FILE],
        qemu=Verdict.CLEAN,
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_l1(book)
    _enter_standard(book)
    _enter_compressed(book)
    _enter_extended(book)
    _enter_data_file(book)
