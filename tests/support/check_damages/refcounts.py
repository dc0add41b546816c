"""Damages of refcounts, and of the structures that hold them: R0, R2, R17 to R23."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import WRONG_COUNTS
from tests.support.check_damages.geometries import (
    COMPRESSED,
    OWNED,
    SHARED,
    UNUSED,
    ZERO_ALLOCATED,
    Geometry,
    Has,
)
from tests.support.check_damages.record import Book, Edit, Make, Verdict, edited
from tests.support.check_damages.tables import COPIED, FAR_OFFSET, half_cluster, l2_word
from tests.support.damage import (
    get_refcount,
    poke,
    set_field,
    set_integer,
    set_l2_entry,
    set_refcount,
)
from tests.support.layout import Span
from tests.support.options import TIB


def host_cluster(image: BuiltImage, span: Span) -> int:
    """Return the index of the host cluster in which a span starts."""
    return span.offset >> image.layout.cluster_bits


def data_cluster(image: BuiltImage, guest_cluster_index: int) -> int:
    """Return the host cluster of a standard guest cluster."""
    return host_cluster(image, image.layout.data[guest_cluster_index])


def counted(cluster: Callable[[BuiltImage], int], change: Callable[[int], int]) -> Edit:
    """Return an edit of the stored refcount of a host cluster."""

    def edit(image: BuiltImage) -> BuiltImage:
        index = cluster(image)
        return set_refcount(image, index, change(get_refcount(image, index)))

    return edit


def table_word(index: int, change: Callable[[int, BuiltImage], int]) -> Edit:
    """Return an edit of an entry of the refcount table; a negative index counts from its end."""

    def edit(image: BuiltImage) -> BuiltImage:
        table = image.layout.refcount_table
        offset = table.offset + 8 * (index % (table.length // 8))
        return set_integer(image, offset, 8, change(image.read_integer(offset, 8), image))

    return edit


def _with_last_block(offset: Callable[[BuiltImage], int]) -> Edit:
    return table_word(-1, lambda _word, image: offset(image))


def all_zero(image: BuiltImage) -> BuiltImage:
    """Return the image with every refcount zero."""
    for block in image.layout.refcount_blocks.values():
        image = poke(image, block.offset, bytes(block.length))
    return image


def all_one_more(image: BuiltImage) -> BuiltImage:
    """Return the image with the count of every used cluster one too high."""
    for index in range(len(image.file) >> image.layout.cluster_bits):
        image = set_refcount(image, index, get_refcount(image, index) + 1)
    return image


def without_table(image: BuiltImage) -> BuiltImage:
    """Return the image without a refcount table."""
    image = set_field(image, "refcount_table_offset", 0)
    return set_field(image, "refcount_table_clusters", 0)


def _too_many_references(geometry: Geometry) -> BuiltImage:
    """Map one host cluster once more often than the refcount can count, stored as its maximum."""
    image = geometry.image()
    maximum = (1 << (1 << geometry.refcount_order)) - 1
    flag = COPIED if maximum == 1 else 0
    word = image.layout.data[SHARED].offset | flag
    if not flag:
        image = set_l2_entry(image, SHARED, word)
        image = set_refcount(image, data_cluster(image, SHARED), maximum)
    for index in range(UNUSED, UNUSED + maximum):
        image = set_l2_entry(image, index, word)
    return image


def _enter_structures(book: Book) -> None:
    enter = book.enter
    rebuilt = f"{WRONG_COUNTS} refcount-unreadable"
    enter(
        "R17-table-reserved-bits",
        "The first refcount table entry has a reserved bit set.",
        "R17",
        "refcount-table-reserved-bits",
        edited(table_word(0, lambda word, _: word | 1)),
        may=rebuilt,
        says="refcount block 0 .*reserved|refcount table entry 0.*reserved|reserved",
    )
    enter(
        "R18-block-unaligned",
        "The first refcount block is not aligned to a cluster.",
        "R18, R21, 2.5.11",
        "refcount-block-unaligned",
        edited(table_word(0, lambda word, image: word | half_cluster(image))),
        may=rebuilt,
        needs=[Has.ALIGNMENT],
        qemu=Verdict.ERRORS,
        says="refcount block 0 is not cluster aligned",
    )
    for name, offset in (
        ("far", lambda _: FAR_OFFSET),
        ("at-int64-max", lambda image: (1 << 63) - image.layout.cluster_bytes),
        ("at-uint64-max", lambda image: (1 << 64) - image.layout.cluster_bytes),
        (
            "next-to-the-end",
            lambda image: (
                -(-len(image.file) >> image.layout.cluster_bits) + 1 << image.layout.cluster_bits
            ),
        ),
    ):
        enter(
            f"R19-block-{name}",
            "A refcount block is behind the end of the file.",
            "R19, BL-O05",
            "refcount-block-beyond-eof",
            edited(_with_last_block(offset)),
            says="refcount block .* is outside image",
        )
    enter(
        "R20-block-twice",
        "Two refcount table entries name the same block.",
        "R20",
        "refcount-block-shared",
        edited(table_word(-1, lambda _word, image: image.layout.refcount_blocks[0].offset)),
        may="refcount-too-low owner-conflict leak",
        says="refcount block .* refcount=2",
        needs=[Has.COUNT_OF_2],
    )
    enter(
        "R20-block-on-l1",
        "A refcount block is in the active L1's cluster.",
        "R20",
        "refcount-block-shared",
        edited(table_word(-1, lambda _word, image: image.layout.l1.offset)),
        may="refcount-too-low owner-conflict leak structure-overlap",
        says="refcount block .* refcount=2",
        needs=[Has.COUNT_OF_2],
    )
    enter(
        "R22-block-missing",
        "The refcount table's only entry is zero: every cluster counts as free.",
        "R22",
        "refcount-zero",
        edited(table_word(0, lambda _word, _image: 0)),
        may=f"{WRONG_COUNTS} free-inside",
        says="refcount=0 reference=1",
    )
    enter(
        "R22-no-table",
        "The header names no refcount table at all.",
        "R22, BL-O04",
        "refcount-table-missing",
        edited(without_table),
        may=f"{WRONG_COUNTS} free-inside",
        says="refcount=0 reference=1",
    )
    enter(
        "R1-refcount-table",
        "The refcount table is behind the end of the file.",
        "R1",
        "refcount-table-truncated",
        edited(lambda image: set_field(image, "refcount_table_offset", FAR_OFFSET)),
        may=f"{WRONG_COUNTS} free-inside metadata-beyond-eof refcount-table-offset "
        "file-shorter-than-image",
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R21-table-huge",
        "The refcount table has 2^24 - 1 clusters, in a small file.",
        "BL-O29, 4.4",
        "refcount-table-too-large",
        edited(lambda image: set_field(image, "refcount_table_clusters", 0x00FFFFFF)),
        may=f"{WRONG_COUNTS} refcount-table-truncated file-shorter-than-image structure-overlap",
        qemu=Verdict.REFUSED,
    )


def _enter_low(book: Book) -> None:
    enter = book.enter
    enter(
        "R22-zero-data",
        "A data cluster that is in use counts as free.",
        "R22, BL-O03",
        "refcount-zero",
        edited(counted(lambda image: data_cluster(image, OWNED), lambda _: 0)),
        may="l2-copied",
        needs=[Has.DATA_INSIDE],
        says="refcount=0 reference=1",
    )
    for name, cluster in (
        ("header", lambda _: 0),
        ("l2-table", lambda image: host_cluster(image, image.layout.l2[0])),
        ("l1", lambda image: host_cluster(image, image.layout.l1)),
        ("block", lambda image: host_cluster(image, image.layout.refcount_blocks[0])),
    ):
        enter(
            f"R22-zero-{name}",
            f"The cluster of the {name} counts as free.",
            "R22, BL-O03, BL-O11",
            "refcount-zero",
            edited(counted(cluster, lambda _: 0)),
            may="l1-copied",
            says="refcount=0 reference=1",
        )
    enter(
        "R22-all-zero",
        "Every refcount is zero, as Docker for Mac left them.",
        "R22, BL-O11, 4.2.4",
        "refcount-zero",
        edited(all_zero),
        may="l1-copied l2-copied",
        says="refcount=0 reference=1",
    )
    enter(
        "R22-low-payloads",
        "Two payloads share a host cluster whose refcount is 1.",
        "R22",
        "refcount-too-low",
        edited(
            counted(
                lambda image: host_cluster(image, image.layout.payloads[COMPRESSED]),
                lambda count: count - 1,
            )
        ),
        needs=[Has.PACKED],
        only=["v3-4k", "v3-64k", "v3-2m", "v2-64k", "extended-16k", "zstd-64k", "order-3"],
        says="refcount=1 reference=2",
    )
    enter(
        "R22-low-snapshots",
        "Three tables refer to a cluster whose refcount is 1.",
        "R22, BL-O17",
        "refcount-too-low",
        edited(counted(lambda image: data_cluster(image, SHARED), lambda _: 1)),
        may="l2-copied",
        needs=[Has.SNAPSHOTS],
        says="refcount=1 reference=3",
    )
    enter(
        "R22-low-snapshot-table",
        "The L2 table that two snapshots share counts once.",
        "R22",
        "refcount-too-low",
        edited(
            counted(
                lambda image: host_cluster(image, image.layout.snapshot_l2[0, 0]),
                lambda count: count - 1,
            )
        ),
        needs=[Has.SNAPSHOTS],
        says="refcount=1 reference=2",
    )


def _leaked(n_clusters: int) -> Make:
    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        builder.leak(n_clusters)
        return builder.build()

    return make


def _high_without_copied(image: BuiltImage) -> BuiltImage:
    image = l2_word(OWNED, lambda word, _: word & ~COPIED)(image)
    return counted(lambda image: data_cluster(image, OWNED), lambda count: count + 1)(image)


def _leaks_and_an_error(geometry: Geometry) -> BuiltImage:
    image = _leaked(3)(geometry)
    return counted(lambda image: data_cluster(image, SHARED), lambda count: count - 1)(image)


def _enter_high(book: Book) -> None:
    enter = book.enter
    for n_clusters in (1, 50):
        enter(
            f"R23-leak-{n_clusters}",
            f"{n_clusters} clusters count as used, and nothing refers to them.",
            "R23, BL-O07",
            "leak",
            _leaked(n_clusters),
            qemu=Verdict.LEAKS,
            says="Leaked cluster .* refcount=1 reference=0",
        )
    enter(
        "R23-high",
        "A cluster's refcount is one too high.",
        "R23",
        "refcount-too-high",
        edited(_high_without_copied),
        needs=[Has.DATA_INSIDE, Has.COUNT_OF_2],
        qemu=Verdict.LEAKS,
        says="Leaked cluster .* refcount=2 reference=1",
    )
    enter(
        "R23-high-zero-cluster",
        "The refcount of a cluster that reads as zeros is too high, its COPIED flag is set.",
        "R23, R25",
        "refcount-too-high l2-copied",
        edited(counted(lambda image: data_cluster(image, ZERO_ALLOCATED), lambda count: count + 1)),
        needs=[Has.V3, Has.DATA_INSIDE, Has.COUNT_OF_2],
        without=[Has.SNAPSHOTS],
        says="Leaked cluster",
    )
    enter(
        "R23-all-one-more",
        "Every refcount is one too high.",
        "R23, 4.2.4",
        "refcount-too-high l1-copied",
        edited(all_one_more),
        may="leak l2-copied",
        needs=[Has.COUNT_OF_2],
        only=["v3-512", "v3-64k", "v2-64k", "extended-16k", "order-3", "order-6", "bitmap-64k"],
        says="Leaked cluster",
    )
    enter(
        "R23-leaks-and-an-error",
        "Three clusters have leaked, and one that is in use counts too low.",
        "R22, R23, BL-O08",
        "leak",
        _leaks_and_an_error,
        may="refcount-zero refcount-too-low l2-copied",
        needs=[Has.DATA_INSIDE],
        says="ERROR cluster",
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_structures(book)
    _enter_low(book)
    _enter_high(book)
    book.enter(
        "R2-references-above-maximum",
        "More guest clusters are on one host cluster than a refcount can count.",
        "R2",
        "references-above-maximum",
        _too_many_references,
        may="shared-data",
        only=["order-0", "order-1", "order-2", "order-3"],
        says="refcount overflow|overflow",
    )
    book.enter(
        "R0-too-many-clusters",
        "The file has more clusters than QEMU's check can number.",
        "R0",
        "clusters-above-limit",
        edited(lambda image: image.resized(TIB + 512)),
        may="trailing-space",
        only=["v3-512", "v2-512"],
        qemu=Verdict.ERRORS,
        says="Check failed: File too large",
    )
