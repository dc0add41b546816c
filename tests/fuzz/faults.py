"""Operations with faults of every kind that the driver must notice; for its own tests only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from qcowgui.errors import QcowError
from tests.fuzz import meter
from tests.fuzz.operations import Case, Operation

FAULTY_INDEX = 3
"""The mutant that the faults happen to."""


def _raise(_: Case) -> None:
    raise ValueError("not a documented error")


def _raise_documented(_: Case) -> None:
    raise QcowError("documented")


def _crash(_: Case) -> None:
    os.abort()


def _hang(_: Case) -> None:
    time.sleep(600)


def _burn(_: Case) -> None:
    end = time.process_time() + meter.MAX_SECONDS + 0.1
    while time.process_time() < end:
        pass


def _hoard(_: Case) -> None:
    # Written to, since pages that nobody touched are not in memory.
    hoard = bytearray(b"1") * (meter.MAX_RSS_GROWTH_BYTES + (20 << 20))
    del hoard


def _grab(_: Case) -> None:
    hoard = bytearray(2 * meter.ADDRESS_SPACE_BYTES)
    del hoard


def _write_to_source(case: Case) -> None:
    with case.image.open("r+b") as file:
        file.write(b"overwritten")


def _leave_files(case: Case) -> None:
    (case.scratch / "left").write_bytes(b"debris")


def _at_the_faulty_index(fault: Callable[[Case], None]) -> Operation:
    def run(case: Case) -> None:
        if case.index == FAULTY_INDEX:
            fault(case)

    return Operation(run, (QcowError,))


FAULTS: Mapping[str, Operation] = MappingProxyType(
    {
        f"fault-{name}": _at_the_faulty_index(fault)
        for name, fault in {
            "raise": _raise,
            "documented": _raise_documented,
            "crash": _crash,
            "hang": _hang,
            "burn": _burn,
            "hoard": _hoard,
            "grab": _grab,
            "source": _write_to_source,
            "leave": _leave_files,
        }.items()
    }
)
