"""The ports of a simulated switch: those that the plan names, and those that a cable ends in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.leaf import MTU
from pytest_fabric.lab.model import Node, Port

#: Lanes of a port, after which SONiC numbers it.
LANES = 8


@dataclass(frozen=True)
class Socket:
    """A port of a switch: SONiC's name, the name on the front, and what is plugged in, if it is."""

    name: str
    alias: str
    lane: int
    host: Port | None

    @property
    def is_up(self) -> bool:
        """Whether the link is trained: both ends are Ethernet, and the host's end is not down."""
        return self.host is not None and self.host.is_ethernet and self.host.state == "ACTIVE"

    @property
    def mtu(self) -> int:
        """The largest IP packet that it passes on."""
        return (self.host.path_mtu if self.host is not None else None) or MTU


def sockets(switch: Node, fabric: Fabric) -> Iterator[Socket]:
    """Yield the ports of a switch in the order of their numbers."""
    ports = [port for node in fabric.nodes.values() for port in (*node.ports, *node.missing)]
    plugged = {port.switch_port: port for port in ports if port.switch == switch.name}
    names = sorted({*switch.sockets, *plugged}, key=_number)
    for place, alias in enumerate(names):
        yield Socket(f"Ethernet{place * LANES}", alias, place * LANES + 1, plugged.get(alias))


def _number(name: str) -> tuple[int, str]:
    digits = re.findall(r"[0-9]+", name)
    return int(digits[-1][-9:]) if digits else 0, name
