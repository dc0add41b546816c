"""Tables over which something else was written: text, noise, ones; all of it, or half."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.support.base_images import text
from tests.support.built import BuiltImage
from tests.support.check_damages.consequences import LOST, MISREAD_TABLE
from tests.support.check_damages.geometries import GEOMETRIES, Has
from tests.support.check_damages.record import Book, Edit, Verdict, edited
from tests.support.damage import poke
from tests.support.layout import Span

_NARROW = frozenset({"order-0", "order-1", "order-2", "order-3", "snapshots-order-2"})
"""Geometries whose refcounts are too narrow to tell noise from counts."""


def _text(length: int) -> bytes:
    return text(length, 7)


def _noise(length: int) -> bytes:
    return random.Random(length).randbytes(length)


def _ones(length: int) -> bytes:
    return b"\xff" * length


CONTENTS: dict[str, Callable[[int], bytes]] = {"text": _text, "noise": _noise, "ones": _ones}


def written_over(
    span: Callable[[BuiltImage], Span],
    content: Callable[[int], bytes],
    start: float = 0,
    end: float = 1,
) -> Edit:
    """Return an edit that writes content over a part of a structure, from sector to sector."""

    def edit(image: BuiltImage) -> BuiltImage:
        where = span(image)
        first = int(where.length * start) // 512 * 512
        last = max(int(where.length * end) // 512 * 512, min(where.length, first + 512))
        return poke(image, where.offset + first, content(last - first))

    return edit


def _l2(image: BuiltImage) -> Span:
    return image.layout.l2[0]


def _enter_mapping(book: Book) -> None:
    for name, content in CONTENTS.items():
        book.enter(
            f"O-l2-overwritten-{name}",
            f"The first L2 table is overwritten with {name}.",
            "4.2.3",
            "l2-overwritten",
            edited(written_over(_l2, content)),
            may=f"{LOST} snapshot-copied free-inside trailing-data trailing-space",
            says="ERROR",
        )
        book.enter(
            f"O-l1-overwritten-{name}",
            f"The L1 table is overwritten with {name}.",
            "4.2.3",
            "l1-overwritten",
            edited(written_over(lambda image: image.layout.l1, content)),
            may=f"{LOST} refcount-zero refcount-too-low",
            # It has 64 entries or more.
            only=["v3-512", "v2-512", "zstd-512", "snapshots-512", "bitmap-512"],
            says="ERROR",
        )
    for name, start, end in (("first", 0, 0.5), ("second", 0.5, 1)):
        book.enter(
            f"O-l2-overwritten-{name}-half",
            f"The {name} half of the first L2 table is overwritten with noise.",
            "4.2.3",
            "l2-overwritten",
            edited(written_over(_l2, _noise, start, end)),
            may=f"{LOST} snapshot-copied",
            needs=[Has.ALIGNMENT],
            says="ERROR",
        )
    book.enter(
        "O-l2-overwritten-zeros",
        "The first L2 table is overwritten with zeros.",
        "4.2.3",
        "leak",
        edited(written_over(_l2, bytes)),
        may="refcount-too-high",
        needs=[Has.DATA_INSIDE],
        qemu=Verdict.LEAKS,
        says="Leaked cluster",
    )


def _enter_refcounts(book: Book) -> None:
    wide = [name for name in GEOMETRIES if name not in _NARROW]
    for name, content in CONTENTS.items():
        book.enter(
            f"O-refcount-block-overwritten-{name}",
            f"The first refcount block is overwritten with {name}.",
            "R22",
            "refcount-block-overwritten",
            edited(written_over(lambda image: image.layout.refcount_blocks[0], content)),
            may=f"{MISREAD_TABLE} trailing-space",
            # With a data file there are too few clusters to tell.
            needs=[Has.DATA_INSIDE],
            only=wide,
            qemu=Verdict.CORRUPT,
            says="ERROR|Leaked",
        )
        book.enter(
            f"O-refcount-table-overwritten-{name}",
            f"The refcount table is overwritten with {name}.",
            "R17",
            "refcount-table-overwritten",
            edited(written_over(lambda image: image.layout.refcount_table, content)),
            may=f"{MISREAD_TABLE} refcount-unreadable refcount-block-unaligned "
            "refcount-block-beyond-eof",
            # Any offset is aligned to clusters of 512 bytes: QEMU reads there, and finds nothing.
            needs=[] if name == "ones" else [Has.ALIGNMENT],
            qemu=Verdict.ERRORS,
            says="ERROR",
        )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_mapping(book)
    _enter_refcounts(book)
