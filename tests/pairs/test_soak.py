"""The windows of a soak: permutations without a fixed point, another one in each window."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.pairs.soak import window
from pytest_fabric.results import Pair, Port


def fabric(nodes: int, rails: int = 1) -> dict[str, list[Port]]:
    return {
        f"rail{rail}": [Port(f"gpu{node:03}", f"rail{rail}") for node in range(nodes)]
        for rail in range(rails)
    }


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 99), st.integers(1, 2000))
def test_every_port_sends_once_and_receives_once(
    nodes: int, rails: int, seed: int, number: int
) -> None:
    ports = fabric(nodes, rails)
    pairs = window(ports, {}, seed, number, is_across=True)

    every = {port for rail in ports.values() for port in rail}
    assert {pair.client for pair in pairs} == every
    assert {pair.server for pair in pairs} == every
    assert len(pairs) == len(every)
    assert all(pair.client.node != pair.server.node for pair in pairs)
    assert all(pair.client.rail == pair.server.rail for pair in pairs)


def test_windows_differ_and_come_again_with_their_seed() -> None:
    ports = fabric(16)
    first = [window(ports, {}, 1, number, is_across=True) for number in range(1, 30)]

    assert first == [window(ports, {}, 1, number, is_across=True) for number in range(1, 30)]
    assert len({tuple(pairs) for pairs in first}) == 29
    met = Counter(pair for pairs in first for pair in pairs)
    assert max(met.values()) < 10  # nobody has the same partner all the time


@pytest.mark.parametrize("most", [None, 1, 3])
def test_within_leaves_nothing_crosses_an_uplink(most: int | None) -> None:
    """A fabric that others use is loaded on its leaves only, and as much as it says."""
    ports = fabric(12, 2)
    leaves = {port: f"leaf-{int(port.node[3:]) % 3}" for rail in ports.values() for port in rail}
    pairs = window(ports, leaves, 1, 7, is_across=False, most=most)

    assert all(leaves[pair.client] == leaves[pair.server] for pair in pairs)
    on_leaf = Counter(leaves[pair.client] for pair in pairs)
    assert set(on_leaf.values()) == {most or 8}


def test_ports_of_one_node_have_nobody_to_talk_to() -> None:
    """Rails that are joined may pair two ports of a node: that traffic meets no wire."""
    alone = [Port("gpu001", "rail0"), Port("gpu001", "rail1")]
    other = Port("gpu002", "rail0")

    assert window({"all": alone}, {}, 1, 1, is_across=True) == []
    assert window({"all": alone[:1]}, {}, 1, 1, is_across=True) == []
    joined = window({"all": [*alone, other]}, {}, 1, 1, is_across=True)
    assert joined
    assert all(isinstance(pair, Pair) and other in (pair.client, pair.server) for pair in joined)
