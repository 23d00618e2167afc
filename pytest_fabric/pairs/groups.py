"""Which pairs are measured at once: those of a node, of an incast, and across the middle.

Every choice is deterministic: it depends on the ports in their order, on what is known of their
leaves, and on the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from pytest_fabric.pairs.group import Group
from pytest_fabric.pairs.permutation import permutation
from pytest_fabric.results import Pair, PairGroup, Port

#: The target of a group that loads everything.
FABRIC = "fabric"

SINGLE = "has a single port: pairs show what it can do"


@dataclass(frozen=True)
class Choice:
    """The groups that there are, and why a target has none; `""` stands for all of them."""

    groups: tuple[PairGroup, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ports:
    """Ports by those that can talk to each other (a rail, by its name), and their leaves."""

    rails: Mapping[str, Sequence[Port]]
    leaves: Mapping[Port, str]
    seed: int = 1

    def nodes(self) -> dict[str, list[tuple[Port, Sequence[Port]]]]:
        """Return the ports of each node, each with its rail."""
        found: dict[str, list[tuple[Port, Sequence[Port]]]] = {}
        for rail in self.rails.values():
            for port in rail:
                found.setdefault(port.node, []).append((port, rail))
        return found


def of_nodes(ports: Ports, least: int = 2) -> Choice:
    """Return for each node its ports, each with a port of its rail on another node.

    A partner has the same leaf where that can be, and each is of another node where there are
    enough, so that only the node itself has all of its ports busy. Once more it has other partners
    where its rails have them. A node with fewer than the `least` number of ports has none.
    """
    groups: list[PairGroup] = []
    missing: dict[str, str] = {}
    for node, own in ports.nodes().items():
        pairs = _partners(ports, own, ())
        met = {pair.client for pair in pairs}
        lonely = [port.rail for port, _ in own if port not in met]
        if len(own) < least:
            missing[node] = f"{node} {SINGLE}"
        elif lonely:
            missing[node] = f"{node}: no other node has a port on {', '.join(lonely)}"
        else:
            others = _partners(ports, own, [pair.server for pair in pairs])
            groups.append(PairGroup(node, tuple(pairs), tuple(others)))
    if missing and all(reason.endswith(SINGLE) for reason in missing.values()) and not groups:
        return Choice((), {"": f"every node {SINGLE}"})
    return Choice(tuple(groups), missing)


def _partners(
    ports: Ports, own: Sequence[tuple[Port, Sequence[Port]]], known: Sequence[Port]
) -> list[Pair]:
    """Return the partners of a node's ports; those that are known last."""
    nodes: set[str] = set()
    pairs: list[Pair] = []
    for port, rail in own:
        taken = {pair.server for pair in pairs}
        others = [one for one in _after(rail, port) if one.node != port.node and one not in taken]
        if others:
            # The first of the best: those after the port in its rail come first.
            best = min(
                others, key=lambda it: (it in known, it.node in nodes, _is_far(ports, port, it))
            )
            nodes.add(best.node)
            pairs.append(Pair(port, best))
    return pairs


def _after(rail: Sequence[Port], port: Port) -> list[Port]:
    """Return the other ports of a rail, those after a port first."""
    place = rail.index(port)
    return [*rail[place + 1 :], *rail[:place]]


def _is_far(ports: Ports, one: Port, other: Port) -> bool:
    return ports.leaves.get(one) != ports.leaves.get(other)


def incasts(ports: Ports, senders: int) -> Choice:
    """Return for each leaf of each rail one receiver, drawn by the seed, and so many senders.

    Senders are of the same rail, each of another node, and spread over leaves where these are
    known.
    """
    groups = []
    most = 0
    for name, rail in ports.rails.items():
        leaves: dict[str | None, list[Port]] = {}
        for port in rail:
            leaves.setdefault(ports.leaves.get(port), []).append(port)
        for leaf, members in leaves.items():
            receiver = Random(f"{ports.seed}/incast/{name}/{leaf}").choice(members)
            found = _senders(ports, rail, receiver)
            most = max(most, len(found))
            if len(found) >= senders:
                pairs = tuple(Pair(sender, receiver) for sender in found[:senders])
                groups.append(PairGroup(str(receiver), pairs))
    if groups:
        return Choice(tuple(groups))
    needed = f"an incast {senders}:1 needs {senders + 1} nodes on a rail"
    return Choice((), {"": f"{needed}, found at most {most + 1}"})


def _senders(ports: Ports, rail: Sequence[Port], receiver: Port) -> list[Port]:
    """Return who can send to a receiver, the leaves in turn, one port of each node."""
    queues: dict[str | None, list[Port]] = {}
    nodes = {receiver.node}
    for port in _after(rail, receiver):
        if port.node not in nodes:
            nodes.add(port.node)
            queues.setdefault(ports.leaves.get(port), []).append(port)
    found = []
    while queues:
        for leaf in list(queues):
            found.append(queues[leaf].pop(0))
            if not queues[leaf]:
                del queues[leaf]
    return found


def bisection(ports: Ports) -> Choice:
    """Return all rails at once, the ports of leaf i with those of leaf i + L/2.

    A rail that has a single leaf has no middle, and is left out where others have one.
    """
    pairs: list[Pair] = []
    for name, rail in ports.rails.items():
        unknown = next((port for port in rail if port not in ports.leaves), None)
        if unknown is not None:
            why = f"that of {unknown} is not known: say `leaf` in its rail"
            return Choice((), {"": f"a bisection goes from leaf to leaf, and {why}"})
        if len({ports.leaves[port] for port in rail}) > 1:
            pairs.extend(permutation(Group(name, tuple(rail), ports.leaves, ports.seed)))
    if len(pairs) > 1:
        return Choice((PairGroup(FABRIC, tuple(pairs)),))
    return Choice((), {"": "a bisection needs a rail on two leaves or more, found none"})
