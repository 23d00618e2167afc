"""One run held against earlier ones, value by value: a first look, and no test of significance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pytest_fabric.judge.compare.effect import BETTER, SAME, WORSE
from pytest_fabric.judge.compare.run import Kind, Run, values


@dataclass(frozen=True)
class Against:
    """A value of a run, the median of what earlier runs have, and what that means."""

    kind: Kind
    target: str
    verdict: str
    before: float
    after: float


def against(now: Run, past: Sequence[Run]) -> list[Against]:
    """Return each value of a run that any earlier run has in the same company.

    It is worse or better when it differs by what matters, and from every earlier run.
    """
    known = [values(run) for run in past]
    found = []
    for kind, targets in values(now).items():
        for target, value in targets.items():
            earlier = [run[kind][target] for run in known if target in run.get(kind, {})]
            if earlier:
                verdict = _verdict(kind, value, earlier)
                found.append(Against(kind, target, verdict, median(earlier), value))
    return found


def _verdict(kind: Kind, value: float, earlier: Sequence[float]) -> str:
    sign = 1 if kind.unit == "s" else -1
    middle = median(earlier)
    matters = math.log1p(kind.matters(middle))
    apart = [sign * math.log(value / one) for one in earlier]
    far = sign * math.log(value / middle)
    if far >= matters and min(apart) > 0:
        return WORSE
    return BETTER if far <= -matters and max(apart) < 0 else SAME
