"""The full mesh: every ordered pair of ports."""

from __future__ import annotations

from pytest_fabric.pairs.group import Group
from pytest_fabric.results import Pair


def all_pairs(group: Group) -> list[Pair]:
    """Return every ordered pair of ports of different nodes."""
    return [
        Pair(client, server)
        for client in group.ports
        for server in group.ports
        if client.node != server.node
    ]
