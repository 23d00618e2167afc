"""One ping between the ends of a pair: whether packets come back, how soon, and how large.

A probe is a job of its client alone: nothing listens for it, and the kernel of the server answers.
One of full size is made from both ends at the same time, since a path may lose large packets in one
direction only and an answer may be split where the request must not be. It claims both ports and
takes the lease of each that sends, so that it meets no load of ours, in the phase of light loads.
The counters of the ports are not read: a ping that is lost is told by ping.

It leaves by the rail and from its address: `-I NETDEV -I ADDRESS`. The address alone would leave
the choice to the routing table, which knows one way only where rails share a subnet. The address is
that of the GID which RDMA uses, so that both take one path, VLAN included. InfiniBand has no such
address (IPoIB is not looked at): its profile says `not_available`, or it is an error.

A full packet is as large as the netdev's MTU promises, with its headers, and must not be split. Of
what came back from both ends, the smaller says which RDMA MTU the path carries (`Measurement.mtu`):
that is what a declared `link.mtu` is held against, and it needs 96 bytes more than its payload.

Packets go out as fast as an ordinary user may send them, every 2 ms; a release that allows only
200 ms is asked again for as many as a gate needs. So many packets are 5 to 36 Mb/s: light. They
travel in no lossless class, so a loss beside other load is measured again alone, as are times.
"""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

from pytest_fabric.errors import (
    MeasurementError,
    ToolError,
    TransportError,
)
from pytest_fabric.measure import context as contexts
from pytest_fabric.measure import echoes, facts
from pytest_fabric.measure.context import TOOL, Side, Trail
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.frame import After, Frame
from pytest_fabric.measure.placement import gid_address
from pytest_fabric.measure.plan import Job
from pytest_fabric.measure.settings import INTERVAL_S, Settings
from pytest_fabric.results import Attempt, Gid, Measurement, Pair, Port, Reach
from pytest_fabric.tools import ping
from pytest_fabric.transport import Collect, Outcome

#: Where users may not send faster: so many packets show a loss of 3 %.
SLOW_S, SLOW_PACKETS = 0.2, 100

#: How long the last packet is waited for; across a fabric an answer takes a millisecond at most.
LINGER_S = 2

#: What a node may take beside the packets, and how much slower than asked it may send: an emulated
#: machine needs milliseconds for each.
SPARE_S, SLOWER = 20.0, 3

#: Headers in front of the payload: of IP and of the echo request.
HEADERS = {4: 28, 6: 48}


@dataclass(frozen=True)
class Way:
    """One direction: which end sends, from which netdev, and to which address.

    `payload` is that of a full packet for a ping of full size.
    """

    name: str
    side: Side
    netdev: str
    source: str
    host: str
    payload: int

    @property
    def port(self) -> Port:
        """Return the port that sends."""
        return self.side.end.port

    @property
    def packet_bytes(self) -> int:
        """Return the size of the whole IP packet."""
        return self.payload + HEADERS[ipaddress.ip_address(self.host).version]


def measure(
    fabric: Fabric,
    job: Job,
    after: After = nullcontext,
) -> Measurement:
    """Return one ping; what goes wrong is in its `error`, with the evidence so far.

    `after` is entered when all packets are sent: what is done in it needs the ports no longer.
    """
    pair, settings = job.pair, job.settings
    frame = Frame(str(pair), settings)
    reach: tuple[Reach, ...] = ()
    with frame.caught():
        ways = _ways(fabric, pair, settings)
        told = _told(ways, settings, pair, frame.trail)
        with frame.over(after):
            reach = tuple(
                echoes.reach(str(way.port), way.packet_bytes, told[way.name]) for way in ways
            )
    mtu = echoes.rdma_mtu(reach) if settings.packet == "full" else None
    return replace(frame.record(), reach=reach, mtu=mtu)


def _ways(fabric: Fabric, pair: Pair, settings: Settings) -> Sequence[Way]:
    """Return the directions in which packets are sent. Raises FabricError."""
    client, server = (_side(fabric, port) for port in (pair.client, pair.server))
    ways = [_way("client", client, server, settings)]
    if settings.packet == "full":
        ways.append(_way("server", server, client, settings))
    for way in ways:
        if "ping" not in way.side.end.node.tools:
            package = facts.PROGRAMS["ping"]
            raise MeasurementError(
                way.port.node,
                "tool_missing",
                f"expected ping on the node, found none: install package {package}",
            )
    return ways


def _side(fabric: Fabric, port: Port) -> Side:
    end = fabric.end(port)
    if end.rdma.link_layer != "Ethernet":
        raise MeasurementError(
            str(port),
            "address",
            "expected an IP address to ping, found a port of InfiniBand: add ping to not_available "
            "of its profile",
        )
    node = fabric.cluster.nodes[port.node]
    return contexts.side(fabric.session(port.node), end, "mgmt", node.address)


def _way(name: str, sender: Side, receiver: Side, settings: Settings) -> Way:
    rdma, gid = sender.end.rdma, _gid(sender)
    host = gid_address(_gid(receiver))
    netdev = gid.netdev or next(iter(rdma.netdevs), None)
    if netdev is None:
        raise MeasurementError(
            str(sender.end.port), "netdev", f"expected a netdev of {rdma.device}, found none"
        )
    way = Way(name, sender, netdev, gid_address(gid), host, settings.size)
    if settings.packet != "full":
        return way
    if rdma.netdev_mtu is None:
        raise MeasurementError(
            str(sender.end.port),
            "netdev",
            f"expected the MTU of {netdev} in /sys/class/net/{netdev}/mtu, found none",
        )
    return replace(way, payload=rdma.netdev_mtu - (way.packet_bytes - way.payload))


def _gid(side: Side) -> Gid:
    assert side.gid is not None  # every port on Ethernet has one, or an error
    return side.gid


def _told(
    ways: Sequence[Way], settings: Settings, pair: Pair, trail: Trail
) -> Mapping[str, ping.Ping]:
    """Return what ping told at each end; one that may not send fast is tried more slowly."""
    packets = settings.iterations or 1
    try:
        return _sent(ways, settings, pair, trail, INTERVAL_S, packets)
    except ToolError as error:
        if error.kind != "interval_too_short":
            raise
    trail.attempts.append(Attempt(0, f"ping may not send every {1000 * INTERVAL_S:g} ms here"))
    slow = min(packets, SLOW_PACKETS)
    return _sent(ways, settings, pair, trail, SLOW_S, slow)


def _sent(
    ways: Sequence[Way],
    settings: Settings,
    pair: Pair,
    trail: Trail,
    interval_s: float,
    packets: int,
) -> Mapping[str, ping.Ping]:
    """Send from all ends at the same time, and read what came of it. Raises FabricError."""
    jobs = {}
    for way in ways:
        argv = _command(way, settings, interval_s, packets)
        trail.commands[way.name] = shlex.join(argv)
        lease = way.side.end.lease
        deadline = SLOWER * packets * interval_s + LINGER_S + SPARE_S
        jobs[way.name] = Collect({TOOL: argv}, deadline_s=deadline, lease=lease)
    outcomes = _outcomes(ways, jobs)
    for name, outcome in outcomes.items():
        trail.keep(name, echoes.abridged(outcome))
    for way in ways:
        if outcomes[way.name].end == "lease":
            about = f"{settings.tool}: {way.port} is in use: {outcomes[way.name].stderr.strip()}"
            trail.attempts.append(Attempt(0, about))
            raise MeasurementError(str(pair), "lease", about)
    told = {}
    for way in ways:
        where = f"{way.name} at {way.port}"
        asked = echoes.Asked(str(pair), where, way.host, way.payload, packets)
        told[way.name] = echoes.read(asked, outcomes[way.name])
    trail.attempts.append(Attempt(0, "ran"))
    return told


def _command(way: Way, settings: Settings, interval_s: float, packets: int) -> tuple[str, ...]:
    """Return the command line. Raises MeasurementError for what the node said and ping refuses."""
    try:
        return ping.command(
            way.host,
            packets,
            interval_s,
            way.payload,
            way.netdev,
            whole=settings.packet == "full",
            source=way.source,
            linger_s=LINGER_S,
        )
    except ValueError as error:
        raise MeasurementError(
            str(way.port), "arguments", f"ping of {way.payload} B by {way.netdev!r}: {error}"
        ) from None


def _outcomes(ways: Sequence[Way], jobs: Mapping[str, Collect]) -> Mapping[str, Outcome]:
    """Run a job at each end; where one cannot be, the others are ended."""
    running = {}
    try:
        for way in ways:
            running[way.name] = way.side.session.begin(jobs[way.name])
        outcomes = {}
        for way in ways:
            outcomes[way.name] = running[way.name].wait()[TOOL]
            if outcomes[way.name].end == "lease":
                for other in running.values():
                    other.cancel()
        return outcomes
    except BaseException:
        for one in running.values():
            one.cancel()
            with suppress(TransportError):
                one.wait()
        raise
