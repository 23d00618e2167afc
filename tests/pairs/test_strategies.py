"""Pair selection: what is wanted once, on one rail, in the order of the inventory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs import STRATEGIES, all_pairs, ring, select
from pytest_fabric.results import Pair, Port

PORTS = st.lists(
    st.builds(Port, st.sampled_from(["a", "b", "c", "d", "e"]), st.sampled_from(["r0", "r1"])),
    unique=True,
)


def ports(*names: str) -> list[Port]:
    return [Port(*name.split(":")) for name in names]


def test_a_ring_has_each_port_once_as_client_and_once_as_server() -> None:
    """Three ports of a rail make three pairs, the last one back to the first."""
    found = [str(pair) for pair in ring(ports("a:r0", "b:r0", "c:r0"))]

    assert found == ["a:r0..b:r0", "b:r0..c:r0", "c:r0..a:r0"]


def test_two_ports_make_a_pair_in_each_direction() -> None:
    """A cable has two directions, and each of them can be bad alone."""
    found = [str(pair) for pair in ring(ports("a:r0", "b:r0"))]

    assert found == ["a:r0..b:r0", "b:r0..a:r0"]


def test_all_is_every_ordered_pair_of_a_rail() -> None:
    """Four ports on two rails: two pairs each."""
    found = {str(pair) for pair in all_pairs(ports("a:r0", "a:r1", "b:r0", "b:r1"))}

    assert found == {"a:r0..b:r0", "b:r0..a:r0", "a:r1..b:r1", "b:r1..a:r1"}


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@given(chosen=PORTS)
def test_pairs_stay_on_a_rail_and_never_repeat(strategy: str, chosen: list[Port]) -> None:
    """On a rail-only fabric a pair across rails would be a false failure."""
    found = select(strategy, chosen)

    assert all(pair.client.rail == pair.server.rail for pair in found)
    assert all(pair.client.node != pair.server.node for pair in found)
    assert len(set(found)) == len(found)


@given(chosen=PORTS)
def test_no_port_with_a_partner_is_left_out(chosen: list[Port]) -> None:
    """A port that has somebody to talk to is measured in both directions."""
    rails = [port.rail for port in chosen]
    partnered = {port for port in chosen if rails.count(port.rail) > 1}

    assert {pair.client for pair in ring(chosen)} == partnered
    assert {pair.server for pair in ring(chosen)} == partnered


def test_a_list_keeps_its_order_and_drops_what_is_excluded() -> None:
    """A listed pair whose node is left out cannot be measured."""
    a, b, c = ports("a:r0", "b:r0", "c:r0")

    assert select("list", [a, b], [(b, a), (a, c), (b, a)]) == [Pair(b, a)]
