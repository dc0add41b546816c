"""What the queue says of its conversions. Knows no widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from qcowgui.convert.command_line import qemu_img_command
from qcowgui.convert.job import ConvertResult, Phase
from qcowgui.gui.dialogs import convert_form
from qcowgui.gui.formatters import (
    duration_text,
    rate_text,
    ratio_text,
    short_duration_text,
    tsv,
)
from qcowgui.gui.queue_job import Job, JobState, error_texts
from qcowgui.gui.queue_total import QueueTotal
from qcowgui.gui.translation import count_text
from qcowgui.units import format_hex, format_size

translate = QCoreApplication.translate

_SEPARATOR = "  ·  "


def status_text(job: Job) -> str:
    """What a row says of its job now; one line while it runs, maybe several when it has ended."""
    match job.state:
        case JobState.WAITING:
            return translate("queue", "Waiting")
        case JobState.RUNNING:
            return _running_text(job)
        case JobState.PAUSED:
            return translate("queue", "Paused at {part}").format(part=_part_text(job))
        case JobState.CANCELLING:
            return translate("queue", "Cancelling…")
        case JobState.CANCELLED:
            return translate("queue", "Cancelled after {time}; nothing was left behind").format(
                time=duration_text(job.elapsed_seconds)
            )
        case JobState.INTERRUPTED:
            return translate(
                "queue", "Interrupted: the window ended before it was done; nothing was left behind"
            )
        case JobState.DONE:
            return _done_text(job)
        case JobState.FAILED:
            return _error_text(job)


def phase_text(phase: Phase) -> str:
    """The name of a phase."""
    return {
        Phase.PREPARING: translate("queue", "Preparing"),
        Phase.CONVERTING: translate("queue", "Converting"),
        Phase.VERIFYING: translate("queue", "Verifying"),
        Phase.FINISHING: translate("queue", "Finishing"),
    }[phase]


def losses_text(job: Job) -> str:
    """What a salvage could not read, for the clipboard: guest offset, bytes, reason."""
    losses = job.result.losses if job.result is not None else ()
    return tsv([(format_hex(lost.start), f"{lost.length}", lost.reason) for lost in losses])


def qemu_text(job: Job) -> str:
    """The qemu-img command that comes nearest, and as comments what it does not say."""
    command = qemu_img_command(job.options)
    return "\n".join([command.text, *(f"# {sentence}" for sentence in command.left_out)])


def qcowgui_text(job: Job) -> str:
    """The command that does the same in a terminal."""
    return convert_form.qcowgui_text([(job.options, job.consent)])


def total_text(total: QueueTotal) -> str:
    """How far the queue is: "3 of 10 done · 34 %"; nothing when there is nothing to tell."""
    if not total.count:
        return ""
    if total.ended == total.count:
        return summary_text(total)
    text = translate("queue", "{ended} of {count}").format(ended=total.ended, count=total.count)
    parts = [text, f"{total.fraction:.0%}"]
    if total.failed:
        parts.append(translate("queue", "{count} failed").format(count=total.failed))
    return _SEPARATOR.join(parts)


def summary_text(total: QueueTotal) -> str:
    """What came of everything: "9 conversions done · 1 failed"."""
    done = count_text(total.done, "conversion")
    parts = [translate("queue", "{conversions} done").format(conversions=done)]
    if total.failed:
        parts.append(translate("queue", "{count} failed").format(count=total.failed))
    if total.cancelled:
        parts.append(translate("queue", "{count} cancelled").format(count=total.cancelled))
    return _SEPARATOR.join(parts)


def _running_text(job: Job) -> str:
    meter, progress = job.meter, job.progress
    parts = [_part_text(job)]
    if meter.bytes_per_second:
        rate = rate_text(meter.bytes_per_second)
        parts.append(translate("queue", "{rate} in").format(rate=rate))
    if progress is not None and progress.phase is Phase.CONVERTING:
        if meter.written_per_second:
            rate = rate_text(meter.written_per_second)
            parts.append(translate("queue", "{rate} out").format(rate=rate))
        if job.options.target_format == "qcow2" and progress.done_bytes and progress.written_bytes:
            ratio = ratio_text(progress.done_bytes, progress.written_bytes)
            parts.append(translate("queue", "ratio {ratio} so far").format(ratio=ratio))
    parts.append(duration_text(job.elapsed_seconds))
    remaining = meter.remaining_seconds
    if remaining is not None:
        converting = progress is not None and progress.phase is Phase.CONVERTING
        text = (
            translate("queue", "{time} left, then verifying")
            if converting and job.options.verify
            else translate("queue", "{time} left")
        )
        parts.append(text.format(time=duration_text(remaining)))
    return _SEPARATOR.join(parts)


def _part_text(job: Job) -> str:
    text = phase_text(job.progress.phase if job.progress else Phase.PREPARING)
    fraction = job.meter.fraction
    return text if fraction is None else f"{text} {fraction:.0%}"


def _done_text(job: Job) -> str:
    if job.result is None:
        text = translate(
            "queue", "The file was there already: made and verified before the interruption"
        )
        warning = job.found.warning(job.options.target) if job.found is not None else ""
        return "\n".join(filter(None, (text, warning)))
    return _result_text(job, job.result)


def _result_text(job: Job, result: ConvertResult) -> str:
    before, after = result.source_bytes, result.target_bytes
    sizes = f"{format_size(before)} → {format_size(after)}"
    if job.options.target_format == "qcow2":
        sizes += f" ({ratio_text(before, after)})"
    parts = [sizes]
    on_disk = result.target_disk_bytes
    if on_disk is not None and on_disk < after:
        parts.append(translate("queue", "{size} on disk").format(size=format_size(on_disk)))
    parts.append(short_duration_text(max(0.0, result.seconds - job.paused_seconds)))
    parts.append(
        translate("queue", "verified") if result.verified else translate("queue", "not verified")
    )
    lines = [_SEPARATOR.join(parts), *result.warnings]
    if result.losses_path is not None:
        name = result.losses_path.name
        lines.append(translate("queue", "The losses are listed in {name}").format(name=name))
    return "\n".join(lines)


def _error_text(job: Job) -> str:
    if job.refused:
        files = ", ".join(f"{reference.name}" for reference in job.refused)
        count = count_text(len(job.refused), "file")
        return translate(
            "queue",
            "The image refers to {count} that was not opened without your consent: {files}",
        ).format(count=count, files=files)
    message, hint = error_texts(job.error) if job.error else ("", "")
    return "\n".join(filter(None, (message, hint)))
