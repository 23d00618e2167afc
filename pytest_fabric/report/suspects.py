"""Which places the failures point to, how surely, why, and what would tell more.

Failed pairs are explained by `judge.localise`; a port or node that fails a check of its own needs
no explanation. Silent nodes come last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.judge.localise import Evidence, Finding, localise
from pytest_fabric.judge.localise.signs import CAUSE
from pytest_fabric.judge.localise.words import evidence as in_words
from pytest_fabric.report import advice, pattern
from pytest_fabric.report.blame import Blame, direct, due_to_ports, named, silent
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.pattern import NOTHING, Known
from pytest_fabric.report.places import fold, nodes_of, ports_of
from pytest_fabric.report.text import listed
from pytest_fabric.results import Verdict

#: So many checks are named; the rest is counted.
SHOWN = 3


@dataclass(frozen=True)
class Suspect:
    """A place that failures point to (several, when they cannot be told apart), and why.

    `place` is for people: many are folded into few words; `places` are their names.
    `confidence` is the chance that it is the place, None where its own check says so. `explained`
    are the failures of pairs, by check and target, `advice` what would tell more.
    """

    place: str
    explanation: str
    places: tuple[str, ...]
    confidence: float | None = None
    explained: tuple[tuple[str, str], ...] = ()
    advice: str = ""


def suspects(verdicts: Sequence[Verdict], known: Known = NOTHING) -> list[Suspect]:
    """Return the suspected places: what explains most pairs first, silent nodes last."""
    seen = pattern.evidence(verdicts, known)
    findings = localise(seen)
    followers = due_to_ports(verdicts)
    own = _as_nodes(direct([v for v in verdicts if v.nodeid not in followers]), _ports(verdicts))
    by_place: dict[str, list[Blame]] = defaultdict(list)
    for blame in own:
        by_place[blame.place].append(blame)
    found = [_of_finding(finding, seen, by_place.pop(_only(finding), ())) for finding in findings]
    found += [Suspect(place, _explain(blames), (place,)) for place, blames in by_place.items()]
    silences = silent(verdicts)
    told = [*found, *map(_of_blame, silences)]
    pointed = {node for finding in findings for node in _nodes(finding)}
    pointed |= {blame.place.partition(":")[0] for blame in (*own, *silences)}
    return [*told, *_only_named(verdicts, pointed)]


def _of_finding(finding: Finding, seen: Evidence, own: Sequence[Blame]) -> Suspect:
    failed = [one.target for one in seen.seen if one.failed]
    checks = list(dict.fromkeys(check.partition(" ")[2] for check, _ in finding.explained))
    shown = replace(finding, signs=() if own else finding.signs)
    words = f"{in_words(shown, failed, seen.seen)} ({listed(checks, SHOWN)})"
    reasons = [_explain(own)] if own else []
    if len(finding.places) > 1:
        reasons.append(f"cannot be told apart: {', '.join(finding.places)}")
    return Suspect(
        fold(finding.places),
        clean_line("; ".join([*reasons, words])),
        finding.places,
        finding.confidence,
        tuple((check.partition(" ")[2], target) for check, target in finding.explained),
        advice.of(finding, seen, any(sign.ratio >= CAUSE for sign in finding.signs)),
    )


def _only(finding: Finding) -> str:
    """Return the place of a finding, or nothing where there are several."""
    return finding.places[0] if len(finding.places) == 1 else ""


def _nodes(finding: Finding) -> set[str]:
    return {node for _, pair in finding.explained for node in nodes_of(pair)}


def _only_named(verdicts: Sequence[Verdict], pointed: set[str]) -> list[Suspect]:
    """Return what errors name on nodes that nothing else points to."""
    found = [b for b in named(verdicts) if b.place.partition(":")[0] not in pointed]
    return [_of_blame(blame) for blame in found]


def _of_blame(blame: Blame) -> Suspect:
    return Suspect(blame.place, _explain([blame]), (blame.place,))


def _ports(verdicts: Sequence[Verdict]) -> dict[str, set[str]]:
    """Return the ports of each node that any check was about."""
    ports: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        for port in ports_of(verdict.target):
            ports[port.partition(":")[0]].add(port)
    return ports


def _as_nodes(blames: Sequence[Blame], ports: Mapping[str, set[str]]) -> list[Blame]:
    """Blame the nodes all of whose ports are blamed."""
    blamed: dict[str, set[str]] = defaultdict(set)
    for blame in blames:
        blamed[blame.place.partition(":")[0]] |= set(ports_of(blame.place))
    whole = {node for node, found in blamed.items() if 1 < len(ports[node]) <= len(found)}
    return [
        replace(blame, place=node) if (node := blame.place.partition(":")[0]) in whole else blame
        for blame in blames
    ]


def _explain(blames: Sequence[Blame]) -> str:
    checks: dict[str, list[str]] = defaultdict(list)
    for blame in blames:
        what = clean_line(blame.what)
        if what not in checks[blame.how]:
            checks[blame.how].append(what)
    return "; ".join(f"{how} {listed(found, SHOWN)}" for how, found in checks.items())
