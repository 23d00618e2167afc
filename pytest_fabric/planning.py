"""`--fabric-plan`: what would be measured where and for how long; nobody is contacted."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

import pytest

from pytest_fabric.inventory import Inventory
from pytest_fabric.measure import plan
from pytest_fabric.measure.plan import Job, Policy, Want
from pytest_fabric.measure.probe import LINGER_S
from pytest_fabric.measure.schedule import Schedule, simulate
from pytest_fabric.measure.settings import INTERVAL_S, Settings
from pytest_fabric.metrics import LATENCY_TOOLS, PROBES, TCP_TOOLS
from pytest_fabric.pairs import leaf_pairs, port_coverage
from pytest_fabric.report.places import fold
from pytest_fabric.results import Pair, Port
from pytest_fabric.tools import iperf3, perftest, ping
from pytest_fabric.wants import Target, target_of, wants_of

#: So many targets are listed; all of them with -v.
TARGETS = 8

#: Names of the phases in the order in which they run.
PHASES = (
    "latency",
    "latency, alone",
    "bandwidth",
    "bandwidth, alone",
    "tcp",
    "tcp, alone",
    "disruptive",
    "disruptive, alone",
    "nodes",
    "nodes, again",
    "fabric",
    "fabric, again",
)


def lines(
    inventory: Inventory,
    policy: Policy,
    items: Sequence[pytest.Item],
    verbose: bool,
    soak: Sequence[str] = (),
) -> list[str]:
    """Return the plan of a run, for people; `soak` tells of a soak, if it has one."""
    wants, others = wants_of(items)
    wants = [want for want in wants if plan.not_available(want, inventory.cluster) is None]
    jobs = plan.jobs_of(wants, inventory.cluster, policy)
    allowed = [job for job in jobs if plan.is_allowed(job.load, policy)]
    checks = sum(target_of(item) is not None for item in items)
    return [
        f"{checks:,} checks, {len(allowed):,} measurements; strategy {inventory.strategy}",
        *_left_out(jobs, allowed, policy),
        *_unresolved(wants, jobs),
        "",
        *_phases(inventory, policy, allowed),
        "",
        *_commands(inventory, allowed),
        *_facts(others),
        *soak,
        "",
        *_coverage(inventory, allowed),
        *_targets(allowed, verbose),
    ]


def _left_out(jobs: Sequence[Job], allowed: Sequence[Job], policy: Policy) -> list[str]:
    count = len(jobs) - len(allowed)
    return [f"{count:,} more are skipped: load {policy.load} at most"] if count else []


def _unresolved(wants: Sequence[Want], jobs: Sequence[Job]) -> list[str]:
    pairs = {pair for job in jobs for pair in job.pairs}
    lost = {want.target for want in wants if isinstance(want.target, Pair)} - pairs
    return [f"{len(lost):,} pairs cannot be measured: their ends do not fit"] if lost else []


def _phases(inventory: Inventory, policy: Policy, jobs: Sequence[Job]) -> list[str]:
    cluster = inventory.cluster
    schedule = Schedule(plan.places(cluster), policy.at_once)
    tasks = [plan.task_of(job, order, cluster, lambda port: None) for order, job in enumerate(jobs)]
    ends: dict[int, float] = {}
    for task, _, end in simulate(tasks, schedule):
        ends[task.phase] = max(end, ends.get(task.phase, 0.0))
    rows = ["phase              measurements  minutes        data"]
    begin, whole = 0.0, 0.0
    for phase in sorted(ends):
        here = [job for job in jobs if job.phase == phase]
        volume = sum(_bytes(job, inventory) for job in here)
        whole += volume
        minutes = (ends[phase] - begin) / 60
        rows.append(f"{PHASES[phase]:<18} {len(here):>12,} {minutes:>8.1f} {_volume(volume):>11}")
        begin = ends[phase]
    return [*rows, f"{'all':<18} {len(jobs):>12,} {begin / 60:>8.1f} {_volume(whole):>11}"]


def _bytes(job: Job, inventory: Inventory) -> float:
    """Return the payload that a measurement should move, in both directions where it uses both."""
    settings = job.settings
    if job.members:
        return _shared(job, inventory)
    if settings.tool in (*LATENCY_TOOLS, *PROBES):
        return 2.0 * settings.size * (settings.iterations or 0)
    profiles = [inventory.cluster.rail(port).profile for port in _ends(job.pair)]
    rates = [profile.line_rate_bps for profile in profiles if profile.line_rate_bps]
    ways = 2 if settings.directions == 2 else 1
    return ways * min(rates, default=0.0) / 8 * (settings.duration_s or 0)


def _shared(job: Job, inventory: Inventory) -> float:
    """Return what a group moves: all of an incast share the line of their receiver."""
    alone = [_bytes(member, inventory) for member in job.members]
    return min(alone) if job.settings.senders else sum(alone)


def _volume(octets: float) -> str:
    """Return an amount of data in three digits and decimal units."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if octets < 1000 or unit == "PB":
            return f"{octets:.3g} {unit}"
        octets /= 1000
    raise AssertionError("the last unit takes any amount")


def _commands(inventory: Inventory, jobs: Sequence[Job]) -> list[str]:
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        alike.setdefault(job.settings.key, []).append(job)
    return [
        f"{len(same):>7,} x {plan.expected_s(same[0]):.1f} s  {_each(same)}"
        f"{shlex.join(_command(same[0], inventory))}"
        for same in alike.values()
    ]


def _each(same: Sequence[Job]) -> str:
    """Return how many pairs run the command of a group at once; nothing for single pairs."""
    counts = sorted({len(job.members) for job in same if job.members})
    if not counts:
        return ""
    several = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{same[0].settings.tool}: {several} at once of "


def _command(job: Job, inventory: Inventory) -> tuple[str, ...]:
    """Return the client's command; what only the nodes know stands in capitals."""
    settings, cluster = (job.members or (job,))[0].settings, inventory.cluster
    if settings.tool in PROBES:
        return _ping(settings)
    if settings.tool in TCP_TOOLS:
        return (*cluster.tools.prefix, *_iperf3(settings, cluster.tools.ports[0]))
    is_ethernet = cluster.rail(job.pair.client).profile.link.layer == "Ethernet"
    words = perftest.command(
        settings.tool,
        device="DEVICE",
        ib_port=1,
        control_port=cluster.tools.ports[0],
        size=settings.size,
        iterations=settings.iterations,
        duration_s=settings.duration_s,
        qps=settings.qps,
        traffic_class=settings.traffic_class,
        service_level=settings.service_level,
        bidirectional=settings.directions == 2,
        peer="SERVER",
    )
    gid = ("-x", "GID") if is_ethernet else ()
    return (*cluster.tools.prefix, *words[:-1], *gid, words[-1])


def _ping(settings: Settings) -> tuple[str, ...]:
    is_full = settings.packet == "full"
    words = ping.command(
        "SERVER",
        settings.iterations or 1,
        INTERVAL_S,
        settings.size,
        "NETDEV",
        whole=is_full,
        source="ADDRESS",
        linger_s=LINGER_S,
    )
    place = words.index("-s") + 1
    return (*words[:place], "PAYLOAD", *words[place + 1 :]) if is_full else words


def _iperf3(settings: Settings, port: int) -> tuple[str, ...]:
    seconds, streams = settings.duration_s or 1, settings.streams or 1
    return iperf3.command("SERVER", seconds, streams, port, source="ADDRESS")


def _facts(others: Sequence[Target]) -> list[str]:
    kinds = Counter(
        "ports" if isinstance(other, Port) else "nodes"
        for other in others
        if not isinstance(other, Pair)
    )
    return [f"{count:>7,} x facts of {kind}" for kind, count in kinds.items()]


def _coverage(inventory: Inventory, jobs: Sequence[Job]) -> list[str]:
    pairs = list(dict.fromkeys(pair for job in jobs for pair in job.pairs))
    seen = port_coverage(pairs, inventory.ports)
    missed = f"; in no pair: {fold([str(port) for port in seen.missed])}" if seen.missed else ""
    crossed = leaf_pairs(pairs, inventory.leaves, cross_rail=inventory.cluster.pairs.cross_rail)
    found = [f"ports       {len(seen.covered):,} of {len(inventory.ports):,} in a pair{missed}"]
    if not inventory.leaves:
        return [*found, "leaf pairs  unknown: no rail declares its leaf"]
    if not crossed.count:
        return [*found, "leaf pairs  none: the ports that can reach each other share a leaf"]
    shown = ", ".join(f"{one} - {other}" for one, other in crossed.missed[:4])
    more = f"; not crossed: {shown}" if crossed.missed else ""
    return [*found, f"leaf pairs  {len(crossed.covered):,} of {crossed.count:,} crossed{more}"]


def _targets(jobs: Sequence[Job], verbose: bool) -> list[str]:
    pairs = list(dict.fromkeys(str(job.pair) for job in jobs if job.group is None))
    together = list(dict.fromkeys(_group(job) for job in jobs if job.group is not None))
    return [*_listed("pairs", pairs, verbose), *_listed("groups", together, verbose)]


def _group(job: Job) -> str:
    senders = f" {job.settings.senders}:1" if job.settings.senders else ""
    return f"{job.settings.tool}{senders} {job.target}: {len(job.members)} pairs at once"


def _listed(title: str, targets: Sequence[str], verbose: bool) -> list[str]:
    shown = targets if verbose else targets[:TARGETS]
    rows = [f"{title if not number else '':<12}{target}" for number, target in enumerate(shown)]
    left = len(targets) - len(shown)
    return [*rows, f"{'':<12}and {left:,} more (-v lists them)"] if left else rows


def _ends(pair: Pair) -> tuple[Port, Port]:
    return pair.client, pair.server
