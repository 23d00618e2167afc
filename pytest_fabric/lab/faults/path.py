"""Faults of the path between two ports: what gets lost on it, and what is late."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET

FAULTS: tuple[Fault, ...] = (
    Fault(
        "ping_loss",
        ("port",),
        "one of a hundred packets of the kernel to or from the port is lost; RDMA is not touched",
        "a congested best-effort queue, an overrun receive ring, or a dirty cable",
        on_port=lambda port: replace(port, loss=0.01),
        layers=(ETHERNET,),
    ),
    Fault(
        "ping_blocked",
        ("port",),
        "echo requests to and from the port get no answer; RDMA is not touched",
        "a firewall that drops ICMP, or answers to echo requests switched off",
        on_port=lambda port: replace(port, filters_ping=True),
        layers=(ETHERNET,),
    ),
    Fault(
        "path_mtu",
        ("port",),
        "packets above 1500 bytes to or from the port are lost without a word; small ones pass",
        "a switch port left at its default MTU between ends that have a larger one",
        on_port=lambda port: replace(port, path_mtu=1500),
        layers=(ETHERNET,),
    ),
    Fault(
        "slow_reply",
        ("port",),
        "the port's host takes in packets of the kernel 5 ms late; RDMA is not touched",
        "deep power saving, a busy processor, or interrupts on a core that is taken",
        on_port=lambda port: replace(port, late_s=5e-3),
        layers=(ETHERNET,),
    ),
    Fault(
        "rdma_blocked",
        ("port",),
        "RDMA packets to and from the port are lost; everything else passes",
        "an access list or a firewall that drops UDP port 4791",
        on_port=lambda port: replace(port, drops_rdma=True),
        layers=(ETHERNET,),
    ),
)
