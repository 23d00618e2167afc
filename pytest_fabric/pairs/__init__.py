"""Which pairs of ports are measured: one strategy per file, all pure and deterministic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fabric.pairs.all import all_pairs
from pytest_fabric.pairs.ring import ring
from pytest_fabric.results import Pair, Port

#: Strategies that need nothing but the ports; `list` takes its pairs from the inventory.
STRATEGIES: dict[str, Callable[[Sequence[Port]], list[Pair]]] = {"all": all_pairs, "ring": ring}

__all__ = ["STRATEGIES", "all_pairs", "ring", "select"]


def select(
    strategy: str, ports: Sequence[Port], listed: Sequence[tuple[Port, Port]] = ()
) -> list[Pair]:
    """Return the pairs that a strategy chooses, each once; a listed pair needs both its ports."""
    if strategy == "list":
        known = set(ports)
        pairs = [Pair(*ends) for ends in listed if known.issuperset(ends)]
        return list(dict.fromkeys(pairs))
    return STRATEGIES[strategy](ports)
