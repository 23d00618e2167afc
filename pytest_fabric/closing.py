"""What is to be said of a run as a whole, beside what each of its checks says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fabric import followup
from pytest_fabric.config import Baseline, Cluster, fold, unasked
from pytest_fabric.declare import FABRIC
from pytest_fabric.errors import ConfigError
from pytest_fabric.followup import Asked
from pytest_fabric.history import History
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge import waivers
from pytest_fabric.noted import Noted
from pytest_fabric.profiles import profiles_of
from pytest_fabric.report import comparable
from pytest_fabric.report.context import Context
from pytest_fabric.report.covered import coverage
from pytest_fabric.report.stored import open_run
from pytest_fabric.results import Verdict


def context_of(
    inventory: Inventory,
    history: History,
    noted: Noted,
    verdicts: Sequence[Verdict],
    taken_over: int,
    asked: Sequence[Asked] | None,
    path: Path,
) -> Context:
    """Return what the reports of a run say of it; `asked` is None where nothing was followed up."""
    is_short = is_coverage_short(inventory.cluster, verdicts)
    return Context(
        notes=(
            *history.notes(taken_over),
            *_coverage(inventory.cluster, is_short),
            *_unverified(noted),
            *_other_notes(inventory, history),
        ),
        baseline=tuple(_compared(history, path)),
        is_coverage_short=is_short,
        unused=tuple(_unused_waivers(inventory.cluster, verdicts)),
        growth=noted.growth.all(),
        odd=dict(noted.odd),
        devices=dict(noted.devices),
        extra=tuple(one.verdict for one in asked or ()),
        followed="" if asked is None else followup.line(list(asked)),
    )


def is_coverage_short(cluster: Cluster, verdicts: Sequence[Verdict]) -> bool:
    """Return whether fewer of the declared ports were measured than min_coverage asks for."""
    least = cluster.min_coverage
    declared = [f"{name}:{rail}" for name, node in cluster.nodes.items() for rail in node.rails]
    seen = coverage(declared, verdicts)
    return least is not None and len(seen.measured) < least * len(declared)


def _coverage(cluster: Cluster, is_short: bool) -> Iterator[str]:
    if is_short:
        yield f"coverage is below min_coverage {100 * (cluster.min_coverage or 0):g}%"


def _unverified(noted: Noted) -> Iterator[str]:
    for driver, count in sorted(noted.unverified.items()):
        yield (
            f"unverified: counters of driver {driver} ({count} ports) are known from "
            "sources, not from hardware: compare growth with `ethtool -S` once"
        )


def _other_notes(inventory: Inventory, history: History) -> Iterator[str]:
    cluster = inventory.cluster
    if history.without_baseline:
        yield f"--fabric-no-baseline: {_left_out(cluster)}"
    left = unasked(cluster, inventory.ports) if cluster.switches else []
    if left:
        yield f"not asked, since `switches:` does not have them: {fold(left)}"


def _compared(history: History, path: Path) -> list[str]:
    """Return how much is worse or better than the baseline, if there is one."""
    if not history.baseline:
        return []
    try:
        return comparable.lines(open_run("--fabric-baseline", path), history.baseline)
    except ConfigError as error:
        return [f"not compared with baseline: {error}"]


def _left_out(cluster: Cluster) -> str:
    """Return which clauses need a baseline and were not judged."""
    profiles = {profile.name: profile for profile in profiles_of(cluster, FABRIC)}
    found = [
        f"{limit.metric} ({place})"
        for profile in profiles.values()
        for limit in profile.limits.values()
        for clause, place in limit.placed()
        if isinstance(clause, Baseline)
    ]
    shown = ", ".join(found[:4]) + (", ..." if len(found) > 4 else "")
    count = f"{len(found)} clause{'' if len(found) == 1 else 's'} of limits left out"
    return f"{count}: {shown}" if found else "no limit has a clause that needs one"


def _unused_waivers(cluster: Cluster, verdicts: Sequence[Verdict]) -> list[str]:
    """Return what is to be said of waivers that no failure fell under."""
    return waivers.unused(cluster.waivers, [(v.check, v.target, v.outcome) for v in verdicts])
