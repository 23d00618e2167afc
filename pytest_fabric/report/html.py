"""The parts of the HTML report that are ours, for the hooks of pytest-html 4: lists of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from pytest_fabric.report import text
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.results import Verdict

#: Our columns.
COLUMNS = ("target", "metric", "value", "limit")

#: pytest-html sorts as text, which is wrong for values, and stores what it sorts by once more.
SORTABLE = ("target",)

#: Our columns stand after Result and Test, before Duration and Links.
PLACE = 2


def title(cluster: str) -> str:
    """Return the title as plain text: pytest-html escapes it."""
    return f"{clean_line(cluster)}: RDMA fabric acceptance"


def header(cells: Sequence[str]) -> list[str]:
    """Return the header cells with our columns among them."""
    return [*cells[:PLACE], *(_heading(column) for column in COLUMNS), *cells[PLACE:]]


def row(cells: Sequence[str], verdict: Verdict | None) -> list[str]:
    """Return the cells of a row with our columns among them, empty for a test without verdict."""
    values = _values(verdict) if verdict is not None else dict.fromkeys(COLUMNS, "")
    ours = [f"<td class=col-{column}>{escape(values[column])}</td>" for column in COLUMNS]
    if verdict is not None and verdict.outcome == "waived":
        cells = [cell.replace(">XFailed<", ">Waived<") for cell in cells]
    return [*map(_slim, cells[:PLACE]), *ours, *map(_slim, cells[PLACE:])]


def log(outcome: str, data: Sequence[str]) -> list[str]:
    """Return the log of a row: nothing for a pass, or the report becomes too large to open."""
    return [] if outcome == "passed" else [clean(line) for line in data]


def summary(lines: Sequence[str]) -> list[str]:
    """Return the summary as one block that keeps its alignment."""
    body = escape("\n".join(clean(line) for line in lines))
    return [f'<pre class="fabric-summary" style="white-space: pre-wrap">{body}</pre>']


def _heading(column: str) -> str:
    sortable = ' class="sortable"' if column in SORTABLE else ""
    return f'<th{sortable} data-column-type="{column}">{column.capitalize()}</th>'


def _values(verdict: Verdict) -> dict[str, str]:
    return {
        "target": clean_line(verdict.target),
        "metric": clean_line(verdict.metric or ""),
        "value": text.value(verdict),
        "limit": text.limit(verdict),
    }


def _slim(cell: str) -> str:
    # Rows are stored as JSON in an HTML attribute, where each quotation mark takes six bytes.
    return re.sub(r'class="([\w-]+)"', r"class=\1", cell)
