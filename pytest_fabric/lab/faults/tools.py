"""Faults of measuring tools, and jobs of others that they meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Port

#: Every perftest program; they come in one package.
PERFTEST = frozenset(
    f"ib_{verb}_{kind}" for verb in ("write", "read", "send") for kind in ("lat", "bw")
)


def _tool(behaviour: str) -> Callable[[Port], Port]:
    return lambda port: replace(port, tool=behaviour)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "server_dies",
        ("port",),
        "a perftest server on the port is killed in the middle of its run",
        "the out-of-memory killer, a job's epilogue, or a person",
        on_port=lambda port: replace(port, server_dies=True),
    ),
    Fault(
        "tool_missing",
        ("node",),
        "no perftest program is installed",
        "a node imaged without the package",
        on_node=lambda node: replace(node, missing_tools=PERFTEST),
    ),
    Fault(
        "tool_garbage",
        ("node", "port"),
        "perftest prints nonsense and ends well",
        "a wrapper script in the path, or a broken build",
        on_port=_tool("garbage"),
    ),
    Fault(
        "tool_silent",
        ("node", "port"),
        "perftest prints nothing and ends well",
        "a full disk behind a wrapper, or a stub",
        on_port=_tool("silent"),
    ),
    Fault(
        "tool_hangs",
        ("node", "port"),
        "perftest neither listens nor connects nor ends",
        "a driver stuck in the kernel",
        on_port=_tool("hangs"),
    ),
    Fault(
        "tool_truncated",
        ("node", "port"),
        "the output of perftest ends within its row, and its status is 0",
        "a full disk or a pipe that was closed behind a wrapper",
        on_port=_tool("truncated"),
    ),
    Fault(
        "tool_locale",
        ("node", "port"),
        "perftest prints its numbers with commas: 1,85",
        "a wrapper script that sets the locale of its author",
        on_port=_tool("locale"),
    ),
    Fault(
        "tool_old",
        ("node",),
        "perftest is of 2018 (4.4), which newer ones refuse to run with",
        "a distribution's package beside that of the vendor, first in the path",
        on_node=lambda node: replace(node, perftest="4.4"),
    ),
    Fault(
        "port_taken",
        ("node",),
        "somebody listens on every TCP port that a user may listen on",
        "a proxy or a scanner's honeypot, or servers left behind by the hundred",
        on_node=lambda node: replace(node, ports_taken=True),
    ),
    Fault(
        "leftover_server",
        ("port",),
        "a server of perftest waits on the port, with an RDMA context and no run that knows it",
        "a script that was interrupted between its server and its client",
        on_port=lambda port: replace(port, quirks=replace(port.quirks, left=True)),
        spread="node",
    ),
    Fault(
        "row_then_error",
        ("node", "port"),
        "a perftest client prints its row, then an error, and exits with 1",
        "the server lost after the measurement",
        on_port=_tool("row then error"),
    ),
    Fault(
        "slow_core",
        ("node", "port"),
        "perftest takes 6 us of the processor for a message: each is late, and small ones are few",
        "a core at its lowest frequency, a power limit, or a build without optimisation",
        on_port=_tool("slow core"),
    ),
    Fault(
        "rdma_context",
        ("node", "port"),
        "a process of somebody else holds an RDMA context and a queue pair",
        "a job that was not drained, or one that did not end",
        on_port=lambda port: replace(port, is_held=True),
        spread="node",
    ),
    Fault(
        "gpu_job",
        ("node",),
        "a process of somebody else computes on the GPUs",
        "a job that was not drained, or one that did not end",
        on_node=lambda node: replace(node, gpu_job=True),
    ),
)
