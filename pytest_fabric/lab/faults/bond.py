"""Faults of bonds: members that carry nothing, while the port is as active as ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Port


def _without_member(state: str) -> Callable[[Port], Port]:
    def change(port: Port) -> Port:
        lost = next(reversed(port.carrying), port.netdevs[-1])
        left = max(0, len(port.carrying) - 1)
        members = {**port.members, lost: state}
        return replace(port, members=members, speed_bps=port.member_bps * max(1, left))

    return change


FAULTS: tuple[Fault, ...] = (
    Fault(
        "bond_member_down",
        ("port",),
        "one member of the bond is down: the port is ACTIVE, and as fast as the others",
        "a cable pulled or a switch shut down for upgrade, which a bond hides from everybody",
        on_port=_without_member("down"),
        layers=(ETHERNET,),
        of_bonds=True,
    ),
    Fault(
        "bond_member_apart",
        ("port",),
        "one member of the bond is up, and not in the aggregate of LACP: nothing goes over it",
        "a switch port without LACP, in another group, or two switches that are no pair (MLAG)",
        on_port=_without_member("apart"),
        layers=(ETHERNET,),
        of_bonds=True,
    ),
)
