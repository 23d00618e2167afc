"""From what tests want to tasks: each measurement once, with its phase and what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_fabric.config import Cluster
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.claims import Claims
from pytest_fabric.measure.schedule import Task
from pytest_fabric.measure.settings import Settings, resolve
from pytest_fabric.metrics import LATENCY_TOOLS, OPTIONAL, PROBES, TCP_TOOLS, family
from pytest_fabric.results import Pair, Port

#: Loads from the least: what a measurement of each may do to the traffic of others.
LOADS = ("light", "full", "disruptive")

#: Kinds of measurements in the order in which they are made: TCP disturbs no RDMA that is judged,
#: and comes before what disrupts everything.
STAGES = ("light", "full", "tcp", "disruptive")

#: What perftest takes beside its traffic, in seconds: start, memory registration, exchange of
#: addresses, calibration of the clock, counters.
OVERHEAD_S = {"light": 2.5, "full": 3.5, "disruptive": 3.5}

#: What a ping takes beside its packets, in seconds: a job without counters and without a peer.
PROBE_OVERHEAD_S = 1.0

#: A latency of a plan, in seconds, where no median is declared.
USUAL_LATENCY_S = 3e-6

#: Stands for the leaf of ports that declare none: any two of them may share one.
UNKNOWN_LEAF = "?"


@dataclass(frozen=True)
class Want:
    """What a test wants: a declaration on a target."""

    declaration: Declaration
    target: Pair | Port | str


@dataclass(frozen=True)
class Policy:
    """How a run may use the fabric.

    `load` is the most that is allowed; `strategy` tells how pairs were chosen; `at_once` bounds the
    measurements at a time; `lease_wait_s` is how long a port that somebody else measures is waited
    for; `timeout_s` ends the run, None never does; `confirm` is how often a miss is measured alone.
    """

    load: str = "full"
    strategy: str = "ring"
    at_once: int = 512
    lease_wait_s: float = 300.0
    timeout_s: float | None = None
    confirm: int = 1
    allow_busy: bool = False


@dataclass(frozen=True)
class Job:
    """One measurement on a pair; `alone` counts its repetitions with nothing beside it, from 1.

    `places` are the nodes and leaves of its ends.
    """

    pair: Pair
    settings: Settings
    load: str
    alone: int = 0
    places: frozenset[str] = field(default=frozenset(), compare=False)

    @cached_property
    def name(self) -> str:
        """Return what people know it by."""
        return f"{self.settings.tool} {self.pair}"

    @cached_property
    def key(self) -> str:
        """Return what makes it the same measurement as another."""
        key = f"{self.pair} {self.settings.key}"
        return again_key(key, self.alone) if self.alone else key

    @property
    def is_alone(self) -> bool:
        """Return whether it is made with nothing beside it."""
        return bool(self.alone) or self.settings.isolate in ("leaf", "fabric")

    @property
    def phase(self) -> int:
        """Return its phase: stages apart, and of each stage what is measured alone comes last."""
        is_tcp = self.load == "full" and self.settings.tool in TCP_TOOLS
        return 2 * STAGES.index("tcp" if is_tcp else self.load) + self.is_alone


def again_key(key: str, number: int) -> str:
    """Return the key of a repetition alone of the measurement with a key, counted from 1."""
    return f"{key} alone {number}"


def job_of(want: Want, cluster: Cluster, policy: Policy) -> Job:
    """Return the measurement that a test wants. Raises MeasurementError."""
    assert isinstance(want.target, Pair)
    ends = (want.target.client, want.target.server)
    settings = resolve(want.declaration, want.target, *(cluster.rail(p).profile for p in ends))
    places = {end.node for end in ends} | {f"leaf {leaf_of(cluster, end)}" for end in ends}
    load = load_of(want.declaration, policy.strategy)
    return Job(want.target, settings, load, places=frozenset(places))


def load_of(declaration: Declaration, strategy: str) -> str:
    """Return what a measurement may do to others: all ports of a fabric at once disrupt it."""
    if declaration.tool in (*LATENCY_TOOLS, *PROBES):
        return "light"
    return "disruptive" if strategy == "permutation" else "full"


def task_of(job: Job, order: int, cluster: Cluster, core: Callable[[Port], int | None]) -> Task:
    """Return the task of a measurement; `core` tells where a port's tool runs, if it is known."""
    return Task(
        key=job.key,
        phase=job.phase,
        order=order,
        claims=claims(job, cluster, core),
        expected_s=expected_s(job),
    )


def claims(job: Job, cluster: Cluster, core: Callable[[Port], int | None]) -> Claims:
    """Return what a measurement needs for itself: ports and cores, and more when it is alone."""
    ends = (job.pair.client, job.pair.server)
    cores = {f"core {end.node} {number}" for end in ends if (number := core(end)) is not None}
    nodes = sorted({f"node {end.node}" for end in ends})
    leaves = sorted({f"leaf {leaf_of(cluster, end)}" for end in ends})
    own = (*(f"port {end}" for end in ends), *sorted(cores))
    if job.is_alone:
        if job.settings.isolate == "fabric":
            return Claims(held=(*own, "fabric"))
        return Claims(held=(*own, *nodes, *leaves), shared=("fabric",))
    if job.settings.isolate == "node":
        own, nodes = (*own, *nodes), []
    budgets = [f"load {leaf}" for leaf in leaves] if job.load != "light" else []
    if len(leaves) > 1:
        budgets.extend(f"uplinks {leaf}" for leaf in leaves if job.load != "light")
    return Claims(held=own, shared=tuple(nodes), budgets=tuple(budgets))


def leaf_of(cluster: Cluster, port: Port) -> str:
    """Return the leaf of a port, or the word for an unknown one."""
    return cluster.rail(port).leaf or UNKNOWN_LEAF


def places(cluster: Cluster) -> Mapping[str, int]:
    """Return how many full-rate measurements each leaf, and the uplinks of each, may carry."""
    sizes: dict[str, int] = {}
    for port in cluster.ports():
        leaf = leaf_of(cluster, port)
        sizes[leaf] = sizes.get(leaf, 0) + 1
    most = cluster.fabric.pairs_per_leaf
    found = {}
    for leaf, size in sizes.items():
        found[f"load leaf {leaf}"] = size if most is None else most
        across = math.floor(size / cluster.fabric.oversubscription)
        found[f"uplinks leaf {leaf}"] = max(1, across)
    return found


def expected_s(job: Job) -> float:
    """Return how long a measurement should take, in seconds."""
    settings = job.settings
    if settings.tool in PROBES:
        return settings.expected_s + PROBE_OVERHEAD_S
    if settings.duration_s is not None:
        return settings.duration_s + OVERHEAD_S[job.load]
    round_trips = 1 if settings.tool.startswith("ib_read") else 2
    return (settings.iterations or 0) * round_trips * USUAL_LATENCY_S + OVERHEAD_S[job.load]


def jobs_of(wants: Iterable[Want], cluster: Cluster, policy: Policy) -> list[Job]:
    """Return the measurements of a run in order, each once; what cannot be made is left out.

    One after another in the order of the tests, and each over all its pairs in their order.
    """
    found: dict[str, Job] = {}
    for want in wants:
        if not isinstance(want.target, Pair) or not_available(want, cluster):
            continue
        try:
            job = job_of(want, cluster, policy)
        except MeasurementError:
            continue  # told to the test that asks for it
        found.setdefault(job.key, job)
    return list(found.values())


def allowed_jobs(wants: Iterable[Want], cluster: Cluster, policy: Policy) -> list[Job]:
    """Return the measurements of a run that are within the load that it may make."""
    return [job for job in jobs_of(wants, cluster, policy) if is_allowed(job.load, policy)]


def repeats(job: Job, times: int) -> list[Job]:
    """Return the repetitions alone of a measurement."""
    return [replace(job, alone=number) for number in range(1, times + 1)]


def is_allowed(load: str, policy: Policy) -> bool:
    """Return whether a load is within what a run may do."""
    return LOADS.index(load) <= LOADS.index(policy.load)


def refusal(want: Want, cluster: Cluster, policy: Policy) -> str | None:
    """Return why a run may not measure what is wanted, or None when it may."""
    reason = not_available(want, cluster)
    if reason is not None:
        return reason
    load = load_of(want.declaration, policy.strategy)
    if is_allowed(load, policy):
        return None
    return f"{want.declaration.tool} is {load} load, this run may only be {policy.load}"


def not_available(want: Want, cluster: Cluster) -> str | None:
    """Return why a profile says that a tool shows nothing on a pair, or None when it may."""
    tool = want.declaration.tool
    ends = (want.target.client, want.target.server) if isinstance(want.target, Pair) else ()
    for profile in (cluster.rail(end).profile for end in ends):
        reason = profile.why_not_available(tool) or profile.why_not_available(family(tool))
        if reason is not None:
            return f"{tool}: not available by profile {profile.name}: {reason}"
        if family(tool) in OPTIONAL and not profile.has_limits_of(family(tool)):
            return f"{tool}: profile {profile.name} declares no limit of {family(tool)}"
    return None
