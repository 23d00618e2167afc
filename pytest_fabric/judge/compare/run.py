"""What a comparison is made from: runs as they were read, and series of one kind of value."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from pytest_fabric.results import Measured, Measurement, NodeFacts, Pair, Reading
from pytest_fabric.units import render

#: Smallest effects that matter (practice of acceptance after an upgrade): 2 % of bandwidth, of a
#: median latency 5 % or 0.15 us, whichever is more, and 20 % of a P99.
MATTERS = {"average": 0.02, "bidirectional": 0.02, "median": 0.05, "P99": 0.20}
LEAST_S = 0.15e-6

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
        company = ", alone" if self.alone else ""
        paths = ", across leaves" if self.hashed else ""
        return f"{self.tool} {render(self.bytes, 'B')} {self.metric}{company}{paths}"

    def matters(self, before: float) -> float:
        """Return the smallest relative change that matters, by the value before."""
        share = MATTERS[self.metric]
        return max(share, LEAST_S / before) if self.metric == "median" else share


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
    return {
        kind: {target: median(numbers) for target, numbers in targets.items()}
        for kind, targets in found.items()
    }


def _of(record: Measurement, run: Run) -> Iterator[tuple[Kind, float]]:
    row = record.latency or record.bandwidth
    if row is None:
        return
    numbers: dict[str, tuple[float | None, str]] = {}
    if record.latency is not None:
        numbers["median"] = (record.latency.median_s, "s")
        numbers["P99"] = (record.latency.p99_s, "s")
    elif record.bandwidth is not None:
        name = "bidirectional" if record.settings.get("directions") == 2 else "average"
        numbers[name] = (record.bandwidth.average_bps, "b/s")
    hashed = run.routing == HASHED and _crosses(record.target, run)
    for metric, (number, unit) in numbers.items():
        if number is not None and number > 0:
            alone = not record.company
            kind = Kind(record.tool, row.bytes, metric, unit, record.key, alone, hashed)
            yield kind, number


def _crosses(target: str, run: Run) -> bool:
    pair = Pair.parse(target)
    ends = [run.leaves.get(str(end)) for end in (pair.client, pair.server)]
    return None not in ends and ends[0] != ends[1]
