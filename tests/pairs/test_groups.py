"""Which pairs are measured at once: every port of a node, N:1 to a receiver, across the middle."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs.groups import Ports, bisection, incasts, of_nodes
from pytest_fabric.results import Port


def fabric(nodes: int, rails: int, per_leaf: int = 2) -> Ports:
    """Return a fabric whose rails have leaves of so many nodes each."""
    names = [f"n{number}" for number in range(nodes)]
    found = {f"r{rail}": [Port(name, f"r{rail}") for name in names] for rail in range(rails)}
    leaves = {
        port: f"leaf-{port.rail}-{place // per_leaf}"
        for ports in found.values()
        for place, port in enumerate(ports)
    }
    return Ports(found, leaves)


@given(nodes=st.integers(2, 9), rails=st.integers(2, 5), per_leaf=st.integers(1, 9))
def test_a_node_has_all_its_ports_at_work_and_each_partner_once(
    nodes: int, rails: int, per_leaf: int
) -> None:
    choice = of_nodes(fabric(nodes, rails, per_leaf))

    assert not choice.missing
    assert [group.target for group in choice.groups] == [f"n{number}" for number in range(nodes)]
    for group in choice.groups:
        assert {pair.client for pair in group.pairs} == {
            Port(group.target, f"r{rail}") for rail in range(rails)
        }
        servers = [pair.server for pair in group.pairs]
        assert len(set(servers)) == rails
        assert all(pair.client.rail == pair.server.rail for pair in group.pairs)
        assert group.target not in {server.node for server in servers}
        again = [pair.server for pair in group.again]
        assert len(set(again)) == rails
        assert nodes == 2 or not set(again) & set(servers)


@given(nodes=st.integers(3, 9))
def test_partners_are_of_as_many_nodes_as_there_are(nodes: int) -> None:
    """Else a partner has all of its own ports busy, and the slot of either may be too narrow."""
    rails = nodes - 1
    for group in of_nodes(fabric(nodes, rails)).groups:
        assert max(Counter(pair.server.node for pair in group.pairs).values()) == 1


def test_a_partner_is_on_the_same_leaf_where_there_is_one() -> None:
    pairs = of_nodes(fabric(8, 2, per_leaf=4)).groups[0].pairs

    assert [pair.server.node for pair in pairs] == ["n1", "n2"]


def test_nodes_with_a_single_port_are_skipped_once() -> None:
    choice = of_nodes(fabric(4, 1))

    assert choice.groups == ()
    assert choice.missing == {"": "every node has a single port: pairs show what it can do"}


def test_a_node_that_cannot_load_all_of_its_ports_is_skipped_by_name() -> None:
    whole = fabric(3, 2)
    lonely = Port("n0", "storage")
    choice = of_nodes(Ports({**whole.rails, "storage": [lonely]}, whole.leaves))

    assert choice.missing == {"n0": "n0: no other node has a port on storage"}
    assert [group.target for group in choice.groups] == ["n1", "n2"]


@given(
    nodes=st.integers(2, 12),
    rails=st.integers(1, 3),
    per_leaf=st.integers(1, 4),
    senders=st.integers(2, 8),
)
def test_an_incast_has_its_senders_or_a_reason(
    nodes: int, rails: int, per_leaf: int, senders: int
) -> None:
    ports = fabric(nodes, rails, per_leaf)
    choice = incasts(ports, senders)

    if nodes <= senders:
        assert choice.groups == ()
        told = f"an incast {senders}:1 needs {senders + 1} nodes on a rail, found at most {nodes}"
        assert choice.missing == {"": told}
        return
    assert len(choice.groups) == len(set(ports.leaves.values()))
    for group in choice.groups:
        assert {str(pair.server) for pair in group.pairs} == {group.target}
        nodes_of = [pair.client.node for pair in group.pairs]
        assert len(set(nodes_of)) == senders
        assert Port.parse(group.target).node not in nodes_of
        assert {pair.client.rail for pair in group.pairs} == {Port.parse(group.target).rail}


def test_senders_are_spread_over_leaves() -> None:
    ports = fabric(8, 1, per_leaf=2)
    for group in incasts(ports, 4).groups:
        assert len({ports.leaves[pair.client] for pair in group.pairs}) == 4


def test_the_same_seed_chooses_the_same_receivers() -> None:
    one, other = (incasts(fabric(8, 2), 2).groups for _ in range(2))

    assert one == other


def test_a_bisection_loads_every_port_both_ways_across_leaves() -> None:
    ports = fabric(8, 2)
    (group,) = bisection(ports).groups

    assert group.target == "fabric"
    assert len(group.pairs) == 16
    assert len({pair.client for pair in group.pairs}) == 16
    assert len({pair.server for pair in group.pairs}) == 16
    assert all(ports.leaves[pair.client] != ports.leaves[pair.server] for pair in group.pairs)


def test_one_leaf_has_no_middle() -> None:
    choice = bisection(fabric(4, 2, per_leaf=4))

    assert choice.missing == {"": "a bisection needs a rail on two leaves or more, found none"}


def test_leaves_that_are_not_known_are_a_reason() -> None:
    choice = bisection(Ports(fabric(4, 1).rails, {}))

    told = "that of n0:r0 is not known: say `leaf` in its rail"
    assert choice.missing == {"": f"a bisection goes from leaf to leaf, and {told}"}
