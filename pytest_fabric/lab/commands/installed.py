"""Which programs a node has, and whether a path of folders leads to them."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.have import PATHS
from pytest_fabric.lab.model import Node

#: Where the other programs that the lab answers to are, and those that only administrators use.
USUAL, ADMINISTRATORS = "/usr/bin", "/usr/sbin"
IN_SBIN = frozenset({"ibstat", "ibnetdiscover", "perfquery", "ibdev2netdev"})

#: Part of every shell, or of the node runner.
BUILTIN = frozenset({"echo", "have", "usable", "help", "which", "exit"})


def runner_path(node: Node) -> str:
    """Return where a node runner looks for programs: it adds what log-ins of users often lack."""
    return f"{node.path}:/usr/local/sbin:/usr/sbin:/sbin"


def folder(name: str) -> str:
    """Return the folder that a program is in."""
    known = PATHS.get(name, "").rpartition("/")[0]
    return known or (ADMINISTRATORS if name in IN_SBIN else USUAL)


def is_reached(node: Node, word: str, path: str) -> bool:
    """Return whether a word names a program that a node has, by its path or in one of `path`."""
    _, slash, name = word.rpartition("/")
    if name in node.missing_tools:
        return False
    return bool(slash) or name in BUILTIN or not path or folder(name) in path.split(":")


def place(call: Call, name: str) -> str | None:
    """Return where a program is that can be called by its name."""
    if not is_reached(call.node, name, call.path) or name not in call.known:
        return None
    return f"{folder(name)}/{name}"
