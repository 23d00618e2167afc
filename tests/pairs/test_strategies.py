"""Every strategy: pairs once, between nodes, on one rail, the same each time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs import STRATEGIES, select
from pytest_fabric.pairs.group import by_rail
from pytest_fabric.results import Pair, Port
from tests.pairs.fabrics import LEAVES, PEERS, PORTS, SEEDS, pod, ports, text

#: Permutation wants a leaf of every port, and has tests of its own.
NAMES = sorted(STRATEGIES.keys() - {"permutation"})


def partnered(chosen: list[Port], cross_rail: bool) -> set[Port]:
    """Return the ports that have somebody to be measured with."""
    return {
        port
        for port in chosen
        for other in chosen
        if other.node != port.node and (cross_rail or other.rail == port.rail)
    }


@pytest.mark.parametrize("strategy", NAMES)
@given(PORTS, LEAVES, SEEDS, PEERS, st.booleans())
def test_pairs_join_two_nodes_and_never_repeat(
    strategy: str,
    chosen: list[Port],
    leaves: dict[Port, str],
    seed: int,
    peers: int,
    cross_rail: bool,
) -> None:
    """A pair within a node says nothing of the network; across rails is asked for, or wrong."""
    found = select(strategy, chosen, leaves=leaves, seed=seed, peers=peers, cross_rail=cross_rail)

    assert all(pair.client.node != pair.server.node for pair in found)
    assert cross_rail or all(pair.client.rail == pair.server.rail for pair in found)
    assert {port for pair in found for port in (pair.client, pair.server)} <= set(chosen)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("strategy", NAMES)
@given(PORTS, LEAVES, SEEDS, PEERS, st.booleans())
def test_no_port_with_a_partner_is_left_out(
    strategy: str,
    chosen: list[Port],
    leaves: dict[Port, str],
    seed: int,
    peers: int,
    cross_rail: bool,
) -> None:
    """A port that has somebody to talk to is measured."""
    found = select(
        strategy, chosen, leaves=leaves, seed=seed, peers=max(peers, 2), cross_rail=cross_rail
    )

    used = {port for pair in found for port in (pair.client, pair.server)}
    assert used == partnered(chosen, cross_rail)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_the_same_inventory_and_seed_give_the_same_pairs(strategy: str) -> None:
    """What is measured can be measured again."""
    leaves = pod(5, 4, 3, rails=2)

    first, second = (select(strategy, list(leaves), leaves=dict(leaves), seed=7) for _ in "12")

    assert first == second


@pytest.mark.parametrize("strategy", ["cover", "random"])
def test_another_seed_gives_other_pairs(strategy: str) -> None:
    """What chance left out can be reached by another seed, on one leaf too."""
    leaves = pod(12)

    assert select(strategy, list(leaves), leaves=leaves, seed=1) != select(
        strategy, list(leaves), leaves=leaves, seed=2
    )


@pytest.mark.parametrize("strategy", ["cover", "random"])
def test_each_rail_draws_peers_of_its_own(strategy: str) -> None:
    """More pairs of nodes are tried than if every rail joined the same ones."""
    found = select(strategy, list(pod(12, rails=2)))

    first, second = (
        {(pair.client.node, pair.server.node) for pair in found if pair.client.rail == rail}
        for rail in ("r0", "r1")
    )
    assert first != second


@pytest.mark.parametrize("strategy", NAMES)
@given(PORTS, LEAVES)
def test_a_rail_is_paired_as_if_it_were_alone(
    strategy: str, chosen: list[Port], leaves: dict[Port, str]
) -> None:
    """A rail more or less changes nothing about the pairs of the others."""
    alone = [
        pair for rail in by_rail(chosen).values() for pair in select(strategy, rail, leaves=leaves)
    ]

    assert select(strategy, chosen, leaves=leaves) == alone


def test_a_ring_has_each_port_once_as_client_and_once_as_server() -> None:
    """Three ports of a rail make three pairs, the last one back to the first."""
    found = select("ring", ports("a:r0", "b:r0", "c:r0"))

    assert text(found) == ["a:r0..b:r0", "b:r0..c:r0", "c:r0..a:r0"]


@pytest.mark.parametrize("strategy", NAMES)
def test_two_ports_make_a_pair_in_each_direction(strategy: str) -> None:
    """A cable has two directions, and each of them can be bad alone."""
    found = select(strategy, ports("a:r0", "b:r0"))

    assert text(found) == ["a:r0..b:r0", "b:r0..a:r0"]


@given(PORTS)
def test_a_ring_measures_both_directions_of_each_port(chosen: list[Port]) -> None:
    """A port that has somebody to talk to is client and server."""
    found = select("ring", chosen)

    assert {pair.client for pair in found} == partnered(chosen, cross_rail=False)
    assert {pair.server for pair in found} == partnered(chosen, cross_rail=False)


def test_a_ring_across_rails_goes_through_one_rail_after_the_other() -> None:
    """Where the fabric joins its rails, the seams of the rails are measured too."""
    found = select("ring", ports("a:r0", "a:r1", "b:r0", "b:r1"), cross_rail=True)

    assert text(found) == ["a:r0..b:r0", "b:r0..a:r1", "a:r1..b:r1", "b:r1..a:r0"]


def test_neighbours_of_one_node_are_no_pair_of_a_ring() -> None:
    """The port between two others of its node is paired with one of another node."""
    found = select("ring", ports("b:r0", "b:r1", "b:r2", "a:r3"), cross_rail=True)

    assert text(found) == ["b:r2..a:r3", "a:r3..b:r0", "b:r1..a:r3", "a:r3..b:r1"]


@given(PORTS, st.booleans())
def test_all_is_every_ordered_pair_that_there_can_be(chosen: list[Port], cross_rail: bool) -> None:
    """The full mesh leaves nothing out, and narrowing it to some nodes gives their full mesh."""
    found = select("all", chosen, cross_rail=cross_rail)
    some = [port for port in chosen if port.node in "abcd"]

    assert set(found) == {
        Pair(client, server)
        for client in chosen
        for server in chosen
        if client.node != server.node and (cross_rail or client.rail == server.rail)
    }
    assert set(select("all", some, cross_rail=cross_rail)) == {
        pair for pair in found if {pair.client, pair.server} <= set(some)
    }


@given(PORTS, SEEDS, PEERS, st.booleans())
def test_random_gives_each_client_its_number_of_servers(
    chosen: list[Port], seed: int, peers: int, cross_rail: bool
) -> None:
    """All the others are taken where there are fewer."""
    found = select("random", chosen, seed=seed, peers=peers, cross_rail=cross_rail)
    full = select("all", chosen, cross_rail=cross_rail)

    for port in chosen:
        others = [pair for pair in full if pair.client == port]
        assert len([pair for pair in found if pair.client == port]) == min(peers, len(others))


def test_a_list_keeps_its_order_and_drops_what_is_excluded() -> None:
    """A listed pair whose node is left out cannot be measured."""
    a, b, c = ports("a:r0", "b:r0", "c:r0")

    assert select("list", [a, b], listed=[(b, a), (a, c), (b, a)]) == [Pair(b, a)]


def test_a_list_may_pair_what_a_strategy_would_not() -> None:
    """Who writes down a pair of two rails, or of one node, means it."""
    a, b, c = ports("a:r0", "a:r1", "b:r1")

    assert select("list", [a, b, c], listed=[(a, b), (a, c)]) == [Pair(a, b), Pair(a, c)]


def test_random_draws_the_same_servers_on_every_python() -> None:
    """A run on another machine measures the same pairs."""
    found = select("random", ports("a:r0", "b:r0", "c:r0", "d:r0"), peers=1)

    assert text(found) == ["a:r0..b:r0", "b:r0..a:r0", "c:r0..a:r0", "d:r0..c:r0"]
