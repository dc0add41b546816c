"""The colour modes, against what the builder knows of the image it made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qcowgui.check.cells import Cells
from qcowgui.check.checker import check_image
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.errors import Cancelled, ReferencedFileError, UnsupportedError
from qcowgui.gui.heatmap import scales
from qcowgui.gui.heatmap.layer_work import LayerWork
from qcowgui.gui.heatmap.layers import ColourMode, MapLayer, Order
from qcowgui.image.inspect import inspect_source
from qcowgui.image.references import AllowGate
from qcowgui.image.source import BytesSource, FileSource
from tests.support.base_images import pattern, rich, text
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import get_refcount, poke, set_l1_entry, set_refcount

MIB = 1 << 20

MEASURED = [
    (mode, order)
    for mode in ColourMode
    for order in Order  # not mode.orders, a set: its order differs from process to process
    if order in mode.orders and mode is not ColourMode.CHAIN
]


def work_for(
    image: BuiltImage, mode: ColourMode, order: Order = Order.HOST, *, first: int = 0
) -> LayerWork:
    source = BytesSource(image.to_bytes())
    report = inspect_source(source)
    check = check_image(source, report, token=CancelToken())
    geometry = report.header.geometry
    assert geometry is not None
    if order is Order.HOST:
        last = check.ownership.clusters
    else:
        last = geometry.clusters(report.virtual_bytes)
    return LayerWork(source, report, check, order, mode, first, last)


def layer_for(
    image: BuiltImage, mode: ColourMode, order: Order = Order.HOST, *, first: int = 0
) -> MapLayer:
    layer = work_for(image, mode, order, first=first)(CancelToken())
    assert set(np.unique(layer.cells)) <= {0, *(key.value for key in layer.keys)}
    return layer


def name_of(layer: MapLayer, cluster: int) -> str:
    key = layer.key(layer.value_of(cluster))
    assert key is not None
    return key.name


def test_stored_refcounts() -> None:
    image = set_refcount(set_refcount(rich(), 6, 5), 7, 300)
    layer = layer_for(image, ColourMode.REFCOUNT_STORED)
    names = {0: "0", 1: "1", 2: "2", 3: "3", 5: "4 – 7", 300: "256 +"}
    names |= dict.fromkeys(range(8, 16), "8 – 15")
    for cluster in range(len(layer)):
        assert name_of(layer, cluster) == names[get_refcount(image, cluster)], cluster


def test_an_unreadable_block_is_a_fault() -> None:
    image = rich()
    offset = image.layout.refcount_table.offset
    image = poke(image, offset, (0x1234_5200 | 0x200).to_bytes(8, "big"))
    layer = layer_for(image, ColourMode.REFCOUNT_STORED)
    assert set(layer.cells.tolist()) == {scales.UNREADABLE}
    assert next(key for key in layer.keys if key.value == scales.UNREADABLE).fault


def test_the_difference_tells_high_from_low() -> None:
    image = rich()
    clusters: dict[int, int] = {}
    for cluster in range(6, 31):
        clusters.setdefault(get_refcount(image, cluster), cluster)
    assert {1, 2} <= set(clusters)
    one, two = clusters[1], clusters[2]
    higher = set_refcount(set_refcount(image, one, 2), two, 1)
    layer = layer_for(higher, ColourMode.REFCOUNT_DIFFERENCE)
    assert layer.value_of(one) == scales.HIGH_BY_ONE
    assert layer.value_of(two) == scales.LOW
    lost = set_refcount(set_refcount(image, one, 0), two, 9)
    layer = layer_for(lost, ColourMode.REFCOUNT_DIFFERENCE)
    assert layer.value_of(one) == scales.ZERO_BUT_USED
    assert layer.value_of(two) == scales.HIGH_BY_MORE
    healthy = layer_for(image, ColourMode.REFCOUNT_DIFFERENCE)
    assert set(healthy.cells.tolist()) == {scales.EQUAL_FREE, scales.EQUAL_USED}


def test_computed_refcounts_are_those_of_a_sound_image() -> None:
    image = rich()
    stored = layer_for(image, ColourMode.REFCOUNT_STORED)
    computed = layer_for(image, ColourMode.REFCOUNT_COMPUTED)
    assert computed.cells.tolist() == stored.cells.tolist()


def test_more_references_than_a_refcount_holds_are_no_difference() -> None:
    stored, computed = np.array([1, 1, 3]), np.array([1, 7, 7])
    values = scales.difference_values(stored, computed, 1)
    assert values.tolist() == [scales.EQUAL_USED, scales.EQUAL_USED, scales.HIGH_BY_MORE]


@pytest.mark.parametrize("cluster_bits", [12, 16])
def test_compressed_bytes_in_each_cluster(cluster_bits: int) -> None:
    builder = ImageBuilder(cluster_bits=cluster_bits, size=16 * MIB)
    size = builder.cluster_bytes
    for index in range(30):
        builder.write_compressed(index, text(size, index))
    builder.write(40 * size, pattern(size))
    image = builder.build()
    layer = layer_for(image, ColourMode.COMPRESSED_SIZE)
    taken = np.zeros(len(layer), dtype=np.int64)
    for span in image.layout.payloads.values():
        start = span.offset
        end = (start + span.length + 511) // 512 * 512
        for cluster in range(start // size, (end - 1) // size + 1):
            taken[cluster] += min(end, (cluster + 1) * size) - max(start, cluster * size)
    expected = [scales.EMPTY + -(-min(int(bytes_), size) * 8 // size) for bytes_ in taken.tolist()]
    assert layer.cells.tolist() == expected
    guest = layer_for(image, ColourMode.COMPRESSED_SIZE, Order.GUEST)
    assert guest.value_of(40) == guest.value_of(100) == scales.EMPTY
    assert all(scales.EMPTY < guest.value_of(index) <= scales.EMPTY + 8 for index in range(30))


def test_sharing_with_snapshots() -> None:
    builder = ImageBuilder(cluster_bits=12, size=MIB)
    size = builder.cluster_bytes
    builder.write(0, pattern(3 * size, 1))
    builder.snapshot("one")
    builder.write(size, pattern(size, 2))  # the old cluster 1 is the snapshot's alone
    builder.write(9 * size, pattern(size, 3))
    image = builder.build()
    layer = layer_for(image, ColourMode.SHARING)
    data = {guest: span.offset // size for guest, span in image.layout.data.items()}
    assert layer.value_of(data[0]) == layer.value_of(data[2]) == scales.SHARED
    assert layer.value_of(data[1]) == layer.value_of(data[9]) == scales.ACTIVE_ONLY
    assert layer.tally()[scales.SNAPSHOT_ONLY].clusters == 1
    assert layer.value_of(0) == scales.EMPTY


def test_fragmentation_by_distance() -> None:
    builder = ImageBuilder(cluster_bits=16, size=64 * MIB)
    size = builder.cluster_bytes
    builder.write(0, pattern(2 * size, 1), at=10 * size)  # 10 and 11
    builder.write(2 * size, pattern(size, 2), at=20 * size)  # 8 clusters behind the end
    builder.write(3 * size, pattern(size, 3), at=300 * size)  # 279
    builder.write(100 * size, pattern(size, 4), at=301 * size)  # follows, after a hole
    image = builder.build()
    guest = layer_for(image, ColourMode.FRAGMENTATION, Order.GUEST)
    names = [name_of(guest, index) for index in (0, 1, 2, 3, 100, 50)]
    assert names == ["follows", "follows", "< 1 MiB", "< 256 MiB", "follows", "no guest data"]
    host = layer_for(image, ColourMode.FRAGMENTATION)
    names = [name_of(host, cluster) for cluster in (10, 11, 20, 300, 301, 0)]
    assert names == ["follows", "follows", "< 1 MiB", "< 256 MiB", "follows", "no guest data"]


def test_what_follows_in_the_next_l2_table_follows() -> None:
    builder = ImageBuilder(cluster_bits=16, size=1024 * MIB)
    size = builder.cluster_bytes
    builder.write(8190 * size, pattern(4 * size), at=10 * size)
    layer = layer_for(builder.build(), ColourMode.FRAGMENTATION, Order.GUEST)
    assert [name_of(layer, index) for index in range(8190, 8194)] == ["follows"] * 4


def test_payloads_behind_each_other_follow() -> None:
    builder = ImageBuilder(cluster_bits=16, size=16 * MIB)
    for index in range(20):
        builder.write_compressed(index, text(1 << 16, index))
    layer = layer_for(builder.build(), ColourMode.FRAGMENTATION, Order.GUEST)
    assert {name_of(layer, index) for index in range(20)} == {"follows"}


def content_image() -> BuiltImage:
    builder = ImageBuilder(cluster_bits=12, size=16 * MIB)
    size = builder.cluster_bytes
    builder.write(0, pattern(40 * size, 1))
    builder.zero(45, allocated=True)
    builder.write(2 * MIB, pattern(10 * size, 2))
    builder.gap(2)
    return builder.build()


def test_content_that_fits_its_role() -> None:
    layer = layer_for(content_image(), ColourMode.CONTENT)
    assert set(layer.cells.tolist()) <= {scales.EMPTY, scales.FITS}


def test_a_lost_l2_table_is_found() -> None:
    image = content_image()
    table = image.layout.l2[1].offset // 4096
    layer = layer_for(set_l1_entry(image, 1, 0), ColourMode.CONTENT)
    assert layer.value_of(table) == scales.LOST_TABLE
    assert layer.tally()[scales.REMAINS].clusters == 10  # its data


def test_a_table_that_holds_something_else() -> None:
    image = content_image()
    table = image.layout.l2[0]
    counts = image.read(next(iter(image.layout.refcount_blocks.values())).offset, 4096)
    for foreign in (counts, pattern(4096, 9)):
        layer = layer_for(poke(image, table.offset, foreign), ColourMode.CONTENT)
        assert layer.value_of(table.offset // 4096) == scales.NO_TABLE


def test_a_table_with_a_damaged_entry_is_still_a_table() -> None:
    image = content_image()
    table = image.layout.l2[0]
    layer = layer_for(poke(image, table.offset + 80, b"\x7f" * 8), ColourMode.CONTENT)
    assert layer.value_of(table.offset // 4096) == scales.FITS


def test_guest_data_that_looks_like_a_table() -> None:
    image = content_image()
    data = image.layout.data[7].offset
    copy = image.read(image.layout.l2[0].offset, 4096)
    layer = layer_for(poke(image, data, copy), ColourMode.CONTENT)
    assert layer.value_of(data // 4096) == scales.LIKE_TABLE


def test_zero_content_and_entropy() -> None:
    builder = ImageBuilder(cluster_bits=16, size=MIB)
    size = builder.cluster_bytes
    builder.write(0, bytes(size))
    builder.write(size, pattern(size))
    builder.write(2 * size, b"ab" * (size // 2))
    builder.gap(1)
    builder.write(3 * size, pattern(size, 2))
    image = builder.build()
    data = {guest: span.offset // size for guest, span in image.layout.data.items()}
    zeros = layer_for(image, ColourMode.ZEROS)
    assert zeros.value_of(data[0]) == scales.SAYS_ZERO
    assert zeros.value_of(data[1]) == scales.HOLDS_BYTES
    assert zeros.value_of(image.layout.gaps[0].offset // size) == scales.EMPTY
    entropy = layer_for(image, ColourMode.ENTROPY)
    assert name_of(entropy, data[0]) == "< 1 bit"
    assert name_of(entropy, data[1]) == "≤ 8 bit"
    assert name_of(entropy, data[2]) == "< 2 bit"  # one bit a byte


@pytest.mark.parametrize(
    ("mode", "order"),
    MEASURED,
)
def test_a_part_is_the_same_as_that_of_the_whole(mode: ColourMode, order: Order) -> None:
    """Huge images are shown by parts."""
    whole = layer_for(rich(), mode, order)
    part = layer_for(rich(), mode, order, first=9)
    assert part.first == 9
    if mode is ColourMode.FRAGMENTATION and order is Order.GUEST:
        # What came before the first cluster of a part is not looked for.
        assert part.cells[5:].tolist() == whole.cells[14:].tolist()
    else:
        assert part.cells.tolist() == whole.cells[9:].tolist()


@pytest.mark.parametrize(
    ("mode", "order"),
    MEASURED,
)
def test_every_mode_can_be_stopped(mode: ColourMode, order: Order) -> None:
    work = work_for(rich(), mode, order)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        work(token)


def test_the_sampling_counts_what_it_has_done() -> None:
    work = work_for(rich(), ColourMode.ENTROPY)
    layer = work(CancelToken())
    assert work.done.value == len(layer)
    assert isinstance(work.done, Counter)


def test_the_layers_of_a_chain_need_permission(tmp_path: Path) -> None:
    (tmp_path / "base.raw").write_bytes(pattern(MIB, seed=9))
    path = rich().write_to(tmp_path / "rich.qcow2")
    with FileSource(path) as source:
        report = inspect_source(source)
        work = LayerWork(source, report, None, Order.GUEST, ColourMode.CHAIN, 0, 1024)
        with pytest.raises(ReferencedFileError):
            work(CancelToken())
        gate = AllowGate((tmp_path / "base.raw",))
        layer = LayerWork(source, report, None, Order.GUEST, ColourMode.CHAIN, 0, 1024, gate)(
            CancelToken()
        )
    assert name_of(layer, 0) == name_of(layer, 20) == "this image"
    assert name_of(layer, 50) == "layer 1"
    assert name_of(layer, 600) == "nowhere"  # behind the backing file's end


def test_without_a_check_there_are_no_host_clusters() -> None:
    work = work_for(rich(), ColourMode.STATE)
    with pytest.raises(UnsupportedError):
        LayerWork(work.source, work.image, None, Order.HOST, ColourMode.STATE, 0, 4)(CancelToken())


def test_counts_at_the_edges() -> None:
    counts: Cells = scales.count_values(
        np.array([0, 1, 2, 3, 4, 7, 8, 15, 16, 255, 256, 2**64 - 1], dtype=np.uint64)
    )
    assert counts.tolist() == [1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    distances = scales.distance_values(np.array([0, 1, MIB - 1, MIB, 2**62], dtype=np.int64))
    assert distances.tolist() == [2, 3, 3, 4, 7]
