"""Which compression a payload has, and how many payloads begin in a stretch of bytes."""

from __future__ import annotations

import pytest

from qcowgui.codec.registry import CompressionType, encoder
from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import Geometry
from qcowgui.image.source import BytesSource
from qcowgui.salvage.payloads import count_payload_starts, judge_payloads, likely_types
from qcowgui.salvage.scan import scan_source
from qcowgui.salvage.tables import describe_tables
from tests.support.base_images import pattern, text
from tests.support.builder import ImageBuilder
from tests.support.options import MIB

GEOMETRY = Geometry(12)


def payloads(kind: CompressionType, count: int) -> list[bytes]:
    coder = encoder(kind, 4096)
    made = [coder.encode(text(4096, index)) for index in range(count)]
    return [bytes(payload) for payload in made if payload is not None]


@pytest.mark.parametrize("kind", list(CompressionType))
def test_the_first_bytes_allow_the_right_type(kind: CompressionType) -> None:
    assert all(kind in likely_types(payload) for payload in payloads(kind, 20))


def test_a_prerelease_payload_is_zstd() -> None:
    payload = payloads(CompressionType.ZSTD, 1)[0]
    assert likely_types(len(payload).to_bytes(4, "big") + payload)[0] is CompressionType.ZSTD


@pytest.mark.parametrize("data", [b"", b"\x06 the reserved block type", b"\xff"])
def test_what_is_no_payload(data: bytes) -> None:
    assert likely_types(data) == ()


@pytest.mark.parametrize("kind", list(CompressionType))
def test_payloads_one_behind_the_other_are_counted(kind: CompressionType) -> None:
    data = b"".join(payloads(kind, 17))
    assert count_payload_starts(data, GEOMETRY, kind) == 17
    assert count_payload_starts(pattern(9000, 4), GEOMETRY, CompressionType.ZSTD) == 0
    assert count_payload_starts(bytes(9000), GEOMETRY, kind) == 0


def judged(image_bytes: bytes) -> tuple[int, int, int]:
    source, token = BytesSource(image_bytes), CancelToken()
    tables = describe_tables(source, scan_source(source, token), GEOMETRY, token)
    verdict = judge_payloads(source, tables, tables.offsets, token)
    return verdict.tried, verdict.zlib, verdict.zstd


@pytest.mark.parametrize("kind", list(CompressionType))
def test_payloads_are_judged_by_decoding_them(kind: CompressionType) -> None:
    builder = ImageBuilder(cluster_bits=12, size=4 * MIB, compression_type=int(kind))
    for index in range(200):
        builder.write_compressed(index, text(4096, index))
    tried, zlib, zstd = judged(builder.build().to_bytes())
    assert tried >= 16
    assert (zlib, zstd) == ((tried, 0) if kind is CompressionType.ZLIB else (0, tried))


def test_without_payloads_nothing_is_tried() -> None:
    builder = ImageBuilder(cluster_bits=12, size=4 * MIB)
    builder.write(0, pattern(MIB, 1))
    assert judged(builder.build().to_bytes()) == (0, 0, 0)
