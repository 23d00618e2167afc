"""`ethtool -S`: the statistics that a network driver keeps, by the driver's own names.

With `--groups` ethtool shows standard statistics in their place, by the names of the kernel. Only
these have a JSON form; it gets the names that the text has.
"""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, ethtool_common, strict_json
from pytest_fabric.tools.printable import printable

TITLE = re.compile(r"NIC statistics:|Standard stats for \S+:")

#: Names may hold blanks, brackets and colons (`[0]: rx_discards`): the last colon ends the name.
LINE = re.compile(r"\s*(\S(?:.*\S)?): (-?[0-9]{1,20})")

#: A failed read of the hardware shows as all bits set.
UNREADABLE = 2**64 - 1

KNOWN: complaints.Known = (
    ("no_statistics", re.compile(r"no stats available")),
    *ethtool_common.KNOWN,
)

Rows = list[tuple[str, int | None]]


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that prints the statistics of a network device."""
    return ethtool_common.command(netdev, "-S")


def read(text: str) -> Rows:
    """Return name and value of each line, in order; None for a value that could not be read.

    A name may come twice: some drivers use one for several statistics. Raises ToolError when there
    are no statistics, NotRecognisedError for any other text, also for one whose last line is cut
    off.
    """
    if strict_json.is_json(text):
        return _from_json(strict_json.rows(strict_json.load(text)))
    complaints.check(text, KNOWN, row=LINE)
    lines = [line.strip() for line in ethtool_common.whole_lines(text)]
    rows = [_row(line) for line in lines if not TITLE.fullmatch(line)]
    if not rows:
        raise NotRecognisedError("expected the statistics of a network device, got a title only")
    return rows


def parse(text: str) -> dict[str, int]:
    """Return counter -> value; a counter that is unreadable, or ambiguous, is left out.

    Ambiguous is a name that comes twice with different values. Raises as `read` does. A text that
    is cut off between two lines cannot be told from a whole one: whoever ran the tool knows.
    """
    values: dict[str, set[int | None]] = {}
    for name, value in read(text):
        values.setdefault(name, set()).add(value)
    single = {name: min(seen, key=str) for name, seen in values.items() if len(seen) == 1}
    return {name: value for name, value in single.items() if value is not None}


def _row(line: str) -> tuple[str, int | None]:
    match = LINE.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected 'counter: number', got {line[:80]!r}")
    return match[1], _readable(int(match[2]))


def _readable(value: int) -> int | None:
    return None if value == UNREADABLE else value


def _from_json(devices: list[strict_json.Row]) -> Rows:
    rows: Rows = []
    for device in devices:
        for group in device:
            if group == "ifname":
                continue
            counters = strict_json.object_of(device, group)
            for name, value in counters.items():
                if isinstance(value, list):
                    buckets = strict_json.rows(value)
                    rows += [_bucket(group, name.partition("-")[0], bucket) for bucket in buckets]
                else:
                    rows.append((f"{group}-{name}", _count(counters, name)))
    if not rows:
        raise NotRecognisedError("expected the statistics of a network device in JSON, got none")
    return rows


def _count(row: strict_json.Row, key: str) -> int | None:
    value = strict_json.integer_of(row, key)
    if value is None:
        raise NotRecognisedError(f"expected a number at {key[:60]!r} in JSON, got none")
    return _readable(value)


def _bucket(group: str, direction: str, row: strict_json.Row) -> tuple[str, int | None]:
    """Return name and value of a range of frame sizes; a high end of 0 is no end."""
    low, high = strict_json.integer_of(row, "low"), strict_json.integer_of(row, "high")
    sizes = f"{low}toMax" if not high else f"{low}to{high}" if low else f"{high}"
    return f"{direction}-{group}-etherStatsPkts{sizes}Octets", _count(row, "val")


def records(text: str) -> list[dict[str, object]]:
    """Return one record per line, also of names that come twice; null for unreadable values."""
    return [{"name": printable(name), "value": value} for name, value in read(text)]
