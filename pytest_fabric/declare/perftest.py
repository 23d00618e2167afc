"""Latency and bandwidth of a pair, as perftest measures them."""

from __future__ import annotations

from pytest_fabric.declare.declaration import Declaration, isolated, whole


def _latency(
    tool: str, size: int, iterations: int | None, isolate: str | None, over: str = "pair"
) -> Declaration:
    _check_over(tool, over)
    whole(tool, "size", size, 1)
    whole(tool, "iterations", iterations, 5)
    isolated(tool, isolate)
    return Declaration(tool, over, size=size, iterations=iterations, isolate=isolate)


def _bandwidth(
    tool: str,
    size: int | None,
    duration: float | None,
    qps: int | None,
    isolate: str | None,
    bidirectional: bool,
    over: str = "pair",
) -> Declaration:
    _check_over(tool, over)
    whole(tool, "size", size, 1)
    whole(tool, "qps", qps, 1)
    isolated(tool, isolate)
    if duration is not None and not 1 <= duration <= 86400:
        raise ValueError(f"{tool}(duration={duration!r}): expected 1 to 86400 seconds")
    return Declaration(
        tool,
        over,
        size=size,
        duration_s=duration,
        qps=qps,
        isolate=isolate,
        bidirectional=bidirectional or None,
    )


def _check_over(tool: str, over: str) -> None:
    if over not in ("pair", "fabric"):
        raise ValueError(f"{tool}(over={over!r}): expected pair or fabric")


def ib_write_lat(
    size: int = 2,
    iterations: int | None = None,
    isolate: str | None = None,
    over: str = "pair",
) -> Declaration:
    """Declare the latency of RDMA writes of `size` bytes: half a round trip.

    Over `fabric`, a test gets what all pairs measured, at once.
    """
    return _latency("ib_write_lat", size, iterations, isolate, over)


def ib_read_lat(
    size: int = 2, iterations: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare the latency of RDMA reads of `size` bytes: a whole round trip."""
    return _latency("ib_read_lat", size, iterations, isolate)


def ib_send_lat(
    size: int = 2, iterations: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare the latency of sends of `size` bytes: half a round trip."""
    return _latency("ib_send_lat", size, iterations, isolate)


def ib_write_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
    over: str = "pair",
) -> Declaration:
    """Declare the bandwidth of RDMA writes: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions. Over
    `fabric`, a test gets what all pairs measured, at once.
    """
    return _bandwidth("ib_write_bw", size, duration, qps, isolate, bidirectional, over)


def ib_read_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
) -> Declaration:
    """Declare the bandwidth of RDMA reads: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions.
    """
    return _bandwidth("ib_read_bw", size, duration, qps, isolate, bidirectional)


def ib_send_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
) -> Declaration:
    """Declare the bandwidth of sends: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions.
    """
    return _bandwidth("ib_send_bw", size, duration, qps, isolate, bidirectional)
