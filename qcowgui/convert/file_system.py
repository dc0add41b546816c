"""What the file system of a folder can hold: holes, long files, and how much."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qcowgui.units import GIB, MIB

_FAT_NAMES: Final = frozenset({"vfat", "msdos", "fat", "fat12", "fat16", "fat32"})
_WITHOUT_HOLES: Final = _FAT_NAMES | {"exfat", "hfs", "hfsplus"}
_MAX_FAT_FILE_BYTES: Final = 4 * GIB - 1
_FAT_SIZE_BITS: Final = 33
"""What pathconf says of FAT where it tells file systems apart: 32 bits and a sign."""
_MOUNTS: Final = Path("/proc/self/mountinfo")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3})")
_TRIAL_BYTES: Final = 4 * MIB


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A file system, as far as the target of a conversion is concerned.

    Attributes:
        name: What the system calls its type, in small letters; empty when that is not known.
        has_holes: Whether what was never written takes no space; None when that is not known.
        max_file_bytes: Of one file; None when that is not known, or far away.
        free_bytes: What the user may still write; None when the system does not tell.
        total_bytes: Its whole size; None when the system does not tell.
    """

    name: str
    has_holes: bool | None
    max_file_bytes: int | None
    free_bytes: int | None
    total_bytes: int | None


def file_system_of(folder: Path) -> FileSystem:
    """What is known of the file system of an existing folder.

    Linux and Windows name the type; elsewhere a file without a name is made there for a moment.
    """
    if sys.platform == "linux":
        name = _mounted_type(os.path.realpath(folder), _read_mounts())
        has_holes = (name not in _WITHOUT_HOLES) if name else None
        most = _MAX_FAT_FILE_BYTES if name in _FAT_NAMES else None
    elif sys.platform == "win32":
        name = _volume_type(folder)
        has_holes = False if name in _WITHOUT_HOLES else None
        most = _MAX_FAT_FILE_BYTES if name in _FAT_NAMES else None
    else:
        name, has_holes = "", makes_holes(folder)
        most = _MAX_FAT_FILE_BYTES if _size_bits(folder) == _FAT_SIZE_BITS else None
    try:
        usage = shutil.disk_usage(folder)
    except OSError:  # making the target will say what is wrong
        return FileSystem(name, has_holes, most, None, None)
    if not usage.total:  # some network file systems don't know
        return FileSystem(name, has_holes, most, None, None)
    return FileSystem(name, has_holes, most, usage.free, usage.total)


def _read_mounts() -> bytes:
    try:
        return _MOUNTS.read_bytes()
    except OSError:  # no /proc here
        return b""


def _mounted_type(folder: str, mounts: bytes) -> str:
    """The type of the file system that holds `folder`, a real path; empty when it isn't listed.

    Args:
        folder: A path without links.
        mounts: The content of /proc/self/mountinfo.
    """
    path = os.fsencode(folder).rstrip(b"/") + b"/"
    longest, found = -1, b""
    for line in mounts.splitlines():
        place, _, kind = line.partition(b" - ")
        fields, kinds = place.split(b" "), kind.split(b" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = _ESCAPE.sub(lambda match: bytes((int(match[1], 8) & 0xFF,)), fields[4])
        point = point.rstrip(b"/") + b"/"
        # Of two in one place, the later one hides the earlier.
        if path.startswith(point) and len(point) >= longest:
            longest, found = len(point), kinds[0]
    return os.fsdecode(found).lower()


if sys.platform == "win32":
    import ctypes

    def _volume_type(folder: Path) -> str:
        """The type of the volume that holds `folder`; empty when Windows does not tell."""
        kernel = ctypes.windll.kernel32
        root = ctypes.create_unicode_buffer(32768)
        name = ctypes.create_unicode_buffer(261)
        if not kernel.GetVolumePathNameW(str(folder), root, len(root)):
            return ""
        if not kernel.GetVolumeInformationW(root, None, 0, None, None, None, name, len(name)):
            return ""
        return str(name.value).lower()

else:

    def _size_bits(folder: Path) -> int | None:
        """How many bits a file's size can have there, where the system tells."""
        try:
            return os.pathconf(folder, "PC_FILESIZEBITS")
        except (OSError, ValueError):
            return None


def makes_holes(folder: Path) -> bool | None:
    """Whether a file in `folder` can have holes, by trial; None when it can't be tried."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.seek(_TRIAL_BYTES)
            file.write(b"\1")
            os.fsync(file.fileno())
            blocks = getattr(os.fstat(file.fileno()), "st_blocks", None)
    except OSError:
        return None
    return None if blocks is None else blocks * 512 < _TRIAL_BYTES // 2
