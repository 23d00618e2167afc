"""`uname` and `uname -a`, `-r`, `-n`, `-m`, `-s`."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print one fact of the system."""
    facts = {"-s": "Linux", "-n": call.node.name, "-r": call.node.kernel, "-m": "x86_64"}
    option = call.argv[1] if len(call.argv) > 1 else "-s"
    if option == "-a":
        version = "#71-Ubuntu SMP PREEMPT_DYNAMIC"
        return Result(
            0,
            f"Linux {call.node.name} {call.node.kernel} {version} x86_64 x86_64 x86_64 GNU/Linux\n",
        )
    if option not in facts:
        return Result(1, stderr=f"uname: invalid option -- '{option.lstrip('-')}'\n")
    return Result(0, f"{facts[option]}\n")
