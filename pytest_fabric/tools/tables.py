"""Tables of SONiC's `show` commands: titles over a line of dashes that marks the columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError

RULE = re.compile(r" *-+(?: {1,2}-+)+ *")
DASHES = re.compile(r"-+")
COUNT = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,20}")

#: No counter of this port or in this release.
NONE = ("N/A", "n/a")


@dataclass(frozen=True)
class Table:
    """A table: the line above its titles (the caption), the titles, and each row by title."""

    caption: str
    titles: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


def read(text: str, right: bool = True) -> tuple[list[Table], list[str]]:
    """Return the tables of a text in their order, and the lines that belong to none.

    A table ends with a line that does not keep to its columns, or the next caption; blank lines
    inside are skipped. Cells may be empty, but for the first. Raises
    NotRecognisedError when there is no table, or half a line: where cells are flush `right`, each
    row reaches the end of the last column.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    rules = [at for at, line in enumerate(lines) if RULE.fullmatch(line) and at]
    if not rules or not text.endswith("\n"):
        raise NotRecognisedError(f"expected a table with whole lines, got {text.strip()[:80]!r}")
    found: list[Table] = []
    others = [line for line in lines[: rules[0] - 1] if line]
    for at, after in zip(rules, [*(rule - 1 for rule in rules[1:]), len(lines)], strict=True):
        spans = [match.span() for match in DASHES.finditer(lines[at])]
        titles = _cells(lines[at - 1], spans)
        if titles is None or len(set(titles)) != len(titles):
            raise NotRecognisedError(f"expected titles over their columns, got {lines[at - 1]!r}")
        caption = others[-1] if others else ""
        rows, rest = _rows(lines[at + 1 : after], spans, right)
        found.append(Table(caption, titles, tuple(dict(zip(titles, x, strict=True)) for x in rows)))
        others += rest
    return found, others


def _rows(
    lines: list[str], spans: list[tuple[int, int]], right: bool
) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the rows, and the lines below them."""
    rows: list[tuple[str, ...]] = []
    for at, line in enumerate(lines):
        cells = _cells(line, spans)
        if line and (cells is None or not cells[0]):
            return rows, [rest for rest in lines[at:] if rest]
        if line and right and len(line) != spans[-1][1]:
            raise NotRecognisedError(f"expected a whole row, got {line.strip()[:80]!r}")
        if line and cells is not None:
            rows.append(cells)
    return rows, []


def _cells(line: str, spans: list[tuple[int, int]]) -> tuple[str, ...] | None:
    """Return what stands in each column; None when something stands between them."""
    gaps = zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), None], strict=True)
    if any(line[start:end].strip() for start, end in gaps):
        return None
    return tuple(line[start:end].strip() for start, end in spans)


def count(cell: str) -> int | None:
    """Return a counter, with or without separators of thousands; None where there is none."""
    if cell in NONE:
        return None
    if not COUNT.fullmatch(cell):
        raise NotRecognisedError(f"expected a counter, got {cell[:60]!r}")
    return int(cell.replace(",", ""))


PORT = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]{0,40}")


def port(cell: str) -> str:
    """Return the name of a port; NotRecognisedError for anything else."""
    if not PORT.fullmatch(cell):
        raise NotRecognisedError(f"expected the name of a port, got {cell[:60]!r}")
    return cell
