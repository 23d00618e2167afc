"""`taskset -c CORES COMMAND ...`: another command, on one of the node's cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab import machine
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Process, Result


def run(call: Call, start: Callable[[Call], Process]) -> Result | Process:
    """Start the command, unless the node has no such core."""
    cores = call.argv[2].split(",") if len(call.argv) > 3 else [""]
    if call.argv[1:2] != ("-c",) or not all(core.isdigit() for core in cores):
        return Result(1, stderr="taskset: bad usage\n")
    if all(int(core) >= machine.CPUS for core in cores):
        return Result(1, stderr="taskset: failed to set pid 0's affinity: Invalid argument\n")
    return start(replace(call, argv=call.argv[3:]))
