"""From what tests want to tasks: each measurement once, with its phase and what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from pytest_fabric.config import Cluster, Profile
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.claims import Claims
from pytest_fabric.measure.job import LOADS as LOADS
from pytest_fabric.measure.job import Job as Job
from pytest_fabric.measure.job import again_key as again_key
from pytest_fabric.measure.schedule import Task
from pytest_fabric.measure.settings import resolve
from pytest_fabric.metrics import COLLECTIVES, LATENCY_TOOLS, OPTIONAL, PROBES, family
from pytest_fabric.results import Pair, PairGroup, Port

#: What perftest takes beside its traffic, in seconds: start, memory registration, exchange of
#: addresses, calibration of the clock, counters.
OVERHEAD_S = {"light": 2.5, "full": 3.5, "disruptive": 3.5}

#: What a ping takes beside its packets, in seconds: a job without counters and without a peer.
PROBE_OVERHEAD_S = 1.0

#: A latency of a plan, in seconds, where no median is declared.
USUAL_LATENCY_S = 3e-6

#: What runs on each pair of a group.
GROUP_TOOL = "ib_write_bw"

#: Stands for the leaf of ports that declare none: any two of them may share one.
UNKNOWN_LEAF = "?"


@dataclass(frozen=True)
class Want:
    """What a test wants: a declaration on a target."""

    declaration: Declaration
    target: Pair | Port | PairGroup | str


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


def job_of(want: Want, cluster: Cluster, policy: Policy) -> Job:
    """Return the measurement that a test wants. Raises MeasurementError."""
    load = load_of(want.declaration, policy.strategy)
    if isinstance(want.target, PairGroup):
        return _group_job(want.declaration, want.target, cluster, load)
    assert isinstance(want.target, Pair)
    ends = (want.target.client, want.target.server)
    settings = resolve(want.declaration, want.target, *(cluster.rail(p).profile for p in ends))
    return Job(want.target, settings, load, places=_places(want.target, cluster))


def _group_job(declaration: Declaration, group: PairGroup, cluster: Cluster, load: str) -> Job:
    """Return the measurement of a group: a run of ib_write_bw on each of its pairs."""
    single = replace(declaration, tool=GROUP_TOOL, over="pair", senders=None, window=None)
    members, instead = (
        tuple(
            Job(one, resolve(single, one, *_profiles(one, cluster)), load, 0, _places(one, cluster))
            for one in pairs
        )
        for pairs in (group.pairs, group.again)
    )
    first = members[0]
    settings = replace(
        first.settings,
        tool=declaration.tool,
        senders=declaration.senders,
        window=declaration.window,
    )
    places = frozenset(place for member in members for place in member.places)
    return Job(first.pair, settings, load, 0, places, group.target, members, instead)


def _profiles(pair: Pair, cluster: Cluster) -> tuple[Profile, Profile]:
    return cluster.rail(pair.client).profile, cluster.rail(pair.server).profile


def _places(pair: Pair, cluster: Cluster) -> frozenset[str]:
    ends = (pair.client, pair.server)
    leaves = (f"leaf {leaf_of(cluster, end)}" for end in ends)
    return frozenset((*(end.node for end in ends), *leaves))


def load_of(declaration: Declaration, strategy: str) -> str:
    """Return what a measurement may do to others: all ports of a fabric at once disrupt it."""
    if declaration.tool in (*LATENCY_TOOLS, *PROBES):
        return "light"
    if declaration.tool in COLLECTIVES:
        return "disruptive"
    if declaration.is_group:
        return "full" if declaration.over in ("node", "leaf") else "disruptive"
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
    """Return what a measurement needs for itself: ports and cores, and more when it is alone.

    A group that disrupts others has the fabric for itself; one of a node has its own nodes, and a
    place on a leaf for each of its pairs.
    """
    ends = job.ports
    cores = {f"core {end.node} {number}" for end in ends if (number := core(end)) is not None}
    nodes = sorted({f"node {end.node}" for end in ends})
    leaves = sorted({f"leaf {leaf_of(cluster, end)}" for end in ends})
    own = (*(f"port {end}" for end in ends), *sorted(cores))
    if job.group is not None:
        if job.is_alone or job.load == "disruptive":
            return Claims(held=(*own, *nodes, "fabric"))
        budgets = tuple(name for member in job.members for name in _budgets(member, cluster))
        return Claims(held=(*own, *nodes), budgets=budgets)
    if job.is_alone:
        if job.settings.isolate == "fabric":
            return Claims(held=(*own, "fabric"))
        return Claims(held=(*own, *nodes, *leaves), shared=("fabric",))
    if job.settings.isolate == "node":
        own, nodes = (*own, *nodes), []
    return Claims(held=own, shared=tuple(nodes), budgets=_budgets(job, cluster))


def _budgets(job: Job, cluster: Cluster) -> tuple[str, ...]:
    """Return the places that a pair takes of what its leaves, and their uplinks, may carry."""
    leaves = sorted({f"leaf {leaf_of(cluster, end)}" for end in job.ports})
    if job.load == "light":
        return ()
    across = [f"uplinks {leaf}" for leaf in leaves] if len(leaves) > 1 else []
    return (*(f"load {leaf}" for leaf in leaves), *across)


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
        if not isinstance(want.target, Pair | PairGroup) or not_available(want, cluster):
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
    """Return the repetitions alone of a measurement; those of a group may have other partners."""
    members = job.instead or job.members
    return [replace(job, alone=number, members=members) for number in range(1, times + 1)]


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
    remedy = (
        ": it needs fabric.dedicated: true, or --fabric-load disruptive"
        if load == "disruptive"
        else ""
    )
    tool = want.declaration.tool
    return f"{tool} is {load} load, this run may only be {policy.load}{remedy}"


def not_available(want: Want, cluster: Cluster) -> str | None:
    """Return why a profile says that a tool shows nothing on a pair, or None when it may.

    A group (`node` in profiles, `incast`, `bisection`) needs what its pairs run.
    """
    tool = want.declaration.tool
    of_group = (tool.removesuffix("_bandwidth"), GROUP_TOOL) if want.declaration.is_group else ()
    names = (tool, family(tool), *of_group)
    pairs = want.target.pairs if isinstance(want.target, PairGroup) else (want.target,)
    ends = [end for pair in pairs if isinstance(pair, Pair) for end in (pair.client, pair.server)]
    for profile in (cluster.rail(end).profile for end in ends):
        reasons = (profile.why_not_available(name) for name in names)
        if (reason := next(filter(None, reasons), None)) is not None:
            return f"{tool}: not available by profile {profile.name}: {reason}"
        if family(tool) in OPTIONAL and not profile.has_limits_of(family(tool)):
            return f"{tool}: profile {profile.name} declares no limit of {family(tool)}"
    return None
