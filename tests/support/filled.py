"""Images of terabytes, fully allocated, as sparse files: the metadata is there, data is holes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_COPIED = 1 << 63
_ENTRY_BYTES = 8
_BLOCK_BITS = 16


def write_filled_image(
    path: Path, size: int, *, cluster_bits: int = 16, shuffled: bool = False
) -> Path:
    """Write a version 3 image of `size` bytes whose every guest cluster has a host cluster.

    Header, refcount table, refcount blocks, L1; then each L2 table before the data it maps.

    Args:
        path: The file to make.
        size: The virtual size, a multiple of what one L2 table maps.
        cluster_bits: The cluster size.
        shuffled: Whether the data of each L2 table lies in random order behind it.
    """
    cluster = 1 << cluster_bits
    per_table = cluster // _ENTRY_BYTES
    tables, rest = divmod(size, per_table * cluster)
    if rest:
        raise ValueError("only whole L2 tables")
    per_block = cluster * 8 // _BLOCK_BITS
    l1_clusters = -(-tables * _ENTRY_BYTES // cluster)
    others = 1 + l1_clusters + tables * (1 + per_table)
    blocks = table_clusters = 0
    for _ in range(8):
        blocks = -(-(others + blocks + table_clusters) // per_block)
        table_clusters = -(-blocks * _ENTRY_BYTES // cluster)
    clusters = others + blocks + table_clusters
    first_l2 = 1 + table_clusters + blocks + l1_clusters
    random = np.random.default_rng(1)
    with path.open("wb") as file:
        file.truncate(clusters * cluster)
        file.write(_header(cluster_bits, size, tables, table_clusters, 1 + table_clusters + blocks))
        file.seek(cluster)
        offsets = (1 + table_clusters + np.arange(blocks, dtype=np.uint64)) * np.uint64(cluster)
        file.write(offsets.astype(">u8").tobytes())
        counts = np.zeros(blocks * per_block, dtype=">u2")
        counts[:clusters] = 1
        file.seek((1 + table_clusters) * cluster)
        file.write(counts.tobytes())
        l2 = (first_l2 + np.arange(tables, dtype=np.uint64) * np.uint64(1 + per_table)) * np.uint64(
            cluster
        )
        file.seek((1 + table_clusters + blocks) * cluster)
        file.write((l2 | np.uint64(_COPIED)).astype(">u8").tobytes())
        steps = (1 + np.arange(per_table, dtype=np.uint64)) * np.uint64(cluster)
        for offset in l2:
            entries = (offset + steps) | np.uint64(_COPIED)
            if shuffled:
                random.shuffle(entries)
            file.seek(int(offset))
            file.write(entries.astype(">u8").tobytes())
    return path


def _header(
    cluster_bits: int, size: int, l1_size: int, table_clusters: int, l1_cluster: int
) -> bytes:
    numbers = (
        (0x514649FB, 4),
        (3, 4),
        (0, 8),
        (0, 4),
        (cluster_bits, 4),
        (size, 8),
        (0, 4),
        (l1_size, 4),
        (l1_cluster << cluster_bits, 8),
        (1 << cluster_bits, 8),
        (table_clusters, 4),
        (0, 4),
        (0, 8),
        (0, 8),
        (0, 8),
        (0, 8),
        (4, 4),
        (112, 4),
        (0, 8),
    )
    return b"".join(value.to_bytes(width, "big") for value, width in numbers)
