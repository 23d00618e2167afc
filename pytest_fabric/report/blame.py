"""Where the failures of one check point to: the pattern of failed and passed pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pytest_fabric.report import text
from pytest_fabric.report.places import is_pair, mentioned, nodes_of, ports_of
from pytest_fabric.results import Verdict

#: Returns the ports, or the nodes, of a target.
Parts = Callable[[str], tuple[str, ...]]

MEASURED = ("passed", "failed")

#: How a place came under suspicion, in words that the names of checks follow.
FAILS = "fails"
EVERY = "in every failed pair of"
LIKELY = "the likelier of the ends that are in every failed pair of"
SOME = "in failed pairs of"
NAMED = "named by"
SPREAD = "none of their pairs passed, but no single port is in every failed pair of"
PATH = "the path (both ports pass with other partners) in"
WHOLE = "every measured pair failed, which points to no single port, in"
SILENT = "nothing could be measured:"
NAMED_BY = "named by"


@dataclass(frozen=True)
class Blame:
    """The places (several when any of them may be it) that one check points to, and how."""

    places: tuple[str, ...]
    how: str
    what: str


def direct(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the blame of ports and nodes that failed a check of their own."""
    failed = [v for v in verdicts if v.outcome == "failed" and not is_pair(v.target)]
    return [Blame((verdict.target,), FAILS, _shown(verdict)) for verdict in failed]


def _shown(verdict: Verdict) -> str:
    value = text.value(verdict)
    known = value and verdict.limit
    return f"{verdict.check} ({value}, limit {verdict.limit})" if known else verdict.check


def by_pairs(verdicts: Sequence[Verdict], bad: Collection[str]) -> list[Blame]:
    """Return the blame of one check's failed pairs; `bad` are ports that fail otherwise too."""
    pairs = [verdict for verdict in verdicts if is_pair(verdict.target)]
    failed = [verdict for verdict in pairs if verdict.outcome == "failed"]
    # A pair that passes with one message size and fails with another one has failed.
    targets = {verdict.target for verdict in failed}
    passed = [v for v in pairs if v.outcome == "passed" and v.target not in targets]
    clear = {*_all(passed, ports_of), *_all(passed, nodes_of)}
    return [blame for group in _connected(failed) for blame in _blame(group, clear, bad)]


def named(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the ports and nodes that errors name beside their own target, one blame each."""
    lines: dict[str, list[str]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome != "error":
            continue
        line = _first_line(verdict).removeprefix(f"{verdict.target}: ")
        places = mentioned(ports_of(verdict.target), line)
        places = places or mentioned(nodes_of(verdict.target), line)
        if len(set(places)) == 1:
            lines[places[0]].append(line)
    return [
        Blame((place,), NAMED_BY, f"{len(told):,} errors: {told[0]}")
        for place, told in lines.items()
    ]


def silent(verdicts: Sequence[Verdict]) -> list[Blame]:
    """Return the nodes of which every check ended in an error that does not name another node."""
    measured = {n for v in verdicts if v.outcome in MEASURED for n in nodes_of(v.target)}
    errors: dict[str, list[str]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome == "error":
            for node in _culprits(verdict):
                errors[node].append(_first_line(verdict))
    return [
        Blame((node,), SILENT, lines[0]) for node, lines in errors.items() if node not in measured
    ]


def _culprits(verdict: Verdict) -> Sequence[str]:
    """Return the nodes that an error may be due to: the one that its message names, or all."""
    nodes = nodes_of(verdict.target)
    line = _first_line(verdict)
    ports = mentioned(ports_of(verdict.target), line)
    told = {*mentioned(nodes, line), *(port.partition(":")[0] for port in ports)}
    return list(told) if len(told) == 1 else nodes


def _first_line(verdict: Verdict) -> str:
    return (verdict.message or "").strip().split("\n", 1)[0]


def _connected(failed: Sequence[Verdict]) -> list[list[Verdict]]:
    """Return the failed pairs in groups: pairs that share no port have no port as their cause."""
    by_port: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in failed:
        for port in ports_of(verdict.target):
            by_port[port].append(verdict)
    groups = []
    while by_port:
        waiting, group = [next(iter(by_port))], dict[str, Verdict]()
        while waiting:
            for verdict in by_port.pop(waiting.pop(), ()):
                group[verdict.target] = verdict
                waiting.extend(ports_of(verdict.target))
        groups.append(list(group.values()))
    return groups


def _blame(failed: Sequence[Verdict], clear: Collection[str], bad: Collection[str]) -> list[Blame]:
    """Return the blame of connected pairs; `clear` are ports and nodes with a pair that passed."""
    check = failed[0].check
    common = _common(failed, clear, ports_of)
    if common:
        likely = _likely(common, failed, bad)
        return [Blame(likely, LIKELY, check) if likely else Blame(common, EVERY, check)]
    known = [port for port in _all(failed, ports_of) if port in bad]
    if all(set(ports_of(verdict.target)) & set(known) for verdict in failed):
        return [Blame((port,), SOME, check) for port in known]
    nodes = _common(failed, clear, nodes_of)
    if nodes:
        return [Blame(nodes, EVERY, check)]
    told = [mentioned(ports_of(verdict.target), verdict.message or "") for verdict in failed]
    if all(len(ports) == 1 for ports in told):
        return [Blame((port,), NAMED, check) for port in dict.fromkeys(p for (p,) in told)]
    return [_untold(failed, clear, check)]


def _untold(failed: Sequence[Verdict], clear: Collection[str], check: str) -> Blame:
    if not clear:
        return Blame(("fabric",), WHOLE, check)
    dark = tuple(port for port in _all(failed, ports_of) if port not in clear)
    if dark:
        return Blame(dark, SPREAD, check)
    return Blame(tuple(verdict.target for verdict in failed), PATH, check)


def _likely(
    common: tuple[str, ...], failed: Sequence[Verdict], bad: Collection[str]
) -> tuple[str, ...]:
    """Return the one of several ports that fails otherwise too, or that every message names."""
    if len(common) == 1:
        return ()
    known = tuple(port for port in common if port in bad)
    told = {tuple(mentioned(common, verdict.message or "")) for verdict in failed}
    named = next(iter(told)) if len(told) == 1 else ()
    return next((ports for ports in (known, named) if len(ports) == 1), ())


def _common(failed: Sequence[Verdict], clear: Collection[str], parts: Parts) -> tuple[str, ...]:
    """Return the parts (ports or nodes) in every failed pair and in none that passed."""
    rest = [set(parts(verdict.target)) for verdict in failed[1:]]
    first = parts(failed[0].target)
    return tuple(p for p in first if p not in clear and all(p in other for other in rest))


def _all(verdicts: Sequence[Verdict], parts: Parts) -> list[str]:
    return list(dict.fromkeys(part for verdict in verdicts for part in parts(verdict.target)))
