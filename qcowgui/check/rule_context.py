"""What the rules on table entries need to know of an image, beside the entries themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from qcowgui.format.geometry import Geometry
from qcowgui.units import SECTOR_BYTES, align_up

if TYPE_CHECKING:
    from qcowgui.format.snapshots import Snapshot
    from qcowgui.image.inspect import ImageReport


class Hit(NamedTuple):
    """The entries of one table that break one rule.

    Attributes:
        code: Of `finding.CODES`.
        indices: intp, ascending, without repetition: positions in the judged array.
    """

    code: str
    indices: npt.NDArray[np.intp]


QEMU_WEIGHT: Final[dict[str, int]] = {
    "l1-reserved-bits": 1,
    "l2-offset-unaligned": 1,
    "l2-table-beyond-eof": 1,
    "l2-reserved-bits": 1,
    "compressed-copied": 1,
    "compressed-with-data-file": 1,
    "compressed-subclusters": 1,
    "compressed-offset-high": 1,
    "compressed-beyond-eof": 1,
    "subcluster-conflict": 1,
    "zero-cluster-unaligned": 1,
    "data-cluster-unaligned": 1,
    "data-beyond-eof": 1,
    "subclusters-without-cluster": 1,
}
"""Corruptions that `qemu-img check` counts for one entry of a hit; codes not listed count none.

Several hits for one entry add up, as they do there. "compressed-offset-high" counts because such an
offset lies beyond the end of any file.
"""


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The image, as far as an entry's meaning depends on it.

    Attributes:
        geometry: Cluster size and width of entries.
        version: 2 or 3.
        file_bytes: Length of the image file.
        has_data_file: Whether standard clusters lie in an external data file.
        data_file_bytes: That file's length, or None when it is not open (or there is none).
        compression_type: Of the header; None where it does not matter.
        virtual_bytes: End of the guest's disk: host bytes behind it in its last cluster hold no
            data. None when every cluster counts as whole.
    """

    geometry: Geometry
    version: int
    file_bytes: int
    has_data_file: bool = False
    data_file_bytes: int | None = None
    compression_type: int | None = None
    virtual_bytes: int | None = None

    @classmethod
    def of(
        cls,
        report: ImageReport,
        *,
        file_bytes: int | None = None,
        data_file_bytes: int | None = None,
    ) -> RuleContext | None:
        """The context of the active disk, or None when the header allows no geometry.

        Args:
            report: The image's.
            file_bytes: Length of the file, where it is not that of the report.
            data_file_bytes: Length of the data file, when it is open.
        """
        header = report.header
        if header.geometry is None:
            return None
        return cls(
            header.geometry,
            header.version,
            report.file_bytes if file_bytes is None else file_bytes,
            header.has_data_file,
            data_file_bytes,
            header.compression_type,
            report.virtual_bytes,
        )

    def for_snapshot(self, snapshot: Snapshot) -> RuleContext:
        """The same for the tables of an internal snapshot, whose disk may have another size."""
        if snapshot.disk_bytes is None:
            return self
        return replace(self, virtual_bytes=snapshot.disk_bytes)

    @property
    def file_end(self) -> int:
        """The end of the file as QEMU takes it: rounded up to whole sectors."""
        return align_up(self.file_bytes, SECTOR_BYTES)
