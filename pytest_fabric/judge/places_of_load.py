"""Where contention gathers: places at which more pairs missed beside others than chance lets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

#: That chance alone makes a place of all stand out; shared among the places (Bonferroni).
CHANCE = 0.01

#: Fewer pairs of a place say nothing, whatever became of them.
LEAST = 3


@dataclass(frozen=True)
class Loaded:
    """A pair that was measured beside others: its nodes, and the leaves between which it goes."""

    pair: str
    places: frozenset[str]
    is_missed: bool


@dataclass(frozen=True)
class Gathering:
    """A place, how many of its pairs missed, and in words how many did elsewhere."""

    name: str
    missed: int
    count: int
    elsewhere: str
    example: str


def gathered(loaded: Sequence[Loaded]) -> list[Gathering]:
    """Return the places at which contention gathers, the surest first.

    Flows that meet by chance on an uplink do so everywhere alike: a place is told where so many of
    its pairs, at the rate of all others, are hardly by chance (binomial tail).
    """
    places = sorted({place for one in loaded for place in one.places})
    found = []
    for place in places:
        own = [one for one in loaded if place in one.places]
        others = [one for one in loaded if place not in one.places]
        missed = [one for one in own if one.is_missed]
        if len(own) < LEAST or not missed:
            continue
        elsewhere = sum(one.is_missed for one in others)
        chance = tail(len(missed), len(own), (elsewhere + 0.5) / (len(others) + 1))
        if chance < CHANCE / len(places):
            told = f"{elsewhere} of {len(others)}"
            found.append((chance, Gathering(place, len(missed), len(own), told, missed[0].pair)))
    return [one for _, one in sorted(found, key=lambda it: (it[0], it[1].name))]


def tail(least: int, count: int, rate: float) -> float:
    """Return the probability that at least so many of a count happen, each at a rate."""
    return sum(
        comb(count, number) * rate**number * (1 - rate) ** (count - number)
        for number in range(least, count + 1)
    )
