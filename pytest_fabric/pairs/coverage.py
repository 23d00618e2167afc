"""What pairs reach: the ports they use, and the pairs of leaves that they cross."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from pytest_fabric.pairs.group import by_rail
from pytest_fabric.results import Pair, Port


@dataclass(frozen=True)
class PortCoverage:
    """The ports that pairs use and those that they leave out, in the order of the inventory."""

    covered: tuple[Port, ...]
    missed: tuple[Port, ...]


@dataclass(frozen=True)
class LeafPairs:
    """The pairs of leaves that ports can cross: those that are crossed, and the others."""

    covered: tuple[tuple[str, str], ...]
    missed: tuple[tuple[str, str], ...]

    @property
    def count(self) -> int:
        """Return how many pairs of leaves there are to cross."""
        return len(self.covered) + len(self.missed)


def port_coverage(pairs: Iterable[Pair], ports: Iterable[Port]) -> PortCoverage:
    """Return which ports are client or server of a pair."""
    used = {port for pair in pairs for port in (pair.client, pair.server)}
    ports = tuple(ports)
    return PortCoverage(
        covered=tuple(port for port in ports if port in used),
        missed=tuple(port for port in ports if port not in used),
    )


def leaf_pairs(
    pairs: Iterable[Pair], leaves: Mapping[Port, str], *, cross_rail: bool = False
) -> LeafPairs:
    """Return which leaves meet, either way round, of those that ports of different nodes can join.

    Without `cross_rail` only ports of one rail are said to reach each other.
    """
    crossed = {
        _unordered(leaves[pair.client], leaves[pair.server])
        for pair in pairs
        if pair.client in leaves and pair.server in leaves
    }
    groups = [list(leaves)] if cross_rail else by_rail(leaves).values()
    there = sorted({ends for group in groups for ends in _reachable(group, leaves)})
    return LeafPairs(
        covered=tuple(ends for ends in there if ends in crossed),
        missed=tuple(ends for ends in there if ends not in crossed),
    )


def _reachable(ports: Iterable[Port], leaves: Mapping[Port, str]) -> set[tuple[str, str]]:
    nodes: dict[str, set[str]] = {}
    for port in ports:
        nodes.setdefault(leaves[port], set()).add(port.node)
    return {
        _unordered(one, other)
        for one, other in combinations(nodes, 2)
        if len(nodes[one] | nodes[other]) > 1
    }


def _unordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)
