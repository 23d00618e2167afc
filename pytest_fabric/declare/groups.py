"""Several pairs at the same moment: all ports of a node, an incast, the bisection of a fabric.

Each pair is a run of `ib_write_bw` for `duration` seconds, of which perftest counts the middle half
(a quarter is left out at each end: `margin` in its perftest_parameters.c), so that what it counts
is traffic beside that of all others.
"""

from __future__ import annotations

from pytest_fabric.declare.declaration import FABRIC, SOAK, Declaration, whole

#: Engineering judgement: the middle of 10 s shows several hundred round trips of DCQCN's control
#: loop, and 64 nodes still take minutes.
DURATION_S = 10.0

#: Queue pairs of each pair across the middle: with 16, static hashing of an otherwise perfect
#: fabric gives a mean of 0.986 of the payload rate, with 4 only 0.89 (max-min shares, simulated).
QPS_ACROSS = 16


def node_bandwidth(duration: float | None = None, bidirectional: bool = True) -> Declaration:
    """Declare the bandwidth of all ports of a node at once, each with a port of another node.

    `bidirectional` lets them send and receive at the same time, which is what loads its PCIe most.
    Nodes with a single port are skipped: `ib_write_bw` measures those.
    """
    seconds = _seconds("node_bandwidth", duration)
    return Declaration(
        "node_bandwidth", "node", duration_s=seconds, bidirectional=bidirectional or None
    )


def gpu_bandwidth(duration: float | None = None, bidirectional: bool = True) -> Declaration:
    """Declare `node_bandwidth` from the memory of GPUs, of all ports with one declared beside them.

    It needs `gpu` of the rail, and `gpu_memory` of its profile; other ports take no part.
    """
    seconds = _seconds("gpu_bandwidth", duration)
    both = bidirectional or None
    return Declaration(
        "gpu_bandwidth", "node", duration_s=seconds, bidirectional=both, memory="gpu"
    )


def incast(senders: int = 2, duration: float | None = None) -> Declaration:
    """Declare several senders on one receiver: one port for each leaf of each rail is the receiver.

    It congests on purpose: a run makes it where `fabric.dedicated` or `--fabric-load disruptive`
    allow it.
    """
    whole("incast", "senders", senders, 2)
    return Declaration("incast", "incast", duration_s=_seconds("incast", duration), senders=senders)


def bisection(duration: float | None = None, qps: int = QPS_ACROSS) -> Declaration:
    """Declare all ports at once, each sending to the leaf half a turn away (leaf i to i + L/2).

    It loads the whole fabric: a run makes it where `fabric.dedicated` or `--fabric-load disruptive`
    allow it.
    """
    whole("bisection", "qps", qps, 1)
    return Declaration(
        "bisection", "bisection", duration_s=_seconds("bisection", duration), qps=qps
    )


def soak(over: str = "port") -> Declaration:
    """Declare what hours of full load show of a port's link, or of all bandwidths (`fabric`).

    Its windows are made where `--fabric-soak` asks for them.
    """
    if over not in ("port", FABRIC):
        raise ValueError(f"soak(over={over!r}): expected port or fabric")
    return Declaration(SOAK, over)


def soak_window(number: int, duration: float, is_across: bool) -> Declaration:
    """Declare one window of a soak: a permutation of all ports, or of those of each leaf."""
    return Declaration(
        "soak_window",
        FABRIC if is_across else "leaf",
        duration_s=_seconds("soak_window", duration),
        qps=QPS_ACROSS,
        window=number,
    )


def _seconds(tool: str, duration: float | None) -> float:
    """Return the duration; perftest counts whole quarters of it. Raises ValueError."""
    seconds = DURATION_S if duration is None else duration
    if isinstance(seconds, bool) or not 4 <= seconds <= 86400:
        raise ValueError(f"{tool}(duration={duration!r}): expected 4 to 86400 seconds")
    return float(seconds)
