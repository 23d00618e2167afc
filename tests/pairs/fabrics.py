"""Ports and leaves for the tests of pairs."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from pytest_fabric.results import Pair, Port

#: Any ports in any order, with leaves of some of them.
PORTS = st.lists(
    st.builds(Port, st.sampled_from("abcdefgh"), st.sampled_from(["r0", "r1"])), unique=True
)
LEAVES = st.dictionaries(
    st.builds(Port, st.sampled_from("abcdefgh"), st.sampled_from(["r0", "r1"])),
    st.sampled_from(["leaf-0", "leaf-1", "leaf-2"]),
)
SEEDS = st.integers(0, 2**32 - 1)
PEERS = st.integers(1, 6)


def ports(*names: str) -> list[Port]:
    """Return ports by their ids."""
    return [Port(*name.split(":")) for name in names]


def text(pairs: Iterable[Pair]) -> list[str]:
    """Return the ids of pairs."""
    return [str(pair) for pair in pairs]


def pod(*sizes: int, rails: int = 1) -> dict[Port, str]:
    """Return the leaves of ports of as many leaves per rail as there are sizes."""
    of_node = [leaf for leaf, size in enumerate(sizes) for _ in range(size)]
    return {
        Port(f"n{number:03}", f"r{rail}"): f"leaf-{rail}-{leaf}"
        for number, leaf in enumerate(of_node)
        for rail in range(rails)
    }
