"""Faults that only traffic shows."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.lab import drivers
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Port
from pytest_fabric.lab.tally import Tally


def _without_counter(port: Port) -> Port:
    if not port.is_ethernet:
        return replace(port, hidden_counters=frozenset({"symbol_error"}))
    return replace(port, hidden_counters=frozenset(drivers.of(port).pauses(port, Tally())))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "latency_tail",
        ("port",),
        "the slowest messages of every pair that uses the port take 18 us; the median stays",
        "power saving, interrupts on the polling core, or a marginal cable that retries",
        on_port=lambda port: replace(port, tail=35.0),
    ),
    Fault(
        "pause_rx",
        ("port",),
        "the port is told to pause on its lossless priority while traffic runs",
        "a congested switch, or a slow receiver behind it",
        on_port=lambda port: replace(port, paused=True),
        layers=(ETHERNET,),
    ),
    Fault(
        "default_class",
        ("port",),
        "what the port sends travels on priority 0, whatever class the tool asked for",
        "trust left at PCP, or a traffic class override that lost its setting at reboot",
        on_port=lambda port: replace(port, best_effort=True),
        layers=(ETHERNET,),
    ),
    Fault(
        "pause_storm",
        ("port",),
        "the port makes its senders wait for half of the time in which it receives",
        "a host that cannot take in what it is sent: a hung process, a slow PCIe path",
        on_port=lambda port: replace(port, storms=True),
        layers=(ETHERNET,),
        spread="fabric",
    ),
    Fault(
        "foreign_traffic",
        ("port",),
        "a quarter of the line is filled with somebody else's traffic, both ways",
        "a job, storage or a backup that shares the port",
        on_port=lambda port: replace(port, foreign=0.25),
        spread="node",
    ),
    Fault(
        "packet_loss",
        ("port",),
        "the port drops one packet in 100,000 of what it is sent, and senders send again",
        "a buffer without headroom, a receiver that is too slow, or PFC that is not on",
        on_port=lambda port: replace(port, loses=1e-5),
        layers=(ETHERNET,),
    ),
    Fault(
        "counter_missing",
        ("port",),
        "the counters of pause are not there; on InfiniBand that of symbol errors",
        "flow control switched off (the driver hides what is off), or another driver",
        on_port=_without_counter,
    ),
)
