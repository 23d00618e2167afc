"""What nodes and ports say about a topic, as the fixtures of a test are given it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from pytest_fabric import fleet, switch_ends
from pytest_fabric.config import SWITCHES
from pytest_fabric.declare import FABRIC
from pytest_fabric.errors import MissingValueError
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.topics import FleetResult, TopicResult
from pytest_fabric.judge.wiring import CableResult, WiringResult
from pytest_fabric.ledgers import ledger_of
from pytest_fabric.measure import topics
from pytest_fabric.profiles import profiles_of
from pytest_fabric.results import Port, RdmaPort
from pytest_fabric.wants import Target

Said = TopicResult | FleetResult | WiringResult


class Source(fleet.Readings, Protocol):
    """Where readings come from, and whether a port is there."""

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""


class TopicAnswers:
    """Answers what tests ask about topics."""

    def __init__(
        self, inventory: Inventory, source: Source, limits: Callable[[Target], Limits]
    ) -> None:
        self._cluster = inventory.cluster
        self._nodes = inventory.nodes
        self._ports = inventory.ports
        self._source = source
        self._limits = limits

    def of(self, item: pytest.Item, topic: str, target: Target) -> TopicResult:
        """Return what a target says. Raises MeasurementError, TransportError."""
        if topic in SWITCHES:
            assert isinstance(target, Port)
            known = (self._cluster, self._source, topic, target, ledger_of(item))
            return switch_ends.result(*known, self._limits(target).require, self._source.port)
        node = target.node if isinstance(target, Port) else str(target)
        facts = self._source.reading(topic, node).facts.get(str(target))
        if facts is None:
            assert isinstance(target, Port)
            self._source.port(target)  # raises where its slot is empty
            raise MissingValueError(f"{target}: {topic}: it says nothing")
        told = (
            str(target),
            topic,
            facts,
            ledger_of(item),
            self._limits(target).require,
            pytest.skip,
        )
        if topic == "wiring":
            assert isinstance(target, Port)
            if self._cluster.rail(target).netdevs:
                pytest.skip(f"{target}: a bond: the cables of its members cannot be told apart")
            rest = self._source.reading(topic, node).facts
            beside = {name: said for name, said in rest.items() if name != str(target)}
            return CableResult(*told, plan=self._cluster.cables, beside=beside)
        return TopicResult(*told)

    def fabric(self, item: pytest.Item, topic: str) -> Said:
        """Return what is said of all that was selected. Raises MeasurementError, TransportError."""
        ledger, require = ledger_of(item), self._limits(FABRIC).require
        known = topics.TOPICS[topic]
        if known.vantage:
            nodes = [node for node in self._nodes if known.of(self._cluster, node)]
            told = fleet.from_vantage(self._source, topic, self._whole(nodes))
            return TopicResult(FABRIC, topic, told, ledger, require)
        if topic == "wiring":
            said, unheard = fleet.of_some(self._source, topic, self._nodes)
            ports = [port for port in self._ports if not self._cluster.rail(port).netdevs]
            if not ports:
                pytest.skip("every port is a bond: the cables of members cannot be told apart")
            targets = tuple(map(str, ports))
            return WiringResult(
                said, self._cluster.cables, ledger, unheard, require, targets, self._exempt
            )
        facts = fleet.of_all(self._source, topic, self._nodes)
        is_of_ports = all(":" in target for target in facts)
        targets = tuple(map(str, self._ports if is_of_ports else self._nodes))
        whole = (topic, facts, ledger, require, targets, self._exempt)
        return FleetResult(*whole, self._profile)

    def _profile(self, target: str) -> str:
        """Return the name of the profile of a node, or of a port."""
        if ":" in target:
            return self._cluster.rail(Port.parse(target)).profile.name
        return self._cluster.nodes[target].profile.name

    def _whole(self, nodes: Sequence[str]) -> list[str]:
        """Return the nodes that have every rail: each may be a subnet of its own."""
        ports = [port for port in self._ports if port.node in set(nodes)]
        rails = {
            port.rail
            for port in ports
            if self._cluster.rail(port).profile.link.layer == "InfiniBand"
        }
        found = [node for node in nodes if rails <= set(self._cluster.nodes[node].rails)]
        if not found:
            raise MissingValueError(
                f"{FABRIC}: expected a node with a port on each of {', '.join(sorted(rails))} to "
                "sweep from, found none: select nodes of one kind at a time with --fabric-nodes"
            )
        return found

    def _exempt(self, target: str, metric: str) -> str | None:
        """Return why a node or port need not show a metric, by its own profile."""
        one = Port.parse(target) if ":" in target else target
        reasons = (p.why_not_available(metric) for p in profiles_of(self._cluster, one))
        return next((reason for reason in reasons if reason is not None), None)
