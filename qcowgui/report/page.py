"""A report as one self-contained HTML page: no script, no font, no picture from elsewhere.

It looks the same whatever theme the window has, and prints on white paper.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qcowgui import __version__
from qcowgui.check.verdict import verdict_text
from qcowgui.format import describe
from qcowgui.format.finding import Finding, Severity
from qcowgui.report import wording
from qcowgui.report.content import MapPicture, ReportContent
from qcowgui.report.markup import Markup, element, facts, joined, section, table, text
from qcowgui.report.style import STYLE
from qcowgui.units import format_count, format_offset, format_size

if TYPE_CHECKING:  # the deep check brings the codecs, which are not needed without it
    from qcowgui.check.checker import CheckReport
    from qcowgui.check.collector import FindingGroup

MAX_GROUPS: Final = 500
"""Kinds of findings that are listed; the JSON has all of them."""
MAX_EXAMPLES: Final = 8
"""Places that are listed of one kind."""
MAX_ROWS: Final = 1000
"""Snapshots and bitmaps that are listed."""

_TONES: Final = {
    Severity.INFO: "note",
    Severity.LEAK: "warning",
    Severity.SUSPICIOUS: "warning",
    Severity.CORRUPTION: "danger",
    Severity.FATAL: "danger",
}
_POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def report_page(content: ReportContent) -> str:
    """The page, fit to be stored as UTF-8."""
    name = text(Path(content.image.name).name)
    head = (
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{name} – qcowgui report</title>",
        f"<style>{STYLE}</style>",
    )
    body = joined(*_iter_body(content))
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>',
            *head,
            "</head>\n<body>\n<main>",
            body,
            "</main>\n</body>\n</html>\n",
        )
    )


def _iter_body(content: ReportContent) -> Iterator[Markup]:
    yield _masthead(content)
    check, report = content.check, content.image.report
    if check is not None and check.hints:
        yield _hints(check)
    yield section("The image", facts(wording.iter_identity(content.image)))
    for picture in content.maps:
        yield _map(picture)
    yield _check(check) if check is not None else _opening(content)
    yield section("Header", _header(content))
    if report.features:
        yield section("Features", _features(content))
    if report.extensions:
        yield section("Header extensions", _extensions(content))
    if report.backing_name or report.data_file_name:
        yield section("Files that it refers to", facts(_iter_references(content)))
    if report.snapshots:
        yield section("Internal snapshots", *_snapshots(content))
    if report.bitmaps:
        yield section("Bitmaps", *_bitmaps(content))
    if report.luks is not None:
        rows = [(name, value) for name, _, value, _ in describe.iter_luks_rows(report.luks)]
        yield section("Encryption", facts(rows))
    made = f"Made by qcowgui {__version__} on {content.made_at:%Y-%m-%d %H:%M:%S %Z}."
    yield element("footer", text(made))


# -------------------------------------------------------------------- first things first


def _masthead(content: ReportContent) -> Markup:
    check = content.check
    if check is not None:
        tone = wording.verdict_tone(check)
        sentence = verdict_text(check.counts, complete=check.complete)
    else:
        tone, sentence = "note", content.check_note or "not checked"
    badge = element("p", text(sentence[:1].upper() + sentence[1:]), kind=f"verdict {tone}")
    parts = [
        element("h1", text(Path(content.image.name).name)),
        element("p", text(content.image.name), kind="path"),
        badge,
        element("p", text(wording.scope_text(check)), kind="quiet"),
    ]
    if content.usage:
        parts.append(element("p", text(content.usage), kind="verdict warning"))
    return element("header", *parts)


def _hints(check: CheckReport) -> Markup:
    hints = [
        element("li", element("strong", text(hint.sentence)), element("p", text(hint.advice)))
        for hint in check.hints
    ]
    return element(
        "section", element("h2", text("What probably happened")), element("ul", *hints), kind="hint"
    )


def _map(picture: MapPicture) -> Markup:
    size = f'width="{picture.width}" height="{picture.height}"'
    data = base64.b64encode(picture.png).decode("ascii")
    label = html.escape(picture.title)
    image = Markup(f'<img {size} alt="{label}" src="data:image/png;base64,{data}">')
    rows = [
        (
            Markup(
                f'<span class="swatch{" fault" if entry.fault else ""}" '
                f'style="background:{html.escape(entry.colour)}"></span>'
            )
            + text(entry.name),
            text(f"{entry.clusters:,}"),
            text(format_size(entry.bytes)),
            text(entry.meaning),
        )
        for entry in picture.legend
    ]
    legend = table(
        ("State", "Clusters", "Size", "Meaning"),
        [tuple(map(Markup, row)) for row in rows],
        ("state", "number", "number", "quiet"),
    )
    return section(f"Map: {picture.title}", element("figure", image), legend)


# -------------------------------------------------------------------- findings


def _check(check: CheckReport) -> Markup:
    parts = [_groups(check)]
    totals = [tuple(map(text, row)) for row in wording.iter_totals(check)]
    parts.append(element("h3", text("Totals")))
    parts.append(table(("Found", "Here", "qemu-img check"), totals, ("", "number", "number")))
    if check.totals.refusal:
        parts.append(element("p", text(f"qemu-img check: {check.totals.refusal}"), kind="quiet"))
    roles = [tuple(map(text, row)) for row in wording.iter_roles(check)]
    if roles:
        parts.append(element("h3", text("Host clusters")))
        parts.append(table(("Used for", "Clusters", "Size"), roles, ("", "number", "number")))
    return section("Findings", *parts)


def _groups(check: CheckReport) -> Markup:
    if not check.groups:
        return element("p", text("The check found nothing."))
    parts = []
    shown = check.groups[:MAX_GROUPS]
    for severity, alike in groupby(shown, key=lambda group: group.severity):
        parts.append(_severity_heading(severity))
        parts += [_group(group) for group in alike]
    left_out = len(check.groups) - len(shown)
    if left_out:
        more = format_count(left_out, "more kind of findings", "more kinds of findings")
        parts.append(element("p", text(f"… and {more}; the JSON report has all of them.")))
    return joined(*parts)


def _severity_heading(severity: Severity) -> Markup:
    word = describe.SEVERITY_WORDS[severity].capitalize()
    return element("h3", element("span", text(word), kind=f"badge {_TONES[severity]}"))


def _group(group: FindingGroup) -> Markup:
    times = f" (×{group.count:,})" if group.count > 1 else ""
    lines = [
        element("p", element("strong", text(group.first[0].message + times))),
        element("p", text(f"{group.code} · {wording.places_text(group)}"), kind="place"),
    ]
    if group.count > 1:
        examples = group.first[:MAX_EXAMPLES]
        items = [element("li", text(_example(finding))) for finding in examples]
        lines.append(element("ul", *items, kind="place"))
        left_out = group.count - len(examples)
        if left_out > 0:
            lines.append(element("p", text(f"… and {left_out:,} more."), kind="quiet"))
    repair = wording.repair_text(group)
    if repair:
        lines.append(element("p", text(repair), kind="quiet"))
    return element("div", *lines, kind="finding")


def _example(finding: Finding) -> str:
    return f"{describe.place_text(finding)}: {describe.finding_text(finding)}"


def _opening(content: ReportContent) -> Markup:
    """The findings of an open, where no check was made."""
    found = content.image.findings
    if not found:
        return section("Findings", element("p", text("None when opening the image.")))
    rows = [
        (
            element(
                "span",
                text(describe.SEVERITY_WORDS[finding.severity]),
                kind=f"badge {_TONES[finding.severity]}",
            ),
            text(describe.finding_text(finding)),
            text(describe.place_text(finding)),
        )
        for finding in found[:MAX_ROWS]
    ]
    return section("Findings when opening", table(("Severity", "What", "Where"), rows))


# -------------------------------------------------------------------- structures


def _header(content: ReportContent) -> Markup:
    report = content.image.report
    rows = [
        (
            text(found.field.name),
            text(format_offset(found.host_offset)),
            text("–" if found.value is None else describe.hex_text(found.raw)),
            text(describe.field_text(found, report.feature_names)),
        )
        for found in report.header.field_values()
    ]
    return table(("Field", "Offset", "Raw hex", "Value"), rows, ("mono", "mono number", "mono", ""))


def _features(content: ReportContent) -> Markup:
    rows = [
        (
            text(describe.feature_class_text(feature.feature_class)),
            text(f"{feature.bit}"),
            text(feature.name),
            text("set" if feature.is_set else "–"),
            text(feature.meaning),
        )
        for feature in content.image.report.features
    ]
    return table(
        ("Set of bits", "Bit", "Name", "State", "Meaning"), rows, ("", "number", "", "", "quiet")
    )


def _extensions(content: ReportContent) -> Markup:
    rows = [
        (
            text(format_offset(found.offset)),
            text(found.name),
            text(describe.extension_name_text(found)),
            text(f"{found.length:,}"),
        )
        for found in content.image.report.extensions[:MAX_ROWS]
    ]
    return table(("Offset", "Extension", "Content", "Bytes"), rows, ("mono", "", "", "number"))


def _iter_references(content: ReportContent) -> Iterator[tuple[str, str]]:
    report = content.image.report
    if report.backing_name:
        yield "Backing file", report.backing_name
        yield "Backing format", report.backing_format or "not recorded"
    if report.data_file_name:
        yield "Data file", report.data_file_name


def _snapshots(content: ReportContent) -> Iterator[Markup]:
    found = content.image.report.snapshots
    rows = [
        (
            text(item.id),
            text(item.name),
            text(describe.snapshot_date_text(item)),
            text(describe.snapshot_vm_state_text(item)),
            text(describe.snapshot_disk_text(item)),
        )
        for item in found[:MAX_ROWS]
    ]
    yield table(
        ("ID", "Name", "Taken (UTC)", "VM state", "Disk size"),
        rows,
        ("", "", "", "number", "number"),
    )
    yield from _iter_left_out(len(found) - len(rows))


def _bitmaps(content: ReportContent) -> Iterator[Markup]:
    found = content.image.report.bitmaps
    rows = [
        (
            text(item.name),
            text(describe.bitmap_granularity_text(item)),
            text(describe.bitmap_state_text(item)),
            text(describe.bitmap_type_text(item)),
        )
        for item in found[:MAX_ROWS]
    ]
    yield table(("Name", "Granularity", "State", "Type"), rows, ("", "number", "", ""))
    yield from _iter_left_out(len(found) - len(rows))


def _iter_left_out(count: int) -> Iterator[Markup]:
    if count > 0:
        yield element("p", text(f"… and {count:,} more."), kind="quiet")
