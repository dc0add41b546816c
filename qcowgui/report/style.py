"""The style sheet of a report: black on white, on a screen of any theme and on paper."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { background: #eef1f4; }
body { margin: 0; color: #1b2026; font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 2rem auto; padding: 2.5rem 3rem; background: #fff;
  border-radius: 10px; box-shadow: 0 1px 4px #0002; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; padding-bottom: .3rem; font-size: 1.2rem;
  border-bottom: 1px solid #d5dbe1; }
h3 { margin: 1.4rem 0 .5rem; font-size: 1rem; }
p { margin: .3rem 0; }
.path, .place { font-family: ui-monospace, Consolas, monospace; font-size: .85em; color: #59636e;
  overflow-wrap: anywhere; }
.path { margin: .2rem 0 1rem; }
.quiet { color: #59636e; }
.verdict { display: table; margin: .5rem 0; padding: .45rem .9rem; border-radius: 8px;
  border-left: 5px solid; font-weight: 600; }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 999px; font-weight: 600;
  font-size: .9em; }
.good { background: #e3f3e6; color: #1d6330; }
.note { background: #e6eef6; color: #3b6288; }
.warning { background: #fdf1d8; color: #7a4e00; }
.danger { background: #fbe4e2; color: #a3211a; }
.hint { margin-top: 1.5rem; padding: .2rem 1.4rem 1rem; background: #fdf1d8; border-radius: 8px; }
.hint h2 { margin-top: .9rem; border-color: #e8d3a2; }
.hint ul { margin: 0; padding-left: 1.2rem; }
.finding { margin: .8rem 0; padding-left: .9rem; border-left: 3px solid #d5dbe1; }
.finding ul { margin: .3rem 0; padding-left: 1.2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; margin: 0; }
dt { color: #59636e; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; margin: .6rem 0; border-collapse: collapse; font-size: .9em; }
th { text-align: left; font-weight: 600; color: #59636e; }
th, td { padding: .3rem .8rem .3rem 0; vertical-align: top; border-bottom: 1px solid #e6eaee; }
td { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.mono { font-family: ui-monospace, Consolas, monospace; }
.state { white-space: nowrap; }
figure { margin: .8rem 0; }
img { max-width: 100%; height: auto; image-rendering: pixelated; border: 1px solid #d5dbe1; }
.swatch { display: inline-block; width: .85em; height: .85em; margin-right: .5em;
  border: 1px solid #0004; vertical-align: -.05em; }
.swatch.fault { outline: 2px solid #1b2026; outline-offset: 1px; }
footer { margin-top: 2.5rem; font-size: .85em; color: #59636e; }
@page { margin: 16mm 14mm; }
@media print {
  html { background: none; }
  body { font-size: 10.5pt; }
  main { max-width: none; margin: 0; padding: 0; box-shadow: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; }
  tr, figure, .finding, .hint li { break-inside: avoid; }
  thead { display: table-header-group; }
}
"""
