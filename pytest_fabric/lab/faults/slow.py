"""Faults that make less of a port than its link and its slot promise, and do not say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Node, Port
from pytest_fabric.results import Port as PortId


def _quirk(**changed: float | int) -> Callable[[Port], Port]:
    return lambda port: replace(port, quirks=replace(port.quirks, **changed))  # type: ignore[arg-type]  # checked when it is injected


def _detour(nodes: Mapping[str, Node], target: PortId) -> Mapping[str, Node]:
    """Let what a port sends leave through the next rail of its node."""
    node = nodes[target.node]
    rails = [port.id.rail for port in node.ports]
    other = rails[(rails.index(target.rail) + 1) % len(rails)]
    if other == target.rail:
        raise ConfigError(f"fault other_port@{target}: expected a node with two rails, found one")
    ports = tuple(
        replace(port, quirks=replace(port.quirks, detour=other)) if port.id == target else port
        for port in node.ports
    )
    return {**nodes, target.node: replace(node, ports=ports)}


def _narrow_above(port: Port) -> Port:
    return _quirk(above=max(1, port.pcie_max_width // 2))(port)


def _moved_gids(port: Port) -> Port:
    """Shift the entries of the GID table up by two, as a second address on the device does."""
    return replace(port, gids=tuple(replace(gid, index=gid.index + 2) for gid in port.gids))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "link_polling",
        ("port",),
        "the port looks for a link, and finds none: its physical state is Polling",
        "no cable, a module that is not seated, or another speed or FEC at the other end",
        on_port=lambda port: replace(port, state="POLLING"),
    ),
    Fault(
        "narrow_slot_above",
        ("port",),
        "the PCIe switch above the card's slot is linked with half of its lanes; the slot is whole",
        "a riser or a retimer of the switch's upstream port: the card itself shows x16",
        on_port=_narrow_above,
    ),
    Fault(
        "wrong_numa",
        ("port",),
        "the card sits below the other socket than the same rail of other nodes",
        "a card in the wrong slot, or a BIOS that numbers sockets the other way round",
        on_port=lambda port: replace(port, numa=1 - max(0, port.numa)),
    ),
    Fault(
        "gid_shifted",
        ("port",),
        "the RoCE v2 GID of the port's address is at another index than on the other ports",
        "an address or VLAN added to the device: jobs with a fixed NCCL_IB_GID_INDEX fail on it",
        on_port=_moved_gids,
        layers=(ETHERNET,),
    ),
    Fault(
        "latency_all",
        ("port",),
        "every message of the port takes 2.5 us longer, the fastest as well",
        "a card behind an IOMMU or a long chain of bridges, or a firmware that lost a fast path",
        on_port=_quirk(late_s=2.5e-6),
    ),
    Fault(
        "half_bandwidth",
        ("port",),
        "the port moves half of its line, both ways, and says nothing of it",
        "a shaper left on the switch port, or a rate limit of a virtual function",
        on_port=lambda port: replace(port, passes=0.5),
    ),
    Fault(
        "slow_sender",
        ("port",),
        "the port sends at six tenths of its line, and receives in full",
        "reads of PCIe that are too small or too few: a setting of MaxReadReq, or relaxed ordering",
        on_port=_quirk(sends=0.6),
    ),
    Fault(
        "slow_node",
        ("node",),
        "all ports of the node move four fifths of their line",
        "memory of one channel only, or a power limit of the whole machine",
        on_port=lambda port: replace(port, passes=0.8),
    ),
    Fault(
        "other_port",
        ("port",),
        "what the port should send leaves through the next rail of its node",
        "a route or a rule that picks another device, or answers to ARP on the wrong interface",
        on_fabric=_detour,
        spread="node",
    ),
)
