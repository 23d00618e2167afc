"""Runs of a small ring with given medians, to be varied by the tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp

from pytest_fabric.judge.compare.run import Run
from pytest_fabric.results import Bandwidth, Measured, Measurement
from tests.report.examples import LATENCY

NODES = tuple(f"gpu{number:03d}" for number in range(1, 9))
PAIRS = tuple(f"{a}:rail0..{b}:rail0" for a, b in zip(NODES, NODES[1:] + NODES[:1], strict=True))

_moments = itertools.count(1)

Settings = dict[str, str | int | float | None]


def latency(target: str, median_us: float) -> Measurement:
    assert LATENCY.latency is not None
    row = replace(LATENCY.latency, median_s=median_us / 1e6, p99_s=2 * median_us / 1e6)
    settings: Settings = {"tool": "ib_write_lat", "size": 4, "iterations": 20000}
    return replace(
        LATENCY,
        target=target,
        latency=row,
        settings=settings,
        doubts=(),
        started=float(next(_moments)),
    )


def bandwidth(target: str, gbps: float) -> Measurement:
    row = Bandwidth(1 << 20, 9, None, gbps * 1e9, 1e3)
    settings: Settings = {"tool": "ib_write_bw", "size": 1 << 20, "qps": 4}
    return replace(
        latency(target, 1),
        tool="ib_write_bw",
        key="bw",
        latency=None,
        bandwidth=row,
        settings=settings,
    )


def run(
    name: str,
    factors: Mapping[str, float] | float = 1.0,
    noise: float = 0.01,
    make: Callable[[str, float], Measurement] = latency,
    usual: float = 4.0,
) -> Run:
    """Return a run whose values are `usual` times the factor of their pair, with noise."""
    chance = random.Random(name)
    measured = [
        Measured(
            make(
                target,
                usual
                * (factors if isinstance(factors, float) else factors.get(target, 1.0))
                * exp(chance.gauss(0, noise)),
            )
        )
        for target in PAIRS
    ]
    setup = {"cluster": "lab", "pairs.strategy": "ring"}
    ports = {f"{node}:rail0": f"{node} pci 0000:1a:00.0" for node in NODES}
    return Run(name, setup, ports, measured)


def of(place: str, factor: float) -> dict[str, float]:
    """Return the factors of a change of all pairs of a port."""
    return {target: factor for target in PAIRS if place in target.split("..")}
