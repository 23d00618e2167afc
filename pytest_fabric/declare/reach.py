"""Whether two ports reach each other: an echo, and a short write."""

from __future__ import annotations

from pytest_fabric.declare.declaration import Declaration, isolated, whole
from pytest_fabric.declare.perftest import ib_write_lat

#: Iterations of a latency run that only shows whether RDMA reaches the other end: milliseconds.
REACH_ITERATIONS = 100


def ping(
    full_size: bool = False, packets: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare echo requests from rail to rail; of `full_size`, the largest both ways, never split.

    Without `packets` as many as tell a loss of one in a thousand.
    """
    whole("ping", "packets", packets, 1)
    isolated("ping", isolate)
    size = "full" if full_size else None
    return Declaration("ping", "pair", iterations=packets, isolate=isolate, packet=size)


def rdma_reach() -> Declaration:
    """Declare a short run of RDMA writes of 2 bytes: whether RDMA reaches the other end at all.

    A pair where it does not is not measured with anything longer.
    """
    return ib_write_lat(size=2, iterations=REACH_ITERATIONS)
