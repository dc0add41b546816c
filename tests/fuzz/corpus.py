"""The images that mutants are made of: small ones, of every geometry that is small."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from tests.support.base_images import rich, s0
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import GEOMETRIES
from tests.support.layout import HEADER_FIELDS, Layout, Span

MAX_FILE_BYTES = 1 << 20
"""Limits of time and memory hold for files up to this size."""

DATA_FILE_NAME = "guest.data"


@dataclass(frozen=True)
class Spot:
    """A structure of an image, and where something stands in it.

    Attributes:
        words: Host offsets of its aligned 8-byte words that are not zero; of the first if all are.
    """

    name: str
    span: Span
    words: tuple[int, ...]


@dataclass(frozen=True)
class SeedImage:
    """A healthy image that mutants start from.

    Attributes:
        data: The whole file.
        spots: Structures and payloads; never empty.
        fields: Offset and width of each header field that this header has.
        offsets: Host offsets at which something is, for references that point somewhere real.
        cluster_bytes: The cluster size.
    """

    name: str
    data: bytes
    spots: tuple[Spot, ...]
    fields: tuple[tuple[str, int, int], ...]
    offsets: tuple[int, ...]
    cluster_bytes: int


@functools.cache
def corpus() -> tuple[SeedImage, ...]:
    """Return the seed images, always in the same order."""
    images = {"rich": rich(), "rich-deep": rich(backing_file=None, backing_format=None), "s0": s0()}
    for name, geometry in GEOMETRIES.items():
        images[name] = geometry.image()
    return tuple(
        _seed_image(name, image)
        for name, image in sorted(images.items())
        if len(image.file) <= MAX_FILE_BYTES
    )


def write_data_file(folder: Path) -> Path:
    """Write the external data file that some seed images name; return its path."""
    image = GEOMETRIES["data-file-4k"].image()
    path = folder / DATA_FILE_NAME
    if image.data_file is None:
        raise LookupError("the geometry has no data file")
    image.data_file.write_to(path)
    return path


def _seed_image(name: str, image: BuiltImage) -> SeedImage:
    data, layout = image.to_bytes(), image.layout
    return SeedImage(
        name=name,
        data=data,
        spots=_spots(data, layout),
        fields=tuple(
            (field, offset, width)
            for field, (offset, width) in HEADER_FIELDS.items()
            if offset + width <= layout.header.length
        ),
        offsets=_offsets(data, layout),
        cluster_bytes=layout.cluster_bytes,
    )


def _spots(data: bytes, layout: Layout) -> tuple[Spot, ...]:
    spans = dict(layout.structures())
    spans |= {f"payload[{index}]": span for index, span in layout.payloads.items()}
    spans |= {f"snapshot[{i}]": span for i, span in enumerate(layout.snapshot_entries)}
    spans |= {f"bitmap[{i}]": span for i, span in enumerate(layout.bitmap_entries)}
    for (snapshot, l1_index), span in layout.snapshot_l2.items():
        spans[f"snapshot_l2[{snapshot},{l1_index}]"] = span
    found = []
    for name, span in spans.items():
        starts = range(span.offset - span.offset % 8, min(span.end, len(data)) - 7, 8)
        words = tuple(start for start in starts if data[start : start + 8] != bytes(8))
        if starts:
            found.append(Spot(name, span, words or (starts[0],)))
    return tuple(found)


def _offsets(data: bytes, layout: Layout) -> tuple[int, ...]:
    cluster_bytes = layout.cluster_bytes
    end = -(-len(data) // cluster_bytes) * cluster_bytes
    spans = [*layout.data.values(), *layout.payloads.values()]
    found = {span.offset for _, span in layout.structures()} | {span.offset for span in spans}
    found |= {0, end - cluster_bytes, end, end + cluster_bytes, end + 2 * cluster_bytes}
    return tuple(sorted(found))
