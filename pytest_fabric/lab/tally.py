"""What a port has moved and met since the lab started."""

from __future__ import annotations

from dataclasses import dataclass, field

PRIORITIES = 8


def _counts() -> list[int]:
    return [0] * PRIORITIES


def _times() -> list[float]:
    return [0.0] * PRIORITIES


@dataclass
class Tally:
    """What a port has moved since the lab started; lists are per priority.

    `pauses` are frames that asked the port to pause, `paused_us` for how long they did.
    `discards` are packets that the port did not take in, `gaps` what it missed of a sequence,
    `resent` what its peers had to ask for again, `timeouts` what it sent again unasked.
    `marked` are packets that came in with a mark of congestion, `notices` what the port answered
    them with; `heeded` and `ignored` are answers that came to it. `waited_s` is for how long data
    of an InfiniBand port lay ready and had no credit. `damaged` are frames with
    a wrong checksum, `pausing_us` is for how long it asked others to pause. What passed the kernel
    (TCP) is in the bytes of its priority, and counted once more by the netdev.
    """

    sent_bytes: list[int] = field(default_factory=_counts)
    sent_packets: list[int] = field(default_factory=_counts)
    received_bytes: list[int] = field(default_factory=_counts)
    received_packets: list[int] = field(default_factory=_counts)
    pauses: list[int] = field(default_factory=_counts)
    write_requests: int = 0
    read_requests: int = 0
    discards: int = 0
    gaps: int = 0
    resent: int = 0
    timeouts: int = 0
    paused_us: list[float] = field(default_factory=_times)
    marked: float = 0.0
    notices: float = 0.0
    heeded: float = 0.0
    ignored: float = 0.0
    waited_s: float = 0.0
    damaged: int = 0
    pausing_us: list[float] = field(default_factory=_times)
    kernel_sent: int = 0
    kernel_received: int = 0


def move(
    sender: Tally,
    receiver: Tally,
    priority: int,
    octets: int,
    packets: int,
    arrives: int | None = None,
) -> None:
    """Count frames at both ends; the receiver may count them on another priority."""
    there = priority if arrives is None else arrives
    sender.sent_bytes[priority] += octets
    sender.sent_packets[priority] += packets
    receiver.received_bytes[there] += octets
    receiver.received_packets[there] += packets
