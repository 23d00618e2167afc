"""Pairs on which nothing more is tried: what failed once after a long time would do so each time.

Two things bar a pair. A run that hung: each costs half a minute. And a short run of RDMA writes
(`declare.rdma_reach`) that showed that RDMA does not reach the other end: every longer run would
wait for its retries, and would say the same. A run of other settings that fails bars nothing, since
the path may lose large packets only. Nor does a ping, which a filter of ICMP may stop where RDMA
passes: it is a failure of its own.
"""

from __future__ import annotations

from pytest_fabric.declare import REACH_ITERATIONS
from pytest_fabric.measure.plan import Job
from pytest_fabric.metrics import LATENCY_TOOLS
from pytest_fabric.results import Failure, Measurement, Pair

#: Errors that took a deadline to find.
HANGS = frozenset({"hang", "not_ready", "control_unreachable"})

#: Errors with which perftest says that its messages did not arrive, or that no path was found.
LOST = frozenset({"completion", "message_lost", "qp_rtr", "gid_incompatible"})


class Barred:
    """The pairs that are barred, each with the reason; safe in threads."""

    def __init__(self) -> None:
        self._failures: dict[Pair, tuple[str, str]] = {}

    def failure(self, job: Job) -> Failure | None:
        """Return why a measurement is not tried, or None when it may be."""
        known = self._failures.get(job.pair)
        if known is None:
            return None
        kind, why = known
        return Failure(kind, f"{job.pair}: {job.settings.tool}: not tried, since {why}")

    def note(self, job: Job, record: Measurement) -> None:
        """Bar the pair of a measurement whose error says that others would fail as well."""
        error, tool = record.error, job.settings.tool
        if error is None:
            return
        if error.kind in HANGS:
            self._failures.setdefault(job.pair, ("hang", f"{tool} on this pair hung before"))
        elif error.kind in LOST and is_reach(job):
            told = error.message.removeprefix(f"{job.pair}: ").removeprefix(f"{tool}: ")
            why = f"RDMA does not reach the other end ({job.settings.key}): {told}"
            self._failures.setdefault(job.pair, ("unreached", why))


def is_reach(job: Job) -> bool:
    """Return whether a measurement is no more than the shortest one."""
    settings = job.settings
    is_short = settings.iterations is not None and settings.iterations <= REACH_ITERATIONS
    return settings.tool in LATENCY_TOOLS and is_short and settings.size <= 2
