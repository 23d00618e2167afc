"""What a fault of the catalogue is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_fabric.lab.model import ETHERNET, INFINIBAND, Node, Port
from pytest_fabric.results import Port as PortId


@dataclass(frozen=True)
class Fault:
    """A fault of the catalogue; `places` says what can have it: node, port, leaf, uplink or rail.

    `on_port` is applied to the port, or to every port of the node, leaf or rail; `on_uplink` to all
    ports of the leaf, with the number of its uplink; `on_node` to the node,
    `on_fabric` to all nodes: what is between two of them changes both. `spread` says how far its
    effect is seen: at its `place`, on the whole `node`, at the `next` place too, on all of the
    `leaf`, or on the whole `fabric`. With `of_bonds` only ports of several netdevs can have it.
    """

    name: str
    places: tuple[str, ...]
    text: str
    cause: str
    on_port: Callable[[Port], Port] | None = None
    on_node: Callable[[Node], Node] | None = None
    layers: tuple[str, ...] = (ETHERNET, INFINIBAND)
    on_fabric: Callable[[Mapping[str, Node], PortId], Mapping[str, Node]] | None = None
    spread: str = "place"
    on_uplink: Callable[[Port, int], Port] | None = None
    of_bonds: bool = False
