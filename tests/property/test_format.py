"""Any bytes in place of a structure: findings, never an exception, the same ones each time."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from qcowgui.format.feature_rules import check_features
from qcowgui.format.features import parse_feature_names
from qcowgui.format.finding import CODES
from qcowgui.format.geometry import Geometry
from qcowgui.format.header import parse_header
from qcowgui.format.header_rules import check_header
from qcowgui.format.tables import decode_l2, l2_table_offsets, parse_words
from tests.support.layout import HEADER_FIELDS
from tests.support.strategies import INTERESTING

MEMORY_BOUND_BYTES = 4 << 20


@st.composite
def headers(draw: st.DrawFn) -> bytes:
    """A header whose fields are drawn at their borders, cut or followed by anything."""
    data = bytearray(112)
    for name, (offset, width) in HEADER_FIELDS.items():
        value = draw(st.sampled_from(INTERESTING) | st.integers(0, (1 << 8 * width) - 1))
        if name == "version":
            value = draw(st.sampled_from([2, 3, 3, 3, value]))
        data[offset : offset + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "big")
    tail = draw(st.binary(max_size=64))
    return (bytes(data) + tail)[: draw(st.integers(0, 176))]


@given(headers(), st.integers(0, 1 << 40))
def test_any_header_is_judged(data: bytes, file_bytes: int) -> None:
    tracemalloc.start()
    try:
        header = parse_header(data)
        findings = check_header(header, available_bytes=file_bytes)
        findings += check_features(header, {})
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < MEMORY_BOUND_BYTES
    assert all(finding.code in CODES and finding.message for finding in findings)
    assert parse_header(data) == header
    for found in header.field_values():
        # What is shown of a field is what lies in the file.
        assert data[found.field.offset : found.field.end].startswith(found.raw)
        expected = None if found.value is None else int.from_bytes(found.raw, "big")
        assert found.value == expected


@given(st.binary(max_size=500))
def test_any_feature_name_table(data: bytes) -> None:
    names, findings = parse_feature_names(data)
    assert len(names) <= len(data) // 48
    assert all(name.isprintable() and "\0" not in name for name in names.values())
    assert len(findings) == bool(len(data) % 48)


@given(
    st.binary(max_size=400),
    st.integers(9, 21),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.none() | st.integers(0, 1 << 50),
)
def test_any_l2_table(
    data: bytes, cluster_bits: int, version: int, extended: bool, data_file: int | None
) -> None:
    words = parse_words(data)
    bitmaps = None
    if extended:
        words, bitmaps = words[: len(words) // 2 * 2 : 2], words[1::2]
    view = decode_l2(
        words,
        bitmaps,
        Geometry(cluster_bits, extended),
        version=version,
        data_file_guest_offset=data_file,
    )
    assert len(view.kinds) == len(view.host_offsets) == len(view.payload_bytes) == len(words)
    assert (view.host_offsets >= 0).all()
    assert (view.payload_bytes >= 0).all()
    assert (view.payload_bytes <= 2 << cluster_bits).all()
    assert (l2_table_offsets(words) >= 0).all()
