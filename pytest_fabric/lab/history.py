"""What all drivers share: ports have an older life, and a fault can hide counters."""

from __future__ import annotations

import random
from functools import cache

from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

#: A link that flaps is lost once in so many packets.
PACKETS_PER_FLAP = 20_000_000


def past(port: Port) -> int:
    """Return the bytes that a port has moved before the lab began, the same in every run."""
    return _past_of(str(port.id))


@cache
def _past_of(name: str) -> int:
    return random.Random(f"{name} past").randrange(10**12, 10**14)


def visible(port: Port, values: dict[str, int]) -> dict[str, int]:
    """Return the counters that no fault hides."""
    hidden = port.hidden_counters
    return (
        {name: value for name, value in values.items() if name not in hidden} if hidden else values
    )


def paused_us(port: Port, tally: Tally, priority: int) -> int:
    """Return for how long a port has made its senders wait; in a storm for half of the time."""
    stormy = tally.received_bytes[priority] * 4e6 / port.speed_bps if port.storms else 0.0
    return int(stormy + tally.pausing_us[priority])


def lost(port: Port, tally: Tally) -> int:
    """Return how often the link was lost beside a usual start: before, and under load."""
    flaps = port.signal.flaps
    return flaps + sum(tally.received_packets) // PACKETS_PER_FLAP if flaps else 0
