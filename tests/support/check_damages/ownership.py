"""Host clusters with two owners that exclude each other, and odd places that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from tests.support.base_images import pattern
from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import MISREAD_TABLE
from tests.support.check_damages.geometries import (
    OWNED,
    SHARED,
    UNUSED,
    Geometry,
    Has,
)
from tests.support.check_damages.record import Book, Edit, Make, Verdict, edited
from tests.support.check_damages.refcounts import counted, data_cluster
from tests.support.check_damages.tables import COPIED, l1_word, l2_word
from tests.support.damage import (
    get_refcount,
    set_feature_bit,
    set_field,
    set_l2_entry,
    set_refcount,
)
from tests.support.layout import Span
from tests.support.options import GIB, OptionKeywords


def _on(target: Callable[[BuiltImage], Span]) -> Edit:
    """Return an edit that maps a guest cluster to a structure, with counts that agree."""

    def edit(image: BuiltImage) -> BuiltImage:
        old = data_cluster(image, OWNED)
        new = target(image).offset >> image.layout.cluster_bits
        image = set_l2_entry(image, OWNED, target(image).offset)
        image = set_refcount(image, old, get_refcount(image, old) - 1)
        return set_refcount(image, new, get_refcount(image, new) + 1)

    return edit


def _without_copied_on_l1(edit: Edit) -> Edit:
    """Return the edit, then the L1 entry of the table that is now counted twice cleared too."""
    return lambda image: l1_word(lambda word, _: word & ~COPIED)(edit(image))


def _shared(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.share(UNUSED, OWNED)
    return builder.build()


def _shared_payload(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.share(UNUSED, 4)
    return builder.build()


def _with_options(**options: Unpack[OptionKeywords]) -> Make:
    return lambda geometry: geometry.builder(**options).build()


def _l1_over_its_l2(image: BuiltImage) -> BuiltImage:
    """The L1 grows by one entry over its cluster's end, where the first L2 table is."""
    return set_field(image, "l1_size", image.layout.cluster_bytes // 8 + 1)


def _holes_in_the_refcount_table(geometry: Geometry) -> BuiltImage:
    """Data behind two refcount blocks' worth of nothing, which have no block."""
    builder = geometry.builder()
    block_clusters = builder.cluster_bytes * 8 >> builder.refcount_order
    offset = 3 * block_clusters * builder.cluster_bytes
    builder.write(UNUSED * builder.cluster_bytes, pattern(512, 3), at=offset)
    return builder.build()


def _far_away(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.write(UNUSED * builder.cluster_bytes, pattern(512, 3), at=8 * GIB)
    return builder.build()


def _with_gap(n_clusters: int) -> Make:
    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        builder.gap(n_clusters)
        builder.write(UNUSED * builder.cluster_bytes, pattern(512, 3))
        return builder.build()

    return make


def _uncounted_second_block(geometry: Geometry) -> BuiltImage:
    """The second refcount block is in a cluster that it counts itself, as free."""
    builder = geometry.builder(placement={"refcount_block[1]": 257 * geometry.cluster_bytes})
    builder.gap(260)
    builder.write(UNUSED * builder.cluster_bytes, pattern(4 * builder.cluster_bytes, 3))
    return set_refcount(builder.build(), 257, 0)


def _enter_conflicts(book: Book) -> None:
    enter = book.enter
    for name, target in (
        ("l1", lambda image: image.layout.l1),
        ("refcount-block", lambda image: image.layout.refcount_blocks[0]),
        ("refcount-table", lambda image: image.layout.refcount_table),
    ):
        enter(
            f"M-data-on-{name}",
            f"Guest data is in the cluster of the {name}, and the refcounts agree.",
            "2.5.2, BL-O13",
            "owner-conflict",
            edited(_on(target)),
            may="refcount-block-shared free-inside",
            needs=[Has.DATA_INSIDE, Has.COUNT_OF_2],
            qemu=Verdict.CORRUPT if name == "refcount-block" else Verdict.CLEAN,
            says="refcount block 0 refcount=2" if name == "refcount-block" else "",
        )
    enter(
        "M-data-on-l2-table",
        "Guest data is in the cluster of its own L2 table, and the refcounts agree.",
        "2.5.2",
        "owner-conflict",
        edited(_without_copied_on_l1(_on(lambda image: image.layout.l2[0]))),
        may="free-inside",
        needs=[Has.DATA_INSIDE, Has.COUNT_OF_2],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-data-on-header",
        "A compressed cluster's payload is the header, and the refcounts agree.",
        "2.5.2",
        "owner-conflict",
        edited(
            lambda image: counted(lambda _: 0, lambda count: count + 1)(
                set_l2_entry(image, UNUSED, 1 << 62)
            )
        ),
        may="payload-damaged payload-short payload-other-type",
        needs=[Has.COMPRESSED, Has.COUNT_OF_2],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-data-on-refcount-block-uncounted",
        "An L2 entry says COPIED and names the refcount block.",
        "BL-O13, R20",
        "owner-conflict",
        edited(
            l2_word(OWNED, lambda _word, image: COPIED | image.layout.refcount_blocks[0].offset)
        ),
        may="refcount-block-shared refcount-too-low leak l2-copied references-above-maximum",
        needs=[Has.DATA_INSIDE],
        says="refcount block 0 refcount=2|overflow",
    )
    enter(
        "M-l1-names-itself",
        "The first L1 entry names the L1's own cluster.",
        "BL-O01, 2.5.2",
        "owner-conflict",
        edited(l1_word(lambda _word, image: COPIED | image.layout.l1.offset)),
        may=MISREAD_TABLE,
        says="refcount=1 reference=|overflow",
    )
    enter(
        "M-l1-names-itself-marked",
        "The first L1 entry names the L1's own cluster, and the image is marked corrupt.",
        "BL-O01, 4.2.5",
        "owner-conflict corrupt",
        edited(
            lambda image: set_feature_bit(
                l1_word(lambda _word, image: COPIED | image.layout.l1.offset)(image),
                "incompatible_features",
                1,
            )
        ),
        may=MISREAD_TABLE,
        needs=[Has.V3],
        says="refcount=1 reference=|overflow",
    )
    enter(
        "M-l1-over-l2-table",
        "The L1 is longer than its cluster and runs over the first L2 table.",
        "BL-O02, 4.1 crosvm",
        "owner-conflict",
        edited(_l1_over_its_l2),
        may=MISREAD_TABLE,
        # The L2 table of a version 2 image with snapshots is not behind the L1.
        without=[Has.SNAPSHOTS],
        only=["v3-512", "v3-4k", "v3-64k", "v2-64k", "extended-16k", "order-3", "zstd-64k"],
        says="refcount=1 reference=2",
    )
    enter(
        "M-l2-table-on-refcount-block",
        "A live L2 table's cluster holds a refcount block, as a writer's bug once did.",
        "4.1 cloud-hypervisor 8606, R20",
        "owner-conflict",
        edited(l1_word(lambda _word, image: COPIED | image.layout.refcount_blocks[0].offset)),
        may=f"refcount-block-shared {MISREAD_TABLE}",
        says="refcount block 0 refcount=2|overflow",
    )


def _enter_sharing(book: Book) -> None:
    enter = book.enter
    enter(
        "M-shared-cluster",
        "Two guest clusters are on one host cluster, the refcount agrees, no snapshot is why.",
        "2.5.2",
        "shared-data",
        _shared,
        needs=[Has.DATA_INSIDE, Has.COUNT_OF_2],
        without=[Has.SNAPSHOTS],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-shared-payload",
        "Two guest clusters have one payload: it is never written to, so that harms nobody.",
        "2.5.2",
        "",
        _shared_payload,
        may="shared-data",
        needs=[Has.PACKED],
        without=[Has.SNAPSHOTS],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-shared-cluster-counted-once",
        "Two guest clusters are on one host cluster, whose refcount is 1.",
        "R22, 2.5.2",
        "refcount-too-low",
        edited(
            lambda image: set_l2_entry(image, UNUSED, image.layout.data[SHARED].offset | COPIED)
        ),
        may="shared-data l2-copied",
        needs=[Has.DATA_INSIDE, Has.COUNT_OF_2],
        without=[Has.SNAPSHOTS],
        says="refcount=1 reference=2",
    )


def _enter_places(book: Book) -> None:
    enter = book.enter
    enter(
        "O-gap",
        "200 clusters in the middle of the file are free.",
        "2.5.12, BL-O09",
        "free-inside",
        _with_gap(200),
        needs=[Has.DATA_INSIDE],
        only=["v3-512", "v3-4k", "v3-64k", "v2-64k", "order-0", "order-6"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-far-away",
        "A data cluster is 8 GiB behind the others.",
        "BL-O10",
        "free-inside",
        _far_away,
        only=["v3-64k", "v3-2m", "extended-16k"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-refcount-table-holes",
        "The refcount table has empty entries between used ones.",
        "4.2.8",
        "free-inside",
        _holes_in_the_refcount_table,
        only=["v3-512", "v3-4k", "order-6"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-refcount-table-large",
        "The refcount table is larger than the image needs.",
        "4.2.8, BL-O21",
        "",
        _with_options(refcount_table_clusters=4),
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-l1-large",
        "The L1 has more entries than the disk needs.",
        "4.2.7, BL-O02",
        "",
        _with_options(l1_size=2048),
        qemu=Verdict.CLEAN,
    )
    enter(
        "R22-second-block-uncounted",
        "The second refcount block does not count itself.",
        "R22, BL-O03",
        "refcount-zero",
        _uncounted_second_block,
        may="free-inside",
        only=["v3-512", "v2-512"],
        says="refcount=0 reference=1",
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_conflicts(book)
    _enter_sharing(book)
    _enter_places(book)
