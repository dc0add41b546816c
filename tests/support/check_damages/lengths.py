"""Files that are shorter or longer than their image."""

from __future__ import annotations

from tests.support.base_images import pattern
from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import SHORT_FILE
from tests.support.check_damages.geometries import Geometry, Has
from tests.support.check_damages.record import Book, Edit, Verdict, edited
from tests.support.damage import append, truncate_at

PLAIN = ["v3-512", "v3-4k", "v3-64k", "v3-2m", "v2-512", "v2-64k", "extended-16k", "zstd-64k"]


def _many_clusters_cut(geometry: Geometry) -> BuiltImage:
    """300 data clusters, cut at 70 % of the file."""
    builder = geometry.builder(size=max(geometry.options["size"], 400 * geometry.cluster_bytes))
    for index in range(20, 320):
        builder.write(index * builder.cluster_bytes, pattern(64, index))
    image = builder.build()
    cut = len(image.file) * 7 // 10
    return truncate_at(image, cut - cut % geometry.cluster_bytes)


def _last_data_short(geometry: Geometry) -> BuiltImage:
    """The file ends 100 bytes before the end of its last cluster, which holds data."""
    builder = geometry.builder()
    builder.write(40 * builder.cluster_bytes, pattern(512, 3))
    image = builder.build()
    return truncate_at(image, len(image.file) - 100)


def _with_behind(byte: bytes) -> Edit:
    return lambda image: append(image, byte * 3 * image.layout.cluster_bytes)


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    enter = book.enter
    enter(
        "M-cut-in-last-cluster",
        "The file ends 100 bytes before the end of its last data cluster.",
        "2.5.4, 4.2.6",
        "data-truncated",
        _last_data_short,
        may="file-shorter-than-image",
        only=PLAIN,
        qemu=Verdict.CLEAN,
    )
    enter(
        "R1-cut-at-70-percent",
        "300 clusters of data, and the last 30 % of the file are missing.",
        "R1, 2.5.4, 4.2.6, BL-O32",
        "data-beyond-eof",
        _many_clusters_cut,
        may=SHORT_FILE,
        only=["v3-512", "v3-4k", "v3-64k", "v2-64k", "extended-16k"],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R1-cut-in-l2",
        "The file ends inside the first L2 table.",
        "R1, 4.2.6, BL-O32",
        "l2-truncated",
        edited(lambda image: truncate_at(image, image.layout.l2[0].offset + 100)),
        may=SHORT_FILE,
        only=PLAIN,
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "M-cut-before-l1",
        "The file ends where the L1 should start, which QEMU takes for an L1 of zeros.",
        "2.5.4, BL-O06",
        "l1-truncated",
        edited(lambda image: truncate_at(image, image.layout.l1.offset)),
        may=SHORT_FILE,
        # A cluster of 512 bytes is missing whole, and QEMU sees that.
        needs=[Has.ALIGNMENT],
        without=[Has.SNAPSHOTS, Has.BITMAP, Has.LUKS],
        qemu=Verdict.CLEAN,
    )
    enter(
        "R1-cut-behind-first-cluster",
        "Only the first cluster is there.",
        "R1, BL-O44",
        "refcount-table-truncated",
        edited(lambda image: truncate_at(image, image.layout.cluster_bytes)),
        may=SHORT_FILE,
        only=PLAIN,
        says="exceeding the end of the file",
    )
    for name, junk in (("junk", b"\x5a"), ("zeros", b"\0")):
        enter(
            f"M-trailing-{name}",
            f"Three clusters of {name} are behind the last one, as on a logical volume.",
            "2.5.12, 4.1 Proxmox PVE 9, 4.2.6",
            "trailing-data" if name == "junk" else "trailing-space",
            edited(_with_behind(junk)),
            only=PLAIN,
            qemu=Verdict.CLEAN,
        )
    enter(
        "M-trailing-junk-short",
        "Half a cluster of junk is behind the last one.",
        "2.5.12, 4.2.6",
        "trailing-data",
        edited(lambda image: append(image, b"\x5a" * (image.layout.cluster_bytes // 2))),
        only=PLAIN,
        qemu=Verdict.CLEAN,
    )
