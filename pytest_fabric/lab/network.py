"""The network that perftest shakes hands over: who listens where, and what names mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Process


class Network:
    """Listening processes by node and TCP port; each takes one connection, as perftest's do."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._hosts = _hosts(nodes)
        self._listening: dict[tuple[str, int], Process] = {}

    def rename(self, nodes: Sequence[Node]) -> None:
        """Let names and addresses mean what they mean among nodes that have changed."""
        self._hosts = _hosts(nodes)

    def resolve(self, word: str) -> str | None:
        """Return the node that a name or address means; None when nothing is known of it."""
        return self._hosts.get(word)

    def is_listening(self, node: str, port: int) -> bool:
        """Return whether something listens on a node's TCP port."""
        return (node, port) in self._listening

    def listen(self, node: str, port: int, server: Process) -> bool:
        """Open a port; False when it is open already."""
        return self._listening.setdefault((node, port), server) is server

    def connect(self, node: str, port: int) -> Process | None:
        """Return who listens there, and close the port; None when nobody does."""
        return self._listening.pop((node, port), None)

    def close(self, node: str, port: int, server: Process) -> None:
        """Close a port if this server still listens there."""
        if self._listening.get((node, port)) is server:
            del self._listening[node, port]


def _hosts(nodes: Sequence[Node]) -> dict[str, str]:
    """Return address -> node: names, inventory addresses that are unique, addresses of ports."""
    shared = Counter(node.address for node in nodes)
    hosts = {node.address: node.name for node in nodes if shared[node.address] == 1}
    for node in nodes:
        hosts[node.name] = node.name
        hosts |= {str(port.address): node.name for port in node.ports if port.state == "ACTIVE"}
    return hosts
