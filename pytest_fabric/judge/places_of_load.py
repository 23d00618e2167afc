"""Where contention gathers: places whose pairs missed beside others more often than by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, inf, lgamma, log, log1p

#: That chance alone makes a place of all stand out; shared among the places (Bonferroni).
CHANCE = 0.001

#: Fewer pairs of a place say nothing, whatever became of them.
LEAST = 3

#: A single event is no gathering.
EVENTS = 2


@dataclass(frozen=True)
class Loaded:
    """A pair that was measured beside others: its nodes, and the leaves between which it goes.

    Each place comes with the leaf whose uplinks the pair needs there, "" for none. `start` and
    `end` of its measurement are in seconds.
    """

    pair: str
    places: Mapping[str, str]
    is_missed: bool
    start: float
    end: float


@dataclass(frozen=True)
class Gathering:
    """A place, how many of its pairs missed, and in words how many did elsewhere.

    They missed at `events` of the `turns` moments that can have been events of their own.
    """

    name: str
    missed: int
    count: int
    events: int
    turns: int
    elsewhere: str
    example: str


def gathered(loaded: Sequence[Loaded]) -> list[Gathering]:
    """Return the places at which contention gathers, the surest first.

    Flows that meet by chance on an uplink do so everywhere alike: a place is told where its pairs
    missed at so many moments that, at the rate of all others, it is hardly by chance (binomial
    tail). All flows that meet on an uplink miss together: what goes through the uplinks of one leaf
    at one moment is one event, with as many chances as there are pairs in it.
    """
    places = sorted({place for one in loaded for place in one.places})
    found = []
    for place in places:
        own = [one for one in loaded if place in one.places]
        others = [one for one in loaded if place not in one.places]
        missed = [one for one in own if one.is_missed]
        events, turns = (_events(place, pairs) for pairs in (missed, own))
        if len(own) < LEAST or events < EVENTS:
            continue
        elsewhere = sum(one.is_missed for one in others)
        rate = (elsewhere + 0.5) / (len(others) + 1)
        chance = tail(events, turns, 1 - (1 - rate) ** (len(own) / turns))
        if chance < CHANCE / len(places):
            told = f"{elsewhere} of {len(others)}"
            counts = (len(missed), len(own), events, turns)
            found.append((chance, Gathering(place, *counts, told, missed[0].pair)))
    return [one for _, one in sorted(found, key=lambda it: (it[0], it[1].name))]


def _events(place: str, loaded: Iterable[Loaded]) -> int:
    """Return how many of the pairs can have missed for reasons of their own.

    That is all which need no uplink, and for each leaf the most that were measured one after
    another.
    """
    count = 0
    last: dict[str, float] = {}
    for one in sorted(loaded, key=lambda it: it.end):
        leaf = one.places[place]
        if not leaf or one.start >= last.get(leaf, -inf):
            count, last[leaf] = count + 1, one.end
    return count


def tail(least: int, count: int, rate: float) -> float:
    """Return the probability that at least so many of a count happen, each at a rate."""
    if rate >= 1:
        return 1.0
    # By logarithms: the coefficients of a thousand events are larger than a float can be.
    return fsum(
        exp(
            lgamma(count + 1)
            - lgamma(number + 1)
            - lgamma(count - number + 1)
            + number * log(rate)
            + (count - number) * log1p(-rate)
        )
        for number in range(least, count + 1)
    )
