"""What hours of full load have shown so far: sums over the windows of a soak, and their values.

Links are watched from before the first window of a run to the end of its last one. An error rate
that was not seen in n bits is below 3/n with 95 % confidence, so that the claim gets stronger with
every window. Modules warm up at first: drift is what comes after that.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pytest_fabric.results import Health, Measurement, Pair

#: The share of a soak in which modules warm up, and at most so long, in seconds (engineering
#: judgement: a module that is loaded is as warm as it gets within half an hour).
WARM_SHARE, WARM_S = 0.25, 1800.0

#: What is compared: the beginning and the end of the time after that, a third each.
PART = 3

#: Windows that a drift takes at least: one of warming up, one for each third.
LEAST = 4

#: More windows without a value than this share are no accident (engineering judgement).
LOST_SHARE = 0.01

#: What is said of a soak that has ended early, before its first cause.
UNDONE = "not measured"


#: Returns what a pair can carry, in bits per second, None where it is not declared.
Rates = Callable[[str], float | None]


@dataclass(frozen=True)
class Asked:
    """What a soak was asked for: so many seconds of load, in windows of so many."""

    seconds: float
    window_s: float

    @property
    def windows(self) -> int:
        """Return how many windows that takes."""
        return max(1, math.ceil(self.seconds / self.window_s - 1e-9))


@dataclass
class Link:
    """What is known of a port's link: sums over its windows, and what it said in each."""

    windows: int = 0
    seconds: float = 0.0
    bits: float = 0.0
    sums: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    inapplicable: dict[str, str] = field(default_factory=dict)
    ends: array[float] = field(default_factory=lambda: array("d"))
    celsius: array[float] = field(default_factory=lambda: array("d"))
    corrected: array[float] = field(default_factory=lambda: array("d"))
    own_bits: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: Health) -> None:
        """Take in one window."""
        self.problems |= {n: why for n, why in row.problems.items() if n not in row.inapplicable}
        self.inapplicable |= row.inapplicable
        if row.seconds <= 0 or not row.speed_bps:
            return
        bits = row.seconds * row.speed_bps
        self.windows += 1
        self.seconds += row.seconds
        self.bits += bits
        self.ends.append(self.seconds)
        for name in ("flaps", "lost", "corrected"):
            count = getattr(row, name)
            if count is not None:
                self.sums[name] = self.sums.get(name, 0) + count
        self.celsius.append(math.nan if row.celsius is None else row.celsius)
        self.corrected.append(math.nan if row.corrected is None else row.corrected)
        self.own_bits.append(bits)

    def thirds(self) -> tuple[slice, slice] | None:
        """Return the windows of beginning and end, without warming up; None for too few."""
        warm = min(WARM_SHARE * self.seconds, WARM_S)
        first = sum(end <= warm + 1e-9 for end in self.ends)
        rest = self.windows - first
        part = rest // PART
        if self.windows < LEAST or part < 1:
            return None
        return slice(first, first + part), slice(self.windows - part, self.windows)


class Soak:
    """The windows of a soak, added as they are made; those that have no value are missing.

    `rates` tells what a pair can carry, in bits per second, where that is declared.
    """

    def __init__(self, asked: Asked | None = None, rates: Rates = lambda pair: None) -> None:
        self.asked = asked
        self._rates = rates
        self.windows = 0
        self.seconds = 0.0
        self.missing: list[str] = []
        self.links: dict[str, Link] = {}
        self.rates: dict[tuple[str, str], array[float]] = {}
        self.shares: dict[tuple[str, str], array[float]] = {}
        self._done: set[object] = set()

    def add(self, record: Measurement) -> None:
        """Take in a record, if it is a window of a soak; the same one counts once."""
        number = record.settings.get("window")
        if record.tool != "soak_window" or number in self._done:
            return
        for row in record.health:
            self.links.setdefault(row.port, Link()).add(row)
        problem = record.error.message if record.error else next(iter(record.doubts), None)
        if problem is not None:
            self.missing.append(f"window {number}: {problem}")
            return
        self._done.add(number)
        self.windows += 1
        self.seconds += float(record.settings.get("duration_s") or 0)
        for member in record.members:
            pair = Pair.parse(member.pair)
            rate, whole = member.bandwidth.average_bps, self._rates(member.pair)
            for end in ((str(pair.client), "sends"), (str(pair.server), "receives")):
                self.rates.setdefault(end, array("d")).append(rate)
                share = rate / whole if whole else math.nan
                self.shares.setdefault(end, array("d")).append(share)

    @property
    def short(self) -> str:
        """Return why the soak has not shown what it was asked for, or nothing when it has."""
        if self.asked is None:
            return ""
        why = f": {self.missing[0]}" if self.missing else ""
        left = self.asked.windows - self.windows
        if left > 0:
            return f"{UNDONE}: {left:,} of {self.asked.windows:,} windows{why}"
        lost = len(self.missing)
        if lost > LOST_SHARE * self.windows:
            return f"without a value: {lost:,} of {lost + self.windows:,} windows{why}"
        return ""


def p1(values: Sequence[float]) -> float:
    """Return what one in a hundred values is below: of fewer than a hundred, the lowest."""
    return sorted(values)[max(0, math.ceil(0.01 * len(values)) - 1)]


def span(seconds: float) -> str:
    """Return a time as people say it: `12 s`, `12.5 min`, `24 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
