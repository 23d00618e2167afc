"""Runs before and after a change, compared: numbers, facts, and what of both belongs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.compare import alike
from pytest_fabric.judge.compare.changes import FactChange, changes
from pytest_fabric.judge.compare.effect import (
    BETTER,
    SAME,
    UNKNOWN,
    WORSE,
    Change,
    Effect,
)
from pytest_fabric.judge.compare.places import Place, changed
from pytest_fabric.judge.compare.run import Kind, Run, series
from pytest_fabric.judge.compare.tallies import Tally, tallies

#: With fewer runs on a side an interval is so wide that it seldom tells anything.
FEW = 3


@dataclass(frozen=True)
class Finding:
    """What became of one kind of value: of all pairs, of the worst tenth of them, and where."""

    kind: Kind
    effect: Effect
    worst_tenth: Effect | None
    places: tuple[Place, ...]
    left_out: int

    @property
    def verdict(self) -> str:
        """Return the worst of what was found."""
        verdicts = [self.effect.verdict, *(place.effect.verdict for place in self.places)]
        if self.worst_tenth is not None:
            verdicts.append(self.worst_tenth.verdict)
        return worst(verdicts)


@dataclass(frozen=True)
class Beside:
    """A fact that has changed, and what became of the pairs of its places, and of the others."""

    fact: FactChange
    theirs: tuple[tuple[Kind, Effect], ...]
    others: tuple[tuple[Kind, Effect], ...]


@dataclass(frozen=True)
class Comparison:
    """A comparison of runs: `lost` are measurements that no run after the change has a value of.

    `counts` are those that are not the same as before, `steady` how many others there are.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    findings: tuple[Finding, ...]
    facts: tuple[Beside, ...]
    lost: tuple[str, ...]
    notes: tuple[str, ...]
    counts: tuple[Tally, ...] = ()
    steady: int = 0

    @property
    def verdict(self) -> str:
        """Return the worst of all findings: a pair that cannot be measured any more is worse."""
        if self.lost:
            return WORSE
        numbers = [finding.verdict for finding in self.findings]
        return worst([*numbers, *(one.verdict for one in self.counts)])


def worst(verdicts: Sequence[str]) -> str:
    """Return one verdict for many: `cannot tell` only where nothing else was told."""
    for verdict in (WORSE, BETTER, SAME):
        if verdict in verdicts:
            return verdict
    return UNKNOWN


def compare(before: Sequence[Run], after: Sequence[Run]) -> Comparison:
    """Return what has changed. Raises ConfigError for runs that cannot be compared."""
    alike.require(before, after)
    all_changes = [Change(one) for one in series(before, after)]
    lost = tuple(dict.fromkeys(_lost(before, after)))
    if not all_changes and not lost:
        raise ConfigError(
            "expected pairs that every run has measured in the same company, found none: compare "
            "runs of the same nodes, tests and pairs"
        )
    findings = tuple(_finding(change, len(all_changes)) for change in all_changes)
    facts = tuple(_beside(fact, all_changes) for fact in changes(before, after))
    first, second = (tuple(run.name for run in side) for side in (before, after))
    notes = tuple(_notes(before, after, findings))
    counted = tallies(before, after)
    counts = tuple(one for one in counted if one.verdict != SAME)
    steady = len(counted) - len(counts)
    return Comparison(first, second, findings, facts, lost, notes, counts, steady)


def _finding(change: Change, looks: int) -> Finding:
    tail = change.spread(0.9) if change.series.kind.hashed else None
    whole = change.whole()
    places = changed(change, looks)
    return Finding(change.series.kind, whole, tail, places, change.series.left_out)


def _beside(fact: FactChange, all_changes: Sequence[Change]) -> Beside:
    theirs, others = [], []
    for change in all_changes:
        if change.series.kind.hashed:
            continue  # pairs are not compared one by one
        here = [target for target in change.targets if _touches(target, fact.targets)]
        rest = [target for target in change.targets if target not in set(here)]
        if here:
            theirs.append((change.series.kind, change.beside(here)))
        if rest:
            others.append((change.series.kind, change.beside(rest)))
    return Beside(fact, tuple(theirs), tuple(others))


def _touches(target: str, places: Sequence[str]) -> bool:
    ends = target.split("..")
    return any(end in places or end.partition(":")[0] in places for end in ends)


def _lost(before: Sequence[Run], after: Sequence[Run]) -> Iterator[str]:
    """Yield what every run before has measured, and every run after has tried in vain."""
    good = [
        {(m.record.target, m.record.key) for m in run.measured if m.record.error is None}
        for run in before
    ]
    bad = [
        {(m.record.target, m.record.key): m.record.error for m in run.measured if m.record.error}
        for run in after
    ]
    for target, key in sorted(set.intersection(*good)):
        errors = [errors.get((target, key)) for errors in bad]
        if all(error is not None for error in errors):
            first = errors[0]
            assert first is not None
            yield f"{target}: {first.message.removeprefix(f'{target}: ')}"


def _notes(
    before: Sequence[Run], after: Sequence[Run], findings: Sequence[Finding]
) -> Iterator[str]:
    fewest = min(len(before), len(after))
    if fewest < FEW:
        yield (
            f"{fewest} run{'s' if fewest > 1 else ''} on a side: give at least {FEW} of each: what "
            "differs between runs by itself is seen only between runs"
        )
    left_out = sum(finding.left_out for finding in findings)
    if left_out:
        yield (
            f"{left_out:,} values left out: not every run has them in the same company "
            "(alone, or under load)"
        )
