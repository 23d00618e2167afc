"""`--fabric-prove` in a pytest session: the tests that were selected are proven, not run."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from pytest_fabric.active import interrupt
from pytest_fabric.declare import SOAK, rdma_reach
from pytest_fabric.description import now, version
from pytest_fabric.errors import ConfigError
from pytest_fabric.inventory import user_path
from pytest_fabric.markers import declared
from pytest_fabric.metrics import LATENCY_TOOLS, PROBES, TOOLS
from pytest_fabric.parametrize import loaded
from pytest_fabric.prove import catalogue, plan, table
from pytest_fabric.prove.digests import digests
from pytest_fabric.prove.drive import Driver, Shown, Site
from pytest_fabric.prove.judge import Judged
from pytest_fabric.prove.proof import Proof, conclude
from pytest_fabric.prove.shape import model_of
from pytest_fabric.wants import target_of

#: The usual number of senders of an incast; those of more need larger cells.
SENDERS = 2

#: Waves at a time: each is two processes, which wait for one another most of the time.
AT_ONCE = 3


def begin(session: pytest.Session) -> None:
    """Make ready for a proof of what was selected. Raises UsageError."""
    config = session.config
    try:
        cluster = loaded(config).cluster
        faults = catalogue.read(catalogue.sources(config.pluginmanager))
        directory = _directory(user_path(config, config.getoption("--fabric-out")))
    except ConfigError as error:
        raise pytest.UsageError("\n".join(error.lines)) from None
    except OSError as error:
        raise pytest.UsageError(f"--fabric-out: cannot write there: {error}") from None
    driver = Driver(_site(config), model_of(cluster), directory)
    config.pluginmanager.register(Prover(session, faults, driver, directory), "fabric-prover")


class Prover:
    """Registered instead of a run: it runs waves instead of tests, and says what they prove."""

    def __init__(
        self,
        session: pytest.Session,
        faults: Sequence[catalogue.Fault],
        driver: Driver,
        directory: Path,
    ) -> None:
        self._config = session.config
        self._faults = faults
        self._driver = driver
        self._directory = directory
        self._checks = checks_of(session.items)
        self._proof: Proof | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the waves, unless collection has failed."""
        if session.testsfailed:
            return True
        previous = signal.signal(signal.SIGTERM, interrupt)
        try:
            self._proof = self._prove()
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._driver.close()
        return True

    def _prove(self) -> Proof:
        waves = list(plan.waves(self._faults, self._checks, self._driver.layer))
        judged: list[Judged] = []
        troubles: list[str] = []
        told: list[dict[str, object]] = []
        pairs = zip(waves, self._shown(waves), strict=True)
        for number, (wave, (shown, took)) in enumerate(pairs, 1):
            size = f"{len(wave.injections)} faults, {len(wave.checks)} tests, "
            size += f"{len(wave.nodes)} nodes, {took:.0f} s"
            self._say(f"wave {number} of {len(waves)}: {wave.name}, {wave.layer}: {size}")
            told.append({"name": wave.name, "layer": wave.layer, "seconds": round(took, 1)})
            if shown.judged is not None:
                judged.append(shown.judged)
            if shown.trouble is not None:
                troubles.append(shown.trouble)
        whole = is_unrestricted(self._config)
        proof = conclude(self._faults, self._checks, judged, troubles, whole)
        (self._directory / "prove.json").write_text(table.document(proof, told, self._about(proof)))
        (self._directory / "prove.md").write_text(table.markdown(proof))
        return proof

    def _about(self, proof: Proof) -> dict[str, object]:
        """Return of what this is a proof: the files of the tests, as runs know them."""
        tests = [check.id for check in self._checks]
        proven = [check.id for check in self._checks if check.name not in proof.skipped]
        return {
            "version": version(),
            "ended": now(),
            "suites": digests(self._config.rootpath, tests),
            "tests": proven,
        }

    def _shown(self, waves: Sequence[plan.Wave]) -> Iterator[tuple[Shown, float]]:
        """Yield what came of each wave, in order, and how many seconds it took."""

        def shown(number: int, wave: plan.Wave) -> tuple[Shown, float]:
            started = time.monotonic()
            return self._driver.run(number, wave), time.monotonic() - started

        with ThreadPoolExecutor(AT_ONCE) as threads:
            futures = [threads.submit(shown, number, wave) for number, wave in enumerate(waves, 1)]
            try:
                for future in futures:
                    yield future.result()
            finally:
                self._driver.close()  # an interruption: what runs ends, and nothing else begins

    def _say(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(line)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Exit with 0 when nothing is wanting, with 1 otherwise; an interruption keeps its own."""
        if self._proof is not None and not self._proof.is_whole:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Print the table and what is wanting."""
        yield
        if self._proof is None:
            return
        terminalreporter.section("fabric proof")
        width = max(96, min(120, terminalreporter._tw.fullwidth))
        console = Console(file=terminalreporter._tw._file, width=width, highlight=False)
        table.print_table(self._proof, console)
        for line in table.wanting(self._proof):
            terminalreporter.line(line)
        terminalreporter.line(f"proof directory: {self._directory}")


def checks_of(items: Sequence[pytest.Item]) -> list[plan.Check]:
    """Return the functions of the items that are ours, each once, with the faults they declare."""
    found: dict[str, plan.Check] = {}
    for item in items:
        if target_of(item) is None:
            continue
        key = item.nodeid.partition("[")[0]
        faults = [str(name) for mark in item.iter_markers("catches") for name in mark.args]
        check = plan.Check(key, tuple(dict.fromkeys(faults)), group_of(item), _nodes(item))
        found.setdefault(key, check)
    return list(found.values())


def group_of(item: pytest.Item) -> str:
    """Return which kind of traffic an item needs, `facts` for none."""
    declaration = declared(item)
    if declaration is None:
        return "bandwidth" if "pair" in getattr(item, "fixturenames", ()) else "facts"
    if declaration.tool == "incast":
        return "incast" if _nodes(item) == SENDERS + 1 else "wide incast"
    if declaration.tool == SOAK:
        return SOAK
    if declaration.is_group:
        return "bisection" if declaration.tool == "bisection" else "node"
    if declaration.tool == "collective":
        return "collective"
    if declaration.tool == "switch_window":  # switches count what others send
        return "incast" if declaration.congested else "bandwidth"
    if declaration.over == "fabric" and declaration.tool in TOOLS:
        return "across"
    if declaration.over != "pair":
        return "facts"
    if declaration.tool in PROBES or declaration == rdma_reach():
        return "reach"
    return "latency" if declaration.tool in LATENCY_TOOLS else "bandwidth"


def _nodes(item: pytest.Item) -> int:
    """Return how many nodes an item needs at least: an incast a receiver and its senders."""
    declaration = declared(item)
    if declaration is None:
        return 1
    return 1 + (SENDERS if declaration.congested else declaration.senders or 0)


def is_unrestricted(config: pytest.Config) -> bool:
    """Return whether whole folders are to be proven: then every fault must be declared."""
    option = config.option
    if option.keyword or option.markexpr:
        return False
    paths = [user_path(config, word) for word in config.args]
    return all(path.is_dir() for path in paths)


def _site(config: pytest.Config) -> Site:
    load = config.getoption("--fabric-load")
    return Site(
        here=config.invocation_params.dir,
        root=config.rootpath,
        ini=config.inipath,
        plugins=tuple(config.option.plugins),
        overrides=tuple(config.option.override_ini or ()),
        options=("--fabric-load", load) if load else (),
    )


def _directory(out: Path) -> Path:
    """Make the folder of a proof, which nobody else has. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    name = datetime.now().strftime("prove-%Y%m%d-%H%M%S")
    number = 1
    while True:
        path = out / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path
