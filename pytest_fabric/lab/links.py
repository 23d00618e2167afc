"""Which links the frames of a flow take, and what those carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from pytest_fabric.lab import physics
from pytest_fabric.lab.flow import Flow
from pytest_fabric.lab.leaf import SPINE, Leaf
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.sharing import Stream


class Link(NamedTuple):
    """One direction of a link, by what it is and whose.

    `flow` is what a sender does by itself, `fetch` and `store` are PCIe of a card, `fetch slot` and
    `store slot` of a slot that cards share, `out` a port's way to its leaf, `up` that from a leaf
    to a spine, `down` and `in` the ways back.
    """

    kind: str
    owner: str
    number: int = 0


#: The number of all links of a leaf to its spines, where frames go by any of them.
ALL = -1

#: Where a sender limits itself, and no switch notices.
OWN = frozenset({"flow", "fetch", "fetch slot", "out"})


@dataclass(frozen=True)
class Route:
    """The ways of a flow: streams that share its queue pairs, in bits per second on the wire.

    `capacities` are those of all their links; `leaves` says which switch sends into a link, for
    links that have one.
    """

    streams: tuple[Stream[Link], ...]
    capacities: Mapping[Link, float]
    leaves: Mapping[Link, Leaf]


def route(flow: Flow) -> Route:
    """Return the route of a flow."""
    sender, receiver = flow.sender, flow.receiver
    payload = flow.size / physics.wire_bytes(flow.size, flow.mtu, flow.sender)
    capacities: dict[Link, float] = {Link("flow", "", id(flow)): flow.wire_bps}
    ends: list[tuple[Link, float]] = [(Link("flow", "", id(flow)), 1.0)]
    for kind, port in (("fetch", sender), ("store", receiver)):
        for link in _slots(kind, port):
            capacities[link] = physics.pcie_bps(port)
            ends.append((link, payload))
    into = Link("in", str(receiver.id))
    capacities[out(flow)], capacities[into] = _line(sender), _line(receiver) * receiver.takes
    ends += [(out(flow), 1.0), (into, 1.0)]
    leaves = {into: receiver.edge}
    ways = _ways(flow, capacities, leaves)
    streams = tuple(Stream((*ends, *way), weight) for way, weight in ways)
    return Route(streams, capacities, leaves)


def out(flow: Flow) -> Link:
    """Return the link of a flow's sender to its leaf."""
    return Link("out", str(flow.sender.id))


def _ways(
    flow: Flow, capacities: dict[Link, float], leaves: dict[Link, Leaf]
) -> list[tuple[list[tuple[Link, float]], float]]:
    """Return the ways between the leaves of a flow, each with the queue pairs that take it."""
    sender, receiver = flow.sender, flow.receiver
    everything = float(len(flow.hashes))
    if sender.leaf == receiver.leaf or not sender.edge.uplinks or not receiver.edge.uplinks:
        return [([], everything)]
    sides = (("up", sender, sender.edge), ("down", receiver, SPINE))

    def use(
        kind: str, port: Port, leaf: Leaf, spine: int | None, part: float
    ) -> tuple[Link, float]:
        """Return the use of a leaf's link to a spine, or of all of them as if they were one."""
        speeds = port.edge.uplinks
        number = ALL if spine is None else spine % len(speeds)
        link = Link(kind, port.leaf, number)
        free = physics.CLEAN * (1 - port.edge.busy)
        capacities[link] = (sum(speeds) if spine is None else speeds[number]) * free
        leaves[link] = leaf
        return link, part

    spines = len(sender.edge.uplinks)
    if sender.edge.routing == "adaptive":
        return [([use(*side, None, 1.0) for side in sides], everything)]
    if sender.edge.routing == "spray":
        parts: dict[Link, float] = {}
        for spine, side in product(range(spines), sides):
            link, part = use(*side, spine, 1 / spines)
            parts[link] = parts.get(link, 0.0) + part
        return [(list(parts.items()), everything)]
    chosen = Counter(_spine(flow, number) % spines for number in flow.hashes)
    return [
        ([use(*side, spine, 1.0) for side in sides], float(weight))
        for spine, weight in chosen.items()
    ]


def _spine(flow: Flow, number: int) -> int:
    """Return what chooses the spine: the flow's hash; on InfiniBand the destination, as routed."""
    return number if flow.sender.is_ethernet else flow.receiver.place


def _slots(kind: str, port: Port) -> list[Link]:
    own = [Link(kind, str(port.id))]
    return [*own, Link(f"{kind} slot", port.id.node)] if port.shares_slot else own


def _line(port: Port) -> float:
    """Return what a port's link carries in one direction, beside the traffic of others."""
    return port.speed_bps * physics.CLEAN * (1 - port.foreign)
