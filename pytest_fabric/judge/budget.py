"""What a message should take, part by part, and what its tail may be due to.

The budget is that of the median: software and cards, serialisation, light in the cables, switches,
error correction. The tail (P99 less the median) is a matter of its own, and is put down to queueing
or loss only where the window of the measurement shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from pytest_fabric.config import LatencyParts
from pytest_fabric.results import Growth, Measurement
from pytest_fabric.units import render

#: Light in glass, and signals in copper, in seconds per metre: the refractive index of fibre is
#: 1.47, so that a metre takes 4.9 ns.
METRE_S = 5e-9

#: A median is within its budget up to this part, and this time: both are engineering judgement.
SLACK, SLACK_S = 1.15, 0.15e-6

#: A tail beyond this, in seconds, is a wait for a timeout and no matter of the hosts: perftest's
#: queue pairs wait 4.096 us x 2^14 = 67 ms for an acknowledgement (its option -u, 14).
TIMEOUT_S = 1e-3

#: What growth of a counter in the window says of a tail, by its meaning.
TAILS = {
    "pause": "queueing: somebody was told to pause",
    "out_of_sequence": "loss: packets were missed and sent again",
    "retransmissions": "loss: packets were sent again",
    "crc_errors": "damage: frames were lost on a cable",
    "symbol_errors": "damage: frames were lost on a cable",
    "discards": "loss: frames were dropped",
    "link_downed": "a link was lost",
}


@dataclass(frozen=True)
class Way:
    """The way between two ports: switches on it, and metres of cable that the plan tells of."""

    switches: int
    metres: float
    line_bps: float
    mtu: int
    header_bytes: int

    @property
    def links(self) -> int:
        """Return the links on the way."""
        return self.switches + 1


def parts(way: Way, given: LatencyParts, size: int) -> list[tuple[str, float]]:
    """Return the parts of half a round trip of a message of `size` bytes, in seconds."""
    octets = size + max(1, ceil(size / way.mtu)) * way.header_bytes
    switch = f"{way.switches} switch{'' if way.switches == 1 else 'es'}"
    found = [
        ("software and cards", given.software.number),
        (switch, way.switches * given.switch.number),
        (f"FEC of {way.links} links", way.links * given.fec.number),
        ("serialisation", octets * 8 / way.line_bps),
    ]
    if way.metres:
        found.append((f"{way.metres:g} m of cable", way.metres * METRE_S))
    return found


def told(record: Measurement, way: Way, given: LatencyParts) -> str:
    """Return the budget of a write or send, and how its median compares; nothing for others.

    A read waits for its responder's memory besides, and a message that is fetched over PCIe for
    that: neither has a budget here.
    """
    row = record.latency
    if row is None or row.median_s is None or record.tool == "ib_read_lat" or row.bytes > 256:
        return ""
    found = parts(way, given, row.bytes)
    whole = sum(seconds for _, seconds in found)
    listed = ", ".join(f"{name} {_us(seconds)}" for name, seconds in found)
    over, slack = row.median_s - whole, max((SLACK - 1) * whole, SLACK_S)
    if over <= slack:
        room = _us(float(f"{slack:.2g}"))
        verdict = f"the median of {_us(row.median_s)} is within it and {room}: the path is fine"
    else:
        verdict = (
            f"the median of {_us(row.median_s)} is {_us(over)} above it: more switches than "
            "planned, or a slow host (power saving, a core of the other socket, an IOMMU)"
        )
    return f"{_us(whole)} ({listed}); {verdict}"


def tail(record: Measurement) -> str:
    """Return by how much P99 is above the median, and what of it the window explains."""
    row = record.latency
    if row is None or row.median_s is None or row.p99_s is None:
        return ""
    over = row.p99_s - row.median_s
    return f"P99 is {_us(over)} above the median: {_why(record.growth, record, over)}"


def _why(growth: Sequence[Growth], record: Measurement, over: float) -> str:
    grown = [one for one in growth if one.delta and one.meaning in TAILS]
    if grown:
        one = max(grown, key=lambda g: (-list(TAILS).index(g.meaning), g.delta))
        return f"{TAILS[one.meaning]} ({one})"
    if record.doubts:
        return "somebody else's traffic was there"
    if over > TIMEOUT_S:
        return (
            "so long is a timeout, and no counter of this window shows a loss: look at the "
            "switches' counters"
        )
    return (
        "nothing in this window explains it (no pause, no loss, no damage): look at the hosts: "
        "power saving, interrupts or other work on the core, hyperthreads"
    )


def _us(seconds: float) -> str:
    return render(float(f"{seconds:.3g}"), "s")
