"""Faults that only TCP shows: RDMA passes neither the processor nor the class that they are in."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET

FAULTS: tuple[Fault, ...] = (
    Fault(
        "tcp_slow_core",
        ("port", "node"),
        "a core sends and takes in a fifth of the TCP that it usually does",
        "power saving, segmentation offload switched off, or a core that is shared with a job",
        on_port=lambda port: replace(port, stack=0.2),
        layers=(ETHERNET,),
    ),
    Fault(
        "tcp_bad_path",
        ("port",),
        "one of the paths that TCP streams of the port take is nearly full",
        "a member of an ECMP group or of a bond that is slow, or that everybody hashes to",
        on_port=lambda port: replace(port, bad_path=True),
        layers=(ETHERNET,),
    ),
)
