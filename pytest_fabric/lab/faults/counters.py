"""Faults of counters: they are there, and what they say is not what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import INFINIBAND, Port

#: Files of `counters/` and `hw_counters/` by what they count, of all drivers.
SYMBOLS = ("symbol_error",)
GAPS = ("out_of_sequence", "oos_drop_count")
NAKS = ("packet_seq_err", "seq_err_naks_rcvd")
SENT = ("port_xmit_data", "tx_bytes")

#: Simulated seconds between two writes of a card that has all but stopped to write.
SELDOM_S = 900.0


def _reads(how: str, names: tuple[str, ...]) -> Callable[[Port], Port]:
    """Return what makes the counters of these names be read in an odd way."""
    odd = dict.fromkeys(names, how)

    def change(port: Port) -> Port:
        counters = {**port.quirks.counters, **odd}
        return replace(port, quirks=replace(port.quirks, counters=counters))

    return change


def _late(port: Port) -> Port:
    return replace(port, adapter=replace(port.adapter, refresh_s=SELDOM_S))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "counter_saturated",
        ("port",),
        "the counter of symbol errors is full, and counts no more of them",
        "a counter of 16 bits that nobody has cleared since a bad cable was replaced",
        on_port=_reads("full", SYMBOLS),
        layers=(INFINIBAND,),
    ),
    Fault(
        "counter_unreadable",
        ("port",),
        "reading the counter of packets out of sequence fails",
        "a command to firmware that times out, or a driver that asks for what a card has not got",
        on_port=_reads("unreadable", GAPS),
    ),
    Fault(
        "counter_reset",
        ("port",),
        "the counter of gaps in what came back falls while traffic runs",
        "a monitoring agent that clears what it has read, or a driver that was loaded anew",
        on_port=_reads("falls", NAKS),
    ),
    Fault(
        "counter_wraps",
        ("port",),
        "the counter of bytes sent begins again after 32 bits: several times in a measurement",
        "a card, or a performance agent, without extended counters",
        on_port=_reads("wraps", SENT),
    ),
    Fault(
        "counter_late",
        ("port",),
        "the card writes its statistics to memory every 15 minutes",
        "an interval of coalescing that was raised to save PCIe, or firmware that is stuck",
        on_port=_late,
    ),
)
