"""What ran beside a measurement, as its record says it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.config import Cluster
from pytest_fabric.measure.plan import Job, leaf_of

#: So many neighbours of a measurement are named in its record; the rest is counted.
NAMED = 64


def beside(cluster: Cluster, job: Job, others: Sequence[Job]) -> tuple[str, ...]:
    """Return who ran at the same time: those on the same nodes and leaves, where they are many."""
    nearest = list(others)
    if len(others) > NAMED:
        mine = _places(cluster, job)
        nearest.sort(key=lambda other: (-len(mine & _places(cluster, other)), other.key))
    return tuple(sorted(f"{other.settings.tool} {other.pair}" for other in nearest[:NAMED]))


def _places(cluster: Cluster, job: Job) -> set[str]:
    ends = (job.pair.client, job.pair.server)
    return {end.node for end in ends} | {f"leaf {leaf_of(cluster, end)}" for end in ends}
