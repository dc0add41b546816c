"""Where things are: bytes to structures and back, on real images, against what the builder laid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from qcowgui.check.checker import check_image
from qcowgui.engine.work import CancelToken
from qcowgui.errors import NotQcow2Error, UsageError
from qcowgui.format.finding import Finding
from qcowgui.gui.host_index import HostIndex, build_host_index
from qcowgui.gui.locator import Locator
from qcowgui.gui.opening import image_references
from qcowgui.gui.selection import Selection
from qcowgui.gui.structure_tables import ReferenceState
from qcowgui.gui.structures import StructureKey, image_structures
from qcowgui.image.inspect import ImageReport, inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damages import DAMAGES

KEY = StructureKey
CLUSTER = 65536


class Located:
    """An image with everything a locator can know of it."""

    def __init__(self, image: BuiltImage) -> None:
        self.image = image
        self.source = BytesSource(image.to_bytes(), "image.qcow2")
        self.report: ImageReport = inspect_source(self.source)
        token = CancelToken()
        self.check = check_image(self.source, self.report, token=token)
        self.index: HostIndex = build_host_index(self.source, self.report, token=token)
        states = [ReferenceState(found, None) for found in image_references(self.report)]
        self.locator = Locator(
            self.report,
            self.source.read_at,
            self.check.ownership,
            self.index,
            image_structures(self.report, states),
        )

    @property
    def findings(self) -> Sequence[Finding]:
        return [finding for group in self.check.groups for finding in group.first]


@pytest.fixture(scope="module")
def rich_located() -> Located:
    return Located(rich())


def plain() -> ImageBuilder:
    builder = ImageBuilder(size=16 * CLUSTER)
    builder.write(2 * CLUSTER, pattern(3 * CLUSTER))
    builder.write_compressed(8, b"text " * 3000)
    builder.write_compressed(9, b"more " * 3000)
    builder.zero(10)
    return builder


def test_header_bytes_are_fields(rich_located: Located) -> None:
    for found in rich_located.report.header.field_values():
        selection = rich_located.locator.at_host(found.field.end - 1)
        assert selection.structure is KEY.HEADER
        assert selection.host == (found.field.offset, found.field.end)


def test_every_byte_of_a_table_is_its_entry(rich_located: Located) -> None:
    layout, locator = rich_located.image.layout, rich_located.locator
    for index in range(layout.l1.length // 8):
        selection = locator.at_host(layout.l1.offset + 8 * index + 7)
        assert (selection.structure, selection.row) == (KEY.L1, index)
        assert selection.host == (layout.l1.offset + 8 * index, layout.l1.offset + 8 * index + 8)
    table = locator.at_host(layout.refcount_table.offset + 8)
    assert (table.structure, table.row) == (KEY.REFCOUNT_TABLE, 1)


def test_l2_tables_are_found_by_the_entry_that_names_them() -> None:
    located = Located(plain().build())
    offset = located.image.layout.l2[0].offset + 8 * 3
    selection = located.locator.at_host(offset + 1)
    guest = 3 * CLUSTER, 4 * CLUSTER
    assert selection == Selection(KEY.L2, 3, 0, host=(offset, offset + 8), guest=guest)
    block = located.image.layout.refcount_blocks[0].offset
    counted = located.locator.at_host(block + 2 * 5)
    assert (counted.structure, counted.part, counted.row) == (KEY.REFCOUNT_BLOCK, 0, 5)
    assert located.locator.host_of_entry(counted) == (5 * CLUSTER, 6 * CLUSTER)


def test_all_that_the_builder_laid_is_found(rich_located: Located) -> None:
    layout, locator = rich_located.image.layout, rich_located.locator
    size = layout.cluster_bytes
    for part, span in layout.l2.items():
        found = locator.at_host(span.offset)
        assert (found.structure, found.part, found.row, found.snapshot) == (KEY.L2, part, 0, None)
    for (snapshot, part), span in layout.snapshot_l2.items():
        if span not in layout.l2.values():  # the active disk's where they share it
            found = locator.at_host(span.offset)
            assert (found.structure, found.part) == (KEY.L2, part)
            assert found.snapshot is not None
            assert layout.snapshot_l2[found.snapshot, part] == span, snapshot
    for guest, span in {**layout.data, **layout.payloads}.items():
        found = locator.at_host(span.offset)
        assert found.structure is KEY.CLUSTER
        assert found.guest is not None
        assert found.guest[0] == guest * size
        assert found.snapshot is None
        assert locator.at_guest(guest * size).steps[-1].selection.host == found.host
    for (bitmap, row), span in layout.bitmap_data.items():
        entry = locator.entry_of(locator.at_host(span.offset + 1))
        assert entry is not None
        assert (entry.structure, entry.part, entry.row) == (KEY.BITMAP_TABLE, bitmap, row)
    for span in layout.leaks:
        found = locator.at_host(span.offset)
        assert (found.structure, found.guest) == (KEY.CLUSTER, None)


def test_a_data_cluster_knows_its_guest_cluster_and_its_entry() -> None:
    located = Located(plain().build())
    path = located.locator.at_guest(3 * CLUSTER + 100)
    assert path.complete
    structures = [step.selection.structure for step in path.steps]
    assert structures == [KEY.L1, KEY.L2, KEY.CLUSTER]
    host = path.steps[-1].selection.host
    assert host is not None
    assert located.source.read_at(host[0], CLUSTER) == pattern(3 * CLUSTER)[CLUSTER : 2 * CLUSTER]
    found = located.locator.at_host(host[0] + 777)
    assert found.structure is KEY.CLUSTER
    assert found.guest == (3 * CLUSTER, 4 * CLUSTER)
    entry = located.locator.entry_of(found)
    assert entry is not None
    assert (entry.structure, entry.part, entry.row) == (KEY.L2, 0, 3)
    assert located.locator.host_of_entry(entry) == host


def test_payloads_that_share_a_cluster_are_told_apart() -> None:
    located = Located(plain().build())
    hosts = []
    for guest_cluster in (8, 9):
        path = located.locator.at_guest(guest_cluster * CLUSTER)
        host = path.steps[-1].selection.host
        assert host is not None
        hosts.append(host)
        found = located.locator.at_host(host[0])
        assert found.guest == (guest_cluster * CLUSTER, (guest_cluster + 1) * CLUSTER)
        assert found.host is not None
        assert found.host[0] == host[0]
    assert hosts[0][0] // CLUSTER == hosts[1][0] // CLUSTER


def test_what_holds_no_byte_is_said() -> None:
    locator = Located(plain().build()).locator
    assert "reads as zeros and takes no space" in locator.at_guest(10 * CLUSTER).conclusion
    assert "Not in this image" in locator.at_guest(0).conclusion
    assert "ends before" in locator.at_guest(16 * CLUSTER).conclusion
    assert locator.at_guest(16 * CLUSTER).steps == ()


def test_without_the_bytes_the_way_waits_for_them() -> None:
    image = plain().build()
    report = inspect_source(BytesSource(image.to_bytes()))
    locator = Locator(report, lambda _offset, _length: None)
    path = locator.at_guest(3 * CLUSTER)
    assert not path.complete
    assert [step.selection.structure for step in path.steps] == [KEY.L1]
    entry = locator.at_entry(KEY.L2, 0, 3)
    assert entry.host is None
    assert entry.guest == (3 * CLUSTER, 4 * CLUSTER)


def test_subclusters_are_steps_of_their_own() -> None:
    builder = ImageBuilder(size=4 * CLUSTER, extended_l2=True)
    builder.subclusters(1, alloc_mask=0b1, zero_mask=0b10, data=pattern(CLUSTER))
    located = Located(builder.build())
    inside = located.locator.at_guest(CLUSTER + 100)
    assert "Subcluster 0 is stored." in [step.text for step in inside.steps]
    assert inside.steps[-1].selection.structure is KEY.CLUSTER
    outside = located.locator.at_guest(CLUSTER + 40000)
    assert outside.conclusion == "Subcluster 19 is not allocated."
    zero = located.locator.at_guest(CLUSTER + 2048)
    assert zero.conclusion == "Subcluster 1 reads as zeros."


def test_a_data_file_holds_the_bytes() -> None:
    builder = ImageBuilder(size=4 * CLUSTER, data_file="data.raw")
    builder.write(CLUSTER, pattern(CLUSTER))
    located = Located(builder.build())
    assert "external data file, at 0x1_0000" in located.locator.at_guest(CLUSTER).conclusion
    assert located.index.guest_at(1) is None


def test_snapshots_have_their_own_tables(rich_located: Located) -> None:
    locator, report = rich_located.locator, rich_located.report
    for snapshot in report.snapshots:
        selection = locator.at_host(snapshot.l1_table_offset + 8)
        assert (selection.structure, selection.row) == (KEY.L1, 1)
        assert selection.snapshot == snapshot.index
    first = locator.at_guest(0, snapshot=0)
    assert first.snapshot == 0
    assert all(step.selection.snapshot == 0 for step in first.steps)
    entry = locator.parse_go_to("snapshot 1: L1[0]")
    assert (entry.structure, entry.snapshot) == (KEY.L1, 1)


def test_bits_of_a_bitmap_lead_to_their_entry(rich_located: Located) -> None:
    geometry = rich_located.report.header.geometry
    assert geometry is not None
    found = 0
    for bitmap in rich_located.report.bitmaps:
        for row in range(bitmap.bitmap_table_size):
            entry = rich_located.locator.at_entry(KEY.BITMAP_TABLE, bitmap.index, row)
            host = rich_located.locator.host_of_entry(entry)
            if host is not None:
                cluster = rich_located.locator.at_host(host[0])
                assert rich_located.locator.entry_of(cluster) == entry
                found += 1
    assert found


@pytest.mark.parametrize("text", ["0x30", "cluster 3", "L1[0]", "refcount 5", "guest:0x1000"])
def test_places_of_an_image(rich_located: Located, text: str) -> None:
    selection = rich_located.locator.parse_go_to(text)
    assert selection.host is not None or selection.guest is not None
    assert rich_located.locator.resolve(selection) == selection


def round_trip(locator: Locator, offset: int) -> None:
    """The entry of a byte covers the byte, and is found again by its indices."""
    selection = locator.at_host(offset)
    if selection.host is not None:
        assert selection.host[0] <= offset < selection.host[1]
    if selection.structure.is_entry_table:
        again = locator.at_entry(
            selection.structure, selection.part, selection.row, selection.snapshot
        )
        assert again == selection


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_every_damage_can_be_walked(name: str) -> None:
    try:
        located = Located(DAMAGES[name].apply(rich()))
    except NotQcow2Error:  # its magic, or its version to 1, is what was damaged
        return
    locator = located.locator
    for offset in range(0, located.source.size_bytes, 509):
        round_trip(locator, offset)
    for finding in located.findings:
        selection = locator.at_finding(finding)
        assert (selection is None) is (
            finding.host_offset is None
            and (finding.guest_start is None or locator.geometry is None)
        )
    virtual = locator.guest_bytes()
    for offset in np.linspace(0, max(0, virtual - 1), 40).astype(object):
        path = locator.at_guest(int(offset))
        assert path.complete
        assert path.conclusion


def test_offsets_of_2_to_the_63_and_more_are_right(rich_located: Located) -> None:
    high = (1 << 63) + 4096
    assert rich_located.locator.at_host(high).host == (high, high + 4096)
    with pytest.raises(UsageError, match="The file ends at"):
        rich_located.locator.parse_go_to("0xffff_ffff_ffff_ffff")
