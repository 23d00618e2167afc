"""Which places the failures point to: a simple rule that says so when it cannot tell.

A failed port or node names itself. Failed pairs of one check are told apart by the ports they
share: a port is suspected when it is in every one of them and none of its measured pairs passed.
When all ports of a node are suspected, the node is. Silent nodes come last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fabric.report.blame import EVERY, FAILS, LIKELY, Blame, by_pairs, direct, named, silent
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import fold, nodes_of, ports_of
from pytest_fabric.results import Verdict

#: Blame of one place that may settle another check's choice.
TOLD = (FAILS, EVERY, LIKELY)

#: So many checks are named; the rest is counted.
SHOWN = 3


@dataclass(frozen=True)
class Suspect:
    """A place that failures point to (several, when they cannot be told apart), and why.

    `place` is for people: many are folded into few words; `places` are their names.
    """

    place: str
    explanation: str
    places: tuple[str, ...] = field(default=(), compare=False)


def suspects(verdicts: Sequence[Verdict]) -> list[Suspect]:
    """Return the suspected places: first those that failed by themselves, silent nodes last."""
    alone = direct(verdicts)
    told = alone + _by_pairs(verdicts, alone)
    # What one check tells without doubt helps where another one leaves a choice.
    found = [*alone, *_by_pairs(verdicts, told), *silent(verdicts)]
    blames = _as_nodes([*found, *_only_named(verdicts, found)], _ports(verdicts))
    by_places: dict[tuple[str, ...], list[Blame]] = defaultdict(list)
    for blame in blames:
        by_places[tuple(sorted(blame.places))].append(blame)
    return [Suspect(fold(places), _explain(found), places) for places, found in by_places.items()]


def _only_named(verdicts: Sequence[Verdict], found: Sequence[Blame]) -> list[Blame]:
    """Return what errors name on nodes that nothing else points to."""
    known = {place.partition(":")[0] for blame in found for place in blame.places}
    return [b for b in named(verdicts) if b.places[0].partition(":")[0] not in known]


def _by_pairs(verdicts: Sequence[Verdict], told: Sequence[Blame]) -> list[Blame]:
    bad = {blame.places[0] for blame in told if blame.how in TOLD and len(blame.places) == 1}
    by_check: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_check[verdict.layer, verdict.check].append(verdict)
    return [blame for group in by_check.values() for blame in by_pairs(group, bad)]


def _ports(verdicts: Sequence[Verdict]) -> dict[str, set[str]]:
    """Return the ports of each node that any check was about."""
    ports: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        for port in ports_of(verdict.target):
            ports[port.partition(":")[0]].add(port)
    return ports


def _as_nodes(blames: Sequence[Blame], ports: Mapping[str, set[str]]) -> list[Blame]:
    """Blame the nodes (one, or those that cannot be told apart) all of whose ports are blamed."""
    blamed: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for blame in blames:
        if _is_ports(blame):
            blamed[_nodes(blame)] |= set(blame.places)
    whole = {
        nodes
        for nodes, found in blamed.items()
        if all(len(ports[node]) > 1 and ports[node] <= found for node in nodes)
    }
    return [
        replace(blame, places=_nodes(blame))
        if _is_ports(blame) and _nodes(blame) in whole
        else blame
        for blame in blames
    ]


def _is_ports(blame: Blame) -> bool:
    return blame.how in TOLD and all(len(ports_of(p)) == 1 for p in blame.places)


def _nodes(blame: Blame) -> tuple[str, ...]:
    return tuple(sorted({node for place in blame.places for node in nodes_of(place)}))


def _explain(blames: Sequence[Blame]) -> str:
    checks: dict[str, list[str]] = defaultdict(list)
    for blame in blames:
        if blame.what not in checks[blame.how]:
            checks[blame.how].append(clean_line(blame.what))
    reasons = [f"{how} {_listed(found)}" for how, found in checks.items()]
    if EVERY in checks and len(blames[0].places) > 1:
        reasons.insert(0, f"cannot be told apart: {', '.join(sorted(blames[0].places))}")
    return "; ".join(reasons)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
