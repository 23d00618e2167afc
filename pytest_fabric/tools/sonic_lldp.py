"""SONiC's `show lldp table` and `show lldp neighbors`: what hangs on each port of a switch."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, tables
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sonic_complaints import KNOWN

TITLES = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
CODES = re.compile(r"Capability codes: .*")
TOTAL = re.compile(r"Total entries displayed: +([0-9]{1,6})")
RULE = re.compile(r"-{20,}")
LETTERS = {"R": "router", "B": "bridge", "O": "other"}

INTERFACE = re.compile(r"Interface: +([A-Za-z][\w./:-]*), via: (?:LLDP|unknown)\b.*", re.ASCII)
FIELD = re.compile(r" +([A-Za-z][A-Za-z -]*):(?: +(\S.*))?")
#: The identifier has its type in front.
TYPED = re.compile(r"(?:ifname|mac|ip|local|ifalias|component|port|unhandled) (\S.*)")


@dataclass(frozen=True)
class Neighbour:
    """What a port of the switch hears: `remote_device` calls its own port `remote_port`.

    NICs often say their MAC address as port. None where the neighbour did not tell, or the table
    does not show it. `capabilities` are words for what is switched on.
    """

    local_port: str
    remote_device: str | None
    remote_port: str | None
    remote_port_description: str | None
    chassis_id: str | None
    capabilities: tuple[str, ...]


def command(detail: bool = False) -> tuple[str, ...]:
    """Return the command line: the table, or everything that each neighbour told."""
    return ("show", "lldp", "neighbors" if detail else "table")


def parse(text: str) -> list[Neighbour]:
    """Return the neighbours in the order in which they are shown.

    Raises ToolError when the switch complains, NotRecognisedError for any other text, also when
    there are not as many rows as it says, or the line under the last neighbour is missing.
    """
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not text.endswith("\n") or len(lines) < 2:
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected whole lines of LLDP, got {text.strip()[:80]!r}")
    if lines[0].strip().startswith(("Capability codes", "LocalPort")):
        return _from_table(text)
    if RULE.fullmatch(lines[0]) and lines[1].startswith("LLDP neighbors"):
        return _from_detail(lines)
    complaints.check(text, KNOWN)
    raise NotRecognisedError(f"expected the neighbours of LLDP, got {lines[0][:80]!r}")


def _from_table(text: str) -> list[Neighbour]:
    found, others = tables.read(text, right=False)
    total = TOTAL.fullmatch(others[-1]) if others else None
    strange = [x for x in others[:-1] if not CODES.fullmatch(x) and not RULE.fullmatch(x)]
    rows = found[0].rows
    if len(found) != 1 or found[0].titles != TITLES or total is None or strange:
        raise NotRecognisedError("expected one table of neighbours and their total: cut off?")
    if int(total[1]) != len(rows):
        raise NotRecognisedError(f"expected {total[1]} neighbours, got {len(rows)}")
    return [_from_row(row) for row in rows]


def _from_row(row: dict[str, str]) -> Neighbour:
    letters = row["Capability"]
    if not set(letters) <= set(LETTERS):
        raise NotRecognisedError(f"expected capabilities of R, B and O, got {letters[:40]!r}")
    return Neighbour(
        local_port=tables.port(row["LocalPort"]),
        remote_device=_told(row["RemoteDevice"]),
        remote_port=_told(row["RemotePortID"]),
        remote_port_description=_told(row["RemotePortDescr"]),
        chassis_id=None,
        capabilities=tuple(sorted({LETTERS[letter] for letter in letters})),
    )


def _told(text: str | None) -> str | None:
    return printable(text) if text and text != "N/A" else None


def _from_detail(lines: list[str]) -> list[Neighbour]:
    if not RULE.fullmatch(lines[-1]):
        raise NotRecognisedError("expected a line under the last neighbour: the text is cut off")
    blocks: list[list[str]] = [[]]
    for line in lines:
        if RULE.fullmatch(line):
            blocks.append([])
        elif not line.startswith("LLDP neighbors"):  # once for each ASIC
            blocks[-1].append(line)
    return [_from_block(block) for block in blocks if block]


def _from_block(block: list[str]) -> Neighbour:
    """Return a neighbour; lines that are no `Name: value` go on with the text above them."""
    interface = INTERFACE.fullmatch(block[0])
    if interface is None or any(INTERFACE.match(line) for line in block[1:]):
        raise NotRecognisedError(f"expected 'Interface: NAME, via: LLDP', got {block[0][:80]!r}")
    told: dict[str, str] = {}
    enabled = set()
    for line in block[1:]:
        match = FIELD.fullmatch(line)
        if match is not None and match[1] == "Capability":
            name, _, state = (match[2] or "").partition(", ")
            enabled |= {name.lower()} if state == "on" else set()
        elif match is not None and match[2]:
            told.setdefault(match[1], match[2])
    if "ChassisID" not in told or "PortID" not in told:
        raise NotRecognisedError(f"expected chassis and port of what {interface[1]} hears")
    return Neighbour(
        local_port=interface[1],
        remote_device=_told(told.get("SysName")),
        remote_port=_identifier(told["PortID"]),
        remote_port_description=_told(told.get("PortDescr")),
        chassis_id=_identifier(told["ChassisID"]),
        capabilities=tuple(sorted(printable(name) for name in enabled)),
    )


def _identifier(text: str) -> str | None:
    match = TYPED.fullmatch(text)
    return _told(match[1] if match else text)


def records(text: str) -> list[dict[str, object]]:
    """Return the neighbours as plain records."""
    return [plain(neighbour) for neighbour in parse(text)]
