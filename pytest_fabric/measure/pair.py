"""One measurement on a pair, from facts to record: whatever happens, the record says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pytest_fabric.errors import MeasurementError, NotRecognisedError
from pytest_fabric.measure import blame, facts, run, storms, window
from pytest_fabric.measure import context as contexts
from pytest_fabric.measure.context import Context, Side, unheld, unwatched
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.frame import After, Frame
from pytest_fabric.measure.pair_window import window_of
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import (
    Bandwidth,
    Latency,
    Measurement,
    Port,
    Traffic,
)
from pytest_fabric.tools import perftest


@dataclass(frozen=True)
class Values:
    """What a run produced."""

    row: Latency | Bandwidth | None = None
    mtu: int | None = None
    traffic: Traffic | None = None
    doubts: tuple[str, ...] = ()


def measure(
    fabric: Fabric,
    job: Job,
    ports: Iterator[int],
    after: After = nullcontext,
    gate: Callable[[], None] = unheld,
) -> Measurement:
    """Return one measurement; what goes wrong is in its `error`, with the evidence so far.

    `after` is entered when the window of a run that went well is over: what is done in it needs
    the ports no longer. `gate` is called before the client starts.
    """
    pair, settings = job.pair, job.settings
    frame = Frame(str(pair), settings)
    values, versions = Values(), dict[str, str]()
    with frame.caught():
        client, server = (side_of(fabric, end, settings) for end in (pair.client, pair.server))
        prefix = fabric.cluster.tools.prefix
        watch = storms.Watch(str(pair), (client, server)) if job.load == "disruptive" else unwatched
        context = Context(pair, settings, client, server, prefix, frame.trail, watch, gate)
        versions.update(_versions(context))
        ran = run.traffic(context, ports)
        with frame.over(after):
            values = _evaluated(fabric, context, ran)
    return replace(
        frame.record(),
        versions=versions,
        latency=values.row if isinstance(values.row, Latency) else None,
        bandwidth=values.row if isinstance(values.row, Bandwidth) else None,
        mtu=values.mtu,
        traffic=values.traffic,
        doubts=values.doubts,
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


def _evaluated(fabric: Fabric, context: Context, ran: blame.Ran) -> Values:
    """Return what the client printed and both ends counted mean. Raises FabricError."""
    row, mtu, seen = read(fabric, context, ran)
    line = fabric.cluster.line_rate_bps(context.pair.client, context.pair.server)
    sides = {str(side.end.port): side.end.rdma.driver for side in (context.client, context.server)}
    rest = (context.settings, context.pair, row, mtu, seen)
    traffic = window.traffic(*rest)
    return Values(
        row=row,
        mtu=mtu,
        traffic=traffic,
        doubts=window.doubts(*rest, traffic, sides, line),
    )


def read(
    fabric: Fabric, context: Context, ran: blame.Ran
) -> tuple[Latency | Bandwidth, int | None, window.Window]:
    """Return the row that the client printed, its MTU, and the window. Raises FabricError."""
    seen = window_of(context, ran)
    context.trail.window = seen if isinstance(seen, window.Window) else None
    parsed = _parsed(context, blame.verdict(context, ran))
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
