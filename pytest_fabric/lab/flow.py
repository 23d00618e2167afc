"""Data on its way from one port to another, and what both of them count of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_fabric.lab import physics
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally, move

#: A paused port sees about one pause frame per this many payload bytes that it sends.
BYTES_PER_PAUSE = 10 * 2**20

#: A switch that is out of buffer pauses for so long, then lets go: two frames.
PAUSE_US = 10.0

#: One lost packet in so many is the last one of its message: only a timeout tells of it.
LAST_OF_MESSAGE = 16

#: An acknowledgement is a header and four bytes, a read request a header and sixteen.
ACK_BYTES = 4
READ_REQUEST_BYTES = 16


@dataclass(frozen=True)
class Effect:
    """What congestion does to a flow beside taking bandwidth.

    `marked` and `lost` are shares of its packets, `paused` and `waiting` shares of its time: paused
    by PFC, or without credits on InfiniBand; `pausing` is the share in which the receiver asks for
    it. `notices` are the congestion notifications per second of each queue pair that the receiver
    sends; the sender heeds them unless it does not `heed`.
    """

    marked: float = 0.0
    notices: float = 0.0
    heeds: bool = True
    paused: float = 0.0
    lost: float = 0.0
    waiting: float = 0.0
    pausing: float = 0.0

    @property
    def stops(self) -> bool:
        """Whether the sender has to stop from time to time, and all that is behind it."""
        return self.paused > 0 or self.waiting > 0


CLEAR = Effect()


@dataclass(eq=False)
class Flow:
    """Data from one port to another: `bps` payload bits for `seconds` when nothing shares them.

    The sender's frames travel on `priority`, the receiver's answers on `answers`; the other end may
    count them on another one (`arrives`, `answers_arrive`). `verb` is what the requests are. A
    `bulk` flow shares links with others; small messages do not notice. `hashes` has one number for
    each queue pair: what switches make of its addresses. `share` is the part of `bps` that it gets
    at present, `effect` what it meets on the way; `past` is how far it was with how much payload.
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
    hashes: tuple[int, ...] = (0,)
    effect: Effect = CLEAR
    lost: float = 0.0
    past: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    def middle_bps(self, skipped: float) -> float:
        """Return the payload bits per second without so large a part of the flow at each end."""
        begin, end = self._payload_then(skipped), self._payload_then(1 - skipped)
        return (end - begin) * 8 / (self.seconds * (1 - 2 * skipped))

    def _payload_then(self, progress: float) -> float:
        """Return the payload at a progress that is over."""
        before = max(it for it in self.past if it[0] <= progress)
        after = min((it for it in self.past if it[0] >= progress), default=before)
        part = (progress - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0.0
        return before[1] + part * (after[1] - before[1])

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

    def messages_at(self, progress: float) -> int:
        """Return the messages at a progress that is not behind the present one."""
        return round(self.payload_at(progress) / self.size)

    @property
    def layer(self) -> str:
        """The link layer of both ends."""
        return self.sender.layer

    @property
    def mtu(self) -> int:
        """The RDMA MTU of both ends."""
        return min(self.sender.mtu, self.receiver.mtu)

    @property
    def wire_bps(self) -> float:
        """The bits per second on the wire when nothing shares them, headers and gaps included."""
        return self.bps * physics.wire_bytes(self.size, self.mtu, self.sender) / self.size

    def lost_at(self, messages: int) -> float:
        """Return the packets lost until so many messages are sent."""
        packets = (messages - self.messages) * physics.packets(self.size, self.mtu)
        return self.lost + packets * self.lossy

    @property
    def lossy(self) -> float:
        """The share of packets that are lost, whatever the reason."""
        damaged = self.receiver.damaged + self.sender.damages
        return self.receiver.loses + damaged + self.effect.lost

    def advance(self, progress: float, sender: Tally, receiver: Tally) -> None:
        """Move on to a progress, and count what passes at both ends."""
        payload, messages = self.payload_at(progress), self.messages_at(progress)
        lost = self.lost_at(messages)
        count(self, messages, sender, receiver)
        self.payload, self.messages, self.lost = payload, messages, lost
        self.progress = progress
        self.past.append((progress, payload))


def count(flow: Flow, messages: int, sender: Tally, receiver: Tally) -> None:
    """Add to the tallies of both ends what a flow moves until it has sent so many messages."""
    more = messages - flow.messages
    packets = more * physics.packets(flow.size, flow.mtu)
    uncounted = physics.UNCOUNTED_BYTES[flow.layer]
    data = more * physics.wire_bytes(flow.size, flow.mtu, flow.sender)
    octets = data - packets * uncounted
    move(sender, receiver, flow.priority, octets, packets, flow.arrives)
    if flow.verb == "tcp":  # what it loses is told by the ends of its streams
        sender.kernel_sent += octets
        receiver.kernel_received += octets
        return
    answer = READ_REQUEST_BYTES if flow.verb == "read" else ACK_BYTES
    header = physics.overhead_bytes(flow.sender) - uncounted
    octets = more * (header + answer)
    move(receiver, sender, flow.answers, octets, more, flow.answers_arrive)
    if flow.verb == "write":
        receiver.write_requests += more
    if flow.verb == "read":
        sender.read_requests += more
    _pause(flow.sender, sender, more * flow.size)
    _pause(flow.receiver, receiver, more * answer)
    _lose(flow, messages, sender, receiver)
    if flow.effect is not CLEAR:
        _react(flow, more, packets, sender, receiver)


def _pause(port: Port, tally: Tally, payload: int) -> None:
    if port.paused and payload > 0:
        for priority in port.lossless or (0,):
            frames = 1 + payload // BYTES_PER_PAUSE
            tally.pauses[priority] += frames
            tally.paused_us[priority] += frames / 4


def _lose(flow: Flow, messages: int, sender: Tally, receiver: Tally) -> None:
    """Count lost packets; those that a switch has dropped are in no counter of the port."""
    before, after = int(flow.lost), int(flow.lost_at(messages))
    missing = after - before
    receiver.gaps += missing
    sender.resent += missing
    sender.timeouts += after // LAST_OF_MESSAGE - before // LAST_OF_MESSAGE
    if flow.receiver.loses:
        receiver.discards += round(missing * flow.receiver.loses / flow.lossy)
    if flow.receiver.damaged:
        receiver.damaged += round(missing * flow.receiver.damaged / flow.lossy)


def _react(flow: Flow, more: int, packets: int, sender: Tally, receiver: Tally) -> None:
    """Count what congestion makes both ends say and do."""
    effect = flow.effect
    seconds = more * flow.size * 8 / (flow.bps * flow.share)
    marked = packets * effect.marked
    notices = min(marked, seconds * effect.notices * len(flow.hashes))
    receiver.marked += marked
    receiver.notices += notices
    if effect.heeds:
        sender.heeded += notices
    else:
        sender.ignored += notices
    paused_us = seconds * effect.paused * 1e6
    sender.paused_us[flow.priority] += paused_us
    sender.pauses[flow.priority] += round(2 * paused_us / PAUSE_US)
    receiver.pausing_us[flow.priority] += seconds * effect.pausing * 1e6
    sender.waited_s += seconds * effect.waiting
