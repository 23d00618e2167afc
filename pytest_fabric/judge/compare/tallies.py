"""What should be nothing: growth of counters, losses, segments sent again, before and after.

A ratio says nothing where most values are zero. What differs must differ in every run: with so many
runs that chance alone would seldom sort them so (a permutation test), or from nothing at all in
every run before to something in every run after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, isfinite
from statistics import median

from pytest_fabric.counters import OVERTAKING
from pytest_fabric.judge.compare.effect import BETTER, SAME, UNKNOWN, WORSE
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.metrics import MEANINGS, TOPICS
from pytest_fabric.results import Measurement

#: Of so many ways in which runs could be sorted by chance one is no more than 5 % (two-sided: the
#: sides may change places).
WAYS = 40

#: From nothing to something needs so many runs on each side.
LEAST_RUNS = 2

#: Smallest differences that matter: one event of a counter; of losses and of segments sent again
#: what the builtin profiles and the README's example allow (0.1 %).
LEAST = {"packets lost": 0.001, "segments sent again": 0.001}

#: Counters that grow on a sound fabric where packets may overtake each other.
OVERTAKEN = ("out_of_sequence", "retransmissions")

#: What, and on which target.
Name = tuple[str, str]


@dataclass(frozen=True)
class Tally:
    """Something that was counted in every run of both sides."""

    what: str
    target: str
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def least(self) -> float:
        """Return the smallest difference that matters."""
        return LEAST.get(self.what, 1.0)

    @property
    def middles(self) -> tuple[float, float]:
        """Return the medians of both sides."""
        return median(self.before), median(self.after)

    @property
    def verdict(self) -> str:
        """Return what became of it: more is worse."""
        was, now = self.middles
        if abs(now - was) < self.least:
            return SAME
        if min(self.after) > max(self.before):
            return WORSE if self._is_sure(self.before) else UNKNOWN
        if max(self.after) < min(self.before):
            return BETTER if self._is_sure(self.after) else UNKNOWN
        return UNKNOWN

    def _is_sure(self, lower: Sequence[float]) -> bool:
        counts = len(self.before), len(self.after)
        enough = comb(sum(counts), counts[0]) >= WAYS
        return enough or (min(counts) >= LEAST_RUNS and not any(lower))


def tallies(before: Sequence[Run], after: Sequence[Run]) -> list[Tally]:
    """Return what every run has counted, in the order of what and target."""
    sides = [[_counted(run) for run in side] for side in (before, after)]
    every = [names.keys() for side in sides for names in side]
    known = set.intersection(*map(set, every))
    return [
        Tally(what, target, *(tuple(run[what, target] for run in side) for side in sides))
        for what, target in sorted(known)
    ]


def _counted(run: Run) -> Mapping[Name, float]:
    found: dict[Name, float] = defaultdict(float)
    for measured in run.measured:
        for record in (measured.record, *measured.alone):
            # Groups congest on purpose: what grows there is the reaction that is wanted.
            if record.error is None and not record.doubts and not record.members:
                for name, value in _of(record, run):
                    found[name] += value
        for name, value in _shares(measured.record):
            found[name] = max(found[name], value)
    for (topic, _), reading in run.readings.items():
        if topic == "switch_window":
            for target, said in reading.facts.items():
                for metric, fact in said.items():
                    if isinstance(fact.value, (int, float)) and isfinite(fact.value):
                        found[metric, target] += fact.value
    return found


def _of(record: Measurement, run: Run) -> Iterator[tuple[Name, float]]:
    for grown in record.growth:
        is_normal = run.routing in OVERTAKING and grown.meaning in OVERTAKEN
        if grown.meaning in MEANINGS and not is_normal:
            yield (f"growth of {grown.meaning}", grown.port), grown.delta


def _shares(record: Measurement) -> Iterator[tuple[Name, float]]:
    if record.error is not None or record.doubts:
        return
    if record.reach and all(one.sent > 0 for one in record.reach):
        yield ("packets lost", record.target), max(one.loss for one in record.reach)
    if record.tcp is not None and record.tcp.resent is not None:
        yield ("segments sent again", record.target), record.tcp.resent


#: Facts that count what happened in a run: tallies, and no facts that changed.
COUNTING_FACTS = frozenset(TOPICS["switch_window"])
