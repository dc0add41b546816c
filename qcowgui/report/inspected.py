"""A file that was inspected, as far as an open looks at it: an image, or a disk as it stands."""

from __future__ import annotations

from dataclasses import dataclass

from qcowgui.format.finding import Finding
from qcowgui.image.inspect import ImageReport
from qcowgui.image.signatures import Identification
from qcowgui.image.summary import MappingSummary
from qcowgui.units import SECTOR_BYTES, align_up


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file whose bytes are those of the guest's disk.

    Attributes:
        name: The path as given.
        file_bytes: The file's length.
        disk_bytes: What the file system has set aside for it, or None.
        found: What its content shows.
    """

    name: str
    file_bytes: int
    disk_bytes: int | None
    found: Identification

    @property
    def virtual_bytes(self) -> int:
        """The size of the guest's disk: whole sectors."""
        return align_up(self.file_bytes, SECTOR_BYTES)


@dataclass(frozen=True, slots=True)
class Qcow2File:
    """A qcow2 image.

    Attributes:
        report: What its metadata says.
        summary: How its guest clusters are stored, or None when they were not counted.
    """

    report: ImageReport
    summary: MappingSummary | None

    @property
    def name(self) -> str:
        """The path as given."""
        return self.report.name

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything noticed, worst first."""
        found = list(self.report.findings)
        if self.summary is not None:
            found += self.summary.findings()
        return tuple(sorted(found, key=lambda finding: -finding.severity))


Inspected = Qcow2File | RawFile
