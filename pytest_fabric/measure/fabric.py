"""The nodes of a run: sessions, and facts that are gathered once per node and remembered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

from pytest_fabric.config import Cluster, Rail
from pytest_fabric.errors import FabricError
from pytest_fabric.measure import facts, placement
from pytest_fabric.results import NodeFacts, Port, RdmaPort
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Collect, Collecting, Job, Outcome, Pool, Running, Session

#: Nodes whose facts are gathered at the same time; each takes a few milliseconds of our own CPU.
AT_ONCE = 32


@dataclass(frozen=True)
class End:
    """A port of the inventory as it was found on its node; `turn` is its place among the rails."""

    port: Port
    rail: Rail
    node: NodeFacts
    rdma: RdmaPort
    turn: int = 0

    @cached_property
    def core(self) -> int | None:
        """Return where the port's tools run; None where there is no choice."""
        return placement.choose_core(self.node, self.rdma, self.turn)


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
    ) -> None:
        self.cluster = cluster
        self._pool = pool
        self._keep_facts = keep_facts
        self._facts: dict[str, NodeFacts | FabricError] = {}
        self._ends: dict[Port, End] = {}
        self._locks = {name: threading.Lock() for name in cluster.nodes}

    def session(self, node: str) -> CheckedSession:
        """Return the session of a node. Raises TransportError, the same one each time."""
        return CheckedSession(self._pool.session(node), self.cluster.tools.prefix)

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

    def _gathered(self, node: str) -> NodeFacts | FabricError:
        with self._locks[node]:
            if node not in self._facts:
                try:
                    self._facts[node] = self._gather(node)
                except FabricError as error:
                    self._facts[node] = error
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
