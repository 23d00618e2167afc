"""The faults that the lab can have: what each changes, where it applies, and what causes it.

A fault turns a healthy node into a faulty one; everything else follows from the model.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults import (
    bond,
    counters,
    fabric,
    host,
    link,
    path,
    qos,
    reach,
    slow,
    subnet,
    switch,
    tcp,
    tools,
    traffic,
    wide,
    wiring,
)
from pytest_fabric.lab.faults.fault import Fault as Fault
from pytest_fabric.lab.model import ETHERNET, INFINIBAND, UNKNOWN, Node, Port
from pytest_fabric.results import Port as PortId

LAYERS = (ETHERNET, INFINIBAND)

CATALOGUE = {
    fault.name: fault
    for module in (
        *(link, slow, bond, path, traffic, counters, qos, host, wiring, switch, subnet, tools),
        *(reach, tcp, fabric),
    )
    for fault in module.FAULTS
}


#: More names than these are not listed: the nearest one is told.
LISTED = 20


def inject(
    nodes: Sequence[Node], faults: Iterable[str], known: Mapping[str, Fault] = CATALOGUE
) -> tuple[Node, ...]:
    """Return the nodes with every fault `NAME@TARGET` applied.

    TARGET is a node, a port `NODE:RAIL`, a leaf, an uplink `LEAF/uplinkN` or a rail.
    Raises ConfigError on an unknown name or target.
    """
    by_name = {node.name: node for node in nodes}
    for text in faults:
        name = text.partition("@")[0]
        if name in known and "@" in text and wide.WIDE & set(known[name].places):
            by_name = wide.spread(known[name], text, by_name, _choice)
            continue
        fault, target = _parse(text, by_name, known)
        by_name[target.node] = _apply(fault, by_name[target.node], target.rail)
        if fault.on_fabric is not None:
            by_name = dict(fault.on_fabric(by_name, target))
    return tuple(by_name.values())


def _parse(text: str, nodes: dict[str, Node], known: Mapping[str, Fault]) -> tuple[Fault, PortId]:
    name, at, target = text.partition("@")
    if not at:
        raise ConfigError(f"fault {text!r}: expected NAME@TARGET, such as link_speed@node:rail")
    if name not in known:
        raise ConfigError(f"fault {text!r}: expected {_choice(name, known)}, got {name!r}")
    fault = known[name]
    node, colon, rail = target.partition(":")
    if node not in nodes:
        raise ConfigError(f"fault {text!r}: expected {_choice(node, nodes)}, got {node!r}")
    place = "port" if colon else "node"
    if place not in fault.places:
        example = node if place == "port" else f"{node}:{nodes[node].ports[0].id.rail}"
        wanted = f"a {fault.places[0]}, such as {name}@{example}"
        raise ConfigError(f"fault {text!r}: expected {wanted}, got {target!r}")
    ports = {port.id.rail: port for port in nodes[node].ports if rail in ("", port.id.rail)}
    if not ports:
        rails = [port.id.rail for port in nodes[node].ports]
        raise ConfigError(f"fault {text!r}: expected {_choice(rail, rails)}, got {rail!r}")
    wrong = next((port for port in ports.values() if not _has_layer(fault, port)), None)
    if wrong is not None:
        raise ConfigError(
            f"fault {text!r}: expected a port on {fault.layers[0]}, {wrong.id} is on {wrong.layer}"
        )
    alone = next((port for port in ports.values() if fault.of_bonds and not port.is_bond), None)
    if alone is not None:
        raise ConfigError(
            f"fault {text!r}: expected a port of several `netdevs`, {alone.id} has only "
            f"{alone.netdevs[0]}"
        )
    return fault, PortId(node, rail)


def _has_layer(fault: Fault, port: Port) -> bool:
    """Return whether a port can have a fault; what is of neither layer has what both can have."""
    return port.layer in fault.layers or (port.layer == UNKNOWN and set(LAYERS) <= {*fault.layers})


def _choice(got: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(got, names, n=1)
    if not near and len(names) > LISTED:
        near = difflib.get_close_matches(got, names, n=1, cutoff=0.0)
    return near[0] if near else f"one of {', '.join(names)}"


def _apply(fault: Fault, node: Node, rail: str) -> Node:
    if fault.on_node is not None:
        node = fault.on_node(node)
    if fault.on_port is None:
        return node
    change = fault.on_port
    ports = (change(port) if rail in ("", port.id.rail) else port for port in node.ports)
    return replace(node, ports=tuple(ports))
