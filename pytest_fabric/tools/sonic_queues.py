"""SONiC's `queuestat -j`: packets sent and dropped by each queue of each port.

The format is that of `queuestat` in sonic-net/sonic-utilities. Counters are differences where this
user has cleared them once, which the JSON does not tell.
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

KINDS = {"UC": "unicast", "MC": "multicast", "ALL": "all"}
QUEUE = re.compile(r"(UC|MC|ALL)([0-9]{1,3})")

#: What stands beside the queues of a port: when it was read.
TIMES = ("time", "cached_time")


@dataclass(frozen=True)
class Queue:
    """A queue of a port; None is what the switch does not count."""

    port: str
    kind: str
    number: int
    packets: int | None
    sent_bytes: int | None
    dropped_packets: int | None
    dropped_bytes: int | None


def command() -> tuple[str, ...]:
    """Return the command line."""
    return ("queuestat", "-j")


def parse(text: str) -> list[Queue]:
    """Return the queues of all ports.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    if not is_json(text):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected queues as JSON, got {text.strip()[:80]!r}")
    ports = as_object(load(text, KNOWN), "ports")
    if not ports:
        raise NotRecognisedError("expected queues of ports, found none")
    return [
        _queue(tables.port(port), name, as_object(row, name[:20]))
        for port, queues in ports.items()
        for name, row in as_object(queues, port[:40]).items()
        if name not in TIMES
    ]


def _queue(port: str, name: str, row: Mapping[str, object]) -> Queue:
    match = QUEUE.fullmatch(name)
    if match is None:
        raise NotRecognisedError(f"expected a queue such as UC3, got {name[:40]!r}")
    return Queue(
        port=port,
        kind=KINDS[match[1]],
        number=int(match[2]),
        packets=_count(row, "totalpacket"),
        sent_bytes=_count(row, "totalbytes"),
        dropped_packets=_count(row, "droppacket"),
        dropped_bytes=_count(row, "dropbytes"),
    )


def _count(row: Mapping[str, object], key: str) -> int | None:
    value = row.get(key)
    if not isinstance(value, str):
        raise NotRecognisedError(f"expected a text as {key}, got {str(value)[:40]!r}")
    return tables.count(value)


def records(text: str) -> list[dict[str, object]]:
    """Return the queues as plain records."""
    return [plain(queue) for queue in parse(text)]
