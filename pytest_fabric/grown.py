"""What the counters of all windows of a run have grown by: evidence about ports."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import Growth, Measurement


class Grown:
    """Sums of growth by port and counter; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sums: Counter[Growth] = Counter()

    def add(self, record: Measurement) -> None:
        """Add what grew in the window of a pair, where it tells something.

        Many pairs at once are congestion by themselves: their pauses accuse nobody.
        """
        if ".." not in record.target:
            return
        with self._lock:
            for grown in record.growth:
                if grown.delta and grown.meaning in MEANINGS:
                    self._sums[_without_delta(grown)] += grown.delta

    def all(self) -> tuple[Growth, ...]:
        """Return the growth of all windows together."""
        with self._lock:
            sums = list(self._sums.items())
        return tuple(
            Growth(one.port, one.name, one.meaning, delta, one.direction, one.priority)
            for one, delta in sums
        )


def _without_delta(grown: Growth) -> Growth:
    return Growth(grown.port, grown.name, grown.meaning, 0, grown.direction, grown.priority)
