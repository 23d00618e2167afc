"""The tables of perftest: headers that are known word by word, and the rows under them.

A row counts only under a header that is known completely, and with exactly the numbers that the
header announces, each with as many decimals as perftest prints (perftest_parameters.h): a number
that was cut off is no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.results import Bandwidth, Latency
from pytest_fabric.tools import perftest_values as values
from pytest_fabric.tools.perftest_values import UNITS, Unit

RULE = re.compile(r"\s*-{20,}\s*")
SAMPLES = re.compile(r"\s*#, (?:usec|cycles)\s*")

#: A line of a table that starts like a row: two numbers, or one alone.
ROW = re.compile(r"\s*[-+]?[0-9][0-9.]*(?:\s+[-+]?[0-9]|\s*$)", re.ASCII)


#: A counter of `-W`, below the row that it belongs to.
COUNTER = re.compile(r"\s*((?:hw_)?counters/[\w.-]{1,80})=([0-9]{1,20})", re.ASCII)


@dataclass(frozen=True)
class Column:
    """A column: what its numbers are, and the decimals that they may be printed with."""

    name: str
    decimals: tuple[int, ...]


@dataclass(frozen=True)
class Header:
    """A header line; `unit` is that of a bandwidth table, None for latency."""

    columns: tuple[Column, ...]
    unit: Unit | None


@dataclass(frozen=True)
class Tables:
    """All rows of a capture, in the order in which they were printed.

    `beside` has for each row what options add to it: `cpu_percent` (`--cpu_util`), `tps` (`-D` of
    latency) and `counters` (`-W`: growth since the row before).
    """

    latency: tuple[Latency, ...]
    bandwidth: tuple[Bandwidth, ...]
    beside: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class Block:
    """The lines under one header, and whether rules of dashes stand above and below them."""

    header: Header
    lines: tuple[str, ...]
    opened: bool
    closed: bool


LATENCY = {
    "#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] "
    "99% percentile[usec] 99.9% percentile[usec]": "min max median mean deviation p99 p999",
    "#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]": "min max median",
    "#bytes #iterations t_avg[usec] tps average": "mean trips",
    "#bytes #iterations t_avg[usec]": "mean",
}
PEAK_AND_AVERAGE = (2, 6)  # six below 0.1 Gb/sec
BANDWIDTH = "#bytes #iterations BW peak[{0}] BW average[{0}] MsgRate[Mpps]"
PER_PORT = BANDWIDTH + " BW Port1[{0}] MsgRate Port1[Mpps] BW Port2[{0}] MsgRate Port2[Mpps]"
CPU = " CPU_Util[%]"


def _headers() -> dict[str, Header]:
    """Return every known header, written with single blanks."""
    sizes = (Column("bytes", (0,)), Column("iterations", (0,)))
    known = {
        text: Header((*sizes, *(Column(name, (2,)) for name in names.split())), None)
        for text, names in LATENCY.items()
    }
    rates = (
        Column("peak", PEAK_AND_AVERAGE),
        Column("average", PEAK_AND_AVERAGE),
        Column("message_rate", (6,)),
    )
    ports = tuple(
        Column(f"{name}{port}", decimals)
        for port in (1, 2)
        for name, decimals in (("average", PEAK_AND_AVERAGE), ("message_rate", (6,)))
    )
    for label, unit in UNITS.items():
        known[BANDWIDTH.format(label)] = Header((*sizes, *rates), unit)
        known[PER_PORT.format(label)] = Header((*sizes, *rates, *ports), unit)
    cpu = Column("cpu", (2,))
    return known | {
        text + CPU: Header((*header.columns, cpu), header.unit) for text, header in known.items()
    }


HEADERS = _headers()


def parse(lines: Sequence[str]) -> Tables | None:
    """Return the rows of all tables, or None when there is no header at all.

    Raises NotRecognisedError for an unknown header, a header without a row (unless a list of
    samples follows it), a row that is not whole, and tables of different units in one text.
    """
    blocks = _blocks(lines)
    if not blocks:
        return None
    if len({block.header.unit for block in blocks}) > 1:
        raise NotRecognisedError("expected one unit, got tables of different units in one text")
    latency: list[Latency] = []
    bandwidth: list[Bandwidth] = []
    beside: list[Mapping[str, object]] = []
    for block in blocks:
        rows = _rows(block)
        unit = block.header.unit
        beside += [
            _beside(row, counters) for row, counters in zip(rows, _counters(block), strict=False)
        ]
        if unit is None:
            latency += [values.latency(row) for row in rows]
        else:
            bandwidth += [values.bandwidth(row, unit) for row in rows]
    return Tables(tuple(latency), tuple(bandwidth), tuple(beside))


def _blocks(lines: Sequence[str]) -> list[Block]:
    starts = [place for place, line in enumerate(lines) if line.strip().startswith("#bytes")]
    blocks = []
    for start, limit in zip(starts, [*starts[1:], len(lines)], strict=False):
        rule = next((n for n in range(start + 1, limit) if RULE.fullmatch(lines[n])), None)
        blocks.append(
            Block(
                header=_header(lines[start]),
                lines=tuple(lines[start + 1 : limit if rule is None else rule]),
                opened=start > 0 and RULE.fullmatch(lines[start - 1]) is not None,
                closed=rule is not None,
            )
        )
    return blocks


def _header(line: str) -> Header:
    words = " ".join(line.split())
    if words not in HEADERS:
        raise NotRecognisedError(f"expected a known table header, got {words[:120]!r}")
    return HEADERS[words]


def _rows(block: Block) -> list[dict[str, Decimal]]:
    # -U and -H print samples below a header, and it again before the row; with -a, the samples of
    # the next size follow the row at once.
    samples = next((n for n, line in enumerate(block.lines) if SAMPLES.fullmatch(line)), None)
    rows = [_row(block.header, line) for line in block.lines[:samples] if ROW.match(line)]
    if not rows and samples is not None:
        return []
    if not rows:
        raise NotRecognisedError("expected a result row under the header, got none")
    if block.opened and not block.closed and len({row["bytes"] for row in rows}) > 1:
        raise NotRecognisedError("expected the rule below a table of several sizes: it is cut off")
    return rows


def _counters(block: Block) -> list[dict[str, int]]:
    """Return the counters below each row; none where the rule is missing that shows them whole."""
    found: list[dict[str, int]] = []
    for line in block.lines:
        counter = COUNTER.fullmatch(line)
        if ROW.match(line):
            found.append({})
        elif counter is not None and found and block.closed:
            found[-1][counter[1]] = int(counter[2])
    return found


def _beside(row: Mapping[str, Decimal], counters: Mapping[str, int]) -> dict[str, object]:
    told = {"cpu_percent": row.get("cpu"), "tps": row.get("trips")}
    numbers = {name: float(value) for name, value in told.items() if value is not None}
    return {**numbers, **({"counters": dict(counters)} if counters else {})}


def _row(header: Header, line: str) -> dict[str, Decimal]:
    words = line.split()
    if len(words) != len(header.columns):
        raise NotRecognisedError(
            f"expected {len(header.columns)} numbers in a result row, got {len(words)}: "
            f"{line.strip()[:120]!r}"
        )
    pairs = zip(header.columns, words, strict=True)
    return {column.name: _number(column, word, line) for column, word in pairs}


def _number(column: Column, word: str, line: str) -> Decimal:
    match = re.fullmatch(r"[0-9]{1,20}(?:\.([0-9]+))?", word)
    if match is None or len(match.group(1) or "") not in column.decimals:
        raise NotRecognisedError(
            f"expected a whole number for {column.name}, got {word[:40]!r} in "
            f"{line.strip()[:120]!r}"
        )
    return Decimal(word)
