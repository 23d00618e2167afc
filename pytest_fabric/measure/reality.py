"""Answers from the fabric itself: measurements of the engine, and what nodes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_fabric.measure import switches
from pytest_fabric.measure.earlier import Earlier, Past
from pytest_fabric.measure.engine import Engine
from pytest_fabric.measure.fabric import CheckedSession, Fabric
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.measure.topics import TOPICS
from pytest_fabric.results import Measured, Measurement, NodeFacts, Port, RdmaPort, Reading


class Reality:
    """Answers as a replay does, from nodes that are there.

    `windows` are the readings of a run that is resumed: of a window they hold where this run has
    nothing left to measure.
    """

    def __init__(
        self,
        engine: Engine,
        fabric: Fabric,
        earlier: Earlier,
        windows: Mapping[tuple[str, str], Reading] | None = None,
    ) -> None:
        self._engine = engine
        self._fabric = fabric
        self._earlier = earlier
        self._windows = windows or {}

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""
        return self._engine.refusal(want)

    def pair(self, want: Want, waiting: Callable[[], None]) -> Measured:
        """Return the measurement on a pair, made now if it was not planned."""
        return self._engine.pair(want, waiting)

    def alone(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair with nothing beside it, made now if need be."""
        return self._engine.alone(want, waiting)

    def peers(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair's group, once all of them are made."""
        return self._engine.peers(want, waiting)

    def past(self, want: Want) -> tuple[Past, ...]:
        """Return what each run of the baseline has of a measurement; empty without a baseline."""
        return self._earlier.of(job_of(want, self._fabric.cluster, Policy()).key)

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""
        return self._fabric.end(port).rdma

    def node(self, name: str) -> NodeFacts:
        """Return what a node says about itself. Raises TransportError, MeasurementError."""
        return self._fabric.facts(name)

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node or a switch says about a topic, of a window when it is over.

        Raises TransportError, MeasurementError.
        """
        if topic == switches.FACTS:
            return self._fabric.switches.facts(node)
        if topic == switches.WINDOW:
            known = self._windows.get((topic, node))
            return self._fabric.switches.window(node, self._engine.rest(), known)
        return self._fabric.reading(TOPICS[topic], node)

    def shell(self, node: str) -> CheckedSession:
        """Return a session on which a user's own commands run. Raises TransportError."""
        return self._fabric.session(node)
