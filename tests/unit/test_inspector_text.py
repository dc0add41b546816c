"""What the inspector says, on real images, against what the builder laid and damage changed."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import pytest

from qcowgui.check.checker import check_image
from qcowgui.check.owners import owners_of
from qcowgui.engine.work import CancelToken, Counter
from qcowgui.format.finding import Finding
from qcowgui.gui.formatters import Tone
from qcowgui.gui.host_index import build_host_index
from qcowgui.gui.image_check import CheckState, no_cells
from qcowgui.gui.inspection import Inspection, Known, stored_refcount
from qcowgui.gui.inspector_html import MAX_FINDINGS, InspectorHtml
from qcowgui.gui.inspector_links import owner_links
from qcowgui.gui.inspector_text import inspect_selection, inspection_text
from qcowgui.gui.locator import Locator
from qcowgui.gui.opening import CheckWork, image_references
from qcowgui.gui.selection import Selection
from qcowgui.gui.structure_tables import ReferenceState
from qcowgui.gui.structures import StructureKey, image_structures
from qcowgui.gui.theme import LIGHT
from qcowgui.image.inspect import inspect_source
from qcowgui.image.source import BytesSource
from tests.support.base_images import pattern, rich
from tests.support.builder import ImageBuilder
from tests.support.built import BuiltImage
from tests.support.damage import (
    get_l1_entry,
    get_l2_entry,
    set_l1_entry,
    set_l2_entry,
    set_refcount,
    truncate_at,
)
from tests.support.damages import DAMAGES

KEY = StructureKey
CLUSTER = 65536
_NO_IMAGES = {"first_cluster_wiped", "header_magic", "header_version_1"}
"""Damages that leave nothing which opens as qcow2."""


class Subject:
    """An image and the inspector's knowledge of it."""

    def __init__(self, image: BuiltImage, *, checked: bool = True, loaded: bool = True) -> None:
        self.image = image
        self.source = BytesSource(image.to_bytes(), "image.qcow2")
        self.report = inspect_source(self.source)
        states = [ReferenceState(found, None) for found in image_references(self.report)]
        token = CancelToken()
        work = CheckWork(self.source, self.report, False, None, Counter(), Counter())
        done = work(token) if checked else None
        check = done.report if done else None
        read: Callable[[int, int], bytes | None] = self.source.read_at
        if not loaded:
            read = lambda _offset, _length: None  # noqa: E731
        self.locator = Locator(
            self.report,
            read,
            check.ownership if check else None,
            build_host_index(self.source, self.report, token=token),
            image_structures(self.report, states),
        )
        self.known = Known(
            self.locator,
            read,
            CheckState.DONE if checked else CheckState.RUNNING,
            check,
            done.states if done else no_cells(),
            [finding for group in check.groups for finding in group.first] if check else (),
        )

    def at(
        self,
        key: StructureKey,
        row: int | None = None,
        part: int | None = None,
        snapshot: int | None = None,
    ) -> Inspection:
        return inspect_selection(self.locator.at_entry(key, part, row, snapshot), self.known)


def facts(inspection: Inspection) -> dict[str, str]:
    return {fact.title: fact.value for fact in inspection.facts}


def places(inspection: Inspection) -> list[Selection | None]:
    return [link.selection for link in inspection.described.leads_to]


def plain() -> ImageBuilder:
    builder = ImageBuilder(size=16 * CLUSTER)
    builder.write(2 * CLUSTER, pattern(3 * CLUSTER))
    builder.write_compressed(8, b"text " * 3000)
    builder.write_compressed(9, b"more " * 3000)
    builder.zero(10)
    return builder


@pytest.fixture(scope="module")
def sound() -> Subject:
    return Subject(plain().build())


@pytest.fixture(scope="module")
def rich_subject() -> Subject:
    return Subject(rich())


# -------------------------------------------------------------------------------- entries


def test_an_l2_entry_says_where_its_cluster_is(sound: Subject) -> None:
    found = sound.at(KEY.L2, 2, 0)
    offset = get_l2_entry(sound.image, 2) & 0x00FF_FFFF_FFFF_FE00
    assert found.tone is Tone.NORMAL
    assert found.verdict == "The check found nothing wrong here."
    assert found.described.cluster == offset // CLUSTER
    assert [word.value for word in found.described.words] == [get_l2_entry(sound.image, 2)]
    assert facts(found)["Refcount"] == "1 stored · 1 counted"
    assert facts(found)["Cluster is"] == "data"
    assert places(found)[0] == sound.locator.at_entry(KEY.CLUSTER, None, offset // CLUSTER)
    assert places(found)[1] == sound.locator.at_entry(KEY.GUEST, None, 2)
    assert found.described.named_by[0].selection == sound.locator.at_entry(KEY.L1, None, 0)
    assert found.previous == sound.locator.at_entry(KEY.L2, 0, 1)
    assert found.next == sound.locator.at_entry(KEY.L2, 0, 3)


def test_a_compressed_entry_leads_to_its_payload(sound: Subject) -> None:
    found = sound.at(KEY.L2, 9, 0)
    payload = places(found)[0]
    assert payload is not None
    assert payload.host is not None
    assert payload.host[0] == get_l2_entry(sound.image, 9) & 2**54 - 1
    assert payload.guest == (9 * CLUSTER, 10 * CLUSTER)
    assert facts(found)["Refcount"] == "2 stored · 2 counted"
    assert "Compressed payload" in inspect_selection(payload, sound.known).described.title


@pytest.mark.parametrize(
    ("row", "says"), [(0, "not allocated"), (2, "data"), (8, "compressed"), (10, "zero")]
)
def test_what_an_l2_entry_says_in_a_word(sound: Subject, row: int, says: str) -> None:
    assert facts(sound.at(KEY.L2, row, 0))["Says"] == says


def test_unallocated_clusters_read_from_the_backing_file(rich_subject: Subject) -> None:
    assert facts(rich_subject.at(KEY.L2, 50, 0))["Says"] == "from the backing file"


def test_subclusters_are_counted() -> None:
    builder = ImageBuilder(size=16 * CLUSTER, extended_l2=True)
    builder.subclusters(5, 0x0000_FF01, 0x00F0_0000)
    found = Subject(builder.build()).at(KEY.L2, 5, 0)
    assert facts(found)["Subclusters"] == "9 stored, 4 zero, 19 not allocated\nof 2 KiB each"
    assert len(found.described.words) == 2
    assert found.described.spec == "Extended L2 Entries"


def test_l1_refcount_and_bitmap_entries_lead_on(rich_subject: Subject) -> None:
    subject = rich_subject
    assert places(subject.at(KEY.L1, 0))[0] == subject.locator.at_entry(KEY.L2, 0)
    assert places(subject.at(KEY.REFCOUNT_TABLE, 0))[0] == subject.locator.at_entry(
        KEY.REFCOUNT_BLOCK, 0
    )
    assert places(subject.at(KEY.REFCOUNT_BLOCK, 7, 0)) == [
        subject.locator.at_entry(KEY.CLUSTER, None, 7)
    ]
    of_bitmap = subject.at(KEY.BITMAP_TABLE, 0, 0)
    (cluster,) = places(of_bitmap)
    assert cluster is not None
    assert cluster.row == of_bitmap.described.cluster
    assert of_bitmap.described.named_by[0].selection == subject.locator.at_entry(
        KEY.BITMAPS, None, 0
    )
    of_snapshot = subject.at(KEY.L1, 0, snapshot=1)
    assert of_snapshot.described.named_by[0].text == "snapshot “second”"
    assert places(of_snapshot)[0] == subject.locator.at_entry(KEY.L2, 0, None, 1)


def test_entries_at_the_ends_have_one_neighbour(sound: Subject) -> None:
    first, last = sound.at(KEY.L2, 0, 0), sound.at(KEY.L2, 8191, 0)
    assert first.previous is None
    assert first.next == sound.locator.at_entry(KEY.L2, 0, 1)
    assert last.next is None
    assert "the disk ends before" in last.described.text


# -------------------------------------------------------------------------------- damage


def test_reserved_bits_are_wrong_before_and_after_a_check() -> None:
    image = plain().build()
    image = set_l2_entry(image, 3, get_l2_entry(image, 3) | 0x100)
    before = Subject(image, checked=False).at(KEY.L2, 3, 0)
    assert before.tone is Tone.WARNING
    assert before.verdict == "This can’t be right: see below."
    after = Subject(image).at(KEY.L2, 3, 0)
    assert after.tone is Tone.DANGER
    assert [finding.code for finding in after.findings] == ["l2-reserved-bits"]
    assert not Subject(image).at(KEY.L2, 4, 0).findings


def test_a_refcount_that_differs_is_marked() -> None:
    image = set_refcount(plain().build(), 6, 3)
    subject = Subject(image)
    found = subject.at(KEY.REFCOUNT_BLOCK, 6, 0)
    by_title = {fact.title: fact for fact in found.facts}
    assert by_title["Refcount"].value == "3 stored · 1 counted"
    assert by_title["Refcount"].tone is Tone.DANGER
    assert by_title["Cluster is"].value == "refcount too high"
    assert found.findings
    assert found.tone is not Tone.NORMAL


def test_a_leak_is_said_even_where_its_finding_is_not_listed() -> None:
    builder = plain()
    builder.leak(1)
    subject = Subject(builder.build())
    assert subject.known.check is not None
    (leaked,) = (
        finding.host_offset for finding in subject.known.findings if finding.host_offset is not None
    )
    known = Known(
        subject.locator,
        subject.known.read,
        CheckState.DONE,
        subject.known.check,
        subject.known.states,
        (),
    )
    place = subject.locator.at_entry(KEY.CLUSTER, None, leaked // CLUSTER)
    found = inspect_selection(place, known)
    assert found.tone is Tone.WARNING
    assert "nothing refers to it" in found.verdict


def test_a_table_behind_the_end_of_the_file_is_gone() -> None:
    image = plain().build()
    far = 1 << 40
    image = set_l1_entry(image, 0, get_l1_entry(image, 0) & 1 << 63 | far)
    subject = Subject(image)
    assert "the file ends before that" in subject.at(KEY.L1, 0).described.text
    assert subject.at(KEY.L2, 3, 0).described.text == "The file ends before this entry."


def test_a_table_that_no_cluster_starts_with_is_not_called_fine() -> None:
    image = plain().build()
    subject = Subject(set_l1_entry(image, 0, get_l1_entry(image, 0) + 512))
    for row in (None, 3):
        found = subject.at(KEY.L2, row, 0)
        assert "No cluster starts" in found.described.text
        assert found.tone is Tone.DANGER


def test_data_behind_the_end_of_the_file_is_gone() -> None:
    image = plain().build()
    offset = get_l2_entry(image, 4) & 0x00FF_FFFF_FFFF_FE00
    found = Subject(truncate_at(image, offset)).at(KEY.L2, 4, 0)
    assert facts(found)["Says"] == "beyond the end of the file"
    assert found.tone is Tone.DANGER


@pytest.mark.parametrize("name", sorted(set(DAMAGES) - _NO_IMAGES))
def test_every_damaged_image_can_be_described_everywhere(name: str) -> None:
    subject = Subject(DAMAGES[name].apply(rich()))
    geometry = subject.locator.geometry
    tables = [(KEY.L1, None), (KEY.L2, 0), (KEY.REFCOUNT_TABLE, None), (KEY.REFCOUNT_BLOCK, 0)]
    tables += [(KEY.BITMAP_TABLE, found.index) for found in subject.report.bitmaps]
    described = [
        subject.at(key, row, part) for key, part in tables for row in (None, 0, 1, 5) if geometry
    ]
    described += [subject.at(KEY.CLUSTER, row) for row in (0, 1, 9, 10**12)]
    described += [subject.at(KEY.GUEST, row) for row in (0, 5, 10**12)]
    for structure in subject.known.locator._structures:
        rows = range(len(structure.table.rows))
        described += [subject.at(structure.key, row) for row in (None, *rows[:4], *rows[-1:])]
    described += [
        inspect_selection(place, subject.known)
        for finding in subject.known.findings
        if (place := subject.locator.at_finding(finding)) is not None
    ]
    for finding in subject.known.findings:
        assert_shown_where_it_leads(finding, subject)
    html = InspectorHtml(LIGHT)
    for found in described:
        assert found.described.title
        assert found.described.text
        first = len(html.places)
        text = html.details(found, owners_known=False)
        assert all(f'"place:{index}"' in text for index in range(first, len(html.places)))
        for finding in found.findings[:MAX_FINDINGS]:
            assert escape(finding.message) in html.intro(found)
        assert inspection_text(found, ()).startswith(found.described.title)


def assert_shown_where_it_leads(finding: Finding, subject: Subject) -> None:
    place = subject.locator.at_finding(finding)
    if place is not None and place.row is not None and finding.host_offset is not None:
        found = inspect_selection(place, subject.known)
        assert finding in found.findings, (finding.code, place)
        assert found.tone is not Tone.NORMAL


# -------------------------------------------------------------------------------- refcounts


@pytest.mark.parametrize("order", range(7))
def test_refcounts_of_every_width(order: int) -> None:
    builder = ImageBuilder(size=16 * CLUSTER, refcount_order=order)
    builder.write(0, pattern(3 * CLUSTER))
    subject = Subject(builder.build())
    check = check_image(subject.source, subject.report, token=CancelToken())
    assert check.stored is not None
    for cluster in (*range(12), 10**9):
        assert stored_refcount(cluster, subject.known) == check.stored.at(cluster)
    (word,) = subject.at(KEY.REFCOUNT_BLOCK, 0, 0).described.words
    assert (word.value, word.width_bits) == (1, 1 << order)


# -------------------------------------------------------------------------------- bytes


def test_a_cluster_leads_to_its_guest_and_its_refcount(sound: Subject) -> None:
    cluster = get_l2_entry(sound.image, 2) // CLUSTER % 2**40
    found = sound.at(KEY.CLUSTER, cluster)
    assert places(found) == [
        sound.locator.at_entry(KEY.GUEST, None, 2),
        sound.locator.at_entry(KEY.REFCOUNT_BLOCK, 0, cluster),
    ]
    assert found.described.named_by[0].selection == sound.locator.at_entry(KEY.L2, 0, 2)


def test_a_table_s_cluster_leads_into_the_table(sound: Subject) -> None:
    cluster = sound.image.layout.l1.offset // CLUSTER
    assert places(sound.at(KEY.CLUSTER, cluster))[0] == sound.locator.at_entry(KEY.L1, None, 0)


def test_a_guest_cluster_shows_the_way(sound: Subject) -> None:
    found = sound.at(KEY.GUEST, 2)
    assert [place.structure for place in places(found) if place] == [KEY.L1, KEY.L2, KEY.CLUSTER]
    assert found.described.complete
    behind = sound.at(KEY.GUEST, 16)
    assert behind.described.text == "It lies behind the end of the disk."


def test_what_is_not_read_yet_is_said_later() -> None:
    subject = Subject(plain().build(), checked=False, loaded=False)
    for selection in (Selection(KEY.L2, 3, 0), Selection(KEY.L1, 0), Selection(KEY.GUEST, 2)):
        found = inspect_selection(subject.locator.resolve(selection), subject.known)
        assert not found.described.complete
        assert found.verdict == "Nothing noticed so far; the check is running."


# -------------------------------------------------------------------------------- fields


def test_fields_lead_to_what_they_name(rich_subject: Subject) -> None:
    names = [found.field.name for found in rich_subject.report.header.field_values()]
    found = rich_subject.at(KEY.HEADER, names.index("l1_table_offset"))
    assert places(found) == [rich_subject.locator.at_entry(KEY.L1)]
    found = rich_subject.at(KEY.HEADER, names.index("snapshots_offset"))
    assert places(found) == [Selection(KEY.SNAPSHOTS)]
    found = rich_subject.at(KEY.SNAPSHOTS, 1)
    assert places(found) == [rich_subject.locator.at_entry(KEY.L1, None, None, 1)]
    assert "“second”" not in found.described.title
    assert found.described.title.endswith("second")
    found = rich_subject.at(KEY.BITMAPS, 1)
    assert [word.value for word in found.described.words] == [2]


def test_a_feature_is_marked_in_its_word(rich_subject: Subject) -> None:
    for row, feature in enumerate(rich_subject.report.features):
        (word,) = rich_subject.at(KEY.FEATURES, row).described.words
        assert word.marked == word.part_at(feature.bit)


# -------------------------------------------------------------------------------- owners, text


def test_owners_are_ways_back(rich_subject: Subject) -> None:
    subject = rich_subject
    clusters = range(subject.locator.host_end // 4096)
    owners = owners_of(subject.source, subject.report, clusters)
    for cluster, found in owners.items():
        for owner, link in zip(found, owner_links(found, subject.locator), strict=True):
            if link.selection is None:
                continue
            target = subject.locator.host_of_entry(link.selection)
            if target is not None and link.selection.structure.is_entry_table:
                assert target[0] // 4096 <= cluster < -(-target[1] // 4096), owner
            elif owner.host_offset is not None and link.selection.host is not None:
                start, end = link.selection.host
                assert start <= owner.host_offset < end, owner


def test_names_from_an_image_are_no_markup() -> None:
    builder = plain()
    builder.snapshot("<b>&amp;</b>")
    subject = Subject(builder.build())
    html = InspectorHtml(LIGHT)
    text = html.details(subject.at(KEY.SNAPSHOTS, 0), owners_known=False)
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in text
    assert "<b>&" not in text


def test_a_flood_of_findings_is_cut() -> None:
    image = plain().build()
    subject = Subject(set_refcount(image, 6, 3))
    many = tuple(subject.known.findings) * 40
    known = Known(subject.locator, subject.known.read, CheckState.DONE, None, no_cells(), many)
    place = subject.locator.at_entry(KEY.CLUSTER, None, 6)
    found = inspect_selection(place, known)
    text = InspectorHtml(LIGHT).intro(found)
    assert len(found.findings) > MAX_FINDINGS
    assert f"and {len(found.findings) - MAX_FINDINGS} more" in text


def test_everything_can_be_copied(sound: Subject) -> None:
    text = inspection_text(sound.at(KEY.L2, 2, 0), ())
    assert f"0x{get_l2_entry(sound.image, 2):016x}" in text.replace("_", "")
    assert "55–9  host_cluster_offset" in text
    assert "Named by: L1[0]" in text


@pytest.mark.parametrize(
    ("damage", "key", "other"),
    [
        ("feature_incompatible_40", KEY.HEADER, KEY.BITMAPS),
        ("header_snapshots_unaligned", KEY.HEADER, KEY.BITMAPS),
    ],
)
def test_a_structure_as_a_whole_has_the_findings_of_its_badge(
    damage: str, key: StructureKey, other: StructureKey
) -> None:
    """What the tree's badge counts, the inspector does not call unsuspicious."""
    subject = Subject(DAMAGES[damage].apply(rich()))
    found = inspect_selection(Selection(key), subject.known)
    assert found.findings
    assert "nothing wrong" not in found.verdict
    assert not inspect_selection(Selection(other), subject.known).findings
