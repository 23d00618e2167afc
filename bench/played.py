"""The fabric that `bench.localise` breaks: its ports, pairs, limits, and what a pair measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pytest_fabric import pairs as strategies
from pytest_fabric.config import Cluster, load_text
from pytest_fabric.judge.bound import BoundClause
from pytest_fabric.judge.limits import Limits
from pytest_fabric.lab import build, physics
from pytest_fabric.lab.flow import Flow, count
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally
from pytest_fabric.results import Growth, Pair, Verdict
from pytest_fabric.results import Port as PortId

CLUSTER = """
name: localise
transport: lab
nodes:
  gpu[001-008]: {profile: roce, rails: {RAILS_A}}
  gpu[009-016]: {profile: roce, rails: {RAILS_B}}
profiles:
  roce: {extends: builtin/cx7-400g-roce}
"""

#: What the suite asserts about latency and about bandwidth: verb, bytes, statistic, metric.
LATENCY = tuple(
    (verb, size, statistic, f"ib_{verb}_lat{'' if size == 4 else f'.{size}'}.{statistic}")
    for verb in ("write", "read", "send")
    for size in (4, 4096)
    for statistic in ("median", "p99")
)
BANDWIDTH = ("write", "read", "send")
GROWTH = ("pause", "discards", "out_of_sequence", "retransmissions")


@dataclass(frozen=True)
class Fabric:
    """The sound fabric: its ports, the pairs of the strategy, and the limits by metric."""

    ports: Mapping[PortId, Port]
    pairs: Sequence[Pair]
    bounds: Mapping[str, Callable[[float], bool]]
    limits: Mapping[str, str]


def fabric() -> Fabric:
    """Return the fabric of the benchmark."""
    text = CLUSTER
    for half in "AB":
        rails = ", ".join(
            f"rail{n}: {{device: mlx5_{n}, network: 10.{n}.0.0/16, leaf: leaf-{n}{half.lower()}}}"
            for n in range(4)
        )
        text = text.replace(f"{{RAILS_{half}}}", f"{{{rails}}}")
    cluster = load_text(text, Path("cluster.yaml"))
    leaves = {p: leaf for p in cluster.ports() if (leaf := cluster.rail(p).leaf) is not None}
    chosen = strategies.select("cover", cluster.ports(), leaves=leaves, seed=1, peers=4)
    ports = {port.id: port for node in build.nodes(cluster) for port in node.ports}
    return Fabric(ports, tuple(chosen), *_bounds(cluster))


def _bounds(cluster: Cluster) -> tuple[dict[str, Callable[[float], bool]], dict[str, str]]:
    names = [metric for *_, metric in LATENCY]
    names += [f"ib_{verb}_bw.average" for verb in BANDWIDTH]
    names += ["ib_write_bw.bidirectional", "link.mtu", "class.share"]
    names += [f"{meaning}.growth" for meaning in GROWTH]
    limits = Limits("bench", (cluster.profiles["roce"],), lambda reason: None)
    bounds, texts = {}, {}
    for name in names:
        clauses = [one for one in limits[name].clauses if isinstance(one, BoundClause)]
        comparisons = [one for clause in clauses for one in clause.comparisons]
        bounds[name] = _holds([(sign, float(bound.number)) for sign, bound in comparisons])  # type: ignore[union-attr]  # none of them is a word
        texts[name] = clauses[0].text
    return bounds, texts


def _holds(comparisons: Sequence[tuple[str, float]]) -> Callable[[float], bool]:
    def holds(value: float) -> bool:
        return all(
            {"<=": value <= bound, ">=": value >= bound, "==": value == bound}[sign]
            for sign, bound in comparisons
        )

    return holds


def measured(
    client: Port, server: Port, chance: Random, is_hit: bool
) -> tuple[dict[str, float], list[Growth]]:
    """Return the values of every check of a pair, and what its counters grew by."""
    values: dict[str, float] = {}
    for verb, size, statistic, metric in LATENCY:
        if statistic == "median":
            row = physics.latencies(verb, size, 20_000, client, server, chance)
        values[metric] = getattr(row, statistic)
    for verb in BANDWIDTH:
        ends = (server, client) if verb == "read" else (client, server)
        bps = physics.goodput_bps(2**20, 4, *ends, chance)
        values[f"ib_{verb}_bw.average"] = bps / 2 if is_hit else bps
    values["ib_write_bw.bidirectional"] = 2 * values["ib_write_bw.average"]
    values["link.mtu"] = min(client.mtu, server.mtu)
    values["class.share"] = 0.02 if client.best_effort else 0.99
    growth = _growth(client, server, values["ib_write_bw.average"])
    for meaning in GROWTH:
        values[f"{meaning}.growth"] = sum(g.delta for g in growth if g.meaning == meaning)
    return values, growth


def _growth(client: Port, server: Port, bps: float) -> list[Growth]:
    """Return what the counters of both ends grow by while one writes to the other for 5 s."""
    sender, receiver = Tally(), Tally()
    flow: dict[str, Any] = {"verb": "write", "size": 2**20, "bps": bps}
    one = Flow(client, server, priority=3, answers=3, bulk=True, seconds=5.0, real_s=5.0, **flow)
    count(one, round(bps * 5 / 8 / 2**20), sender, receiver)
    found = []
    for port, tally in ((client, sender), (server, receiver)):
        grown = {
            ("pause", "rx"): sum(tally.pauses),
            ("discards", "rx"): tally.discards,
            ("out_of_sequence", None): tally.gaps,
            ("retransmissions", None): tally.resent + tally.timeouts,
        }
        for (meaning, way), delta in grown.items():
            if delta:
                found.append(Growth(str(port.id), meaning, meaning, delta, way))
    return found


def verdicts(
    known: Fabric, pair: Pair, values: Mapping[str, float], growth: Sequence[Growth]
) -> list[Verdict]:
    """Return the verdicts of the suite on a pair; a failure says what grew, as real ones do."""
    found = []
    for metric, value in values.items():
        passed = known.bounds[metric](value)
        told = "; ".join(map(str, growth)) if metric.endswith(".growth") else ""
        found.append(
            Verdict(
                nodeid=f"{metric}[{pair}]",
                check=metric,
                target=str(pair),
                layer="pair",
                outcome="passed" if passed else "failed",
                metric=metric,
                value=value,
                unit="",
                limit=known.limits[metric],
                limit_source=None,
                message=None if passed else f"{pair}  {metric}\n  beside  {told}",
                started=0.0,
                duration=0.0,
            )
        )
    return found
