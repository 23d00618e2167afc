"""The network that perftest shakes hands over: who listens where, and what names mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Process

#: What processes of users may listen on (ip(7), ip_unprivileged_port_start).
USER_PORTS = range(1024, 65536)

#: Where a server of perftest listens that was given no port.
LEFT_PORT = 18515


class Network:
    """Listening processes by node and TCP port; each takes one connection, as perftest's do."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._hosts, self._taken = _hosts(nodes), _taken(nodes)
        self._listening: dict[tuple[str, int], Process] = {}

    def rename(self, nodes: Sequence[Node]) -> None:
        """Let names and addresses mean what they mean among nodes that have changed."""
        self._hosts, self._taken = _hosts(nodes), _taken(nodes)

    def resolve(self, word: str) -> str | None:
        """Return the node that a name or address means; None when nothing is known of it."""
        return self._hosts.get(word)

    def is_listening(self, node: str, port: int) -> bool:
        """Return whether something listens on a node's TCP port."""
        return (node, port) in self._listening or port in self._taken.get(node, ())

    def listen(self, node: str, port: int, server: Process) -> bool:
        """Open a port; False when it is open already."""
        if port in self._taken.get(node, ()):
            return False
        return self._listening.setdefault((node, port), server) is server

    def connect(self, node: str, port: int) -> Process | None:
        """Return who listens there, and close the port; None when nobody does."""
        return self._listening.pop((node, port), None)

    def close(self, node: str, port: int, server: Process) -> None:
        """Close a port if this server still listens there."""
        if self._listening.get((node, port)) is server:
            del self._listening[node, port]


def _taken(nodes: Sequence[Node]) -> dict[str, range]:
    """Return the TCP ports that somebody else listens on, by node."""
    found = {node.name: USER_PORTS for node in nodes if node.ports_taken}
    left = (node for node in nodes if any(port.quirks.left for port in node.ports))
    return {**{node.name: range(LEFT_PORT, LEFT_PORT + 1) for node in left}, **found}


def _hosts(nodes: Sequence[Node]) -> dict[str, str]:
    """Return address -> node: names, inventory addresses that are unique, addresses of ports."""
    shared = Counter(node.address for node in nodes)
    hosts = {node.address: node.name for node in nodes if shared[node.address] == 1}
    for node in nodes:
        hosts[node.name] = node.name
        hosts |= {str(port.address): node.name for port in node.ports if port.state == "ACTIVE"}
    return hosts
