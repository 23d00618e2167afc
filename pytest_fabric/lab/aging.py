"""What gets worse while the lab runs: faults that only show over time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_fabric.lab.clock import UPTIME_S

#: A module that warms comes near so many degrees more, and has two thirds of it after so long.
WARMER_C, WARMS_S = 40.0, 250.0


@dataclass(frozen=True)
class Aging:
    """How a port changes with the seconds since the lab has started; nothing for 0.

    The link is lost once in `flap_s`, bit errors double every `double_s`, the module `warms`.
    """

    flap_s: float = 0.0
    double_s: float = 0.0
    warms: bool = False

    def flaps(self, uptime_s: float) -> int:
        """Return how often the link has been lost."""
        return int(_since(uptime_s) / self.flap_s) if self.flap_s else 0

    def factor(self, uptime_s: float) -> float:
        """Return by how much bit errors are more frequent now; at most by a million."""
        return min(1e6, 2 ** min(60.0, _since(uptime_s) / self.double_s)) if self.double_s else 1.0

    def more(self, uptime_s: float) -> float:
        """Return for how many seconds as they were at the start there would be as many errors."""
        if not self.double_s:
            return uptime_s
        turns = min(60.0, _since(uptime_s) / self.double_s)
        return uptime_s + self.double_s / math.log(2) * (2**turns - 1)

    def rise_c(self, uptime_s: float) -> float:
        """Return by how many degrees the module is warmer."""
        return WARMER_C * (1 - math.exp(-_since(uptime_s) / WARMS_S)) if self.warms else 0.0


def _since(uptime_s: float) -> float:
    return max(0.0, uptime_s - UPTIME_S)
