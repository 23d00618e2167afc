"""What becomes of echo requests between two ports: which come back, and how soon."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from pytest_fabric.lab import netdevs
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Port

#: An echo is answered by the kernel: two interrupts, two passes through the stack.
KERNEL_S = 28e-6
#: The first packet waits for the look-up of the neighbour's address.
LOOK_UP_S = 180e-6
#: The noise of interrupts and scheduling, above the usual time.
NOISE_S = 6e-6


@dataclass(frozen=True)
class Packets:
    """What is sent: how many, with which payload in bytes, and whether they may be split."""

    host: str
    count: int
    payload: int
    whole: bool
    interval_s: float


@dataclass
class Echoes:
    """What came back: round trips by number, from 1.

    `mtu` is that of the sender where it sent nothing, since packets would not fit; `refused_by` is
    the sender's address where nobody has that of the receiver.
    """

    times_s: dict[int, float] = field(default_factory=dict)
    mtu: int | None = None
    refused_by: str | None = None


def send(fabric: Fabric, sender: Port, packets: Packets, chance: random.Random) -> Echoes:
    """Return what comes back of packets that leave by a port."""
    size = packets.payload + (28 if sender.address.version == 4 else 48)
    if packets.whole and size > netdevs.netdev_mtu(sender):
        return Echoes(mtu=netdevs.netdev_mtu(sender))
    receiver = _receiver(fabric, packets.host)
    if receiver is None:
        return Echoes(refused_by=str(sender.address))
    ends = (sender, receiver)
    if any(port.filters_ping for port in ends) or (packets.whole and size > _room(ends)):
        return Echoes()
    kept = (1 - sender.loss) * (1 - receiver.loss)
    found = Echoes()
    for seq in range(1, packets.count + 1):
        time = KERNEL_S + sender.late_s + receiver.late_s + chance.expovariate(1 / NOISE_S)
        if chance.random() < kept:
            found.times_s[seq] = time + (LOOK_UP_S if seq == 1 else 0)
    return found


def _receiver(fabric: Fabric, host: str) -> Port | None:
    ports = (port for node in fabric.nodes.values() for port in node.ports)
    return next((p for p in ports if str(p.address) == host and p.state == "ACTIVE"), None)


def _room(ends: tuple[Port, Port]) -> int:
    """Return the largest IP packet that passes between two ports."""
    return min(
        min(netdevs.netdev_mtu(port), port.path_mtu or netdevs.netdev_mtu(port)) for port in ends
    )
