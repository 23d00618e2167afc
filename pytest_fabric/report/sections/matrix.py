"""Every metric of pairs as a matrix of clients and servers, rails apart, worst values as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from statistics import median

from pytest_fabric.report import text
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.figures import figure, significant
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.sections.series import SHOWN, Series, series
from pytest_fabric.results import Pair, Port, Verdict

#: So many values stand below each picture.
WORST = 5

#: Colours go from the median to the worst value: to 20 % from it at least, so that noise looks like
#: noise, and to a factor of two at most, so that one outlier does not hide all others.
NARROW, WIDE = 0.2, 2.0

#: Light is good, dark is bad: the sequence OrRd of ColorBrewer, which colour-blind readers see.
COLOURS = ((0, "#fff7ec"), (0.33, "#fdbb84"), (0.66, "#ef6548"), (1, "#7f0000"))

#: How cells are marked beside their colour: a symbol of plotly, and its name in the legend.
MARKS = {
    "failed": ("x", "outside the limit"),
    "waived": ("triangle-up-open", "outside the limit, and waived"),
    "error": ("diamond-open", "could not be told"),
    "contention": ("circle-open", "missed under load, held alone"),
}

#: A matrix is so many pixels wide, and a page has so many side by side.
WIDTH_PX, COLUMNS, LEAST_PX, MOST_PX, EDGE_PX = 1300, 3, 7, 55, 90

Panel = list[Verdict]


def section(record: RunRecord) -> list[str]:
    """Return a picture and a table for each metric; those that have something to show are open."""
    found = series(record.verdicts)
    if not found:
        return []
    bad = [one for one in found if any(v.outcome != "passed" for v in one.verdicts)]
    is_open = {one.metric for one in (bad or found)[:2]}
    legend = "; ".join(
        f"{sign} {markup.safe(MARKS[name][1])}"
        for name, sign in zip(MARKS, "\u2715\u25b3\u25c7\u25cb", strict=True)
    )
    return [
        "<h2>Pairs</h2>",
        "<p>Clients are rows, servers are columns, one matrix per rail. White is the median or "
        "better, darker is worse (to the worst value, 20 % to a factor of two away); "
        f"{legend}; grey was not measured. A click on a mark "
        "opens its evidence.</p>",
        *(_part(one, one.metric in is_open) for one in found),
    ]


def _part(one: Series, is_open: bool) -> str:
    counts = {state: sum(_state(v) == state for v in one.verdicts) for state in MARKS}
    told = [
        markup.mark("failed", f"{counts['failed']:,} failed") if counts["failed"] else "",
        markup.mark("waived", f"{counts['waived']:,} waived") if counts["waived"] else "",
        markup.mark("error", f"{counts['error']:,} not told") if counts["error"] else "",
        f"{counts['contention']:,} only under load" if counts["contention"] else "",
    ]
    title = f"<b>{markup.safe(one.title)}</b>, {_counted(len(one.verdicts))} " + " ".join(told)
    picture = picture_of(one) if one.valued or counts["error"] else ""
    return markup.folded(title, picture + worst(one), is_open)


def _counted(pairs: int) -> str:
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}"


def worst(one: Series) -> str:
    """Return the worst values of a series as a table, those without a value first."""
    without = [v for v in one.verdicts if not isinstance(v.value, (int, float))]
    ranked = sorted(one.valued, key=lambda found: found[1], reverse=one.is_worse_high)
    bad = [v for v, _ in ranked if v.outcome != "passed"]
    good = [v for v, _ in ranked if v.outcome == "passed"]
    rows = [
        (
            _linked(v),
            markup.safe(v.target),
            markup.safe(text.value(v) or _first(v)),
            markup.safe(text.limit(v)),
        )
        for v in [*without[:WORST], *[*bad, *good][:WORST]]
    ]
    return markup.table(("", "worst pairs", "value", "limit"), rows)


def picture_of(one: Series) -> str:
    """Return the matrices of a series: one for each rail, and each two that are crossed."""
    panels: dict[str, Panel] = defaultdict(list)
    for v in one.verdicts:
        pair = Pair.parse(v.target)
        ends = dict.fromkeys((pair.client.rail, pair.server.rail))
        panels[" \u2192 ".join(ends)].append(v)
    nodes = sorted({end.node for v in one.verdicts for end in _ends(v)})
    data: list[dict[str, object]] = []
    layout: dict[str, object] = {"annotations": []}
    side, columns = _grid(len(nodes), len(panels))
    rows = -(-len(panels) // columns)
    width, height = columns * (side + EDGE_PX) + EDGE_PX, rows * (side + EDGE_PX) + 20
    for number, (name, panel) in enumerate(sorted(panels.items())):
        row, column = divmod(number, columns)
        left, top = EDGE_PX + column * (side + EDGE_PX), 40 + row * (side + EDGE_PX)
        x = (left / width, (left + side) / width)
        y = (1 - (top + side) / height, 1 - top / height)
        data += _traces(one, panel, nodes, number)
        layout |= _axes(nodes, number, x, y)
        layout["annotations"] = [*_list(layout["annotations"]), _heading(name, x[0], y[1])]
    layout |= {"coloraxis": _colours(one, 1 - EDGE_PX / width), "width": width, "height": height}
    layout |= {"margin": dict.fromkeys("lrtb", 0), "hovermode": "closest", "showlegend": False}
    return figure(data, layout)


def _grid(nodes: int, panels: int) -> tuple[int, int]:
    """Return the side of a matrix in pixels, and how many stand side by side."""
    columns = min(COLUMNS, panels)
    fits = WIDTH_PX // columns - EDGE_PX
    return max(nodes * LEAST_PX, min(nodes * MOST_PX, fits), 90), columns


def _traces(
    one: Series, panel: Panel, nodes: Sequence[str], number: int
) -> list[dict[str, object]]:
    place = {name: index for index, name in enumerate(nodes)}
    unit, factor = SHOWN[one.unit]
    axes = {"xaxis": _axis("x", number), "yaxis": _axis("y", number)}
    hover = f"%{{y}} \u2192 %{{x}}<br>%{{z}} {unit}<extra></extra>"
    cells = []
    for v in panel:
        if isinstance(v.value, (int, float)):
            client, server = _ends(v)
            shown = significant(v.value * factor)
            cells.append([place[server.node], place[client.node], shown])
    size = [len(nodes), len(nodes)]
    heat: dict[str, object] = {
        "type": "heatmap",
        "cells": cells,
        "size": size,
        "coloraxis": "coloraxis",
    }
    heat |= {"x": _names(nodes), "y": _names(nodes), "xgap": 1, "ygap": 1}
    heat["hovertemplate"] = hover
    return [heat | axes, *(_marks(state, panel) | axes for state in MARKS if _are(state, panel))]


def _marks(state: str, panel: Panel) -> dict[str, object]:
    marked = [v for v in panel if _state(v) == state]
    symbol, name = MARKS[state]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _names([_ends(v)[1].node for v in marked]),
        "y": _names([_ends(v)[0].node for v in marked]),
        "text": [
            escape(clean_line(f"{name}: {text.value(v) or _first(v)[:80]} {v.limit or ''}"))
            for v in marked
        ],
        "customdata": [markup.anchor(v.nodeid) for v in marked],
        "hovertemplate": "%{y} \u2192 %{x}<br>%{text}<extra></extra>",
        "marker": {
            "symbol": symbol,
            "size": 11,
            "color": "#000",
            "line": {"color": "#fff" if state == "failed" else "#000", "width": 1.5},
        },
    }


def _colours(one: Series, at: float) -> dict[str, object]:
    unit, factor = SHOWN[one.unit]
    values = [value * factor for _, value in one.valued] or [0.0]
    middle = median(values)
    low = high = middle
    if one.is_worse_high:
        high = min(max(max(values), middle * (1 + NARROW)), middle * WIDE)
    else:
        low = max(min(min(values), middle * (1 - NARROW)), middle / WIDE)
    return {
        "cmin": significant(low),
        "cmax": significant(high),
        "colorscale": COLOURS,
        "reversescale": not one.is_worse_high,
        "colorbar": {"title": {"text": unit, "side": "right"}, "thickness": 12, "x": at},
    }


def _axes(
    nodes: Sequence[str], number: int, x: tuple[float, float], y: tuple[float, float]
) -> dict[str, object]:
    common = {"type": "category", "categoryarray": _names(nodes), "showgrid": False}
    common |= {"categoryorder": "array", "zeroline": False, "tickfont": {"size": 10}}
    across, down = _axis("x", number), _axis("y", number)
    ends = (-0.5, len(nodes) - 0.5)
    return {
        across.replace("x", "xaxis"): common | {"domain": x, "anchor": down, "range": ends},
        down.replace("y", "yaxis"): common | {"domain": y, "anchor": across, "range": ends[::-1]},
        "plot_bgcolor": "#e4e4e4",
    }


def _heading(name: str, x: float, y: float) -> dict[str, object]:
    text = escape(clean_line(name))
    where = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": f"<b>{text}</b>", "x": x, "y": y, "showarrow": False, **where}


def _state(v: Verdict) -> str:
    if v.outcome == "passed":
        return "contention" if v.contention else "passed"
    return v.outcome if v.outcome in ("failed", "waived") else "error"


def _are(state: str, panel: Panel) -> bool:
    return any(_state(v) == state for v in panel)


def _linked(v: Verdict) -> str:
    shown = markup.mark(v.outcome)
    is_told = v.outcome in ("passed", "skipped")
    return shown if is_told else f'<a href="#{markup.anchor(v.nodeid)}">{shown}</a>'


def _first(v: Verdict) -> str:
    return (v.message or "").strip().split("\n", 1)[0]


def _ends(v: Verdict) -> tuple[Port, Port]:
    pair = Pair.parse(v.target)
    return pair.client, pair.server


def _names(nodes: Sequence[str]) -> list[str]:
    return [escape(clean_line(node)) for node in nodes]


def _axis(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
