"""Permutation: the bisection, with every port at most once client and once server."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.errors import ConfigError
from pytest_fabric.pairs import select
from pytest_fabric.results import Port
from tests.pairs.fabrics import pod, ports, text


def test_four_leaves_meet_half_a_turn_away() -> None:
    """Leaf 0 sends to leaf 2, 1 to 3, and back."""
    leaves = pod(2, 2, 2, 2)
    found = select("permutation", list(leaves), leaves=leaves)

    servers = {pair.client.node: pair.server.node for pair in found}
    assert servers == {
        **{"n000": "n004", "n001": "n005", "n002": "n006", "n003": "n007"},
        **{"n004": "n000", "n005": "n001", "n006": "n002", "n007": "n003"},
    }


def test_three_leaves_go_round() -> None:
    """With an odd number of leaves there is no way back, but everybody sends and receives."""
    leaves = pod(1, 1, 1)
    found = select("permutation", list(leaves), leaves=leaves)

    assert text(found) == ["n000:r0..n001:r0", "n001:r0..n002:r0", "n002:r0..n000:r0"]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=7))
def test_as_many_ports_as_can_be_send_at_once(sizes: list[int]) -> None:
    """All of them, unless one leaf has more than half of the ports: it can fill the others only."""
    leaves = pod(*sizes)
    found = select("permutation", list(leaves), leaves=leaves)

    assert set(Counter(pair.client for pair in found).values()) == {1}
    assert set(Counter(pair.server for pair in found).values()) == {1}
    assert all(leaves[pair.client] != leaves[pair.server] for pair in found)
    assert len(found) == min(sum(sizes), 2 * (sum(sizes) - max(sizes)))


@given(st.integers(2, 12), st.integers(2, 8))
def test_rails_of_a_node_never_meet(nodes: int, rails: int) -> None:
    """In a rail-optimised pod the leaves are the rails, and only `cross_rail` crosses them."""
    leaves = pod(nodes, rails=rails)
    found = select("permutation", list(leaves), leaves=leaves, cross_rail=True)

    assert all(pair.client.node != pair.server.node for pair in found)
    assert len({pair.server for pair in found}) == len(found) == len(leaves)
    for pair in found:
        turn = int(pair.server.rail[1:]) - int(pair.client.rail[1:])
        assert turn % rails == rails // 2


def test_a_single_leaf_is_refused() -> None:
    """There is nothing to bisect, which is not the same as a good bisection."""
    leaves = pod(4)

    with pytest.raises(ConfigError, match=r"r0 on two leaves or more, got only leaf-0-0: say leaf"):
        select("permutation", list(leaves), leaves=leaves)


def test_an_unknown_leaf_is_refused() -> None:
    """A port that is left out in silence would pass."""
    leaves = pod(1, 1)

    with pytest.raises(ConfigError, match="the leaf of every port of r0, found none of a:r0: say"):
        select("permutation", [*leaves, Port("a", "r0")], leaves=leaves)


def test_one_node_has_nobody_to_send_to() -> None:
    """A rail that only one node has makes no pair with any strategy."""
    assert select("permutation", ports("a:r0", "a:r1")) == []
