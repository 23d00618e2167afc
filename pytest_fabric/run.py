"""One run against one fabric: what it has open, what it keeps, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from pytest_fabric import closing, endpoints, followup
from pytest_fabric.answers import Source
from pytest_fabric.confirming import is_missed
from pytest_fabric.description import holder
from pytest_fabric.errors import MeasurementError, RecordError
from pytest_fabric.history import History
from pytest_fabric.inventory import Inventory
from pytest_fabric.measure.engine import Engine
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.peer_groups import Complete
from pytest_fabric.measure.plan import Policy, Want
from pytest_fabric.measure.reality import Reality
from pytest_fabric.measure.replay import Replay
from pytest_fabric.noted import Noted
from pytest_fabric.report import junit, markdown, papers, summary, told
from pytest_fabric.report.context import Context
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.planned import Planned, terminal, without_verdict
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.report.sections.record import Kept, RunRecord, kept
from pytest_fabric.report.summary import Run as Reported
from pytest_fabric.results import Measurement, NodeFacts, Verdict
from pytest_fabric.selection import Selection
from pytest_fabric.transport import Pool


class FabricRun:
    """Holds what a run has open: the lab if there is one, sessions, engine and run directory."""

    def __init__(
        self,
        inventory: Inventory,
        policy: Policy,
        faults: Sequence[str],
        out: Path,
        history: History,
        sources: Sequence[Path] = (),
        is_followed_up: bool = False,
    ) -> None:
        self.inventory = inventory
        self.cluster = inventory.cluster
        self.planned: list[Planned] = []
        self._verdicts: dict[str, Verdict] = {}
        self._is_closed = False
        self._noted = Noted(inventory.cluster)
        self._context: Context | None = None
        self._about = history.about
        self._has_papers = False
        self._result: Reported | None = None
        self._kept: Kept | None = None
        self._is_followed_up = is_followed_up
        self._wants: tuple[Want, ...] = ()
        self._asked: list[followup.Asked] | None = None  # while nothing was followed up
        self._history = history
        self._earlier = history.earlier
        stored = history.replayed
        has_lab = self.cluster.transport == "lab" and stored is None
        self._lab = endpoints.Lab(self.cluster, faults, sources) if has_lab else None
        self.directory = RunDirectory.create(out, datetime.now(), history.begin)
        reached = endpoints.of(self.cluster, self._lab) if stored is None else {}
        self._pool = Pool(reached, holder(self.directory.path.name), self.directory.audit)
        fabric = Fabric(self.cluster, self._pool, self._keep_facts, self.directory.reading)
        self.engine = Engine(fabric, policy, self._keep_measurement, self._misses)
        windows = None if history.resumed is None else history.resumed.readings
        self.source: Source = Reality(self.engine, fabric, self._earlier, windows)
        if stored is not None:
            name = str(stored.path)
            for facts in stored.facts.values():
                self._noted.facts(facts)
            measured = list(stored.measured)
            for one in measured:
                self._noted.growth.add(one.record)
            known = (measured, stored.facts, stored.readings)
            self.source = Replay(self.cluster, policy, name, *known, self._earlier)

    @property
    def name(self) -> str:
        """Return the name of the cluster."""
        return self.cluster.name

    def plan(self, selection: Selection) -> None:
        """Take in what was selected and write the plan."""
        self.planned = list(selection.planned)
        self._wants = selection.wants
        self.directory.plan([asdict(check) for check in self.planned])

    def start(self, selection: Selection) -> None:
        """Log in to the nodes that the selection needs, and begin to measure what it wants."""
        if self._history.replayed is None:
            self.engine.start(selection.wants, selection.others, self._history.known)

    def follow_up(self) -> None:
        """Measure the pairs that tell suspects apart, where that was asked for."""
        if not self._is_followed_up:
            return
        follow = followup.FollowUp(self.cluster, self._wants, self._measured_now)
        self._asked = follow.run(self.verdicts, self._known())
        for asked in self._asked:
            with suppress(RecordError):
                self.directory.followup(asked)

    def _measured_now(self, want: Want) -> Measurement:
        """Return a measurement made now. Raises FabricError, LookupError where it may not be."""
        refusal = self.source.refusal(want)
        if refusal is not None:
            raise LookupError(refusal)
        record = self.source.pair(want, lambda: None).record
        if record.error is not None:
            raise MeasurementError(record.target, record.error.kind, record.error.message)
        return record

    def close(self) -> None:
        """End what runs on the nodes, close every session, and stop the lab."""
        if self._is_closed:
            return
        self._is_closed = True
        self.engine.stop()
        self._pool.close()
        self.engine.join()
        self.directory.close()
        if self._lab is not None:
            self._lab.close()

    def ended(self, status: int) -> None:
        """Write down that the run has come to its end, and how."""
        self._about = self._history.ended(status)
        with suppress(RecordError):  # a full disk: the record shows a run that did not end
            self.directory.context(self._told())
            self.directory.about(self._about)

    def write_papers(self) -> None:
        """Write tickets and the pages to sign into the directory. Raises OSError."""
        papers.write(self.record(), self.directory.path)
        self._has_papers, self._result = True, None

    def keep(self, verdict: Verdict) -> None:
        """Take in the terminal state of a check, and write it down."""
        self._verdicts[verdict.nodeid] = verdict
        self._context = self._result = None
        with suppress(RecordError):  # told at the end: such a run is not whole
            self.directory.verdict(verdict)

    @property
    def is_whole(self) -> bool:
        """Return whether every planned check has its verdict, and all of it was written."""
        ended = terminal(self.planned, self.verdicts)
        return not self.directory.lost and all(one.outcome != "not run" for _, one in ended)

    def lost(self, nodeid: str, message: str) -> bool:
        """Make a check an error that can have no verdict; False when it is not ours or has one."""
        check = next((check for check in self.planned if check.nodeid == nodeid), None)
        if check is None or nodeid in self._verdicts:
            return False
        self.keep(without_verdict(check, "error", f"{check.target}: {message}"))
        return True

    def verdict_of(self, nodeid: str) -> Verdict | None:
        """Return the verdict of a check, or None while there is none."""
        return self._verdicts.get(nodeid)

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the terminal states so far, in the order in which they came."""
        return list(self._verdicts.values())

    def write_junit(self, path: Path, group: str) -> None:
        """Write JUnit XML with every planned check once, a suite per node or layer.

        Raises OSError.
        """
        named = {"cluster": self.cluster.name, "run": self.directory.path.name}
        junit.write(path, self.planned, self.verdicts, named, group)

    def append_markdown(self, path: Path) -> None:
        """Add the summary to a Markdown file of CI. Raises OSError."""
        markdown.append(path, self._reported(), self.cluster.name)

    def is_coverage_short(self) -> bool:
        """Return whether fewer of the declared ports were measured than min_coverage asks for."""
        return self._told().is_coverage_short

    def summary(self) -> list[str]:
        """Return what a reader needs to act, at most 30 lines."""
        said = self._told()
        notes = [*self.directory.lost, *said.notes, *said.baseline]
        return summary.lines(self._reported(), notes)

    def record(self) -> RunRecord:
        """Return the whole run as its report shows it."""
        path = self.directory.path
        if self._kept is None or not self._is_closed:
            self._kept = kept("report", path)
        return told.record_of(self._reported(), self._about, self._told(), path, self._kept)

    def _reported(self) -> Reported:
        """Return what reports are made of; once the run is closed it is the same for all."""
        if self._result is None or not self._is_closed:
            path, said = self.directory.path, self._told()
            known = (self.planned, self.verdicts, said, path, self._has_papers)
            self._result = told.run_of(self._about, *known)
        return self._result

    def _told(self) -> Context:
        """Return what is to be said of the run as a whole; it is the same once it is closed."""
        if self._context is None or not self._is_closed:
            self._context = closing.context_of(
                self.inventory,
                self._history,
                self._noted,
                self.verdicts,
                self.engine.taken_over,
                self._asked,
                self.directory.path,
            )
            if self._is_followed_up and self._asked is None:
                self._context = replace(self._context, followed=followup.NOT_DONE)
        return self._context

    def _known(self) -> Known:
        leaves = {str(port): leaf for port, leaf in self.inventory.leaves.items()}
        return Known(self._noted.growth.all(), leaves, dict(self._noted.odd))

    def _misses(self, record: Measurement, peers: Complete | None = None) -> bool:
        past = self._earlier.of(f"{record.target} {record.key}")
        return is_missed(self.cluster, record, past, peers)

    def _keep_measurement(self, record: Measurement) -> None:
        try:
            self.directory.measurement(record)
        except RecordError:
            if record.error is None:  # what is not recorded was not measured
                raise
        self._noted.growth.add(record)

    def _keep_facts(self, facts: NodeFacts) -> None:
        self.directory.facts(facts.node, asdict(facts))
        self._noted.facts(facts)
