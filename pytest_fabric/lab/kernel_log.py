"""The kernel log of a lab node: how it booted, and what its faults made it tell lately."""

from __future__ import annotations

from pytest_fabric.lab.model import Node, Port

#: Seconds before now at which the first and each further message of a fault was told.
AGO_S, STEP_S = 600.0, 1.5


def lines(node: Node, uptime_s: float) -> list[tuple[float, str]]:
    """Return seconds since boot and message of each line, in order."""
    boot = [
        (0.0, f"Linux version {node.kernel} (buildd@lcy02) #71-Ubuntu SMP PREEMPT_DYNAMIC"),
        (0.0, "Command line: BOOT_IMAGE=/boot/vmlinuz root=/dev/mapper/vg0-root ro"),
        (0.412531, "pci_bus 0000:00: root bus resource [bus 00-ff]"),
    ]
    cards = [
        (8.0 + place + seconds, message)
        for place, port in enumerate(node.ports)
        for seconds, message in _card(port)
    ]
    first = uptime_s - AGO_S
    told = [(first + STEP_S * place, message) for place, message in enumerate(node.log)]
    return [*boot, *cards, *told]


def _card(port: Port) -> list[tuple[float, str]]:
    name = f"{port.adapter.driver} {port.pci}"
    found = [
        (0.102345, f"{name}: firmware version: {port.adapter.firmware}"),
        (0.307711, f"{name}: Port module event: module 0, Cable plugged"),
    ]
    if port.adapter.driver != "mlx5_core":
        found = []
    if not port.is_ethernet:
        return found
    netdev = port.netdevs[0]
    return [*found, (0.5, f"{name} {netdev}: Link down"), (0.9, f"{name} {netdev}: Link up")]
