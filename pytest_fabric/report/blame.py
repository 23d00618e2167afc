"""What verdicts say of a place without the pattern of pairs: its own failures, and silence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.judge.localise.signs import can_cause, is_at_once
from pytest_fabric.report import text
from pytest_fabric.report.places import is_pair, mentioned, nodes_of, ports_of
from pytest_fabric.results import Verdict
from pytest_fabric.said import UNLOADED

MEASURED = ("passed", "failed", "waived")

#: How a place came under suspicion, in words that the names of checks follow.
FAILS = "fails"
SILENT = "nothing could be measured:"
NAMED_BY = "named by"


@dataclass(frozen=True)
class Blame:
    """The place that a check or an error points to, and how."""

    place: str
    how: str
    what: str


def direct(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the blame of ports and nodes that failed a check of their own."""
    return [Blame(verdict.target, FAILS, shown(verdict)) for verdict in own_failures(verdicts)]


def own_failures(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the failures of ports and nodes themselves."""
    return [v for v in verdicts if v.outcome == "failed" and not is_pair(v.target)]


def due_to_ports(verdicts: Sequence[Verdict]) -> dict[str, Verdict]:
    """Return the failures of all ports of a node at once that a fact of one port explains.

    They map from the id of the test to the failed fact, the lowest where there are several.
    """
    facts: dict[str, list[Verdict]] = defaultdict(list)
    for one in verdicts:
        if one.outcome in ("failed", "waived") and len(ports_of(one.target)) == 1:
            facts[nodes_of(one.target)[0]].append(one)
    found = {}
    for verdict in own_failures(verdicts):
        causes = (fact for fact in facts[verdict.target] if can_cause(fact.metric, verdict.metric))
        fact = next(causes, None) if is_at_once(verdict.metric) else None
        if fact is not None:
            found[verdict.nodeid] = fact
    return found


def shown(verdict: Verdict) -> str:
    """Return a check with its value and limit, where it has them."""
    value = text.value(verdict)
    known = value and verdict.limit
    return f"{verdict.check} ({value}, limit {verdict.limit})" if known else verdict.check


def named(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the ports and nodes that errors name beside their own target, one blame each."""
    lines: dict[str, list[str]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome != "error" or is_unloaded(verdict):
            continue
        line = _first_line(verdict).removeprefix(f"{verdict.target}: ")
        places = mentioned(ports_of(verdict.target), line)
        places = places or mentioned(nodes_of(verdict.target), line)
        if len(set(places)) == 1:
            lines[places[0]].append(line)
    return [
        Blame(place, NAMED_BY, f"{len(told):,} errors: {told[0]}") for place, told in lines.items()
    ]


def silent(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the nodes of which every check ended in an error that does not name another node."""
    measured = {n for v in verdicts if v.outcome in MEASURED for n in nodes_of(v.target)}
    errors: dict[str, list[str]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome == "error" and not is_unloaded(verdict):
            for node in _culprits(verdict):
                errors[node].append(_first_line(verdict))
    return [Blame(node, SILENT, lines[0]) for node, lines in errors.items() if node not in measured]


def is_unloaded(verdict: Verdict) -> bool:
    """Return whether a check had nothing to count, since the run offered no load."""
    return verdict.outcome == "error" and UNLOADED in _first_line(verdict)


def _culprits(verdict: Verdict) -> Sequence[str]:
    """Return the nodes that an error may be due to: the one that its message names, or all."""
    nodes = nodes_of(verdict.target)
    line = _first_line(verdict)
    ports = mentioned(ports_of(verdict.target), line)
    told = {*mentioned(nodes, line), *(port.partition(":")[0] for port in ports)}
    return list(told) if len(told) == 1 else nodes


def _first_line(verdict: Verdict) -> str:
    return (verdict.message or "").strip().split("\n", 1)[0]
