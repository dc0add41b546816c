"""Space for what a guest may write later: how much, and setting it aside before anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qcowgui.convert.measure import measure_new
from qcowgui.units import MIB

if TYPE_CHECKING:
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.convert.output import OutputFile
    from qcowgui.engine.work import CancelToken

_ZEROS: Final = bytes(MIB)


def reserved_bytes(options: ConvertOptions, virtual_bytes: int) -> int:
    """The space that a target takes from the start; 0 when it grows as it is written.

    Raises:
        OptionsError: When the disk is too large for the target's clusters.
    """
    if options.target_format == "raw" and not options.sparse_bytes:
        return virtual_bytes
    if options.preallocation in ("falloc", "full"):
        return measure_new(options, virtual_bytes).fully_allocated_bytes
    return 0


def length_bytes(options: ConvertOptions, virtual_bytes: int) -> int | None:
    """The length of a target's file, where the disk's size alone decides it.

    Raises:
        OptionsError: When the disk is too large for the target's clusters.
    """
    if options.target_format == "raw":
        return virtual_bytes
    if options.preallocation == "off":
        return None
    return measure_new(options, virtual_bytes).fully_allocated_bytes


def reserve(
    output: OutputFile, options: ConvertOptions, virtual_bytes: int, token: CancelToken
) -> None:
    """Set the space of a fresh file aside, as zeros, where preallocation wants that.

    A raw file that must not have holes gets its space from its writer.

    Raises:
        OutputError: When there is not enough.
        Cancelled: When the token was set.
    """
    size = reserved_bytes(options, virtual_bytes)
    if options.preallocation == "falloc":
        output.allocate(size)
    if options.preallocation != "full":
        return
    for offset in range(0, size, len(_ZEROS)):
        token.raise_if_cancelled()
        output.write_at(offset, _ZEROS[: size - offset])
