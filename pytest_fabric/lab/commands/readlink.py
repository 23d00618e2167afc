"""`readlink -f PATH...`: where symbolic links lead in the end."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print one path per word; a last part that is not there is printed as it is."""
    if call.argv[1:2] != ("-f",):
        return Result(1, stderr="readlink: the lab answers only: readlink -f PATH...\n")
    return Result(0, "".join(f"{call.view.target(path)}\n" for path in call.argv[2:]))
