"""The InfiniBand subnet of a lab: its switches and links, as a sweep finds them.

Each port's switch is a leaf; all leaves hang on one spine. The first leaf runs the manager.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fabric.lab.model import Node, Port

#: The LID of the manager, which no port of a node has.
MANAGER_LID = 1

#: Where the LIDs of the other switches begin, behind those of all ports.
SWITCH_LIDS = 0x4000

#: Mellanox, then a number made of the name.
SWITCH_GUID = 0x0C42A1_03F0_000000

SPINE = "spine-1"

#: Ports of a leaf without a cable that a sweep shows too.
UNUSED = 2


@dataclass(frozen=True)
class End:
    """One end of a link; `number` is the port of the device or of the switch."""

    name: str
    guid: int
    lid: int
    number: int


@dataclass(frozen=True)
class Link:
    """A port of the subnet and its peer; `could_be` lanes are what both ends can do.

    `state` and `physical` are the words of iblinkinfo.
    """

    end: End
    peer: End | None
    speed_bps: float = 0.0
    width: int = 0
    could_be: int = 0
    state: str = "Active"
    physical: str = "LinkUp"


def links(nodes: Mapping[str, Node]) -> Iterator[Link]:
    """Yield every port of the subnet that a sweep finds, links from both ends."""
    ports = [port for node in nodes.values() for port in node.ports if port.is_infiniband]
    switches = dict(_switches(ports))
    for port in ports:
        switch = _at(switches[port.switch], _number(port))
        if port.state != "ACTIVE":
            yield Link(switch, None, state="Down", physical="Polling")
            continue
        yield from _both(device(port), switch, port)
    for name in switches:
        if name != SPINE:
            yield from _uplink(name, switches, [port for port in ports if port.switch == name])


def own(port: Port, nodes: Mapping[str, Node]) -> Link:
    """Return the link of a port as its own node sees it."""
    if port.state != "ACTIVE":
        return Link(device(port), None, state="Down", physical="Disabled")
    found = (link for link in links(nodes) if link.end.guid == port.guid)
    return next(found)


def device(port: Port) -> End:
    """Return the end of a link that is a port of a node."""
    return End(f"{port.id.node} {port.device}", port.guid, port.lid, 1)


def manager(nodes: Mapping[str, Node]) -> End | None:
    """Return the switch that runs the manager; None when it has ended, wherever one says so."""
    if not all(node.has_manager for node in nodes.values()):
        return None
    ports = [port for node in nodes.values() for port in node.ports if port.is_infiniband]
    return next((end for _, end in _switches(ports)), None)


def _switches(ports: list[Port]) -> Iterator[tuple[str, End]]:
    names = sorted({port.switch for port in ports})
    for place, name in enumerate([*names, SPINE] if names else []):
        lid = SWITCH_LIDS + place if place else MANAGER_LID
        yield name, End(name, SWITCH_GUID | zlib.crc32(name.encode()) & 0xFFFFFF, lid, 0)


def _at(switch: End, number: int) -> End:
    return End(switch.name, switch.guid, switch.lid, number)


def _number(port: Port) -> int:
    """Return the number of a switch port; the plan may give it another name."""
    digits = "".join(letter for letter in port.switch_port if letter.isdigit())
    return int(digits or "1") % 255


def _both(one: End, other: End, port: Port, state: str = "Active") -> Iterator[Link]:
    lanes = port.speed_bps / port.width
    for end, peer in ((one, other), (other, one)):
        yield Link(end, peer, lanes, port.width, state=state)


def _uplink(name: str, switches: Mapping[str, End], ports: list[Port]) -> Iterator[Link]:
    """Yield the link of a leaf to the spine, and its ports without a cable."""
    last = max(_number(port) for port in ports)
    first = ports[0]
    lanes = first.speed_bps / first.width
    leaf = _at(switches[name], last + UNUSED + 1)
    spine = _at(switches[SPINE], list(switches).index(name) + 1)
    is_slow = any(port.uplink == "slow" for port in ports)
    state = "Initialize" if any(port.uplink == "down" for port in ports) else "Active"
    width, could_be = (1, first.width) if is_slow else (first.width, 0)
    for end, peer in ((leaf, spine), (spine, leaf)):
        yield Link(end, peer, lanes, width, could_be, state)
    for number in range(last + 1, last + UNUSED + 1):
        yield Link(_at(leaf, number), None, state="Down", physical="Polling")
