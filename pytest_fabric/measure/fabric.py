"""The nodes of a run: sessions, and facts that are gathered once per node and remembered."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pytest_fabric.config import Cluster
from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import facts
from pytest_fabric.measure.end import End
from pytest_fabric.measure.record import slip
from pytest_fabric.measure.switches import Switches
from pytest_fabric.measure.topics.topic import Subject, Topic
from pytest_fabric.results import NodeFacts, Port, Reading
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Collect, Collecting, Job, Outcome, Pool, Running, Session

#: Nodes whose facts are gathered at the same time; each takes a few milliseconds of our own CPU.
AT_ONCE = 32


@dataclass(frozen=True)
class CheckedSession:
    """A session that refuses what is not on the read-only allow-list."""

    inner: Session
    prefix: tuple[str, ...]

    @property
    def node(self) -> str:
        """Return the node's name."""
        return self.inner.node

    def start(self, job: Job) -> Running:
        """Start one process. Raises RefusedCommandError, TransportError."""
        allowed.require(job.argv, self.prefix)
        return self.inner.start(job)

    def run(self, job: Job) -> Outcome:
        """Run one process to its end. Raises RefusedCommandError, TransportError."""
        allowed.require(job.argv, self.prefix)
        return self.inner.run(job)

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        """Run several commands as one job. Raises RefusedCommandError, TransportError."""
        return self.begin(collect).wait()

    def begin(self, collect: Collect) -> Collecting:
        """Start several commands as one job. Raises RefusedCommandError, TransportError."""
        for argv in collect.sections.values():
            allowed.require(argv, self.prefix)
        return self.inner.begin(collect)

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a user's own command: theirs to answer for, and in the audit log."""
        return self.inner.shell(command, deadline_s)

    def close(self) -> None:
        """Close the connection; the node ends what is left of it."""
        self.inner.close()


class Fabric:
    """Nodes by name: a session each, and facts, both made once; failures are remembered too."""

    def __init__(
        self,
        cluster: Cluster,
        pool: Pool,
        keep_facts: Callable[[NodeFacts], None],
        keep_reading: Callable[[Reading], None] = lambda reading: None,
    ) -> None:
        self.cluster = cluster
        self._pool = pool
        self._keep_facts = keep_facts
        self._keep_reading = keep_reading
        self._facts: dict[str, NodeFacts | FabricError] = {}
        self._ends: dict[Port, End] = {}
        self._readings: dict[tuple[str, str], Reading | FabricError] = {}
        self._locks = {name: threading.RLock() for name in cluster.nodes}
        self.switches = Switches(cluster, self._ask_switch, keep_reading)

    def session(self, node: str) -> CheckedSession:
        """Return the session of a node. Raises TransportError, the same one each time."""
        return CheckedSession(self._pool.session(node), self.cluster.tools.prefix)

    def _ask_switch(self, switch: str, collect: Collect) -> dict[str, Outcome]:
        """Return what a switch answers; the prefix of tools is for nodes. Raises TransportError."""
        return CheckedSession(self._pool.session(switch), ()).collect(collect)

    def lost(self) -> Sequence[str]:
        """Return the nodes whose connection was lost after they had been reached."""
        return self._pool.lost()

    def close(self) -> None:
        """End what runs on the nodes, and leave them."""
        self._pool.close()

    def gather(self, nodes: Iterable[str]) -> None:
        """Gather the facts of many nodes at the same time; failures show when facts are asked."""
        wanted = sorted(set(nodes))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(self._gathered, wanted))

    def facts(self, node: str) -> NodeFacts:
        """Return the facts of a node. Raises TransportError, MeasurementError."""
        found = self._gathered(node)
        if isinstance(found, FabricError):
            raise found.with_traceback(None)
        return found

    def end(self, port: Port) -> End:
        """Return a port as it was found on its node. Raises TransportError, MeasurementError."""
        found = self._ends.get(port)
        if found is None:
            node = self.facts(port.node)
            rail = self.cluster.rail(port)
            turn = list(self.cluster.nodes[port.node].rails).index(port.rail)
            found = End(port, rail, node, facts.find(str(port), rail, node), turn)
            self._ends[port] = found
        return found

    def read(self, pairs: Iterable[tuple[Topic, str]]) -> None:
        """Read topics of many nodes at the same time; failures show when a reading is asked."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda pair: self._read(*pair), dict.fromkeys(pairs)))

    def reading(self, topic: Topic, node: str) -> Reading:
        """Return what a node says about a topic. Raises TransportError, MeasurementError."""
        found = self._read(topic, node)
        if isinstance(found, FabricError):
            raise found.with_traceback(None)
        return found

    def subject(self, node: str) -> Subject:
        """Return a node as topics ask it. Raises TransportError, MeasurementError."""
        ends = []
        for rail in self.cluster.nodes[node].rails:
            with contextlib.suppress(MeasurementError):  # its slot is empty: told by its own checks
                ends.append(self.end(Port(node, rail)))
        plan = tuple(self.cluster.cables.values())
        return Subject(node, self.facts(node), tuple(ends), plan, self.cluster)

    def refuse(self, topic: str, node: str, error: FabricError) -> None:
        """Let a reading that must not be made be an error, unless it was made before."""
        with self._locks[node]:
            self._readings.setdefault((topic, node), error)

    def _read(self, topic: Topic, node: str) -> Reading | FabricError:
        found = self._gathered(node)
        if isinstance(found, FabricError):
            return found
        key = (topic.name, node)
        with self._locks[node]:
            if key not in self._readings:
                try:
                    self._readings[key] = self._read_now(topic, node)
                except FabricError as error:
                    self._readings[key] = error
                except Exception as error:
                    self._readings[key] = slip(node, topic.name, error)
            return self._readings[key]

    def _read_now(self, topic: Topic, node: str) -> Reading:
        subject = self.subject(node)
        outcomes = self.session(node).collect(topic.job(subject))
        reading = Reading(node, topic.name, topic.read(subject, outcomes))
        self._keep_reading(reading)
        return reading

    def _gathered(self, node: str) -> NodeFacts | FabricError:
        with self._locks[node]:
            if node not in self._facts:
                try:
                    self._facts[node] = self._gather(node)
                except FabricError as error:
                    self._facts[node] = error
                except Exception as error:
                    self._facts[node] = slip(node, "facts", error)
            return self._facts[node]

    def _gather(self, node: str) -> NodeFacts:
        prefix = self.cluster.tools.prefix
        found = facts.parse(node, self.session(node).collect(facts.job(prefix)))
        self._keep_facts(found)
        return found


def nodes_of(targets: Iterable[object]) -> Sequence[str]:
    """Return the names of the nodes that targets (nodes, ports, pairs) stand on, each once."""
    names: dict[str, None] = {}
    for target in targets:
        for part in str(target).split(".."):
            names[part.partition(":")[0]] = None
    return list(names)
