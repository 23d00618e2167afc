"""SONiC's `show pfc counters`: pause frames per port and priority, received and sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.sonic_complaints import KNOWN

#: Stands above counters that are differences since this user cleared them.
CACHED = re.compile(r"Last cached time was (?:on )?([0-9-]{10}[ T][0-9:.]{5,20})")
DIRECTIONS = {"Port Rx": "rx", "Port Tx": "tx"}
PRIORITIES = tuple(f"PFC{priority}" for priority in range(8))
PRIORITY = re.compile(r"PFC([0-7])")
TIME = re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4}, [0-9:]{8}")
HISTORY = (
    *("Port", "Priority", "RX Pause Transitions", "Total RX Pause Time US"),
    *("Recent RX Pause Time US", "Recent RX Pause Timestamp"),
)


@dataclass(frozen=True)
class PauseFrames:
    """Pause frames of a port in one direction, by priority 0 to 7; None where it counts none.

    When `cached`, the counters are differences since the time in `since`. Some releases never count
    received ones and show 0.
    """

    port: str
    direction: str
    frames: tuple[int | None, ...]
    cached: bool
    since: str | None


@dataclass(frozen=True)
class PauseHistory:
    """How often and how long a priority of a port was paused."""

    port: str
    priority: int
    rx_pause_transitions: int | None
    rx_pause_us: int | None
    recent_rx_pause_us: int | None
    recent_rx_pause: str | None
    cached: bool
    since: str | None


def command(history: bool = False) -> tuple[str, ...]:
    """Return the command line; `history` exists in newer releases only."""
    return ("show", "pfc", "counters", *(("--history",) if history else ()))


def parse(text: str) -> list[PauseFrames | PauseHistory]:
    """Return the rows of both tables, or of the history.

    Raises ToolError when the switch complains, NotRecognisedError for any other text, also for a
    port of whose history some priorities are missing.
    """
    complaints.check(text, KNOWN)
    found, others = tables.read(text)
    match = CACHED.fullmatch(others[0]) if others else None
    if others[1 if match else 0 :]:
        raise NotRecognisedError(f"expected tables of pause frames, got {others[-1][:80]!r}")
    since = match[1] if match else None
    rows: list[PauseFrames | PauseHistory] = []
    for table in found:
        rows += _history(table, since) if table.titles == HISTORY else _frames(table, since)
    return rows


def _frames(table: tables.Table, since: str | None) -> list[PauseFrames]:
    direction = DIRECTIONS.get(table.titles[0])
    if direction is None or table.titles[1:] != PRIORITIES:
        raise NotRecognisedError(f"expected Port Rx or Port Tx and PFC0-7, got {table.titles}")
    return [
        PauseFrames(
            tables.port(row[table.titles[0]]),
            direction,
            tuple(tables.count(row[priority]) for priority in PRIORITIES),
            since is not None,
            since,
        )
        for row in table.rows
    ]


def _history(table: tables.Table, since: str | None) -> list[PauseHistory]:
    rows = [_entry(row, since) for row in table.rows]
    ports = [row.port for row in rows]
    for at, row in enumerate(rows):
        if row.priority != at % 8 or ports.count(row.port) != 8:
            raise NotRecognisedError(f"expected priorities 0-7 of {row.port}: the text is cut off")
    return rows


def _entry(row: dict[str, str], since: str | None) -> PauseHistory:
    priority, time = PRIORITY.fullmatch(row["Priority"]), row["Recent RX Pause Timestamp"]
    if priority is None or (time not in tables.NONE and not TIME.fullmatch(time)):
        raise NotRecognisedError(f"expected PFC0-7 and a time, got {row['Priority']!r}, {time!r}")
    return PauseHistory(
        port=tables.port(row["Port"]),
        priority=int(priority[1]),
        rx_pause_transitions=tables.count(row["RX Pause Transitions"]),
        rx_pause_us=tables.count(row["Total RX Pause Time US"]),
        recent_rx_pause_us=tables.count(row["Recent RX Pause Time US"]),
        recent_rx_pause=None if time in tables.NONE else time,
        cached=since is not None,
        since=since,
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the rows as plain records."""
    return [plain(row) for row in parse(text)]
