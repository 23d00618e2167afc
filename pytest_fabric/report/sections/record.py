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
from pytest_fabric.report.covered import Coverage, coverage
from pytest_fabric.report.stored import open_run
from pytest_fabric.report.summary import Run
from pytest_fabric.report.suspects import Suspect
from pytest_fabric.report.tickets.advised import with_advice
from pytest_fabric.results import Fact, Measured, NodeFacts, RdmaPort, Reading, Verdict


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

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the terminal state of every check."""
        return self.run.ended

    @cached_property
    def coverage(self) -> Coverage:
        """Return how many of the declared ports were measured."""
        return coverage(self.run.declared, self.verdicts)

    @cached_property
    def facts(self) -> Mapping[str, Mapping[str, Fact]]:
        """Return all that was read, by port or node, and by metric: a fabric has thousands."""
        found: dict[str, dict[str, Fact]] = {}
        for reading in self.kept.readings.values():
            for target, facts in reading.facts.items():
                found.setdefault(target, {}).update(facts)
        return found

    @property
    def tried(self) -> Mapping[str, Sequence[str]]:
        """Return of a retest the steps of each ticket after which it is measured again."""
        retest = None if self.about is None else self.about.retest
        return {} if retest is None else retest.tried

    @cached_property
    def suspects(self) -> list[Suspect]:
        """Return the places that failures point to, with what to do next about each."""
        return with_advice(self.run)

    def device(self, port: str) -> RdmaPort | None:
        """Return what a node says of a declared port, None where it is not there."""
        device = self.devices.get(port)
        facts = self.kept.facts.get(port.partition(":")[0])
        if device is None or facts is None:
            return None
        wanted = (device.name, device.number)
        return next((p for p in facts.ports if (p.device, p.number) == wanted), None)


def kept(option: str, path: Path) -> Kept:
    """Return what a run directory says, or why it cannot be read: verdicts are shown without it."""
    try:
        stored = open_run(option, path)
        facts = stored.facts
        return Kept(stored.measured, stored.counters, stored.files, facts, stored.readings)
    except ConfigError as error:
        return Kept(problem=str(error))
