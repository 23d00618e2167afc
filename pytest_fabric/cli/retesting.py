"""Runs the suites on the ports of a ticket alone."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fabric import config as configuration
from pytest_fabric.config import Cluster
from pytest_fabric.errors import ConfigError
from pytest_fabric.report import atomic, finished, records, retested
from pytest_fabric.report.about import Retest
from pytest_fabric.report.finished import Finished
from pytest_fabric.report.places import is_pair, nodes_of, ports_of
from pytest_fabric.report.retested import CHANGED, MENDED, NOT_TOLD, STILL_BAD, Retested
from pytest_fabric.report.tickets import files
from pytest_fabric.report.tickets.parts import OF_PORTS
from pytest_fabric.report.tickets.record import Ticket
from pytest_fabric.results import Pair, Port

#: Exit statuses by the word.
STATUSES = {MENDED: 0, STILL_BAD: 1, CHANGED: 3, NOT_TOLD: 10}

#: Layers that are always measured again; others where the ticket has a check of them.
LAYERS = frozenset({"wiring", "link", "switch", "host", "firmware", "qos", "reach", "pair"})

#: So many failed pairs, and so many ports, are measured again at most.
PAIRS, PORTS = 12, 16

#: So many lines are shown of what pytest said where it measured nothing.
SHOWN = 5


@dataclass(frozen=True)
class Wanted:
    """A ticket with what is to be measured of it."""

    ticket: Ticket
    earlier: Finished
    cluster: Cluster
    suites: Path
    out: Path
    faults: tuple[str, ...]
    ports: tuple[Port, ...]
    pairs: tuple[Pair, ...]

    @property
    def controls(self) -> tuple[str, ...]:
        """Return the sound ports that are measured beside it."""
        known = set(map(str, self.ports))
        return tuple(one.port for one in self.ticket.controls if one.port in known)

    @property
    def announcement(self) -> str:
        """Return what is measured, in one line."""
        controls = set(self.controls)
        own = [str(port) for port in self.ports if str(port) not in controls]
        beside = f"; controls: {', '.join(self.controls)}" if controls else "; no controls"
        pairs = f"{len(self.pairs)} pair{'' if len(self.pairs) == 1 else 's'}"
        return f"measuring {', '.join(own)} again, {pairs}{beside}"


def wanted(
    name: str,
    run: Path,
    cluster: Path | None,
    suites: Path,
    out: Path | None,
    faults: tuple[str, ...],
) -> Wanted:
    """Return what a ticket needs measured. Raises ConfigError."""
    earlier = finished.read("--run", run)
    ticket = _ticket(name, earlier.path)
    if not suites.exists():
        raise ConfigError(
            f"--suites: expected the tests at {suites}, found none: run it where the run was made"
        )
    found = configuration.load(cluster or Path(earlier.about.inventory))
    if faults and found.transport != "lab":
        raise ConfigError(
            f"--fault: expected transport lab in {found.source.name}, got {found.transport}: only "
            "the lab can be broken"
        )
    if found.name != earlier.about.cluster:
        raise ConfigError(
            f"--run: expected a run on cluster {found.name}, found {earlier.about.cluster!r}: "
            "give its inventory with --cluster"
        )
    ports, pairs = _scope(ticket, found)
    folder = out or earlier.path.parent
    return Wanted(ticket, earlier, found, suites, folder, faults, ports, pairs)


def last_with(name: str, folder: Path) -> Path:
    """Return the last run of a folder that has a ticket; the last of all where none has it.

    A retest is a run too, and the last one: it has no ticket of what else was wrong before.
    """
    for path in sorted(folder.glob("[0-9]*"), reverse=True):
        with suppress(ConfigError):  # one without tickets, or what is no run
            if _named(name, files.read(path).tickets):
                return path
    return folder / "latest"


def _named(name: str, tickets: Sequence[Ticket]) -> list[Ticket]:
    """Return the tickets of a name, or else of a place."""
    by_name = [one for one in tickets if one.id == name]
    return by_name or [one for one in tickets if one.place == name]


def _ticket(name: str, directory: Path) -> Ticket:
    tickets = files.read(directory).tickets
    found = _named(name, tickets)
    if len(found) == 1:
        return found[0]
    names = ", ".join(one.id for one in (found or tickets)[:8]) or "none: nothing failed there"
    problem = f"several of {name}" if found else repr(name[:80])
    raise ConfigError(f"retest: expected a ticket of {directory.name}, got {problem}: {names}")


def _scope(ticket: Ticket, cluster: Cluster) -> tuple[tuple[Port, ...], tuple[Pair, ...]]:
    """Return the ports and pairs to measure. Raises ConfigError where the inventory lacks them."""
    known = {str(port): port for port in cluster.ports()}
    failed = retested.required(ticket)
    pairs = list(dict.fromkeys(one.target for one in failed if is_pair(one.target)))[:PAIRS]
    own = [ticket.place] if ticket.kind in OF_PORTS else []
    own += [end for pair in pairs for end in ports_of(pair)]
    own += [one.target for one in failed if one.target in known]
    if ticket.kind == "node":
        own += [name for name in known if nodes_of(name)[0] == ticket.place]
    own = list(dict.fromkeys(own))[:PORTS]
    lost = [name for name in own if name not in known]
    if lost or not own:
        raise ConfigError(
            f"retest: expected ports of {cluster.source.name} in {ticket.id}, found "
            f"{', '.join(lost[:3]) or 'none'}: run the suites instead, pytest suites/"
        )
    controls = [one.port for one in ticket.controls if one.port in known]
    if ticket.kind in OF_PORTS:
        pairs += [f"{a}..{b}" for c in controls for a, b in ((ticket.place, c), (c, ticket.place))]
    ports = dict.fromkeys((*own, *controls))
    chosen = [Pair.parse(pair) for pair in dict.fromkeys(pairs)]
    return tuple(known[name] for name in ports), tuple(
        pair for pair in chosen if str(pair.client) in ports and str(pair.server) in ports
    )


class Narrowed:
    """Narrows a session of pytest to the ports and pairs of a ticket."""

    def __init__(self, found: Wanted) -> None:
        self._found = found
        self._layers = LAYERS | {one.layer for one in found.ticket.failed}
        self.directory: Path | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Put the narrowed inventory where the plugin looks for it."""
        # These must not be loaded before suites are: see `collecting`.
        from pytest_fabric.inventory import Inventory
        from pytest_fabric.pairs import order
        from pytest_fabric.parametrize import inventory_key, retest_key

        found, ticket = self._found, self._found.ticket
        pairs = tuple(order(found.pairs, found.cluster.pairs.seed))
        config.stash[inventory_key] = Inventory(found.cluster, found.ports, pairs, "retest")
        tried = {ticket.id: (*ticket.tried, ticket.action.step)}
        config.stash[retest_key] = Retest(ticket.id, found.earlier.path.name, tried)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what loads more than the ports of the ticket."""
        kept = [item for item in items if self._is_wanted(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def _is_wanted(self, item: pytest.Item) -> bool:
        from pytest_fabric.declare import FABRIC
        from pytest_fabric.wants import planned, target_of

        target = target_of(item)
        is_known = isinstance(target, (Port, Pair, str)) and target != FABRIC
        return is_known and planned(item).layer in self._layers

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Remember where the run is kept."""
        active = session.config.pluginmanager.get_plugin("fabric-active")
        self.directory = None if active is None else active.directory


def measured(found: Wanted) -> tuple[Retested, Path]:
    """Measure, and return what it comes to with the directory of the new run.

    Raises ConfigError where nothing could be measured.
    """
    narrowed = Narrowed(found)
    said, problems = io.StringIO(), io.StringIO()
    options = os.environ.pop("PYTEST_ADDOPTS", None)  # those of the user's own runs
    try:
        with redirect_stdout(said), redirect_stderr(problems):
            status = pytest.main(_words(found), plugins=[narrowed])
    finally:
        if options is not None:
            os.environ["PYTEST_ADDOPTS"] = options
    if narrowed.directory is None or status == pytest.ExitCode.INTERRUPTED:
        raise ConfigError(*_why(found, status, problems.getvalue(), said.getvalue()))
    from pytest_fabric.cli.rendering import Shown

    record = Shown(finished.read("retest", narrowed.directory)).record()
    name = found.earlier.path.name
    before = retested.measured(found.earlier.verdicts)
    result = retested.retested(found.ticket, name, record, found.controls, before)
    try:
        atomic.write(narrowed.directory / retested.FILE, records.dumps(result, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(f"retest: cannot write {retested.FILE}: {error.strerror}") from None
    return result, narrowed.directory


def _why(found: Wanted, status: int, problems: str, said: str) -> list[str]:
    """Return in lines why nothing was measured."""
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        return [f"retest: expected tests in {found.suites}, found none of the ticket's layers"]
    told = [line.removeprefix("ERROR: ") for line in problems.splitlines() if line.strip()]
    errors = [line for line in said.splitlines() if line.startswith(("E ", "ERROR", "INTERNAL"))]
    return (told or errors)[-SHOWN:] or [f"retest: pytest ended with exit status {int(status)}"]


def _words(found: Wanted) -> list[str]:
    load = found.earlier.about.options.load
    return [
        *("-q", "--no-header", "--tb=no", "-o", "addopts="),
        *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:warnings"),
        *("--fabric-cluster", str(found.cluster.source.resolve())),
        *("--fabric-out", str(found.out.resolve())),
        *("--fabric-load", load if load == "light" else "full"),
        *(word for fault in found.faults for word in ("--fabric-fault", fault)),
        str(found.suites),
    ]
