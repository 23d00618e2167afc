"""The plan of a run and who fills it: what is wanted once is measured once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_fabric.declare import Declaration
from pytest_fabric.measure import pair as pair_measurement
from pytest_fabric.measure.fabric import Fabric, nodes_of
from pytest_fabric.measure.settings import Settings, resolve
from pytest_fabric.results import Failure, Measurement, NodeFacts, Pair, Port, RdmaPort

#: Errors that took a deadline to find.
HANGS = frozenset({"hang", "not_ready", "control_unreachable"})


@dataclass(frozen=True)
class Want:
    """What a test wants: a declaration on a target."""

    declaration: Declaration
    target: Pair | Port | str


class Engine:
    """Measures what is wanted when it is first asked for, and remembers it.

    `keep` is called once with each finished measurement.
    """

    def __init__(self, fabric: Fabric, keep: Callable[[Measurement], None]) -> None:
        self._fabric = fabric
        self._keep = keep
        self._done: dict[tuple[str, str], Measurement] = {}
        self._hung: dict[Pair, str] = {}
        low, high = fabric.cluster.tools.ports
        self._ports = itertools.cycle(range(low, high + 1))

    def prepare(self, targets: Iterable[Pair | Port | str]) -> None:
        """Log in to every node that is needed and gather its facts, all at the same time."""
        self._fabric.gather(nodes_of(targets))

    def pair(self, want: Want) -> Measurement:
        """Return the measurement on a pair, made now if it was not made before."""
        assert isinstance(want.target, Pair)
        settings = self.settings(want.declaration, want.target)
        key = (str(want.target), settings.key)
        if key not in self._done:
            made = self._measure(want.target, settings)
            self._done[key] = made
            self._keep(made)
        return self._done[key]

    def _measure(self, pair: Pair, settings: Settings) -> Measurement:
        """Make a measurement, unless the pair hung before: each hang costs half a minute."""
        hung = self._hung.get(pair)
        if hung is not None:
            message = f"{pair}: {settings.tool}: not tried, since {hung} on this pair hung before"
            return pair_measurement.without_value(pair, settings, Failure("hang", message))
        made = pair_measurement.measure(self._fabric, pair, settings, self._ports)
        if made.error is not None and made.error.kind in HANGS:
            self._hung[pair] = settings.tool
        return made

    def settings(self, declaration: Declaration, pair: Pair) -> Settings:
        """Return what a declaration means on a pair. Raises MeasurementError."""
        client, server = (
            self._fabric.cluster.rail(port).profile for port in (pair.client, pair.server)
        )
        return resolve(declaration, pair, client, server)

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""
        return self._fabric.end(port).rdma

    def node(self, name: str) -> NodeFacts:
        """Return what a node says about itself. Raises TransportError, MeasurementError."""
        return self._fabric.facts(name)
