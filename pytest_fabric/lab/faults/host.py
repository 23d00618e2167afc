"""Faults of a node's system."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Node

CPUS = "/sys/devices/system/cpu"


def _with_files(node: Node, **files: str) -> Node:
    return replace(node, files={**node.files, **files})


FAULTS: tuple[Fault, ...] = (
    Fault(
        "governor",
        ("node",),
        "one CPU runs under the governor powersave",
        "a kernel update, or a tuning service that did not start",
        on_node=lambda node: _with_files(
            node, **{f"{CPUS}/cpu3/cpufreq/scaling_governor": "powersave"}
        ),
    ),
)
