"""Who makes a measurement of which tool: a run of perftest or of TCP on a pair, or a probe."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

from pytest_fabric.measure import group, pair, probe, soak, tcp
from pytest_fabric.measure.barred import Barred, is_reach
from pytest_fabric.measure.books import Books
from pytest_fabric.measure.dispatch import Free
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.record import without_value
from pytest_fabric.metrics import PROBES, TCP_TOOLS
from pytest_fabric.results import Measurement


class Makers:
    """Makes measurements of every tool, in any thread; remembers what not to try again."""

    def __init__(self, fabric: Fabric, books: Books) -> None:
        self._fabric = fabric
        self._books = books
        self._barred = Barred()
        self._soaked = soak.Windows(fabric)
        low, high = fabric.cluster.tools.ports
        self._ports = itertools.cycle(range(low, high + 1))

    def make(self, job: Job, free: Free) -> Measurement:
        """Return a measurement; what goes wrong is in its `error`.

        `free` is called when its ports are needed no longer.
        """
        if job.settings.tool in PROBES:
            return probe.measure(self._fabric, job, partial(self._books.after, free))
        if job.settings.tool in TCP_TOOLS:
            after = partial(self._books.after, free)
            return tcp.measure(self._fabric, job, self._ports, after, self._books.note_start)
        return self._perftest(job, free) if job.group is None else self._group(job)

    def _group(self, job: Job) -> Measurement:
        """Make a group, unless one of its pairs is known to fail after a long time."""
        failures = (self._barred.failure(member) for member in job.members)
        failure = next((one for one in failures if one is not None), None)
        if failure is not None:
            told = replace(failure, message=f"{job.name}: {failure.message}")
            return without_value(job.target, job.settings, told)
        if job.settings.window is not None:
            return self._soaked.measure(job, self._ports)
        return group.measure(self._fabric, job, self._ports)

    def _perftest(self, job: Job, free: Free) -> Measurement:
        """Make a run of perftest, unless it is known to fail after a long time."""
        failure = self._barred.failure(job)
        if failure is not None:
            return without_value(job.target, job.settings, failure)
        after = self._books.held if is_reach(job) else partial(self._books.after, free)
        record = pair.measure(self._fabric, job, self._ports, after, self._books.note_start)
        self._barred.note(job, record)
        return record
