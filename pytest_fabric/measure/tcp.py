"""Streams of TCP between the ends of a pair: iperf3 at both, bound to the addresses of the rails.

The server serves one client and ends, as perftest's does: the same readiness, ports, leases and
windows (`measure/run`). What RDMA's counters cannot show, the netdevs' own do: both must have
moved what arrived, or it went by another way. Each stream gets a core near the NIC where there are
enough: iperf3 has a thread for each from 3.16 on, and one for all before.

Meanwhile the client's node is asked three times what its kernel knows of the streams (`ss`): which
window holds them up. That is an explanation and no value: a node without `ss` has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from pytest_fabric.errors import MeasurementError, ToolError, TransportError
from pytest_fabric.measure import blame, facts, placement, run, streams, window
from pytest_fabric.measure import context as contexts
from pytest_fabric.measure.context import Context, Side, unheld
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.frame import After, Frame
from pytest_fabric.measure.pair_window import window_of
from pytest_fabric.measure.plan import Job
from pytest_fabric.results import Measurement, Port, Tcp, Traffic
from pytest_fabric.tools import iperf3, ss
from pytest_fabric.transport import Collect, Glob

#: How often the kernel is asked while the streams run, and the longest wait between, in seconds.
LOOKS, LONGEST_S = 3, 9.0

#: The name of what `ss` said among the raw texts.
SOCKETS = "client.sockets"


@dataclass(frozen=True)
class Values:
    """What a run produced."""

    tcp: Tcp | None = None
    traffic: Traffic | None = None
    doubts: tuple[str, ...] = ()
    versions: Mapping[str, str] | None = None


@dataclass(frozen=True)
class TcpContext(Context):
    """The context of a run of iperf3."""

    def cores(self, side: Side) -> tuple[int, ...]:
        """Return a core for each stream, as far as the node has them."""
        end = side.end
        return placement.choose_cores(end.node, end.rdma, end.turn, self.settings.streams or 1)

    def beside(self, when: str, side: Side) -> dict[str, tuple[str, ...]]:
        """Return what reads the bytes that the kernel moved."""
        paths = [f"/sys/class/net/{name}/statistics/*_bytes" for name in side.end.rdma.netdevs]
        return {f"{when}-netdevs": ("grep", "-sH", ".", *map(Glob, paths))}

    def find_error(self, text: str) -> ToolError | None:
        """Return the error that iperf3 tells: in its JSON, or in a line."""
        return iperf3.find_error(text)

    def command(self, end: str, side: Side, control_port: int) -> tuple[str, ...]:
        """Return the command line of iperf3 at an end. Raises MeasurementError."""
        asked = self.settings
        try:
            if end == "server":
                return iperf3.server_command(side.address, control_port)
            seconds, count = asked.duration_s or 1, asked.streams or 1
            to = self.server.address
            return iperf3.command(to, seconds, count, control_port, source=side.address)
        except ValueError as error:
            raise self.error("arguments", f"{end} at {side.end.port}: {error}") from None

    @contextmanager
    def watched(self, control_port: int) -> Iterator[None]:
        """Ask the sending kernel what holds the streams up, as long as both ends run."""
        looking = None
        if "ss" in self.client.end.node.tools:
            looking = self.client.session.begin(self._looks(control_port))
        try:
            yield
        finally:
            if looking is not None:
                looking.cancel()
                with suppress(TransportError):  # the client's own job tells that
                    said = looking.wait()
                    texts = [out.stdout for name, out in said.items() if name.startswith("ss")]
                    self.trail.raw[SOCKETS] = "\f".join(texts)

    def _looks(self, control_port: int) -> Collect:
        seconds = float(self.settings.duration_s or 1)
        step = min(LONGEST_S, seconds / (LOOKS + 1))
        sections: dict[str, tuple[str, ...]] = {}
        for look in range(LOOKS):
            sections[f"wait{look}"] = ("sleep", f"{step:.3g}")
            sections[f"ss{look}"] = ss.command(self.server.address, control_port)
        return Collect(sections, deadline_s=LOOKS * step + contexts.OVERHEAD_S)


def measure(
    fabric: Fabric,
    job: Job,
    ports: Iterator[int],
    after: After = nullcontext,
    gate: Callable[[], None] = unheld,
) -> Measurement:
    """Return one measurement; what goes wrong is in its `error`, with the evidence so far.

    `after` is entered when the window is over: what is done in it needs the ports no longer. `gate`
    is called before the client starts.
    """
    pair, settings = job.pair, job.settings
    frame, values = Frame(str(pair), settings), Values()
    with frame.caught():
        client, server = (_side(fabric, end) for end in (pair.client, pair.server))
        prefix = fabric.cluster.tools.prefix
        made = TcpContext(pair, settings, client, server, prefix, frame.trail, gate=gate)
        ran = run.traffic(made, ports)
        with frame.over(after):
            values = _evaluated(fabric, made, ran)
    return replace(
        frame.record(),
        versions=values.versions or {},
        tcp=values.tcp,
        traffic=values.traffic,
        doubts=values.doubts,
    )


def _side(fabric: Fabric, port: Port) -> Side:
    """Return an end made ready to run, with its rail's address. Raises MeasurementError."""
    end = fabric.end(port)
    if end.rdma.link_layer != "Ethernet":
        raise MeasurementError(
            str(port),
            "address",
            "expected an IP address for TCP, found a port of InfiniBand: add tcp to not_available "
            "of its profile",
        )
    facts.require(port.node, end.node.tools, ("iperf3", "taskset"), fabric.cluster.tools.prefix)
    # The rail itself: TCP over the management network would say nothing of the fabric.
    return contexts.side(fabric.session(port.node), end, "rail", fabric.cluster.node(port).address)


def _evaluated(fabric: Fabric, context: TcpContext, ran: blame.Ran) -> Values:
    """Return what iperf3 printed and both ends counted mean. Raises FabricError."""
    seen = window_of(context, ran)
    context.trail.window = seen if isinstance(seen, window.Window) else None
    text = blame.verdict(context, ran)
    told = iperf3.parse(text)
    if isinstance(seen, MeasurementError):
        raise seen  # after what the tools told: a node that is lost has no counters either
    row = streams.row(told, context.settings, context.trail.raw.get(SOCKETS, ""))
    line = fabric.cluster.line_rate_bps(context.pair.client, context.pair.server)
    if line and row.received_bps > window.ABOVE_LINE * line:
        raise context.error(
            "implausible",
            f"{row.received_bps / 1e9:.1f} Gb/s is more than the declared line of {line / 1e9:g} "
            "Gb/s: check link.speed of the profile",
        )
    ends = (context.pair.client, context.pair.server)
    traffic = Traffic(
        expected_bytes=int(row.received_bps * row.seconds / 8),
        sent_bytes=streams.moved(str(ends[0]), ran.client_sections, "tx"),
        received_bytes=streams.moved(str(ends[1]), ran.server_sections, "rx"),
        class_share=None,
        class_port=None,
    )
    return Values(
        tcp=row,
        traffic=traffic,
        doubts=streams.doubts(row, traffic, ends, line, seen.duration_s),
        versions=_versions(text, ran.server.stdout),
    )


def _versions(client: str, server: str) -> dict[str, str]:
    found = {"client": iperf3.find_version(client), "server": iperf3.find_version(server)}
    return {end: version for end, version in found.items() if version is not None}
