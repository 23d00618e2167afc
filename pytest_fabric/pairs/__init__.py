"""Which pairs of ports are measured, and in what order: all pure and deterministic.

A strategy is a file; `select` chooses one by name, and `rounds` finds which pairs do not disturb
each other.
"""

from __future__ import annotations

from pytest_fabric.pairs.coverage import LeafPairs, leaf_pairs, port_coverage
from pytest_fabric.pairs.order import order, rounds
from pytest_fabric.pairs.select import STRATEGIES, select

__all__ = [
    "STRATEGIES",
    "LeafPairs",
    "leaf_pairs",
    "order",
    "port_coverage",
    "rounds",
    "select",
]
