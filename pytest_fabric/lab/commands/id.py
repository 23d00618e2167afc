"""`id -un` and `id -u`."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

USER = "lab"


def run(call: Call) -> Result:
    """Print the user."""
    answers = {"-un": USER, "-u": "1000", "": f"uid=1000({USER}) gid=1000({USER})"}
    option = "".join(call.argv[1:])
    if option not in answers:
        return Result(1, stderr=f"id: invalid option -- '{option.lstrip('-')}'\n")
    return Result(0, f"{answers[option]}\n")
