"""Faults of the class of RDMA traffic at a host."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network

from pytest_fabric.lab import gids
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Node, Port

LAYERS = (ETHERNET,)

#: RDMA MTU that is left when the MTU of the network device has no room for headers.
NEXT_MTU = {4096: 2048, 2048: 1024, 1024: 512}


def _other_priority(port: Port) -> Port:
    return replace(port, lossless=tuple((priority + 1) % 8 for priority in port.lossless or (3,)))


def _other_map(port: Port) -> Port:
    """Map all DSCPs to priority 0, as a reset of the table leaves it."""
    return replace(port, priorities=dict.fromkeys(range(64), 0))


def _v1_only(port: Port) -> Port:
    return replace(port, gids=tuple(gid for gid in port.gids if gid.kind == gids.V1))


def _one_subnet(node: Node) -> Node:
    """Widen the mask of all rails until they are in one network."""
    networks = [port.network for port in node.ports if isinstance(port.network, IPv4Network)]
    wide = _around(networks)
    ports = (
        replace(port, network=wide) if isinstance(port.network, IPv4Network) else port
        for port in node.ports
    )
    return replace(node, ports=tuple(ports), guards_arp=False)


def _around(networks: Sequence[IPv4Network]) -> IPv4Network:
    wide = networks[0] if networks else ipaddress.IPv4Network("10.0.0.0/8")
    while not all(network.subnet_of(wide) for network in networks):
        wide = wide.supernet()
    return wide


FAULTS: tuple[Fault, ...] = (
    Fault(
        "pfc_off",
        ("port",),
        "PFC is off on every priority, and with it the pause counters of priorities",
        "a set-up that is gone after a reboot or a firmware reset",
        on_port=lambda port: replace(port, lossless=()),
        layers=LAYERS,
    ),
    Fault(
        "pfc_other_priority",
        ("port",),
        "PFC is on for the priority next to the declared one",
        "a host that was set up for another fabric, or DCBX with a switch that was",
        on_port=_other_priority,
        layers=LAYERS,
    ),
    Fault(
        "trust_pcp",
        ("port",),
        "the port trusts PCP, so that untagged frames travel on priority 0, both ways",
        "trust left at its default, or lost at a reboot",
        on_port=lambda port: replace(port, trust="pcp"),
        layers=LAYERS,
    ),
    Fault(
        "dscp_map",
        ("port",),
        "every DSCP maps to priority 0, on which the port sends and receives",
        "a table of DSCPs that was flushed, or that DCBX replaced",
        on_port=_other_map,
        layers=LAYERS,
    ),
    Fault(
        "ecn_np_off",
        ("port",),
        "the port answers no marks of switches, so that its senders do not slow down",
        "a firmware reset, or a start-up script that sets the other point only",
        on_port=lambda port: replace(port, ecn=port.ecn - {"np"}),
        layers=LAYERS,
    ),
    Fault(
        "ecn_rp_off",
        ("port",),
        "the port does not slow down when it is told of congestion",
        "a firmware reset, or a start-up script that enables another priority",
        on_port=lambda port: replace(port, ecn=port.ecn - {"rp"}),
        layers=LAYERS,
    ),
    Fault(
        "cnp_class",
        ("port",),
        "congestion notifications travel in DSCP 0 on priority 0, behind all other traffic",
        "a set-up of ECN that leaves out the class of its notifications",
        on_port=lambda port: replace(port, cnp=(0, 0)),
        layers=LAYERS,
    ),
    Fault(
        "global_pause",
        ("port",),
        "802.3x pause is on beside PFC",
        "a driver's default, or a switch port that was set up for storage",
        on_port=lambda port: replace(port, global_pause=True),
        layers=LAYERS,
    ),
    Fault(
        "gid_v1_only",
        ("port",),
        "all GIDs of the port are RoCE v1, which no router forwards",
        "RoCE v2 switched off in firmware, or an old driver",
        on_port=_v1_only,
        layers=LAYERS,
    ),
    Fault(
        "tclass_override",
        ("port",),
        "a global traffic class sends all RDMA of the port in DSCP 0, whatever the tool asked for",
        "a tuning script of another fabric that writes tc/1/traffic_class",
        on_port=lambda port: replace(port, class_override=0),
        layers=LAYERS,
    ),
    Fault(
        "netdev_mtu",
        ("port",),
        "the network device has no room for headers beside the RDMA MTU, which falls by half",
        "an MTU of 4096 where 4200 or 9000 was meant",
        on_port=lambda port: replace(port, mtu=NEXT_MTU.get(port.mtu, 256)),
        layers=LAYERS,
    ),
    Fault(
        "rails_one_subnet",
        ("node",),
        "the node's rails are in one subnet, and each interface answers for all addresses",
        "a mask that is too wide, and arp_ignore and arp_announce left at 0",
        on_node=_one_subnet,
        layers=LAYERS,
    ),
)
