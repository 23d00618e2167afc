"""The ring: each port is once client and once server, of its neighbours on the same rail."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.pairs.rails import by_rail
from pytest_fabric.results import Pair, Port


def ring(ports: Sequence[Port]) -> list[Pair]:
    """Return each port with the next one of its rail, the last with the first; two give two."""
    return [
        Pair(port, group[(place + 1) % len(group)])
        for group in by_rail(ports).values()
        if len(group) > 1
        for place, port in enumerate(group)
    ]
