"""`ibv_devices`, `ibdev2netdev`, `which`, `whoami`, `nproc`, `help`: short answers to people."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fabric.lab import machine
from pytest_fabric.lab.commands import installed
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.id import USER
from pytest_fabric.lab.netdevs import bond
from pytest_fabric.lab.process import Result


def ibv_devices(call: Call) -> Result:
    """Print the RDMA devices and their GUIDs."""
    rows = [f"    {port.device:<16}\t{port.guid:016x}\n" for port in call.node.functions]
    head = f"    {'device':<16}\t   node GUID\n    {'------':<16}\t----------------\n"
    return Result(0, head + "".join(rows))


def ibdev2netdev(call: Call) -> Result:
    """Print which network device belongs to each RDMA device."""
    rows = []
    for port in call.node.functions:
        names = (bond(port),) if port.is_bond else port.netdevs[:1]
        state = "Up" if port.state == "ACTIVE" and port.is_ethernet else "Down"
        rows += [f"{port.device} port 1 ==> {name} ({state})\n" for name in names]
    return Result(0, "".join(rows))


def which(call: Call) -> Result:
    """Print where programs are; status 1 where one is not in the path."""
    found = [installed.place(call, name) for name in call.argv[1:] if not name.startswith("-")]
    return Result(int(None in found), "".join(f"{path}\n" for path in found if path))


def whoami(call: Call) -> Result:
    """Print the user."""
    return Result(0, f"{USER}\n")


def nproc(call: Call) -> Result:
    """Print how many CPUs there are."""
    return Result(0, f"{machine.CPUS}\n")


def told(names: Iterable[str]) -> str:
    """Return what the lab answers to, for `help`."""
    return (
        "This machine is simulated. It answers to these commands, in the usual forms of each,\n"
        "with pipes, `;`, `&&`, `||`, globs, and 2>/dev/null:\n"
        f"  {' '.join(sorted(names))}\n"
        "All its times are simulated: `date` and `uptime` run as fast as `time:` of `lab:` says.\n"
    )
