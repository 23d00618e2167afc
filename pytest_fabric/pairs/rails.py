"""Ports by rail: on a rail-only fabric a port reaches the ports of its own rail and no others."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.results import Port


def by_rail(ports: Sequence[Port]) -> dict[str, list[Port]]:
    """Return the ports of each rail, rails and ports in the order of the inventory."""
    rails: dict[str, list[Port]] = {}
    for port in ports:
        rails.setdefault(port.rail, []).append(port)
    return rails
