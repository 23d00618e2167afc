"""What the sections of a report are made of: one plain record of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_fabric.config import Waiver
from pytest_fabric.errors import ConfigError
from pytest_fabric.report.planned import terminal
from pytest_fabric.report.stored import open_run
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Measured, NodeFacts, Reading, Verdict


@dataclass(frozen=True)
class Waived:
    """A waiver as `cluster.yaml` has it."""

    check: str
    target: str
    until: str
    owner: str
    reason: str


@dataclass(frozen=True)
class Kept:
    """What the run directory says beside the verdicts.

    `counters` are the names of all that were read, by port; `files` the raw files of a target,
    each with the key of its measurement. `problem` says why there is nothing.
    """

    measured: Sequence[Measured] = ()
    counters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    files: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    facts: Mapping[str, NodeFacts] = field(default_factory=dict)
    readings: Mapping[tuple[str, str], Reading] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True)
class RunRecord:
    """A run at its end: `notes` are what its summary says of it, `baseline` how it compares."""

    run: Run
    notes: Sequence[str] = ()
    baseline: Sequence[str] = ()
    is_coverage_short: bool = False
    leaves: Mapping[str, str] = field(default_factory=dict)
    waivers: Sequence[Waived] = ()
    kept: Kept = field(default_factory=Kept)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Return the terminal state of every check."""
        return [verdict for _, verdict in terminal(self.run.planned, self.run.verdicts)]


def kept(option: str, path: Path) -> Kept:
    """Return what a run directory says, or why it cannot be read: verdicts are shown without it."""
    try:
        stored = open_run(option, path)
        facts = stored.facts
        return Kept(stored.measured, stored.counters, stored.files, facts, stored.readings)
    except ConfigError as error:
        return Kept(problem=str(error))


def waived(waivers: Iterable[Waiver]) -> list[Waived]:
    """Return waivers of `cluster.yaml` as they are shown."""
    return [
        Waived(one.check, one.target, one.until.isoformat(), one.owner, one.reason)
        for one in waivers
    ]
