"""`srun ... all_reduce_perf`: the same run as mpirun's, started by Slurm."""

from __future__ import annotations

from pytest_fabric.lab.commands import mpirun
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Process, Result


def run(call: Call) -> Result | Process:
    """Print the table of a sweep when it is over; complain about nodes that are not there."""
    words = list(call.argv)
    told = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    try:
        hosts = told["nodelist"].split(",")
        ranks, count = int(told["ntasks"]), int(told["nodes"])
        first, last = (int(words[words.index(flag) + 1]) for flag in ("-b", "-e"))
    except (KeyError, ValueError, IndexError):
        return Result(1, stderr="srun: fatal: No command given to execute.\n")
    if any(host not in call.fabric.nodes for host in hosts):
        return Result(1, stderr="srun: error: Unable to allocate resources: Invalid node name\n")
    if len(hosts) != count or ranks % count:
        return Result(1, stderr="srun: error: Unable to allocate resources: Node count invalid\n")
    return mpirun.started(call, hosts, ranks, first, last)
