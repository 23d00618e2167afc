"""`dmesg`: the kernel's log since boot."""

from __future__ import annotations

from pytest_fabric.lab import kernel_log
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the log, where its user may see it (`kernel.dmesg_restrict`)."""
    if len(call.argv) > 1:
        return Result(1, stderr="dmesg: the lab answers only: dmesg\n")
    if call.node.log_readers != "all" and not call.as_root:
        return Result(1, stderr="dmesg: read kernel buffer failed: Operation not permitted\n")
    lines = kernel_log.lines(call.node, call.fabric.clock.uptime())
    return Result(0, "".join(f"[{seconds:12.6f}] {message}\n" for seconds, message in lines))
