"""`lldpcli show neighbors -f json0`: what lldpd has heard of the switches around the node."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Result

#: The switch of the management network, which every node has a port of.
MANAGEMENT = ("eno1", "oob-1", "swp1")


def run(call: Call) -> Result:
    """Print the neighbours; other uses of lldpcli are refused by name."""
    if call.argv[1:] != ("show", "neighbors", "-f", "json0"):
        asked = "lldpcli show neighbors -f json0"
        return Result(1, stderr=f"[WARN/lldpctl] the lab answers only: {asked}\n")
    found = [_neighbour(*heard) for heard in _heard(call.node)]
    return Result(0, f"{json.dumps({'lldp': [{'interface': found}]}, indent=2)}\n")


def _heard(node: Node) -> Iterator[tuple[str, str, str]]:
    """Yield network device, switch and switch port."""
    yield MANAGEMENT
    for port in node.ports:
        if port.is_ethernet and port.has_neighbour and port.state == "ACTIVE":
            for netdev in port.netdevs:
                yield netdev, port.switch, port.switch_port


def _neighbour(netdev: str, switch: str, port: str) -> dict[str, Any]:
    number = zlib.crc32(switch.encode())
    mac = ":".join(f"{number >> shift & 0xFF:02x}" for shift in (24, 16, 8, 0))
    return {
        "name": netdev,
        "via": "LLDP",
        "rid": "3",
        "age": "0 day, 00:04:10",
        "chassis": [
            {
                "id": [{"type": "mac", "value": f"0c:42:{mac}"}],
                "name": _text(switch),
                "descr": _text("Cumulus Linux version 5.9.1"),
                "capability": [{"type": "Bridge", "enabled": True}],
            }
        ],
        "port": [
            {
                "id": [{"type": "ifname", "value": port}],
                "descr": _text(port),
                "ttl": _text("120"),
            }
        ],
    }


def _text(value: str) -> list[dict[str, str]]:
    return [{"value": value}]
