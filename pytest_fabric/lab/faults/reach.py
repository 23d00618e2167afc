"""Faults on the way to a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Node


def _ssh(behaviour: str) -> Callable[[Node], Node]:
    return lambda node: replace(node, ssh=behaviour)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "ssh_down",
        ("node",),
        "nothing listens on the node's SSH port",
        "sshd stopped, or the machine is off",
        on_node=_ssh("down"),
    ),
    Fault(
        "ssh_dropped",
        ("node",),
        "the node's connections end a minute after they were made",
        "a machine that crashes under load",
        on_node=_ssh("dropped"),
    ),
    Fault(
        "ssh_silent",
        ("node",),
        "the node accepts connections and says nothing",
        "a frozen machine behind a load balancer",
        on_node=_ssh("silent"),
    ),
)
