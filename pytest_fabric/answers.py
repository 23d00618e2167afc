"""What the fixtures of a test are given: results, limits, facts and shells of its target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import pytest

from pytest_fabric import group_answers, together
from pytest_fabric.config import Baseline
from pytest_fabric.declare import FABRIC, SOAK, Declaration
from pytest_fabric.errors import PORT_NOT_FOUND, MeasurementError
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.facts import NodeResult, PortResult
from pytest_fabric.judge.groups import GroupResult
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.peers import Group
from pytest_fabric.judge.soak_values import SoakFabric, SoakPort
from pytest_fabric.judge.together import TogetherResult
from pytest_fabric.judge.views import PairResult
from pytest_fabric.ledgers import ledger_of, measured_key
from pytest_fabric.markers import declared
from pytest_fabric.measure.plan import Want
from pytest_fabric.metrics import COLLECTIVES, TOOLS, TOPICS
from pytest_fabric.profiles import profiles_of
from pytest_fabric.results import Measured, Measurement, NodeFacts, Pair, PairGroup, Port, RdmaPort
from pytest_fabric.soak_windows import Windows
from pytest_fabric.sources import Others
from pytest_fabric.sources import Source as Source
from pytest_fabric.subjects import MeasurablePair, NodeShell
from pytest_fabric.topic_answers import Said, TopicAnswers
from pytest_fabric.wants import Target

T = TypeVar("T")

Soaked = SoakPort | SoakFabric
Result = PairResult | GroupResult | TogetherResult | PortResult | NodeResult | Soaked | Said


class Live(Protocol):
    """What is shown while a result is awaited."""

    def draw(self) -> None:
        """Show how far the run is now; called again and again."""

    def clear(self) -> None:
        """Show nothing any more."""

    def say(self, text: str) -> None:
        """Show this too from now on."""


class Answers:
    """Answers what the fixtures ask."""

    def __init__(
        self,
        inventory: Inventory,
        source: Source,
        live: Live | None = None,
        without_baseline: bool = False,
        soak: Windows | None = None,
    ) -> None:
        self._soak = soak
        self.cluster = inventory.cluster
        self._inventory = inventory
        self._others = Others(self.cluster, source)
        self._without = (Baseline,) if without_baseline else ()
        self._source = source
        self._live = live
        self._topics = TopicAnswers(inventory, source, self.limits)
        self._selected = frozenset(inventory.nodes)

    def result(self, item: pytest.Item, target: Target) -> Result:
        """Return the result of what an item declares. Raises MeasurementError, TransportError."""
        declaration = declared(item)
        if declaration is None:
            raise MeasurementError(
                str(target), "declaration", "result: expected a measure marker on the test"
            )
        if declaration.tool == SOAK:
            return self._soaked(item, target)
        if declaration.tool in COLLECTIVES:
            self._require_permission(Want(declaration, FABRIC))
        if declaration.over == "fabric" and declaration.tool in TOOLS:
            return self._together(item, declaration)
        if declaration.over == "fabric":
            return self._topics.fabric(item, declaration.tool)
        if declaration.tool in TOPICS:
            return self._topics.of(item, declaration.tool, target)
        if isinstance(target, Pair):
            return self._pair(item, target, declaration)
        if isinstance(target, PairGroup):
            return self._group(item, target, declaration)
        return self.port(item, target) if isinstance(target, Port) else self._node(item, target)

    def _soaked(self, item: pytest.Item, target: Target) -> Soaked:
        """Return what the windows of a soak show, which the first test that asks lets be made."""
        if self._soak is None:
            raise MeasurementError(str(target), "soak", "a soak is made by the run itself only")
        made = self._soak.made(self._awaited_window)
        require = self.limits(target).require
        if target == FABRIC:
            return SoakFabric(made, ledger_of(item), require)
        return SoakPort(str(target), made, ledger_of(item), require, pytest.skip)

    def _awaited_window(self, want: Want, told: str) -> Measured:
        if self._live is not None:
            self._live.say(told)
        return self._awaited(self._source.pair, want)

    def _require_permission(self, want: Want) -> None:
        """Skip what is run over the whole fabric where the run may not, or has only a part."""
        left_out = [name for name in self.cluster.collective_nodes() if name not in self._selected]
        refusal = self._source.refusal(want)
        if left_out and refusal is None:
            refusal = f"{left_out[0]} takes part in the collective and is not selected"
        if refusal is not None:
            pytest.skip(refusal)

    def port(self, item: pytest.Item, port: Port) -> PortResult:
        """Return what a port says about itself. Raises MeasurementError, TransportError."""
        found: RdmaPort | MeasurementError
        try:
            found = self._source.port(port)
        except MeasurementError as error:
            if error.kind != PORT_NOT_FOUND:
                raise
            found = error
        return PortResult(str(port), found, ledger_of(item), self.limits(port).require)

    def record(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises MeasurementError, TransportError."""
        return self._source.port(port)

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

    def limits(self, target: Target, declaration: Declaration | None = None) -> Limits:
        """Return the limits of a target; those of a group depend on what is declared."""
        if isinstance(target, PairGroup) and declaration is not None:
            directions = 2 if declaration.bidirectional else 1
            rest = (declaration.tool, directions, pytest.skip, self._without)
            return group_answers.limits(self.cluster, target, *rest)
        routing = self.cluster.fabric.routing
        profiles = profiles_of(self.cluster, target)
        return Limits(str(target), profiles, pytest.skip, routing, self._without)

    def _pair(self, item: pytest.Item, pair: Pair, declaration: Declaration) -> PairResult:
        want = Want(declaration, pair)
        record, alone = self._measured(item, want)
        require = self.limits(pair).require
        found = (record, ledger_of(item), require, alone, self.cluster.fabric.routing)

        def group() -> Group:
            return self._awaited(lambda it, wait: self._others.group(it, record, wait), want)

        line = self.cluster.line_rate_bps(pair.client, pair.server)
        past, profiles = partial(self._others.past, want), profiles_of(self.cluster, pair)
        tolerant = all(profile.unstable == "allowed" for profile in profiles)
        return PairResult(*found, group, past, line, tolerant)

    def _together(self, item: pytest.Item, declaration: Declaration) -> TogetherResult:
        """Return what all pairs measured. Raises MissingValueError where none did."""
        return together.result(
            declaration,
            self._inventory,
            lambda want: self._awaited(self._source.pair, want),
            lambda want: self._awaited(self._source.alone, want),
            self._source.refusal,
            (ledger_of(item), self.limits(FABRIC).require),
        )

    def _group(self, item: pytest.Item, group: PairGroup, declaration: Declaration) -> GroupResult:
        record, again = self._measured(item, Want(declaration, group))
        require = self.limits(group, declaration).require
        routing, rates = self.cluster.fabric.routing, group_answers.rates(self.cluster, group)
        return GroupResult(record, ledger_of(item), require, again, routing, rates)

    def _measured(
        self, item: pytest.Item, want: Want
    ) -> tuple[Measurement, Callable[[], tuple[Measurement, ...]]]:
        """Return a measurement, and what makes it again after a miss. Raises MeasurementError."""
        refusal = self._source.refusal(want)
        if refusal is not None:
            pytest.skip(refusal)
        measured = self._awaited(self._source.pair, want)
        item.stash[measured_key] = measured
        _require_value(measured.record)

        def alone() -> tuple[Measurement, ...]:
            records = self._awaited(self._source.alone, want)
            item.stash[measured_key] = Measured(measured.record, records)
            again = (
                "alone, after a miss under load: " if measured.record.company else "made again: "
            )
            for record in records:
                _require_value(record, again)
            return records

        return measured.record, alone

    def _awaited(self, ask: Callable[[Want, Callable[[], None]], T], want: Want) -> T:
        """Return what a source answers, and show how far the run is meanwhile."""
        if self._live is None:
            return ask(want, nothing)
        try:
            return ask(want, self._live.draw)
        finally:
            self._live.clear()

    def _node(self, item: pytest.Item, node: str) -> NodeResult:
        return NodeResult(self._source.node(node), ledger_of(item))


def nothing() -> None:
    """Show nothing while a result is awaited."""


def _require_value(record: Measurement, when: str = "") -> None:
    """Raise MeasurementError for a measurement that has no value."""
    if record.error is not None:
        message = record.error.message.removeprefix(f"{record.target}: ")
        raise MeasurementError(record.target, record.error.kind, f"{when}{message}")
