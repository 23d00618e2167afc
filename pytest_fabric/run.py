"""One run against one fabric: what its tests ask for, what it keeps, and how it ends."""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pytest

from pytest_fabric import endpoints
from pytest_fabric.declare import Declaration, layer_of
from pytest_fabric.errors import MeasurementError
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.views import NodeResult, PairResult, PortResult
from pytest_fabric.markers import declared
from pytest_fabric.measure.engine import Engine, Want
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.parametrize import TARGET, NoTarget
from pytest_fabric.report import junit, summary
from pytest_fabric.report.planned import Planned
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.results import Measurement, NodeFacts, Pair, Port, Verdict
from pytest_fabric.subjects import MeasurablePair, NodeShell
from pytest_fabric.transport import Pool

ledger_key = pytest.StashKey[Ledger]()
measurement_key = pytest.StashKey[Measurement]()

Target = Pair | Port | str


class FabricRun:
    """Holds what a run has open: the lab if there is one, sessions, engine and run directory."""

    def __init__(self, inventory: Inventory, faults: Sequence[str], out: Path) -> None:
        self.inventory = inventory
        self.cluster = inventory.cluster
        self.planned: list[Planned] = []
        self._verdicts: dict[str, Verdict] = {}
        self._is_closed = False
        self._lab = endpoints.Lab(self.cluster, faults) if self.cluster.transport == "lab" else None
        self.directory = RunDirectory.create(out, datetime.now())
        reached = endpoints.of(self.cluster, self._lab)
        self._pool = Pool(reached, holder(self.directory.path.name), self.directory.audit)
        fabric = Fabric(self.cluster, self._pool, self._keep_facts)
        self.engine = Engine(fabric, self.directory.measurement)

    def plan(self, items: Sequence[pytest.Item]) -> None:
        """Take in the collected items of ours and write the plan."""
        self.planned = [planned(item) for item in items if target_of(item) is not None]
        self.directory.plan([asdict(check) for check in self.planned])

    def prepare(self, items: Sequence[pytest.Item]) -> None:
        """Log in to the nodes that the items need and gather their facts."""
        targets = [target_of(item) for item in items]
        self.engine.prepare(target for target in targets if isinstance(target, Pair | Port | str))

    def close(self) -> None:
        """End what runs on the nodes, close every session, and stop the lab."""
        if self._is_closed:
            return
        self._is_closed = True
        self._pool.close()
        self.directory.close()
        if self._lab is not None:
            self._lab.close()

    def result(self, item: pytest.Item, target: Target) -> PairResult | PortResult | NodeResult:
        """Return the result of what an item declares. Raises MeasurementError, TransportError."""
        declaration = declared(item)
        if declaration is None:
            raise MeasurementError(
                str(target), "declaration", "result: expected a measure marker on the test"
            )
        if isinstance(target, Pair):
            return self._pair(item, target, declaration)
        return self.port(item, target) if isinstance(target, Port) else self._node(item, target)

    def port(self, item: pytest.Item, port: Port) -> PortResult:
        """Return what a port says about itself. Raises MeasurementError, TransportError."""
        available = self.limits(port).require
        return PortResult(str(port), self.engine.port(port), ledger_of(item), available)

    def pair(self, item: pytest.Item, pair: Pair) -> MeasurablePair:
        """Return a pair on which a test can measure on the spot."""
        return MeasurablePair(pair, lambda declaration: self._pair(item, pair, declaration))

    def facts(self, item: pytest.Item, node: str) -> NodeFacts:
        """Return what a node says about itself. Raises MeasurementError, TransportError."""
        ledger_of(item).reads.append("facts")
        return self.engine.node(node)

    def shell(self, item: pytest.Item, node: str) -> NodeShell:
        """Return a shell on a node. Raises TransportError."""
        ledger_of(item).reads.append("shell")
        return NodeShell(self._pool.session(node))

    def limits(self, target: Target) -> Limits:
        """Return the limits of a target."""
        ports = [target.client, target.server] if isinstance(target, Pair) else [target]
        profiles = [
            self.cluster.rail(end).profile
            if isinstance(end, Port)
            else self.cluster.nodes[end].profile
            for end in ports
        ]
        unique = {profile.name: profile for profile in profiles}
        return Limits(str(target), tuple(unique.values()), pytest.skip)

    def keep(self, verdict: Verdict) -> None:
        """Take in the terminal state of a check, and write it down."""
        self._verdicts[verdict.nodeid] = verdict
        self.directory.verdict(verdict)

    def verdict_of(self, nodeid: str) -> Verdict | None:
        """Return the verdict of a check, or None while there is none."""
        return self._verdicts.get(nodeid)

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the terminal states so far, in the order in which they came."""
        return list(self._verdicts.values())

    def write_junit(self, path: Path) -> None:
        """Write JUnit XML with one suite per node and every planned check once. Raises OSError."""
        named = {"cluster": self.cluster.name, "run": self.directory.path.name}
        junit.write(path, self.planned, self.verdicts, named)

    def is_coverage_short(self) -> bool:
        """Return whether fewer of the declared ports were measured than min_coverage asks for."""
        least = self.cluster.min_coverage
        seen = summary.coverage(self._declared(), self.verdicts)
        return least is not None and len(seen.measured) < least * len(self._declared())

    def summary(self) -> list[str]:
        """Return what a reader needs to act, at most 30 lines."""
        run = summary.Run(
            self.planned,
            self.verdicts,
            self._declared(),
            self.cluster.excluded,
            str(self.directory.path),
        )
        return [*self._notes(), *summary.lines(run)]

    def _declared(self) -> list[str]:
        nodes = self.cluster.nodes.items()
        return [f"{name}:{rail}" for name, node in nodes for rail in node.rails]

    def _notes(self) -> list[str]:
        notes = []
        if self.is_coverage_short():
            notes.append(
                f"coverage is below min_coverage {100 * (self.cluster.min_coverage or 0):g}%"
            )
        unused = self._unused_keys()
        if unused:
            notes.append(f"declared, not checked by this version: {', '.join(unused)}")
        return notes

    def _unused_keys(self) -> list[str]:
        """Return the keys of the inventory that nothing judges yet: silence would be a promise."""
        cluster, used = self.cluster, self.cluster.profiles.values()
        roces = [profile.roce for profile in used if profile.roce]
        keys = {
            "waivers": bool(cluster.waivers),
            "fabric": cluster.fabric != type(cluster.fabric)(),
            "firmware": any(profile.firmware for profile in used),
            "roce.trust": any(roce.trust for roce in roces),
            "roce.ecn": any(roce.ecn is not None for roce in roces),
            "roce.cnp": any(roce.cnp for roce in roces),
        }
        return [key for key, is_set in keys.items() if is_set]

    def _pair(self, item: pytest.Item, pair: Pair, declaration: Declaration) -> PairResult:
        record = self.engine.pair(Want(declaration, pair))
        item.stash[measurement_key] = record
        if record.error is not None:
            message = record.error.message.removeprefix(f"{record.target}: ")
            raise MeasurementError(record.target, record.error.kind, message)
        return PairResult(record, ledger_of(item), self.limits(pair).require)

    def _node(self, item: pytest.Item, node: str) -> NodeResult:
        return NodeResult(self.engine.node(node), ledger_of(item))

    def _keep_facts(self, facts: NodeFacts) -> None:
        self.directory.facts(facts.node, asdict(facts))


def ledger_of(item: pytest.Item) -> Ledger:
    """Return the ledger of an item, new when there is none yet."""
    return item.stash.setdefault(ledger_key, Ledger())


def target_of(item: pytest.Item) -> Target | NoTarget | None:
    """Return what an item of ours is run over, or None for an item that is not ours."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(TARGET) if callspec is not None else None


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


def holder(run: str) -> str:
    """Return who holds a lease, for people who find a port in use: run, user and host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a passwd entry
        user = f"uid{os.getuid()}"
    return f"run={run} user={user} host={platform.node()} pid={os.getpid()}"
