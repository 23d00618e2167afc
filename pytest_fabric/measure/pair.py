"""One measurement on a pair, from facts to record: whatever happens, the record says it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from pytest_fabric.counters import growth, per_priority, require
from pytest_fabric.errors import (
    CounterError,
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
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.settings import Settings
from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import (
    Bandwidth,
    Failure,
    Growth,
    Latency,
    Measurement,
    Pair,
    Port,
    Snapshot,
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
        client, server = (_side(fabric, end, settings) for end in (pair.client, pair.server))
        prefix = fabric.cluster.tools.prefix
        watch = (
            storms.Watch(str(pair), (client, server)) if job.load == "disruptive" else _unwatched
        )
        context = Context(pair, settings, client, server, prefix, trail, watch)
        versions.update(_versions(context))
        values = _values(fabric, context, ports, over)
    except FabricError as problem:
        error = explained(pair, settings.tool, problem)
    seen = trail.window or window.Window((), {}, 0.0)
    return replace(
        without_value(pair, settings, error),
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


def without_value(pair: Pair, settings: Settings, error: Failure | None) -> Measurement:
    """Return the record of a measurement that has produced nothing yet."""
    return Measurement(
        key=settings.key,
        tool=settings.tool,
        target=str(pair),
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


def explained(pair: Pair, tool: str, problem: BaseException) -> Failure:
    """Return an exception as part of the record of a pair, in one line that begins with it."""
    if isinstance(problem, TransportError):
        return Failure(f"node_{problem.kind}", str(problem))
    if isinstance(problem, MeasurementError):
        about = str(problem) if problem.target != "run" else f"{pair}: {tool}: {problem.told}"
        return Failure(problem.kind, about)
    if not isinstance(problem, FabricError):
        return Failure("internal", f"{pair}: {tool}: internal error: {problem!r}")
    kind = problem.kind if isinstance(problem, ToolError) else "not_recognised"
    return Failure(kind, f"{pair}: {problem}")


def _versions(context: Context) -> dict[str, str]:
    sides = {"client": context.client, "server": context.server}
    return {name: side.end.node.perftest or "unknown" for name, side in sides.items()}


def _side(fabric: Fabric, port: Port, settings: Settings) -> Side:
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
    seen = window_of(context, ran)
    context.trail.window = seen if isinstance(seen, window.Window) else None
    parsed = _parsed(context, run.verdict(context, ran))
    if isinstance(seen, MeasurementError):
        raise seen  # after what the tools told: a node that is lost has no counters either
    row = _row(context, parsed)
    line = _line_bps(fabric, context.pair)
    _require_plausible(context, row, line, context.settings.directions or 1)
    sides = {str(side.end.port): side.end.rdma.driver for side in (context.client, context.server)}
    rest = (context.settings, context.pair, row, parsed.mtu, seen)
    return Values(
        row=row,
        mtu=parsed.mtu,
        traffic=window.traffic(*rest),
        doubts=window.doubts(*rest, sides, line),
    )


def window_of(context: Context, ran: run.Ran) -> window.Window | MeasurementError:
    """Return what grew at both ends while the tools ran, or why that cannot be told."""
    grown: list[Growth] = []
    problems: dict[str, str] = {}
    seconds = 0.0
    sides = ((context.client, ran.client_sections), (context.server, ran.server_sections))
    for side, sections in sides:
        try:
            (first, early), (last, late) = (
                window.moment(which, sections, side.end.port, side.end.rdma)
                for which in ("before", "after")
            )
        except MeasurementError as error:
            return error
        deltas, wrong = growth(first, last)
        grown.extend(deltas)
        problems.update(wrong)
        problems.update(_unknown(last))
        seconds = max(seconds, late - early)
    for side in (context.client, context.server):
        problems.update(_blind(side, grown))
    return window.Window(tuple(grown), problems, seconds)


def _blind(side: Side, grown: list[Growth]) -> dict[str, str]:
    """Return the pause of lossless priorities that an end cannot count: PFC is off there.

    mlx5 has a pause counter of a priority only while PFC is on for it. A driver that counts PFC as
    a whole only has none ever.
    """
    if not per_priority(side.end.rdma.driver, "pause"):
        return {}
    roce = side.end.rail.profile.roce
    name = str(side.end.port)
    pauses = [g for g in grown if g.port == name and g.meaning == "pause"]
    blind = [p for p in (roce.lossless if roce else ()) if all(g.priority != p for g in pauses)]
    if not blind:
        return {}
    shown = ", ".join(str(priority) for priority in blind)
    return {"pause": f"{name}: no pause counter of lossless priority {shown}: is PFC on there?"}


def _unknown(shot: Snapshot) -> dict[str, str]:
    """Return the meanings that no counter of a port can tell: they are errors, not zero growth."""
    missing = {}
    for meaning in MEANINGS:
        try:
            require(shot, meaning)
        except CounterError as error:
            missing[meaning] = str(error)
    return missing


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


def _line_bps(fabric: Fabric, pair: Pair) -> float | None:
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
