"""`hostname`."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the node's name."""
    return Result(0, f"{call.node.name}\n")
