"""`ethtool -a NETDEV`: global pause, which is another thing than PFC."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

UNSUPPORTED = Result(76, stderr="netlink error: Operation not supported\n")


def run(call: Call) -> Result:
    """Print autonegotiation, RX and TX."""
    netdev = call.argv[-1]
    if not call.view.exists(f"/sys/class/net/{netdev}"):
        return Result(76, stderr="netlink error: No such device\n")
    port = call.node.netdev(netdev)
    if port is None or not port.is_ethernet:
        return UNSUPPORTED
    flag = "on" if port.global_pause else "off"
    return Result(
        0,
        f"Pause parameters for {netdev}:\nAutonegotiate:\toff\nRX:\t\t{flag}\nTX:\t\t{flag}\n\n",
    )
