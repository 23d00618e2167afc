"""The JSON of SONiC's `wredstat -j` and `queuestat -j`: ports, their queues, and counters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.sonic_complaints import KNOWN
from pytest_fabric.tools.strict_json import as_object, is_json, load

KINDS = {"UC": "unicast", "MC": "multicast", "ALL": "all", "VOQ": "voq"}
QUEUE = re.compile(r"(UC|MC|ALL|VOQ)([0-9]{1,3})")

#: What stands beside the queues of a port: when it was read, and since when it counts.
TIMES = ("time", "cached_time")


@dataclass(frozen=True)
class QueueRow:
    """A queue of a port with its counters; `since` is when this user cleared them, or None."""

    port: str
    kind: str
    number: int
    counters: Mapping[str, object]
    since: str | None

    def count(self, key: str) -> int | None:
        """Return a counter; None where the switch has none. Raises NotRecognisedError."""
        value = self.counters.get(key)
        if not isinstance(value, str):
            raise NotRecognisedError(f"expected a text as {key}, got {str(value)[:40]!r}")
        return tables.count(value)


def queue_rows(text: str, what: str) -> Iterator[QueueRow]:
    """Yield the queues of all ports in their order; `what` names them in errors.

    Raises ToolError when the switch complains, NotRecognisedError for any other text, also for one
    without a port.
    """
    if not is_json(text):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected {what} as JSON, got {text.strip()[:80]!r}")
    ports = as_object(load(text, KNOWN), "ports")
    if not ports:
        raise NotRecognisedError(f"expected {what} of ports, found none")
    for port, found in ports.items():
        queues = as_object(found, port[:40])
        cleared = queues.get("cached_time")
        since = None if cleared is None else str(cleared)[:40]
        for name, row in queues.items():
            if name not in TIMES:
                kind, number = _queue(name)
                counters = as_object(row, name[:20])
                yield QueueRow(tables.port(port), kind, number, counters, since)


def _queue(name: str) -> tuple[str, int]:
    match = QUEUE.fullmatch(name)
    if match is None:
        raise NotRecognisedError(f"expected a queue such as UC3, got {name[:40]!r}")
    return KINDS[match[1]], int(match[2])
