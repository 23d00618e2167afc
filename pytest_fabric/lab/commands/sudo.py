"""`sudo -n -l TOOL` and `sudo -n TOOL ...`: what the node's user may run as root."""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.have import PATHS
from pytest_fabric.lab.process import Process, Result


def run(call: Call, start: Callable[[Call], Process]) -> Result | Process:
    """Answer `-l`, or start the command when it is allowed; a password is never asked for."""
    words = list(dropwhile(("-n", "-l", "--").__contains__, call.argv[1:]))
    is_question = "-l" in call.argv[1 : len(call.argv) - len(words)]
    if not words:
        return Result(1, stderr="usage: sudo -h | -K | -k | -V\n")
    name = words[0].rpartition("/")[2]
    if name not in {tool.rpartition("/")[2] for tool in call.node.sudo}:
        return Result(1, stderr="sudo: a password is required\n")
    if name not in PATHS or name in call.node.missing_tools:
        return Result(1, stderr=f"sudo: {words[0]}: command not found\n")
    if is_question:
        return Result(0, f"{' '.join([PATHS[name], *words[1:]])}\n")
    return start(Call(call.fabric, call.node, tuple(words), call.view, as_root=True))
