"""One measurement on a pair, from facts to record: whatever happens, the record says it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from pytest_fabric.errors import FabricError, MeasurementError, NotRecognisedError
from pytest_fabric.measure import context as contexts
from pytest_fabric.measure import facts, run, storms, window
from pytest_fabric.measure.context import Context, Side, Trail, unwatched
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.pair_window import window_of
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.record import explained, without_value
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import (
    Bandwidth,
    Failure,
    Latency,
    Measurement,
    Port,
    Traffic,
)
from pytest_fabric.tools import perftest

#: Surrounds what is left to do when the ports are free.
Rest = AbstractContextManager[None]


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
        watch = storms.Watch(str(pair), (client, server)) if job.load == "disruptive" else unwatched
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


def _versions(context: Context) -> dict[str, str]:
    sides = {"client": context.client, "server": context.server}
    return {name: side.end.node.perftest or "unknown" for name, side in sides.items()}


def side_of(fabric: Fabric, port: Port, settings: Settings) -> Side:
    """Return an end made ready to run. Raises TransportError, MeasurementError."""
    end = fabric.end(port)
    facts.require(
        port.node, end.node.tools, (settings.tool, "taskset"), fabric.cluster.tools.prefix
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
    line = fabric.cluster.line_rate_bps(context.pair.client, context.pair.server)
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
    line = fabric.cluster.line_rate_bps(context.pair.client, context.pair.server)
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


def _require_plausible(
    context: Context, row: Latency | Bandwidth, line_bps: float | None, directions: int
) -> None:
    if not isinstance(row, Bandwidth) or not line_bps:
        return
    if row.average_bps > window.ABOVE_LINE * line_bps * directions:
        both = "both directions of " if directions == 2 else ""
        raise context.error(
            "implausible",
            f"{row.average_bps / 1e9:.1f} Gb/s is more than {both}the declared line of "
            f"{line_bps / 1e9:g} Gb/s: check link.speed of the profile",
        )
