"""Groups of pairs that a test is run over, and why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_fabric.declare import Declaration
from pytest_fabric.inventory import Inventory
from pytest_fabric.pairs import groups
from pytest_fabric.pairs.groups import Choice, Ports
from pytest_fabric.results import PairGroup, Port

#: Of a single port too: pairs show what it can do with the memory of the host, and not of its GPU.
LEAST_WITH_GPU = 1


@dataclass(frozen=True)
class Missing:
    """A target that has no group, and why; it has no name where there are no groups at all."""

    name: str
    reason: str


def choose(chosen: Inventory, declaration: Declaration) -> Sequence[PairGroup | Missing]:
    """Return the groups of a declaration, and the targets that have none, each once."""
    if declaration.memory is not None:
        return _with_gpus(chosen)
    choice = _choice(ports_of(chosen, chosen.ports), declaration)
    return [*choice.groups, *(Missing(name, why) for name, why in choice.missing.items())]


def _with_gpus(chosen: Inventory) -> Sequence[PairGroup | Missing]:
    """Return the groups of nodes among ports with GPUs; nodes that have none are told by name."""
    having = [port for port in chosen.ports if chosen.cluster.rail(port).gpu_memory is not None]
    choice = groups.of_nodes(ports_of(chosen, having), LEAST_WITH_GPU)
    told = {port.node for port in having}
    without = dict.fromkeys(port.node for port in chosen.ports if port.node not in told)
    why = "declares no GPU (`gpu:` of a rail) with a `gpu_memory` of its profile"
    none = {node: f"{node} {why}" for node in without}
    missing = {**choice.missing, **none}
    return [*choice.groups, *(Missing(name, reason) for name, reason in missing.items())]


def _choice(ports: Ports, declaration: Declaration) -> Choice:
    if declaration.tool == "incast":
        return groups.incasts(ports, declaration.senders or 2)
    return groups.bisection(ports) if declaration.tool == "bisection" else groups.of_nodes(ports)


def ports_of(chosen: Inventory, used: Iterable[Port]) -> Ports:
    """Return the ports by those that can talk: of one rail, or of all, and of one link layer."""
    cluster = chosen.cluster
    rails: dict[str, list[Port]] = {}
    for port in used:
        layer = cluster.rail(port).profile.link.layer
        rail = "all rails" if cluster.pairs.cross_rail else port.rail
        rails.setdefault(f"{rail} {layer}", []).append(port)
    return Ports(rails, chosen.leaves, cluster.pairs.seed)
