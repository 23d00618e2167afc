"""Rounds: no port twice at once, and few of them."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs import order, rounds, select
from pytest_fabric.results import Pair, Port
from tests.pairs.fabrics import LEAVES, PORTS, SEEDS, pod, text

ENDS = st.integers(0, 12)
EDGES = st.lists(st.tuples(ENDS, ENDS).filter(lambda ends: ends[0] != ends[1]), unique=True)


def pairs_of(edges: list[tuple[int, int]]) -> list[Pair]:
    return [Pair(Port(f"n{one}", "r0"), Port(f"n{other}", "r0")) for one, other in edges]


def busiest(pairs: list[Pair]) -> int:
    """Return the number of pairs of the port that has most of them."""
    return max(Counter(port for pair in pairs for port in (pair.client, pair.server)).values())


@given(EDGES, SEEDS)
def test_every_pair_has_one_round_and_no_port_is_in_it_twice(
    edges: list[tuple[int, int]], seed: int
) -> None:
    """Whatever the pairs are, all of a round can run at once."""
    pairs = pairs_of(edges)
    found = rounds(pairs, seed)

    assert Counter(pair for chosen in found for pair in chosen) == Counter(pairs)
    for chosen in found:
        used = [port for pair in chosen for port in (pair.client, pair.server)]
        assert len(set(used)) == len(used) > 0


@given(st.integers(2, 14), st.data())
def test_one_direction_takes_at_most_one_round_more_than_the_busiest_port_has_pairs(
    count: int, data: st.DataObject
) -> None:
    """No port waits much longer than it is busy."""
    full = list(combinations(range(count), 2))
    edges = data.draw(st.lists(st.sampled_from(full), unique=True, min_size=1))
    pairs = pairs_of(edges)

    assert busiest(pairs) <= len(rounds(pairs, 1)) <= busiest(pairs) + 1


@given(st.integers(2, 6), st.integers(2, 6), st.data())
def test_pairs_between_two_sides_take_no_round_too_many(
    left: int, right: int, data: st.DataObject
) -> None:
    """Between two leaves the busiest port is never idle."""
    full = [(one, left + other) for one in range(left) for other in range(right)]
    pairs = pairs_of(data.draw(st.lists(st.sampled_from(full), unique=True, min_size=1)))

    assert len(rounds(pairs, 1)) == busiest(pairs)


@pytest.mark.parametrize("count", range(2, 14))
def test_a_full_mesh_takes_as_few_rounds_as_there_can_be(count: int) -> None:
    """Everybody meets everybody in n - 1 rounds each way, or in n where one must rest."""
    mesh = select("all", list(pod(count, rails=2)))

    assert len(rounds(mesh, 1)) == 2 * (count - 1 + count % 2)


def test_the_graph_of_petersen_takes_one_round_more() -> None:
    """The smallest cubic graph without bridges that three colours are not enough for."""
    outer = [(n, (n + 1) % 5) for n in range(5)]
    inner = [(5 + n, 5 + (n + 2) % 5) for n in range(5)]
    spokes = [(n, 5 + n) for n in range(5)]

    assert len(rounds(pairs_of(outer + inner + spokes), 1)) == 4


@pytest.mark.parametrize("sizes", [(16, 16), (32, 32, 32), (8,) * 12, (64,), (33,)], ids=str)
def test_cover_keeps_all_ports_busy(sizes: tuple[int, ...]) -> None:
    """Four peers take four rounds each way, a fifth only with an odd number of ports."""
    leaves = pod(*sizes, rails=2)
    found = rounds(select("cover", list(leaves), leaves=leaves), 1)

    assert len(found) == 2 * (4 + sum(sizes) % 2)


def test_a_round_is_followed_by_its_way_back() -> None:
    """Both directions of a cable are measured under the same conditions."""
    found = rounds(select("all", list(pod(6))), 1)

    for there, back in zip(found[::2], found[1::2], strict=True):
        assert {Pair(pair.server, pair.client) for pair in there} == set(back)


def test_rails_share_their_rounds() -> None:
    """Rails do not wait for each other: the pairs of both are in one round."""
    found = rounds(select("ring", list(pod(2, rails=2))), 1)

    assert [text(chosen) for chosen in found] == [
        ["n000:r0..n001:r0", "n000:r1..n001:r1"],
        ["n001:r0..n000:r0", "n001:r1..n000:r1"],
    ]


def test_a_ring_of_four_takes_two_rounds() -> None:
    """Within a round the order is that of the inventory."""
    found = rounds(select("ring", list(pod(4))), 1)

    assert sorted(text(chosen) for chosen in found) == [
        ["n000:r0..n001:r0", "n002:r0..n003:r0"],
        ["n001:r0..n002:r0", "n003:r0..n000:r0"],
    ]


@given(PORTS, LEAVES, SEEDS)
def test_the_order_is_that_of_the_rounds_and_never_changes(
    chosen: list[Port], leaves: dict[Port, str], seed: int
) -> None:
    """The same pairs run beside each other in every run."""
    pairs = select("cover", chosen, leaves=leaves)

    assert order(pairs, seed) == [pair for found in rounds(pairs, seed) for pair in found]


def test_another_seed_puts_other_pairs_beside_each_other() -> None:
    """A collision of two flows that belong to one round can be told from a slow port."""
    pairs = select("all", list(pod(8)))

    assert order(pairs, 1) == order(list(pairs), 1) != order(pairs, 2)


@pytest.mark.parametrize(("strategy", "sizes"), [("cover", [32] * 8), ("all", [16] * 4)], ids=str)
def test_large_fabrics_are_ordered_quickly(strategy: str, sizes: list[int]) -> None:
    """Usually half a second for eight rails; the bound leaves room for a busy machine."""
    leaves = pod(*sizes, rails=8)
    started = time.process_time()
    found = order(select(strategy, list(leaves), leaves=leaves), 1)

    assert time.process_time() - started < 2.5
    assert len(found) >= 4 * len(leaves)


def test_three_leaves_of_two_ports_in_rounds() -> None:
    """What is measured when is the same in every process and on every Python."""
    leaves = pod(2, 2, 2)
    found = rounds(select("cover", list(leaves), leaves=leaves, peers=2), 1)

    assert [" ".join(f"{p.client.node}-{p.server.node}" for p in chosen) for chosen in found] == [
        "n000-n001 n002-n003 n004-n005",
        "n001-n000 n003-n002 n005-n004",
        "n000-n004 n001-n003 n002-n005",
        "n003-n001 n004-n000 n005-n002",
    ]
