"""In which order: rounds of pairs that share no port, so that all of a round can run at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from random import Random

from pytest_fabric.pairs.circle import circle
from pytest_fabric.pairs.colouring import colouring
from pytest_fabric.results import Pair, Port


def order(pairs: Iterable[Pair], seed: int) -> list[Pair]:
    """Return the pairs round by round."""
    return [pair for chosen in rounds(pairs, seed) for pair in chosen]


def rounds(pairs: Iterable[Pair], seed: int) -> list[list[Pair]]:
    """Return the pairs in rounds in which no port is used twice, each pair once.

    A full mesh takes as few rounds as there can be. Else each direction takes at most one round
    more than the busiest port has pairs. Rails that do not meet share their rounds.
    """
    place = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    parts = [_both_ways(part, Random(f"{seed}/{part[0]}")) for part in _connected(list(place))]
    return [
        sorted(chain.from_iterable(together), key=place.__getitem__)
        for together in zip_longest(*parts, fillvalue=())
    ]


def _connected(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return the pairs in parts that have no port in common."""
    met: defaultdict[Port, set[Port]] = defaultdict(set)
    for pair in pairs:
        met[pair.client].add(pair.server)
        met[pair.server].add(pair.client)
    part_of: dict[Port, list[Pair]] = {}
    for first in met:
        if first in part_of:
            continue
        part: list[Pair] = []
        reached = {first}
        while reached:
            part_of.update(dict.fromkeys(reached, part))
            reached = {port for near in reached for port in met[near]} - part_of.keys()
    for pair in pairs:
        part_of[pair.client].append(pair)
    return list({id(part): part for part in part_of.values()}.values())


def _both_ways(pairs: Sequence[Pair], random: Random) -> list[list[Pair]]:
    """Return the rounds of connected pairs; a round is followed by its way back."""
    there: dict[Pair, None] = {}
    back: dict[Pair, None] = {}
    for pair in pairs:
        way = back if Pair(pair.server, pair.client) in there else there
        way[pair] = None
    forth = _one_way(list(there), random)
    if len(back) == len(there):
        again = [[Pair(pair.server, pair.client) for pair in chosen] for chosen in forth]
    else:
        again = _one_way(list(back), random)
    both = chain.from_iterable(zip_longest(forth, again, fillvalue=[]))
    return [chosen for chosen in both if chosen]


def _one_way(pairs: Sequence[Pair], random: Random) -> list[list[Pair]]:
    """Return the rounds of pairs of which no two have the same two ports."""
    ports = list(dict.fromkeys(port for pair in pairs for port in (pair.client, pair.server)))
    random.shuffle(ports)
    number = {port: n for n, port in enumerate(ports)}
    edges = [(number[pair.client], number[pair.server]) for pair in pairs]
    if len(edges) == len(ports) * (len(ports) - 1) // 2:
        colours = _meetings(len(ports))
    else:
        colours = colouring(len(ports), edges, random)
    found: dict[int, list[Pair]] = {}
    for pair, ends in zip(pairs, edges, strict=True):
        found.setdefault(colours[min(ends), max(ends)], []).append(pair)
    return [found[colour] for colour in sorted(found)]


def _meetings(count: int) -> dict[tuple[int, int], int]:
    return {
        (min(ends), max(ends)): turn
        for turn, meeting in enumerate(circle(count))
        for ends in meeting
    }
