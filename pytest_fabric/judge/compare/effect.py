"""How much a series has changed, how sure that is, and where it has changed more than elsewhere.

A run is the unit of repetition: what all its pairs share (a boot, a path, a temperature) is seen
only between runs. Pairs of one node are no independent witnesses either.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, quantiles

from pytest_fabric.judge.compare.run import Series
from pytest_fabric.judge.compare.student import quantile

CONFIDENCE = 0.95

WORSE, BETTER, SAME, UNKNOWN = "worse", "better", "same", "cannot tell"


@dataclass(frozen=True)
class Effect:
    """A change: `change`, `low` and `high` are shares of the value before, below 0 for less.

    `low` and `high` bound it with the confidence; None where no run was repeated. `before` and
    `after` are geometric means of the values, in the unit of the series.
    """

    verdict: str
    change: float
    low: float | None
    high: float | None
    before: float
    after: float
    pairs: int


class Change:
    """The change of one series: logarithms of values, oriented such that more is worse."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.targets = list(series.before)
        sides = (series.before, series.after)
        self._logs = [{t: series.oriented(side[t]) for t in self.targets} for side in sides]
        self._runs = [len(next(iter(side.values()))) for side in sides]
        self.of_pair = {
            target: fmean(self._logs[1][target]) - fmean(self._logs[0][target])
            for target in self.targets
        }

    @property
    def freedom(self) -> int:
        """Return the degrees of freedom between runs: 0 where no side has two of them."""
        return sum(self._runs) - 2

    @cached_property
    def _each(self) -> float:
        """Return the factor from the variance of one run to that of a difference of means."""
        return sum(1 / count for count in self._runs)

    @cached_property
    def _shared(self) -> list[list[float]]:
        """Return what each run of each side has in common, as the mean of its pairs."""
        return [
            [fmean(self._rest(side, t, run) for t in self.targets) for run in range(count)]
            for side, count in enumerate(self._runs)
        ]

    def _rest(self, side: int, target: str, run: int) -> float:
        logs = self._logs[side][target]
        return logs[run] - fmean(logs)

    @cached_property
    def own(self) -> dict[str, list[float]]:
        """Return what each pair has in each run beside what its run has in common."""
        return {
            target: [
                self._rest(side, target, run) - self._shared[side][run]
                for side, count in enumerate(self._runs)
                for run in range(count)
            ]
            for target in self.targets
        }

    @cached_property
    def _own_variance(self) -> float:
        return self.variance([[target] for target in self.targets])

    def variance(self, sets: Sequence[Sequence[str]]) -> float:
        """Return how much the mean of a set of pairs varies from run to run, beside all others."""
        freedom = (len(sets) - 1) * self.freedom
        if freedom <= 0:
            return 0.0
        own = self.own
        total = 0.0
        for names in sets:
            columns = zip(*(own[name] for name in names), strict=True)
            total += sum(fmean(column) ** 2 for column in columns)
        return total / freedom

    def whole(self) -> Effect:
        """Return the change of all pairs; where paths are hashed, of their middle."""
        if self.series.kind.hashed:
            return self.spread(0.5)
        return self._effect(fmean(self.of_pair.values()), self._margin(), self.targets)

    def _level(self, targets: Sequence[str]) -> float:
        """Return the mean of some pairs before the change."""
        return fmean(fmean(self._logs[0][target]) for target in targets)

    def _margin(self) -> float | None:
        """Return the half width of the interval: the wider of what runs and what nodes say."""
        if self.freedom < 1:
            return None
        shared = sum(value**2 for side in self._shared for value in side) / self.freedom
        of_runs = max(shared, self._own_variance / len(self.targets)) * self._each
        margin = quantile(self.freedom, CONFIDENCE) * math.sqrt(of_runs)
        nodes = len({node for target in self.targets for node in nodes_of(target)})
        if nodes < 3:
            return margin
        return max(margin, quantile(nodes - 1, CONFIDENCE) * math.sqrt(self._of_nodes(nodes)))

    def _of_nodes(self, nodes: int) -> float:
        """Return the variance of the mean of pairs, of which those of one node are alike.

        The sum over all pairs of pairs that share a node (M. Fafchamps and F. Gubert, "The
        formation of risk sharing networks", 2007), with the usual factor for few clusters.
        """
        mean = fmean(self.of_pair.values())
        by_node: dict[str, float] = defaultdict(float)
        by_both: dict[frozenset[str], float] = defaultdict(float)
        for target, value in self.of_pair.items():
            ends = nodes_of(target)
            for node in ends:
                by_node[node] += value - mean
            by_both[frozenset(ends)] += value - mean
        total = sum(v**2 for v in by_node.values()) - sum(v**2 for v in by_both.values())
        return max(0.0, total) / len(self.of_pair) ** 2 * nodes / (nodes - 1)

    def spread(self, share: float) -> Effect:
        """Return the change of a quantile over all pairs: 0.9 is where the worst tenth begins."""
        sides = [
            [_quantile([logs[t][run] for t in self.targets], share) for run in range(count)]
            for logs, count in zip(self._logs, self._runs, strict=True)
        ]
        difference = fmean(sides[1]) - fmean(sides[0])
        level = fmean(sides[0])
        if self.freedom < 1:
            return self._effect(difference, None, self.targets, level)
        squares = sum((value - fmean(side)) ** 2 for side in sides for value in side)
        error = math.sqrt(squares / self.freedom * self._each)
        margin = quantile(self.freedom, CONFIDENCE) * error
        return self._effect(difference, margin, self.targets, level)

    def some(self, targets: Sequence[str], variance: float, confidence: float) -> Effect:
        """Return the change of some pairs, of whose mean the variance within a run is known."""
        margin = None
        if self.freedom >= 1:
            freedom = max(1, (len(self.targets) - 1) * self.freedom)
            margin = quantile(freedom, confidence) * math.sqrt(variance * self._each)
        return self._effect(fmean(self.of_pair[t] for t in targets), margin, targets)

    def beside(self, targets: Sequence[str]) -> Effect:
        """Return the change of some pairs; pairs vary, and so do the runs that they share."""
        shared = sum(value**2 for side in self._shared for value in side) / max(1, self.freedom)
        variance = max(shared, self._own_variance / len(targets))
        return self.some(targets, variance, CONFIDENCE)

    def error(self, variance: float) -> float:
        """Return the standard error of a difference, from the variance within a run."""
        return math.sqrt(variance * self._each)

    def _effect(
        self,
        worse: float,
        margin: float | None,
        targets: Sequence[str],
        level: float | None = None,
    ) -> Effect:
        """Return an effect; `level` is where it starts, by default the mean of the pairs."""
        kind = self.series.kind
        sign = 1 if kind.unit == "s" else -1
        start = self._level(targets) if level is None else level
        before, after = (math.exp(sign * (start + moved)) for moved in (0.0, worse))
        verdict = _verdict(worse, margin, math.log1p(kind.matters(before)))
        change = math.expm1(sign * worse)
        if margin is None:
            return Effect(verdict, change, None, None, before, after, len(targets))
        low, high = sorted(math.expm1(sign * (worse + side)) for side in (-margin, margin))
        return Effect(verdict, change, low, high, before, after, len(targets))


def _verdict(worse: float, margin: float | None, matters: float) -> str:
    """Return what a change means: real and large enough, or surely too small to matter."""
    if margin is None:
        return UNKNOWN
    low, high = worse - margin, worse + margin
    if low > 0 and worse >= matters:
        return WORSE
    if high < 0 and worse <= -matters:
        return BETTER
    return SAME if -matters < low and high < matters else UNKNOWN


def _quantile(values: list[float], share: float) -> float:
    if len(values) < 2:
        return values[0]
    return quantiles(values, n=20, method="inclusive")[round(20 * share) - 1]


def nodes_of(target: str) -> tuple[str, ...]:
    """Return the nodes of a pair."""
    return tuple(dict.fromkeys(end.partition(":")[0] for end in target.split("..")))


def by_place(targets: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the pairs of each node and port, and each pair by itself."""
    found: dict[str, list[str]] = defaultdict(list)
    for target in targets:
        for place in dict.fromkeys([*nodes_of(target), *target.split(".."), target]):
            found[place].append(target)
    return found
