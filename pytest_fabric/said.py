"""The records of topics: what nodes and ports say, and what stands behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

#: Said of what was to be counted under load, where a run made none: it is nobody's fault.
UNLOADED = "let the run measure pairs of the port, and see theirs"


@dataclass(frozen=True)
class Exposure:
    """How long something was watched, and in how many places a second an event could have been.

    A rate that was not seen in `n` places is below 3/n with 95 % confidence (the rule of three).
    """

    seconds: float
    per_second: float

    @property
    def floor(self) -> float:
        """Return the smallest rate that what was seen can show."""
        seen = self.seconds * self.per_second
        return 3 / seen if seen > 0 else math.inf

    def needed_s(self, rate: float) -> float:
        """Return for how long one must watch, in seconds, to show a rate."""
        return 3 / (rate * self.per_second) if rate * self.per_second > 0 else math.inf


@dataclass(frozen=True)
class Fact:
    """One thing that a node says, in a unit of `metrics`, or the problem that hides it.

    `detail` are lines for people: where it was read, and what it consists of. `inapplicable` says
    why what was found has no such thing (copper has no light); `exposure` stands behind a rate.
    """

    value: float | str | None
    problem: str | None = None
    detail: tuple[str, ...] = ()
    inapplicable: str | None = None
    exposure: Exposure | None = None


@dataclass(frozen=True)
class Reading:
    """What a node says about a topic: by target (a node or the id of a port), then by metric."""

    node: str
    topic: str
    facts: Mapping[str, Mapping[str, Fact]]
