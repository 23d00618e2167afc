"""What the fixtures of a test are given: results, limits, facts and shells of its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import pytest

from pytest_fabric import fleet
from pytest_fabric.config import Cluster, Profile
from pytest_fabric.declare import Declaration, layer_of
from pytest_fabric.errors import MeasurementError, MissingValueError
from pytest_fabric.inventory import FABRIC, Inventory
from pytest_fabric.judge.facts import NodeResult, PortResult
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.topics import FleetResult, TopicResult
from pytest_fabric.judge.views import PairResult
from pytest_fabric.judge.wiring import CableResult, WiringResult
from pytest_fabric.markers import declared
from pytest_fabric.measure import topics
from pytest_fabric.measure.plan import Want
from pytest_fabric.metrics import TOPICS
from pytest_fabric.parametrize import TARGET, NoTarget, loaded
from pytest_fabric.report.planned import Planned
from pytest_fabric.results import (
    Measured,
    Measurement,
    NodeFacts,
    Pair,
    Port,
    RdmaPort,
    Reading,
)
from pytest_fabric.subjects import MeasurablePair, NodeShell, Shell

T = TypeVar("T")

ledger_key = pytest.StashKey[Ledger]()
measured_key = pytest.StashKey[Measured]()

Target = Pair | Port | str

Result = PairResult | PortResult | NodeResult | TopicResult | FleetResult | WiringResult


class Source(Protocol):
    """Where answers come from: the engine of this process, or that of another one."""

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""

    def pair(self, want: Want, waiting: Callable[[], None]) -> Measured:
        """Return the measurement on a pair, made now if it was not planned."""

    def alone(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair with nothing beside it, made now if need be."""

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""

    def node(self, name: str) -> NodeFacts:
        """Return what a node says about itself. Raises TransportError, MeasurementError."""

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node says about a topic. Raises TransportError, MeasurementError."""

    def shell(self, node: str) -> Shell:
        """Return a shell on a node. Raises TransportError."""


class Live(Protocol):
    """What is shown while a result is awaited."""

    def draw(self) -> None:
        """Show how far the run is now; called again and again."""

    def clear(self) -> None:
        """Show nothing any more."""


class Answers:
    """Answers what the fixtures ask."""

    def __init__(self, inventory: Inventory, source: Source, live: Live | None = None) -> None:
        self.cluster = inventory.cluster
        self._nodes = inventory.nodes
        self._ports = inventory.ports
        self._source = source
        self._live = live

    def result(self, item: pytest.Item, target: Target) -> Result:
        """Return the result of what an item declares. Raises MeasurementError, TransportError."""
        declaration = declared(item)
        if declaration is None:
            raise MeasurementError(
                str(target), "declaration", "result: expected a measure marker on the test"
            )
        if declaration.over == "fabric":
            return self._fabric(item, declaration.tool)
        if declaration.tool in TOPICS:
            return self._topic(item, declaration.tool, target)
        if isinstance(target, Pair):
            return self._pair(item, target, declaration)
        return self.port(item, target) if isinstance(target, Port) else self._node(item, target)

    def port(self, item: pytest.Item, port: Port) -> PortResult:
        """Return what a port says about itself. Raises MeasurementError, TransportError."""
        record = self._source.port(port)
        return PortResult(str(port), record, ledger_of(item), self.limits(port).require)

    def pair(self, item: pytest.Item, pair: Pair) -> MeasurablePair:
        """Return a pair on which a test can measure on the spot."""
        return MeasurablePair(pair, lambda declaration: self._pair(item, pair, declaration))

    def facts(self, item: pytest.Item, node: str) -> NodeFacts:
        """Return what a node says about itself. Raises MeasurementError, TransportError."""
        ledger_of(item).reads.append("facts")
        return self._source.node(node)

    def shell(self, item: pytest.Item, node: str) -> NodeShell:
        """Return a shell on a node. Raises TransportError."""
        ledger_of(item).reads.append("shell")
        return NodeShell(self._source.shell(node))

    def limits(self, target: Target) -> Limits:
        """Return the limits of a target."""
        routing = self.cluster.fabric.routing
        return Limits(str(target), profiles_of(self.cluster, target), pytest.skip, routing)

    def _pair(self, item: pytest.Item, pair: Pair, declaration: Declaration) -> PairResult:
        want = Want(declaration, pair)
        refusal = self._source.refusal(want)
        if refusal is not None:
            pytest.skip(refusal)
        measured = self._awaited(self._source.pair, want)
        item.stash[measured_key] = measured
        _require_value(measured.record)

        def alone() -> tuple[Measurement, ...]:
            records = self._awaited(self._source.alone, want)
            item.stash[measured_key] = Measured(measured.record, records)
            for record in records:
                _require_value(record, "alone, after a miss under load: ")
            return records

        require = self.limits(pair).require
        routing = self.cluster.fabric.routing
        return PairResult(measured.record, ledger_of(item), require, alone, routing)

    def _awaited(self, ask: Callable[[Want, Callable[[], None]], T], want: Want) -> T:
        """Return what a source answers, and show how far the run is meanwhile."""
        if self._live is None:
            return ask(want, nothing)
        try:
            return ask(want, self._live.draw)
        finally:
            self._live.clear()

    def _topic(self, item: pytest.Item, topic: str, target: Target) -> TopicResult:
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
            self.limits(target).require,
            pytest.skip,
        )
        if topic == "wiring":
            assert isinstance(target, Port)
            if self.cluster.rail(target).netdevs:
                pytest.skip(f"{target}: a bond: the cables of its members cannot be told apart")
            rest = self._source.reading(topic, node).facts
            beside = {name: said for name, said in rest.items() if name != str(target)}
            return CableResult(*told, plan=self.cluster.cables, beside=beside)
        return TopicResult(*told)

    def _fabric(self, item: pytest.Item, topic: str) -> Result:
        """Return what is said of all that was selected. Raises MeasurementError, TransportError."""
        ledger, require = ledger_of(item), self.limits(FABRIC).require
        known = topics.TOPICS[topic]
        if known.vantage:
            nodes = [node for node in self._nodes if known.of(self.cluster, node)]
            told = fleet.from_vantage(self._source, topic, self._whole(nodes))
            return TopicResult(FABRIC, topic, told, ledger, require)
        if topic == "wiring":
            said, unheard = fleet.of_some(self._source, topic, self._nodes)
            ports = [port for port in self._ports if not self.cluster.rail(port).netdevs]
            if not ports:
                pytest.skip("every port is a bond: the cables of members cannot be told apart")
            targets = tuple(map(str, ports))
            return WiringResult(
                said, self.cluster.cables, ledger, unheard, require, targets, self._exempt
            )
        facts = fleet.of_all(self._source, topic, self._nodes)
        is_of_ports = all(":" in target for target in facts)
        targets = tuple(map(str, self._ports if is_of_ports else self._nodes))
        return FleetResult(topic, facts, ledger, require, targets, self._exempt)

    def _whole(self, nodes: Sequence[str]) -> list[str]:
        """Return the nodes that have every rail: each may be a subnet of its own."""
        ports = [port for port in self._ports if port.node in set(nodes)]
        rails = {
            port.rail
            for port in ports
            if self.cluster.rail(port).profile.link.layer == "InfiniBand"
        }
        found = [node for node in nodes if rails <= set(self.cluster.nodes[node].rails)]
        if not found:
            raise MissingValueError(
                f"{FABRIC}: expected a node with a port on each of {', '.join(sorted(rails))} to "
                "sweep from, found none: select nodes of one kind at a time with --fabric-nodes"
            )
        return found

    def _exempt(self, target: str, metric: str) -> str | None:
        """Return why a node or port need not show a metric, by its own profile."""
        one = Port.parse(target) if ":" in target else target
        reasons = (p.why_not_available(metric) for p in profiles_of(self.cluster, one))
        return next((reason for reason in reasons if reason is not None), None)

    def _node(self, item: pytest.Item, node: str) -> NodeResult:
        return NodeResult(self._source.node(node), ledger_of(item))


def nothing() -> None:
    """Show nothing while a result is awaited."""


def _require_value(record: Measurement, when: str = "") -> None:
    """Raise MeasurementError for a measurement that has no value."""
    if record.error is not None:
        message = record.error.message.removeprefix(f"{record.target}: ")
        raise MeasurementError(record.target, record.error.kind, f"{when}{message}")


def profiles_of(cluster: Cluster, target: Target) -> tuple[Profile, ...]:
    """Return the profiles that say what is expected of a target: those of both ends of a pair."""
    if target == FABRIC:
        used = {
            rail.profile.name: rail.profile
            for n in cluster.nodes.values()
            for rail in n.rails.values()
        }
        return tuple(used.values())
    ends = [target.client, target.server] if isinstance(target, Pair) else [target]
    profiles = [
        cluster.rail(end).profile if isinstance(end, Port) else cluster.nodes[end].profile
        for end in ends
    ]
    return tuple({profile.name: profile for profile in profiles}.values())


def ledger_of(item: pytest.Item) -> Ledger:
    """Return the ledger of an item, new when there is none yet."""
    return item.stash.setdefault(ledger_key, Ledger())


def target_of(item: pytest.Item) -> Target | NoTarget | None:
    """Return what an item of ours is run over, or None for an item that is not ours."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(TARGET) if callspec is not None else None


def wants_of(items: Sequence[pytest.Item]) -> tuple[list[Want], list[Target]]:
    """Return what the items want measured or read, each once, and their other targets."""
    wants: dict[Want, None] = {}
    others: dict[Target, None] = {}
    for item in items:
        target = target_of(item)
        declaration = declared(item)
        if not isinstance(target, Pair | Port | str):
            continue
        all_nodes = loaded(item.config).nodes if target == FABRIC else ()
        if declaration is not None and (isinstance(target, Pair) or declaration.tool in TOPICS):
            wants.update(dict.fromkeys(Want(declaration, one) for one in all_nodes or (target,)))
        if not isinstance(target, Pair) or declaration is None:
            others.update(dict.fromkeys(all_nodes or (target,)))
    return list(wants), list(others)


def planned(item: pytest.Item) -> Planned:
    """Return the check that an item stands for; the client's node owns a pair."""
    target = str(target_of(item))
    module = item.nodeid.partition("::")[0]
    return Planned(
        nodeid=item.nodeid,
        check=getattr(item, "originalname", None) or item.name,
        target=target,
        layer=layer_of(module),
        node=target.partition("..")[0].partition(":")[0],
    )
