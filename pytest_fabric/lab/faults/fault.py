"""What a fault of the catalogue is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_fabric.lab.model import ETHERNET, INFINIBAND, Node, Port


@dataclass(frozen=True)
class Fault:
    """A fault of the catalogue; `places` says whether a node, a port or both can have it.

    `on_port` is applied to the port, or to every port of the node; `on_node` to the node.
    """

    name: str
    places: tuple[str, ...]
    text: str
    cause: str
    on_port: Callable[[Port], Port] | None = None
    on_node: Callable[[Node], Node] | None = None
    layers: tuple[str, ...] = (ETHERNET, INFINIBAND)
