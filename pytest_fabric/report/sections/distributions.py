"""How latency and bandwidth spread, by how far apart the ends are, with limits and rates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.figures import figure, significant
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.sections.series import SHOWN, Series, hop_class, series
from pytest_fabric.units import alike

#: What the table has of each metric, by the share of the values that do not exceed it.
SHARES = (0, 0.01, 0.5, 0.99, 1)

#: More lines than this are no help: limits that other pairs set differ for each pair.
LINES = 3

#: Heights of a picture, and its width, in pixels.
EDGE_PX, CLASS_PX, WIDTH_PX = 110, 55, 1100

#: Points are drawn for so many values of a class; a box alone tells of more. Of fewer than BOX
#: values quartiles say nothing: points alone are drawn.
POINTS, BOX = 500, 20
COLOUR, FILL, NOTHING = "#2b4c7e", "rgba(120,150,200,0.3)", "rgba(0,0,0,0)"


def section(record: RunRecord) -> list[str]:
    """Return one table of all metrics, and a picture of each."""
    found = [one for one in series(record.verdicts) if one.valued]
    if not found:
        return []
    head = ("metric", "ends", "pairs", "min", "P1", "median", "P99", "max", "limits and rates")
    rows = [row for one in found for row in _rows(one, record.leaves)]
    bad = [one for one in found if any(v.outcome == "failed" for v in one.verdicts)]
    first = {one.unit: one.metric for one in reversed([*bad, *found])}
    return [
        "<h2>Latency and bandwidth</h2>",
        markup.table(head, rows),
        *(
            markup.folded(
                f"<b>{markup.safe(one.title)}</b>",
                _picture(one, record.leaves),
                first[one.unit] == one.metric,
            )
            for one in found
        ),
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed; nothing is invented."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def _rows(one: Series, leaves: Mapping[str, str]) -> list[list[str]]:
    lines = _lines(one)
    told = "; ".join(label for label, _ in lines) or "differ by pair, or are no numbers"
    return [
        [
            markup.safe(one.title),
            markup.safe(name),
            f"{len(values):,}",
            *map(markup.safe, alike([percentile(values, share) for share in SHARES], one.unit)),
            markup.safe(told),
        ]
        for name, values in _classes(one, leaves).items()
    ]


def _classes(one: Series, leaves: Mapping[str, str]) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = defaultdict(list)
    for v, value in one.valued:
        groups[hop_class(v.target, leaves)].append(value)
    return dict(sorted(groups.items()))


def _lines(one: Series) -> list[tuple[str, float]]:
    return [line for found in (one.limits, one.payload) if len(found) <= LINES for line in found]


def _picture(one: Series, leaves: Mapping[str, str]) -> str:
    unit, factor = SHOWN[one.unit]
    groups = _classes(one, leaves)
    data = [
        {
            "type": "box",
            "orientation": "h",
            "name": f"{name} ({len(values):,})",
            "x": [significant(value * factor) for value in values],
            "boxpoints": "all" if len(values) <= POINTS else "outliers",
            "jitter": 0.5,
            "pointpos": 0,
            "marker": {"color": COLOUR, "size": 6, "opacity": 0.7},
            "line": {"color": COLOUR if len(values) >= BOX else NOTHING},
            "fillcolor": FILL if len(values) >= BOX else NOTHING,
        }
        for name, values in groups.items()
    ]
    lines = [(label, number * factor, label.startswith("limit")) for label, number in _lines(one)]
    layout: dict[str, object] = {
        "width": WIDTH_PX,
        "height": EDGE_PX + CLASS_PX * len(groups),
        "margin": {"l": 170, "r": 150, "t": 55, "b": 45},
        "showlegend": False,
        "xaxis": {"title": {"text": unit}, "range": _range(one, factor, [n for _, n, _ in lines])},
        "shapes": [_line(number, is_limit) for _, number, is_limit in lines],
        "annotations": [
            _label(label, number, above) for above, (label, number, _) in enumerate(lines)
        ],
    }
    return figure(data, layout)


def _range(one: Series, factor: float, lines: Sequence[float]) -> list[float]:
    """Return ends of the axis that show all values and lines, with a little room."""
    shown = [*(value * factor for _, value in one.valued), *lines]
    room = 0.04 * (max(shown) - min(shown)) or 0.02 * abs(max(shown)) or 1.0
    return [significant(min(shown) - room), significant(max(shown) + room)]


def _line(number: float, is_limit: bool) -> dict[str, object]:
    colour, dash = ("#a8001c", "solid") if is_limit else ("#555", "dash")
    where = {"x0": number, "x1": number, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", "line": {"color": colour, "dash": dash, "width": 2}, **where}


def _label(label: str, number: float, above: int) -> dict[str, object]:
    where = {"x": number, "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 14 * above}
    return {"text": markup.safe(label), "showarrow": False, "font": {"size": 11}, **where}
