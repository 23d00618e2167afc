"""`echo WORD...`."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print the words."""
    return Result(0, " ".join(call.argv[1:]) + "\n")
