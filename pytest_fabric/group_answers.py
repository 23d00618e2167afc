"""What is known of groups of pairs beside their record: the rates and limits that apply to them."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fabric.config import Cluster, Profile
from pytest_fabric.config.limits import Clause
from pytest_fabric.judge import groups
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.profiles import profiles_of
from pytest_fabric.results import Measurement, Pair, PairGroup


def rates(cluster: Cluster, group: PairGroup) -> dict[str, float]:
    """Return the payload rates of the pairs of a group, in bits per second, where declared."""
    ends = _ends(cluster, group)
    return groups.rates_of((pair, *ends[str(pair)]) for pair in group.pairs)


def limits(
    cluster: Cluster,
    group: PairGroup,
    tool: str,
    directions: int,
    skip: Callable[[str], None],
    without: tuple[type[Clause], ...] = (),
) -> Limits:
    """Return the limits of a group, with the rates that shares refer to."""
    budget = groups.budget(tool, directions, _ends(cluster, group))
    if tool == "bisection":
        budget = {of: rate / cluster.fabric.oversubscription for of, rate in budget.items()}
    profiles, routing = profiles_of(cluster, group), cluster.fabric.routing
    return Limits(str(group), profiles, skip, routing, without, budget)


def misses(cluster: Cluster, record: Measurement) -> bool:
    """Return whether a group is outside a declared limit: then it is made once more."""
    if record.tool not in groups.FAMILIES:
        return False  # a window of a soak is one of many
    pairs = tuple(Pair.parse(member.pair) for member in record.members)
    group = PairGroup(record.target, pairs)
    directions = 2 if record.settings.get("directions") == 2 else 1
    known = limits(cluster, group, record.tool, directions, lambda reason: None)
    result = groups.GroupResult(
        record, Ledger(), routing=cluster.fabric.routing, rates=rates(cluster, group)
    )
    return groups.misses(result, known)


def _ends(cluster: Cluster, group: PairGroup) -> dict[str, tuple[Profile, Profile]]:
    return {
        str(pair): (cluster.rail(pair.client).profile, cluster.rail(pair.server).profile)
        for pair in group.pairs
    }
