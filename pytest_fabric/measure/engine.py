"""The engine of a run: what tests want is measured once, side by side, and nobody is disturbed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace

from pytest_fabric.errors import FabricError, MeasurementError, TransportError
from pytest_fabric.measure import collective, peers, plan, storms, switches
from pytest_fabric.measure.books import Books
from pytest_fabric.measure.company import beside
from pytest_fabric.measure.deadline import Deadline
from pytest_fabric.measure.dispatch import Again, Company, Dispatcher, Free
from pytest_fabric.measure.fabric import Fabric, nodes_of
from pytest_fabric.measure.known import Known, Misses, is_to_confirm
from pytest_fabric.measure.leases import LeaseWaits
from pytest_fabric.measure.loads import Loads
from pytest_fabric.measure.makers import Makers
from pytest_fabric.measure.peer_groups import PeerGroups
from pytest_fabric.measure.plan import Job, Policy, Want
from pytest_fabric.measure.preconditions import Preconditions
from pytest_fabric.measure.progress import Progress
from pytest_fabric.measure.record import failed, slim
from pytest_fabric.measure.schedule import Schedule, Task
from pytest_fabric.measure.topics import asked
from pytest_fabric.metrics import KEPT
from pytest_fabric.results import Failure, Measured, Measurement, Port

#: What a measurement says that was asked for when the run had been stopped.
STOPPED = "the run was stopped"

#: Called now and then while a result is awaited; and how often, in seconds.
Waiting = Callable[[], None]
TICK_S = 0.25


class Engine:
    """Measures what it is told to in the background, and anything else when it is asked for.

    `keep` is called once with each finished measurement, in any thread. `misses` tells whether a
    measurement is outside a declared limit: then it is made again alone before its phase ends.
    """

    def __init__(
        self,
        fabric: Fabric,
        policy: Policy,
        keep: Callable[[Measurement], None],
        misses: Misses,
    ) -> None:
        self._fabric = fabric
        self._cluster = fabric.cluster
        self._policy = policy
        self._keep = keep
        self._peers = PeerGroups((), self._cluster)
        self._books = Books()
        self._makers = Makers(fabric, self._books)
        self._misses = misses
        schedule = Schedule(plan.places(self._cluster), policy.at_once)
        self._dispatcher = Dispatcher(
            schedule, self._perform, lambda task, error: failed(self._jobs[task.key], error)
        )
        self._jobs: dict[str, Job] = {}
        self._planned: list[Job] = []
        self._orders = itertools.count()
        self._preconditions = Preconditions(fabric, policy.allow_busy)
        self._given_up: set[str] = set()
        self._waits = LeaseWaits(policy.lease_wait_s)
        self._known = Known((), misses, policy.confirm)
        self._loads = Loads()
        self.taken_over = 0
        self._over: Failure | None = None
        self._deadline = Deadline(policy.timeout_s, self._time_is_over)

    def start(
        self,
        wants: Sequence[Want],
        others: Iterable[object] = (),
        known: Iterable[Measurement] = (),
    ) -> None:
        """Log in to every node that is needed, gather facts, and begin to measure.

        `others` are targets that only facts are wanted of; `known` are measurements that an earlier
        run has made: they are kept already.
        """
        self._deadline.start()
        self._known = Known(known, self._misses, self._policy.confirm)
        self._planned = jobs = plan.allowed_jobs(wants, self._cluster, self._policy)
        self._peers = PeerGroups(jobs, self._cluster)
        open_jobs = [job for job in jobs if self._known.is_open(job)]
        targets = [*(pair for job in open_jobs for pair in job.touched), *others]
        self._fabric.gather(nodes_of(targets))
        self._fabric.switches.begin(switches.asked(wants, self._cluster))
        self._preconditions.look(targets)
        readable = collective.permitted(self._fabric, self._preconditions, self._policy, wants)
        self._fabric.read(asked(readable, self._cluster))
        self._begin(jobs)

    def pair(self, want: Want, waiting: Waiting = lambda: None) -> Measured:
        """Return the measurement on a pair, made now if it was not planned.

        `waiting` is called now and then in this thread. Raises MeasurementError for a want that
        cannot be resolved.
        """
        job = self._job(want)
        self._take_over(job)
        self._add_now([job])
        return Measured(self._result(job, waiting))

    def alone(self, want: Want, waiting: Waiting = lambda: None) -> tuple[Measurement, ...]:
        """Return the measurements of a pair with nothing beside it, made now if need be.

        Empty when nothing was beside it in the first place.
        """
        job = self._job(want)
        if not self._result(job, waiting).company and job.group is None:
            return ()
        again = self._repeats(job)
        self._add_now(again)
        return tuple(self._result(job, waiting) for job in again)

    def peers(self, want: Want, waiting: Waiting = lambda: None) -> tuple[Measurement, ...]:
        """Return the planned measurements of a pair's group, its own among them, all made."""
        group = peers.group_of(self._job(want), self._cluster)
        same = [job for job in self._planned if peers.group_of(job, self._cluster) == group]
        return tuple(self._result(job, waiting) for job in same)

    def forget(self, want: Want) -> None:
        """Keep little of a measurement that nobody asks for again: a soak has thousands."""
        job = self._job(want)
        self._jobs[job.key] = replace(job, members=(), instead=())
        self._dispatcher.forget(job.key, slim)

    def progress(self) -> Progress:
        """Return how far the run is."""
        status = self._dispatcher.status()
        names = tuple(self._jobs[key].name for key in status.running)
        return Progress(names, status.waiting, status.done, status.left_s)

    def rest(self) -> Loads:
        """Wait until all has been measured; return the loads that were made."""
        self._dispatcher.rest()
        return self._loads

    def stop(self) -> None:
        """Start nothing more; what runs ends with its sessions."""
        self._stop(Failure("stopped", STOPPED))

    def join(self) -> None:
        """Wait until what ran has ended; its sessions must be closed."""
        self._dispatcher.join(10.0)

    def _stop(self, failure: Failure) -> None:
        self._over = self._over or failure
        self._deadline.cancel()
        self._dispatcher.stop(MeasurementError("run", failure.kind, failure.message))

    def _time_is_over(self) -> None:
        self._stop(Failure("timeout", f"--fabric-timeout: {self._policy.timeout_s:g} s are over"))
        self._fabric.close()

    def _begin(self, jobs: Sequence[Job]) -> None:
        """Put in what is known already, and let everything else begin."""
        for job in jobs:
            self._jobs[job.key] = job
            self._take_over(job)
            self._put_failure(job)
        self._add(jobs)
        self._dispatcher.start()

    def _take_over(self, job: Job) -> None:
        """Put in what an earlier run has measured, and let a miss that it left be confirmed."""
        known = [] if self._dispatcher.has(job.key) else self._known.of(job)
        for one, record in known:
            self._jobs[one.key] = one
            self._dispatcher.put(one.key, record)
        self.taken_over += len(known)
        if known:
            self._confirm(job, known[0][1])

    def _put_failure(self, job: Job) -> None:
        """Let a measurement that cannot be made fail at once, as far as facts say."""
        if self._dispatcher.has(job.key):
            return
        error = None if self._over else self._preconditions.missed(job.pairs)
        if error is not None:
            record = failed(job, error)
            self._dispatcher.put(job.key, self._kept(record))
            self._confirm(job, record)

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""
        return plan.refusal(want, self._cluster, self._policy)

    def _job(self, want: Want) -> Job:
        return plan.job_of(want, self._cluster, self._policy)

    def _repeats(self, job: Job) -> list[Job]:
        if job.is_alone:
            return []
        again = [member.pair for member in job.instead]
        fit = job if self._preconditions.missed(again) is None else replace(job, instead=())
        return plan.repeats(fit, self._policy.confirm)

    def _add_now(self, jobs: Sequence[Job]) -> None:
        """Let jobs that were not planned begin, unless their nodes are in use."""
        new = [job for job in jobs if not self._dispatcher.has(job.key)]
        self._preconditions.look(pair for job in new for pair in job.touched)
        for job in new:
            self._put_failure(job)
        self._add(new)

    def _add(self, jobs: Iterable[Job]) -> None:
        new = [job for job in jobs if not self._dispatcher.has(job.key)]
        for job in new:
            self._jobs[job.key] = job
        self._dispatcher.add(
            plan.task_of(job, next(self._orders), self._cluster, self._core) for job in new
        )

    def _core(self, port: Port) -> int | None:
        try:
            return self._fabric.end(port).core
        except FabricError:
            return None  # told when it is measured

    def _result(self, job: Job, waiting: Waiting) -> Measurement:
        """Wait for a measurement; the dispatcher gives one for every task that it knows."""
        result: Future[Measurement] = self._dispatcher.result(job.key)
        while True:
            try:
                return result.result(TICK_S)
            except NotYet:
                waiting()

    def _perform(self, task: Task, company: Company, free: Free) -> Measurement | Again:
        """Make a measurement, and settle it unless it is to be made again."""
        job = self._jobs[task.key]
        if job.load == "disruptive":
            self._fabric.switches.congest()
        record = self._makers.make(job, free)
        again = None if self._over else self._waits.again(job.key, record)
        if again is not None:
            return again
        free(False)  # of one that failed: from here on its company is complete
        with self._books.lock:
            return self._settled(task, company, record)

    def _settled(self, task: Task, company: Company, record: Measurement) -> Measurement:
        """Complete the record of a measurement, keep it, and let follow what it calls for."""
        job = self._jobs[task.key]
        self._loads = self._loads.and_of(job, record)
        record = replace(
            self._waits.told(job.key, record),
            beside=beside(job, [self._jobs[key] for key in company.keys]),
            company=len(company.keys),
            alone=job.is_alone,
        )
        if record.error is not None and self._over is not None:
            record = replace(record, error=self._over)
        kept = self._kept(record)
        self._confirm(job, kept)
        self._give_up(task, record)
        return kept

    def _kept(self, record: Measurement) -> Measurement:
        """Store a measurement, and return what of it is needed from now on."""
        self._keep(record)
        growth = tuple([grown for grown in record.growth if grown.meaning in KEPT])
        return replace(record, raw={}, growth=growth)

    def _confirm(self, job: Job, record: Measurement) -> None:
        """Let a miss be measured again alone, unless nothing was beside it.

        Who misses the peers only is known when the last of them is measured.
        """
        if is_to_confirm(job, record, self._misses):
            self._add(self._repeats(job))
        peers = self._peers.made(job, record)
        for other, its in peers.members if peers is not None else ():
            if is_to_confirm(other, its, lambda one: self._misses(one, peers)):
                self._add(self._repeats(other))

    def _give_up(self, task: Task, record: Measurement) -> None:
        """Let tasks that would fail for the same reason do so now."""
        storm = storms.seen(record, self._jobs[task.key].load)
        if storm is not None:
            reason = MeasurementError("run", "pause_storm", f"not tried, since {storm}")
            self._dispatcher.give_up(lambda other: other.phase == task.phase, reason)
        is_lost = record.error is not None and record.error.kind.startswith("node_")
        lost = set(self._fabric.lost() if is_lost else ()) - self._given_up
        if lost:
            self._given_up |= lost
            why = "not tried, since the connection was lost before"
            gone = TransportError(", ".join(sorted(lost)), "lost", why)
            jobs = self._jobs
            self._dispatcher.give_up(lambda one: not lost.isdisjoint(jobs[one.key].places), gone)
