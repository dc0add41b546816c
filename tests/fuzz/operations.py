"""What is done with each mutant, by name: the library's own entry points."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from qcowgui.check.checker import CheckReport, check_image
from qcowgui.convert import losses as convert_losses
from qcowgui.convert.job import ConvertJob
from qcowgui.convert.options import ConvertOptions
from qcowgui.engine.work import CancelToken, SerialExecutor
from qcowgui.errors import NotQcow2Error, QcowError
from qcowgui.format.finding import Finding, Repair
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.image.inspect import inspect
from qcowgui.image.layer import ExtentKind
from qcowgui.image.references import AllowGate
from qcowgui.image.source import FileSource
from qcowgui.repair.apply import apply_to_copy
from qcowgui.repair.planner import RepairRequest, plan_repair
from qcowgui.salvage import write as salvage_write
from qcowgui.salvage.assemble import open_candidate
from qcowgui.salvage.search import search_candidates
from qcowgui.salvage.write import SalvageJob

MAX_CONVERTED_BYTES = 64 << 20
"""Tables that share other tables hold more guest data than the file has bytes, and lawfully so.
What has more than this is mapped, but not converted: the time would be spent on writing."""


MAX_SALVAGED = 2
"""Candidates of a mutant that are written."""

_STORED = frozenset({ExtentKind.DATA, ExtentKind.COMPRESSED})


class BrokenPromiseError(AssertionError):
    """An operation returned what contradicts its own documentation."""


@dataclass(frozen=True)
class Case:
    """One mutant on disk.

    Attributes:
        image: Its file, which no operation may change.
        data_file: The external data file that some images name.
        scratch: An empty folder for results.
        index: The mutant's place in the run.
        choice: A number to choose a variant by; the same for the same mutant.
    """

    image: Path
    data_file: Path
    scratch: Path
    index: int
    choice: int


@dataclass(frozen=True)
class Operation:
    """An entry point.

    Attributes:
        documented: The exceptions that it is documented to raise on bad content.
        every: It is done with one of so many mutants. What takes ten times as long as the others
            would otherwise leave no time for their mutants.
    """

    run: Callable[[Case], None]
    documented: tuple[type[Exception], ...]
    every: int = 1


def _inspect(case: Case) -> None:
    report = inspect(case.image)
    if report.mapping_refusals and report.readable:
        raise BrokenPromiseError("an image that can't be mapped is called readable")


def _check(case: Case) -> None:
    streamed: Counter[str] = Counter()

    def count(finding: Finding) -> None:
        streamed[finding.code] += finding.count

    with FileSource(case.image) as source:
        report = check_image(source, token=CancelToken(), deep=True, on_finding=count)
    grouped = _counts(report)
    if grouped != streamed:
        raise BrokenPromiseError(f"groups {grouped} of findings {streamed}")
    if sum(report.counts.values()) != grouped.total():
        raise BrokenPromiseError(f"{report.counts} do not add up to {grouped.total()}")


def _map(case: Case) -> None:
    gate = AllowGate((case.data_file,))
    with open_image(case.image, format="qcow2", gate=gate, follow=False) as opened:
        _stored_bytes(opened)


def _stored_bytes(opened: OpenedImage) -> int:
    """Return the guest bytes that are stored, after a look at every extent."""
    stored = position = 0
    for extent in opened.iter_extents():
        if extent.start != position or extent.length <= 0:
            raise BrokenPromiseError(f"an extent starts at {extent.start}, not {position}")
        position += extent.length
        stored += extent.length if extent.kind in _STORED else 0
    if position != opened.size_bytes:
        raise BrokenPromiseError(f"extents end at {position} of {opened.size_bytes}")
    return stored


def _convert(case: Case) -> None:
    gate = AllowGate((case.data_file,))
    with open_image(case.image, format="qcow2", gate=gate, salvage=True) as opened:
        if _stored_bytes(opened) > MAX_CONVERTED_BYTES:
            return
        size_bytes = opened.size_bytes
    _write(ConvertJob(_options(case), gate), size_bytes)


def _repair(case: Case) -> None:
    """Carry the plan out on a copy, which must then be what the plan promised."""
    target, token = case.scratch / "repaired.qcow2", CancelToken()
    tier = Repair.LEAKS if case.choice % 4 == 3 else Repair.ALL
    request = RepairRequest(tier, deep=case.choice % 2 == 1)
    try:
        with FileSource(case.image) as source:
            proven = plan_repair(source, request, token=token)
            if not proven.plan.edits:
                return
            apply_to_copy(proven.plan, source, target, token=token)
        with FileSource(target) as repaired:
            report = check_image(repaired, token=token, deep=request.deep)
            if repaired.size_bytes != proven.plan.new_file_bytes:
                raise BrokenPromiseError(f"the copy has {repaired.size_bytes} bytes")
        if _counts(report) != _counts(proven.after):
            raise BrokenPromiseError(f"{_counts(report)}, planned {_counts(proven.after)}")
    finally:
        target.unlink(missing_ok=True)


def _counts(report: CheckReport) -> Counter[str]:
    """Return how many findings of each code a check has."""
    counts: Counter[str] = Counter()
    for group in report.groups:
        counts[group.code] += group.count
    return counts


def _salvage(case: Case) -> None:
    gate = AllowGate((case.data_file,))
    with FileSource(case.image) as source:
        found = search_candidates(source, CancelToken())
        for candidate in found.candidates[:MAX_SALVAGED]:
            with open_candidate(source, candidate, gate=gate) as opened:
                if _stored_bytes(opened) > MAX_CONVERTED_BYTES:
                    continue
                size_bytes = opened.size_bytes
            _write(SalvageJob(_options(case), source, candidate, gate=gate), size_bytes)


def _options(case: Case) -> ConvertOptions:
    to_qcow2 = case.choice % 2 == 1
    return ConvertOptions(
        case.image,
        case.scratch / ("target.qcow2" if to_qcow2 else "target.raw"),
        source_format="qcow2",
        target_format="qcow2" if to_qcow2 else "raw",
        salvage=True,
        overwrite=True,
    )


def _write(job: ConvertJob | SalvageJob, size_bytes: int) -> None:
    """Run a job; only what it is asked to write may be left when it fails."""
    try:
        result = job.run(SerialExecutor())
    finally:
        target = job.options.target
        lists = convert_losses.losses_path(target), salvage_write.losses_path(target)
        for path in (target, *lists):
            path.unlink(missing_ok=True)
    if result.virtual_bytes != size_bytes:
        raise BrokenPromiseError(f"{result.virtual_bytes} bytes written of {size_bytes}")
    if any(not 0 <= loss.start < loss.end <= size_bytes for loss in result.losses):
        raise BrokenPromiseError("a loss lies outside the disk")


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "inspect": Operation(_inspect, (NotQcow2Error,)),
        "check": Operation(_check, (NotQcow2Error,)),
        "map": Operation(_map, (QcowError,)),
        "convert": Operation(_convert, (QcowError,)),
        "repair": Operation(_repair, (NotQcow2Error,), every=4),
        "salvage": Operation(_salvage, (QcowError,), every=16),
    }
)
"""In the order in which they are done."""


def clear(folder: Path) -> list[str]:
    """Remove what an operation left in `folder`; return the names."""
    left = sorted(path.name for path in folder.iterdir())
    for name in left:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return left
