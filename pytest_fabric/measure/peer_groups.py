"""When all peers of a measurement are made: only then is it known who misses them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_fabric.config import Cluster, Peers
from pytest_fabric.measure import peers
from pytest_fabric.measure.plan import Job
from pytest_fabric.results import Measurement


@dataclass(frozen=True, eq=False)
class Complete:
    """A group of peers of which all are made, each with its job; `kind` says what they share."""

    members: tuple[tuple[Job, Measurement], ...]
    kind: str

    @property
    def records(self) -> tuple[Measurement, ...]:
        """Return what was measured."""
        return tuple(record for _, record in self.members)


class PeerGroups:
    """The planned measurements of pairs that a limit compares with their peers; safe in threads."""

    def __init__(self, jobs: Iterable[Job], cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str], set[str]] = {}
        self._made: dict[tuple[str, str], dict[str, tuple[Job, Measurement]]] = {}
        for job in jobs:
            if job.group is None and not job.is_alone and self._is_compared(job):
                self._open.setdefault(peers.group_of(job, cluster), set()).add(job.key)

    def made(self, job: Job, record: Measurement) -> Complete | None:
        """Take in a measurement; return its whole group when it is the last of it, else None."""
        if job.group is not None or job.is_alone:
            return None
        name = peers.group_of(job, self._cluster)
        with self._lock:
            waiting = self._open.get(name, set())
            if job.key not in waiting:
                return None
            waiting.remove(job.key)
            self._made.setdefault(name, {})[job.key] = job, record
            if waiting:
                return None
            return Complete(tuple(self._made.pop(name).values()), name[1])

    def _is_compared(self, job: Job) -> bool:
        """Return whether a limit of either end has a clause of peers."""
        limits = (
            limit
            for end in (job.pair.client, job.pair.server)
            for limit in self._cluster.rail(end).profile.limits.values()
        )
        return any(isinstance(clause, Peers) for limit in limits for clause in limit.clauses)
