"""What a tool prints as its values, one record each: plain and frozen; `results` passes them on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


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
class Member:
    """One pair of a group that was measured at once: its row, and when its client ran.

    `began_s` is when it was told to start, `ended_s` when it was over, in seconds after the first
    one was told, by the clock of the run.
    """

    pair: str
    bandwidth: Bandwidth
    mtu: int | None
    began_s: float
    ended_s: float


@dataclass(frozen=True)
class Health:
    """What a port said of its link over one window of a soak: growth between two readings.

    `seconds` passed between them by the node's own clock, at `speed_bps`. `lost` counts blocks that
    FEC could not correct, `corrected` bits that it could. `problems` tells by name of field why
    something is None, `inapplicable` why the port has no such thing.
    """

    port: str
    seconds: float
    speed_bps: float | None
    flaps: int | None = None
    lost: int | None = None
    corrected: int | None = None
    celsius: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    inapplicable: Mapping[str, str] = field(default_factory=dict)


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


@dataclass(frozen=True)
class Tcp:
    """A run of TCP streams from the client to the server, as iperf3 and the sending kernel saw it.

    `retransmits` counts segments of `mss_bytes`. `fairness` is Jain's index of what each stream
    got: 1 when all got the same, 1/n when one of n got everything. Round trips are those that the
    sending kernel smoothed, over all streams. A CPU share of 1 is one core. The last three come
    from `ss` while the streams ran: shares of the time in which the receiver's window or the
    sender's buffer held the streams up (0 to 1), and how many sockets were seen. None is what was
    not told.
    """

    version: str | None
    streams: int
    seconds: float
    sent_bps: float
    received_bps: float
    retransmits: int | None
    mss_bytes: int | None
    fairness: float
    rtt_min_s: float | None
    rtt_mean_s: float | None
    rtt_max_s: float | None
    cwnd_bytes: int | None
    cpu_sender: float | None
    cpu_receiver: float | None
    congestion: str | None
    receiver_limited: float | None = None
    buffer_limited: float | None = None
    sockets: int = 0

    @property
    def has_threads(self) -> bool:
        """Return whether each stream had a thread of its own: since iperf3 3.16."""
        numbers = [int(part) for part in re.findall(r"\d+", self.version or "")[:2]]
        return tuple(numbers) >= (3, 16)

    @property
    def resent(self) -> float | None:
        """Return the share of segments that were sent again, None where it was not told."""
        if self.retransmits is None or not self.mss_bytes:
            return None
        segments = max(1.0, self.sent_bps * self.seconds / 8 / self.mss_bytes)
        return round(self.retransmits / segments, 6)
