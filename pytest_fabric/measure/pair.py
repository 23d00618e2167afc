"""One measurement on a pair, from facts to record: whatever happens, the record says it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from pytest_fabric.errors import (
    FabricError,
    MeasurementError,
    NotRecognisedError,
    ToolError,
    TransportError,
)
from pytest_fabric.measure import context as contexts
from pytest_fabric.measure import facts, run, storms, window
from pytest_fabric.measure.context import Context, Side, Trail
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.pair_window import window_of as window_of
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import (
    Bandwidth,
    Failure,
    Latency,
    Measurement,
    Pair,
    Port,
    Traffic,
)
from pytest_fabric.tools import perftest

#: Surrounds what is left to do when the ports are free.
Rest = AbstractContextManager[None]

#: The tool's own bandwidth may exceed the line by the jitter of its clock, and no more.
ABOVE_LINE = 1.02


@dataclass(frozen=True)
class Values:
    """What a run produced."""

    row: Latency | Bandwidth | None = None
    mtu: int | None = None
    traffic: Traffic | None = None
    doubts: tuple[str, ...] = ()


def measure(
    fabric: Fabric, job: Job, ports: Iterator[int], after: Callable[[], Rest] = nullcontext
) -> Measurement:
    """Return one measurement; what goes wrong is in its `error`, with the evidence so far.

    `after` is entered when the window of a run that went well is over: what is done in it needs
    the ports no longer.
    """
    pair, settings = job.pair, job.settings
    started, clock = time.time(), time.monotonic()
    ended: float | None = None

    def over() -> Rest:
        nonlocal ended
        ended = time.monotonic()
        return after()

    trail = Trail()
    values, versions = Values(), dict[str, str]()
    error: Failure | None = None
    try:
        client, server = (side_of(fabric, end, settings) for end in (pair.client, pair.server))
        prefix = fabric.cluster.tools.prefix
        watch = (
            storms.Watch(str(pair), (client, server)) if job.load == "disruptive" else _unwatched
        )
        context = Context(pair, settings, client, server, prefix, trail, watch)
        versions.update(_versions(context))
        values = _values(fabric, context, ports, over)
    except FabricError as problem:
        error = explained(str(pair), settings.tool, problem)
    seen = trail.window or window.Window((), {}, 0.0)
    return replace(
        without_value(str(pair), settings, error),
        commands=trail.commands,
        versions=versions,
        attempts=tuple(trail.attempts),
        latency=values.row if isinstance(values.row, Latency) else None,
        bandwidth=values.row if isinstance(values.row, Bandwidth) else None,
        mtu=values.mtu,
        growth=seen.growth,
        counter_errors=seen.problems,
        traffic=values.traffic,
        doubts=values.doubts,
        raw=trail.raw,
        started=started,
        duration=(ended or time.monotonic()) - clock,
    )


def _unwatched() -> None:
    """Let a load that disrupts nobody run to its end."""


def failed(job: Job, problem: BaseException) -> Measurement:
    """Return the record of a job that could not be made."""
    failure = explained(job.target, job.settings.tool, problem)
    return without_value(job.target, job.settings, failure)


def without_value(target: str, settings: Settings, error: Failure | None) -> Measurement:
    """Return the record of a measurement that has produced nothing yet."""
    return Measurement(
        key=settings.key,
        tool=settings.tool,
        target=target,
        commands={},
        versions={},
        attempts=(),
        settings=vars(settings),
        latency=None,
        bandwidth=None,
        mtu=None,
        growth=(),
        counter_errors={},
        traffic=None,
        doubts=(),
        beside=(),
        company=0,
        alone=False,
        raw={},
        error=error,
        started=time.time(),
        duration=0.0,
    )


def explained(target: str, tool: str, problem: BaseException) -> Failure:
    """Return an exception as part of the record of a target, in one line that begins with it."""
    if isinstance(problem, TransportError):
        return Failure(f"node_{problem.kind}", str(problem))
    if isinstance(problem, MeasurementError):
        about = str(problem) if problem.target != "run" else f"{target}: {tool}: {problem.told}"
        return Failure(problem.kind, about)
    if not isinstance(problem, FabricError):
        return Failure("internal", f"{target}: {tool}: internal error: {problem!r}")
    kind = problem.kind if isinstance(problem, ToolError) else "not_recognised"
    return Failure(kind, f"{target}: {problem}")


def _versions(context: Context) -> dict[str, str]:
    sides = {"client": context.client, "server": context.server}
    return {name: side.end.node.perftest or "unknown" for name, side in sides.items()}


def side_of(fabric: Fabric, port: Port, settings: Settings) -> Side:
    """Return an end made ready to run. Raises TransportError, MeasurementError."""
    end = fabric.end(port)
    for program in (settings.tool, "taskset"):
        if program not in end.node.tools and not fabric.cluster.tools.prefix:
            package = facts.PROGRAMS[program]
            raise MeasurementError(
                port.node,
                "tool_missing",
                f"expected {program} on the node, found none: install package {package}, or set "
                "tools.path",
            )
    node = fabric.cluster.nodes[port.node]
    return contexts.side(fabric.session(port.node), end, node.oob, node.address)


def _values(
    fabric: Fabric, context: Context, ports: Iterator[int], over: Callable[[], Rest]
) -> Values:
    ran = run.traffic(context, ports)
    with over():
        return _evaluated(fabric, context, ran)


def _evaluated(fabric: Fabric, context: Context, ran: run.Ran) -> Values:
    """Return what the client printed and both ends counted mean. Raises FabricError."""
    row, mtu, seen = read(fabric, context, ran)
    line = line_bps(fabric, context.pair)
    sides = {str(side.end.port): side.end.rdma.driver for side in (context.client, context.server)}
    rest = (context.settings, context.pair, row, mtu, seen)
    return Values(
        row=row,
        mtu=mtu,
        traffic=window.traffic(*rest),
        doubts=window.doubts(*rest, sides, line),
    )


def read(
    fabric: Fabric, context: Context, ran: run.Ran
) -> tuple[Latency | Bandwidth, int | None, window.Window]:
    """Return the row that the client printed, its MTU, and the window. Raises FabricError."""
    seen = window_of(context, ran)
    context.trail.window = seen if isinstance(seen, window.Window) else None
    parsed = _parsed(context, run.verdict(context, ran))
    if isinstance(seen, MeasurementError):
        raise seen  # after what the tools told: a node that is lost has no counters either
    row = _row(context, parsed)
    line = line_bps(fabric, context.pair)
    _require_plausible(context, row, line, context.settings.directions or 1)
    return row, parsed.mtu, seen


def _parsed(context: Context, told: str) -> perftest.Run:
    """Return what the client told. Raises NotRecognisedError, which names the client."""
    try:
        return perftest.parse(told)
    except NotRecognisedError as error:
        raise NotRecognisedError(f"client at {context.pair.client}: {error}") from None


def _row(context: Context, parsed: perftest.Run) -> Latency | Bandwidth:
    """Return the one row that was asked for. Raises NotRecognisedError for anything else."""
    rows: tuple[Latency | Bandwidth, ...] = (*parsed.latency, *parsed.bandwidth)
    asked = context.settings
    if len(rows) != 1 or rows[0].bytes != asked.size:
        sizes = ", ".join(f"{row.bytes} B" for row in rows) or "none"
        raise NotRecognisedError(f"expected one row of {asked.size} B, found {sizes}")
    row = rows[0]
    if asked.iterations is not None and row.iterations != asked.iterations:
        raise NotRecognisedError(f"expected {asked.iterations} iterations, found {row.iterations}")
    return row


def line_bps(fabric: Fabric, pair: Pair) -> float | None:
    """Return the slower declared speed of both ends, or None where a profile declares none."""
    links = [fabric.cluster.rail(port).profile.link for port in (pair.client, pair.server)]
    speeds = [link.speed.number for link in links if link.speed is not None]
    return min(speeds) if len(speeds) == len(links) else None


def _require_plausible(
    context: Context, row: Latency | Bandwidth, line_bps: float | None, directions: int
) -> None:
    if not isinstance(row, Bandwidth) or not line_bps:
        return
    if row.average_bps > ABOVE_LINE * line_bps * directions:
        both = "both directions of " if directions == 2 else ""
        raise context.error(
            "implausible",
            f"{row.average_bps / 1e9:.1f} Gb/s is more than {both}the declared line of "
            f"{line_bps / 1e9:g} Gb/s: check link.speed of the profile",
        )
