"""Damages of the snapshot table and of what its entries name: S1 to S6, R1, R12 to R14."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import LOST, MISREAD_TABLE
from tests.support.check_damages.geometries import OWNED, Geometry, Has
from tests.support.check_damages.record import Book, Edit, Make, Verdict, edited
from tests.support.check_damages.tables import COPIED, FAR_OFFSET
from tests.support.damage import poke, set_field, set_integer, truncate_at
from tests.support.layout import Span

S5_NAME_BYTES = 0xFFFF
S5_SNAPSHOTS = 520
"""So many names of 64 KiB exceed 64 MiB with their ids of 64 KiB."""


def in_snapshot(snapshot_index: int, relative_offset: int, width: int, value: int) -> Edit:
    """Return an edit of a field of a snapshot table entry."""

    def edit(image: BuiltImage) -> BuiltImage:
        offset = image.layout.snapshot_entries[snapshot_index].offset + relative_offset
        return set_integer(image, offset, width, value)

    return edit


def snapshot_l2_word(guest_cluster_index: int, change: Callable[[int], int]) -> Edit:
    """Return an edit of a descriptor in the table that the snapshots share."""

    def edit(image: BuiltImage) -> BuiltImage:
        entry_bytes = 16 if image.layout.extended_l2 else 8
        offset = image.layout.snapshot_l2[0, 0].offset + guest_cluster_index * entry_bytes
        return set_integer(image, offset, 8, change(image.read_integer(offset, 8)))

    return edit


def snapshot_l1_word(word: Callable[[BuiltImage, int], int]) -> Edit:
    """Return an edit of the first word of the first snapshot's L1."""

    def edit(image: BuiltImage) -> BuiltImage:
        offset = image.layout.snapshot_l1[0].offset
        return set_integer(image, offset, 8, word(image, image.read_integer(offset, 8)))

    return edit


def _with_count(count: int) -> Edit:
    return lambda image: set_field(image, "nb_snapshots", count)


def _with_long_extra(geometry: Geometry) -> BuiltImage:
    """The fields that are defined come first, as they should."""
    disk_bytes = geometry.options["size"]
    return _with_extra(bytes(8) + disk_bytes.to_bytes(8, "big") + bytes(1048))(geometry)


def _with_extra(extra: bytes) -> Make:
    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        builder.snapshot("odd", extra=extra)
        return builder.build()

    return make


def _two_named(names: tuple[str, str], ids: tuple[str | None, str | None]) -> Make:
    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        for name, identifier in zip(names, ids, strict=True):
            builder.snapshot(name, id=identifier)
        return builder.build()

    return make


def _huge_table(geometry: Geometry) -> BuiltImage:
    """Names and ids of zeros, so that the 64 MiB are a hole."""
    builder = geometry.builder()
    image = builder.build()
    entry_bytes = 40 + 24 + 2 * S5_NAME_BYTES
    entry_bytes += -entry_bytes % 8
    table = Span(len(image.file), S5_SNAPSHOTS * entry_bytes)
    for index in range(S5_SNAPSHOTS):
        offset = table.offset + index * entry_bytes
        image = image.edited(offset + 12, S5_NAME_BYTES.to_bytes(2, "big") * 2)
        image = image.edited(offset + 36, (24).to_bytes(4, "big"))
    image = image.resized(-(-table.end // geometry.cluster_bytes) * geometry.cluster_bytes)
    image = set_field(image, "nb_snapshots", S5_SNAPSHOTS)
    return set_field(image, "snapshots_offset", table.offset)


def _table_of_3_cut(image: BuiltImage) -> BuiltImage:
    table = image.layout.snapshot_table
    if table is None:
        raise LookupError("this geometry has no snapshots")
    return truncate_at(set_field(image, "nb_snapshots", 3), table.end)


def _with_data_file(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.snapshot("first")
    builder.write(OWNED * builder.cluster_bytes, b"\1" * 512)
    return builder.build()


def _enter_table(book: Book) -> None:
    enter = book.enter
    for name, count in (("65537", 65537), ("2-billion", 0x7FFFFFFF)):
        enter(
            f"S2-count-{name}",
            "The header counts more snapshots than QEMU accepts.",
            "S2, BL-O28",
            "snapshot-count",
            edited(_with_count(count)),
            may=f"{LOST} snapshot-table-truncated snapshot-table-offset snapshot-l1 "
            "snapshot-extra-data snapshot-table-too-large snapshot-duplicate snapshot-name-text "
            "snapshot-name-duplicate file-shorter-than-image refcount-too-low owner-conflict "
            "structure-overlap metadata-beyond-eof",
            needs=[Has.SNAPSHOTS],
            qemu=Verdict.ERRORS,
            says="snapshot table too large",
        )
    enter(
        "S3-table-unaligned",
        "The snapshot table's offset is not aligned.",
        "S3, BL-O28",
        "snapshot-table-offset",
        edited(lambda image: set_field(image, "snapshots_offset", 0x1234)),
        may=LOST,
        needs=[Has.SNAPSHOTS],
        qemu=Verdict.ERRORS,
        says="snapshot table offset invalid",
    )
    enter(
        "S3-table-beyond-eof",
        "The snapshot table is behind the end of the file.",
        "S3, R1",
        "snapshot-table-truncated",
        edited(lambda image: set_field(image, "snapshots_offset", FAR_OFFSET)),
        may=f"{LOST} metadata-beyond-eof file-shorter-than-image snapshot-table-offset",
        needs=[Has.SNAPSHOTS],
        says="snapshot table entry 0 is incomplete|exceeding the end of the file",
    )
    enter(
        "S4-extra-data-too-long",
        "A snapshot has more extra data than QEMU reads.",
        "S4, 4.2.11",
        "snapshot-extra-data",
        _with_long_extra,
        only=["v3-4k", "v3-64k", "extended-16k", "order-5"],
        qemu=Verdict.ERRORS,
        says="Too much extra metadata",
    )
    enter(
        "S5-table-too-large",
        "The snapshot table is longer than 64 MiB.",
        "S5",
        "snapshot-table-too-large",
        _huge_table,
        may="snapshot-duplicate snapshot-name-duplicate snapshot-name-text refcount-zero "
        "trailing-data",
        only=["v3-64k"],
        qemu=Verdict.ERRORS,
        says="Snapshot table is too big",
    )
    for n_bytes in (0, 8):
        enter(
            f"S6-extra-data-{n_bytes}",
            f"A version 3 snapshot has {n_bytes} bytes of extra data; 16 are needed.",
            "S6",
            "snapshot-extra-data",
            _with_extra(bytes(n_bytes)),
            only=["v3-512", "v3-64k", "extended-16k", "order-3"],
            says="snapshot table entry 0 is incomplete",
        )
    enter(
        "S-third-entry-cut",
        "The table ends with the file behind the second of three snapshots.",
        "S3, BL-O18",
        "snapshot-table-truncated",
        edited(_table_of_3_cut),
        may="file-shorter-than-image snapshot-l1 snapshot-duplicate snapshot-extra-data",
        needs=[Has.SNAPSHOTS, Has.V3],
        says="snapshot table entry 2 is incomplete",
    )
    enter(
        "S-third-entry-cut-v2",
        "The same in version 2, where QEMU takes the zeros it reads there for an entry.",
        "S3, BL-O18, 2.5.4",
        "snapshot-table-truncated",
        edited(_table_of_3_cut),
        may="file-shorter-than-image snapshot-l1 snapshot-duplicate",
        needs=[Has.SNAPSHOTS, Has.V2],
        qemu=Verdict.CLEAN,
    )
    for name, names, ids, codes in (
        ("id", ("one", "two"), ("7", "7"), "snapshot-duplicate"),
        ("name", ("same", "same"), (None, None), "snapshot-name-duplicate"),
    ):
        enter(
            f"M-snapshot-{name}-duplicate",
            f"Two snapshots have the same {name}.",
            "2.5.7",
            codes,
            _two_named(names, ids),
            needs=[Has.DATA_INSIDE],
            only=["v3-512", "v3-64k", "v2-64k", "extended-16k"],
            qemu=Verdict.CLEAN,
        )


def _enter_named(book: Book) -> None:
    enter = book.enter
    enter(
        "R12-snapshots-with-data-file",
        "An image with an external data file has a snapshot.",
        "R12",
        "snapshots-with-data-file",
        _with_data_file,
        needs=[Has.DATA_FILE],
        says="snapshots .*data file|data file.*snapshot",
    )
    enter(
        "R13-snapshot-l1-unaligned",
        "A snapshot's L1 is not aligned.",
        "R13",
        "snapshot-l1",
        edited(in_snapshot(0, 0, 8, 0x400 | 8)),
        may=LOST,
        needs=[Has.SNAPSHOTS],
        says="not cluster aligned|unaligned|L1 table",
    )
    enter(
        "R14-snapshot-l1-huge",
        "A snapshot's L1 has more than 4 Mi entries.",
        "R14, BL-O28",
        "snapshot-l1",
        edited(in_snapshot(0, 8, 4, 0x10000000)),
        may=LOST,
        needs=[Has.SNAPSHOTS],
        says="too large|L1 table",
    )
    enter(
        "R1-snapshot-l1",
        "A snapshot's L1 is behind the end of the file.",
        "R1",
        "snapshot-l1",
        edited(in_snapshot(0, 0, 8, FAR_OFFSET)),
        may=f"{LOST} metadata-beyond-eof file-shorter-than-image",
        needs=[Has.SNAPSHOTS],
        says="exceeding the end of the file",
    )
    enter(
        "R1-snapshot-l2",
        "An L2 table of a snapshot is behind the end of the file.",
        "R1",
        "l2-table-beyond-eof",
        edited(snapshot_l1_word(lambda _image, _word: FAR_OFFSET)),
        may=LOST,
        needs=[Has.SNAPSHOTS],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R4-snapshot-l2-unaligned",
        "An L2 table of a snapshot is not aligned.",
        "R4",
        "l2-offset-unaligned",
        edited(snapshot_l1_word(lambda image, word: word | image.layout.cluster_bytes // 2)),
        may=f"{LOST} refcount-too-low",
        needs=[Has.SNAPSHOTS, Has.ALIGNMENT],
        says="not cluster aligned",
    )
    enter(
        "R3-snapshot-l1-reserved",
        "An L1 entry of a snapshot has a reserved bit set.",
        "R3",
        "l1-reserved-bits",
        edited(snapshot_l1_word(lambda _image, word: word | 1 << 58)),
        needs=[Has.SNAPSHOTS],
        says="reserved bits set",
    )
    enter(
        "R5-snapshot-l2-reserved",
        "An L2 entry of a snapshot has a reserved bit set.",
        "R5",
        "l2-reserved-bits",
        edited(snapshot_l2_word(OWNED, lambda word: word | 1 << 57)),
        needs=[Has.SNAPSHOTS],
        says="reserved bits set",
    )
    enter(
        "R1-snapshot-data",
        "Data of a snapshot is behind the end of the file.",
        "R1",
        "data-beyond-eof",
        edited(snapshot_l2_word(OWNED, lambda _: FAR_OFFSET)),
        may=LOST,
        needs=[Has.SNAPSHOTS],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R22-snapshot-l1-on-header",
        "A snapshot's L1 is the header's cluster.",
        "R22, 2.5.2",
        "snapshot-l1",
        edited(lambda image: poke(image, image.layout.snapshot_entries[0].offset, bytes(8))),
        may=f"{MISREAD_TABLE} snapshot-copied",
        needs=[Has.SNAPSHOTS],
        says="found L1 entry with reserved bits set: 514649fb",
    )


def _enter_copied(book: Book) -> None:
    for name, edit in (
        ("l1", snapshot_l1_word(lambda _image, word: word | COPIED)),
        ("l2", snapshot_l2_word(OWNED, lambda word: word | COPIED)),
    ):
        book.enter(
            f"M-snapshot-{name}-copied",
            "A table of a snapshot has COPIED set, which the active disk alone may.",
            "2.5.6",
            "snapshot-copied",
            edited(edit),
            needs=[Has.SNAPSHOTS],
            qemu=Verdict.CLEAN,
        )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_table(book)
    _enter_named(book)
    _enter_copied(book)
