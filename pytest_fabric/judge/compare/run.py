"""What a comparison is made from: runs as they were read, and series of one kind of value."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from pytest_fabric.judge.compare import numbers
from pytest_fabric.judge.compare.numbers import Number
from pytest_fabric.metrics import COLLECTIVES
from pytest_fabric.results import Measured, Measurement, NodeFacts, Pair, Reading
from pytest_fabric.units import render

#: Where flows choose among paths by a hash, a pair meets another path in each run.
HASHED = "ecmp"


@dataclass(frozen=True)
class Run:
    """An earlier run.

    `setup` is what must be alike for runs to be compared; `ports` tells what each port id stands
    for, `leaves` its switch; `counters` are the names of all counters of a port.
    """

    name: str
    setup: Mapping[str, str]
    ports: Mapping[str, str]
    measured: Sequence[Measured]
    facts: Mapping[str, NodeFacts] = field(default_factory=dict)
    readings: Mapping[tuple[str, str], Reading] = field(default_factory=dict)
    counters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    leaves: Mapping[str, str] = field(default_factory=dict)
    routing: str | None = None


@dataclass(frozen=True, order=True)
class Kind:
    """What the values of a series have in common; values of two kinds are never compared."""

    tool: str
    bytes: int
    metric: str
    unit: str
    key: str
    alone: bool
    hashed: bool

    def __str__(self) -> str:
        company = ", alone" if self.alone else ", under load"
        paths = ", across leaves" if self.hashed else ""
        size = f" {render(self.bytes, 'B')}" if self.bytes else ""
        return f"{self.tool}{size} {self.metric}{company}{paths}"

    @property
    def of_pairs(self) -> bool:
        """Return whether its values are of single pairs, and not of nodes, groups or the fabric."""
        return self.tool not in numbers.GROUPS and self.tool not in COLLECTIVES

    def matters(self, before: float) -> float:
        """Return the smallest relative change that matters, by the value before."""
        return numbers.matters(self.metric, before)


@dataclass(frozen=True)
class Series:
    """Values of one kind before and after: by target, one of each run, in the order of the runs.

    Only targets that every run has are in it; `left_out` counts the others.
    """

    kind: Kind
    before: Mapping[str, tuple[float, ...]]
    after: Mapping[str, tuple[float, ...]]
    left_out: int

    def oriented(self, values: Sequence[float]) -> list[float]:
        """Return the logarithms of values, the larger the worse."""
        sign = 1 if self.kind.unit == "s" else -1
        return [sign * math.log(value) for value in values]


def series(before: Sequence[Run], after: Sequence[Run]) -> list[Series]:
    """Return what both sides have of each kind of value, in the order of kinds."""
    sides = [[values(run) for run in side] for side in (before, after)]
    kinds = sorted({kind for side in sides for of_run in side for kind in of_run})
    found = []
    for kind in kinds:
        runs = [of_run.get(kind, {}) for side in sides for of_run in side]
        known = dict.fromkeys(target for of_run in runs for target in of_run)
        whole = [target for target in known if all(target in of_run for of_run in runs)]
        if not whole:
            continue
        first, second = (
            {target: tuple(of_run[kind][target] for of_run in side) for target in whole}
            for side in sides
        )
        found.append(Series(kind, first, second, len(known) - len(whole)))
    return found


def values(run: Run) -> dict[Kind, dict[str, float]]:
    """Return one value of each target and kind: repetitions in one run are no other run."""
    found: dict[Kind, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for measured in run.measured:
        for record in (measured.record, *measured.alone):
            if record.error is None and not record.doubts:
                for kind, value in _of(record, run):
                    found[kind][record.target].append(value)
    for reading in run.readings.values():
        for kind, target, value in _facts(reading):
            found[kind][target].append(value)
    return {
        kind: {target: median(several) for target, several in targets.items()}
        for kind, targets in found.items()
    }


def _of(record: Measurement, run: Run) -> Iterator[tuple[Kind, float]]:
    hashed = run.routing == HASHED and _crosses(record.target, run)
    for number in numbers.of(record):
        yield _kind(record.tool, number, record.key, not record.company, hashed), number.value


def _facts(reading: Reading) -> Iterator[tuple[Kind, str, float]]:
    for target, said in reading.facts.items():
        for name, fact in said.items():
            found = numbers.of_fact(name, fact)
            if found is not None:
                tool, number = found
                yield _kind(tool, number, tool, True, False), target, number.value


def _kind(tool: str, number: Number, key: str, alone: bool, hashed: bool) -> Kind:
    return Kind(tool, number.bytes, number.metric, number.unit, key, alone, hashed)


def _crosses(target: str, run: Run) -> bool:
    if ".." not in target:
        return False
    pair = Pair.parse(target)
    ends = [run.leaves.get(str(end)) for end in (pair.client, pair.server)]
    return None not in ends and ends[0] != ends[1]
