"""Bytes of a file that may be gigabytes long and mostly holes."""

from __future__ import annotations

from pathlib import Path

PAGE_BYTES = 4096
DENSE_LIMIT_BYTES = 512 << 20

_ZERO_PAGE = bytes(PAGE_BYTES)


class SparseBytes:
    """A writable byte string in pages of 4 KiB; pages never written read as zero.

    Pages are immutable, so that `copy` costs one dict and copies never see each other's writes.
    """

    def __init__(self, length: int = 0) -> None:
        self._pages: dict[int, bytes] = {}
        self._length = length

    def __len__(self) -> int:
        return self._length

    def copy(self) -> SparseBytes:
        """Return an independent copy."""
        other = SparseBytes(self._length)
        other._pages = dict(self._pages)
        return other

    def write(self, offset: int, data: bytes) -> None:
        """Store `data` at the byte `offset`; a write past the end makes the file longer."""
        position = 0
        while position < len(data):
            page_index, start = divmod(offset + position, PAGE_BYTES)
            chunk = data[position : position + PAGE_BYTES - start]
            page = self._pages.get(page_index, _ZERO_PAGE)
            changed = page[:start] + chunk + page[start + len(chunk) :]
            if changed == _ZERO_PAGE:
                self._pages.pop(page_index, None)
            else:
                self._pages[page_index] = changed
            position += len(chunk)
        self._length = max(self._length, offset + len(data))

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes of [offset, offset + length), fewer at the end of the file."""
        end = min(offset + length, self._length)
        parts: list[bytes] = []
        while offset < end:
            page_index, start = divmod(offset, PAGE_BYTES)
            stop = min(PAGE_BYTES, start + end - offset)
            parts.append(self._pages.get(page_index, _ZERO_PAGE)[start:stop])
            offset += stop - start
        return b"".join(parts)

    def resize(self, length: int) -> None:
        """Cut the file at `length` bytes, or lengthen it by a hole."""
        if length < self._length:
            last_page, used = divmod(length, PAGE_BYTES)
            self._pages = {i: page for i, page in self._pages.items() if i <= last_page}
            if last_page in self._pages:
                self._pages[last_page] = self._pages[last_page][:used] + bytes(PAGE_BYTES - used)
        self._length = length

    def to_bytes(self) -> bytes:
        """Return the whole file.

        Raises:
            ValueError: The file is longer than 512 MiB: it belongs on a disk, by `write_to`.
        """
        if self._length > DENSE_LIMIT_BYTES:
            raise ValueError(f"{self._length} bytes are too many for memory; use write_to")
        dense = bytearray(-(-self._length // PAGE_BYTES) * PAGE_BYTES)
        for page_index, page in self._pages.items():
            dense[page_index * PAGE_BYTES : (page_index + 1) * PAGE_BYTES] = page
        return bytes(dense[: self._length])

    def write_to(self, path: Path) -> None:
        """Write the file to `path`, leaving holes where no page was written."""
        with path.open("wb") as file:
            file.truncate(self._length)
            for page_index, page in sorted(self._pages.items()):
                start = page_index * PAGE_BYTES
                file.seek(start)
                file.write(page[: self._length - start])
