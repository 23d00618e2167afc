"""A worker of pytest-xdist: it runs tests, and asks its controller for what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import pytest

from pytest_fabric.answers import Answers
from pytest_fabric.fixtures import answers_key
from pytest_fabric.items import ItemHooks
from pytest_fabric.measure.earlier import Past
from pytest_fabric.measure.plan import Want
from pytest_fabric.parametrize import loaded, problem_key
from pytest_fabric.report.clean import clean_record
from pytest_fabric.results import Measured, Measurement, NodeFacts, Port, RdmaPort, Reading, Verdict
from pytest_fabric.rpc import CHANNEL, Client, Line, dumps
from pytest_fabric.selection import Collected, Selection, group_of
from pytest_fabric.sources import without_baseline
from pytest_fabric.subjects import Shell
from pytest_fabric.transport import Outcome

#: The attribute of a report that carries the verdict to the controller.
VERDICT = "fabric_verdict"


def begin(session: pytest.Session) -> None:
    """Tell the controller what was collected, and answer tests with what it knows."""
    config = session.config
    line = Line(config.workerinput[CHANNEL])  # type: ignore[attr-defined]
    told: list[str] = config.stash.get(problem_key, [])
    problems = tuple(dict.fromkeys(told))
    selection = Selection.of([] if problems else session.items)
    groups = tuple(group_of(item) for item in session.items)
    line.send(dumps(Collected(selection, groups, problems)))
    if problems:
        return  # the controller tells them, and ends the session
    source = RemoteSource(Client(line))
    without = without_baseline(config)
    config.stash[answers_key] = Answers(loaded(config), source, without_baseline=without)
    config.pluginmanager.register(ItemHooks(_attach), "fabric-items")
    config.pluginmanager.register(Stopping(line), "fabric-stopping")


def _attach(verdict: Verdict, report: pytest.TestReport) -> None:
    setattr(report, VERDICT, clean_record(asdict(verdict)))


class Stopping:
    """Ends a worker's list when the controller says so: it has the whole list from the start."""

    def __init__(self, line: Line) -> None:
        self._line = line

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run no other test once the run is over."""
        if not (self._line.is_stopped or self._line.has_ended):
            return None
        item.session.shouldstop = "the run was stopped"
        return True


class RemoteSource:
    """Answers of the engine in the controller; see `answers.Source`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""
        refusal: str | None = self._client.ask("refusal", want)
        return refusal

    def pair(self, want: Want, waiting: Callable[[], None]) -> Measured:
        """Return the measurement on a pair, made now if it was not planned."""
        measured: Measured = self._client.ask("pair", want)
        return measured

    def alone(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair with nothing beside it, made now if need be."""
        records: tuple[Measurement, ...] = self._client.ask("alone", want)
        return records

    def peers(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the measurements of a pair's group, once all of them are made."""
        records: tuple[Measurement, ...] = self._client.ask("peers", want)
        return records

    def past(self, want: Want) -> tuple[Past, ...]:
        """Return what each run of the baseline has of a measurement; empty without a baseline."""
        past: tuple[Past, ...] = self._client.ask("past", want)
        return past

    def port(self, port: Port) -> RdmaPort:
        """Return what a port says about itself. Raises TransportError, MeasurementError."""
        record: RdmaPort = self._client.ask("port", port)
        return record

    def node(self, name: str) -> NodeFacts:
        """Return what a node says about itself. Raises TransportError, MeasurementError."""
        facts: NodeFacts = self._client.ask("node", name)
        return facts

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node says about a topic. Raises TransportError, MeasurementError."""
        reading: Reading = self._client.ask("reading", topic, node)
        return reading

    def shell(self, node: str) -> Shell:
        """Return a shell on a node. Raises TransportError."""
        self._client.ask("reach", node)
        return RemoteShell(self._client, node)


@dataclass(frozen=True)
class RemoteShell:
    """A shell on a node, over the controller's session."""

    client: Client
    node: str

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell. Raises TransportError."""
        outcome: Outcome = self.client.ask("shell", self.node, command, deadline_s)
        return outcome
