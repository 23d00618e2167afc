"""The controller of pytest-xdist: one run for all workers, which ask it for what tests need."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fabric import rpc

if TYPE_CHECKING:
    from xdist.remote import Producer  # type: ignore[import-untyped]
    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

    from pytest_fabric.answers import Source
    from pytest_fabric.run import FabricRun
    from pytest_fabric.selection import Collected


class Workers:
    """Registered in a session with workers; idle until one of them has collected tests of ours."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        self._lines: dict[WorkerController, rpc.Line] = {}
        self._run: FabricRun | None = None
        self._groups: tuple[str | None, ...] | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End everything after the last test."""
        previous = signal.getsignal(signal.SIGTERM)
        try:
            result = yield
            if self._run is not None:
                self._run.follow_up()
            return result
        finally:
            self._stop()
            if self._run is not None:
                self._run.close()
                signal.signal(signal.SIGTERM, previous)

    def pytest_configure_node(self, node: WorkerController) -> None:
        """Give a worker a channel on which it can ask."""
        channel = node.gateway.newchannel()
        node.workerinput[rpc.CHANNEL] = channel
        self._lines[node] = rpc.Line(channel)

    @pytest.hookimpl(tryfirst=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController) -> None:
        """Begin the run with the first worker that has tests of ours, and serve each of them."""
        line = self._lines[node]
        data = line.waiting()  # it was sent before the event that calls this
        if data is None:
            return
        if self._run is None:
            self._begin(rpc.loads(data))
        assert self._run is not None
        questions = _questions(self._run.source, line)
        threading.Thread(
            target=rpc.serve, args=(line, questions), name="fabric worker", daemon=True
        ).start()

    def _begin(self, collected: Collected) -> None:
        if collected.problems:
            raise pytest.UsageError("\n".join(collected.problems))
        if self._config.option.dist == "each":
            raise pytest.UsageError(
                "--dist=each: expected each test to run once, since each has one verdict: choose "
                "--dist=load"
            )
        activate = importlib.import_module("pytest_fabric.activate")
        run: FabricRun = activate.begin(self._session, collected.selection)
        self._run = run
        self._groups = collected.groups
        signal.signal(signal.SIGTERM, importlib.import_module("pytest_fabric.active").interrupt)
        run.start(collected.selection)

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> object | None:
        """Deal tests by their measurements, unless the user has chosen another way."""
        if config.option.dist != "load" or config.option.maxschedchunk is not None:
            return None
        distribution = importlib.import_module("pytest_fabric.distribution")
        scheduler: object = distribution.PlanScheduling(config, log, lambda: self._groups)
        return scheduler

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the verdict that a report brings, and let workers stop where xdist will."""
        data: dict[str, Any] | None = report.__dict__.pop("fabric_verdict", None)
        if data is not None and self._run is not None:
            results = importlib.import_module("pytest_fabric.results")
            self._run.keep(results.Verdict(**data))
        dsession: Any = self._config.pluginmanager.getplugin("dsession")
        if report.failed and dsession.maxfail and dsession.countfailures + 1 >= dsession.maxfail:
            self._stop()

    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make a crash of a worker an error of the test that it was running."""
        place, _, name = crashitem.partition("::")
        told = "expected the test to end, found that its worker crashed while running it"
        if self._run is not None and self._run.lost(crashitem, told):
            report.when = "teardown"  # of an unknown phase it would be in no HTML report
            report.location = (place, None, name)

    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Forget a worker."""
        self._lines.pop(node, None)

    def _stop(self) -> None:
        """Let every worker start no other test, and answer those who wait for a measurement."""
        if self._run is None:
            return
        for line in self._lines.values():
            line.stop()
        self._run.engine.stop()


def _questions(source: Source, line: rpc.Line) -> Mapping[str, Callable[..., object]]:
    """Return what a worker may ask: the methods of a source, and a command of a shell."""

    def waiting() -> None:
        if line.has_ended:
            raise EOFError("the worker is gone")

    def reach(node: str) -> None:
        source.shell(node)

    return {
        "refusal": source.refusal,
        "pair": lambda want: source.pair(want, waiting),
        "alone": lambda want: source.alone(want, waiting),
        "peers": lambda want: source.peers(want, waiting),
        "past": source.past,
        "port": source.port,
        "node": source.node,
        "reading": source.reading,
        "reach": reach,
        "shell": lambda node, command, limit: source.shell(node).shell(command, limit),
    }
