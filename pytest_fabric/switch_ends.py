"""What a test is given of the switch end of a port's cable."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from pytest_fabric.config import Cluster
from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.fleet import Readings
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.switch import Host, SwitchResult
from pytest_fabric.results import Fact, Port, RdmaPort


def result(
    cluster: Cluster,
    source: Readings,
    topic: str,
    port: Port,
    ledger: Ledger,
    available: Callable[[str], None],
    ask: Callable[[Port], RdmaPort],
) -> SwitchResult:
    """Return what the switch says about a topic. Raises MeasurementError, TransportError."""
    switch = cluster.switch(port)
    if switch is None:
        raise MissingValueError(f"{port}: expected the switch of its cable in {cluster.source}")
    facts = source.reading(topic, switch.name).facts.get(str(port))
    if facts is None:
        raise MissingValueError(f"{port}: {switch.name} was not asked about it: run it anew")
    node = cluster.node(port)

    host = Host(
        names=frozenset({node.name, node.address}),
        netdevs=lambda: frozenset(ask(port).netdevs),
        facts=lambda about: _facts(source, about, port),
    )
    return SwitchResult(
        str(port), topic, facts, ledger, available, pytest.skip, cluster.cable(port), host
    )


def _facts(source: Readings, topic: str, port: Port) -> Mapping[str, Fact]:
    """Return what a port says; of LLDP nothing where its node does not tell: see its own check."""
    try:
        return source.reading(topic, port.node).facts.get(str(port), {})
    except FabricError:
        if topic != "wiring":
            raise
        return {}
