"""Groups of pairs that a test is run over, and why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.declare import Declaration
from pytest_fabric.inventory import Inventory
from pytest_fabric.pairs import groups
from pytest_fabric.pairs.groups import Choice, Ports
from pytest_fabric.results import PairGroup, Port


@dataclass(frozen=True)
class Missing:
    """A target that has no group, and why; it has no name where there are no groups at all."""

    name: str
    reason: str


def choose(chosen: Inventory, declaration: Declaration) -> Sequence[PairGroup | Missing]:
    """Return the groups of a declaration, and the targets that have none, each once."""
    choice = _choice(_ports(chosen), declaration)
    return [*choice.groups, *(Missing(name, why) for name, why in choice.missing.items())]


def _choice(ports: Ports, declaration: Declaration) -> Choice:
    if declaration.tool == "incast":
        return groups.incasts(ports, declaration.senders or 2)
    return groups.bisection(ports) if declaration.tool == "bisection" else groups.of_nodes(ports)


def _ports(chosen: Inventory) -> Ports:
    """Return the ports by those that can talk: of one rail, or of all, and of one link layer."""
    cluster = chosen.cluster
    rails: dict[str, list[Port]] = {}
    for port in chosen.ports:
        layer = cluster.rail(port).profile.link.layer
        rail = "all rails" if cluster.pairs.cross_rail else port.rail
        rails.setdefault(f"{rail} {layer}", []).append(port)
    return Ports(rails, chosen.leaves, cluster.pairs.seed)
