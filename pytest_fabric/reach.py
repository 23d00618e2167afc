"""The record of a ping: plain and frozen, like those of `results`."""

from __future__ import annotations

from dataclasses import dataclass


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
        return 1 - self.received / self.sent
