"""Values that stand out among those of their peers, whichever side of a limit they are on."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

#: So many robust deviations from the median, and this part of it, make a value stand out: more
#: than noise, and more than anybody would call the same.
DEVIATIONS, PART = 8.0, 0.02

#: The median absolute deviation of normal noise, in standard deviations: 1 / 1.4826.
SIGMA = 1.4826

#: Fewer values have no middle to speak of.
PEERS = 5


def outliers(values: Mapping[str, float], high_is_bad: bool) -> set[str]:
    """Return the names whose values are far on the bad side of the median of all."""
    if len(values) < PEERS:
        return set()
    middle = median(values.values())
    spread = SIGMA * median(abs(value - middle) for value in values.values())
    least = max(DEVIATIONS * spread, PART * abs(middle))
    sign = 1 if high_is_bad else -1
    return {name for name, value in values.items() if sign * (value - middle) > least}
