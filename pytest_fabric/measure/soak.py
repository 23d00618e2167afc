"""One window of a soak: all its pairs at once, and what became of every link meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import group, health
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.measure.health import Seen
from pytest_fabric.measure.job import Job
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Measurement, Port


class Windows:
    """Makes windows one after another; each begins with what was read at the end of the last.

    So nothing between two windows of a run goes unseen. What is read anew after a stop does not
    count what happened while nobody measured.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._seen: dict[Port, Seen | str] = {}
        self._lock = threading.Lock()

    def measure(self, job: Job, ports: Iterator[int]) -> Measurement:
        """Return one window; links are read also where a pair of it failed, which they may tell.

        Of a window with values its raw text is left out: days of it are one line of each pair.
        """
        with self._lock:
            fresh = [port for port in job.ports if not isinstance(self._seen.get(port), Seen)]
            self._seen |= self._read(fresh)
            record = group.measure(self._fabric, job, ports)
            before, after = dict(self._seen), self._read(job.ports)
            self._seen |= after
        rows = [health.between(str(port), before[port], after[port]) for port in job.ports]
        record = replace(
            record,
            health=tuple(rows),
            growth=tuple(grown for grown in record.growth if grown.delta),
        )
        is_sound = record.error is None and not record.doubts
        return replace(record, raw={}) if is_sound else record

    def _read(self, ports: Sequence[Port]) -> dict[Port, Seen | str]:
        """Return what ports say, or in words why not; many nodes at the same time."""
        nodes = sorted({port.node for port in ports})
        with ThreadPoolExecutor(AT_ONCE, "fabric health") as threads:
            found = dict(zip(nodes, threads.map(self._node, nodes), strict=True))
        said: dict[Port, Seen | str] = {}
        for port in ports:
            node = found[port.node]
            silent = f"{port} was not found on its node"
            said[port] = node if isinstance(node, str) else node.get(str(port), silent)
        return said

    def _node(self, node: str) -> dict[str, Seen] | str:
        try:
            ends = []
            for rail in self._fabric.cluster.nodes[node].rails:
                with contextlib.suppress(MeasurementError):  # its slot is empty
                    ends.append(self._fabric.end(Port(node, rail)))
            subject = Subject(node, self._fabric.facts(node), tuple(ends))
            outcomes = self._fabric.session(node).collect(health.job(subject))
            return health.read(subject, outcomes)
        except FabricError as error:
            return str(error)
