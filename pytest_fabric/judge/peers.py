"""Peers: what other pairs of the same kind measured, as their median and how far they scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.results import Measurement
from pytest_fabric.units import render

#: With fewer, one bad peer moves the median by much: two of five may be bad, and it still holds.
LEAST = 5


@dataclass(frozen=True)
class Sample:
    """Numbers that a value is held against; `unread` counts those that could not be read."""

    numbers: tuple[float, ...]
    unread: int = 0

    @property
    def median(self) -> float:
        """Return the middle of the numbers."""
        return median(self.numbers)

    @property
    def mad(self) -> float:
        """Return the median of the absolute deviations from the median."""
        middle = self.median
        return median(abs(number - middle) for number in self.numbers)


class Group:
    """The measurements that are peers of each other; `kind` says in words what they share.

    They have the settings (tool, size, direction, memory), the profiles and the hop class in
    common. Each counts as it was first made: what load does to a few of them moves no median.
    """

    def __init__(self, records: Sequence[Measurement], kind: str) -> None:
        self.kind = kind
        self._records = records
        self._numbers: dict[str, tuple[dict[str, float], set[str]]] = {}

    def others(self, target: str, metric: str, read: Callable[[Measurement], float]) -> Sample:
        """Return what the peers of a target have of a metric. Raises MissingValueError."""
        numbers, unread = self._of(metric, read)
        found = tuple(number for name, number in numbers.items() if name != target)
        sample = Sample(found, len(unread - {target}))
        if len(found) < LEAST:
            lost = f" ({sample.unread} more could not be measured)" if sample.unread else ""
            raise MissingValueError(
                f"{target}: {metric}: expected at least {LEAST} peers, found {len(found)}{lost}: "
                f"{self.kind}: measure more pairs of this kind, or take the peers clause out"
            )
        return sample

    def _of(
        self, metric: str, read: Callable[[Measurement], float]
    ) -> tuple[dict[str, float], set[str]]:
        """Return the number of each target, read once, and the targets without one."""
        if metric not in self._numbers:
            numbers: dict[str, float] = {}
            unread: set[str] = set()
            for record in self._records:
                try:
                    numbers[record.target] = read(record)
                except FabricError:
                    unread.add(record.target)
            self._numbers[metric] = numbers, unread
        return self._numbers[metric]


def told(sample: Sample, value: float, unit: str, kind: str) -> str:
    """Return in words who the peers are and how far a value is from them."""
    deviation = abs(value - sample.median)
    far = f"; {deviation / sample.mad:.3g} MADs away" if sample.mad else ""
    lost = f", {sample.unread} more could not be measured" if sample.unread else ""
    return (
        f"median {render(sample.median, unit)}, MAD {render(sample.mad, unit)} of "
        f"{len(sample.numbers)} peers ({kind}){lost}{far}"
    )
