"""A candidate as a readable image: the damaged file, seen with tables that were made up for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qcowgui.convert.qcow2_header import build_header
from qcowgui.errors import UnsupportedError
from qcowgui.format import limits
from qcowgui.format.features import Incompatible
from qcowgui.format.geometry import ENTRY_BYTES
from qcowgui.format.header import MAGIC
from qcowgui.image.chain import ChainLayer, OpenedImage, open_image
from qcowgui.image.inspect import inspect_source
from qcowgui.image.layer import Layer, LostRange
from qcowgui.image.mapping import GuestMapping
from qcowgui.image.patched import Patch, PatchedSource
from qcowgui.image.qcow2_layer import Qcow2Layer
from qcowgui.image.references import (
    DENY,
    AllowGate,
    EitherGate,
    Gate,
    Reference,
    backing_reference,
    open_reference,
)
from qcowgui.image.source import ByteSource, Identity
from qcowgui.salvage.l2_rows import LOST_TABLE, zero_entries
from qcowgui.units import align_up

if TYPE_CHECKING:
    from qcowgui.image.inspect import ImageReport
    from qcowgui.salvage.candidates import Candidate


class SalvagedImage(OpenedImage):
    """A candidate as a guest sees it; what can't be read is zeros and noted in `losses`."""

    def __init__(
        self,
        layers: list[Layer],
        chain: list[ChainLayer],
        source: ByteSource,
        *,
        below: OpenedImage | None,
        missing: Reference | None,
    ) -> None:
        """A view; closing it closes `below`, and leaves `source` to its owner."""
        super().__init__(layers, chain, [source], salvage=True, missing=missing)
        self._below = below

    def lose(self, ranges: Sequence[LostRange]) -> None:
        """Note guest ranges as lost before anything is read."""
        if self.losses is not None:
            for lost in ranges:
                self.losses.add(lost)

    @property
    def identities(self) -> frozenset[Identity]:
        """As `GuestImage.identities`, the backing chain's included."""
        own = super().identities
        return own if self._below is None else own | self._below.identities

    def require_unchanged(self) -> None:
        """As `GuestImage.require_unchanged`, the backing chain's files included."""
        super().require_unchanged()
        if self._below is not None:
            self._below.require_unchanged()

    def close(self) -> None:
        """Close the backing chain."""
        super().close()
        if self._below is not None:
            self._below.close()


def assemble(source: ByteSource, candidate: Candidate) -> PatchedSource:
    """`source` with the candidate's header, L1 table and cleaned L2 tables.

    Behind the end of the file stand the L1 table, one L2 table of zero clusters for all that are
    lost (so that what they mapped is zeros and not the backing file's), and an empty cluster in
    place of a refcount table that was not found.
    """
    cluster_bytes = candidate.geometry.cluster_bytes
    l1_offset = align_up(source.size_bytes, cluster_bytes)
    l1_bytes = max(1, candidate.l1_entries) * ENTRY_BYTES
    blank_offset = align_up(l1_offset + l1_bytes, cluster_bytes)
    spare_offset = blank_offset + cluster_bytes
    l1_words = np.where(candidate.l1 == LOST_TABLE, blank_offset, candidate.l1).astype(">u8")
    patches: list[Patch] = [
        (l1_offset, l1_words.tobytes()),
        (blank_offset, zero_entries(candidate.geometry, candidate.geometry.l2_entries)),
        *candidate.patches,
        *_header_patches(candidate, l1_offset, spare_offset),
    ]
    return PatchedSource(source, patches, size_bytes=spare_offset + cluster_bytes)


def _header_patches(candidate: Candidate, l1_offset: int, spare_offset: int) -> Iterator[Patch]:
    """The header: the image's own with a few fields changed, or a new one."""
    if candidate.keeps_header:
        yield 24, candidate.virtual_bytes.to_bytes(8, "big")
        yield 36, candidate.l1_entries.to_bytes(4, "big") + l1_offset.to_bytes(8, "big")
        return
    geometry = candidate.geometry
    incompatible = 0
    if candidate.compression_type:
        incompatible |= Incompatible.COMPRESSION_TYPE
    if geometry.extended_l2:
        incompatible |= Incompatible.EXTENDED_L2
    values = {
        "magic": MAGIC,
        "version": 3,
        "cluster_bits": geometry.cluster_bits,
        "size": candidate.virtual_bytes,
        "l1_size": candidate.l1_entries,
        "l1_table_offset": l1_offset,
        "refcount_table_offset": candidate.refcount_table_offset or spare_offset,
        "refcount_table_clusters": candidate.refcount_table_clusters or 1,
        "incompatible_features": incompatible,
        "refcount_order": geometry.refcount_order,
        "header_length": limits.KNOWN_HEADER_BYTES,
        "compression_type": candidate.compression_type,
    }
    # The zeros behind it are the end of the extensions.
    yield 0, build_header(values, limits.KNOWN_HEADER_BYTES).ljust(geometry.cluster_bytes, b"\0")


def open_candidate(
    source: ByteSource,
    candidate: Candidate,
    *,
    gate: Gate = DENY,
    backing: Path | None = None,
    backing_format: str | None = None,
) -> SalvagedImage:
    """A candidate, opened for reading; closing it leaves `source` open.

    A backing file that the header names and `gate` does not permit is not opened: what it would
    hold is then lost, and noted as that.

    Args:
        source: The damaged image.
        candidate: What to read it by.
        gate: Decides whether the backing file that the header names may be opened.
        backing: The backing file to use, whatever the header says; its own is then not asked for.
        backing_format: The format of `backing`, or None for what its content shows.

    Raises:
        QcowError: When the backing file was permitted or named and can't be opened.
        SourceError: When the operating system refuses a read.
    """
    if candidate.crypt_method:
        raise UnsupportedError(
            "the guest data is encrypted, and this program does not decrypt",
            path=source.name,
            hint="repair a copy of the image, then decrypt that with qemu-img convert",
        )
    assembled = assemble(source, candidate)
    report = inspect_source(assembled)
    mapping = GuestMapping(
        assembled,
        candidate.geometry,
        version=report.header.version,
        l1_table_offset=report.header.l1_table_offset,
        l1_size=report.header.l1_size,
        virtual_bytes=candidate.virtual_bytes,
    )
    # Data comes from the file itself: what an entry names beyond its end must be missed there, and
    # not found in what was put behind it.
    layer = Qcow2Layer(source, source, mapping, compression_type=candidate.compression_type)
    own = ChainLayer(
        Path(source.name),
        "qcow2",
        False,
        candidate.virtual_bytes,
        source.size_bytes,
        report,
        None,
        source.identity,
    )
    below, missing = _open_below(report, gate, backing, backing_format)
    layers: list[Layer] = [layer, *(below.layers if below is not None else ())]
    chain = [own, *(below.chain if below is not None else ())]
    image = SalvagedImage(layers, chain, assembled, below=below, missing=missing)
    image.lose(candidate.lost)
    return image


def _open_below(
    report: ImageReport, gate: Gate, backing: Path | None, backing_format: str | None
) -> tuple[OpenedImage | None, Reference | None]:
    """The backing chain, or the reference to a backing file that was not permitted."""
    if backing is not None:
        named = EitherGate(gate, AllowGate((backing,)))
        return open_image(backing, format=backing_format, gate=named, salvage=True), None
    reference = backing_reference(report)
    if reference is None:
        return None, None
    if reference.path is None or not gate.permit(reference):
        return None, reference
    # It says by itself what is wrong with a reference: missing, no regular file.
    open_reference(reference, gate).close()
    recorded = report.backing_format
    image_format = recorded if recorded in ("qcow2", "raw") else None
    return open_image(reference.path, format=image_format, gate=gate, salvage=True), None
