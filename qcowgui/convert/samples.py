"""Sample images, made by this program's own converter: healthy, compressed, damaged.

For whoever wants to see what the program shows without an image at hand; the same bytes each time.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qcowgui.convert.job import ConvertJob, ConvertResult
from qcowgui.convert.options import Compression, ConvertOptions
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.errors import OutputError
from qcowgui.format.features import Incompatible
from qcowgui.format.fields import HEADER_FIELDS, field_named
from qcowgui.image.inspect import inspect
from qcowgui.units import KIB, MIB

RAW: Final = "sample.raw"
HEALTHY: Final = "healthy.qcow2"
ZLIB: Final = "zlib.qcow2"
ZSTD: Final = "zstd.qcow2"
DAMAGED: Final = "damaged.qcow2"

_DISK_BYTES: Final = 64 * MIB
_TEXT_BYTES: Final = 12 * MIB
_NOISE_BYTES: Final = 6 * MIB
_WORDS: Final = (
    "cluster guest host table entry snapshot offset refcount block header image layer backing "
    "bitmap extension descriptor payload sector virtual disk"
)


@dataclass(frozen=True, slots=True)
class SampleStep:
    """A conversion that was done: from which file to which, and what came of it."""

    source: str
    target: str
    result: ConvertResult


def make_samples(
    folder: Path, executor: Executor, *, token: CancelToken | None = None
) -> list[SampleStep]:
    """Make the sample files in `folder`; what each conversion took, the last one zlib → zstd.

    Raises:
        OutputError: When they can't be written, or are there already.
        Cancelled: When the token asks for it.
    """
    token = token or CancelToken()
    try:
        token.raise_if_cancelled()
        write_sample(folder / RAW)
        steps = []
        for source, target, compression in _CONVERSIONS:
            token.raise_if_cancelled()
            options = ConvertOptions(
                folder / source, folder / target, target_format="qcow2", compression=compression
            )
            steps.append(SampleStep(source, target, ConvertJob(options).run(executor)))
        damage(folder / HEALTHY, folder / DAMAGED)
    except OSError as error:
        raise OutputError(
            f"the samples can't be written to {folder}: {error.strerror}",
            path=str(folder),
            errno=error.errno,
        ) from error
    return steps


_CONVERSIONS: Final[tuple[tuple[str, str, Compression], ...]] = (
    (RAW, HEALTHY, "none"),
    (RAW, ZLIB, "zlib"),
    (ZLIB, ZSTD, "zstd"),
)


def write_sample(path: Path) -> None:
    """Write a raw disk of 64 MiB: text, then noise, with holes between and behind them.

    The same bytes each time.
    """
    chance = random.Random(2)  # noqa: S311  sample data
    with path.open("wb") as file:
        file.truncate(_DISK_BYTES)
        file.seek(MIB)
        for part in _iter_text(chance, _TEXT_BYTES):
            file.write(part)
        file.seek(_DISK_BYTES // 2)
        file.write(chance.randbytes(_NOISE_BYTES))


def _iter_text(chance: random.Random, size_bytes: int) -> Iterator[bytes]:
    """`size_bytes` of words in random order, in parts."""
    words = _WORDS.split()
    left = size_bytes
    while left:
        part = " ".join(chance.choices(words, k=16 * KIB)).encode()[:left]
        left -= len(part)
        yield part


def damage(healthy: Path, damaged: Path) -> None:
    """Copy an image, mark it corrupt and let its refcount table start where its L1 table is."""
    shutil.copyfile(healthy, damaged)
    header = inspect(healthy).header
    edits = {
        "refcount_table_offset": header.l1_table_offset,
        "incompatible_features": header.incompatible_features | Incompatible.CORRUPT,
    }
    with damaged.open("r+b") as file:
        for name, value in edits.items():
            field = field_named(HEADER_FIELDS, name)
            file.seek(field.offset)
            file.write(value.to_bytes(field.width_bytes, "big"))
