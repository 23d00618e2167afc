"""Faults of an InfiniBand subnet: its manager, its partitions, and the links between switches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import INFINIBAND, Port


def _uplink(state: str) -> Callable[[Port], Port]:
    return lambda port: replace(port, uplink=state)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "no_subnet_manager",
        ("node",),
        "no subnet manager answers, and the links stay as the last one has left them",
        "opensm stopped, or a switch that ran it was restarted without it",
        on_node=lambda node: replace(node, has_manager=False),
        layers=(INFINIBAND,),
        spread="fabric",
    ),
    Fault(
        "second_manager",
        ("port",),
        "the port knows another subnet manager than the others of its rail",
        "two masters: a subnet that was split between its switches, or a handover that hangs",
        on_port=lambda port: replace(port, sm_lid=77),
        layers=(INFINIBAND,),
    ),
    Fault(
        "wrong_partition",
        ("port",),
        "the port is a limited member of the default partition, and of no other",
        "a GUID missing in the manager's partitions, as after a card was replaced",
        on_port=lambda port: replace(port, pkeys=(0x7FFF,)),
        layers=(INFINIBAND,),
    ),
    Fault(
        "no_data_lane",
        ("port",),
        "no service level of the port has a virtual lane for data: only management gets through",
        "a QoS policy of the subnet manager that maps levels to lanes that the switch lacks",
        on_port=lambda port: replace(port, drops_rdma=True),
        layers=(INFINIBAND,),
    ),
    Fault(
        "no_lid",
        ("port",),
        "the port has no LID, and knows of no subnet manager",
        "a manager that refuses the port, or lost its routes in the middle of a sweep",
        on_port=lambda port: replace(port, lid=0),
        layers=(INFINIBAND,),
    ),
    Fault(
        "slow_ib_link",
        ("port",),
        "the link of the port's switch to the spine has trained with one lane",
        "a dirty connector or a damaged cable between switches: no node shows it",
        on_port=_uplink("slow"),
        layers=(INFINIBAND,),
        spread="leaf",
    ),
    Fault(
        "ib_link_down",
        ("port",),
        "the link of the port's switch to the spine has trained and was never made active",
        "a manager that could not reach the switch, or an M_Key that differs",
        on_port=_uplink("down"),
        layers=(INFINIBAND,),
        spread="leaf",
    ),
)
