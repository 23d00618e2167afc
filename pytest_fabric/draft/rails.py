"""Which ports become rails: by PCI address, under one name on all nodes that have it there."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.config import Network, fold
from pytest_fabric.draft.seen import SeenNode, SeenPort
from pytest_fabric.results import Port
from pytest_fabric.tools.printable import printable

#: The narrowest networks that are written where no route tells one: what sites usually take.
NARROWEST = {4: 24, 6: 64}

Selector = tuple[str, str]
Layout = tuple[Selector, ...]


@dataclass(frozen=True)
class Rails:
    """The rails of each node by name, how each is selected, and why other ports are none."""

    ports: Mapping[str, Mapping[str, SeenPort]]
    selectors: Mapping[Port, Selector]
    left_out: tuple[str, ...]


def find(every: Sequence[SeenNode]) -> Rails:
    """Return the rails of nodes. A port that is down is one where its peers are up.

    Virtual functions are none: they share the link of their card.
    """
    nodes = [replace(node, ports=_physical(node.ports)) for node in every]
    chosen = {node.name: _selectable(node) for node in nodes}
    good = {
        selector
        for ports in chosen.values()
        for selector, port in ports.items()
        if port.obstacle is None
    }
    layouts = {
        name: tuple(selector for selector in ports if selector in good)
        for name, ports in chosen.items()
    }
    names = _names(layouts)
    rails: dict[str, dict[str, SeenPort]] = {}
    selectors = {}
    for name, layout in layouts.items():
        named = dict(sorted((names[layout][selector], selector) for selector in layout))
        ordered = sorted(named, key=lambda rail: (len(rail), rail))
        rails[name] = {rail: chosen[name][named[rail]] for rail in ordered}
        selectors.update({Port(name, rail): named[rail] for rail in ordered})
    left_out = (*_bad(chosen, good), *_unnamed(nodes, chosen), *_virtual(every))
    return Rails(rails, selectors, left_out)


def _physical(ports: Iterable[SeenPort]) -> tuple[SeenPort, ...]:
    return tuple(port for port in ports if port.rdma.physical is None)


def _virtual(nodes: Iterable[SeenNode]) -> Iterable[str]:
    """Yield a line for each number of virtual functions that nodes have."""
    found: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        found[len(node.ports) - len(_physical(node.ports))].append(node.name)
    for number, names in found.items():
        if number:
            yield f"{number} virtual functions (SR-IOV) of cards, on {fold(names)}"


def _selectable(node: SeenNode) -> dict[Selector, SeenPort]:
    """Return the ports of a node that something tells apart, in the order of PCI addresses."""
    ordered = sorted(node.ports, key=lambda port: (port.rdma.pci or "~", port.rdma.device))
    keys = {
        id(port): [
            *([("pci", port.rdma.pci)] if port.rdma.pci else []),
            *([("netdev", port.rdma.netdevs[0])] if len(port.rdma.netdevs) == 1 else []),
            ("device", port.rdma.device),
        ]
        for port in ordered
    }
    count = Counter(key for found in keys.values() for key in found)
    chosen = {}
    for port in ordered:
        own = next((key for key in keys[id(port)] if count[key] == 1), None)
        if own is not None:
            chosen[own] = port
    return chosen


def _names(layouts: Mapping[str, Layout]) -> dict[Layout, dict[Selector, str]]:
    """Return the names of the rails of each layout; the most common one is counted first."""
    named: dict[Layout, dict[Selector, str]] = {}
    common: dict[Selector, str] = {}
    for layout, _ in Counter(layout for layout in layouts.values() if layout).most_common():
        names = {selector: common[selector] for selector in layout if selector in common}
        free = (name for name in map("rail{}".format, range(len(layout) * 2)))
        taken = set(names.values())
        for selector in layout:
            if selector not in names:
                names[selector] = next(name for name in free if name not in taken)
        common = common or names
        named[layout] = names
    return {**named, (): {}}


def _bad(chosen: Mapping[str, Mapping[Selector, SeenPort]], good: set[Selector]) -> Iterable[str]:
    """Yield a line for each port that is of no use on any node."""
    found: dict[str, list[str]] = defaultdict(list)
    for node, ports in chosen.items():
        for selector, port in ports.items():
            if selector not in good:
                said = f"{selector[0]} {selector[1]} ({printable(port.rdma.device)})"
                found[f"{said}: {port.obstacle}"].append(node)
    for line, names in found.items():
        yield f"{line}, on {fold(names)}"


def _unnamed(
    nodes: Iterable[SeenNode], chosen: Mapping[str, Mapping[Selector, SeenPort]]
) -> Iterable[str]:
    for node in nodes:
        known = {id(port) for port in chosen[node.name].values()}
        for port in node.ports:
            if id(port) not in known:
                device = f"{printable(port.rdma.device)} port {port.rdma.number}"
                yield f"{device}: shares PCI address and device with another, on {node.name}"


def networks(rails: Rails) -> dict[str, Network]:
    """Return the network of each rail: of its routes, or the narrowest around its addresses."""
    by_rail: dict[str, list[SeenPort]] = defaultdict(list)
    for ports in rails.ports.values():
        for rail, port in ports.items():
            by_rail[rail] += [port] if port.addresses else []
    found = {rail: _network(ports) for rail, ports in by_rail.items()}
    return {rail: network for rail, network in found.items() if network is not None}


def _network(ports: Sequence[SeenPort]) -> Network | None:
    """Return the network that all ports of a rail are in, by their first addresses."""
    if not ports:
        return None
    addresses = [ipaddress.ip_address(port.addresses[0]) for port in ports]
    if len({address.version for address in addresses}) > 1:
        return None
    routed = {
        network
        for port, address in zip(ports, addresses, strict=True)
        for network in port.networks
        if address in network
    }
    if len(routed) == 1 and all(address in next(iter(routed)) for address in addresses):
        return next(iter(routed))
    network = ipaddress.ip_network(f"{addresses[0]}/{NARROWEST[addresses[0].version]}", False)
    while not all(address in network for address in addresses) and network.prefixlen:
        network = network.supernet()
    return network if network.prefixlen else None
