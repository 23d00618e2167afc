"""Where the lab's cables end: as the plan says, else port by port on the leaf of each rail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from pytest_fabric import config
from pytest_fabric.lab.model import Node, Port


def cabled(nodes: Sequence[Node], cluster: config.Cluster) -> tuple[Node, ...]:
    """Return the nodes with each port cabled to a switch port of its own."""
    taken: dict[str, set[str]] = defaultdict(set)
    for planned in cluster.cables.values():
        taken[planned.switch].add(planned.switch_port)

    def cable(port: Port) -> Port:
        known = cluster.cable(port.id)
        if known is not None:
            return replace(port, switch=known.switch, switch_port=known.switch_port)
        name = free(port, taken[port.leaf])
        taken[port.leaf].add(name)
        return replace(port, switch=port.leaf, switch_port=name)

    return tuple(replace(node, ports=tuple(cable(port) for port in node.ports)) for node in nodes)


def free(port: Port, taken: set[str]) -> str:
    """Return the first port of a switch that is not taken: `swp3`, on InfiniBand `3`."""
    kind = "swp" if port.is_ethernet else ""
    return next(name for number in range(1, 10_000) if (name := f"{kind}{number}") not in taken)
