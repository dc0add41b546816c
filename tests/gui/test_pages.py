"""Pages: read beside the window, kept, forgotten, marked where they can't be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from qcowgui.engine.work import CancelToken
from qcowgui.errors import SourceError
from qcowgui.gui import pages as pages_module
from qcowgui.gui.background import BackgroundRunner
from qcowgui.gui.guest_pages import GuestPages, OpenGuest
from qcowgui.gui.pages import (
    MAX_READ_BYTES,
    PAGE_BYTES,
    LostBytes,
    Page,
    PageCache,
    page_reader,
)
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import pattern
from tests.support.builder import ImageBuilder

SIZE = 5 * PAGE_BYTES + 1000
DATA = pattern(SIZE)


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[BackgroundRunner]:
    made = BackgroundRunner(interval_ms=5)
    yield made
    made.cancel_all()
    qtbot.waitUntil(lambda: not made.active)
    made.deleteLater()


class Gate(BytesSource):
    """Bytes that are read when the test lets them; counts the reads."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.open = threading.Event()
        self.reads: list[int] = []

    def read_at(self, offset: int, length: int) -> bytes:
        self.reads.append(offset // PAGE_BYTES)
        assert self.open.wait(10)
        return super().read_at(offset, length)


class Damaged(BytesSource):
    """Bytes of which some can't be read."""

    def __init__(self, data: bytes, *bad: tuple[int, int]) -> None:
        super().__init__(data)
        self.bad = bad

    def read_at(self, offset: int, length: int) -> bytes:
        if any(offset < end and start < offset + length for start, end in self.bad):
            raise SourceError(f"can't be read at offset {offset:#x}: Input/output error")
        return super().read_at(offset, length)


def settle(qtbot: QtBot, cache: PageCache) -> None:
    qtbot.waitUntil(lambda: not cache.active)


def test_a_page_comes_when_it_was_asked_for(qtbot: QtBot, runner: BackgroundRunner) -> None:
    cache = PageCache(BytesSource(DATA), runner)
    assert (cache.size_bytes, cache.page_count) == (SIZE, 6)
    with qtbot.waitSignal(cache.loaded) as signal:
        assert cache.get(5) is None
    assert signal.args == [5]
    assert cache.get(5) == DATA[5 * PAGE_BYTES :]
    settle(qtbot, cache)


def test_asking_twice_reads_once(qtbot: QtBot, runner: BackgroundRunner) -> None:
    source = Gate(DATA)
    cache = PageCache(source, runner)
    loaded: list[int] = []
    cache.loaded.connect(loaded.append)
    for _ in range(3):
        assert cache.get(1) is None
        assert cache.get(2) is None
    source.open.set()
    settle(qtbot, cache)
    assert sorted(source.reads) == sorted(loaded) == [1, 2]


def test_the_latest_wish_comes_first(qtbot: QtBot, runner: BackgroundRunner) -> None:
    source = Gate(DATA)
    cache = PageCache(source, runner)
    cache.get(0)
    qtbot.waitUntil(lambda: source.reads == [0])
    for index in (1, 2, 3):
        cache.get(index)
    cache.get(1)
    source.open.set()
    settle(qtbot, cache)
    assert source.reads == [0, 1, 3, 2]


def test_wishes_that_scrolled_by_are_dropped(qtbot: QtBot, runner: BackgroundRunner) -> None:
    source = Gate(bytes(200 * PAGE_BYTES))
    cache = PageCache(source, runner)
    cache.get(0)
    qtbot.waitUntil(lambda: source.reads == [0])
    for index in range(1, 200):
        cache.get(index)
    source.open.set()
    settle(qtbot, cache)
    assert source.reads[1] == 199
    assert len(source.reads) < 80
    assert cache.get(199) is not None
    assert cache.get(1) is None
    settle(qtbot, cache)
    assert cache.get(1) is not None


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 1), (10, 100), (PAGE_BYTES - 1, 2), (3, 3 * PAGE_BYTES), (SIZE - 5, 100), (0, SIZE)],
)
def test_any_range_can_be_read(
    qtbot: QtBot, runner: BackgroundRunner, offset: int, length: int
) -> None:
    cache = PageCache(BytesSource(DATA), runner)
    assert cache.read(offset, length) is None
    settle(qtbot, cache)
    assert cache.read(offset, length) == DATA[offset : offset + length]
    assert cache.lost(offset, length) == ()


def test_behind_the_end_there_is_nothing(runner: BackgroundRunner) -> None:
    cache = PageCache(BytesSource(DATA), runner)
    assert cache.read(SIZE, 10) == cache.read(1 << 70, 1) == b""
    with pytest.raises(IndexError):
        cache.get(6)
    with pytest.raises(IndexError):
        cache.get(-1)
    with pytest.raises(ValueError, match="at once"):
        cache.read(0, MAX_READ_BYTES + 1)
    with pytest.raises(ValueError, match="at once"):
        cache.read(-1, 1)
    cache.prefetch(-1)
    cache.prefetch(6)
    assert not cache.active


def test_the_most_that_can_be_read_at_once_can_be_read(
    qtbot: QtBot, runner: BackgroundRunner
) -> None:
    cache = PageCache(BytesSource(bytes(MAX_READ_BYTES + PAGE_BYTES)), runner)
    assert cache.read(1, MAX_READ_BYTES) is None
    settle(qtbot, cache)
    assert cache.read(1, MAX_READ_BYTES) == bytes(MAX_READ_BYTES)


def test_what_was_not_used_for_long_is_forgotten(
    qtbot: QtBot, runner: BackgroundRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_module, "_KEPT_BYTES", 3 * PAGE_BYTES)
    cache = PageCache(BytesSource(DATA), runner)
    for index in (0, 1, 2):
        cache.get(index)
        settle(qtbot, cache)
    assert cache.get(0) is not None
    cache.get(3)
    settle(qtbot, cache)
    assert [cache.get(index) is not None for index in (0, 2, 3)] == [True] * 3
    assert cache.get(1) is None
    settle(qtbot, cache)


def test_a_bad_spot_costs_no_more_than_its_sectors(qtbot: QtBot, runner: BackgroundRunner) -> None:
    start = PAGE_BYTES + 4096
    cache = PageCache(Damaged(DATA, (start + 10, start + 600)), runner)
    with qtbot.waitSignal(cache.failed) as signal:
        assert cache.read(0, 3 * PAGE_BYTES) is None
    settle(qtbot, cache)
    assert signal.args is not None
    assert signal.args[0] == 1
    assert "Input/output error" in signal.args[1]
    data = cache.read(0, 3 * PAGE_BYTES)
    expected = bytearray(DATA[: 3 * PAGE_BYTES])
    expected[start : start + 1024] = bytes(1024)
    assert data == bytes(expected)
    (lost,) = cache.lost(0, 3 * PAGE_BYTES)
    assert (lost.start, lost.end) == (start, start + 1024)
    assert cache.lost(start + 100, 8)[0][:2] == (start + 100, start + 108)
    assert cache.lost(0, start) == ()


def test_a_source_that_was_cut_says_so() -> None:
    class Shrunk(BytesSource):
        size_bytes = 2000

    read_page = page_reader(Shrunk(b"x" * 700))
    page = read_page(0, 2000)
    assert page.data == b"x" * 700 + bytes(1300)
    assert page.lost[0][:2] == (700, 2000)
    assert "cut short" in page.lost[0].reason


def test_a_mistake_of_the_program_is_not_hidden(qtbot: QtBot, runner: BackgroundRunner) -> None:
    def broken(*_: int) -> Page:
        raise ZeroDivisionError

    cache = PageCache(BytesSource(DATA), runner, read_page=broken)
    with qtbot.captureExceptions() as caught:
        assert cache.get(0) is None
        qtbot.waitUntil(lambda: bool(caught))
    assert caught[0][0] is ZeroDivisionError
    assert cache.get(0) is None
    assert not runner.active


def test_a_closed_cache_reads_no_more(qtbot: QtBot, runner: BackgroundRunner) -> None:
    source = Gate(DATA)
    cache = PageCache(source, runner)
    loaded: list[int] = []
    cache.loaded.connect(loaded.append)
    for index in (1, 0):
        cache.get(index)
    qtbot.waitUntil(lambda: source.reads == [0])
    cache.close()
    assert cache.get(3) is None
    source.open.set()
    qtbot.waitUntil(lambda: not runner.active)
    assert source.reads == [0]
    assert loaded == []


def test_the_last_byte_of_a_huge_file_is_read(
    qtbot: QtBot, runner: BackgroundRunner, tmp_path: Path
) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(1 << 43)
        file.seek((1 << 43) - 3)
        file.write(b"end")
    with FileSource(path) as source:
        cache = PageCache(source, runner)
        cache.read((1 << 43) - 3, 100)
        settle(qtbot, cache)
        assert cache.read((1 << 43) - 3, 100) == b"end"


# ---------------------------------------------------------------- the guest's disk


def opened(path: Path) -> GuestPages:
    return OpenGuest(path)(CancelToken())


def test_guest_pages_are_decoded(tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20)
    content = pattern(1 << 17)
    builder.write(1 << 18, content)
    guest = opened(builder.build().write_to(tmp_path / "image.qcow2"))
    assert guest.size_bytes == 1 << 20
    page = guest.read_page(1 << 18, PAGE_BYTES)
    assert page == Page(content[:PAGE_BYTES])
    assert guest.read_page(0, PAGE_BYTES) == Page(bytes(PAGE_BYTES))
    assert list(guest.iter_data_ranges(0, 1 << 20)) == [(1 << 18, (1 << 18) + (1 << 17))]


def test_the_files_are_closed_with_the_last_reference(tmp_path: Path) -> None:
    guest = opened(ImageBuilder(size=1 << 20).build().write_to(tmp_path / "image.qcow2"))
    (source,) = guest._image._sources
    assert isinstance(source, FileSource)
    read_page = guest.read_page
    del guest
    assert read_page(0, 512) == Page(bytes(512))
    assert not source._closed
    del read_page
    assert source._closed


def test_what_is_left_to_a_file_that_was_not_opened_is_not_zeros(rich_image: Path) -> None:
    guest = opened(rich_image)
    last = guest.size_bytes - PAGE_BYTES
    page = guest.read_page(last, PAGE_BYTES)
    assert page.data == bytes(PAGE_BYTES)
    assert any("base.raw" in lost.reason for lost in page.lost)
    assert all(last <= lost.start < lost.end <= guest.size_bytes for lost in page.lost)


def test_a_cut_file_loses_the_end_of_its_data_alone(tmp_path: Path) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 17))
    path = builder.build().write_to(tmp_path / "image.qcow2")
    whole = opened(path)
    content = whole.read_at(0, 1 << 17)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1024)
    guest = opened(path)
    pages = [guest.read_page(offset, PAGE_BYTES) for offset in (0, PAGE_BYTES)]
    lost = [found for page in pages for found in page.lost]
    assert lost
    readable = bytearray(content)
    for found in lost:
        readable[found.start : found.end] = bytes(found.end - found.start)
    assert b"".join(page.data for page in pages) == bytes(readable)
    assert sum(found.end - found.start for found in lost) == 1024


def test_a_failing_disk_below_the_guest_is_marked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = ImageBuilder(size=1 << 20)
    builder.write(0, pattern(1 << 17))
    guest = opened(builder.build().write_to(tmp_path / "image.qcow2"))
    expected = guest.read_at(0, PAGE_BYTES)
    real = guest._image.read

    def failing(start: int, length: int, context: object = None) -> bytes:
        if start < 1024 and start + length > 512:
            raise SourceError("can't be read: Input/output error")
        return real(start, length, context)  # type: ignore[arg-type]

    monkeypatch.setattr(guest._image, "read", failing)
    page = guest.read_page(0, PAGE_BYTES)
    assert page.lost == (LostBytes(512, 1024, "can't be read: Input/output error"),)
    assert page.data == expected[:512] + bytes(512) + expected[1024:]
