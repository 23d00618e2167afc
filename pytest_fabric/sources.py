"""Where answers to tests come from, and the other measurements that a limit compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

from pytest_fabric.config import Cluster
from pytest_fabric.errors import MeasurementError, MissingValueError
from pytest_fabric.judge.peers import Group
from pytest_fabric.measure.earlier import Past
from pytest_fabric.measure.peers import kind_of
from pytest_fabric.measure.plan import Want
from pytest_fabric.results import Measured, Measurement, NodeFacts, Pair, Port, RdmaPort, Reading
from pytest_fabric.subjects import Shell

#: Failures that end a run: what they left undone is no finding about the fabric.
OVER = ("stopped", "timeout")


class Source(Protocol):
    """Where answers come from: the engine of this process, or that of another one."""

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""

    def pair(self, want: Want, waiting: Callable[[], None]) -> Measured:
        """Return the measurement on a pair, made now if it was not planned."""

    def alone(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair with nothing beside it, made now if need be."""

    def peers(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair's group, once all of them are made."""

    def past(self, want: Want) -> tuple[Past, ...]:
        """Return what each run of the baseline has of a measurement; empty without a baseline."""

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""

    def node(self, name: str) -> NodeFacts:
        """Return what a node says about itself. Raises TransportError, MeasurementError."""

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node says about a topic. Raises TransportError, MeasurementError."""

    def shell(self, node: str) -> Shell:
        """Return a shell on a node. Raises TransportError."""


class Others:
    """The peers and the baseline of measurements; a group is asked for once."""

    def __init__(self, cluster: Cluster, source: Source) -> None:
        self._cluster = cluster
        self._source = source
        self._groups: dict[tuple[str, str], Group] = {}

    def group(self, want: Want, record: Measurement, waiting: Callable[[], None]) -> Group:
        """Return the peers of a measurement, once all are made. Raises MeasurementError."""
        kind = kind_of(Pair.parse(record.target), self._cluster)
        if (record.key, kind) not in self._groups:
            records = self._source.peers(want, waiting)
            for error in (one.error for one in records):
                if error is not None and error.kind in OVER:
                    raise MeasurementError(record.target, error.kind, error.message)
            self._groups[record.key, kind] = Group(records, kind)
        return self._groups[record.key, kind]

    def past(self, want: Want) -> tuple[Past, ...]:
        """Return what the baseline has of a measurement. Raises MissingValueError without any."""
        past = self._source.past(want)
        if not past:
            raise MissingValueError(
                f"{want.target}: {want.declaration}: expected --fabric-baseline RUN for the clause "
                "`x baseline` of its limits, found none: give earlier runs, or --fabric-no-baseline"
            )
        return past


def without_baseline(config: pytest.Config) -> bool:
    """Return whether clauses that need a baseline are left out."""
    return bool(config.getoption("--fabric-no-baseline"))
