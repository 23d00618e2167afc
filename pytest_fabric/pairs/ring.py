"""The ring: each port is once client and once server, of its neighbours in the inventory."""

from __future__ import annotations

from pytest_fabric.pairs.group import Group, once
from pytest_fabric.results import Pair


def ring(group: Group) -> list[Pair]:
    """Return each port with the next one, the last with the first; two give two.

    Across rails two neighbours may be of one node. They make no pair, and a port that this leaves
    alone is paired with the first port of another node.
    """
    ports = group.ports
    neighbours = zip(ports, ports[1:] + ports[:1], strict=True)
    pairs = [Pair(client, server) for client, server in neighbours if client.node != server.node]
    met = {port for pair in pairs for port in (pair.client, pair.server)}
    for port in ports:
        other = next((other for other in ports if other.node != port.node), None)
        if port not in met and other is not None:
            pairs += [Pair(port, other), Pair(other, port)]
    return once(pairs)
