"""SONiC's `wredstat -j`: packets that each queue marked for congestion (ECN), or dropped early.

The format is that of `wredstat` in sonic-net/sonic-utilities, behind `show queue wredcounters`.
Counters are differences where this user has cleared them once: `cached_time` says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fabric.tools import sonic_tables
from pytest_fabric.tools.plain import plain


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
    return [
        Marks(
            port=row.port,
            kind=row.kind,
            number=row.number,
            marked_packets=row.count("ecnmarkedpacket"),
            marked_bytes=row.count("ecnmarkedbytes"),
            dropped_packets=row.count("wreddroppacket"),
            dropped_bytes=row.count("wreddropbytes"),
            since=row.since,
        )
        for row in sonic_tables.queue_rows(text, "marks of queues")
    ]


def records(text: str) -> list[dict[str, object]]:
    """Return the queues as plain records."""
    return [plain(one) for one in parse(text)]
