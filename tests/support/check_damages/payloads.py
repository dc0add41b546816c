"""Damages of compressed payloads, which QEMU's check never decodes, and odd but sound ones."""

from __future__ import annotations

from typing import TypedDict, Unpack

from tests.support.base_images import pattern, text
from tests.support.built import BuiltImage
from tests.support.check_damages.geometries import COMPRESSED, UNUSED, Geometry, Has
from tests.support.check_damages.record import Book, Make, Verdict, edited
from tests.support.check_damages.tables import l2_word, offset_bits
from tests.support.damage import flip_bits
from tests.support.payload import ZSTD, LengthPrefix, deflate_stream, zstd_stream


class _Payload(TypedDict, total=False):
    """Keywords of `ImageBuilder.write_compressed`."""

    wbits: int
    frames: int
    content_size: bool
    payload: bytes
    length_prefix: LengthPrefix
    trailing: bytes
    align: int


def _flipped(image: BuiltImage) -> BuiltImage:
    payload = image.layout.payloads[COMPRESSED]
    return flip_bits(image, payload.offset + payload.length // 2, 8)


def _first_byte(image: BuiltImage) -> BuiltImage:
    return flip_bits(image, image.layout.payloads[COMPRESSED].offset, 4)


def _compressed(
    guest_cluster_index: int = UNUSED, *, seed: int = 7, **how: Unpack[_Payload]
) -> Make:
    """Return a maker that adds one compressed cluster; `how` is what `write_compressed` takes."""

    def make(geometry: Geometry) -> BuiltImage:
        builder = geometry.builder()
        builder.write_compressed(guest_cluster_index, text(builder.cluster_bytes, seed), **how)
        return builder.build()

    return make


def _stream_of(geometry: Geometry, data: bytes) -> bytes:
    is_zstd = geometry.options.get("compression_type") == ZSTD
    return zstd_stream(data) if is_zstd else deflate_stream(data)


def _half_a_cluster(geometry: Geometry) -> BuiltImage:
    """A sound stream that yields half of what a cluster needs."""
    stream = _stream_of(geometry, text(geometry.cluster_bytes // 2, 7))
    return _compressed(payload=stream)(geometry)


def _two_clusters(geometry: Geometry) -> BuiltImage:
    """A deflate stream that would yield more than a cluster; QEMU reads its beginning."""
    stream = deflate_stream(text(2 * geometry.cluster_bytes, 7))
    return _compressed(payload=stream)(geometry)


def _other_type(geometry: Geometry) -> BuiltImage:
    data = text(geometry.cluster_bytes, 7)
    is_zstd = geometry.options.get("compression_type") == ZSTD
    return _compressed(payload=deflate_stream(data) if is_zstd else zstd_stream(data))(geometry)


def _cut_stream(geometry: Geometry) -> BuiltImage:
    """The second half of a stream is zeros, as after a hole in a copy."""
    image = _compressed(align=512)(geometry)
    payload = image.layout.payloads[UNUSED]
    half = payload.length // 2
    return image.edited(payload.offset + half, bytes(payload.length - half))


def _more_sectors(change: int) -> Make:
    return edited(l2_word(COMPRESSED, lambda word, image: word + (change << offset_bits(image))))


def _crossing(geometry: Geometry) -> BuiltImage:
    """A payload of almost a cluster that starts near a cluster's end, the other near a second."""
    builder = geometry.builder()
    for index in range(UNUSED, UNUSED + 6):
        data = pattern(builder.cluster_bytes // 2, index).ljust(builder.cluster_bytes, b"\0")
        builder.write_compressed(index, data)
    return builder.build()


def _at_the_end(geometry: Geometry) -> BuiltImage:
    """The last payload's sector is cut by the end of the file, as qemu-img leaves it at times."""
    builder = geometry.builder(short_last_cluster=True)
    builder.write_compressed(UNUSED, text(builder.cluster_bytes, 7))
    return builder.build()


def _only_compressed(geometry: Geometry) -> BuiltImage:
    """Every cluster of the disk's first half is compressed."""
    builder = geometry.builder()
    for index in range(UNUSED, builder.size // builder.cluster_bytes // 2):
        builder.write_compressed(index, text(builder.cluster_bytes, index))
    return builder.build()


def _enter_broken(book: Book) -> None:
    enter = book.enter
    for name, sentence, edit in (
        ("middle", "Eight bytes in the middle of a payload are flipped.", _flipped),
        ("start", "The first bytes of a payload are flipped.", _first_byte),
    ):
        enter(
            f"M-payload-{name}",
            sentence,
            "2.5.1, BL-O14",
            "payload-damaged",
            edited(edit),
            # Flipped bits may make a stream that ends early, or that asks for more.
            may="payload-short payload-sectors-short payload-sectors-long payload-other-type",
            deep=True,
            # Zstd has no checksum here, so flipped literals may go unnoticed.
            needs=[Has.DEFLATE],
            qemu=Verdict.CLEAN,
        )
    enter(
        "M-payload-zstd-start",
        "The magic of a zstd payload is flipped.",
        "2.5.1",
        "payload-damaged",
        edited(_first_byte),
        may="payload-other-type",
        deep=True,
        needs=[Has.ZSTD],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-payload-cut",
        "The second half of a payload is zeros.",
        "2.5.1",
        "payload-damaged",
        _cut_stream,
        may="payload-short",
        deep=True,
        needs=[Has.PACKED],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-payload-short",
        "A payload yields half a cluster.",
        "2.5.1",
        "payload-short",
        _half_a_cluster,
        deep=True,
        needs=[Has.PACKED],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-payload-other-type",
        "A payload is of the other compression type.",
        "2.5.1",
        "payload-other-type",
        _other_type,
        deep=True,
        needs=[Has.PACKED],
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-payload-prerelease",
        "A zstd payload has its length before the frame, as unreleased patches wrote it.",
        "4.3 zstd",
        "prerelease-zstd",
        _compressed(length_prefix="big"),
        deep=True,
        needs=[Has.ZSTD],
        qemu=Verdict.CLEAN,
    )


def _enter_sectors(book: Book) -> None:
    enter = book.enter
    with_several_sectors = ["v3-4k", "v3-64k", "extended-16k", "order-3"]
    enter(
        "M-payload-sectors-short",
        "A descriptor names one sector less than its payload has.",
        "2.5.1, 2.7",
        "payload-sectors-short",
        _more_sectors(-1),
        may="payload-short leak refcount-too-high",
        deep=True,
        only=with_several_sectors,
        qemu=Verdict.CLEAN,
    )
    enter(
        "M-payload-sectors-long",
        "A descriptor names two sectors more than its payload has, in its own host cluster.",
        "2.5.1, 2.7",
        "payload-sectors-long",
        _more_sectors(2),
        deep=True,
        only=["v3-64k", "v3-2m", "v2-64k", "extended-64k"],
        qemu=Verdict.CLEAN,
    )


def _enter_sound(book: Book) -> None:
    enter = book.enter
    for name, sentence, make, needs in (
        ("crossing", "Payloads run over the ends of host clusters.", _crossing, [Has.PACKED]),
        ("at-eof", "The file ends inside the last payload's sector.", _at_the_end, [Has.PACKED]),
        (
            "window",
            "A deflate stream needs a history of 32 KiB.",
            _compressed(wbits=-15),
            [Has.DEFLATE, Has.PACKED],
        ),
        (
            "trailing",
            "There is junk between a stream and its sector's end.",
            _compressed(trailing=b"\xa5" * 9),
            [Has.PACKED],
        ),
        ("frames", "A zstd payload has three frames.", _compressed(frames=3), [Has.ZSTD]),
        (
            "no-content-size",
            "A zstd frame does not say how much it holds.",
            _compressed(content_size=False),
            [Has.ZSTD],
        ),
    ):
        enter(
            f"O-payload-{name}",
            sentence,
            "4.2.9",
            "",
            make,
            may="payload-sectors-long data-truncated compressed-truncated",
            needs=needs,
            qemu=Verdict.CLEAN,
        )
    enter(
        "M-payload-more-than-a-cluster",
        "A deflate stream would yield two clusters; QEMU takes the first without a word.",
        "4.2.9, BL-O48",
        "payload-damaged",
        _two_clusters,
        may="payload-sectors-long",
        deep=True,
        needs=[Has.DEFLATE, Has.PACKED],
        only=["v3-64k", "v2-64k", "extended-16k"],
        qemu=Verdict.CLEAN,
    )
    enter(
        "O-payload-everywhere",
        "Every cluster is compressed, as in small boot images.",
        "4.1 cluster 512, 4.1 old cloud images",
        "",
        _only_compressed,
        only=["v3-512", "v2-512", "zstd-512"],
        qemu=Verdict.CLEAN,
    )


def enter_all(book: Book) -> None:
    """Enter every damage of this module."""
    _enter_broken(book)
    _enter_sectors(book)
    _enter_sound(book)
