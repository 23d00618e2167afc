"""Faults of leaves, of their uplinks, of a rail, and of one direction of a cable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Port


def _leaf(**changes: object) -> Callable[[Port], Port]:
    """Return a change of how the leaf of a port is set up."""
    return lambda port: replace(port, edge=replace(port.edge, **changes))  # type: ignore[arg-type]


def _other_priority(port: Port) -> Port:
    others = tuple((priority + 1) % 8 for priority in port.edge.lossless or (3,))
    return replace(port, edge=replace(port.edge, lossless=others))


def _half(port: Port, number: int) -> Port:
    uplinks = list(port.edge.uplinks)
    uplinks[number] /= 2
    return replace(port, edge=replace(port.edge, uplinks=tuple(uplinks)))


def _one_uplink(port: Port) -> Port:
    return replace(port, edge=replace(port.edge, uplinks=port.edge.uplinks[:1]))


LEAVES: tuple[Fault, ...] = (
    Fault(
        "class_lost_leaf",
        ("leaf",),
        "the leaf sends everything on with DSCP 0, so that RDMA arrives as best effort",
        "a port that does not trust DSCP, or a policy that marks anew, on one switch only",
        on_port=_leaf(keeps_class=False),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "pfc_off_leaf",
        ("leaf",),
        "the leaf sends no PFC: what comes in too fast is lost",
        "a switch that came back from a replacement or an upgrade without its QoS configuration",
        on_port=_leaf(lossless=()),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "pfc_other_priority_leaf",
        ("leaf",),
        "the leaf sends PFC for the priority next to the declared one",
        "a template for storage on a switch for training",
        on_port=_other_priority,
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "class_unknown_leaf",
        ("leaf",),
        "the leaf neither marks nor pauses: what comes in too fast is lost, and nobody is told",
        "a switch that came back with the configuration it was delivered with",
        on_port=_leaf(lossless=(), marks=()),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "ecn_thresholds_missing",
        ("leaf",),
        "the leaf marks nothing: congestion ends in PFC, which pauses all senders",
        "an ECN profile that is not bound to the queue of RDMA",
        on_port=_leaf(marks=()),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "cnp_wrong_queue",
        ("leaf",),
        "the leaf sends congestion notifications behind other traffic, and senders slow down late",
        "DSCP 48 that is in no map of the switch, so that it goes to the best-effort queue",
        on_port=_leaf(delays_notices=True),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "incast_loss",
        ("leaf",),
        "the leaf pauses too late and drops the first frames of an incast",
        "a headroom of the buffer for short cables, or none",
        on_port=_leaf(has_headroom=False),
        layers=(ETHERNET,),
        spread="leaf",
    ),
    Fault(
        "congested_leaf",
        ("leaf",),
        "somebody else fills seven tenths of the leaf's uplinks, both ways",
        "another job, or storage, behind the same leaf",
        on_port=_leaf(busy=0.7),
        spread="leaf",
    ),
    Fault(
        "leaf_detour",
        ("leaf",),
        "what the leaf exchanges with others goes over more switches: 0.8 us in each direction",
        "a leaf that lost its uplinks to the spines of its pod, and is reached through another pod",
        on_port=_leaf(late_s=0.8e-6),
        spread="leaf",
    ),
    Fault(
        "half_uplink",
        ("uplink",),
        # Not with ecmp: hashed flows meet by chance, so that only the mean is judged there, and one
        # of n uplinks at half speed takes 1/(2n) of one leaf's share of it: with four uplinks and
        # four leaves some 6 %, where the limit leaves 10 % for collisions.
        "an uplink of the leaf has half of its speed (seen where routing is adaptive or spray)",
        "a link between switches that has trained with half of its lanes",
        on_uplink=_half,
        spread="leaf",
    ),
)

RAILS: tuple[Fault, ...] = (
    Fault(
        "slow_spines",
        ("rail",),
        "what goes from leaf to leaf of the rail takes 1 us longer, everywhere alike",
        "spines that store frames and send them on whole, or one more tier than is planned",
        on_port=_leaf(late_s=0.5e-6),
        spread="fabric",
    ),
    Fault(
        "thin_uplinks",
        ("rail",),
        "the leaves of the rail have one uplink each: a pair fits, and two do not",
        "spines that are drained for maintenance, or links to them that were never brought up",
        on_port=_one_uplink,
        spread="fabric",
    ),
    Fault(
        "slow_rail",
        ("rail",),
        "the leaves of the rail pass on four fifths of the line",
        "a shaper that is left on all ports of one plane",
        on_port=lambda port: replace(port, passes=0.8),
        spread="fabric",
    ),
)

CABLES: tuple[Fault, ...] = (
    Fault(
        "damaged_in",
        ("port",),
        "one of a million frames comes in with a wrong checksum; what the port sends is sound",
        "a dirty fibre of the cable, of the direction to the host",
        on_port=lambda port: replace(port, damaged=1e-6),
    ),
    Fault(
        "damaged_out",
        ("port",),
        "the leaf gets one of a million frames of the port damaged; what the port gets is sound",
        "a dirty fibre of the cable, of the direction to the switch",
        on_port=lambda port: replace(port, damages=1e-6),
    ),
    Fault(
        "slow_receiver",
        ("port",),
        "the host takes in seven tenths of the line, and pauses its senders for the rest",
        "a read of PCIe that stalls: an IOMMU, a small MaxReadReq, a remote NUMA node",
        on_port=lambda port: replace(port, takes=0.7),
        layers=(ETHERNET,),
        spread="next",
    ),
)

FAULTS = (*LEAVES, *RAILS, *CABLES)
