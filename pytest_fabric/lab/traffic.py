"""What flows right now, and how much has flowed: bytes and packets per port and priority."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

from pytest_fabric.lab import physics
from pytest_fabric.lab.model import Port
from pytest_fabric.results import Port as PortId

PRIORITIES = 8

#: A paused port sees about one pause frame per this many payload bytes that it sends.
BYTES_PER_PAUSE = 10 * 2**20

#: One lost packet in so many is the last one of its message: only a timeout tells of it.
LAST_OF_MESSAGE = 16

#: An acknowledgement is a header and four bytes, a read request a header and sixteen.
ACK_BYTES = 4
READ_REQUEST_BYTES = 16


@dataclass
class Tally:
    """What a port has moved since the lab started; lists are per priority.

    `discards` are packets that the port did not take in, `gaps` what it missed of a sequence,
    `resent` what its peers had to ask for again, `timeouts` what it sent again unasked.
    """

    sent_bytes: list[int] = field(default_factory=lambda: [0] * PRIORITIES)
    sent_packets: list[int] = field(default_factory=lambda: [0] * PRIORITIES)
    received_bytes: list[int] = field(default_factory=lambda: [0] * PRIORITIES)
    received_packets: list[int] = field(default_factory=lambda: [0] * PRIORITIES)
    pauses: list[int] = field(default_factory=lambda: [0] * PRIORITIES)
    write_requests: int = 0
    read_requests: int = 0
    discards: int = 0
    gaps: int = 0
    resent: int = 0
    timeouts: int = 0


@dataclass(eq=False)
class Flow:
    """Data from one port to another: `bps` payload bits for `seconds` when nothing shares them.

    The sender's frames travel on `priority`, the receiver's answers on `answers`; the other end may
    count them on another one (`arrives`, `answers_arrive`). `verb` is what the requests are. A
    `bulk` flow shares its ports with others; small messages do not notice.
    """

    sender: Port
    receiver: Port
    verb: str
    size: int
    bps: float
    seconds: float
    real_s: float
    priority: int
    answers: int
    bulk: bool
    share: float = 1.0
    progress: float = 0.0
    payload: float = 0.0
    messages: int = 0
    begun: float = 0.0
    arrives: int | None = None
    answers_arrive: int | None = None

    def average_bps(self) -> float:
        """Return the payload bits per second so far."""
        return self.payload * 8 / (self.seconds * self.progress) if self.progress else 0.0

    def progress_at(self, moment: float) -> float:
        """Return which part of the flow is through at a moment, in real time."""
        return min(1.0, (moment - self.begun) / self.real_s)

    def payload_at(self, progress: float) -> float:
        """Return the payload bytes at a progress that is not behind the present one."""
        more = max(0.0, progress - self.progress)
        return self.payload + more * self.seconds * self.bps * self.share / 8


class Traffic:
    """All flows of the fabric; not locked: the fabric's lock is held around every call.

    `now` is real time, `uptime` simulated time: foreign traffic flows in the latter, all the time.
    `scale` is real per simulated second. Cards that write their statistics to memory from time to
    time start to do so at a moment that `seed` chooses for each.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        uptime: Callable[[], float] = time.monotonic,
        scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        self._scale = scale
        self._seed = seed
        self._written: dict[PortId, tuple[int, Tally]] = {}
        self._phases: dict[PortId, float] = {}
        self._now = now
        self._uptime = uptime
        self._begun = uptime()
        self._foreign: dict[PortId, int] = {}
        self._flows: dict[PortId, list[Flow]] = {}
        self._tallies: dict[PortId, Tally] = {}

    def tally(self, port: Port) -> Tally:
        """Return what a port has moved, up to now."""
        self._write(port)
        self._settle(port)
        tally = self._tallies.setdefault(port.id, Tally())
        self._foreign[port.id] = self._add_foreign(port, tally, self._uptime())
        return tally

    def written(self, port: Port) -> Tally:
        """Return what the card of a port last wrote of it to memory: what slow drivers show."""
        now = self.tally(port)
        return self._written[port.id][1] if port.adapter.refresh_s else now

    def _write(self, port: Port) -> None:
        """Keep the tally of a port's last refresh, before anything of the port goes beyond it.

        All flows of the port were last advanced before that refresh, or it is kept already.
        """
        every = port.adapter.refresh_s
        if not every:
            return
        phase = self._phases.get(port.id)
        if phase is None:
            phase = every * Random(f"{self._seed} {port.id} refresh").random()
            self._phases[port.id] = phase
        uptime = self._uptime()
        turn = int((uptime - phase) // every)
        kept = self._written.get(port.id)
        if kept is not None and kept[0] >= turn:
            return
        then = phase + turn * every
        moment = self._now() - (uptime - then) * self._scale
        tally = deepcopy(self._tallies.setdefault(port.id, Tally()))
        for flow in self._flows.get(port.id, ()):
            messages = round(flow.payload_at(flow.progress_at(moment)) / flow.size)
            ends = (flow.sender, flow.receiver)
            sender, receiver = (tally if end.id == port.id else Tally() for end in ends)
            _count(flow, messages, sender, receiver)
        self._add_foreign(port, tally, then)
        self._written[port.id] = (turn, tally)

    def start(self, flow: Flow) -> None:
        """Let a flow begin, at the expense of those that share a port with it."""
        self._settle(*self._concerned(flow))
        flow.begun = self._now()
        for port in (flow.sender, flow.receiver):
            self._flows.setdefault(port.id, []).append(flow)
        self._divide(*self._concerned(flow))

    def stop(self, flow: Flow, complete: bool) -> None:
        """End a flow: `complete` to its last byte, or where it has come to."""
        self._settle(*self._concerned(flow))
        if complete:
            self._advance(flow, 1.0)
        for port in (flow.sender, flow.receiver):
            self._flows[port.id].remove(flow)
        self._divide(*self._concerned(flow))

    def _concerned(self, flow: Flow) -> tuple[Port, ...]:
        """Return the ports whose flows a flow may slow down: its own, and those in its slot."""
        found = {port.id: port for port in (flow.sender, flow.receiver)}
        for port in (flow.sender, flow.receiver):
            for other in self._in_slot_of(port):
                for end in (other.sender, other.receiver):
                    found[end.id] = end
        return tuple(found.values())

    def _in_slot_of(self, port: Port) -> list[Flow]:
        """Return the bulk flows of a port's node whose cards share one PCIe link, if they do."""
        if not port.shares_slot:
            return []
        ids = [one for one in self._flows if one.node == port.id.node]
        return [flow for one in ids for flow in self._flows[one] if flow.bulk]

    def _divide(self, *ports: Port) -> None:
        """Give every bulk flow of the ports an equal share of the more crowded of its two ends."""
        for flow in (f for port in ports for f in self._flows.get(port.id, ()) if f.bulk):
            out = sum(other.sender.id == flow.sender.id for other in self._bulk(flow.sender))
            into = sum(other.receiver.id == flow.receiver.id for other in self._bulk(flow.receiver))
            free = 1 - max(flow.sender.foreign, flow.receiver.foreign)
            slots = [len(self._in_slot_of(end)) for end in (flow.sender, flow.receiver)]
            flow.share = free / max(out, into, *slots)

    def _bulk(self, port: Port) -> Iterator[Flow]:
        return (flow for flow in self._flows[port.id] if flow.bulk)

    def _add_foreign(self, port: Port, tally: Tally, uptime: float) -> int:
        """Count what others moved until then, in full frames and both ways; return the frames."""
        counted = self._foreign.get(port.id, 0)
        if not port.foreign:
            return counted
        frame = port.mtu + physics.OVERHEAD_BYTES[port.layer]
        seconds = max(0.0, uptime - self._begun)
        packets = max(counted, int(seconds * port.foreign * port.speed_bps / 8 / frame))
        octets = (packets - counted) * (frame - _uncounted(port.layer))
        _move(tally, tally, (port.lossless or (0,))[0], octets, packets - counted)
        return packets

    def _settle(self, *ports: Port) -> None:
        now = self._now()
        for port in ports:
            for flow in self._flows.get(port.id, ()):
                self._advance(flow, flow.progress_at(now))

    def _advance(self, flow: Flow, progress: float) -> None:
        if progress <= flow.progress:
            return
        for port in (flow.sender, flow.receiver):
            self._write(port)
        flow.payload = flow.payload_at(progress)
        flow.progress = progress
        messages = round(flow.payload / flow.size)
        sender = self._tallies.setdefault(flow.sender.id, Tally())
        receiver = self._tallies.setdefault(flow.receiver.id, Tally())
        _count(flow, messages, sender, receiver)
        flow.messages = messages


def _count(flow: Flow, messages: int, sender: Tally, receiver: Tally) -> None:
    """Add to the tallies of both ends what a flow moves until it has sent so many messages."""
    layer = flow.sender.layer
    mtu = min(flow.sender.mtu, flow.receiver.mtu)
    each = physics.packets(flow.size, mtu)
    more = messages - flow.messages
    packets = more * each
    data = more * physics.wire_bytes(flow.size, mtu, layer)
    octets = data - packets * _uncounted(layer)
    _move(sender, receiver, flow.priority, octets, packets, flow.arrives)
    answer = READ_REQUEST_BYTES if flow.verb == "read" else ACK_BYTES
    header = physics.OVERHEAD_BYTES[layer] - _uncounted(layer)
    octets = more * (header + answer)
    _move(receiver, sender, flow.answers, octets, more, flow.answers_arrive)
    if flow.verb == "write":
        receiver.write_requests += more
    if flow.verb == "read":
        sender.read_requests += more
    _pause(flow.sender, sender, more * flow.size)
    _pause(flow.receiver, receiver, more * answer)
    before, after = (int(count * each * flow.receiver.loses) for count in (flow.messages, messages))
    receiver.discards += after - before
    receiver.gaps += after - before
    sender.resent += after - before
    sender.timeouts += after // LAST_OF_MESSAGE - before // LAST_OF_MESSAGE


def _pause(port: Port, tally: Tally, payload: int) -> None:
    if port.paused and payload > 0:
        for priority in port.lossless or (0,):
            tally.pauses[priority] += 1 + payload // BYTES_PER_PAUSE


def _uncounted(layer: str) -> int:
    return physics.UNCOUNTED_BYTES[layer]


def _move(
    sender: Tally,
    receiver: Tally,
    priority: int,
    octets: int,
    packets: int,
    arrives: int | None = None,
) -> None:
    there = priority if arrives is None else arrives
    sender.sent_bytes[priority] += octets
    sender.sent_packets[priority] += packets
    receiver.received_bytes[there] += octets
    receiver.received_packets[there] += packets
