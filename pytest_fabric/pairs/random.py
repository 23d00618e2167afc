"""Random peers: another sample of the full mesh with each seed."""

from __future__ import annotations

from pytest_fabric.pairs.group import Group
from pytest_fabric.results import Pair


def random_pairs(group: Group) -> list[Pair]:
    """Return each port as client of `peers` others, or of all others where there are fewer."""
    random = group.random()
    most = max((len(ports) for ports in _by_node(group).values()), default=0)
    size = min(group.peers + most, len(group.ports))  # enough, whatever falls on the port's node
    pairs: list[Pair] = []
    for client in group.ports:
        drawn = random.sample(group.ports, size)
        others = [server for server in drawn if server.node != client.node]
        pairs += [Pair(client, server) for server in others[: group.peers]]
    return pairs


def _by_node(group: Group) -> dict[str, list[str]]:
    nodes: dict[str, list[str]] = {}
    for port in group.ports:
        nodes.setdefault(port.node, []).append(port.rail)
    return nodes
