"""Writing what a candidate gives as a new image, whole or not at all, with the list of losses."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from qcowgui.convert.job import ConvertJob, ConvertResult, Progress, Tick, Warn
from qcowgui.convert.options import ConvertOptions
from qcowgui.convert.output import OutputFile, check_target, refuse_same_file
from qcowgui.engine.work import Executor
from qcowgui.image.layer import LostRange
from qcowgui.image.references import DENY, Gate
from qcowgui.image.source import ByteSource
from qcowgui.salvage.assemble import SalvagedImage, open_candidate
from qcowgui.salvage.candidates import Candidate

_SUFFIX: Final = ".losses.json"
_SCHEMA: Final = 1


def losses_path(target: Path) -> Path:
    """Where the list of what is lost goes: beside the target."""
    return target.with_name(target.name + _SUFFIX)


class SalvageJob:
    """Converts a candidate instead of an image; run it once.

    Unreadable ranges become zeros. If there are any, or if something of the candidate is a guess,
    the list is written beside the target.

    Attributes:
        options: What to write; `source` in it is only a name here.
        token: Stops the job: its `cancel` may be called from any thread.
    """

    def __init__(
        self,
        options: ConvertOptions,
        source: ByteSource,
        candidate: Candidate,
        *,
        gate: Gate = DENY,
        backing: Path | None = None,
        backing_format: str | None = None,
    ) -> None:
        """A job that has not started.

        Args:
            options: What to write.
            source: The damaged image, open; it stays the caller's.
            candidate: What to read it by.
            gate: Decides whether the backing file that its header names may be opened.
            backing: The backing file to use, whatever the header says.
            backing_format: Its format, or None for what its content shows.
        """
        self.options = options
        self._source = source
        self._candidate = candidate
        self._losses_path = losses_path(options.target)

        def open_source() -> SalvagedImage:
            image = open_candidate(
                source, candidate, gate=gate, backing=backing, backing_format=backing_format
            )
            try:
                refuse_same_file(self._losses_path, image.identities)
            except BaseException:
                image.close()
                raise
            return image

        self._job = ConvertJob(options, gate, open_source=open_source)
        self.token = self._job.token

    def progress(self) -> Progress:
        """How far the job is. Thread-safe."""
        return self._job.progress()

    def run(
        self, executor: Executor, *, tick: Tick | None = None, warn: Warn | None = None
    ) -> ConvertResult:
        """As `ConvertJob.run`, from the candidate.

        Raises:
            QcowError: As there; also when the list of losses can't be written: the target is then
                in place.
            Cancelled: When the token was set.
        """
        overwrite = self.options.overwrite
        check_target(self._losses_path, overwrite=overwrite)
        result = self._job.run(executor, tick=tick, warn=warn)
        if needs_list(self._candidate, result.losses) or os.path.lexists(self._losses_path):
            # One from an earlier run would speak of another image.
            listed = losses_object(self._source.name, result.losses, self._candidate)
            write_losses(self._losses_path, listed, overwrite=overwrite)
        return replace(result, warnings=(*result.warnings, *self._candidate.unknown))


def needs_list(candidate: Candidate, losses: Sequence[LostRange]) -> bool:
    """Whether there is anything to list: guest data lost, or nobody knows."""
    return bool(losses) or not candidate.is_whole


def losses_object(
    source_name: str, losses: Sequence[LostRange], candidate: Candidate
) -> dict[str, Any]:
    """What is lost, guessed and unknown as JSON; offsets and lengths are guest bytes."""
    return {
        "schema": _SCHEMA,
        "source": source_name,
        "lost-bytes": sum(lost.length for lost in losses),
        "losses": _ranges(losses),
        "guessed-bytes": sum(part.length for part in candidate.guessed),
        "guessed": _ranges(candidate.guessed),
        "unowned-clusters": candidate.unowned_clusters,
        "unknown": list(candidate.unknown),
    }


def _ranges(ranges: Sequence[LostRange]) -> list[dict[str, Any]]:
    return [{"start": part.start, "length": part.length, "reason": part.reason} for part in ranges]


def write_losses(path: Path, listed: dict[str, Any], *, overwrite: bool) -> None:
    """Write the list that `losses_object` made; it appears whole or not at all.

    Raises:
        OutputError: When it can't be written, or exists and may not be replaced.
    """
    text = json.dumps(listed, indent=4) + "\n"
    with OutputFile(path, overwrite=overwrite) as output:
        output.write_at(0, text.encode())
        output.commit()
