"""The choice of a strategy by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pytest_fabric.pairs.all import all_pairs
from pytest_fabric.pairs.cover import cover
from pytest_fabric.pairs.group import Group, by_rail
from pytest_fabric.pairs.list import listed_pairs
from pytest_fabric.pairs.permutation import permutation
from pytest_fabric.pairs.random import random_pairs
from pytest_fabric.pairs.ring import ring
from pytest_fabric.results import Pair, Port

#: Strategies that choose within a group of ports; `list` takes its pairs from the inventory.
STRATEGIES: Final[Mapping[str, Callable[[Group], list[Pair]]]] = {
    "cover": cover,
    "ring": ring,
    "all": all_pairs,
    "permutation": permutation,
    "random": random_pairs,
}


def select(
    strategy: str,
    ports: Sequence[Port],
    *,
    leaves: Mapping[Port, str] | None = None,
    seed: int = 1,
    peers: int = 4,
    cross_rail: bool = False,
    listed: Sequence[tuple[Port, Port]] = (),
) -> list[Pair]:
    """Return the pairs that a strategy chooses, each once; `leaves` holds the known ones.

    Raises ConfigError where a strategy needs leaves that are not declared.
    """
    if strategy == "list":
        return listed_pairs(ports, listed)
    rails = by_rail(ports)
    if cross_rail:
        rails = {"all rails": [port for group in rails.values() for port in group]}
    groups = [Group(name, tuple(group), leaves or {}, seed, peers) for name, group in rails.items()]
    return [pair for group in groups for pair in STRATEGIES[strategy](group)]
