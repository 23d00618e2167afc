"""Coverage: what the pairs of a plan reach, and what they do not."""

from __future__ import annotations

from pytest_fabric.pairs import leaf_pairs, port_coverage, select
from pytest_fabric.results import Pair
from tests.pairs.fabrics import pod, ports


def test_leaves_meet_either_way_round() -> None:
    """A pair from leaf y to leaf x covers x and y."""
    a, b, c, d = ports("a:r0", "b:r0", "c:r0", "d:r0")
    leaves = {a: "x", b: "y", c: "z", d: "x"}

    found = leaf_pairs([Pair(b, a), Pair(a, d)], leaves)

    assert found.covered == (("x", "y"),)
    assert found.missed == (("x", "z"), ("y", "z"))
    assert found.count == 3


def test_leaves_of_two_rails_meet_only_across_rails() -> None:
    """On a rail-only fabric nothing joins them, so nothing is missed."""
    leaves = pod(2, rails=2)

    assert leaf_pairs([], leaves).count == 0
    assert leaf_pairs([], leaves, cross_rail=True).missed == (("leaf-0-0", "leaf-1-0"),)


def test_leaves_that_hold_one_node_between_them_cannot_meet() -> None:
    """Two ports of a node are never a pair."""
    assert leaf_pairs([], pod(1, rails=2), cross_rail=True).count == 0


def test_a_port_of_an_unknown_leaf_covers_none() -> None:
    """What is not declared is not claimed."""
    a, b, c = ports("a:r0", "b:r0", "c:r0")

    assert leaf_pairs([Pair(a, c), Pair(c, b)], {a: "x", b: "y"}).missed == (("x", "y"),)


def test_ports_are_covered_as_client_or_as_server() -> None:
    """A port that no pair uses is missed, in the order of the inventory."""
    a, b, c, d = ports("d:r0", "c:r0", "b:r0", "a:r0")

    found = port_coverage([Pair(c, a)], [a, b, c, d])

    assert (found.covered, found.missed) == ((a, c), (b, d))


def test_a_ring_of_two_leaves_crosses_them_at_its_seams() -> None:
    """Cover of three leaves misses none, where a list of one pair would."""
    leaves = pod(3, 3, 3)
    ring = select("ring", list(leaves), leaves=leaves)

    assert leaf_pairs(ring, leaves).missed == ()
    assert leaf_pairs(ring[:4], leaves).missed == (
        ("leaf-0-0", "leaf-0-2"),
        ("leaf-0-1", "leaf-0-2"),
    )
