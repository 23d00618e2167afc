"""`mlnx_qos -i NETDEV`: trust, priorities, PFC and traffic classes of a port."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

DSCPS = 64
PRIORITIES = range(8)

#: Values in a line of the DSCP table before it goes on in the next.
IN_A_LINE = 8

#: Receive buffers in bytes: what is lossy shares the first, what is lossless the second.
BUFFERS = (130944, 262016)


def run(call: Call) -> Result:
    """Print the whole set-up; errors go to stdout, as the real one prints them."""
    words = call.argv[1:]
    if len(words) != 2 or words[0] != "-i":
        return Result(1, "Interface name is required\n")
    if not call.view.exists(f"/sys/class/net/{words[1]}"):
        return Result(1, f"Interface {words[1]} does not exist\n")
    port = call.node.netdev(words[1])
    if port is None or not port.is_ethernet:
        return Result(1, "Netlink error: Operation not supported. see dmesg.\n")
    if port.adapter.owner == "locked":
        return Result(1, "Netlink error: Operation not permitted. see dmesg.\n")
    return Result(0, "".join(f"{line}\n" for line in _lines(shown(port))))


def shown(port: Port) -> Port:
    """Return a port as its host sees it: that of a DPU has settings that nobody made."""
    if port.adapter.owner == "host":
        return port
    return replace(port, trust="pcp", lossless=(), priorities={})


def _lines(port: Port) -> Iterator[str]:
    yield "DCBX mode: OS controlled"
    yield f"Priority trust state: {port.trust}"
    if port.trust != "pcp":
        yield "dscp2prio mapping:"
        yield from _map(port)
    yield "default priority:"
    sizes = ",".join(map(str, (*BUFFERS, *[0] * 6)))
    yield f"Receive buffer size (bytes): {sizes},max_buffer_size={sum(BUFFERS)}"
    yield "Cable len: 7"
    yield "PFC configuration:"
    for name, values in (
        ("priority", PRIORITIES),
        ("enabled", [int(priority in port.lossless) for priority in PRIORITIES]),
        ("buffer", [int(priority in port.lossless) for priority in PRIORITIES]),
    ):
        yield f"\t{name:<12}" + "".join(f"{value:<4}" for value in values)
    for number in PRIORITIES:
        yield f"tc: {number} ratelimit: unlimited, tsa: vendor"
        yield f"\t priority:  {number}"


def _map(port: Port) -> Iterator[str]:
    """Yield the DSCPs of each priority, the highest first, and a new line after eight."""
    for priority in PRIORITIES:
        mine = [dscp for dscp in reversed(range(DSCPS)) if port.mapped(dscp) == priority]
        for first in range(0, len(mine), IN_A_LINE):
            shown = "".join(f"{dscp:02d}," for dscp in mine[first : first + IN_A_LINE])
            yield f"\tprio:{priority} dscp:{shown}"
