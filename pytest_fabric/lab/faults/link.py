"""Faults of a link and of the slot of its card."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Port


def _half_speed(port: Port) -> Port:
    return replace(port, speed_bps=port.speed_bps / 2)


def _half_width(port: Port) -> Port:
    return replace(port, pcie_width=max(1, port.pcie_max_width // 2))


def _low_mtu(port: Port) -> Port:
    return replace(port, mtu=1024 if port.mtu > 1024 else 256)


def _down(port: Port) -> Port:
    return replace(port, state="DOWN")


def _without_routed_gids(port: Port) -> Port:
    return replace(port, gids=tuple(gid for gid in port.gids if gid.address.is_link_local))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "link_speed",
        ("port",),
        "the port trains at half of the declared speed",
        "a worn or wrong cable, or a module that both ends agree on only at a lower rate",
        on_port=_half_speed,
    ),
    Fault(
        "pcie_width",
        ("port",),
        "the card's PCIe link has half of its lanes, and bandwidth is limited by it",
        "a card not fully seated, a dirty connector, or a slot wired with fewer lanes",
        on_port=_half_width,
    ),
    Fault(
        "port_down",
        ("port",),
        "the link is down",
        "a cable pulled, a switch port shut, or no subnet manager",
        on_port=_down,
    ),
    Fault(
        "mtu_low",
        ("port",),
        "the active RDMA MTU is 1024",
        "an interface left at an MTU of 1500",
        on_port=_low_mtu,
    ),
    Fault(
        "gid_missing",
        ("port",),
        "the port has no GID with an IP address",
        "the network device lost its address",
        on_port=_without_routed_gids,
        layers=(ETHERNET,),
    ),
    Fault(
        "shared_slot",
        ("node",),
        "the node's network cards share one PCIe link, which carries one of them at full rate",
        "cards behind one switch port, or a bifurcated slot: only load on both shows it",
        on_port=lambda port: replace(port, shares_slot=True),
    ),
)
