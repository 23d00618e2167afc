"""Leaves and spines of a lab: how many links each leaf has to the spines, and how fast they are."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from pytest_fabric import config
from pytest_fabric.lab.model import Node, Port


def wired(nodes: Sequence[Node], cluster: config.Cluster) -> tuple[Node, ...]:
    """Return the nodes with the uplinks of their leaves.

    A leaf has as many uplinks as ports, divided by the declared oversubscription, each as fast as
    its fastest port and to a spine of its own. The only leaf of a fabric has none.
    """
    speeds: dict[str, list[float]] = defaultdict(list)
    for port in (port for node in nodes for port in node.ports):
        speeds[port.leaf].append(port.speed_bps)
    if len(speeds) < 2:
        return tuple(nodes)
    uplinks = {
        leaf: (max(ports),) * math.ceil(len(ports) / cluster.fabric.oversubscription)
        for leaf, ports in speeds.items()
    }
    taken: Counter[str] = Counter()

    def wire(port: Port) -> Port:
        place = taken[port.leaf]
        taken[port.leaf] += 1
        edge = replace(port.edge, uplinks=uplinks[port.leaf], routing=cluster.fabric.routing)
        return replace(port, edge=edge, place=place)

    return tuple(replace(node, ports=tuple(map(wire, node.ports))) for node in nodes)
