"""SONiC's `show queue watermark` and `show priority-group watermark`: the fullest a buffer was."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.sonic_complaints import KNOWN

#: What may be asked for: command words by name.
BUFFERS = {
    "queue_unicast": ("queue", "watermark", "unicast"),
    "queue_multicast": ("queue", "watermark", "multicast"),
    "queue_all": ("queue", "watermark", "all"),
    "priority_group_shared": ("priority-group", "watermark", "shared"),
    "priority_group_headroom": ("priority-group", "watermark", "headroom"),
}
CAPTIONS = {
    "Egress shared pool occupancy per unicast queue": ("queue_unicast", "UC"),
    "Egress shared pool occupancy per multicast queue": ("queue_multicast", "MC"),
    "Egress shared pool occupancy per all queues": ("queue_all", "ALL"),
    "Ingress shared pool occupancy per PG": ("priority_group_shared", "PG"),
    "Ingress headroom per PG": ("priority_group_headroom", "PG"),
}
CAPTION = re.compile(r"([A-Z][A-Za-z ]+):(?: \(Namespace ([a-z0-9]{1,20})\))?")


@dataclass(frozen=True)
class Watermark:
    """The highest fill of a port's buffers, in bytes, by queue or priority group.

    `numbers` are those of the queues or groups: multicast queues start behind the unicast ones.
    None in `peak_bytes` stands for one that the port does not have.
    """

    buffer: str
    namespace: str | None
    port: str
    numbers: tuple[int, ...]
    peak_bytes: tuple[int | None, ...]


def command(buffer: str) -> tuple[str, ...]:
    """Return the command line for one of `BUFFERS`; ValueError for another."""
    if buffer not in BUFFERS:
        raise ValueError(f"buffer: expected one of {', '.join(BUFFERS)}, got {buffer!r}")
    return ("show", *BUFFERS[buffer])


def parse(text: str) -> list[Watermark]:
    """Return the ports of every table, each under its caption.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    complaints.check(text, KNOWN)
    found, others = tables.read(text)
    if [table.caption for table in found] != others:
        raise NotRecognisedError(f"expected one caption over each table, got {others[:3]}"[:200])
    return [mark for table in found for mark in _marks(table)]


def _marks(table: tables.Table) -> list[Watermark]:
    caption = CAPTION.fullmatch(table.caption)
    buffer, prefix = CAPTIONS.get(caption[1] if caption else "", ("", ""))
    cells = [re.fullmatch(rf"{prefix}([0-9]{{1,3}})", title) for title in table.titles[1:]]
    numbers = [int(cell[1]) for cell in cells if cell]
    if caption is None or not buffer or table.titles[0] != "Port" or len(numbers) != len(cells):
        raise NotRecognisedError(f"expected a table of watermarks, got {table.caption[:80]!r}")
    return [
        Watermark(
            buffer,
            caption[2],
            tables.port(row["Port"]),
            tuple(numbers),
            tuple(tables.count(row[title]) for title in table.titles[1:]),
        )
        for row in table.rows
    ]


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [plain(mark) for mark in parse(text)]
