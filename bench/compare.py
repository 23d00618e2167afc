"""How often a comparison is right: `python -m bench.compare [--runs 4 --comparisons 100]`.

Makes seeded comparisons of 16 pairs with the lab's latencies (`lab.physics`), and prints JSON: how
often a change of the median of all pairs was found, how often no change was reported as none, and
how often a change at one node alone was found there and nowhere else. Noise between runs is drawn
for each pair and run, since each has a path and a place of its own; `--shared` is noise that all
pairs of a run have in common.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from math import exp
from pathlib import Path
from statistics import NormalDist

from pytest_fabric.config import load_text
from pytest_fabric.judge.compare.comparison import Comparison, compare
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.lab import build, physics
from pytest_fabric.lab.model import Port
from pytest_fabric.results import Latency, Measured, Measurement

CLUSTER = """
name: bench
transport: lab
nodes:
  gpu[001-016]: {profile: roce}
rails:
  rail0: {device: mlx5_0, network: 10.0.0.0/16, leaf: leaf-0}
profiles:
  roce:
    link: {layer: Ethernet, speed: 400 Gb/s, width: 4, mtu: 4096}
"""

SIZE, ITERATIONS = 4, 20_000

#: How many scales the P99 of the lab's tail is above its median.
P99_SCALES = exp(NormalDist().inv_cdf(0.99)) - 1

RECORD = Measurement(
    key=f"ib_write_lat size={SIZE} iterations={ITERATIONS}",
    tool="ib_write_lat",
    target="",
    commands={},
    versions={},
    attempts=(),
    settings={"tool": "ib_write_lat", "size": SIZE, "iterations": ITERATIONS},
    latency=None,
    bandwidth=None,
    mtu=4096,
    growth=(),
    counter_errors={},
    traffic=None,
    doubts=(),
    beside=(),
    company=1,
    alone=False,
    raw={},
    error=None,
    started=0.0,
    duration=1.0,
)


class Lab:
    """Sixteen nodes in a ring, each once client and once server."""

    def __init__(self) -> None:
        nodes = build.nodes(load_text(CLUSTER, Path("cluster.yaml")))
        ends = [(f"{node.name}:rail0", node.ports[0]) for node in nodes]
        self.pairs: dict[str, tuple[Port, Port]] = {
            f"{name}..{other}": (one, two)
            for (name, one), (other, two) in zip(ends, [*ends[1:], ends[0]], strict=True)
        }
        self._moments = count(1)

    def run(self, name: str, chance: random.Random, noise: Noise, slower: Changed) -> Run:
        """Return a run in which the medians of some pairs are slower by a factor."""
        shared = exp(chance.gauss(0, noise.shared))
        return Run(
            name=name,
            setup={"transport": "lab"},
            ports={},
            measured=[
                Measured(
                    self._record(target, chance, shared * exp(chance.gauss(0, noise.own)) * by)
                )
                for target in self.pairs
                for by in (slower.get(target, 1.0),)
            ],
        )

    def _record(self, target: str, chance: random.Random, factor: float) -> Measurement:
        median = physics.median_s("write", SIZE, *self.pairs[target]) * factor
        # Those of `physics.latencies`, without the mean of a whole run, which costs most of it.
        p99 = median + P99_SCALES * physics.TAIL_S * exp(chance.gauss(0, 0.08))
        row = Latency(SIZE, ITERATIONS, None, None, median, None, p99, None)
        return replace(RECORD, target=target, latency=row, started=float(next(self._moments)))


Changed = Mapping[str, float]


class Noise:
    """Standard deviations of logarithms, between runs."""

    def __init__(self, own: float, shared: float) -> None:
        self.own = own
        self.shared = shared


def compared(lab: Lab, seed: int, runs: int, noise: Noise, slower: Changed) -> Comparison:
    """Return the comparison of runs before and after some pairs became slower."""
    chance = random.Random(seed)
    before = [lab.run(f"before-{n}", chance, noise, {}) for n in range(runs)]
    after = [lab.run(f"after-{n}", chance, noise, slower) for n in range(runs)]
    return compare(before, after)


def median_of(found: Comparison) -> str:
    """Return the verdict on the median of all pairs."""
    (finding,) = (one for one in found.findings if one.kind.metric == "median")
    return finding.effect.verdict


def places_of(found: Comparison) -> tuple[str, ...]:
    """Return where the median has changed."""
    (finding,) = (one for one in found.findings if one.kind.metric == "median")
    return tuple(place.name for place in finding.places)


def main() -> None:
    """Make the comparisons and print how often they were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4, help="runs on each side")
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.05, help="of each pair between runs")
    parser.add_argument("--shared", type=float, default=0.0, help="of all pairs of a run")
    parser.add_argument("--change", type=float, default=0.10)
    options = parser.parse_args()
    begun, lab = time.monotonic(), Lab()
    noise = Noise(options.noise, options.shared)
    everywhere = dict.fromkeys(lab.pairs, 1 + options.change)
    there = {target: 1 + options.change for target in lab.pairs if "gpu003:rail0" in target}

    def counted(slower: Changed, first: int) -> list[Comparison]:
        return [
            compared(lab, first + number, options.runs, noise, slower)
            for number in range(options.comparisons)
        ]

    changed, same, at_node = (
        counted(slower, 10_000 * number) for number, slower in enumerate((everywhere, {}, there))
    )
    unchanged = Counter(map(median_of, same))
    print(
        json.dumps(
            {
                **vars(options),
                "pairs": len(lab.pairs),
                "change_found": sum(median_of(one) == "worse" for one in changed),
                "no_change_reported_as_none": unchanged["same"],
                "no_change_verdicts": dict(unchanged),
                "no_change_without_any_alarm": sum(one.verdict == "same" for one in same),
                "change_at_one_node_found_there_only": sum(
                    places_of(one) == ("gpu003:rail0",) for one in at_node
                ),
                "seconds": round(time.monotonic() - begun, 1),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
