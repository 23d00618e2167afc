"""What a tool prints as its values, one record each: plain and frozen; `results` passes them on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Latency:
    """One row of a perftest latency table.

    Write and send are half a round trip, read and atomic a whole one (perftest divides by two for
    the former), so limits are per tool. Percentiles are None when the run had a duration (`-D`);
    percentiles and mean are None in the table of releases before 2016.
    """

    bytes: int
    iterations: int
    min_s: float | None
    max_s: float | None
    median_s: float | None
    mean_s: float | None
    p99_s: float | None
    p999_s: float | None


@dataclass(frozen=True)
class Bandwidth:
    """One row of a perftest bandwidth table; `peak_bps` is None when it was not measured."""

    bytes: int
    iterations: int
    peak_bps: float | None
    average_bps: float
    message_rate: float


@dataclass(frozen=True)
class Reach:
    """What became of the echo requests of one end: `port` is the one that sent them.

    `packet_bytes` is the whole IP packet. Round trips are of all packets but the first, which waits
    for the look-up of the neighbour; None when no other came back. `mtu` is the limit that a packet
    which must not be split ran into, in bytes, where it was told.
    """

    port: str
    packet_bytes: int
    sent: int
    received: int
    duplicates: int
    errors: int
    rtt_min_s: float | None
    rtt_median_s: float | None
    rtt_max_s: float | None
    mtu: int | None

    @property
    def loss(self) -> float:
        """Return the share of packets that did not come back, from 0 to 1."""
        return round((self.sent - self.received) / self.sent, 6)
