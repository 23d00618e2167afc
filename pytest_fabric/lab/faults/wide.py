"""Where a fault is that is on many ports at once: a leaf, one of its uplinks, a rail."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Node, Port

WIDE = frozenset({"leaf", "uplink", "rail"})


def spread(
    fault: Fault,
    text: str,
    nodes: Mapping[str, Node],
    choice: Callable[[str, Mapping[str, object]], str],
) -> dict[str, Node]:
    """Return the nodes with a fault `NAME@LEAF`, `NAME@LEAF/uplinkN` or `NAME@RAIL` applied.

    Raises ConfigError on a place that is none; `choice` words what is expected.
    """
    target = text.partition("@")[2]
    ports = [port for node in nodes.values() for port in node.ports]
    if fault.places == ("rail",):
        known: dict[str, object] = {port.id.rail: port for port in ports}
        name, number = target, None
    else:
        known = {port.leaf: port for port in ports}
        name, number = _uplink(fault, text, target)
    if name not in known:
        raise ConfigError(f"fault {text!r}: expected {choice(name, known)}, got {name!r}")

    def is_there(port: Port) -> bool:
        return name == (port.id.rail if fault.places == ("rail",) else port.leaf)

    wrong = next((p for p in ports if is_there(p) and p.layer not in fault.layers), None)
    if wrong is not None:
        raise ConfigError(
            f"fault {text!r}: expected ports on {fault.layers[0]}, {wrong.id} is on {wrong.layer}"
        )

    def change(port: Port) -> Port:
        if not is_there(port):
            return port
        if fault.on_uplink is not None and number is not None:
            if number >= len(port.edge.uplinks):
                most = len(port.edge.uplinks)
                raise ConfigError(f"fault {text!r}: expected one of the {most} uplinks of {name}")
            return fault.on_uplink(port, number)
        return port if fault.on_port is None else fault.on_port(port)

    return {key: replace(node, ports=tuple(map(change, node.ports))) for key, node in nodes.items()}


def _uplink(fault: Fault, text: str, target: str) -> tuple[str, int | None]:
    """Return the leaf, and which of its uplinks, counted from 0."""
    if fault.places != ("uplink",):
        return target, None
    match = re.fullmatch(r"(.+)/uplink([0-9]{1,4})", target, re.ASCII)
    if match is None:
        raise ConfigError(f"fault {text!r}: expected {fault.name}@LEAF/uplinkN, got {target!r}")
    return match[1], int(match[2])
