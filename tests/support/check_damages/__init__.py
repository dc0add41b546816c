"""Named damages for every row that a check has, each in the geometries where it makes sense.

`damages.py` has one rich image and more header fields; here each damage says which findings name
it, and what `qemu-img check` makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tests.support.check_damages import (
    bitmaps,
    extensions,
    headers,
    lengths,
    overwritten,
    ownership,
    payloads,
    refcounts,
    snapshots,
    tables,
)
from tests.support.check_damages.record import Book, CheckDamage


def _all() -> Mapping[str, CheckDamage]:
    book = Book()
    for chapter in (
        tables,
        overwritten,
        refcounts,
        snapshots,
        bitmaps,
        payloads,
        ownership,
        headers,
        extensions,
        lengths,
    ):
        chapter.enter_all(book)
    return MappingProxyType(book.damages)


CHECK_DAMAGES = _all()

NOT_IN_A_FILE: Mapping[str, str] = MappingProxyType(
    {
        "S1": "The header can't be read a second time: a fault of the storage, not of the bytes.",
        "2.5.9": "A backing file that is missing, smaller or in a loop: it takes several files.",
    }
)
"""Rows that no single image can show, with the reason."""
