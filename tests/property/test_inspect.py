"""The tolerant open of images with any damage: an answer, in bounded time and memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qcowgui.errors import NotQcow2Error
from qcowgui.format.finding import CODES, Refusal
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import BytesSource
from tests.support.strategies import ImageCase, MutatedImage, image_cases, mutated_images

MEMORY_BOUND_BYTES = 64 << 20
TIME_BOUND_SECONDS = 5.0
"""Of processor time: some hundred times what it takes, for busy machines and tracing."""

slow_to_build = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def bounded_report(data: bytes) -> ImageReport | None:
    """The report, None when the file is no qcow2 image; fails when it costs too much."""
    is_qcow2 = data[:4] == b"QFI\xfb" and data[4:8] != b"\0\0\0\1"
    report = None
    start = time.process_time()
    tracemalloc.start()
    try:
        if is_qcow2:
            report = inspect_source(BytesSource(data))
        else:
            with pytest.raises(NotQcow2Error):
                inspect_source(BytesSource(data))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < MEMORY_BOUND_BYTES
    assert time.process_time() - start < TIME_BOUND_SECONDS
    return report


@slow_to_build
@given(mutated_images())
def test_damaged_images_get_a_report(image: MutatedImage) -> None:
    data = image.mutated.to_bytes()
    report = bounded_report(data)
    if report is None:
        return
    severities = [finding.severity for finding in report.findings]
    assert severities == sorted(severities, reverse=True)
    for finding in report.findings:
        assert finding.code in CODES
        assert finding.message.isprintable()
        assert finding.host_offset is None or finding.host_offset >= 0
        assert finding.count >= 1
    assert report.readable == (not report.refusals)
    assert set(report.mapping_refusals) <= set(report.refusals)
    assert all(finding.refusal is Refusal.READER for finding in report.mapping_refusals)
    for text in (report.backing_name, report.backing_format, report.data_file_name):
        assert text is None or text.isprintable()
    assert inspect_source(BytesSource(data)) == report


@slow_to_build
@given(image_cases(leaks=True))
def test_healthy_images_are_readable_and_sound(case: ImageCase) -> None:
    """Nothing is made up: only unknown bits, a tail and the like are remarked upon."""
    report = bounded_report(case.build().to_bytes())
    assert report is not None
    assert report.readable
    assert {finding.code for finding in report.findings} <= {
        "header-tail",
        "unknown-compatible",
        "refcount-table-truncated",
    }


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_behind_the_magic(data: bytes, version_3: bool) -> None:
    version = 3 if version_3 else 2
    report = bounded_report(b"QFI\xfb" + version.to_bytes(4, "big") + data)
    assert report is not None
    assert report.header.geometry is not None or report.mapping_refusals
    assert {finding.code for finding in report.findings} <= CODES.keys()
