"""The model of a training step: its check figure, and what must hold of any fabric."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.judge.training import Link, Work, cost, ring_s, step, tree_s

POD = Work(256, 8, 8, 500e6, 0.3, 0.0)
PORT = Link(100e9, 0.0)


def test_the_check_figure() -> None:
    """256 GPUs on 32 nodes with 8 x 100 Gb/s move 500 MB in about 10 ms."""
    assert ring_s(POD, PORT) == pytest.approx(9.96e-3, abs=0.01e-3)
    assert tree_s(POD, PORT) == pytest.approx(10e-3)


def test_latency_is_paid_once_for_each_step_that_leaves_a_node() -> None:
    """62 steps of a ring over 32 nodes, not 510 of 256 GPUs; 10 of two trees."""
    far = replace(PORT, latency_s=1e-6)

    assert ring_s(POD, far) - ring_s(POD, PORT) == pytest.approx(62e-6)
    assert tree_s(POD, far) - tree_s(POD, PORT) == pytest.approx(10e-6)


def test_one_node_uses_no_network() -> None:
    alone = replace(POD, gpus=8)

    assert step(alone, PORT).whole_s == alone.compute_s


@pytest.mark.parametrize(
    ("overlap", "added"), [(0.0, 9.96e-3), (0.02, 3.96e-3), (0.1, 0.0), (1.0, 0.0)]
)
def test_gradients_that_travel_beside_computing_cost_nothing(overlap: float, added: float) -> None:
    """Only what is left over makes a step longer."""
    whole = step(replace(POD, overlap=overlap), PORT).whole_s

    assert whole - POD.compute_s == pytest.approx(added, abs=0.01e-3)


def test_the_faster_algorithm_is_taken() -> None:
    """Rings move less, trees wait less often."""
    far = replace(PORT, latency_s=5e-6)

    large, small = step(POD, far), step(replace(POD, gpus=8 * 1024, gradients_bytes=1e6), far)
    assert large.reduce_s == large.tree_s < large.ring_s
    assert small.reduce_s == small.tree_s < small.ring_s
    assert step(POD, PORT).reduce_s == step(POD, PORT).ring_s


def test_half_a_port_doubles_the_time_of_all_and_is_named() -> None:
    ports = {f"gpu{n:03}:rail0": PORT for n in range(32)} | {"gpu007:rail0": Link(50e9, 0.0)}
    told = cost(POD, ports)

    assert told.slowest == "gpu007:rail0"
    assert (told.measured, told.usual) == (Link(50e9, 0.0), PORT)
    assert told.difference_s == pytest.approx(ring_s(POD, PORT), rel=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": 0},
        {"gpus_per_node": 0},
        {"nics_per_node": -1},
        {"gradients_bytes": float("nan")},
        {"compute_s": float("inf")},
        {"overlap": 1.5},
    ],
)
def test_a_run_directory_cannot_say_what_no_cluster_file_can(wrong: dict[str, float]) -> None:
    """What is read from it would be divided by."""
    with pytest.raises(ValueError, match="expected a workload"):
        replace(POD, **wrong)  # type: ignore[arg-type]


def test_a_fabric_without_ports_has_no_cost() -> None:
    with pytest.raises(ValueError, match="expected ports, found none"):
        cost(POD, {})


LINKS = st.builds(Link, st.floats(1e9, 800e9), st.floats(0, 1e-3))
WORKS = st.builds(
    lambda nodes, per, nics, size, compute, overlap: Work(
        nodes * per, per, nics, size, compute, overlap
    ),
    st.integers(1, 2000),
    st.integers(1, 16),
    st.integers(1, 16),
    st.floats(1, 1e12),
    st.floats(1e-3, 100),
    st.floats(0, 1),
)
FABRICS = st.lists(LINKS, min_size=1, max_size=12).map(
    lambda links: {f"p{n}": link for n, link in enumerate(links)}
)


@settings(max_examples=200, deadline=None)
@given(WORKS, LINKS, st.integers(1, 12))
def test_a_uniform_fabric_has_no_difference(work: Work, link: Link, count: int) -> None:
    told = cost(work, {f"p{n}": link for n in range(count)})

    assert told.difference_s == 0


@settings(max_examples=200, deadline=None)
@given(WORKS, FABRICS, st.floats(0.01, 1), st.floats(1, 100))
def test_a_slower_slowest_port_never_costs_less(
    work: Work, ports: dict[str, Link], share: float, factor: float
) -> None:
    """Monotone in its bandwidth and in its latency, and never a gain."""
    before = cost(work, ports)
    slow = before.measured
    slower = {
        **ports,
        before.slowest: Link(slow.bandwidth_bps * share, slow.latency_s * factor),
    }
    after = cost(work, slower)

    assert before.difference_s >= 0
    assert after.slowest == before.slowest
    assert after.now.whole_s >= before.now.whole_s
    assert after.difference_s >= before.difference_s
