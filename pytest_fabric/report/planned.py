"""What was planned, and the one terminal state that each planned check ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.report.places import nodes_of
from pytest_fabric.results import Verdict

#: Terminal states, worst first: a check that reported twice has the worse one.
OUTCOMES = ("failed", "error", "not run", "waived", "skipped", "passed")


@dataclass(frozen=True)
class Planned:
    """One check on one target that the run set out to make; `node` is the client's for a pair."""

    nodeid: str
    check: str
    target: str
    layer: str
    node: str


def terminal(
    planned: Sequence[Planned], verdicts: Sequence[Verdict]
) -> list[tuple[Planned, Verdict]]:
    """Return every planned check once, in order, with its verdict, `not run` where there is none.

    Verdicts that nobody planned follow, so that nothing that happened is left out.
    """
    worst: dict[str, Verdict] = {}
    for verdict in verdicts:
        known = worst.get(verdict.nodeid)
        if known is None or _rank(verdict) < _rank(known):
            worst[verdict.nodeid] = verdict
    checks = {check.nodeid: check for check in planned}
    for verdict in worst.values():
        checks.setdefault(verdict.nodeid, _unplanned(verdict))
    missing = "not run"
    return [
        (check, worst.get(nodeid) or without_verdict(check, missing, missing))
        for nodeid, check in checks.items()
    ]


def _rank(verdict: Verdict) -> int:
    # A word that is no outcome must never hide behind a pass.
    return OUTCOMES.index(verdict.outcome) if verdict.outcome in OUTCOMES else 1


def _unplanned(verdict: Verdict) -> Planned:
    node = next(iter(nodes_of(verdict.target)), "")
    return Planned(verdict.nodeid, verdict.check, verdict.target, verdict.layer, node)


def without_verdict(check: Planned, outcome: str, message: str) -> Verdict:
    """Return the terminal state of a check that has judged nothing."""
    return Verdict(
        nodeid=check.nodeid,
        check=check.check,
        target=check.target,
        layer=check.layer,
        outcome=outcome,
        metric=None,
        value=None,
        unit=None,
        limit=None,
        limit_source=None,
        message=message,
        started=0.0,
        duration=0.0,
    )
