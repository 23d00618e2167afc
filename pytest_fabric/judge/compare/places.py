"""Where a series has changed more than elsewhere: nodes, ports and pairs, the clearest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pytest_fabric.judge.compare.effect import (
    BETTER,
    CONFIDENCE,
    WORSE,
    Change,
    Effect,
    by_place,
)
from pytest_fabric.judge.compare.student import quantile

#: Fewer pairs have no middle that a change of one of them leaves alone.
LEAST = 4

#: Where more places than these have changed, the fabric has.
MOST = 32

#: Each pair of a place must show at least this share of the change that they show together:
#: otherwise the place is only a neighbour of the right one.
PART = 0.5


@dataclass(frozen=True)
class Place:
    """A node, port or pair, and what its pairs have done."""

    name: str
    effect: Effect
    targets: tuple[str, ...]


def changed(change: Change, looks: int = 1) -> tuple[Place, ...]:
    """Return the places whose pairs have changed, and others have not in the same way.

    One after another, the clearest first; its pairs are left out then. Intervals are widened for
    the number of places that were looked at (Bonferroni), in so many series: `looks`.
    """
    if len(change.targets) < LEAST or change.freedom < 1 or change.series.kind.hashed:
        return ()
    middle = median(change.of_pair.values())
    beyond = {target: value - middle for target, value in change.of_pair.items()}
    places = by_place(change.targets)
    variances = _variances(change, places)
    confidence = 1 - (1 - CONFIDENCE) / (len(places) * looks)
    freedom = (len(change.targets) - 1) * change.freedom
    left, found = set(change.targets), list[Place]()
    while len(found) < MOST:
        best: tuple[float, int, str, list[str]] | None = None
        for name, targets in places.items():
            here = [target for target in targets if target in left]
            if not _agree([beyond[target] for target in here]):
                continue
            far = abs(fmean(beyond[target] for target in here))
            error = change.error(_variance(variances, name, targets, here))
            score = (far / error if error else far * 1e9, -name.count(".."), name, here)
            # The last, and so the most exact, of places that have the same pairs.
            if best is None or score[0] >= best[0]:
                best = score
        if best is None or best[0] < quantile(freedom, confidence):
            break
        _, _, name, here = best
        left -= set(here)
        variance = _variance(variances, name, places[name], here)
        effect = change.some(here, variance, confidence)
        is_large = abs(fmean(beyond[target] for target in here)) >= effect_size(change, effect)
        if effect.verdict in (WORSE, BETTER) and is_large:
            found.append(Place(_alike(name, here, places), effect, tuple(here)))
    return tuple(found)


def _alike(name: str, here: Sequence[str], places: Mapping[str, list[str]]) -> str:
    """Return the name of a place, and of those of its size that have the same pairs."""
    same = [
        other
        for other, targets in places.items()
        if _size(other) == _size(name) and set(targets) >= set(here)
    ]
    return " or ".join(same)


def effect_size(change: Change, effect: Effect) -> float:
    """Return the smallest change that matters at a place."""
    return change.series.kind.matters(effect.before)


def _agree(values: Sequence[float]) -> bool:
    """Return whether all pairs of a place have changed, and in one direction."""
    if not values:
        return False
    mean = fmean(values)
    return all(value / mean >= PART for value in values) if mean else False


def _size(name: str) -> int:
    return 0 if ".." in name else 1 if ":" in name else 2


def _variances(change: Change, places: Mapping[str, list[str]]) -> dict[int, float]:
    """Return how much a pair, a port and a node vary from run to run."""
    sets: dict[int, list[list[str]]] = {0: [], 1: [], 2: []}
    for name, targets in places.items():
        sets[_size(name)].append(targets)
    return {size: change.variance(of_size) for size, of_size in sets.items()}


def _variance(
    variances: Mapping[int, float], name: str, targets: Sequence[str], here: Sequence[str]
) -> float:
    """Return the variance of what is left of a place: more, the less there is."""
    pair = variances[0] / len(here)
    return max(pair, variances[_size(name)] * len(targets) / len(here))
