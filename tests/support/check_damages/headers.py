"""Damages and oddities of the header and of its feature bits."""

from __future__ import annotations

from typing import Unpack

from tests.support.check_damages.consequences import SHORT_FILE
from tests.support.check_damages.geometries import OWNED, Has
from tests.support.check_damages.record import Book, Edit, Make, Verdict, both, edited
from tests.support.check_damages.refcounts import counted, data_cluster
from tests.support.damage import flip_bits, set_feature_bit, set_field
from tests.support.options import OptionKeywords
from tests.support.preamble import (
    EXT_FEATURE_NAMES,
    feature_table,
)

EXT_LIEVEN = 0xC03183A3
EXT_CLB3 = 0x434C4233
V3 = ["v3-512", "v3-4k", "v3-64k", "extended-16k", "snapshots-64k"]
PLAIN = [*V3, "v2-512", "v2-64k"]


def with_options(**options: Unpack[OptionKeywords]) -> Make:
    """Return a maker of the standard image with other options."""
    return lambda geometry: geometry.builder(**options).build()


def with_field(name: str, value: int) -> Make:
    """Return a maker that sets a header field."""
    return edited(lambda image: set_field(image, name, value))


def with_bit(field_name: str, bit: int) -> Make:
    """Return a maker that sets a feature bit."""
    return edited(lambda image: set_feature_bit(image, field_name, bit))


def _bit(number: int) -> Edit:
    return lambda image: set_feature_bit(image, "incompatible_features", number)


def _enter_header(book: Book) -> None:
    enter = book.enter
    enter(
        "O-header-104",
        "The header has 104 bytes, as QEMU before 5.1 wrote it.",
        "4.1 QEMU < 5.1, 4.2.1, BL-O19",
        "",
        with_options(header_length=104),
        only=V3,
        qemu=Verdict.CLEAN,
    )
    for n_bytes in (8, 24):
        enter(
            f"O-header-{112 + n_bytes}",
            "The header is longer than the fields known today.",
            "4.2.1, BL-O19",
            "header-tail",
            with_options(header_tail=b"\x5a" * n_bytes),
            only=V3,
            qemu=Verdict.CLEAN,
        )
    for has_table, only, verdict in (
        ("", ["v3-512", "v3-4k", "order-3"], Verdict.CLEAN),
        ("-feature-table", ["v3-64k", "extended-16k", "snapshots-64k"], Verdict.REFUSED),
    ):
        enter(
            f"M-header-109{has_table}",
            "header_length is not a multiple of 8, so extensions start in the header's padding.",
            "2.5.7, 4.2.1, BL-O19",
            "header-length-alignment",
            with_field("header_length", 109),
            may="extension-overlong extension-unknown extension-padding extension-unterminated "
            "header-padding extension-length",
            only=only,
            qemu=verdict,
        )
    enter(
        "M-header-padding",
        "The padding behind the compression type is not zero.",
        "2.5.7",
        "header-padding",
        edited(lambda image: flip_bits(image, 105, 7)),
        needs=[Has.V3],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-version-2",
        "Version 2 with a snapshot that has no extra data.",
        "4.2.11, BL-O20",
        "",
        with_options(version=2),
        only=["snapshots-512", "snapshots-64k"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-size-odd",
        "The virtual size is no multiple of 512.",
        "4.2.7",
        "header-virtual-size-alignment",
        edited(lambda image: set_field(image, "size", image.disk.size - 100)),
        may="bitmap-table",
        only=PLAIN,
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-size-zero",
        "The disk has no bytes; the L1 is as it was.",
        "4.2.7",
        "",
        with_field("size", 0),
        only=PLAIN,
        qemu=Verdict.CLEAN,
    )
    for name, field_name, value, code in (
        ("l1-size-zero", "l1_size", 0, "l1-too-small"),
        ("l1-size-max", "l1_size", 0x7FFFFFFF, "l1-too-large"),
        ("l1-unaligned", "l1_table_offset", 0x1234567890ABCDEF, "l1-offset"),
        ("refcount-table-unaligned", "refcount_table_offset", 0x1001, "refcount-table-offset"),
        ("size-max", "size", (1 << 64) - 1, "header-virtual-size"),
        ("cluster-bits-8", "cluster_bits", 8, "header-cluster-bits"),
        ("cluster-bits-22", "cluster_bits", 22, "header-cluster-bits"),
        ("cluster-bits-max", "cluster_bits", 0xFFFFFFFF, "header-cluster-bits"),
        ("version-4", "version", 4, "header-version"),
        ("crypt-3", "crypt_method", 3, "header-crypt-method"),
        ("backing-outside", "backing_file_offset", 5 << 21, "backing-name-location"),
    ):
        enter(
            f"F-{name}",
            f"{field_name} is {value:#x}: QEMU does not open the image.",
            "1.5, BL-O25, BL-O27, BL-O28, BL-O30, BL-O60",
            code,
            with_field(field_name, value),
            may=f"{SHORT_FILE} l1-too-small l1-too-large header-length backing-name-length "
            "header-virtual-size-alignment",
            only=["v3-512", "v3-64k", "snapshots-64k", "v2-64k"],
            qemu=Verdict.REFUSED,
        )
    enter(
        "F-version-1",
        "The version is that of the old format, which has the same magic.",
        "4.2.14, 4.1 VirtualBox",
        "",
        with_field("version", 1),
        is_qcow2=False,
        only=["v3-512", "v3-64k"],
        qemu=Verdict.REFUSED,
    )
    enter(
        "F-header-length-max",
        "The header is 4 GiB long.",
        "1.5, BL-O26",
        "header-length",
        with_field("header_length", 0xFFFFFFFF),
        only=V3,
        qemu=Verdict.REFUSED,
    )
    enter(
        "R1-l1",
        "The L1 is behind the end of the file, which is cut.",
        "R1, BL-O06, 4.1 zchee",
        "l1-truncated",
        edited(
            both(
                lambda image: set_field(image, "l1_table_offset", 1 << 40),
                lambda image: image.resized(image.layout.l1.offset),
            )
        ),
        may="file-shorter-than-image metadata-beyond-eof leak refcount-too-high "
        "refcount-block-beyond-eof",
        only=["v3-512", "v3-4k", "v3-64k", "v2-512", "v2-64k", "extended-16k", "order-0"],
        says="counting reference for region exceeding the end of the file",
    )


def _enter_features(book: Book) -> None:
    enter = book.enter
    enter(
        "O-dirty",
        "The image was not closed cleanly; its refcounts are right all the same.",
        "4.2.5",
        "dirty",
        with_bit("incompatible_features", 0),
        needs=[Has.V3],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-corrupt",
        "The image is marked corrupt; nothing is wrong with it.",
        "4.2.5",
        "corrupt",
        with_bit("incompatible_features", 1),
        needs=[Has.V3],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-dirty-and-stale",
        "The image was not closed cleanly, and a new data cluster is not counted.",
        "R22, 4.2.5, BL-O23",
        "dirty refcount-zero",
        edited(both(_bit(0), counted(lambda image: data_cluster(image, OWNED), lambda _: 0))),
        may="l2-copied",
        needs=[Has.V3, Has.DATA_INSIDE],
        says="refcount=0 reference=1",
    )
    enter(
        "O-dirty-and-corrupt",
        "Both marks are set.",
        "4.2.5",
        "dirty corrupt",
        edited(both(_bit(0), _bit(1))),
        needs=[Has.V3],
        qemu=Verdict.CLEAN,
    )
    for bit in (5, 40):
        enter(
            f"F-incompatible-{bit}",
            f"Incompatible feature {bit} is unknown.",
            "1.3, 4.3 unknown, BL-O22, BL-O24",
            "unknown-incompatible",
            with_bit("incompatible_features", bit),
            may="leak",
            only=V3,
            qemu=Verdict.REFUSED,
        )
    enter(
        "F-incompatible-named",
        "An unknown incompatible feature has a name in the image.",
        "BL-O22",
        "unknown-incompatible",
        with_options(
            incompatible=1 << 5,
            feature_table=False,
            extensions=[(EXT_FEATURE_NAMES, feature_table([(0, 5, "time travel")]))],
        ),
        only=V3,
        qemu=Verdict.REFUSED,
    )
    for class_name, bit in (("compatible", 63), ("autoclear", 7)):
        enter(
            f"O-{class_name}-{bit}",
            f"A feature bit of the {class_name} class is unknown.",
            "1.3, 4.2.5",
            f"unknown-{class_name}",
            with_bit(f"{class_name}_features", bit),
            only=V3,
            qemu=Verdict.CLEAN,
        )
    for name, field_name, value, code in (
        ("zstd-without-bit", "compression_type", 1, "compression-type-bit"),
        ("type-2", "compression_type", 2, "compression-type-unknown"),
    ):
        enter(
            f"F-compression-{name}",
            "The compression type contradicts the feature bits.",
            "1.5, BL-O49",
            code,
            with_field(field_name, value),
            may="compression-type-bit payload-other-type",
            only=V3,
            qemu=Verdict.REFUSED,
        )
    enter(
        "O-aes",
        "The image uses the old encryption; its metadata is sound.",
        "4.2.13, BL-O63",
        "aes-legacy",
        with_field("crypt_method", 1),
        only=["v3-512", "v3-64k", "v2-64k"],
        qemu=Verdict.REFUSED,
    )
    enter(
        "O-no-feature-table",
        "Version 3 without a feature name table.",
        "4.3 2014",
        "",
        with_options(feature_table=False),
        only=["v3-64k", "v3-2m", "extended-64k", "snapshots-64k"],
        qemu=Verdict.CLEAN,
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_header(book)
    _enter_features(book)
