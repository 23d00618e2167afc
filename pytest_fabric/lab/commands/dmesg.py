"""`dmesg [-T]`: the kernel's log since boot."""

from __future__ import annotations

import time

from pytest_fabric.lab import kernel_log
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the log, where its user may see it (`kernel.dmesg_restrict`)."""
    if not set(call.argv[1:]) <= {"-T", "--ctime"}:
        return Result(1, stderr="dmesg: the lab answers only: dmesg [-T]\n")
    if call.node.log_readers != "all" and not call.as_root:
        return Result(1, stderr="dmesg: read kernel buffer failed: Operation not permitted\n")
    clock = call.fabric.clock
    lines = kernel_log.lines(call.node, clock.uptime())
    if len(call.argv) > 1:
        boot = clock.wall() - clock.uptime()
        told = ((time.ctime(boot + seconds), message) for seconds, message in lines)
        return Result(0, "".join(f"[{when}] {message}\n" for when, message in told))
    return Result(0, "".join(f"[{seconds:12.6f}] {message}\n" for seconds, message in lines))
