"""Which clusters of the image file are taken, and how often each is referenced."""

from __future__ import annotations

from collections import Counter


class HostSpace:
    """Hands out clusters from the start of the file, around those that were reserved first."""

    def __init__(self, cluster_bits: int) -> None:
        self.cluster_bits = cluster_bits
        self.cluster_bytes = 1 << cluster_bits
        self.references: Counter[int] = Counter()
        self._taken: set[int] = set()
        self._next_cluster = 0
        self._payload_end: int | None = None

    @property
    def end_clusters(self) -> int:
        """One past the highest cluster that is taken or referenced."""
        return 1 + max(max(self._taken, default=-1), max(self.references, default=-1))

    def clusters_of(self, offset: int, length: int) -> range:
        """Return the indexes of the host clusters that the bytes touch."""
        return range(offset >> self.cluster_bits, (offset + length - 1 >> self.cluster_bits) + 1)

    def reserve(self, offset: int, length: int, *, shared: bool = False) -> None:
        """Take the clusters of the byte range; several payloads (`shared`) may take the same one.

        Raises:
            ValueError: A cluster is already taken.
        """
        clusters = set(self.clusters_of(offset, length))
        if not shared and clusters & self._taken:
            raise ValueError(f"host offset {offset:#x} is already taken")
        self._taken |= clusters

    def allocate(self, length: int) -> int:
        """Take the next run of free clusters that holds `length` bytes; return its offset."""
        wanted = -(-length // self.cluster_bytes)
        start = self._next_cluster
        while clash := [c for c in range(start, start + wanted) if c in self._taken]:
            start = clash[-1] + 1
        self._taken.update(range(start, start + wanted))
        self._next_cluster = start + wanted
        return start << self.cluster_bits

    def allocate_payload(self, length: int, align: int) -> int:
        """Return a byte offset right behind the last payload, in a new cluster if it can't grow.

        A payload runs over a cluster's end only into clusters that nothing else has taken.
        """
        if self._payload_end is not None:
            start = -(-self._payload_end // align) * align
            last_owned = self._payload_end - 1 >> self.cluster_bits
            new = [c for c in self.clusters_of(start, length) if c > last_owned]
            contiguous = last_owned + 1 == self._next_cluster
            if not new or (contiguous and self._taken.isdisjoint(new)):
                if new:
                    self._taken.update(new)
                    self._next_cluster = new[-1] + 1
                self._payload_end = start + length
                return start
        start = self.allocate(length)
        self._payload_end = start + length
        return start

    def count(self, offset: int, length: int) -> None:
        """Add one reference to each cluster that the byte range touches."""
        self.references.update(self.clusters_of(offset, length))


def refcount_blocks(
    references: Counter[int], cluster_bits: int, refcount_order: int
) -> dict[int, bytes]:
    """Return the refcount blocks that are not all zero, by refcount table index.

    Raises:
        ValueError: A count does not fit into an entry.
    """
    bits = 1 << refcount_order
    block_entries = (8 << cluster_bits) >> refcount_order
    blocks: dict[int, bytearray] = {}
    for cluster_index, count in references.items():
        if count >> bits:
            raise ValueError(f"cluster {cluster_index}: refcount {count} needs over {bits} bits")
        block_index, entry = divmod(cluster_index, block_entries)
        block = blocks.setdefault(block_index, bytearray(1 << cluster_bits))
        byte, shift = divmod(entry * bits, 8)
        if bits < 8:
            block[byte] |= count << shift
        else:
            block[byte : byte + bits // 8] = count.to_bytes(bits // 8, "big")
    return {index: bytes(block) for index, block in blocks.items()}
