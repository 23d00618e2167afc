"""How long a small message waits behind the frames of others."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fabric.lab import physics
from pytest_fabric.lab.flow import Flow

#: Bytes that wait in a full queue: at the thresholds of ECN, and where nothing but PFC empties it.
#: Common thresholds of 400G switches are hundreds of kB, shared buffers per port some MB.
MARKED_BYTES = 200e3
PAUSED_BYTES = 1e6

#: A link that carries more than this part of its capacity has a queue that does not go away.
BUSY = 0.97


def wait_s(flow: Flow, capacity: float, users: Iterable[Flow]) -> float:
    """Return the seconds that a frame of a flow waits for a link of so many bits per second.

    Below its capacity as in an M/D/1 queue (Kleinrock, "Queueing Systems", volume 1): load over
    twice what is left, in frames. Other priorities have queues of their own.
    """
    beside = [one for one in users if one.priority == flow.priority]
    if not beside:
        return 0.0
    if any(one.effect.stops or one.effect.lost for one in beside):
        return PAUSED_BYTES * 8 / capacity
    load = sum(one.wire_bps * one.share for one in beside) / capacity
    if load > BUSY and any(one.effect.marked for one in beside):
        return MARKED_BYTES * 8 / capacity
    frame = flow.mtu + physics.overhead_bytes(flow.sender)
    return min(load, BUSY) / (2 * (1 - min(load, BUSY))) * frame * 8 / capacity
