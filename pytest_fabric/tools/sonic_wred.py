"""SONiC's `wredstat -j`: packets that each queue marked for congestion (ECN), or dropped early.

The format is that of `wredstat` in sonic-net/sonic-utilities, behind `show queue wredcounters`.
Counters are differences where this user has cleared them once: `cached_time` says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.sonic_complaints import KNOWN
from pytest_fabric.tools.strict_json import as_object, is_json, load

KINDS = {"UC": "unicast", "MC": "multicast", "ALL": "all", "VOQ": "voq"}
QUEUE = re.compile(r"(UC|MC|ALL|VOQ)([0-9]{1,3})")

#: What stands beside the queues of a port: when it was read, and since when it counts.
TIMES = ("time", "cached_time")


@dataclass(frozen=True)
class Marks:
    """What a queue of a port has marked and dropped; None is what the switch does not count.

    `since` is when this user cleared the counters, None where nobody has.
    """

    port: str
    kind: str
    number: int
    marked_packets: int | None
    marked_bytes: int | None
    dropped_packets: int | None
    dropped_bytes: int | None
    since: str | None = None


def command() -> tuple[str, ...]:
    """Return the command line."""
    return ("wredstat", "-j")


def parse(text: str) -> list[Marks]:
    """Return the queues of all ports.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    if not is_json(text):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected marks of queues as JSON, got {text.strip()[:80]!r}")
    ports = as_object(load(text, KNOWN), "ports")
    if not ports:
        raise NotRecognisedError("expected marks of queues of ports, found none")
    return [
        _marks(tables.port(port), name, as_object(row, name[:20]), _since(queues))
        for port, queues in ((port, as_object(found, port[:40])) for port, found in ports.items())
        for name, row in queues.items()
        if name not in TIMES
    ]


def _since(queues: Mapping[str, object]) -> str | None:
    value = queues.get("cached_time")
    return None if value is None else str(value)[:40]


def _marks(port: str, name: str, row: Mapping[str, object], since: str | None) -> Marks:
    match = QUEUE.fullmatch(name)
    if match is None:
        raise NotRecognisedError(f"expected a queue such as UC3, got {name[:40]!r}")
    return Marks(
        port=port,
        kind=KINDS[match[1]],
        number=int(match[2]),
        marked_packets=_count(row, "ecnmarkedpacket"),
        marked_bytes=_count(row, "ecnmarkedbytes"),
        dropped_packets=_count(row, "wreddroppacket"),
        dropped_bytes=_count(row, "wreddropbytes"),
        since=since,
    )


def _count(row: Mapping[str, object], key: str) -> int | None:
    value = row.get(key)
    if not isinstance(value, str):
        raise NotRecognisedError(f"expected a text as {key}, got {str(value)[:40]!r}")
    return tables.count(value)


def records(text: str) -> list[dict[str, object]]:
    """Return the queues as plain records."""
    return [plain(one) for one in parse(text)]
