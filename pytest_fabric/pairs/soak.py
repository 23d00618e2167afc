"""The pairs of a window of a soak: a permutation of its ports, another one in each window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from pytest_fabric.results import Pair, Port

#: So often a permutation is drawn anew when it joins two ports of a node, which never cross a wire.
DRAWS = 20

#: Stands for the leaf of ports that declare none: any two of them may share one.
UNKNOWN = "?"


def window(
    rails: Mapping[str, Sequence[Port]],
    leaves: Mapping[Port, str],
    seed: int,
    number: int,
    is_across: bool,
    most: int | None = None,
) -> list[Pair]:
    """Return the pairs of a window: each port sends to one other, and receives from one.

    `rails` are the ports that can talk to each other. Without `is_across` pairs stay on their leaf,
    at most `most` on each of them. A port that has nobody to talk to is in no pair.
    """
    pairs: list[Pair] = []
    on_leaf: Counter[str] = Counter()
    for name, ports in _sets(rails, leaves, is_across):
        for pair in _drawn(ports, Random(f"{seed}/soak/{name}/{number}")):
            leaf = leaves.get(pair.client, UNKNOWN)
            if is_across or most is None or on_leaf[leaf] < most:
                on_leaf[leaf] += 1
                pairs.append(pair)
    return pairs


def _sets(
    rails: Mapping[str, Sequence[Port]], leaves: Mapping[Port, str], is_across: bool
) -> Iterator[tuple[str, Sequence[Port]]]:
    for rail, ports in rails.items():
        if is_across:
            yield rail, ports
            continue
        by_leaf: dict[str, list[Port]] = {}
        for port in ports:
            by_leaf.setdefault(leaves.get(port, UNKNOWN), []).append(port)
        yield from ((f"{rail}/{leaf}", found) for leaf, found in by_leaf.items())


def _drawn(ports: Sequence[Port], random: Random) -> list[Pair]:
    """Return the best of some permutations without a fixed point: rings through all ports."""
    best: list[Pair] = []
    for _ in range(DRAWS if len(ports) > 1 else 0):
        order = list(ports)
        random.shuffle(order)
        ends = zip(order, [*order[1:], order[0]], strict=True)
        pairs = [Pair(one, other) for one, other in ends if one.node != other.node]
        best = max(best, pairs, key=len)
        if len(best) == len(ports):
            break
    return best
