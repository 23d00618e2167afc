"""What ran beside a measurement, as its record says it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from pytest_fabric.measure.plan import Job

#: So many neighbours of a measurement are named in its record; the rest is counted.
NAMED = 64


def beside(job: Job, others: Sequence[Job]) -> tuple[str, ...]:
    """Return who ran at the same time: where they are many, those on the same nodes and leaves."""
    nearest = others
    if len(others) > NAMED:
        near = [it for it in others if not job.places.isdisjoint(it.places)]
        nearest = heapq.nsmallest(NAMED, near, lambda it: (-len(job.places & it.places), it.key))
    return tuple(sorted(other.name for other in nearest))
