"""A healthy fabric is well inside what sites accept, and each cause has its own effect."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from pytest_fabric.lab import physics
from pytest_fabric.lab.model import Port

from .clusters import INFINIBAND, ROCE, port

US = 1e-6
MIB = 2**20
SEEDS = range(30)

#: Median and P99 of a healthy pair on one leaf at 400 Gb/s, in us: verb, size, lowest, highest.
HEALTHY = [
    ("write", 4, 1.8, 2.1, 2.7),
    ("send", 4, 1.85, 2.15, 2.75),
    ("read", 4, 2.6, 3.8, 4.6),
    ("write", 4096, 2.15, 2.55, 3.1),
    ("read", 4096, 3.0, 4.2, 5.0),
]


def pair(text: str = ROCE, *fault: str) -> tuple[Port, Port]:
    names = ("ib1", "ib2") if text == INFINIBAND else ("gpu001", "gpu002")
    one, other = (port(text, f"{name}:rail0", *fault) for name in names)
    return one, other


def figures(verb: str, size: int, seed: int, one: Port, other: Port) -> physics.Latencies:
    return physics.latencies(verb, size, 20_000, one, other, Random(seed))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("verb", "size", "low", "high", "p99"), HEALTHY)
def test_healthy_latency(
    verb: str, size: int, low: float, high: float, p99: float, seed: int
) -> None:
    values = figures(verb, size, seed, *pair())

    assert low * US <= values.median <= high * US
    assert values.median < values.p99 <= p99 * US
    ordered = [values.minimum, values.median, values.p99, values.p999, values.maximum]
    assert ordered == sorted(ordered)
    assert values.minimum < values.mean < values.p99


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layer", [ROCE, INFINIBAND], ids=["roce", "infiniband"])
def test_healthy_bandwidth_is_what_payload_can_reach(layer: str, seed: int) -> None:
    """98.0 % of the line is payload on RoCE at MTU 4096, 99.4 % on InfiniBand."""
    payload = 400e9 * (0.980 if layer == ROCE else 0.994)

    rate = physics.goodput_bps(MIB, 4, *pair(layer), Random(seed))

    assert 0.98 * payload <= rate <= payload


def test_a_path_over_a_spine_takes_longer_by_its_switches_and_cables() -> None:
    one, other = pair()
    far = replace(other, leaf="leaf-9")

    extra = physics.median_s("write", 4, one, far) - physics.median_s("write", 4, one, other)

    assert physics.switches(one, far) == 3
    assert 0.6 * US < extra < 1.4 * US


def test_a_slower_link_delivers_half_and_small_messages_hardly_notice() -> None:
    healthy, slow = pair(), pair(ROCE, "link_speed@gpu001:rail0")

    half = physics.goodput_bps(MIB, 4, *slow, Random(1))
    whole = physics.goodput_bps(MIB, 4, *healthy, Random(1))
    later = physics.median_s("write", 4, *slow) - physics.median_s("write", 4, *healthy)

    assert half == pytest.approx(whole / 2)
    assert 0 < later < 0.01 * US


def test_half_of_the_lanes_limit_bandwidth_and_not_the_link() -> None:
    narrow = pair(ROCE, "pcie_width@gpu002:rail0")

    rate = physics.goodput_bps(MIB, 4, *narrow, Random(1))

    assert 0.5 * 400e9 < rate < 0.6 * 400e9  # PCIe 5.0 x8
    assert narrow[1].speed_bps == 400e9


def test_a_small_mtu_costs_payload() -> None:
    """92.6 % of the line is payload at MTU 1024."""
    rate = physics.goodput_bps(MIB, 4, *pair(ROCE, "mtu_low@gpu001:rail0"), Random(1))

    assert rate == pytest.approx(400e9 * 0.926 * physics.CLEAN, rel=0.002)


def test_small_messages_of_one_queue_pair_do_not_fill_the_line() -> None:
    assert physics.goodput_bps(64, 1, *pair(), Random(1)) < 0.05 * 400e9


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("end", ["gpu001:rail0", "gpu002:rail0"])
def test_a_tail_leaves_the_median_and_is_seen_at_either_end(end: str, seed: int) -> None:
    healthy = figures("write", 4, seed, *pair())
    tailed = figures("write", 4, seed, *pair(ROCE, f"latency_tail@{end}"))

    assert tailed.median == healthy.median
    assert tailed.minimum == healthy.minimum
    assert 13 * US < tailed.p99 < 24 * US


def test_the_figures_depend_on_the_seed_alone() -> None:
    assert figures("write", 4, 7, *pair()) == figures("write", 4, 7, *pair())
    assert figures("write", 4, 7, *pair()) != figures("write", 4, 8, *pair())


def test_queues_on_the_way_lengthen_the_median_and_the_tail_more() -> None:
    empty, full = (
        physics.latencies("write", 4, 20_000, *pair(), Random(1), queued_s=each)
        for each in (0.0, 4 * US)
    )

    assert full.median - empty.median == pytest.approx(4 * US)
    assert full.p99 - empty.p99 == pytest.approx(12 * US, rel=0.05)
