"""The work behind the forecast panel, and what it says in words. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.forecast import (
    DEFAULT_CANDIDATES,
    Candidate,
    CandidateForecast,
    Estimate,
    Forecast,
    ForecastJob,
)
from qcowgui.convert.forecast_size import geometry_of
from qcowgui.convert.qcow2_header import check_virtual_size
from qcowgui.engine.work import CancelToken, Executor
from qcowgui.errors import OptionsError, SourceError
from qcowgui.gui.consent import NOTHING_ALLOWED, Consent
from qcowgui.gui.formatters import Column, Row, Table, short_duration_text
from qcowgui.gui.opening import Signature, signature_of
from qcowgui.gui.translation import count_text
from qcowgui.image.chain import OpenedImage, open_image
from qcowgui.units import format_size

translate = QCoreApplication.translate

MAX_UNASKED_BYTES: Final = 256 << 30
"""A larger file has more mapping tables to read than somebody who only opened a form waits for."""

_MAX_CACHED: Final = 32


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """What to look at, and what for.

    Attributes:
        source: The image to read.
        source_format: "qcow2", "raw", or None for what the content shows.
        snapshot: Internal snapshot, as `ConvertOptions.snapshot` names it; None: the active disk.
        consent: Which referenced files a person has agreed to open, and where they are.
        target_folder: Where the target would be, to try how quickly it takes data.
        verify: Whether the conversion would verify.
        salvage: Whether unreadable ranges count as zeros.
        threads: Workers of the trial and of the conversion; None: one for each core.
        candidates: What to try.
    """

    source: Path
    source_format: str | None = None
    snapshot: str | None = None
    consent: Consent = NOTHING_ALLOWED
    target_folder: Path | None = None
    verify: bool = True
    salvage: bool = False
    threads: int | None = None
    candidates: tuple[Candidate, ...] = DEFAULT_CANDIDATES


@dataclass(frozen=True, slots=True)
class Forecasted:
    """A forecast, and what it was made of.

    Attributes:
        request: What was asked for.
        signature: What the source was like.
        source_bytes: Length of the source file.
        forecast: What is expected.
    """

    request: ForecastRequest
    signature: Signature
    source_bytes: int
    forecast: Forecast

    def of(self, candidate: Candidate) -> CandidateForecast | None:
        """What is expected of a candidate, or None when it was not tried."""
        for item in self.forecast.candidates:
            if item.candidate == candidate:
                return item
        return None


@dataclass(slots=True, eq=False)
class ForecastWork:
    """Forecasts conversions of one image; nothing is converted.

    Attributes:
        request: What to look at.
        executor: What the trials run on.
    """

    request: ForecastRequest
    executor: Executor
    _job: ForecastJob | None = None

    def __call__(self, token: CancelToken) -> Forecasted:
        """What is expected.

        Raises:
            OptionsError: When the disk is too large for every candidate.
            QcowError: When the source can't be read, or was changed meanwhile.
            Cancelled: When the token asks for it.
        """
        token.raise_if_cancelled()
        request = self.request
        signature = _signature(request.source)
        with open_image(
            request.source,
            format=request.source_format,
            gate=request.consent.gate(),
            snapshot=request.snapshot,
            salvage=request.salvage,
        ) as source:
            job = ForecastJob(
                source,
                _possible(request.candidates, source),
                target_folder=request.target_folder,
                verify=request.verify,
            )
            job.token = token
            self._job = job
            forecast = job.run(self.executor)
            source.require_unchanged()
            return Forecasted(request, signature, source.chain[0].file_bytes, forecast)

    @property
    def fraction(self) -> float | None:
        """How far it is, 0 to 1; None while nobody can know. Thread-safe."""
        job = self._job
        if job is None:
            return None
        done, total = job.progress()
        return min(1.0, done / total) if total else None


class ForecastCache:
    """The last forecasts, by source and snapshot, for as long as the file stays what it was."""

    def __init__(self) -> None:
        self._found: dict[tuple[Path, str | None, bool], Forecasted] = {}

    def put(self, found: Forecasted) -> None:
        """Keep a forecast; the oldest of many goes."""
        key = _key(found.request)
        self._found.pop(key, None)
        self._found[key] = found
        while len(self._found) > _MAX_CACHED:
            del self._found[next(iter(self._found))]

    def get(self, request: ForecastRequest, signature: Signature) -> Forecasted | None:
        """The forecast of this disk, if its file still is what was looked at then.

        Other candidates, another folder and another choice to verify do not matter: what was found
        says for itself what it holds for.
        """
        found = self._found.get(_key(request))
        if found is None or found.signature != signature:
            return None
        return found if found.request.consent == request.consent else None


def _key(request: ForecastRequest) -> tuple[Path, str | None, bool]:
    return request.source, request.snapshot, request.salvage


def _signature(path: Path) -> Signature:
    try:
        return signature_of(path)
    except OSError as error:
        raise SourceError(
            f"{path} can't be looked at: {error.strerror}", path=str(path), errno=error.errno
        ) from error


def _possible(candidates: Iterable[Candidate], source: OpenedImage) -> list[Candidate]:
    """The candidates whose clusters are large enough for the disk.

    Raises:
        OptionsError: When there are none.
    """
    found, refusal = [], OptionsError("There is nothing to try")
    for candidate in candidates:
        try:
            check_virtual_size(geometry_of(candidate), source.size_bytes)
        except OptionsError as error:
            refusal = error
        else:
            found.append(candidate)
    if not found:
        raise refusal
    return found


# -------------------------------------------------------------------- words


def candidate_name(candidate: Candidate) -> str:
    """A candidate in a few words: "zstd 9, 64 KiB"."""
    size = format_size(candidate.cluster_bytes)
    if candidate.level is None:
        return translate("forecast", "not compressed, {size}").format(size=size)
    return f"{candidate.compression} {candidate.level}, {size}"


def size_range_text(size: Estimate) -> str:
    """A range of sizes; the unit stands once where both ends have the same."""
    return _range_text(format_size(int(size.low)), format_size(int(size.high)))


def seconds_range_text(seconds: Estimate) -> str:
    """A range of times; the unit stands once where both ends have the same."""
    return _range_text(short_duration_text(seconds.low), short_duration_text(seconds.high))


def _range_text(low: str, high: str) -> str:
    if low == high:
        return low
    number, space, unit = low.rpartition(" ")
    return f"{number if space and high.endswith(space + unit) else low} – {high}"


def by_size(forecast: Forecast) -> list[CandidateForecast]:
    """The candidates, the smallest first.

    None is put before them as the best: what the presets add to the usual ones may save a little at
    any price in time, and only the user knows what that is worth.
    """
    return sorted(forecast.candidates, key=lambda item: item.size.expected)


def forecast_table(items: Iterable[CandidateForecast]) -> Table:
    """Candidates as rows, in this order."""
    return Table(
        (
            Column(translate("forecast", "Settings"), wide=True),
            Column(translate("forecast", "Size"), right=True),
            Column(translate("forecast", "between"), right=True, quiet=True),
            Column(translate("forecast", "Time"), right=True),
            Column(translate("forecast", "between"), right=True, quiet=True),
            Column(translate("forecast", "Ratio"), right=True),
        ),
        tuple(map(_row, items)),
        sortable=True,
    )


def _row(item: CandidateForecast) -> Row:
    candidate, size, seconds = item.candidate, item.size, item.seconds
    return Row(
        (
            candidate_name(candidate),
            format_size(int(size.expected)),
            size_range_text(size),
            short_duration_text(seconds.expected),
            seconds_range_text(seconds),
            f"{item.ratio:.2f}",
        ),
        detail=item.compatibility,
        sort_keys=(
            f"{candidate.compression} {candidate.cluster_bytes:08} {candidate.level or 0:02}",
            int(size.expected),
            int(size.low),
            round(seconds.expected * 1000),
            round(seconds.low * 1000),
            round(item.ratio * 1000),
        ),
    )


def gain_text(found: Forecasted, item: CandidateForecast) -> str:
    """What these settings make of the file: larger or smaller, and by how much."""
    before, after = found.source_bytes, int(item.size.expected)
    sizes = translate("forecast", "{before} now, about {after} then").format(
        before=format_size(before), after=format_size(after)
    )
    if not before:
        return sizes
    change = after / before - 1
    if abs(change) < 0.005:
        return translate("forecast", "{sizes}: as large as it is").format(sizes=sizes)
    words = (
        translate("forecast", "{sizes}: {change} smaller")
        if change < 0
        else translate("forecast", "{sizes}: {change} larger")
    )
    return words.format(sizes=sizes, change=f"{abs(change):.0%}")


def basis_text(forecast: Forecast) -> str:
    """What the figures hold for."""
    sampled, stored = forecast.sampled_bytes, forecast.stored_bytes
    tried = (
        translate("forecast", "{sampled} of {stored} tried")
        if sampled < stored
        else translate("forecast", "All {stored} tried")  # in cells of two sizes
    )
    parts = [
        tried.format(sampled=format_size(sampled), stored=format_size(stored)),
        translate("forecast", "ranges with {confidence} confidence").format(
            confidence=f"{forecast.confidence:.0%}"
        ),
        count_text(forecast.threads, "thread"),
        translate("forecast", "with verifying")
        if forecast.verify
        else translate("forecast", "without verifying"),
    ]
    if not forecast.write_measured:
        parts.append(translate("forecast", "without writing: the folder could not be tried"))
    return ", ".join(parts)
