"""The parts of the HTML report that are ours, for the hooks of pytest-html 4: lists of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from pytest_fabric.report import text
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.report.sections import page
from pytest_fabric.report.sections.record import RunRecord
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
    """Return the cells of a row with our columns among them, empty for a test without verdict.

    Each cell of a passed row costs bytes ten thousand times: those nobody sorts by are joined.
    """
    values = _values(verdict) if verdict is not None else dict.fromkeys(COLUMNS, "")
    ours = [f"<td{_class(column)}>{escape(values[column])}</td>" for column in COLUMNS]
    if verdict is not None and verdict.outcome == "waived":
        cells = [cell.replace(">XFailed<", ">Waived<") for cell in cells]
    found = [*map(_slim, cells[:PLACE]), *ours, *map(_slim, cells[PLACE:])]
    if verdict is None or verdict.outcome != "passed":
        return found
    last = PLACE + len(SORTABLE)
    return [*found[:last], "".join(found[last:])]


def log(outcome: str, data: Sequence[str]) -> list[str]:
    """Return the log of a row: nothing for a pass, or the report becomes too large to open."""
    return [] if outcome == "passed" else [clean(line) for line in data]


def summary(record: RunRecord) -> list[str]:
    """Return what stands above the results: the sections of a run."""
    return page(record)


def _heading(column: str) -> str:
    sortable = ' class="sortable"' if column in SORTABLE else ""
    return f'<th{sortable} data-column-type="{column}">{column.capitalize()}</th>'


def _class(column: str) -> str:
    """Return what pytest-html finds the text by that it sorts by."""
    return f" class=col-{column}" if column in SORTABLE else ""


def _values(verdict: Verdict) -> dict[str, str]:
    is_passed = verdict.outcome == "passed"  # where its limit stands is told above the results
    return {
        "target": clean_line(verdict.target),
        "metric": clean_line(verdict.metric or ""),
        "value": text.value(verdict),
        "limit": text.limit(replace(verdict, limit_source=None) if is_passed else verdict),
    }


def _slim(cell: str) -> str:
    # Rows are stored as JSON in an HTML attribute, where each quotation mark takes six bytes.
    return re.sub(r'class="([\w-]+)"', r"class=\1", cell)
