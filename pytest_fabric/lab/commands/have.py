"""The node runner's `have NAME...`: the path of each program that is installed."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.perftest import PROGRAMS
from pytest_fabric.lab.process import Result

SYSTEM = (
    *("cat", "dmesg", "echo", "flock", "grep", "hostname", "ibv_devinfo", "id", "iperf3"),
    *("journalctl", "mpirun", "srun", "ss"),
    *("lspci", "mlxlink", "nvidia-smi", "ping", "rdma", "readlink", "sleep", "stat", "sudo"),
    *("taskset", "timeout", "uname"),
)

#: Where the programs that the lab answers to are, as on Debian.
PATHS = {
    **{name: f"/usr/bin/{name}" for name in PROGRAMS},
    **{name: f"/usr/bin/{name}" for name in SYSTEM},
    "devlink": "/usr/sbin/devlink",
    "ethtool": "/usr/sbin/ethtool",
    **{name: f"/usr/sbin/{name}" for name in ("iblinkinfo", "lldpcli", "sminfo")},
    "dcb": "/usr/sbin/dcb",
    "mlnx_qos": "/usr/bin/mlnx_qos",
}


def run(call: Call) -> Result:
    """Print a path per name that is found; status 0 always."""
    missing = call.node.missing_tools
    found = [PATHS[name] for name in call.argv[1:] if name in PATHS and name not in missing]
    return Result(0, "".join(f"{path}\n" for path in found))
