"""A sheet as an HTML file of its own, which prints to one page of A4 or Letter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import unescape

from pytest_fabric.report.places import fold
from pytest_fabric.report.reasons import counted
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.growth import Watched
from pytest_fabric.report.signoff import rows
from pytest_fabric.report.signoff.proof import Proven, suites_hash
from pytest_fabric.report.signoff.rows import Row
from pytest_fabric.report.signoff.sheet import Sheet

#: So much of each part fits on a page beside the others; what does not hold is never cut first.
REASONS, METRICS, UNCHECKED, WAIVERS = 7, 30, 4, 3

#: A line is cut here, in characters: it must not become three.
LONG = 230

#: So many lines of the usual size, in points, fit on a page of Letter, the shorter one; more lines
#: are set smaller, so that no page is signed without the other. Columns hold so many characters.
LINES, SIZE_PT, WIDE, LIMIT = 66, 7.6, 120, 42

STYLE = """
@page {size: auto; margin: 8mm}
* {box-sizing: border-box}
body {font-family: system-ui, sans-serif; line-height: 1.25; color: #111; margin: 0;
 max-width: 192mm}
h1 {font-size: 1.5em; margin: 0 0 .3em} h2 {font-size: 1.1em; margin: .6em 0 .2em}
p, ul {margin: .1em 0} ul {padding-left: 1.5em}
.state {font-size: 1.5em; font-weight: bold; padding: .2em .5em; border: .15em solid;
 margin: .2em 0}
.no {color: #a8001c} .yes {color: #00631a} .waived, .error, .not-run {color: #7a5200}
.failed, .odd {color: #a8001c; font-weight: bold} .passed {color: #00631a}
table {border-collapse: collapse; width: 100%} td, th {border: .2mm solid #999;
 padding: 0 .4em; text-align: left; vertical-align: top; overflow-wrap: anywhere}
th {background: #eee}
.key td:first-child {width: 14em; white-space: nowrap; font-weight: bold}
.metrics td, .metrics th {white-space: nowrap; overflow-wrap: normal}
.metrics td:nth-child(7) {white-space: normal; overflow-wrap: anywhere; width: 99%}
.metrics td:first-child {white-space: normal; min-width: 16em}
.sign td {height: 6em; width: 33%; color: #555}
@media screen {body {margin: 8mm auto}}
"""


def page(sheet: Sheet, proof: Proven, watched: Mapping[str, Watched]) -> str:
    """Return the whole file: no scripts, nothing from elsewhere."""
    title = f"Sign-off of {sheet.leaf or 'ports without a leaf'}"
    parts = [
        f"<h1>{markup.safe(title)}, {markup.safe(_cluster(sheet))}</h1>",
        *_state(sheet),
        _key(_ports(sheet)),
        "<h2>Measured: worst, the 1 % on the worse side (P1), median</h2>",
        *_metrics(rows.rows(sheet)),
        _key([("counters", rows.growth(sheet)), *_waivers(sheet)]),
        "<h2>Exposure behind error rates and lost links</h2>",
        _key(rows.exposures(sheet, watched)),
        "<h2>What it is made of, and what said so</h2>",
        _key([*rows.versions(sheet), *_run(sheet), ("proof of the tests", proof.words)]),
        *_unchecked(sheet),
        "<h2>Signed</h2>",
        _signature(),
    ]
    body = "\n".join(parts)
    size = SIZE_PT * _scale(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{markup.safe(title)}</title><style>{STYLE}body {{font-size: {size:.2f}pt}}"
        "</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _cluster(sheet: Sheet) -> str:
    about = sheet.record.about
    return "" if about is None else about.cluster


def _state(sheet: Sheet) -> list[str]:
    said = sheet.conclusion
    kind = "no" if said == "NOT READY" else "yes"
    reasons = sheet.reasons or ([] if kind == "yes" else ["nothing was measured"])
    left = len(reasons) - REASONS
    shown = [*reasons[:REASONS], *([f"and {left} more reasons"] if left > 0 else [])]
    listed = [markup.listed(markup.safe(_cut(one)) for one in shown)] if shown else []
    return [f'<p class="state {kind}">{said}</p>', *listed]


def _ports(sheet: Sheet) -> list[tuple[str, str]]:
    found = sheet.coverage
    left = f" (without a check of {', '.join(found.unasked)})" if found.unasked else ""
    counts = (
        f"{len(sheet.ports)} declared, {len(sheet.seen)} seen, {len(found.measured)} measured"
        f"{left}, {len(sheet.excluded)} excluded"
    )
    return [("ports", f"{counts}: {fold(sheet.ports)}"), ("wiring", _wiring(sheet))]


def _wiring(sheet: Sheet) -> str:
    judged = [v for v in sheet.own if v.layer == "wiring" and v.value is not None]
    if not judged:
        skipped = [v for v in sheet.concerned if v.layer == "wiring" and v.outcome == "skipped"]
        reason = (skipped[0].message or "").strip().split("\n", 1)[0] if skipped else ""
        return f"not checked{': ' if reason else ''}{reason}"
    bad = [v.target for v in judged if v.outcome != "passed"]
    good = len(judged) - len(bad)
    told = f"{good} of {len(sheet.ports)} cables are where the plan has them"
    return f"{told}; wrong: {fold(bad)}" if bad else told


def _metrics(found: Sequence[Row]) -> list[str]:
    """Return the table; where there are too many, those that hold are left out first."""
    chosen = list(found)
    if len(chosen) > METRICS:
        bad = [row for row in chosen if row.outcome != "passed"]
        good = [row for row in chosen if row.outcome == "passed"]
        chosen = [*bad, *good][:METRICS]
    cells = [
        [
            *map(markup.safe, (row.title, row.hops, f"{row.count:,}", row.worst, row.p1)),
            *map(markup.safe, (row.median, _cut(row.limit, 110))),
            markup.mark(row.outcome),
        ]
        for row in chosen
    ]
    head = ("metric", "hops", "of", "worst", "P1", "median", "limit", "")
    left = found[METRICS:] if len(found) > METRICS else []
    more = [f"<p>and {len(left)} more metrics: see report.html</p>"] if left else []
    empty = f"<p>{markup.mark('error', 'nothing was measured')}</p>"
    table = f'<div class="metrics">{markup.table(head, cells)}</div>'
    return [table if cells else empty, *more]


def _waivers(sheet: Sheet) -> list[tuple[str, str]]:
    waived = sheet.outcomes("waived")
    about = sheet.record.about
    count = 0 if about is None else len(about.waivers)
    if not waived:
        return [("waivers", f"none was needed ({count} in the inventory)")]
    lines = Counter(
        f"{v.check}: {(v.message or '').strip().split(chr(10), 1)[0]}" for v in waived
    ).most_common()
    shown = "; ".join(_cut(f"{count} x {line}", 110) for line, count in lines[:WAIVERS])
    left = len(lines) - WAIVERS
    return [("waivers", shown + (f"; and {left} more" if left > 0 else ""))]


def _run(sheet: Sheet) -> list[tuple[str, str]]:
    about = sheet.record.about
    if about is None:
        return [("run", "not known")]
    name = sheet.record.path.name if sheet.record.path is not None else "not known"
    broken = f", lab broken: {', '.join(about.options.faults)}" if about.options.faults else ""
    where = f"{about.transport}{broken}, by {about.user} on {about.host}"
    again = about.replayed_from or about.resumed_from
    built = f", built on {again}" if again else ""
    return [
        ("run", f"{name}, {about.started} to {about.ended or 'no end'}, {where}{built}"),
        ("inventory", f"sha256 {about.inventory_sha256}"),
        (
            "tests",
            f"sha256 {suites_hash(about.suites) or 'not known'}, pytest-fabric {about.version}",
        ),
    ]


def _unchecked(sheet: Sheet) -> list[str]:
    reasons = counted(sheet.outcomes("skipped"))
    if not reasons:
        return []
    left = len(reasons) - UNCHECKED
    shown = [markup.safe(_cut(f"{count} x {reason}")) for reason, count in reasons[:UNCHECKED]]
    more = [f"and {left} more reasons: see report.html"] if left > 0 else []
    return ["<h2>Not checked, and why</h2>", markup.listed([*shown, *more])]


def _signature() -> str:
    cells = [f"<td>{who}: name, date, signature</td>" for who in ("handed over", "accepted")]
    return f'<table class="sign"><tr>{"".join(cells)}<td>remarks</td></tr></table>'


def _key(found: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><td>{markup.safe(name)}</td><td>{markup.safe(_cut(words))}</td></tr>"
        for name, words in found
    )
    return f'<table class="key">{body}</table>'


def _cut(words: str, most: int = LONG) -> str:
    return words if len(words) <= most else f"{words[: most - 3]}..."


def _scale(parts: Sequence[str]) -> float:
    """Return how much smaller than usual the letters must be for all to fit."""
    steps = (1 - number / 50 for number in range(40))
    return next((step for step in steps if _lines(parts, step) <= LINES / step), 0.2)


def _lines(parts: Sequence[str], scale: float) -> int:
    """Return how many lines of a page parts take, rather too many than too few."""
    count = 11  # the title, the state, and the room of signatures
    for part in parts:
        wide = LIMIT if part.startswith('<div class="metrics">') else WIDE
        for row in re.split(r"<tr>|<li>|<h2>|<p>", part)[1:]:
            cells = [len(unescape(re.sub(r"<[^>]*>", "", cell))) for cell in row.split("<td>")]
            count += 1 + int((max(cells) - 1) // (wide / scale))
    return count
