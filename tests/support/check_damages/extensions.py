"""Damages and oddities of header extensions, of names in them, and of whole writers."""

from __future__ import annotations

from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import OWNED, Geometry, Has
from tests.support.check_damages.headers import PLAIN, with_options
from tests.support.check_damages.record import Book, Verdict, edited
from tests.support.check_damages.refcounts import all_zero
from tests.support.check_damages.tables import COPIED, l1_word, l2_word
from tests.support.damage import flip_bits, poke, set_field
from tests.support.options import TIB
from tests.support.preamble import (
    EXT_BACKING_FORMAT,
    EXT_CROSVM_BACKING_FORMAT,
    EXT_DATA_FILE,
)

EXT_LIEVEN = 0xC03183A3
EXT_CLB3 = 0x434C4233


def _extension_padding(geometry: Geometry) -> BuiltImage:
    """An extension of 5 bytes has 3 of padding."""
    image = geometry.builder(extensions=[(0x12345678, b"five!")]).build()
    return flip_bits(image, image.layout.extension(0x12345678).data_offset + 5, 3)


def _overlong_extension(geometry: Geometry) -> BuiltImage:
    image = geometry.builder(extensions=[(0x12345678, b"8 bytes.")]).build()
    offset = image.layout.extension(0x12345678).offset + 4
    return poke(image, offset, (0x7FFFFFFF).to_bytes(4, "big"))


def _enter_extensions(book: Book) -> None:
    enter = book.enter
    for name, extensions, codes in (
        ("unknown", [(0x12345678, b"unknown, to be kept")], "extension-unknown"),
        ("empty", [(0x12345678, b"")], "extension-unknown"),
        (
            "duplicate",
            [(0x12345678, b"one"), (0x12345678, b"two")],
            "extension-unknown extension-duplicate",
        ),
        ("pcbastler", [(EXT_CLB3, bytes(16))], "extension-unknown"),
    ):
        enter(
            f"O-extension-{name}",
            "There is a header extension that QEMU does not know.",
            "2.5.7, 4.2.2, 4.1 pcbastler",
            codes,
            with_options(extensions=extensions),
            only=PLAIN,
            qemu=Verdict.CLEAN,
        )
    enter(
        "O-extension-unterminated",
        "The extensions fill the first cluster and have no end marker.",
        "1.4, 4.2.2",
        "extension-unknown",
        lambda geometry: geometry.builder(
            extensions=[(0x12345678, bytes(geometry.cluster_bytes - 112 - 8))],
            end_extension=False,
        ).build(),
        may="extension-unterminated",
        only=["v3-512", "v3-4k", "order-3"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "F-extension-overlong",
        "A header extension claims 2 GiB.",
        "4.2.2, BL-O26",
        "extension-overlong",
        _overlong_extension,
        may="extension-unknown",
        only=PLAIN,
        qemu=Verdict.REFUSED,
    )
    enter(
        "M-extension-padding",
        "The padding behind an extension is not zero.",
        "2.5.7",
        "extension-padding",
        _extension_padding,
        may="extension-unknown",
        only=PLAIN,
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-extension-crosvm",
        "The backing format is under a wrong number, and the file ends one byte short.",
        "4.1 crosvm",
        "extension-misspelt",
        lambda geometry: _one_byte_short(
            geometry.builder(
                extensions=[(EXT_CROSVM_BACKING_FORMAT, b"raw")], header_length=104
            ).build()
        ),
        may="data-truncated compressed-truncated file-shorter-than-image l2-truncated",
        only=["v3-4k", "v3-64k", "extended-16k"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "F-extension-lieven",
        "The compression proposal of 2017: its extension, and what is now the data file's bit.",
        "4.3 Lieven",
        "extension-legacy-compression",
        with_options(extensions=[(EXT_LIEVEN, b"zstd")], incompatible=1 << 2),
        may="data-file-missing-name extension-unknown leak refcount-too-high "
        "compressed-with-data-file l2-copied data-file-offset",
        only=["v3-4k", "v3-64k"],
        qemu=Verdict.REFUSED,
    )


def _one_byte_short(image: BuiltImage) -> BuiltImage:
    return image.resized(len(image.file) - 1)


def _docker(geometry: Geometry) -> BuiltImage:
    image = geometry.builder(
        compatible=1, extensions=[(EXT_BACKING_FORMAT, b"/base.qcow2")]
    ).build()
    return all_zero(image)


def _no_copied_at_all(image: BuiltImage) -> BuiltImage:
    for index in image.layout.l2:
        image = l1_word(lambda word, _: word & ~COPIED, index)(image)
    return l2_word(OWNED, lambda word, _: word & ~COPIED)(image)


def _e2image(geometry: Geometry) -> BuiltImage:
    builder = geometry.builder()
    builder.leak(1)
    return builder.build()


def _another_data_file(image: BuiltImage) -> BuiltImage:
    """The name becomes that of a file of the system's, of the same length."""
    return poke(image, image.layout.extension(EXT_DATA_FILE).data_offset, b"/etc/hosts")


def _enter_names(book: Book) -> None:
    book.enter(
        "O-backing-file-gone",
        "The backing file does not exist; what the image itself holds is sound.",
        "BL-O16, 4.2.10",
        "",
        with_options(backing_file="gone.raw", backing_format="raw"),
        only=PLAIN,
        qemu=Verdict.REFUSED,
    )
    book.enter(
        "M-data-file-elsewhere",
        "The external data file is one of the system's; a check must not open it.",
        "4.4, BL-O58",
        "",
        edited(_another_data_file),
        needs=[Has.DATA_FILE],
        qemu=Verdict.CLEAN,
    )


def _enter_writers(book: Book) -> None:
    enter = book.enter
    enter(
        "R22-docker-for-mac",
        "Lazy refcounts, all refcounts zero, and a file name where the format should be.",
        "R22, 4.1 Docker for Mac, 4.2.4, BL-O11",
        "refcount-zero",
        _docker,
        may="l1-copied l2-copied",
        only=["v3-4k", "v3-64k"],
        says="refcount=0 reference=1",
    )
    enter(
        "R24-cloud-hypervisor",
        "Neither the L1 entries nor a data cluster's have COPIED.",
        "R24, R25, 4.1 cloud-hypervisor 7526, BL-O12",
        "l1-copied l2-copied",
        edited(_no_copied_at_all),
        needs=[Has.DATA_INSIDE],
        says="OFLAG_COPIED",
    )
    enter(
        "R23-e2image",
        "Version 2 with one leaked cluster, as e2image writes it.",
        "R23, 4.1 e2image",
        "leak",
        _e2image,
        only=["v2-512", "v2-64k"],
        qemu=Verdict.LEAKS,
        says="Leaked cluster",
    )
    enter(
        "F-first-cluster-wiped",
        "The first cluster is all zeros.",
        "2.5.10, 4.1 cloud-hypervisor 8358",
        "",
        edited(lambda image: poke(image, 0, bytes(image.layout.cluster_bytes))),
        is_qcow2=False,
        qemu=Verdict.REFUSED,
    )
    enter(
        "F-huge-claim",
        "516 bytes claim a disk of 152 TiB.",
        "BL-O60",
        "l1-truncated",
        lambda geometry: set_field(
            set_field(geometry.image(), "size", 152 * TIB),
            "l1_size",
            152 * TIB // (geometry.cluster_bytes**2 // 8),
        ).resized(516),
        may="file-shorter-than-image refcount-table-truncated l1-too-small metadata-beyond-eof "
        "refcount-zero extension-truncated leak l1-offset",
        only=["v3-64k", "v3-2m"],
        says="exceeding the end of the file",
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_extensions(book)
    _enter_names(book)
    _enter_writers(book)
