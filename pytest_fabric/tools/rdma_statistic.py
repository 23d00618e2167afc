"""`rdma statistic show`: the hardware counters of the RDMA ports, as text or JSON (`-j`).

Format: iproute2, rdma/stat.c (5.3 and later). Names come from the driver and may hold blanks. A
port without counters is not shown, so no port prints nothing, or an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words, rdma_tool
from pytest_fabric.tools.complaints import check

#: One line for each port, or with `-p` one indented line for each counter below it.
START = re.compile(rf"link ({rdma_tool.NAME})/([0-9]{{1,3}})(?: |$)")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.,/-]*(?: [A-Za-z][A-Za-z0-9_.,/-]*)*")

#: Of `rdma statistic qp`, which counts for queue pairs; its numbers are no counters.
RESERVED = {"device", "port", "cntn", "lqpn", "pid", "mode", "qp-type", "comm", "type"}

#: What a driver says that could not read the counter.
UNREADABLE = 2**64 - 1


@dataclass(frozen=True)
class RdmaStatistic:
    """The counters of a port, by the names that the driver gives them; None is unreadable.

    A counter that is not there is not zero.
    """

    device: str
    port: int
    counters: Mapping[str, int | None]


def command(device: str | None = None, port: int = 1) -> tuple[str, ...]:
    """Return the command line that shows the counters of every port, or of one, as JSON."""
    words = ("rdma", "-j", "statistic", "show")
    if device is None:
        return words
    return (*words, "link", f"{ib_words.device(device)}/{ib_words.number('port', port, 255)}")


def parse(text: str) -> list[RdmaStatistic]:
    """Return the counters of each port, in the order in which they are shown.

    Raises ToolError when the tool or the kernel cannot tell, NotRecognisedError for any other
    text, also for one whose last line is cut off.
    """
    rows = rdma_tool.rows_of(text)
    if rows is not None:
        return [_from_row(row) for row in rows]
    check(text, rdma_tool.COMPLAINTS)
    lines = [line.strip() for line in ib_words.output(text)]
    starts = [place for place, line in enumerate(lines) if START.match(line)]
    if not starts or starts[0]:
        raise NotRecognisedError(f"expected 'link NAME/PORT ...', got {lines[0][:80]!r}")
    ends = [*starts[1:], len(lines)]
    return [_from_lines(lines[a:b]) for a, b in zip(starts, ends, strict=True)]


def _from_lines(lines: list[str]) -> RdmaStatistic:
    match = START.match(lines[0])
    if match is None:
        raise NotRecognisedError(f"expected 'link NAME/PORT ...', got {lines[0][:80]!r}")
    found: dict[str, object] = {}
    for line in (lines[0][match.end() :], *lines[1:]):
        words: list[str] = []
        for word in line.split():
            if not re.fullmatch(r"[0-9]{1,20}", word):
                words.append(word)
                continue
            name = " ".join(words)
            if name in found:
                raise NotRecognisedError(f"expected each counter once, got {name[:40]!r} twice")
            found[name] = int(word)
            words = []
        if words:
            raise NotRecognisedError(f"expected a number for {' '.join(words)[:80]!r}")
    return RdmaStatistic(match[1], int(match[2]), _counters(found))


def _from_row(row: dict[str, object]) -> RdmaStatistic:
    device, port = rdma_tool.port_of(row)
    return RdmaStatistic(device, port, _counters(row))


def _counters(found: Mapping[str, object]) -> dict[str, int | None]:
    counters: dict[str, int | None] = {}
    for name, value in found.items():
        if not NAME.fullmatch(name) or name in RESERVED:
            raise NotRecognisedError(f"expected the name of a counter, got {name[:80]!r}")
        if type(value) is not int or not 0 <= value <= UNREADABLE:
            raise NotRecognisedError(f"expected a number for {name}, got {str(value)[:40]!r}")
        counters[name] = None if value == UNREADABLE else value
    return counters


def records(text: str) -> list[dict[str, object]]:
    """Return one record for each port: device, port, and each counter by its name."""
    return [{"device": row.device, "port": row.port, **row.counters} for row in parse(text)]
