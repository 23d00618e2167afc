"""Ports that may talk to each other: of one rail, or of all where the fabric joins its rails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from pytest_fabric.results import Pair, Port


@dataclass(frozen=True)
class Group:
    """The ports among which a strategy chooses, and what it may know; two of a node never pair."""

    name: str
    ports: tuple[Port, ...]
    leaves: Mapping[Port, str] = field(default_factory=dict)
    seed: int = 1
    peers: int = 4

    def random(self) -> Random:
        """Return numbers that depend on the seed and the group alone, the same everywhere."""
        return Random(f"{self.seed}/{self.name}")

    def by_leaf(self) -> dict[str | None, list[Port]]:
        """Return the ports of each leaf; the ports whose leaf is not known come as one, None."""
        found: dict[str | None, list[Port]] = {}
        for port in self.ports:
            found.setdefault(self.leaves.get(port), []).append(port)
        return found


def by_rail(ports: Iterable[Port]) -> dict[str, list[Port]]:
    """Return the ports of each rail, rails and ports in the order of the inventory."""
    rails: dict[str, list[Port]] = {}
    for port in ports:
        rails.setdefault(port.rail, []).append(port)
    return rails


def once(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs in their order, each once."""
    return list(dict.fromkeys(pairs))
