"""`ethtool -i NETDEV`: the driver of a network device, and the firmware that it found."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

SUPPORTS = {
    "statistics": "yes",
    "test": "yes",
    "eeprom-access": "no",
    "register-dump": "no",
    "priv-flags": "yes",
}


def run(call: Call) -> Result:
    """Print the driver of an RDMA port's network device; the others are virtual in the lab."""
    netdev = call.argv[2] if len(call.argv) == 3 else ""
    if not netdev or not call.view.exists(f"/sys/class/net/{netdev}"):
        return Result(71, stderr="Cannot get driver information: No such device\n")
    port = call.node.netdev(netdev)
    if port is None:
        return Result(71, stderr="Cannot get driver information: Operation not supported\n")
    lines = {
        "driver": port.adapter.driver if port.is_ethernet else "mlx5_core[ib_ipoib]",
        "version": port.driver,
        "firmware-version": f"{port.adapter.firmware} ({port.adapter.psid})".removesuffix(" ()"),
        "expansion-rom-version": "",
        "bus-info": port.pci,
        **{f"supports-{name}": word for name, word in SUPPORTS.items()},
    }
    return Result(0, "".join(f"{key}: {value}\n" for key, value in lines.items()))
