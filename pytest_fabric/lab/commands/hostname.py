"""`hostname [-s | -f]`."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the node's name."""
    if call.argv[1:] not in ((), ("-s",), ("-f",)):
        return Result(1, stderr="hostname: the lab answers only: hostname [-s | -f]\n")
    return Result(0, f"{call.node.name}\n")
