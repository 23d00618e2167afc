"""What an earlier run has measured, by the jobs that would measure it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from pytest_fabric.measure import plan
from pytest_fabric.measure.peer_groups import Complete
from pytest_fabric.measure.plan import Job
from pytest_fabric.results import Measurement


class Misses(Protocol):
    """Tells whether a measurement is outside a declared limit; of its peers once all are made."""

    def __call__(self, record: Measurement, peers: Complete | None = None, /) -> bool: ...


class Known:
    """The measurements of an earlier run; `confirm` is how often a miss is measured alone."""

    def __init__(self, records: Iterable[Measurement], misses: Misses, confirm: int) -> None:
        self._by_key = by_key(records)
        self._misses = misses
        self._confirm = confirm

    def of(self, job: Job) -> list[tuple[Job, Measurement]]:
        """Return what is known of a job: its measurement first, then its repetitions alone."""
        if job.key not in self._by_key:
            return []
        jobs = (job, *plan.repeats(job, self._confirm))
        return [(one, self._by_key[one.key]) for one in jobs if one.key in self._by_key]

    def is_open(self, job: Job) -> bool:
        """Return whether something is left to be measured of what a job stands for."""
        found = self.of(job)
        is_short = len(found) < 1 + self._confirm
        return not found or (is_short and is_to_confirm(job, found[0][1], self._misses))


def is_to_confirm(job: Job, record: Measurement, misses: Callable[[Measurement], bool]) -> bool:
    """Return whether a measurement missed a limit while something was beside it."""
    if record.error is not None or job.is_alone:
        return False
    # A group is its own company, and congestion has its moments: it is made once more.
    return (record.company > 0 or job.group is not None) and misses(record)


def by_key(known: Iterable[Measurement]) -> dict[str, Measurement]:
    """Return stored measurements by key; the first repetition alone of one is number 1."""
    found: dict[str, Measurement] = {}
    for record in known:
        key = f"{record.target} {record.key}"
        if record.is_repetition:
            number = 1
            while plan.again_key(key, number) in found:
                number += 1
            key = plan.again_key(key, number)
        found[key] = record
    return found
