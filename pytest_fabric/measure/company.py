"""What ran beside a measurement, as its record says it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from pytest_fabric.config import Cluster
from pytest_fabric.measure.plan import Job, leaf_of

#: So many neighbours of a measurement are named in its record; the rest is counted.
NAMED = 64


def beside(cluster: Cluster, job: Job, others: Sequence[Job]) -> tuple[str, ...]:
    """Return who ran at the same time: those on the same nodes and leaves, where they are many."""
    nearest = others
    if len(others) > NAMED:
        nodes, leaves = _nodes(job), _leaves(cluster, job)

        def distance(other: Job) -> tuple[int, str]:
            shared = len(nodes & _nodes(other)) + len(leaves & _leaves(cluster, other))
            return -shared, other.key

        nearest = heapq.nsmallest(NAMED, others, distance)
    return tuple(sorted(other.name for other in nearest))


def _nodes(job: Job) -> set[str]:
    return {job.pair.client.node, job.pair.server.node}


def _leaves(cluster: Cluster, job: Job) -> set[str]:
    return {leaf_of(cluster, job.pair.client), leaf_of(cluster, job.pair.server)}
