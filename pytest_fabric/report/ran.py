"""What has come of a run, before anything is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_fabric.judge.soak import Soak
from pytest_fabric.judge.training import Work
from pytest_fabric.report.pattern import NOTHING, Known
from pytest_fabric.report.planned import Planned, terminal
from pytest_fabric.report.suspects import Suspect, suspects
from pytest_fabric.results import Verdict


@dataclass(frozen=True)
class Run:
    """What the summary is made of: `declared` are port ids, `excluded` are nodes with reasons.

    The ports of excluded nodes are declared, too: leaving a node out costs coverage. `unused` are
    waivers that no failure fell under, `known` is what counters and the inventory say about places.
    `extra` are verdicts of pairs that were measured to tell places apart, `followed` tells of them.
    `workload` is what is trained, if anything is declared. `has_tickets` says that the directory
    of the run has them. `soak` is what a soak has shown so far, where one was asked for.
    """

    planned: Sequence[Planned]
    verdicts: Sequence[Verdict]
    declared: Sequence[str]
    excluded: Mapping[str, str]
    directory: str | None = None
    unused: Sequence[str] = ()
    known: Known = NOTHING
    extra: Sequence[Verdict] = ()
    followed: str = ""
    workload: Work | None = None
    has_tickets: bool = False
    soak: Soak | None = None

    @cached_property
    def ended(self) -> list[Verdict]:
        """Return the terminal state of every check."""
        return [verdict for _, verdict in terminal(self.planned, self.verdicts)]

    @cached_property
    def suspected(self) -> list[Suspect]:
        """Return the places that failures point to."""
        return suspects([*self.ended, *self.extra], self.known)
