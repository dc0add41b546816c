"""What a user should know of a conversion: what is not carried over, who can't read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from qcowgui.units import format_count, format_size

if TYPE_CHECKING:
    from qcowgui.convert.carried_bitmaps import CarriedBitmaps
    from qcowgui.convert.options import ConvertOptions
    from qcowgui.image.chain import OpenedImage
    from qcowgui.image.inspect import ImageReport
    from qcowgui.image.layer import LostRange

_MAX_NAMES = 8

Level = Literal["note", "warning", "stop"]
"""How grave a concern is; at "stop" the conversion would fail."""


@dataclass(frozen=True, slots=True)
class Concern:
    """Something to tell before a conversion starts.

    Attributes:
        code: What kind of thing it is; stable, for programs.
        level: How grave it is.
        message: What it is, in whole sentences.
        hint: What can be done, or an empty string.
    """

    code: str
    level: Level
    message: str
    hint: str = ""


def source_warnings(
    options: ConvertOptions,
    source: OpenedImage,
    losses: Sequence[LostRange] = (),
    bitmaps: CarriedBitmaps | None = None,
) -> Iterator[str]:
    """Warnings as whole sentences, the gravest first.

    Args:
        options: The conversion.
        source: The opened source.
        losses: What salvage could not read.
        bitmaps: Which bitmaps are carried, where more is known than the directory says.
    """
    if losses:
        total = sum(lost.length for lost in losses)
        yield (
            f"{format_size(total)} in {format_count(len(losses), 'range')} could not be read and "
            "are zeros in the result."
        )
    for concern in iter_source_concerns(options, source, bitmaps):
        yield concern.message


def iter_source_concerns(
    options: ConvertOptions, source: OpenedImage, bitmaps: CarriedBitmaps | None = None
) -> Iterator[Concern]:
    """What there is to tell of a source and of who can read the result, the gravest first.

    Arguments are those of `source_warnings`.
    """
    report = source.report
    if report is not None:
        yield from _left_behind(options, report, bitmaps)
        if report.refusals:
            yield Concern(
                "source-refused",
                "warning",
                "QEMU would refuse to open the source: "
                + " ".join(found.message for found in report.refusals),
            )
        if report.header.corrupt:
            yield Concern(
                "source-corrupt",
                "warning",
                "The source is marked as corrupt: check it before you trust the result.",
            )
    if source.prerelease_seen:
        yield Concern(
            "prerelease-zstd",
            "note",
            "The source's zstd clusters have the layout from before QEMU 5.1 was released; "
            "released versions of QEMU can't read them.",
        )
    for layer in source.chain[1:]:
        if layer.format_guessed:
            yield Concern(
                "format-guessed",
                "warning",
                f"The recorded format of the backing file {layer.path} is missing or not one that "
                f"this program knows; it was read as {layer.format}, as its content shows.",
            )
    if options.target_format == "qcow2" and options.compression == "zstd":
        yield Concern(
            "zstd-readers",
            "note",
            "The result needs QEMU 5.1 or newer; several other programs can't read zstd clusters.",
            "zlib is what every reader knows",
        )


def _left_behind(
    options: ConvertOptions, report: ImageReport, bitmaps: CarriedBitmaps | None
) -> Iterator[Concern]:
    """What the source has and a converted image does not."""
    snapshots = [
        _quoted(snapshot.name) + ("" if snapshot.name else f" (id {_quoted(snapshot.id)})")
        for snapshot in report.snapshots
    ]
    if not options.snapshots_kept:
        message = _not_carried("Internal snapshots", snapshots, report.header.nb_snapshots)
        if message:
            hint = "each can become an image of its own (--snapshots=files or chain)"
            yield Concern("snapshots-lost", "warning", message, hint)
    if options.snapshot is not None:
        return  # bitmaps belong to the active disk
    extension = report.bitmaps_extension
    claimed = extension.nb_bitmaps if extension is not None else 0
    if options.bitmaps and report.bitmaps:
        yield from _bitmaps_left_out(report, bitmaps)
        return
    message = _not_carried("Bitmaps", [_quoted(item.name) for item in report.bitmaps], claimed)
    if message:
        hint = "a qcow2 image can have them, too (--bitmaps)" if report.bitmaps else ""
        yield Concern("bitmaps-lost", "warning", message, hint)


def _not_carried(what: str, names: Sequence[str], claimed: int) -> str:
    """The sentence that says so, or nothing when there is none of them."""
    if names:
        # Those behind a damaged entry have no name, but count.
        return f"{what} are not carried over: {_names(names, max(claimed, len(names)))}."
    if claimed:
        return f"{what} are not carried over: {claimed:,}, in a table that can't be read."
    return ""


def _bitmaps_left_out(report: ImageReport, bitmaps: CarriedBitmaps | None) -> Iterator[Concern]:
    """The bitmaps that are not carried although all were asked for, by reason."""
    if bitmaps is None:
        from qcowgui.convert.carried_bitmaps import choose_bitmaps

        bitmaps = choose_bitmaps(report)
    reasons: dict[str, list[str]] = {}
    for name, reason in bitmaps.left_out:
        reasons.setdefault(reason, []).append(_quoted(name))
    for reason, names in reasons.items():
        yield Concern(
            "bitmaps-lost",
            "warning",
            f"Bitmaps are not carried over, because {reason}: {_names(names, len(names))}.",
            "the next backup has to be a full one",
        )


def gravest_first(concerns: Iterable[Concern]) -> tuple[Concern, ...]:
    """Concerns by their level, otherwise in the given order."""
    order: tuple[Level, ...] = ("stop", "warning", "note")
    return tuple(sorted(concerns, key=lambda concern: order.index(concern.level)))


def _quoted(name: str) -> str:
    """A name between quotes, so that an empty one is seen and a comma in one divides nothing."""
    escaped = name.replace('"', '\\"')
    return f'"{escaped}"'


def _names(names: Sequence[str], count: int) -> str:
    """The first few names, and how many of `count` were left out."""
    shown = names[:_MAX_NAMES]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
