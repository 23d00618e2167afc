"""What the sections of a report are made of: one plain record of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_fabric.errors import ConfigError
from pytest_fabric.report.about import About
from pytest_fabric.report.about import Waived as Waived
from pytest_fabric.report.context import Device
from pytest_fabric.report.planned import terminal
from pytest_fabric.report.stored import open_run
from pytest_fabric.report.summary import Run
from pytest_fabric.report.suspects import Suspect, suspects
from pytest_fabric.results import Measured, NodeFacts, Reading, Verdict


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
    """A run at its end: `notes` are what its summary says of it, `baseline` how it compares.

    `about` says what the run is, `path` is its directory, `devices` are its declared ports that
    nodes have; these are not there of a record that no run has made.
    """

    run: Run
    notes: Sequence[str] = ()
    baseline: Sequence[str] = ()
    is_coverage_short: bool = False
    leaves: Mapping[str, str] = field(default_factory=dict)
    waivers: Sequence[Waived] = ()
    kept: Kept = field(default_factory=Kept)
    about: About | None = None
    devices: Mapping[str, Device] = field(default_factory=dict)
    path: Path | None = None

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Return the terminal state of every check."""
        return [verdict for _, verdict in terminal(self.run.planned, self.run.verdicts)]

    @cached_property
    def suspects(self) -> list[Suspect]:
        """Return the places that failures point to."""
        return suspects([*self.verdicts, *self.run.extra], self.run.known)


def kept(option: str, path: Path) -> Kept:
    """Return what a run directory says, or why it cannot be read: verdicts are shown without it."""
    try:
        stored = open_run(option, path)
        facts = stored.facts
        return Kept(stored.measured, stored.counters, stored.files, facts, stored.readings)
    except ConfigError as error:
        return Kept(problem=str(error))
