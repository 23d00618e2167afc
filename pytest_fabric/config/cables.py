"""The plan of the cables, `cables.csv`: which port of which switch each port is cabled to.

One row per cable: `node,rail,switch,switch_port`, and `length` where it is known. Columns may come
in any order; lines that start with `#` are comments.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.sections import Strict
from pytest_fabric.config.wording import got, like, quoted
from pytest_fabric.results import Port

COLUMNS = ("node", "rail", "switch", "switch_port", "length")
OPTIONAL = frozenset({"length"})

#: A row as it is written, and where it stands.
Row = tuple[dict[str, str], Mark]


class Cable(Strict):
    """A planned cable; `source` is `file:line`, `length_m` None where the plan does not say it."""

    port: Port
    switch: str
    switch_port: str
    length_m: float | None = None
    source: str

    @property
    def place(self) -> str:
        """Return the switch and its port, as people write them."""
        return f"{self.switch} {self.switch_port}"


@dataclass(frozen=True)
class Known:
    """What the inventory says of ports; the rails of a node are None when they are unreadable."""

    rails: Mapping[str, frozenset[str] | None]
    leaves: Mapping[Port, str] = field(default_factory=dict)
    bonds: frozenset[Port] = frozenset()


def read_cables(text: str, file: str, known: Known, problems: Problems) -> dict[Port, Cable]:
    """Return the cables by port; what is wrong with them is added to the problems."""
    cables: dict[Port, Cable] = {}
    places: dict[tuple[str, str], str] = {}
    has_rows, at_first = False, problems.told
    for row, mark in _rows(text, file, problems):
        has_rows = True
        before = problems.told
        _check_names(row, mark, known, problems)
        length = _length(row.get("length", ""), mark, problems)
        if problems.told > before:
            continue
        port = Port(row["node"], row["rail"])
        cable = Cable(
            port=port,
            switch=row["switch"],
            switch_port=row["switch_port"],
            length_m=length,
            source=str(mark),
        )
        _check_leaf(cable, mark, known, problems)
        if port in cables:
            first = f"{cables[port].source} has it"
            problems.add(mark, f"expected one cable per port, got {port} again: {first}")
        taken = places.setdefault(
            (cable.switch.casefold(), cable.switch_port.casefold()), str(mark)
        )
        if taken != str(mark):
            wanted = "a switch port of its own"
            again = f"{quoted(cable.place)} again: {taken} has it"
            problems.add(mark.key("switch_port"), f"expected {wanted}, got {again}")
        cables.setdefault(port, cable)
    if not has_rows and problems.told == at_first:
        problems.add(Mark(file, 1, ""), "expected a row for each cable, found none")
    return cables


def _rows(text: str, file: str, problems: Problems) -> Iterator[Row]:
    """Yield each row by column, once the first one has named the columns."""
    header: list[str] | None = None
    reader = csv.reader(text.removeprefix("\ufeff").splitlines(), strict=True)
    try:
        for fields in reader:
            mark = Mark(file, reader.line_num, "")
            values = [value.strip() for value in fields]
            if not any(values) or values[0].startswith("#"):
                continue
            if header is None:
                header = values
                if not _is_header(header, mark, problems):
                    return
            elif len(values) != len(header):
                wanted = f"{len(header)} fields, as the first row has"
                problems.add(mark, f"expected {wanted}, got {len(values)}")
            else:
                yield dict(zip(header, values, strict=True)), mark
    except csv.Error as error:
        problems.add(Mark(file, reader.line_num, ""), f"expected a row of CSV, got: {error}")
    if header is None:
        problems.add(Mark(file, 1, ""), f"expected columns {','.join(COLUMNS)}, found none")


def _is_header(header: list[str], mark: Mark, problems: Problems) -> bool:
    before = problems.told
    for name in dict.fromkeys(header):
        if name not in COLUMNS:
            wanted = like("a known column", name, COLUMNS)
            problems.add(mark, f"expected {wanted}, got {quoted(name)}")
        elif header.count(name) > 1:
            problems.add(mark, f"expected each column once, got {quoted(name)} again")
    for name in COLUMNS:
        if name not in header and name not in OPTIONAL:
            problems.add(mark.key(name), "expected this column, found none")
    return problems.told == before


def _check_names(row: Mapping[str, str], mark: Mark, known: Known, problems: Problems) -> None:
    node, rail = row["node"], row["rail"]
    for column in ("switch", "switch_port"):
        if not row[column] or not row[column].isprintable():
            problems.add(mark.key(column), f"expected a name, got {got(row[column] or None)}")
    if node not in known.rails:
        wanted = _such("a node of the inventory", node, known.rails)
        problems.add(mark.key("node"), f"expected {wanted}, got {quoted(node)}")
        return
    rails = known.rails[node]
    if rails is not None and rail not in rails:
        wanted = _such(f"a rail of {node}", rail, rails)
        problems.add(mark.key("rail"), f"expected {wanted}, got {quoted(rail)}")
    elif Port(node, rail) in known.bonds:
        why = "the cables of its members cannot be told apart: leave the row out"
        problems.add(mark.key("rail"), f"expected a port with one cable, got a bond: {why}")


def _such(kind: str, name: str, names: Mapping[str, object] | frozenset[str]) -> str:
    """Return what was expected with one example: an inventory may have thousands of names."""
    wanted = like(kind, name, sorted(names))
    return wanted if len(wanted) < 120 else f"{kind} such as {quoted(min(names))}"


def _check_leaf(cable: Cable, mark: Mark, known: Known, problems: Problems) -> None:
    leaf = known.leaves.get(cable.port)
    if leaf is not None and leaf.casefold() != cable.switch.casefold():
        why = f"{problems.file} declares it as the leaf of {cable.port}"
        found = quoted(cable.switch)
        problems.add(mark.key("switch"), f"expected {quoted(leaf)}, got {found}: {why}")


def _length(text: str, mark: Mark, problems: Problems) -> float | None:
    """Return a length in metres, or None where none is given."""
    if not text:
        return None
    match = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?) ?m", text, re.ASCII)
    if match is None or float(match[1]) <= 0:
        problems.add(mark.key("length"), f"expected a length such as 3 m, got {quoted(text)}")
        return None
    return float(match[1])
