"""Who is whose peer, while a strategy is choosing; peers measure each other in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_fabric.results import Pair, Port


class Mesh:
    """Ports and their peers; two ports of a node are none, and no two are twice."""

    def __init__(self, ports: Iterable[Port]) -> None:
        self.peers: dict[Port, dict[Port, None]] = {port: {} for port in ports}

    def count(self, port: Port) -> int:
        """Return how many peers a port has."""
        return len(self.peers[port])

    def may_join(self, one: Port, other: Port) -> bool:
        """Tell whether two ports may become peers."""
        return one.node != other.node and other not in self.peers[one]

    def join(self, one: Port, other: Port) -> None:
        """Make two ports peers."""
        self.peers[one][other] = self.peers[other][one] = None

    def part(self, one: Port, other: Port) -> None:
        """Undo a join."""
        del self.peers[one][other], self.peers[other][one]

    def fill(
        self, ports: Sequence[Port], wanted: int, among: Callable[[Port], Iterable[Port]]
    ) -> None:
        """Give each port the wanted number of peers, of those who have the fewest themselves."""
        for port in sorted(ports, key=self.count):
            while self.count(port) < wanted:
                free = [other for other in among(port) if self.may_join(port, other)]
                if not free:
                    break
                self.join(port, min(free, key=self.count))

    def pairs(self) -> list[Pair]:
        """Return both directions of all peers, clients in the order of the ports."""
        place = {port: number for number, port in enumerate(self.peers)}
        return [
            Pair(client, server)
            for client, peers in self.peers.items()
            for server in sorted(peers, key=place.__getitem__)
        ]
