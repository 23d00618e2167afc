"""A client and a server that have met: they agree or fail, run, and print what came out."""

from __future__ import annotations

from dataclasses import fields, replace
from hashlib import blake2b
from random import Random

from pytest_fabric.lab import physics
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.perftest import gpus, text
from pytest_fabric.lab.perftest.programs import Program, way_out
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.traffic import Flow

#: A queue pair that cannot deliver gives up after seven retries.
RETRY_S = 2.0

#: What a message takes longer where a tool runs on a slow core, which posts one after another.
SLOW_CORE = "slow core"
SLOW_S = 6e-6

#: The best window of a run is a little above its average.
PEAK = 1.002

KILL = 9


def meet(client: Program, server: Program) -> None:
    """Let a client and a server begin; they hang when they were not asked for the same.

    They tell each other their versions first, and a newer one refuses one that is too old.
    """
    for one, other in ((client, server), (server, client)):
        if one.version >= text.OLDEST_PEER > other.version:
            one.fail(text.OLD_PEER)
            other.fail(text.PEER_GONE)
            return
    if client.options.shape() != server.options.shape():
        return
    chance = client.fabric.chance(f"{client.options.program} {client.port.id}..{server.port.id}")
    session = Session(client, server, chance)
    if not session.is_refused():
        session.begin()


class Session:
    """One run of a client against a server."""

    def __init__(self, client: Program, server: Program, chance: Random) -> None:
        self.client = client
        self.server = server
        self.chance = chance
        self.options = client.options
        self.flows: list[Flow] = []
        self.latencies: physics.Latencies | None = None
        self.average_bps = 0.0
        self.queued_s = 0.0
        self.pairs = {side: self._addresses() for side in (client, server)}

    def is_refused(self) -> bool:
        """End both when their GIDs do not fit; return whether they did."""
        one, other = self.client, self.server
        broken = {side: gpus.trouble(side) for side in (one, other)}
        if any(broken.values()):
            for side, told in broken.items():
                side.fail(told or text.PEER_GONE, self._header(side))
            return True
        mapped = [_is_mapped(side) for side in (one, other)]
        unreachable = one.port.layer != other.port.layer or any(
            side.gid is not None and int(side.gid.address) == 0 for side in (one, other)
        )
        if mapped[0] != mapped[1]:
            for side in (one, other):
                side.fail(text.GID_TYPES, self._header(side))
            return True
        if unreachable:
            for side in (one, other):
                side.fail(text.no_rtr(self.pairs[side][0].qpn), self._header(side))
            return True
        unlike = one.gid is not None and other.gid is not None and one.gid.kind != other.gid.kind
        if unlike or self._is_lost():
            stdout = self._facts(one)
            told = text.retries_exceeded(one.options, one.version)
            one.later(RETRY_S, lambda: one.fail(told, stdout))
            self._watch()
            return True
        return False

    def _is_lost(self) -> bool:
        """Return whether something on the way drops what is sent."""
        ends = (self.client.port, self.server.port)
        packet = physics.ip_bytes(self.options.size, *ends)
        return any(
            port.drops_rdma or (port.path_mtu is not None and packet > port.path_mtu)
            for port in ends
        )

    def begin(self) -> None:
        """Let the traffic flow, and end both programs when it is done."""
        seconds = self._plan()
        for flow in self.flows:
            self.client.fabric.traffic.start(flow)
        self._watch()
        if self.server.port.server_dies:
            self.server.later(seconds / 2, self._server_dies)
        else:
            self.client.later(seconds, self._finish)

    def _watch(self) -> None:
        self.client.gone = lambda: self._abandon(self.server)
        self.server.gone = lambda: self._abandon(self.client)

    def _plan(self) -> float:
        """Fill in the flows and, for latency, the figures; return the simulated seconds."""
        options, client, server = self.options, self.client.port, self.server.port
        sender, receiver = (server, client) if options.verb == "read" else (client, server)
        if not options.is_latency:
            bps = physics.goodput_bps(options.size, options.qps, sender, receiver, self.chance)
            bps = min(bps, *(gpus.reach_bps(side) for side in (self.client, self.server)))
            if self._on_slow_core():
                bps = min(bps, options.size * 8 / SLOW_S)
            messages = options.iterations * options.qps
            seconds = float(options.duration or messages * options.size * 8 / bps)
            self.flows = [self._flow(sender, receiver, bps, seconds)]
            if options.is_both:
                self.flows.append(self._flow(receiver, sender, bps, seconds))
            return seconds
        count = options.iterations
        self.queued_s = self._queued_s(sender, receiver)
        self.latencies = self._measure()
        trip = self._trip_s(self.latencies)
        seconds = float(options.duration) if options.duration else count * trip
        bps = options.size * 8 / trip
        self.flows = [self._flow(sender, receiver, bps, seconds)]
        if options.verb != "read":
            self.flows.append(self._flow(receiver, sender, bps, seconds))
        return seconds

    def _flow(self, sender: Port, receiver: Port, bps: float, seconds: float) -> Flow:
        dscps = {s.port.id: s.options.traffic_class >> 2 for s in (self.client, self.server)}
        asked, answered = dscps[sender.id], dscps[receiver.id]
        sender = way_out(self.client.fabric, sender)
        return Flow(
            sender=sender,
            receiver=receiver,
            verb=self.options.verb,
            size=self.options.size,
            bps=bps,
            seconds=seconds,
            real_s=self.client.fabric.clock.real(seconds),
            priority=sender.priority_of(asked),
            answers=receiver.priority_of(answered),
            bulk=not self.options.is_latency,
            arrives=receiver.arrival(sender, asked),
            answers_arrive=sender.arrival(receiver, answered),
            hashes=self._hashes(sender, receiver),
        )

    def _hashes(self, sender: Port, receiver: Port) -> tuple[int, ...]:
        """Return what switches make of the addresses of each queue pair, one way."""
        pairs = zip(self.pairs[self.client], self.pairs[self.server], strict=True)
        return tuple(
            _hash(f"{sender.id} {receiver.id} {one.qpn} {other.qpn}") for one, other in pairs
        )

    def _measure(self) -> physics.Latencies:
        options = self.options
        found = physics.latencies(
            options.verb,
            options.size,
            options.iterations,
            self.client.port,
            self.server.port,
            self.chance,
            self.queued_s,
        )
        later = self._on_slow_core() * SLOW_S
        times = (field.name for field in fields(found) if field.name != "deviation")
        return replace(found, **{name: getattr(found, name) + later for name in times})

    def _on_slow_core(self) -> bool:
        return SLOW_CORE in (self.client.port.tool, self.server.port.tool)

    def _queued_s(self, sender: Port, receiver: Port) -> float:
        """Return what a message waits behind the traffic of others: both ways of it for a read."""
        ways = [self._flow(*ends, 1e6, 1.0) for ends in ((sender, receiver), (receiver, sender))]
        waits = sum(self.client.fabric.traffic.queued_s(way) for way in ways)
        return waits if self.options.verb == "read" else waits / 2

    def _trip_s(self, latencies: physics.Latencies) -> float:
        return latencies.mean * (1 if self.options.verb == "read" else 2)

    def _finish(self) -> None:
        self._stop(complete=True)
        for side in (self.client, self.server):
            side.gone = None
            side.end(Result(0, self._printed(side)))

    def _server_dies(self) -> None:
        """Kill the server; the client notices that its connection is gone."""
        self._stop(complete=False)
        self.client.gone = self.server.gone = None
        stdout = self._facts(self.client)
        if not self.options.is_latency:
            stdout += text.bandwidth_table(self.options, self.client.version, 0, 0.0, 0.0)
        self.server.kill(KILL)
        self.client.fail(text.PEER_GONE, stdout)

    def _abandon(self, survivor: Program) -> None:
        """One end has gone: the other fails, or polls its memory for ever."""
        self._stop(complete=False)
        self.client.gone = self.server.gone = None
        if self.options.is_latency and self.options.verb != "read":
            survivor.forget()
        else:
            survivor.fail(text.PEER_GONE, self._facts(survivor))

    def _stop(self, complete: bool) -> None:
        for flow in self.flows:
            self.client.fabric.traffic.stop(flow, complete)
        if complete:
            flows = self.flows if self.options.is_both else self.flows[:1]
            self.average_bps = sum(map(self._counted_bps, flows))
        self.flows = []

    def _counted_bps(self, flow: Flow) -> float:
        """Return the rate of what perftest counts: with -D the middle of its run."""
        seconds = self.options.duration
        if seconds is None or self.options.is_latency:
            return flow.average_bps()
        return flow.middle_bps((seconds - _window_s(seconds)) / 2 / seconds)

    def _printed(self, side: Program) -> str:
        start = text.banner(side.options, side.version) + self._facts(side)
        if not self.options.is_latency:
            return start + self._bandwidth(side)
        is_server = side is self.server
        if is_server and self.options.verb == "read":
            return start
        values = self._measure() if is_server or self.latencies is None else self.latencies
        if self.options.duration is None:
            return start + text.latency_table(self.options, values)
        trip = self._trip_s(values)
        trips = int(_window_s(self.options.duration) / trip)
        return start + text.latency_duration_table(self.options, trips, values.mean, trip)

    def _bandwidth(self, side: Program) -> str:
        options = side.options
        messages = options.iterations * options.qps
        if options.duration is not None:
            one_way = self.average_bps / (2 if options.is_both else 1)
            messages = int(one_way / 8 / options.size * _window_s(options.duration))
        peak = self.average_bps * PEAK if text.has_peak(options) else 0.0
        return text.bandwidth_table(options, side.version, messages, peak, self.average_bps)

    def _header(self, side: Program) -> str:
        mtu = min(self.client.port.mtu, self.server.port.mtu)
        facts = text.header(side.options, side.port, side.version, mtu, side.gid)
        return gpus.preamble(side) + facts

    def _facts(self, side: Program) -> str:
        """Return the header and the addresses of both ends, as one side prints them."""
        peer = self.server if side is self.client else self.client
        ends = (("local", side), ("remote", peer))
        return (
            self._header(side)
            + "".join(
                text.addresses(name, side.options, end.port, end.gid, self.pairs[end])
                for name, end in ends
            )
            + text.LINE
        )

    def _addresses(self) -> list[text.Address]:
        first, key = self.chance.randrange(0x40, 0xF000), self.chance.randrange(0x1000, 0x200000)
        memory = 0x7F0000000000 + self.chance.randrange(2**24) * 0x1000
        return [
            text.Address(
                first + pair, self.chance.randrange(2**24), key, memory + pair * self.options.size
            )
            for pair in range(self.options.qps)
        ]


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")


def _is_mapped(side: Program) -> bool:
    """Return whether a side's GID is an IPv4 address; that is all perftest compares."""
    return side.gid is not None and int(side.gid.address) >> 32 == 0xFFFF


def _window_s(duration: int) -> float:
    """Return the seconds that perftest counts in: a quarter is left out at each end."""
    return duration - 2 * (duration // 4)
