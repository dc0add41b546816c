"""Tables, refcounts and snapshots found in a file, each by its own evidence."""

from __future__ import annotations

import numpy as np
import pytest

from qcowgui.engine.work import CancelToken
from qcowgui.format.geometry import Geometry
from qcowgui.image.source import BytesSource
from qcowgui.salvage.found_refcounts import find_refcounts
from qcowgui.salvage.geometry_guess import guess_geometry
from qcowgui.salvage.scan import SectorRuns, scan_source
from qcowgui.salvage.structures import find_structures
from qcowgui.salvage.tables import clusters_touched, describe_tables
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.options import MIB

TOKEN = CancelToken()


def disk(**options: int) -> BuiltImage:
    settings = {"cluster_bits": 12, "size": 8 * MIB} | options
    builder = ImageBuilder(**settings)  # type: ignore[arg-type]
    for index in range(0, 2048, 3):
        builder.write(index << 12, pattern(4096, index))
    return builder.build()


def test_clusters_touched_by_runs_of_sectors() -> None:
    runs = SectorRuns(np.array([0, 7, 40]), np.array([1, 17, 41]))
    clusters, complete = clusters_touched(runs, 12, 100)
    assert clusters.tolist() == [0, 1, 2, 5]
    assert complete
    clusters, complete = clusters_touched(runs, 12, 2)
    assert len(clusters) <= 2
    assert not complete


def test_tables_are_described() -> None:
    image = disk()
    source = BytesSource(image.to_bytes())
    tables = describe_tables(source, scan_source(source, TOKEN), Geometry(12), TOKEN)
    places = tables.index_of(np.array([image.layout.l2[0].offset, image.layout.l1.offset, 4096, 1]))
    assert (places >= 0).tolist() == [True, True, True, False]
    l2, l1, refcount_table = places[:3].tolist()
    assert (tables.standard[l2], tables.copied[l2], tables.to_tables[l2]) == (171, 171, 0)
    assert (tables.standard[l1], tables.copied[l1], tables.to_tables[l1]) == (4, 4, 4)
    assert (tables.copied[refcount_table], tables.to_tables[refcount_table]) == (0, 0)


def test_a_table_does_not_name_one_cluster_again_and_again() -> None:
    image = disk()
    repeated = image.edited(image.layout.l2[1].offset, (0x8000_0000_0000_5000).to_bytes(8) * 400)
    source = BytesSource(repeated.to_bytes())
    tables = describe_tables(source, scan_source(source, TOKEN), Geometry(12), TOKEN)
    assert tables.index_of(np.array([image.layout.l2[1].offset])).tolist() == [-1]


@pytest.mark.parametrize("order", range(7))
def test_refcounts_say_what_the_image_says(order: int) -> None:
    image = disk(refcount_order=order)
    source = BytesSource(image.to_bytes())
    tables = describe_tables(source, scan_source(source, TOKEN), Geometry(12), TOKEN)
    found = find_refcounts(source, tables, TOKEN)
    assert found is not None
    assert (found.table_offset, found.refcount_order) == (4096, order)
    clusters = np.array([0, 1, image.layout.l1.offset >> 12, 10**6, 10**12])
    assert found.at(source, clusters).tolist() == [1, 1, 1, 0, 0]


def test_the_structures_of_a_rich_image() -> None:
    image = rich()
    source = BytesSource(image.to_bytes())
    found = find_structures(source, scan_source(source, TOKEN), Geometry(12), TOKEN)
    assert [snapshot.name for snapshot in found.snapshots] == ["first", "second"]
    assert [table.host_offset for table in found.l1_tables] == [image.layout.l1.offset]
    assert found.l1_tables[0].found == len(image.layout.l2)
    assert {span.offset for span in image.layout.snapshot_l1} <= found.not_l2 | {
        span.offset
        for span in image.layout.snapshot_l1
        if found.l2_tables.index_of(np.array([span.offset]))[0] < 0
    }


@pytest.mark.parametrize("bits", [9, 12, 16])
def test_the_right_cluster_size_explains_most(bits: int) -> None:
    builder = ImageBuilder(cluster_bits=bits, size=600 << bits)
    for index in range(600):
        builder.write(index << bits, pattern(1 << bits, index))
    source = BytesSource(builder.build().edited(0, bytes(1 << bits)).to_bytes())
    scores = guess_geometry(source, scan_source(source, TOKEN), TOKEN)
    assert scores[0].geometry.cluster_bits == bits
    assert scores[0].reached == 1.0
    assert all(score.total <= scores[0].total for score in scores)
