"""The inventory of a run: which pairs the options and the cluster file leave of it."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_fabric import inventory
from pytest_fabric.errors import ConfigError
from pytest_fabric.pairs import STRATEGIES, leaf_pairs
from tests.clusters import TEXT

#: Four nodes on two leaves, two rails each; every rail meets its own leaves only.
POD = TEXT.replace(
    """  gpu[001-002]: {profile: ours}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}
""",
    """  gpu[001-002]:
    profile: ours
    rails: {rail0: {pci: "0000:1a:00.0", leaf: a0}, rail1: {pci: "0000:3a:00.0", leaf: a1}}
  gpu[003-004]:
    profile: ours
    rails: {rail0: {pci: "0000:1a:00.0", leaf: b0}, rail1: {pci: "0000:3a:00.0", leaf: b1}}
""",
)


def load(
    pytester: pytest.Pytester, keys: str, *options: str, text: str = POD
) -> inventory.Inventory:
    """Return the inventory of a run in a folder with a cluster file of these pairs."""
    (pytester.path / "cluster.yaml").write_text(text.replace("{strategy: ring}", keys))
    return inventory.load(pytester.parseconfig(*options))


def test_cover_knows_the_leaves(pytester: pytest.Pytester) -> None:
    """The leaves of the file reach the strategy, and no pair leaves its rail."""
    found = load(pytester, "{strategy: cover, peers: 2}")

    assert Counter(pair.client for pair in found.pairs) == dict.fromkeys(found.ports, 2)
    assert leaf_pairs(found.pairs, found.leaves).covered == (("a0", "b0"), ("a1", "b1"))


def test_rails_are_crossed_where_the_file_says_so(pytester: pytest.Pytester) -> None:
    """Only who writes cross_rail has pairs of two rails."""
    apart = load(pytester, "{strategy: all}")
    joined = load(pytester, "{strategy: all, cross_rail: true}")

    assert len(apart.pairs) == 2 * 4 * 3
    assert len(joined.pairs) == 8 * 6


def test_ports_of_two_link_layers_never_pair(pytester: pytest.Pytester) -> None:
    """They cannot talk to each other, whatever their rails are called."""
    profile = "  ib: {extends: builtin/cx7-400g-ndr}\n"
    text = POD.replace("profiles:\n", f"profiles:\n{profile}").replace(
        "gpu[003-004]:\n    profile: ours", "gpu[003-004]:\n    profile: ib"
    )
    found = load(pytester, "{strategy: all, cross_rail: true}", text=text)

    nodes = {frozenset({pair.client.node, pair.server.node}) for pair in found.pairs}
    assert nodes == {frozenset({"gpu001", "gpu002"}), frozenset({"gpu003", "gpu004"})}


def test_pairs_come_in_rounds(pytester: pytest.Pytester) -> None:
    """The pairs that follow each other share no port, as far as a round goes."""
    found = load(pytester, "{strategy: all}")

    for start in range(0, len(found.pairs), 4):
        chosen = found.pairs[start : start + 4]
        assert len({port for pair in chosen for port in (pair.client, pair.server)}) == 8


def test_the_seed_of_the_file_counts(pytester: pytest.Pytester) -> None:
    """Another seed draws other pairs."""
    one = load(pytester, "{strategy: random, peers: 1, seed: 1}")
    same = load(pytester, "{strategy: random, peers: 1, seed: 1}")
    other = load(pytester, "{strategy: random, peers: 1, seed: 3}")

    assert one.pairs == same.pairs
    assert set(one.pairs) != set(other.pairs)
    assert len(one.pairs) == len(other.pairs) == 8


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_the_option_goes_before_the_file(pytester: pytest.Pytester, strategy: str) -> None:
    """Every strategy can be chosen for a run; nodes are left out before pairs are chosen."""
    found = load(
        pytester, "{strategy: ring}", f"--fabric-pairs={strategy}", "--fabric-nodes=gpu[001,003]"
    )

    assert found.strategy == strategy
    assert sorted(map(str, found.pairs)) == [
        *("gpu001:rail0..gpu003:rail0", "gpu001:rail1..gpu003:rail1"),
        *("gpu003:rail0..gpu001:rail0", "gpu003:rail1..gpu001:rail1"),
    ]


def test_a_bisection_of_one_leaf_is_refused(pytester: pytest.Pytester) -> None:
    """The message says which rail it is, and what to declare."""
    with pytest.raises(
        ConfigError,
        match=r"^cluster\.yaml: strategy permutation: expected ports of rail0 on two leaves or "
        r"more, got only a0: say leaf: in the rails",
    ):
        load(pytester, "{strategy: permutation}", "--fabric-nodes=gpu[001-002]")


def test_a_list_that_is_not_there_is_refused(pytester: pytest.Pytester) -> None:
    """The option cannot choose what the file does not have."""
    with pytest.raises(ConfigError, match=r"expected pairs\.list in cluster\.yaml, found none"):
        load(pytester, "{strategy: ring}", "--fabric-pairs=list")
