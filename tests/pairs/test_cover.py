"""Cover: few pairs, but each port near and far, and every two leaves."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs import leaf_pairs, select
from pytest_fabric.results import Pair, Port
from tests.pairs.fabrics import LEAVES, PEERS, PORTS, SEEDS, pod, ports, text

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def degrees(pairs: list[Pair]) -> Counter[int]:
    """Return how many ports have so many servers."""
    return Counter(Counter(pair.client for pair in pairs).values())


@given(PORTS, LEAVES, SEEDS, PEERS, st.booleans())
def test_each_pair_has_its_way_back(
    chosen: list[Port], leaves: dict[Port, str], seed: int, peers: int, cross_rail: bool
) -> None:
    """Transmit and receive fail apart from each other."""
    found = set(
        select("cover", chosen, leaves=leaves, seed=seed, peers=peers, cross_rail=cross_rail)
    )

    assert {Pair(pair.server, pair.client) for pair in found} == found


@given(PORTS, LEAVES, SEEDS, PEERS, st.booleans())
def test_every_two_leaves_that_can_be_crossed_are(
    chosen: list[Port], leaves: dict[Port, str], seed: int, peers: int, cross_rail: bool
) -> None:
    """An uplink that no pair uses is not tested."""
    there = {port: leaf for port, leaf in leaves.items() if port in chosen}
    found = select("cover", chosen, leaves=there, seed=seed, peers=peers, cross_rail=cross_rail)

    assert leaf_pairs(found, there, cross_rail=cross_rail).missed == ()


@given(SIZES, SEEDS, PEERS)
def test_a_port_has_one_peer_on_its_leaf_and_the_others_across(
    sizes: list[int], seed: int, peers: int
) -> None:
    """At least so many, or all that there are."""
    leaves = pod(*sizes)
    found = select("cover", list(leaves), leaves=leaves, seed=seed, peers=peers)

    near = Counter(pair.client for pair in found if leaves[pair.client] == leaves[pair.server])
    far = Counter(pair.client for pair in found if leaves[pair.client] != leaves[pair.server])
    for port, leaf in leaves.items():
        here = list(leaves.values()).count(leaf)
        assert near[port] >= min(peers if len(sizes) == 1 else 1, here - 1)
        assert far[port] >= min(peers - 1, len(leaves) - here)


@pytest.mark.parametrize(
    ("sizes", "peers"),
    [
        ((32, 32, 32, 32), 4),
        ((8, 8, 8), 4),
        ((6, 6, 6, 6, 6), 4),
        ((4, 4), 4),
        ((16,) * 16, 4),
        ((10, 8, 6, 12), 4),
        ((8, 8, 8, 8), 1 + 7),
        ((8, 8), 2),
        ((32,), 4),
        ((33,), 4),
        ((5,), 4),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(5))
def test_all_ports_are_equally_busy(sizes: tuple[int, ...], peers: int, seed: int) -> None:
    """Where even leaves have room for it, each port has exactly as many peers as are wanted."""
    leaves = pod(*sizes)
    found = select("cover", list(leaves), leaves=leaves, seed=seed, peers=peers)

    assert degrees(found) == {peers: len(leaves)}


@given(st.lists(st.integers(3, 9), min_size=2, max_size=6), SEEDS)
def test_an_odd_port_out_costs_little(sizes: list[int], seed: int) -> None:
    """Nobody is left out, so somebody has more; but few, where no leaf outweighs the others."""
    if 2 * max(sizes) > sum(sizes):
        sizes = [*sizes, max(sizes)]
    leaves = pod(*sizes)
    found = select("cover", list(leaves), leaves=leaves, seed=seed)

    assert max(degrees(found)) <= 4 + 2
    assert len(found) <= 5 * len(leaves)


def test_an_unknown_leaf_is_spread_over_the_group() -> None:
    """Without leaves each port has four peers anywhere; in small groups all the others."""
    assert degrees(select("cover", list(pod(12)))) == {4: 12}
    assert degrees(select("cover", list(pod(7)))) == {4: 7}
    assert degrees(select("cover", list(pod(4)))) == {3: 4}


def test_ports_of_unknown_leaves_count_as_a_leaf() -> None:
    """What is not declared is measured all the same."""
    leaves = pod(2, 2)
    known = dict(list(leaves.items())[:2])

    assert degrees(select("cover", list(leaves), leaves=known)) == {3: 4}


def test_more_leaves_than_a_port_has_peers_cost_pairs() -> None:
    """Six leaves of one port each can only all meet if every port has five peers."""
    leaves = pod(1, 1, 1, 1, 1, 1)

    assert degrees(select("cover", list(leaves), leaves=leaves)) == {5: 6}


def test_two_leaves_of_two_ports() -> None:
    """The smallest fabric that has it all: a peer on the leaf and two across."""
    a, b, c, d = ports("a:r0", "b:r0", "c:r0", "d:r0")
    leaves = {a: "x", b: "x", c: "y", d: "y"}

    found = select("cover", [a, b, c, d], leaves=leaves, peers=2)

    assert degrees(found) == {2: 4}
    assert {"a:r0..b:r0", "c:r0..d:r0"} <= set(text(found))
    assert leaf_pairs(found, leaves).covered == (("x", "y"),)
