"""Which pairs to measure next: those from whose outcome most is to be learned.

A pair is worth what its outcome tells on average about which candidate it is, in bits: the entropy
of the outcome less what is left of it when the candidate is known (Lindley, "On a Measure of the
Information Provided by an Experiment", 1956). One pair after another is chosen so, which needs
nearly as few as the best choice of all at once would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pytest_fabric.judge.localise.candidates import Candidate, candidates_of
from pytest_fabric.judge.localise.search import LEAK
from pytest_fabric.judge.localise.seen import Seen

#: A pair that tells less than this, in bits, is not worth its time.
LEAST_BITS = 0.05

#: So many partners of a port are thought of.
PARTNERS = 12

#: From this chance of the first place on nothing more needs to be measured.
SURE = 0.9


def next_pairs(
    chances: Mapping[Candidate, float],
    possible: Iterable[Seen],
    leaves: Mapping[str, str],
    most: int,
) -> list[Seen]:
    """Return up to `most` of the possible measurements that separate the candidates, best first."""
    groups: list[dict[Candidate, float]] = [dict(chances)]
    left = {one.target: (one, candidates_of(one, leaves)) for one in possible}
    chosen: list[Seen] = []
    while left and len(chosen) < most:
        worth = {target: _worth(groups, uses) for target, (_, uses) in left.items()}
        best = max(worth, key=lambda target: worth[target])
        if worth[best] < LEAST_BITS:
            break
        one, uses = left.pop(best)
        chosen.append(one)
        groups = [part for group in groups for part in _parts(group, uses)]
    return chosen


def partners(
    ports: Sequence[str],
    others: Sequence[str],
    fits: Callable[[str, str], bool],
    measured: Collection[str],
    make: Callable[[str, str], Seen],
) -> list[Seen]:
    """Return the pairs of ports with others, both ways, that nobody has measured.

    `make` says what a measurement of a client and a server shows, `fits` whether two ports can
    reach each other.
    """
    found: dict[str, Seen] = {}
    for port in ports:
        near = [other for other in others if other != port and fits(port, other)][:PARTNERS]
        for other in near:
            for one in (make(port, other), make(other, port)):
                if one.target not in measured:
                    found.setdefault(one.target, one)
    return list(found.values())


def _worth(groups: Sequence[Mapping[Candidate, float]], uses: Collection[Candidate]) -> float:
    """Return the bits that an outcome tells on average; each group is one outcome so far."""
    return sum(_bits(group, uses) for group in groups)


def _bits(group: Mapping[Candidate, float], uses: Collection[Candidate]) -> float:
    whole = sum(group.values())
    if whole <= 0:
        return 0.0
    fails = {candidate: _fails(candidate, uses) for candidate in group}
    average = sum(chance * fails[c] for c, chance in group.items()) / whole
    known = sum(chance * _entropy(fails[c]) for c, chance in group.items()) / whole
    return whole * (_entropy(average) - known)


def _parts(
    group: Mapping[Candidate, float], uses: Collection[Candidate]
) -> list[dict[Candidate, float]]:
    """Return the chances of the candidates together with each of both outcomes."""
    fails = {candidate: _fails(candidate, uses) for candidate in group}
    return [
        {c: chance * fails[c] for c, chance in group.items()},
        {c: chance * (1 - fails[c]) for c, chance in group.items()},
    ]


def _fails(candidate: Candidate, uses: Collection[Candidate]) -> float:
    return max(LEAK, candidate.shows) if candidate in uses else LEAK


def _entropy(chance: float) -> float:
    if not 0 < chance < 1:
        return 0.0
    return -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)
