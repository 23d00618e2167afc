"""`ethtool -S NETDEV`: the statistics of the driver."""

from __future__ import annotations

from pytest_fabric.lab import drivers
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print one line per counter; other uses of ethtool are refused by name."""
    if len(call.argv) != 3 or call.argv[1] != "-S":
        return Result(1, stderr="ethtool: the lab answers only: ethtool -S DEVNAME\n")
    netdev = call.argv[2]
    if not call.view.exists(f"/sys/class/net/{netdev}"):
        return Result(96, stderr="Cannot get stats strings information: No such device\n")
    port = call.node.netdev(netdev)
    if port is None:
        return Result(94, stderr="no stats available\n")
    values = drivers.of(port).ethernet(port, call.fabric.traffic.written(port))
    lines = "".join(f"     {name}: {value}\n" for name, value in values.items())
    return Result(0, f"NIC statistics:\n{lines}")
