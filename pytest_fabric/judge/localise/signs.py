"""What facts and counters say about a place, and which failures a fact can be the cause of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_fabric.judge.localise.seen import Sign
from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS, PROBES
from pytest_fabric.results import Growth

#: How much likelier a growing counter makes a fault at its port, and in which direction. Who sends
#: pause is slow to receive, who only receives it is a victim; damage is counted by the receiver of
#: a direction. Engineering judgement: a sign settles a choice, and outweighs no pattern.
COUNTERS = {
    ("pause", "tx"): (20.0, "rx", "it sent {n:,} pause frames: its receive side is slow"),
    ("pause", "rx"): (
        1.0,
        "tx",
        "it received {n:,} pause frames and sent none: its leaf or its receivers make it wait",
    ),
    ("crc_errors", None): (10.0, "rx", "it received {n:,} damaged frames"),
    ("symbol_errors", None): (10.0, "rx", "it received {n:,} damaged symbols"),
    ("discards", "tx"): (10.0, "tx", "it dropped {n:,} frames that it was to send"),
    ("discards", None): (10.0, "rx", "it dropped {n:,} frames that it received"),
    ("out_of_sequence", None): (2.0, "rx", "it missed {n:,} packets of a sequence"),
    ("link_downed", None): (20.0, None, "it lost its link {n:,} times"),
}

#: How much likelier a failed check of its own makes a fault at a place: of a fact that can be the
#: cause of what pairs show, and of any other.
CAUSE, OTHER = 30.0, 3.0

#: What a fact can be the cause of, by the first words of its metric: kinds of pair metrics.
CAUSES = {
    "wiring": ("latency", "bandwidth", "ping", "link", "pause", "discards"),
    "link.speed": ("latency", "bandwidth", "pause", "discards"),
    "link.width": ("latency", "bandwidth", "pause", "discards"),
    "link.mtu": ("link", "bandwidth", "ping"),
    "link": (
        "latency",
        "bandwidth",
        "crc_errors",
        "symbol_errors",
        "out_of_sequence",
        "retransmissions",
        "link_downed",
    ),
    "module": ("latency", "bandwidth", "crc_errors", "symbol_errors", "retransmissions"),
    "pcie": ("latency", "bandwidth", "pause", "discards", "out_of_sequence", "retransmissions"),
    "roce": (
        "latency",
        "bandwidth",
        "class",
        "pause",
        "discards",
        "out_of_sequence",
        "retransmissions",
    ),
    "host": ("latency", "bandwidth", "ping"),
}


def is_at_once(metric: str | None) -> bool:
    """Return whether a metric is of all ports of a node at once."""
    return (metric or "").partition(".")[0] in ("node", "gpu")


def can_cause(fact: str | None, metric: str | None) -> bool:
    """Return whether a fact outside its limit can be why a metric of a pair is."""
    if fact is None or metric is None:
        return False
    words = fact.split(".")
    names = [".".join(words[:length]) for length in range(len(words), 0, -1)]
    return next((_kind(metric) in CAUSES[name] for name in names if name in CAUSES), False)


def _kind(metric: str) -> str:
    first = metric.partition(".")[0]
    if first in LATENCY_TOOLS:
        return "latency"
    if first in BANDWIDTH_TOOLS or is_at_once(metric):
        return "bandwidth"
    return "ping" if first in PROBES else first


def of_check(place: str, metric: str | None, text: str) -> Sign:
    """Return the sign that a failed check of a port or node itself is."""
    first = (metric or "").partition(".")[0]
    return Sign(place, text, CAUSE if first in CAUSES else OTHER)


def of_counters(growth: Iterable[Growth]) -> list[Sign]:
    """Return what the counters of all windows say of each port."""
    sums: Counter[tuple[str, str, str | None]] = Counter()
    for grown in growth:
        way = grown.direction if (grown.meaning, grown.direction) in COUNTERS else None
        if grown.delta and (grown.meaning, way) in COUNTERS:
            sums[grown.port, grown.meaning, way] += grown.delta
    return [
        Sign(port, text.format(n=count), ratio, direction)
        for (port, meaning, way), count in sums.items()
        if not ((meaning, way) == ("pause", "rx") and (port, "pause", "tx") in sums)
        for ratio, direction, text in (COUNTERS[meaning, way],)
    ]
