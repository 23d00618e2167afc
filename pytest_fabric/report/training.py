"""What the slowest port costs a training step, by the verdicts on pairs: a model, and so marked."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from pytest_fabric.judge.training import Cost, Link, Work, cost
from pytest_fabric.report.places import is_pair, ports_of
from pytest_fabric.results import Verdict
from pytest_fabric.units import render

BANDWIDTH = re.compile(r"ib_write_bw\.(?:[0-9]+\.)?average")
LATENCY = re.compile(r"ib_write_lat\.(?:([0-9]+)\.)?median")

#: Messages of a latency that is the way alone: larger ones are carried, which is counted apart.
SMALL_BYTES = 256

#: A difference below this part of a step is none: medians of perftest repeat to about 0.1 %.
ALIKE = 0.001

#: What a report without the numbers says.
NOTHING = "training (a model): not modelled, since no ib_write_bw.average of a pair was measured"


def links(verdicts: Iterable[Verdict]) -> dict[str, Link]:
    """Return what each port reached, by the best of its pairs.

    A slow partner is not held against a port. A direction that is slow is: where a port sent to, or
    received from, at least two others, the worse of both directions counts. A port without a
    latency of its own is taken to have that of most; where none was measured, latency is 0.
    """
    sent: dict[str, dict[str, float]] = defaultdict(dict)
    received: dict[str, dict[str, float]] = defaultdict(dict)
    near: dict[str, float] = {}
    for verdict in verdicts:
        value = verdict.value
        if not is_pair(verdict.target) or not isinstance(value, (int, float)):
            continue
        if not (math.isfinite(value) and value > 0):
            continue
        client, server = ports_of(verdict.target)
        metric = verdict.metric or ""
        small = LATENCY.fullmatch(metric)
        if BANDWIDTH.fullmatch(metric):
            sent[client][server] = received[server][client] = value
        elif small and int(small[1] or 0) <= SMALL_BYTES:
            for port in (client, server):
                near[port] = min(value, near.get(port, math.inf))
    usual = median(near.values()) if near else 0.0
    names = dict.fromkeys((*sent, *received))
    return {
        name: Link(_best(sent.get(name, {}), received.get(name, {})), near.get(name, usual))
        for name in names
    }


def _best(sent: Mapping[str, float], received: Mapping[str, float]) -> float:
    told = [max(way.values()) for way in (sent, received) if len(way) > 1]
    return min(told) if told else max((*sent.values(), *received.values()))


def model(work: Work, verdicts: Iterable[Verdict]) -> tuple[Cost, bool] | None:
    """Return the cost, and whether a latency was measured; None where there is no bandwidth."""
    found = links(verdicts)
    if not found:
        return None
    return cost(work, found), any(link.latency_s for link in found.values())


def line(work: Work, verdicts: Iterable[Verdict]) -> str:
    """Return the cost in one line for the terminal."""
    if work.nodes < 2:
        return "training (a model): one node, whose gradients use no network"
    found = model(work, verdicts)
    if found is None:
        return NOTHING
    told, has_latency = found
    rest = "" if has_latency else "; latency was not measured"
    if told.difference_s < ALIKE * told.now.whole_s:
        return (
            f"training (a model): no single port holds a step up: all-reduce "
            f"{_time(told.now.reduce_s)}, step {_time(told.now.whole_s)}{rest}"
        )
    return (
        f"training (a model): {told.slowest} {_held(told)} "
        f"adds {_time(told.difference_s)} to a step of {_time(told.then.whole_s)} "
        f"({_percent(told)}; all-reduce {_time(told.then.reduce_s)} -> "
        f"{_time(told.now.reduce_s)}){rest}"
    )


def _held(told: Cost) -> str:
    """Return what the slowest port has, beside what most have."""
    if told.measured.bandwidth_bps < told.usual.bandwidth_bps:
        return f"at {_rate(told.measured)}, most {_rate(told.usual)},"
    return f"at {_time(told.measured.latency_s)}, most {_time(told.usual.latency_s)},"


def rows(work: Work, told: Cost) -> Sequence[tuple[str, str, str, str]]:
    """Return a table: what, in the measured fabric, with the slowest port like most, difference."""
    pairs = (
        (f"ring, {2 * (work.nodes - 1)} network steps", told.now.ring_s, told.then.ring_s),
        (
            f"two trees, {2 * math.ceil(math.log2(work.nodes))} network steps",
            told.now.tree_s,
            told.then.tree_s,
        ),
        ("step", told.now.whole_s, told.then.whole_s),
    )
    return [(name, _time(a), _time(b), _time(max(0.0, a - b))) for name, a, b in pairs]


def _percent(told: Cost) -> str:
    return f"{100 * told.difference_s / told.then.whole_s:.2g}%"


def _rate(link: Link) -> str:
    return render(float(f"{link.bandwidth_bps:.3g}"), "b/s")


def _time(seconds: float) -> str:
    return render(float(f"{seconds:.4g}"), "s")
