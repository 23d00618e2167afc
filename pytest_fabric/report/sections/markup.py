"""The HTML that all sections are written in: text that is escaped, signs, tables, folds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from html import escape

from pytest_fabric.report.clean import clean, clean_line

#: A sign and a word for each state, so that nobody depends on colours.
SIGNS = {
    "passed": "\u2713",
    "failed": "\u2717",
    "error": "?",
    "not run": "\u2205",
    "waived": "!",
    "skipped": "\u2013",
    "odd": "\u2260",
    "partial": "\u25d0",
}

#: pytest-html greys text out and puts the environment first; a verdict comes first here.
STYLE = """
body {display: flex; flex-direction: column}
#environment-header, #environment {order: 1}
footer {order: 2}
.fabric {color: #222; font: 14px/1.45 system-ui, sans-serif; max-width: 100em}
.fabric h2 {margin: 1.6em 0 .4em; font-size: 18px} .fabric h3 {margin: 1em 0 .3em; font-size: 15px}
.fabric a {color: #0b57d0} .fabric p {margin: .3em 0; color: #222}
.fabric table {margin: .4em 0 1em} .fabric pre {white-space: pre-wrap; margin: .4em 0 1em}
.fabric th, .fabric td {border: 1px solid #ddd; padding: .15em .6em; text-align: left;
 vertical-align: top; overflow-wrap: break-word}
.fabric td:first-child {min-width: 5em}
.fabric th {background: #f3f3f3} .fabric td.number {text-align: right; white-space: nowrap}
.fabric summary {cursor: pointer; padding: .15em 0}
.fabric .verdict {font-size: 20px; font-weight: bold; padding: .4em .7em; border-left: 8px solid}
.fabric .passed {color: #00631a} .fabric .failed {color: #a8001c; font-weight: bold}
.fabric .error, .fabric .not-run, .fabric .waived, .fabric .partial {color: #7a5200;
 font-weight: bold}
.fabric .skipped {color: #555}
.fabric .odd {color: #a8001c; font-weight: bold} .fabric-figure {overflow-x: auto}
#results-table {color: #222} #results-table td {overflow-wrap: anywhere}
#results-table .col-result, #results-table .col-duration {white-space: nowrap}
.logwrapper {overflow: auto} .logwrapper .log {min-height: 0; padding-right: 8em}
@media print {.fabric-figure {break-inside: avoid}}
"""


def safe(text: str) -> str:
    """Return text for one line of HTML."""
    return escape(clean_line(text))


def block(text: str) -> str:
    """Return text of many lines, as it is aligned."""
    return f"<pre>{escape(clean(text))}</pre>"


def mark(state: str, text: str | None = None) -> str:
    """Return a state, or a text in it, with its sign; a word that is no state is an error."""
    known = state if state in SIGNS else "error"
    name = known.replace(" ", "-")
    return f'<span class="{name}">{SIGNS[known]} {safe(state if text is None else text)}</span>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already, under titles that are text."""
    titles = "".join(f"<th>{safe(title)}</th>" for title in head)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>\n{body}</tbody></table>"


def listed(items: Iterable[str]) -> str:
    """Return a list of items that are HTML already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def folded(title: str, body: str, is_open: bool = False, name: str = "") -> str:
    """Return a part that opens without scripts; title and body are HTML already."""
    state = " open" if is_open else ""
    anchor = f' id="{name}"' if name else ""
    return f"<details{anchor}{state}><summary>{title}</summary>{body}</details>"


def anchor(nodeid: str) -> str:
    """Return the name of the place where the evidence of a check stands."""
    return f"e-{hashlib.sha256(nodeid.encode('utf-8', 'replace')).hexdigest()[:12]}"
