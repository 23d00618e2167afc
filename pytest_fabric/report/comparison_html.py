"""A comparison of runs as one HTML file that needs no network, and as a document for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pytest_fabric.judge.compare.comparison import Comparison, Finding
from pytest_fabric.judge.compare.effect import Effect
from pytest_fabric.judge.compare.tallies import Tally
from pytest_fabric.report import comparison as text
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import fold

#: The bars of an interval: so many pixels for so many per cent to each side, their height, and the
#: radius of the dot, for which there is room beyond both ends.
HALF_PX, HALF_SHARE, HEIGHT_PX, DOT_PX = 100, 0.25, 14, 4

SCALE = f"-{100 * HALF_SHARE:.0f} % .. +{100 * HALF_SHARE:.0f} %"

STYLE = """
body {font: 14px/1.5 system-ui, sans-serif; margin: 2em; max-width: 95em; color: #222}
table {border-collapse: collapse; margin-bottom: 2em}
td, th {border-bottom: 1px solid #ddd; padding: .2em .8em; text-align: left; vertical-align: top}
.worse {color: #b00020; font-weight: bold} .better {color: #00701a; font-weight: bold}
td:first-child, td:nth-child(3), td:nth-child(4), td:nth-child(6) {white-space: nowrap}
.cannot {color: #8a6100} svg {vertical-align: middle}
"""


def page(found: Comparison) -> str:
    """Return a comparison as HTML; text of nodes is escaped."""
    runs = [("before", found.before), ("after", found.after)]
    body = [
        f"<h1>Comparison of runs: {_word(found.verdict)}</h1>",
        _table((), [[_safe(name), _safe(", ".join(names))] for name, names in runs]),
        "<h2>Numbers</h2>",
        "<p>Values that were measured under load are compared with such values, values that were "
        "measured alone with those.</p>",
        _table(
            ("verdict", "what", "change", "95 % confidence", SCALE, "before and after", "pairs"),
            [row for finding in found.findings for row in _rows(finding)],
        ),
        "<h2>Facts that changed</h2>",
        _table(("fact", "before", "after", "where", "numbers"), list(_facts(found))),
        "<h2>Counters and losses</h2>",
        _table(
            ("verdict", "what", "where", "before", "after"), [_count(one) for one in found.counts]
        ),
        f"<p>{found.steady:,} others are as before.</p>",
        *_list("Measured before, and not any more", found.lost),
        *_list("Notes", found.notes),
    ]
    head = f'<meta charset="utf-8"><title>Comparison of runs</title><style>{STYLE}</style>'
    return (
        f"<!doctype html>\n<html><head>{head}</head><body>\n" + "\n".join(body) + "</body></html>\n"
    )


def _rows(finding: Finding) -> Iterator[list[str]]:
    name, unit = str(finding.kind), finding.kind.unit
    yield _row(name, finding.effect, unit)
    if finding.worst_tenth is not None:
        yield _row(f"{name}, worst tenth", finding.worst_tenth, unit)
    for place in finding.places:
        yield _row(f"{name} at {place.name}", place.effect, unit)


def _row(name: str, effect: Effect, unit: str) -> list[str]:
    change, _, bounds = text.interval(effect).partition(" ")
    return [
        _word(effect.verdict),
        _safe(name),
        _safe(change),
        _safe(bounds.strip("[]") or "one run on a side"),
        _bar(effect),
        _safe(text.values(effect, unit)),
        str(effect.pairs),
    ]


def _bar(effect: Effect) -> str:
    """Return a picture of an interval; what is beyond its ends is cut."""
    low = effect.change if effect.low is None else effect.low
    high = effect.change if effect.high is None else effect.high
    places = [_px(share) for share in (low, high, effect.change)]
    width = max(1.0, places[1] - places[0])
    middle = HEIGHT_PX / 2
    return (
        f'<svg width="{2 * (HALF_PX + DOT_PX)}" height="{HEIGHT_PX}">'
        f'<path d="M{HALF_PX + DOT_PX} 0V{HEIGHT_PX}" stroke="#999"/>'
        f'<rect x="{places[0]:.1f}" y="{middle - 2}" width="{width:.1f}" height="4" fill="#88a"/>'
        f'<circle cx="{places[2]:.1f}" cy="{middle}" r="{DOT_PX}" fill="#226"/></svg>'
    )


def _px(share: float) -> float:
    return DOT_PX + HALF_PX * (1 + max(-1.0, min(1.0, share / HALF_SHARE)))


def _facts(found: Comparison) -> Iterator[list[str]]:
    for beside in found.facts:
        fact = beside.fact
        told = (
            fact.what,
            fact.before,
            fact.after,
            fold(fact.targets),
            "; ".join(text.story(beside)),
        )
        yield [_safe(word) for word in told]


def _count(one: Tally) -> list[str]:
    sides = (", ".join(map(text.amount, side)) for side in (one.before, one.after))
    return [_word(one.verdict), *(_safe(word) for word in (one.what, one.target, *sides))]


def _list(title: str, items: Sequence[str]) -> list[str]:
    rows = "".join(f"<li>{_safe(item)}</li>" for item in items)
    return [f"<h2>{title}</h2><ul>{rows}</ul>"] if items else []


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    if not rows:
        return "<p>none</p>"
    titles = "".join(f"<th>{title}</th>" for title in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>{f'<tr>{titles}</tr>' if head else ''}\n{body}</table>"


def _word(verdict: str) -> str:
    return f'<span class="{verdict.partition(" ")[0]}">{_safe(verdict)}</span>'


def _safe(said: str) -> str:
    return escape(clean_line(said))


def document(found: Comparison) -> dict[str, object]:
    """Return a comparison as plain values: changes are shares, values are in base units."""
    return {
        "verdict": found.verdict,
        "before": list(found.before),
        "after": list(found.after),
        "metrics": [_metric(finding) for finding in found.findings],
        "facts": [
            {
                "what": beside.fact.what,
                "before": beside.fact.before,
                "after": beside.fact.after,
                "targets": list(beside.fact.targets),
                "told": text.story(beside),
            }
            for beside in found.facts
        ],
        "counts": [
            {
                "what": one.what,
                "target": one.target,
                "verdict": one.verdict,
                "before": list(one.before),
                "after": list(one.after),
            }
            for one in found.counts
        ],
        "counts_as_before": found.steady,
        "lost": list(found.lost),
        "notes": list(found.notes),
    }


def _metric(finding: Finding) -> dict[str, object]:
    kind, tail = finding.kind, finding.worst_tenth
    return {
        "tool": kind.tool,
        "size_bytes": kind.bytes,
        "metric": kind.metric,
        "unit": kind.unit,
        "company": "alone" if kind.alone else "under load",
        "as_distribution": kind.hashed,
        **_plain(finding.effect),
        "worst_tenth": None if tail is None else _plain(tail),
        "places": [{"place": one.name, **_plain(one.effect)} for one in finding.places],
        "left_out": finding.left_out,
    }


def _plain(effect: Effect) -> dict[str, object]:
    return dict(vars(effect))
