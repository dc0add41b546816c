"""Damages of persistent bitmaps: R15, R16, R1, and what QEMU misses in them."""

from __future__ import annotations

from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import LOST
from tests.support.check_damages.geometries import Geometry, Has
from tests.support.check_damages.record import Book, Edit, Make, Verdict, both, edited
from tests.support.check_damages.tables import FAR_OFFSET
from tests.support.damage import flip_bits, set_field, set_integer
from tests.support.options import MIB
from tests.support.preamble import EXT_BITMAPS


def in_bitmap(relative_offset: int, width: int, value: int) -> Edit:
    """Return an edit of a field of the bitmap's directory entry."""

    def edit(image: BuiltImage) -> BuiltImage:
        offset = image.layout.bitmap_entries[0].offset + relative_offset
        return set_integer(image, offset, width, value)

    return edit


def in_extension(relative_offset: int, width: int, value: int) -> Edit:
    """Return an edit of the bitmaps extension; the offset counts from its type word."""

    def edit(image: BuiltImage) -> BuiltImage:
        offset = image.layout.extension(EXT_BITMAPS).offset + relative_offset
        return set_integer(image, offset, width, value)

    return edit


def _stored_entry_offset(image: BuiltImage) -> int:
    """Return the host offset of the bitmap table entry that names a cluster."""
    _, entry_index = next(iter(image.layout.bitmap_data))
    return image.layout.bitmap_tables[0].offset + 8 * entry_index


def _table_word(word: int, *, keep: bool = False) -> Edit:
    def edit(image: BuiltImage) -> BuiltImage:
        offset = _stored_entry_offset(image)
        kept = image.read_integer(offset, 8) if keep else 0
        return set_integer(image, offset, 8, kept | word)

    return edit


def _bits_behind_the_disk(image: BuiltImage) -> BuiltImage:
    """Set the last bit of the last stored cluster."""
    spans = image.layout.bitmap_data
    return flip_bits(image, spans[max(spans)].end - 1, mask=0x80)


def _extra(flags: int) -> Make:
    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        builder.bitmap("odd", flags=flags, extra=b"8 bytes.")
        return builder.build()

    return make


def _small_granularity(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder(size=2 * MIB)
    builder.bitmap("uniform", granularity_bits=geometry.cluster_bits + 3, set_ranges=[(0, 2 * MIB)])
    return builder.build()


def _enter_directory(book: Book) -> None:
    enter = book.enter
    for name, edit in (
        ("name-overlong", in_bitmap(18, 2, 0xFFFF)),
        ("extra-overlong", in_bitmap(20, 4, 0xFFFFFFF0)),
    ):
        enter(
            f"R15-directory-{name}",
            "A bitmap's entry runs over the directory's end.",
            "R15",
            "bitmap-directory",
            edited(edit),
            may=f"{LOST} bitmap-extra-data bitmap-name",
            needs=[Has.BITMAP],
            qemu=Verdict.REFUSED,
        )
    enter(
        "R15-directory-count",
        "The extension counts more bitmaps than the directory has.",
        "R15",
        "bitmap-directory",
        edited(in_extension(8, 4, 9)),
        may=LOST,
        needs=[Has.BITMAP],
        qemu=Verdict.REFUSED,
    )
    enter(
        "R15-directory-beyond-eof",
        "The bitmap directory is behind the end of the file.",
        "R15, R1",
        "bitmap-directory",
        edited(in_extension(24, 8, FAR_OFFSET)),
        may=f"{LOST} metadata-beyond-eof file-shorter-than-image",
        needs=[Has.BITMAP],
        qemu=Verdict.REFUSED,
    )
    for name, code, edit in (
        ("type", "bitmap-type", in_bitmap(16, 1, 7)),
        ("granularity", "bitmap-granularity", in_bitmap(17, 1, 64)),
        ("flags", "bitmap-flags", in_bitmap(12, 4, 1 << 31)),
        ("table-huge", "bitmap-table", in_bitmap(8, 4, 0xFFFFFFFF)),
    ):
        enter(
            f"R15-bitmap-{name}",
            f"A bitmap's {name} is not usable.",
            "R15, BL-O65",
            code,
            edited(edit),
            may=f"{LOST} bitmap-directory metadata-beyond-eof bitmap-table "
            "file-shorter-than-image structure-overlap",
            needs=[Has.BITMAP],
            qemu=Verdict.REFUSED,
        )


def _enter_tables(book: Book) -> None:
    enter = book.enter
    for name, bits in (("high", 1 << 63), ("low", 1 << 4), ("ones-and-offset", 1)):
        enter(
            f"R16-table-reserved-{name}",
            "An entry of a bitmap's table has reserved bits set.",
            "R16, 4.2.3",
            "bitmap-table",
            edited(_table_word(bits, keep=True)),
            may=LOST,
            needs=[Has.BITMAP],
            qemu=Verdict.REFUSED,
        )
        enter(
            f"R16-table-reserved-{name}-in-use",
            "The same in a bitmap that was not saved, whose table QEMU's open does not read.",
            "R16",
            "bitmap-table bitmap-in-use",
            edited(both(_table_word(bits, keep=True), in_bitmap(12, 4, 1))),
            may=LOST,
            needs=[Has.BITMAP],
            qemu=Verdict.ERRORS,
            says="Check failed: Invalid argument",
        )
    enter(
        "R16-table-beyond-eof",
        "A bitmap's table is behind the end of the file.",
        "R16, R1",
        "metadata-beyond-eof",
        edited(in_bitmap(0, 8, FAR_OFFSET)),
        may=f"{LOST} bitmap-table file-shorter-than-image",
        needs=[Has.BITMAP],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "R16-table-unaligned",
        "A bitmap's table is not aligned.",
        "R16",
        "bitmap-table",
        edited(
            lambda image: in_bitmap(
                0, 8, image.layout.bitmap_tables[0].offset + image.layout.cluster_bytes // 2
            )(image)
        ),
        may=f"{LOST} bitmap-directory",
        needs=[Has.BITMAP],
        qemu=Verdict.REFUSED,
    )
    enter(
        "R1-bitmap-data",
        "A cluster of a bitmap is behind the end of the file.",
        "R1",
        "bitmap-data-beyond-eof",
        edited(_table_word(FAR_OFFSET)),
        may=LOST,
        needs=[Has.BITMAP],
        says="counting reference for region exceeding the end of the file",
    )
    enter(
        "M-bitmap-tail",
        "A bitmap has bits set behind the disk's end.",
        "2.5.8",
        "bitmap-tail",
        edited(_bits_behind_the_disk),
        only=["bitmap-64k"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-bitmap-in-use",
        "A bitmap was not saved.",
        "2.5.8, 4.2.12, BL-O64",
        "bitmap-in-use",
        edited(in_bitmap(12, 4, 1)),
        needs=[Has.BITMAP],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-bitmaps-not-consistent",
        "There are bitmaps, but the autoclear bit does not vouch for them.",
        "2.5.8",
        "bitmaps-not-consistent",
        edited(lambda image: set_field(image, "autoclear_features", 0)),
        may=LOST,
        needs=[Has.BITMAP],
        qemu=Verdict.LEAKS,
        says="bitmaps are now considered inconsistent",
    )
    for name, flags in (("compatible", 4), ("unknown", 0)):
        enter(
            f"M-bitmap-extra-data-{name}",
            "A bitmap has extra data.",
            "BL-O65",
            "bitmap-extra-data",
            _extra(flags),
            may="bitmap-flags bitmap-directory",
            only=["v3-512", "v3-64k"],
            qemu=Verdict.REFUSED,
        )
    enter(
        "O-bitmap-uniform",
        "A bitmap is all ones, its granularity larger than a cluster.",
        "4.2.12",
        "",
        _small_granularity,
        only=["v3-512", "v3-64k"],
        qemu=Verdict.CLEAN,
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_directory(book)
    _enter_tables(book)
