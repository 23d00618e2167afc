"""`nvidia-smi --query-compute-apps=pid,process_name --format=csv`."""

from __future__ import annotations

from pytest_fabric.lab import machine
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

QUERY = ("--query-compute-apps=pid,process_name", "--format=csv")

#: A process is listed once per GPU.
GPUS = 8


def run(call: Call) -> Result:
    """Print the title, and a line per GPU of the job if there is one."""
    if call.argv[1:] != QUERY:
        return Result(1, f"nvidia-smi: the lab answers only: nvidia-smi {' '.join(QUERY)}\n")
    line = f"{machine.JOB_PID}, {machine.JOB_COMM}\n"
    return Result(0, "pid, process_name\n" + line * (GPUS if call.node.gpu_job else 0))
