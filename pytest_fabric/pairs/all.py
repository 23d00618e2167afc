"""The full mesh: every ordered pair of ports of the same rail."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.pairs.rails import by_rail
from pytest_fabric.results import Pair, Port


def all_pairs(ports: Sequence[Port]) -> list[Pair]:
    """Return every ordered pair of ports that share a rail."""
    return [
        Pair(client, server)
        for group in by_rail(ports).values()
        for client in group
        for server in group
        if client != server
    ]
