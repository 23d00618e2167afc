"""`sminfo [-C DEVICE -P PORT]`: the subnet manager. Written after infiniband-diags' sminfo.c."""

from __future__ import annotations

from pytest_fabric.lab import subnet
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.iblinkinfo import asked
from pytest_fabric.lab.process import Result

PRIORITY = 14


def run(call: Call) -> Result:
    """Print the manager, or that it does not answer."""
    port = asked(call, [*call.argv[1:]], [])
    if isinstance(port, Result):
        return port
    manager = subnet.manager(call.fabric.nodes)
    if manager is None:
        lid = subnet.MANAGER_LID
        dead = f"ibwarn: [77] mad_rpc: _do_madrpc failed; dport (Lid {lid})\n"
        return Result(255, stderr=f"{dead}sminfo: iberror: failed: query\n")
    count = int(call.fabric.clock.uptime())
    return Result(
        0,
        f"sminfo: sm lid {manager.lid} sm guid 0x{manager.guid:x}, activity count {count} "
        f"priority {PRIORITY} state 3 SMINFO_MASTER\n",
    )
