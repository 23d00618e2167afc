"""SONiC's `queuestat -j`: packets sent and dropped by each queue of each port.

The format is that of `queuestat` in sonic-net/sonic-utilities. Counters are differences where this
user has cleared them once, which the JSON does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fabric.tools import sonic_tables
from pytest_fabric.tools.plain import plain


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
    return [
        Queue(
            port=row.port,
            kind=row.kind,
            number=row.number,
            packets=row.count("totalpacket"),
            sent_bytes=row.count("totalbytes"),
            dropped_packets=row.count("droppacket"),
            dropped_bytes=row.count("dropbytes"),
        )
        for row in sonic_tables.queue_rows(text, "queues")
    ]


def records(text: str) -> list[dict[str, object]]:
    """Return the queues as plain records."""
    return [plain(queue) for queue in parse(text)]
