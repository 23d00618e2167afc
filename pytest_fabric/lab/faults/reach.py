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
        "ssh_slow",
        ("node",),
        "the node takes a minute to let anybody in",
        "a directory service or a home directory that does not answer, or a machine that swaps",
        on_node=_ssh("slow"),
    ),
    Fault(
        "ssh_key_changed",
        ("node",),
        "the node shows another host key than the one that is known",
        "a machine that was installed anew, or another one under its address",
        on_node=_ssh("new key"),
    ),
    Fault(
        "ssh_banner",
        ("node",),
        "a log-in is shown a banner and ended, whatever should run",
        "maintenance (nologin), a forced command, or a start-up file of the shell that exits",
        on_node=_ssh("banner"),
    ),
    Fault(
        "ssh_silent",
        ("node",),
        "the node accepts connections and says nothing",
        "a frozen machine behind a load balancer",
        on_node=_ssh("silent"),
    ),
)
