"""How fast TCP streams flow between two ports, and what each socket knows of it: pure functions."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pytest_fabric.lab import netdevs, physics, procfs
from pytest_fabric.lab.model import Node, Port

#: What a thread sends or takes in with jumbo frames and segmentation offload: public runs of iperf3
#: on 100G and faster cards show 30 to 60 Gb/s for each core.
THREAD_BPS = 45e9

#: The first release with a thread for each stream.
THREADED = (3, 16)

#: Interrupts and both stacks, there and back, under load; and the noise of each stream.
KERNEL_S, NOISE = 60e-6, 0.03

#: Headers of a segment in its packet: IPv4, TCP with time stamps.
HEADERS = 52

#: Of a buffer, so much is data (tcp_adv_win_scale 1): the rest is what the kernel needs to keep it.
WINDOW_SHARE = 0.5

#: A stream that loses the share p of its segments has a window of 1.22 / sqrt(p) of them (Mathis,
#: Semke, Mahdavi, Ott: The macroscopic behavior of the TCP congestion avoidance algorithm, 1997).
MATHIS = 1.22

#: What is left to a stream on a path that is nearly full.
CROWDED = 0.1


@dataclass(frozen=True)
class Stream:
    """A connection while it sends: what its kernel knows of it.

    `limited` is the share of its time in which the receiver's window held it up.
    """

    local: str
    peer: str
    bps: float
    rtt_s: float
    mss: int
    cwnd: int
    window: int
    loss: float
    limited: float
    begun: float
    seconds: float


@dataclass(frozen=True)
class Rates:
    """The payload bits per second of each stream, and what bounds them."""

    bps: tuple[float, ...]
    rtt_s: float
    mss: int
    window: int
    loss: float
    limited: float
    cores: tuple[float, float]


def rates(
    sender: tuple[Node, Port], receiver: tuple[Node, Port], count: int, chance: random.Random
) -> Rates:
    """Return what `count` streams from a port to another get."""
    (source, out), (sink, into) = sender, receiver
    mss = min(netdevs.netdev_mtu(out), netdevs.netdev_mtu(into)) - HEADERS
    rtt = KERNEL_S + 2 * physics.switches(out, into) * physics.SWITCH_S[out.layer]
    rtt += out.late_s + into.late_s
    window = int(WINDOW_SHARE * min(_most(sink, "tcp_rmem"), _most(source, "tcp_wmem")))
    loss = 1 - (1 - out.loss) * (1 - into.loss)
    free = min(out.speed_bps, into.speed_bps) * mss / (mss + HEADERS + 38) / count
    by_core = min(_thread_bps(source, out, count), _thread_bps(sink, into, count))
    by_window = window * 8 / rtt
    by_loss = MATHIS * mss * 8 / rtt / loss**0.5 if loss else float("inf")
    host = min(physics.pcie_bps(out), physics.pcie_bps(into)) / count
    each = min(free, by_core, by_window, by_loss, host)
    found = [each * (1 - abs(chance.gauss(0, NOISE))) for _ in range(count)]
    if out.bad_path or into.bad_path:
        found[-1] *= CROWDED
    threads = [THREAD_BPS * port.stack for port in (out, into)]
    return Rates(
        bps=tuple(found),
        rtt_s=rtt,
        mss=mss,
        window=window,
        loss=loss,
        limited=0.97 if each == by_window else 0.0,
        cores=(sum(found) / threads[0], sum(found) / threads[1]),
    )


def _thread_bps(node: Node, port: Port, count: int) -> float:
    whole = THREAD_BPS * port.stack
    version = tuple(int(part) for part in node.iperf3.split("."))
    return whole if version >= THREADED else whole / count


def _most(node: Node, name: str) -> int:
    """Return the largest buffer that a node's kernel gives a socket, in bytes."""
    text = node.files.get(f"/proc/sys/net/ipv4/{name}", procfs.SETTINGS[f"net/ipv4/{name}"])
    return int(text.split()[-1])
