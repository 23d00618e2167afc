"""`journalctl -k ... -o short-monotonic --since=-1h`: the kernel's messages of the last hour."""

from __future__ import annotations

from pytest_fabric.lab import kernel_log
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

KNOWN = ("-k", "-b", "--no-pager", "-o", "short-monotonic", "--since=-1h")


def run(call: Call) -> Result:
    """Print the messages, or that there is none, or what its user may not see."""
    if call.argv[1:] != KNOWN:
        known = " ".join(KNOWN)
        return Result(1, stderr=f"journalctl: the lab answers only: journalctl {known}\n")
    if call.node.log_readers == "root" and not call.as_root:
        return Result(1, stderr="No journal files were opened due to insufficient permissions.\n")
    now = call.fabric.clock.uptime()
    lines = "".join(
        f"[{seconds:12.6f}] {call.node.name} kernel: {message}\n"
        for seconds, message in kernel_log.lines(call.node, now)
        if seconds >= now - 3600
    )
    return Result(0, lines or "-- No entries --\n")
