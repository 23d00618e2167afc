"""What one run needs at hand: both ends made ready, the trail of evidence, and the commands."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from pytest_fabric.errors import MeasurementError, ToolError
from pytest_fabric.measure import placement, window
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession
from pytest_fabric.measure.gpu import gpu_memory
from pytest_fabric.measure.settings import Settings
from pytest_fabric.measure.window import Window
from pytest_fabric.results import Attempt, Gid, Pair
from pytest_fabric.tools import allowed, perftest
from pytest_fabric.transport import Collect, Collecting, Outcome, quoted

#: Beside the traffic itself: start, memory registration, calibration of the clock, exchange.
OVERHEAD_S = 20.0

#: What reading all counters twice may take at most, with the refresh of slow drivers in between.
WINDOW_S = 20.0

#: The section of a job that is the tool itself.
TOOL = "tool"


@dataclass(frozen=True)
class Side:
    """One end of a pair, ready to run: its session, what it is, and where its tool goes.

    `holds` says that its tool takes the lease of the port: one of those that share a port does.
    """

    session: CheckedSession
    end: End
    gid: Gid | None
    core: int | None
    address: str
    holds: bool = True


@dataclass
class Trail:
    """What was tried and seen so far: it becomes part of the record, whatever happens.

    `began` and `ended` are when the client was told to start and when it was over, by `monotonic`.
    """

    attempts: list[Attempt] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    window: Window | None = None
    began: float | None = None
    ended: float | None = None

    def keep(self, end: str, outcome: Outcome) -> None:
        """Keep the text of an end as evidence."""
        self.raw[f"{end}.stdout"] = outcome.stdout
        self.raw[f"{end}.stderr"] = outcome.stderr


def unwatched() -> None:
    """Let a load that disrupts nobody run to its end."""


def unheld() -> None:
    """Let a client start as soon as its server listens."""


@dataclass(frozen=True)
class Context:
    """What the steps of one run share; `watch` is called while the tools are at work, and raises
    MeasurementError when they must be ended. `gate` is called when the server listens; the client
    starts when it returns.
    """

    pair: Pair
    settings: Settings
    client: Side
    server: Side
    prefix: tuple[str, ...]
    trail: Trail
    watch: Callable[[], None] = unwatched
    gate: Callable[[], None] = unheld

    def job(self, end: str, control_port: int) -> Collect:
        """Return what an end does while it holds its port: counters, its tool, counters again.

        Behind the site's prefix (`podman exec perf`) the tool is a process of its own: there its
        core is chosen and its deadline kept inside. Raises MeasurementError.
        """
        deadline = self.settings.expected_s + OVERHEAD_S
        side = self._side(end)
        argv = self.command(end, side, control_port)
        cores = ",".join(map(str, self.cores(side)))
        pin = ("taskset", "-c", cores) if cores else ()
        rdma = side.end.rdma
        bound = (*allowed.BOUND, str(math.ceil(deadline))) if self.prefix else ()
        return Collect(
            {
                **window.before(rdma, side.end.rail.profile.sudo),
                **self.beside("before", side),
                TOOL: (*self.prefix, *bound, *pin, *argv),
                **self.beside("after", side),
                **window.after(rdma, side.end.rail.profile.sudo),
            },
            deadline_s=deadline + WINDOW_S,
            lease=side.end.lease if side.holds else None,
            listen=control_port if end == "server" else None,
        )

    def begin(self, end: str, job: Collect) -> Collecting:
        """Start the job of an end; its command is kept for the report, without its bound."""
        words, cut = job.sections[TOOL], len(self.prefix)
        shown = (*words[:cut], *words[cut + len(allowed.BOUND) + 1 :]) if self.prefix else words
        self.trail.commands[end] = quoted(shown)
        return self._side(end).session.begin(job)

    def _side(self, end: str) -> Side:
        return self.client if end == "client" else self.server

    def cores(self, side: Side) -> tuple[int, ...]:
        """Return the cores that the tool of an end may run on; none where there is no choice."""
        return (side.core,) if side.core is not None else ()

    def beside(self, when: str, side: Side) -> dict[str, tuple[str, ...]]:
        """Return what else an end reads `before` and `after` its tool's run."""
        return {}

    def watched(self, control_port: int) -> AbstractContextManager[None]:
        """Return what surrounds the time in which both tools run."""
        return nullcontext()

    def find_error(self, text: str) -> ToolError | None:
        """Return the error that a tool's text tells, if it tells one."""
        return perftest.find_error(text)

    def command(self, end: str, side: Side, control_port: int) -> tuple[str, ...]:
        """Return the command line of the tool at an end. Raises MeasurementError."""
        settings = self.settings
        try:
            return perftest.command(
                settings.tool,
                device=side.end.rdma.device,
                ib_port=side.end.rdma.number,
                control_port=control_port,
                size=settings.size,
                iterations=settings.iterations,
                duration_s=settings.duration_s,
                qps=settings.qps,
                gid_index=side.gid.index if side.gid else None,
                traffic_class=settings.traffic_class,
                service_level=settings.service_level,
                connection=settings.connection,
                bidirectional=settings.directions == 2,
                peer=self.server.address if end == "client" else None,
                is_ipv6=":" in self.server.address,
                memory=gpu_memory(side.end) if settings.memory else (),
                disable_numa=_binds_itself(side.end.node.perftest),
            )
        except ValueError as error:
            raise self.error("arguments", f"{end} at {side.end.port}: {error}") from None

    def error(self, kind: str, message: str) -> MeasurementError:
        """Return an error about this pair."""
        return MeasurementError(str(self.pair), kind, f"{self.settings.tool}: {message}")


def _binds_itself(version: str | None) -> bool:
    """Return whether perftest moves itself to a NUMA node: the default since 26.01 (6.28)."""
    numbers = (version or "0").split(".")
    return tuple(int(number) for number in numbers if number.isdigit()) >= (6, 28)


def side(session: CheckedSession, end: End, oob: str, management: str) -> Side:
    """Return an end made ready to run. Raises MeasurementError for what facts rule out."""
    name = str(end.port)
    if end.rdma.state != "ACTIVE":
        raise MeasurementError(
            name,
            "port_down",
            f"expected port {end.rdma.device} to be ACTIVE, found {end.rdma.state} "
            f"({end.rdma.physical_state})",
        )
    address = placement.control_address(name, oob, management, end.gid)
    return Side(session, end, end.gid, end.core, address)
