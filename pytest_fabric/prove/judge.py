"""What the verdicts of a wave say about its faults: caught where they are, and nothing else red."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from pytest_fabric.declare import FABRIC
from pytest_fabric.prove.plan import Injection, Wave
from pytest_fabric.report.pattern import NOTHING, Known
from pytest_fabric.report.places import is_pair, mentioned, nodes_of, ports_of
from pytest_fabric.report.suspects import suspects
from pytest_fabric.results import Verdict

#: How a test took a fault, best first. `told` is a pass that names contention; `unplaced` went red
#: for pairs of the place, and neither a message nor the suspects name it.
MARKS = ("failed", "error", "told", "unplaced", "passed", "skipped", "not run")

#: Marks that are a catch.
CAUGHT = ("failed", "error", "told")

RED = ("failed", "error")


@dataclass(frozen=True)
class Answer:
    """How a test (the id of its function) took a fault at a place, and its message if it is red."""

    fault: str
    place: str
    check: str
    mark: str
    message: str = ""


@dataclass(frozen=True)
class Judged:
    """What a wave has shown; `alarms` are red verdicts that no fault of it explains."""

    wave: str
    answers: tuple[Answer, ...]
    alarms: tuple[Verdict, ...]


def judge(wave: Wave, verdicts: Sequence[Verdict], known: Known = NOTHING) -> Judged:
    """Return how each test of a wave took each of its faults.

    `known` is what the summary of the wave's run knew beside its verdicts.
    """
    blamed = _blamed(verdicts, known)
    by_check: dict[str, list[Verdict]] = {check: [] for check in wave.checks}
    for verdict in verdicts:
        by_check.setdefault(function_of(verdict.nodeid), []).append(verdict)
    answers = [
        _answer(injection, check, found, blamed)
        for injection in wave.injections
        for check, found in by_check.items()
    ]
    red = [verdict for verdict in verdicts if verdict.outcome not in ("passed", "skipped")]
    alarms = [v for v in red if not _is_explained(v, wave)]
    return Judged(wave.name, tuple(answers), tuple(alarms))


def _is_explained(verdict: Verdict, wave: Wave) -> bool:
    """Return whether faults explain a red verdict; one that names sound nodes too is an alarm."""
    if not any(explains(one, verdict) for one in wave.injections):
        return False
    if verdict.target != FABRIC or any(one.is_everywhere for one in wave.injections):
        return True
    if any(is_pair(word) and ports_of(word) for word in (verdict.message or "").split()):
        return True  # of pairs, the first one is the worst, and others are told beside it
    faulty = {name.partition(":")[0] for one in wave.injections for name in one.names | one.nodes}
    sound = {node for node, _ in wave.nodes if node not in faulty}
    ports = {f"{node}:{rail}" for node in sound for rail in wave.rails}
    return not mentioned(sound | ports, verdict.message or "")


def function_of(nodeid: str) -> str:
    """Return the id of an item's function, without its target."""
    return nodeid.partition("[")[0]


def explains(injection: Injection, verdict: Verdict) -> bool:
    """Return whether a red verdict is at the place of a fault, or names it."""
    return injection.is_everywhere or _is_at(injection, verdict) or _is_named(injection, verdict)


def _is_at(injection: Injection, verdict: Verdict) -> bool:
    target = verdict.target
    ends = ports_of(target)
    if ends:
        return not injection.ports.isdisjoint(ends)
    return target in injection.nodes


def _is_named(injection: Injection, verdict: Verdict) -> bool:
    """Return whether a verdict names a place.

    One on the whole fabric may name a node's device, or pairs, the worst of them first.
    """
    message = verdict.message or ""
    if verdict.target != FABRIC:
        return bool(mentioned(injection.names, message))
    pair = next((word for word in message.split() if is_pair(word) and ports_of(word)), None)
    if pair is not None:
        return not injection.ports.isdisjoint(ports_of(pair))
    return bool(mentioned({*injection.names, *nodes_of(injection.place)}, message))


def _blamed(verdicts: Sequence[Verdict], known: Known) -> list[frozenset[str]]:
    """Return the places that the summary suspects; those that it cannot tell apart are together."""
    return [frozenset(suspect.places) for suspect in suspects(verdicts, known)]


def _answer(
    injection: Injection, check: str, verdicts: Sequence[Verdict], blamed: Sequence[Set[str]]
) -> Answer:
    marks: dict[str, str] = {}
    for verdict in verdicts:
        mark = _mark(injection, verdict, blamed)
        if mark is not None:
            marks.setdefault(mark, verdict.message or "")
    best = next((mark for mark in MARKS if mark in marks), "not run")
    return Answer(injection.fault, injection.place, check, best, marks.get(best, ""))


def _mark(injection: Injection, verdict: Verdict, blamed: Sequence[Set[str]]) -> str | None:
    """Return how a verdict took a fault, or None when it is about other places."""
    is_here = _is_at(injection, verdict) or injection.is_everywhere
    if verdict.outcome == "skipped" or (verdict.outcome == "passed" and not verdict.contention):
        return verdict.outcome if is_here or verdict.target == FABRIC else None
    named = _is_named(injection, verdict)
    if not is_here and not named:
        return None
    if verdict.outcome == "passed":
        return "told"
    if verdict.outcome not in RED:
        return "not run"
    known = {injection.place, *nodes_of(injection.place), *injection.ports, *injection.names}
    is_blamed = any(places <= known for places in blamed)
    is_placed = named or is_blamed or not is_pair(verdict.target)
    return verdict.outcome if is_placed or injection.is_everywhere else "unplaced"


def matrix(judged: Sequence[Judged]) -> Mapping[tuple[str, str], Answer]:
    """Return the best answer for each fault and test of all waves."""
    best: dict[tuple[str, str], Answer] = {}
    for wave in judged:
        for answer in wave.answers:
            known = best.get((answer.fault, answer.check))
            if known is None or MARKS.index(answer.mark) < MARKS.index(known.mark):
                best[answer.fault, answer.check] = answer
    return best
