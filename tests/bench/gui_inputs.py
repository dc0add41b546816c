"""The images that the window is measured with. All of them sparse, or small."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from tests.support.filled import write_filled_image

TEBIBYTE: Final = 1 << 40
FINDINGS: Final = 1 << 20
_CLUSTER_BYTES: Final = 1 << 16
_DISK_BYTES: Final = 64 << 30
"""Of the image with many findings: a million clusters."""


def filled(folder: Path, tebibytes: int) -> Path:
    """A fully allocated image with 64 KiB clusters."""
    path = folder / f"{tebibytes}-tebibytes.qcow2"
    return path if path.exists() else write_filled_image(path, tebibytes * TEBIBYTE)


def full_of_findings(folder: Path) -> Path:
    """An image all of whose data is counted free: a million findings, and some more."""
    path = folder / "findings.qcow2"
    if path.exists():
        return path
    write_filled_image(path, _DISK_BYTES)
    with path.open("r+b") as file:
        # Its first refcount block follows the header and the refcount table, both one cluster.
        file.seek(2 * _CLUSTER_BYTES)
        file.write(bytes(FINDINGS * 2))
    return path


def mixed_disk(folder: Path, size: int) -> Path:
    """A raw disk whose every byte has to be compressed: about half of it is left then."""
    path = folder / f"mixed-{size >> 20}.raw"
    if not path.exists():
        generator = np.random.default_rng(1)
        with path.open("wb") as file:
            for _ in range(size >> 24):
                block = generator.integers(0, 16, 1 << 24, dtype=np.uint8)
                file.write(block.tobytes())
    return path
