"""SONiC's `show interfaces status`: each port's speed, MTU, FEC and state.

The format is that of `intfutil` in sonic-net/sonic-utilities; newer releases have more columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sonic_complaints import KNOWN

TITLES = ("Interface", "Speed", "MTU", "FEC", "Alias", "Oper", "Admin")
SPEED = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,3})?)([GM])")
SCALE = {"M": 1.0, "G": 1e3}
STATES = ("up", "down")
FECS = ("rs", "fc", "none", "auto")


@dataclass(frozen=True)
class PortStatus:
    """A port of the switch; `alias` is the name on the front, None is what it does not tell.

    The speed is the declared one while the port is down. `fec` is rs, fc, none or auto.
    """

    port: str
    alias: str | None
    oper: str | None
    admin: str | None
    speed_mbps: float | None
    mtu_bytes: int | None
    fec: str | None


def command() -> tuple[str, ...]:
    """Return the command line."""
    return ("show", "interfaces", "status")


def parse(text: str) -> list[PortStatus]:
    """Return the ports, and the groups of ports that the switch has.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    complaints.check(text, KNOWN)
    found, others = tables.read(text)
    if others:
        raise NotRecognisedError(f"expected a table of ports, got {others[0].strip()[:80]!r}")
    missing = [title for table in found for title in TITLES if title not in table.titles]
    if missing:
        raise NotRecognisedError(f"expected the column {missing[0]}, found none")
    rows = [_port(row) for table in found for row in table.rows]
    if len({row.port for row in rows}) != len(rows):
        raise NotRecognisedError("expected each port once")
    return rows


def _port(row: dict[str, str]) -> PortStatus:
    return PortStatus(
        port=tables.port(row["Interface"]),
        alias=_told(row["Alias"]),
        oper=_word(row["Oper"], STATES),
        admin=_word(row["Admin"], STATES),
        speed_mbps=_speed(row["Speed"]),
        mtu_bytes=tables.count(row["MTU"]),
        fec=_word(row["FEC"], FECS),
    )


def _told(cell: str) -> str | None:
    return printable(cell) if cell and cell not in tables.NONE else None


def _word(cell: str, words: tuple[str, ...]) -> str | None:
    if cell in tables.NONE:
        return None
    if cell not in words:
        raise NotRecognisedError(f"expected one of {', '.join(words)}, got {cell[:40]!r}")
    return cell


def _speed(cell: str) -> float | None:
    if cell in tables.NONE:
        return None
    match = SPEED.fullmatch(cell)
    if match is None:
        raise NotRecognisedError(f"expected a speed such as 400G, got {cell[:40]!r}")
    return float(match[1]) * SCALE[match[2]]


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [plain(port) for port in parse(text)]
