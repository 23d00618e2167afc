"""Answers from what an earlier run has stored: no node is asked, and nothing is made up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from pytest_fabric.config import Cluster
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import facts, peers, plan
from pytest_fabric.measure.earlier import Earlier, Past
from pytest_fabric.measure.plan import Job, Policy, Want
from pytest_fabric.results import Measured, Measurement, NodeFacts, Pair, Port, RdmaPort, Reading


class Replay:
    """Answers as the engine does, from the measurements and facts of a run; `run` names it."""

    def __init__(
        self,
        cluster: Cluster,
        policy: Policy,
        run: str,
        measured: Iterable[Measured],
        known_facts: Mapping[str, NodeFacts],
        readings: Mapping[tuple[str, str], Reading],
        earlier: Earlier | None = None,
    ) -> None:
        self._cluster = cluster
        self._policy = policy
        self._run = run
        self._measured = {f"{m.record.target} {m.record.key}": m for m in measured}
        self._facts = known_facts
        self._readings = readings
        self._earlier = earlier or Earlier()

    def refusal(self, want: Want) -> str | None:
        """Return why a run may not measure what is wanted, or None when it may."""
        return plan.refusal(want, self._cluster, self._policy)

    def pair(self, want: Want, waiting: Callable[[], None]) -> Measured:
        """Return the stored measurement. Raises MeasurementError where there is none."""
        job = plan.job_of(want, self._cluster, self._policy)
        found = self._measured.get(job.key)
        if found is None:
            self._refuse(job.target, f"a measurement {job.settings.key}", self._instead(job))
        return found

    def alone(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the stored repetitions; a miss that was never confirmed is no verdict."""
        found = self.pair(want, waiting)
        wanted = self._policy.confirm
        if not found.record.company or len(found.alone) >= wanted:
            return found.alone
        others = f"{found.record.company} other{'s' if found.record.company > 1 else ''}"
        raise MeasurementError(
            found.record.target,
            "not_confirmed",
            f"{found.record.tool}: outside a limit beside {others}, expected {wanted} of it made "
            f"alone in {self._run}, found {len(found.alone) or 'none'}: it was not confirmed, "
            "--fabric-resume does that",
        )

    def peers(self, want: Want, waiting: Callable[[], None]) -> tuple[Measurement, ...]:
        """Return the stored measurements of a pair's group, as far as its ports are declared."""
        job = plan.job_of(want, self._cluster, self._policy)
        kind, declared = peers.kind_of(job.pair, self._cluster), set(self._cluster.ports())
        found = []
        for record in (m.record for m in self._measured.values()):
            pair = Pair.parse(record.target)
            is_known = record.key == job.settings.key and {pair.client, pair.server} <= declared
            if is_known and peers.kind_of(pair, self._cluster) == kind:
                found.append(record)
        return tuple(found)

    def past(self, want: Want) -> tuple[Past, ...]:
        """Return what each run of the baseline has of a measurement; empty without a baseline."""
        return self._earlier.of(plan.job_of(want, self._cluster, self._policy).key)

    def port(self, port: Port) -> RdmaPort:
        """Return what a port said about itself. Raises MeasurementError."""
        return facts.find(str(port), self._cluster.rail(port), self.node(port.node))

    def node(self, name: str) -> NodeFacts:
        """Return what a node said about itself. Raises MeasurementError."""
        if name not in self._facts:
            self._refuse(name, "facts", "none: it was not reached, or not asked")
        return self._facts[name]

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node said about a topic. Raises MeasurementError."""
        if (topic, node) not in self._readings:
            self._refuse(node, f"what it says about {topic}", "none: it was not asked")
        return self._readings[topic, node]

    def shell(self, node: str) -> NoReturn:
        """Raise MeasurementError: what a user's command would print is not stored."""
        raise MeasurementError(
            node, "no_network", "expected a shell, found no network in a replay: run it anew"
        )

    def _instead(self, job: Job) -> str:
        """Return what of the same tool on the same target is stored."""
        kind = "pair" if job.group is None else "group"
        records = (m.record for m in self._measured.values())
        alike = [r for r in records if r.target == job.target]
        same = [r.key for r in alike if r.tool == job.settings.tool]
        if same:
            return f"{' and '.join(same[:3])}: it was measured with other settings"
        return "none of that tool" if alike else f"none of that {kind}"

    def _refuse(self, target: str, expected: str, found: str) -> NoReturn:
        raise MeasurementError(
            target,
            "not_measured",
            f"expected {expected} in {self._run}, found {found}; --fabric-resume measures what is "
            "missing",
        )
