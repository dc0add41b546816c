"""A finished image: its bytes, where everything is, and what a guest must read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.guest import GuestDisk
from tests.support.layout import Layout
from tests.support.sparse import SparseBytes


@dataclass(frozen=True)
class BuiltImage:
    """What `ImageBuilder.build` returns; immutable, every edit gives a new image.

    Attributes:
        file: The bytes of the qcow2 file.
        layout: Where its structures are. A damaged image keeps the layout of the healthy one.
        disk: The guest's view of the active disk, as the builder was told to write it.
        snapshot_disks: The same for each internal snapshot, by name (the last one of that name).
        data_file: The bytes of the external data file, or None.
        data_file_name: Its name as stored in the image.
    """

    file: SparseBytes
    layout: Layout
    disk: GuestDisk
    snapshot_disks: Mapping[str, GuestDisk]
    data_file: SparseBytes | None = None
    data_file_name: str | None = None

    def to_bytes(self) -> bytes:
        """Return the whole qcow2 file; ValueError if it is longer than 512 MiB."""
        return self.file.to_bytes()

    def read(self, offset: int, length: int) -> bytes:
        """Return host bytes, fewer at the end of the file."""
        return self.file.read(offset, length)

    def read_integer(self, offset: int, width: int) -> int:
        """Return the big-endian integer of `width` bytes at the host `offset`."""
        return int.from_bytes(self.file.read(offset, width), "big")

    def edited(self, offset: int, data: bytes) -> BuiltImage:
        """Return the image with `data` at the host `offset`, longer if it ends past the end."""
        file = self.file.copy()
        file.write(offset, data)
        return replace(self, file=file)

    def resized(self, length: int) -> BuiltImage:
        """Return the image with its file cut at `length` bytes, or lengthened by a hole."""
        file = self.file.copy()
        file.resize(length)
        return replace(self, file=file)

    def guest_bytes(self, *, backing: bytes = b"", snapshot: str | None = None) -> bytes:
        """Return what a guest reads from the whole disk, over the content of its backing file.

        Raises:
            OpaqueEntryError: A raw L2 entry was used: the builder can't know what it means.
        """
        disk = self.disk if snapshot is None else self.snapshot_disks[snapshot]
        return disk.read(0, disk.size, backing)

    def write_to(self, path: Path) -> Path:
        """Write the image to `path`, sparse, and the data file beside it; return `path`.

        Raises:
            ValueError: The data file's name would leave the folder of `path`.
        """
        self.file.write_to(path)
        if self.data_file is not None and self.data_file_name is not None:
            if Path(self.data_file_name).name != self.data_file_name:
                raise ValueError(f"will not write a data file to {self.data_file_name!r}")
            self.data_file.write_to(path.with_name(self.data_file_name))
        return path
