"""Give every structure of a recipe its host offset, and count the references to each cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.guest import Entry, HostCluster, Payload
from tests.support.host_space import HostSpace
from tests.support.layout import Span
from tests.support.recipe import Gap, Leak, Recipe, host_object

SECTOR_BYTES = 512


@dataclass
class Placement:
    """Host offsets of everything; objects are keyed by identity."""

    space: HostSpace
    refcount_table: Span
    refcount_blocks: dict[int, Span]
    l1: Span
    tables: dict[int, Span] = field(default_factory=dict)
    objects: dict[int, Span] = field(default_factory=dict)
    snapshot_l1: list[Span] = field(default_factory=list)
    snapshot_table: Span | None = None
    bitmap_data: dict[tuple[int, int], Span] = field(default_factory=dict)
    bitmap_tables: list[Span] = field(default_factory=list)
    bitmap_directory: Span | None = None
    luks: Span | None = None


def settle(recipe: Recipe) -> Placement:
    """Return the placement of a recipe and its references.

    Refcount blocks count themselves, so their number is found by trying again with those that the
    last attempt turned out to need; it never shrinks, so this ends.
    """
    options = recipe.options
    block_entries = (8 << options.cluster_bits) >> options.refcount_order
    table_clusters = options.refcount_table_clusters
    blocks: set[int] = {0}
    while True:
        placement = _place(recipe, table_clusters, sorted(blocks))
        _count_references(recipe, placement)
        needed = {cluster // block_entries for cluster in placement.space.references}
        table_needed = -(-(max(needed) + 1) * 8 // options.cluster_bytes)
        if needed <= blocks and table_needed <= table_clusters:
            return placement
        blocks |= needed
        table_clusters = max(table_clusters, table_needed)


def _place(recipe: Recipe, table_clusters: int, block_indexes: Sequence[int]) -> Placement:
    """Return where everything goes, with this many refcount table clusters and these blocks."""
    options = recipe.options
    space = HostSpace(options.cluster_bits)
    placer = _Placer(space, options.placement)
    space.reserve(0, options.cluster_bytes)
    referenced = recipe.referenced_objects()
    fixed_objects = _reserve_fixed(recipe, space, referenced)
    table_bytes = table_clusters * options.cluster_bytes
    sizes = {"refcount_table": table_bytes, "l1": 8 * recipe.l1_entries}
    tables = recipe.tables()
    sizes |= {f"refcount_block[{i}]": options.cluster_bytes for i in block_indexes}
    sizes |= {f"l2[{i}]": options.cluster_bytes for i in recipe.disk.tables}
    records = sum(len(snapshot.encode(0)) for snapshot in recipe.snapshots)
    directory = sum(len(bitmap.encode(0)) for bitmap in recipe.bitmaps)
    luks_bytes = len(recipe.luks_area or b"")
    sizes |= {"snapshot_table": records, "bitmap_directory": directory, "luks": luks_bytes}
    placer.fix_all(sizes)

    placement = Placement(
        space=space,
        refcount_table=placer.put("refcount_table", table_bytes),
        refcount_blocks={
            i: placer.put(f"refcount_block[{i}]", options.cluster_bytes) for i in block_indexes
        },
        l1=placer.put("l1", 8 * recipe.l1_entries),
        objects=fixed_objects,
    )
    active = {id(table): f"l2[{index}]" for index, table in recipe.disk.tables.items()}
    for table in tables:
        if id(table) in active:
            placement.tables[id(table)] = placer.put(active[id(table)], options.cluster_bytes)
    _place_sequence(recipe, placement, referenced)
    for table in tables:
        if id(table) not in active:
            placement.tables[id(table)] = placer.put("", options.cluster_bytes)
    placement.snapshot_l1 = [placer.put("", 8 * s.l1_entries) for s in recipe.snapshots]
    if recipe.snapshots:
        placement.snapshot_table = placer.put("snapshot_table", records)
    for index, bitmap in enumerate(recipe.bitmaps):
        for entry_index, item in enumerate(bitmap.table):
            if isinstance(item, bytes):
                placement.bitmap_data[index, entry_index] = placer.put("", len(item))
        placement.bitmap_tables.append(placer.put("", 8 * len(bitmap.table)))
    if recipe.bitmaps:
        placement.bitmap_directory = placer.put("bitmap_directory", directory)
    if recipe.luks_area is not None:
        placement.luks = placer.put("luks", luks_bytes)
    return placement


class _Placer:
    """Puts named structures at their fixed offset, or else at the next free one."""

    def __init__(self, space: HostSpace, fixed: Mapping[str, int]) -> None:
        self._space = space
        self._fixed = fixed

    def fix_all(self, sizes: Mapping[str, int]) -> None:
        unknown = self._fixed.keys() - sizes.keys()
        # A refcount block's index may turn out to be needed only in a later attempt.
        if any(not name.startswith("refcount_block[") for name in unknown):
            raise ValueError(f"placement of structures that the image has not: {sorted(unknown)}")
        for name, offset in self._fixed.items():
            if name in sizes:
                self._space.reserve(offset, sizes[name])

    def put(self, name: str, length: int) -> Span:
        if length == 0:
            return Span(0, 0)
        if name in self._fixed:
            return Span(self._fixed[name], length)
        return Span(self._space.allocate(length), length)


def _reserve_fixed(recipe: Recipe, space: HostSpace, referenced: set[int]) -> dict[int, Span]:
    spans: dict[int, Span] = {}
    for item in recipe.sequence:
        if isinstance(item, HostCluster | Payload) and item.at is not None:
            if id(item) not in referenced:
                continue
            is_payload = isinstance(item, Payload)
            length = len(item.stream) if isinstance(item, Payload) else len(item.content)
            if not is_payload and item.at % space.cluster_bytes:
                raise ValueError(f"host offset {item.at:#x} of guest data is not aligned")
            space.reserve(item.at, length, shared=is_payload)
            spans[id(item)] = Span(item.at, length)
    return spans


def _place_sequence(recipe: Recipe, placement: Placement, referenced: set[int]) -> None:
    space, objects = placement.space, placement.objects
    for item in recipe.sequence:
        if isinstance(item, Leak | Gap):
            length = item.n_clusters * space.cluster_bytes
            objects[id(item)] = Span(space.allocate(length), length)
        elif id(item) in referenced and item.at is None:
            if isinstance(item, Payload):
                length = len(item.stream)
                offset = space.allocate_payload(length, item.align)
                objects[id(item)] = Span(offset, length)
            else:
                length = len(item.content)
                objects[id(item)] = Span(space.allocate(length), length)


def payload_sectors(payload: Payload, offset: int) -> int:
    """Return the sectors that the descriptor of a payload at the host `offset` names."""
    used = -(-(offset % SECTOR_BYTES + len(payload.stream)) // SECTOR_BYTES)
    return used + payload.extra_sectors


def _count_references(recipe: Recipe, placement: Placement) -> None:
    space = placement.space
    space.count(0, 1)
    metadata: list[Span | None] = [
        placement.refcount_table,
        placement.l1,
        placement.snapshot_table,
        placement.bitmap_directory,
        placement.luks,
        *placement.refcount_blocks.values(),
        *placement.snapshot_l1,
        *placement.bitmap_tables,
        *placement.bitmap_data.values(),
        *(placement.objects[id(item)] for item in recipe.sequence if isinstance(item, Leak)),
    ]
    for span in metadata:
        if span is not None and span.length:
            space.count(*span)
    for disk in recipe.disks:
        for table in disk.tables.values():
            space.count(*placement.tables[id(table)])
            for entry in table.entries.values():
                _count_entry(entry, placement)


def _count_entry(entry: Entry, placement: Placement) -> None:
    host = host_object(entry)
    span = placement.objects.get(id(host))
    if host is None or span is None:
        return
    if isinstance(host, Payload):
        sectors = payload_sectors(host, span.offset)
        sector_start = span.offset - span.offset % SECTOR_BYTES
        placement.space.count(sector_start, max(1, sectors) * SECTOR_BYTES)
    else:
        placement.space.count(*span)
