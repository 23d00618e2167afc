"""Faults of cabling: every link is up, and leads elsewhere than planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Node, Port
from pytest_fabric.results import Port as PortId

#: How far from its place a cable is put that is in no other one's.
AWAY = 100


def _swapped(nodes: Mapping[str, Node], target: PortId) -> Mapping[str, Node]:
    """Swap the cables of a port and of the same rail of the next node, or of two of a node."""
    ports = {port.id: port for node in nodes.values() for port in node.ports}
    names = list(nodes)
    if target.rail:
        start = names.index(target.node) + 1
        others = [PortId(name, target.rail) for name in (*names[start:], *names[: start - 1])]
        pair = [port for port in (target, *others) if port in ports][:2]
    else:
        pair = [port.id for port in nodes[target.node].ports][:2]
    if len(pair) < 2:
        raise ConfigError(f"fault cable_swapped@{target}: expected two cables to swap, found one")
    one, other = (ports[name] for name in pair)
    for at, like in ((one, other), (other, one)):
        ports[at.id] = replace(at, switch=like.switch, switch_port=like.switch_port)
    return {
        name: replace(node, ports=tuple(ports[port.id] for port in node.ports))
        for name, node in nodes.items()
    }


def _moved(port: Port) -> Port:
    digits = "".join(letter for letter in port.switch_port if letter.isdigit()) or "0"
    kind = port.switch_port.rstrip("0123456789")
    return replace(port, switch_port=f"{kind}{int(digits[-3:]) + AWAY}")


FAULTS: tuple[Fault, ...] = (
    Fault(
        "cable_swapped",
        ("port", "node"),
        "the port and the same rail of the next node sit in each other's switch port; of a node, "
        "its first two ports",
        "two cables crossed in a bundle, or labels read from the wrong side",
        on_fabric=_swapped,
        spread="next",
    ),
    Fault(
        "cable_wrong_port",
        ("port",),
        "the port's cable ends in a switch port that the plan leaves free",
        "a cable one row off, or moved to save a broken cage",
        on_port=_moved,
    ),
    Fault(
        "cable_missing_lldp",
        ("port",),
        "no LLDP neighbour is heard on the port, whose link is up",
        "LLDP off on the switch port, taken by the card's firmware, or a cable to a passive device",
        on_port=lambda port: replace(port, has_neighbour=False),
        layers=(ETHERNET,),
    ),
)
