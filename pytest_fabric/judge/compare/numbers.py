"""Which values of a measurement are compared, the better direction of each, and what matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from statistics import fmean

from pytest_fabric.results import Fact, Measurement

#: Messages up to this size are posted one by one by a core: their rate is what they are about.
SMALL_BYTES = 256


@dataclass(frozen=True)
class Number:
    """A value that is compared by its ratio: times are worse when they are more, all else better.

    `bytes` is the message size, 0 where there is none.
    """

    metric: str
    bytes: int
    unit: str
    value: float


#: Metric, message size, unit, and the value if it was measured.
Row = tuple[str, int, str, float | None]


#: Smallest relative effects that matter. From the practice of acceptance after an upgrade: 2 % of
#: bandwidth, 5 % of a median latency, 20 % of a P99. Engineering judgement for what it does not
#: name: P99.9 as P99, round trips of the kernel 20 %, and 5 % of what a core limits (message rate,
#: TCP, fairness) and of the slowest pair of a bisection.
MATTERS: Mapping[str, float] = {
    "average": 0.02,
    "bidirectional": 0.02,
    "message rate": 0.05,
    "median": 0.05,
    "P99": 0.20,
    "P99.9": 0.20,
    "round trip": 0.20,
    "throughput": 0.05,
    "fairness": 0.05,
    "bandwidth": 0.02,
    "mean": 0.02,
    "slowest": 0.05,
    "bus bandwidth": 0.02,
}

#: What a median latency must change by besides, in seconds.
LEAST_S = 0.15e-6

#: Facts that are measured anew in each run, and so are numbers: tool and metric.
MEASURED_FACTS: Mapping[str, tuple[str, str, str]] = {
    "collective.busbw": ("collective", "bus bandwidth", "B/s"),
}


def matters(metric: str, before: float) -> float:
    """Return the smallest relative change of a metric that matters, by the value before."""
    share = MATTERS[metric]
    return max(share, LEAST_S / before) if metric == "median" else share


def of(record: Measurement) -> Iterator[Number]:
    """Yield the values of a measurement that are there and above zero."""
    for metric, size, unit, value in _all(record):
        if value is not None and 0 < value < inf:
            yield Number(metric, size, unit, value)


def of_fact(name: str, fact: Fact) -> tuple[str, Number] | None:
    """Return the tool and the number of a fact that is measured in each run, or None."""
    value = fact.value
    if name not in MEASURED_FACTS or isinstance(value, str) or value is None or not 0 < value < inf:
        return None
    tool, metric, unit = MEASURED_FACTS[name]
    return tool, Number(metric, 0, unit, float(value))


def _all(record: Measurement) -> Iterator[Row]:
    if record.members:
        yield from _group(record)
    elif record.latency is not None:
        row = record.latency
        yield "median", row.bytes, "s", row.median_s
        yield "P99", row.bytes, "s", row.p99_s
        yield "P99.9", row.bytes, "s", row.p999_s
    elif record.bandwidth is not None:
        yield _bandwidth(record)
    elif record.tcp is not None:
        yield "throughput", 0, "b/s", record.tcp.received_bps
        yield "round trip", 0, "s", record.tcp.rtt_mean_s
        yield "fairness", 0, "", record.tcp.fairness
    elif record.reach:
        times = [one.rtt_median_s for one in record.reach]
        known = [one for one in times if one is not None]
        # A direction that is silent is a loss, and none of the round trips is one of both.
        whole = max(known) if len(known) == len(times) else None
        yield "round trip", max(one.packet_bytes for one in record.reach), "s", whole


def _bandwidth(record: Measurement) -> Row:
    row = record.bandwidth
    assert row is not None
    if record.settings.get("directions") == 2:
        return "bidirectional", row.bytes, "b/s", row.average_bps
    if row.bytes <= SMALL_BYTES:
        return "message rate", row.bytes, "/s", row.message_rate
    return "average", row.bytes, "b/s", row.average_bps


#: What a group of pairs is about, by its tool: how the rates of its pairs become one number.
GROUPS: Mapping[str, Mapping[str, Callable[[list[float]], float]]] = {
    "node_bandwidth": {"bandwidth": sum},
    "gpu_bandwidth": {"bandwidth": sum},
    "incast": {"bandwidth": sum},
    "bisection": {"mean": fmean, "slowest": min},
}


def _group(record: Measurement) -> Iterator[Row]:
    rates = [member.bandwidth.average_bps for member in record.members]
    size = record.members[0].bandwidth.bytes
    for metric, made in GROUPS.get(record.tool, {}).items():
        yield metric, size, "b/s", made(rates)
