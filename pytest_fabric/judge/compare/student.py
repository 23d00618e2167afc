"""Student's distribution: how far the mean of a few runs may be from the truth."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

#: From so many degrees of freedom on the normal distribution says the same within 1 %.
MANY = 200

#: Intervals of the integral; the error of Simpson's rule is far below what is shown.
STEPS = 400


@lru_cache(maxsize=1024)
def quantile(freedom: int, confidence: float) -> float:
    """Return t such that |T| <= t with a confidence; T has `freedom` degrees of freedom.

    With T = sqrt(freedom) tan(angle), the density of the angle is proportional to
    cos(angle) ** (freedom - 1), which is integrated and searched by halving.
    """
    if freedom >= MANY:
        return NormalDist().inv_cdf(0.5 + confidence / 2)
    low, high = 0.0, math.pi / 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, freedom) > confidence else (middle, high)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """Return the probability of an angle between -`angle` and `angle`."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    step = angle / STEPS
    inner = sum((4 if n % 2 else 2) * math.cos(n * step) ** (freedom - 1) for n in range(1, STEPS))
    ends = 1 + math.cos(angle) ** (freedom - 1)
    return 2 * scale / math.sqrt(math.pi) * step / 3 * (inner + ends)
