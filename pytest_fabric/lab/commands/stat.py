"""`stat -c %U:%n /proc/PID...`: whose a process is."""

from __future__ import annotations

from pytest_fabric.lab import machine
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the owner of each process; status 1 when one is not there."""
    if call.argv[1:3] != ("-c", "%U:%n"):
        return Result(1, stderr="stat: the lab answers only: stat -c %U:%n /proc/PID...\n")
    there = {f"/proc/{machine.JOB_PID}": machine.JOB_USER} if call.node.has_job else {}
    if any(port.quirks.left for port in call.node.ports):
        there[f"/proc/{machine.LEFT_PID}"] = machine.LEFT_USER
    out = [f"{there[path]}:{path}\n" for path in call.argv[3:] if path in there]
    err = [
        f"stat: cannot statx '{path}': No such file or directory\n"
        for path in call.argv[3:]
        if path not in there
    ]
    return Result(1 if err else 0, "".join(out), "".join(err))
