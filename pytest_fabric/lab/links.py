"""Which links the frames of a flow take, and what those carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pytest_fabric.lab import physics
from pytest_fabric.lab.flow import Flow
from pytest_fabric.lab.leaf import Leaf
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.sharing import Stream


class Link(NamedTuple):
    """One direction of a link, by what it is and whose.

    `flow` is what a sender does by itself, `fetch` and `store` are PCIe of a card, `fetch slot` and
    `store slot` of a slot that cards share, `out` a port's way to its leaf, `in` the way back.
    """

    kind: str
    owner: str
    number: int = 0


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
    """Return the route of a bulk flow."""
    sender, receiver = flow.sender, flow.receiver
    payload = flow.size / physics.wire_bytes(flow.size, flow.mtu, flow.layer)
    capacities: dict[Link, float] = {Link("flow", "", id(flow)): flow.wire_bps}
    uses: list[tuple[Link, float]] = [(Link("flow", "", id(flow)), 1.0)]
    for kind, port in (("fetch", sender), ("store", receiver)):
        for link in _slots(kind, port):
            capacities[link] = physics.pcie_bps(port)
            uses.append((link, payload))
    out, into = Link("out", str(sender.id)), Link("in", str(receiver.id))
    capacities[out], capacities[into] = _line(sender), _line(receiver)
    uses += [(out, 1.0), (into, 1.0)]
    weight = float(len(flow.hashes))
    return Route((Stream(tuple(uses), weight),), capacities, {into: receiver.edge})


def _slots(kind: str, port: Port) -> list[Link]:
    own = [Link(kind, str(port.id))]
    return [*own, Link(f"{kind} slot", port.id.node)] if port.shares_slot else own


def _line(port: Port) -> float:
    """Return what a port's link carries in one direction, beside the traffic of others."""
    return port.speed_bps * physics.CLEAN * (1 - port.foreign)
