"""Text for people: a value, and a failure with all that helps to understand it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.results import Verdict
from pytest_fabric.units import render

#: The least width of a label such as `measured`.
LABEL_WIDTH = 8


def value(verdict: Verdict) -> str:
    """Return the value of a verdict as people write it: `18 us`, `InfiniBand`, or nothing."""
    if verdict.value is None:
        return ""
    if isinstance(verdict.value, str):
        return clean_line(verdict.value)
    if not math.isfinite(verdict.value):
        return str(verdict.value)
    return render(verdict.value, verdict.unit or "")


def limit(verdict: Verdict) -> str:
    """Return the limit of a verdict and where it stands: `<= 5 us (cluster.yaml:41)`."""
    if not verdict.limit:
        return ""
    source = f" ({verdict.limit_source})" if verdict.limit_source else ""
    return clean_line(f"{verdict.limit}{source}")


def listed(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def failure(
    subject: str,
    what: str,
    value: str,
    limit: str,
    source: str,
    details: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the text of a failure: one line that says it all, then aligned lines of details.

    `details` are labels and texts of one or more lines; those without content are left out, and a
    label that repeats is written once.
    """
    limited = f", limit {clean_line(limit)}" if limit else ""
    where = f" ({clean_line(source)})" if source else ""
    head = f"{clean_line(subject)}  {clean_line(f'{what} {value}')}{limited}{where}"
    return "\n".join([head, *_rows(details)])


def _rows(details: Sequence[tuple[str, str]]) -> list[str]:
    rows = [
        (clean_line(label), line.rstrip())
        for label, text in details
        for line in clean(text).split("\n")
        if line.strip()
    ]
    width = max([LABEL_WIDTH, *(len(label) for label, _ in rows)])
    above = ["", *(label for label, _ in rows)]
    return [
        f"  {'' if label == previous else label:<{width}}  {text}"
        for previous, (label, text) in zip(above, rows, strict=False)
    ]
