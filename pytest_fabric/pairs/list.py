"""The list: the pairs that the inventory writes down, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.pairs.group import once
from pytest_fabric.results import Pair, Port


def listed_pairs(ports: Sequence[Port], listed: Sequence[tuple[Port, Port]]) -> list[Pair]:
    """Return the listed pairs of which both ports are there, each once, in the order written."""
    known = set(ports)
    return once(Pair(*ends) for ends in listed if known.issuperset(ends))
