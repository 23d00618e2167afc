"""What flows right now, and how much has flowed: bytes and packets per port and priority."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from copy import deepcopy
from random import Random

from pytest_fabric.lab import congestion, links, physics, queueing
from pytest_fabric.lab.flow import CLEAR, Flow, count
from pytest_fabric.lab.links import Link, Route
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import PRIORITIES, Tally, move
from pytest_fabric.results import Port as PortId

__all__ = ["PRIORITIES", "Flow", "Tally", "Traffic"]


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
        self._routes: dict[Flow, Route] = {}
        self._users: dict[Link, dict[Flow, None]] = {}

    def tally(self, port: Port) -> Tally:
        """Return what a port has moved, up to now."""
        self._write(port)
        self._settle(self._flows.get(port.id, ()))
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
            messages = flow.messages_at(flow.progress_at(moment))
            ends = (flow.sender, flow.receiver)
            sender, receiver = (tally if end.id == port.id else Tally() for end in ends)
            count(flow, messages, sender, receiver)
        self._add_foreign(port, tally, then)
        self._written[port.id] = (turn, tally)

    def start(self, flow: Flow) -> None:
        """Let a flow begin, at the expense of those that share a link with it."""
        self._settle(self._flows_of(flow))
        flow.begun = self._now()
        for port in (flow.sender, flow.receiver):
            self._flows.setdefault(port.id, []).append(flow)
        if flow.bulk:
            self._routes[flow] = links.route(flow)
            for link in self._routes[flow].capacities:
                self._users.setdefault(link, {})[flow] = None
            self._divide(flow)

    def stop(self, flow: Flow, complete: bool) -> None:
        """End a flow: `complete` to its last byte, or where it has come to."""
        self._settle(self._flows_of(flow))
        if complete:
            self._advance(flow, 1.0)
        for port in (flow.sender, flow.receiver):
            self._flows[port.id].remove(flow)
        if flow.bulk:
            beside = self._beside(flow)
            for link in self._routes.pop(flow).capacities:
                del self._users[link][flow]
                if not self._users[link]:
                    del self._users[link]
            if flow.effect is not CLEAR or any(one.share < 1 for one in beside):
                self._divide(*beside)

    def queued_s(self, flow: Flow) -> float:
        """Return the seconds that a message of a flow waits at present, over all its links."""
        route = links.route(flow)
        shared = ((link, route.capacities[link]) for link in (links.out(flow), *route.leaves))
        users = self._users
        return sum(queueing.wait_s(flow, bps, users.get(link, ())) for link, bps in shared)

    def _flows_of(self, flow: Flow) -> list[Flow]:
        """Return the flows of both ends of a flow."""
        ends = (flow.sender, flow.receiver)
        return [one for end in ends for one in self._flows.get(end.id, ())]

    def _beside(self, flow: Flow) -> list[Flow]:
        """Return the other bulk flows that use a link of a flow, each once."""
        users = (self._users[link] for link in self._routes[flow].capacities)
        return [one for one in dict.fromkeys(one for each in users for one in each) if one != flow]

    def _divide(self, *changed: Flow) -> None:
        """Share links anew among flows that have changed, and all that depend on them.

        Who is stopped from now on makes others wait that did not depend on it before.
        """
        known = 0
        flows = self._together(changed)
        while len(flows) > known:
            known = len(flows)
            self._settle(flows)
            found = congestion.outcomes(flows, [self._routes[flow] for flow in flows])
            for flow, outcome in zip(flows, found, strict=True):
                flow.share, flow.effect = outcome.share, outcome.effect
            if any(flow.effect.stops for flow in flows):
                flows = self._together(flows)

    def _together(self, flows: Iterable[Flow]) -> list[Flow]:
        """Return the flows and all that depend on them, in order.

        Flows depend on each other where a link is crowded, or where one of them is stopped.
        """
        found = dict.fromkeys(flows)
        ready = list(found)
        seen: set[Link] = set()
        while ready:
            for link, capacity in self._routes[ready.pop()].capacities.items():
                users = self._users[link]
                if link in seen or len(users) < 2:
                    continue
                seen.add(link)
                is_crowded = sum(one.wire_bps for one in users) > capacity
                if is_crowded or any(one.effect.stops for one in users):
                    fresh = [one for one in users if one not in found]
                    found |= dict.fromkeys(fresh)
                    ready += fresh
        return list(found)

    def _add_foreign(self, port: Port, tally: Tally, uptime: float) -> int:
        """Count what others moved until then, in full frames and both ways; return the frames."""
        counted = self._foreign.get(port.id, 0)
        if not port.foreign:
            return counted
        frame = port.mtu + physics.overhead_bytes(port)
        seconds = max(0.0, uptime - self._begun)
        packets = max(counted, int(seconds * port.foreign * port.speed_bps / 8 / frame))
        octets = (packets - counted) * (frame - physics.UNCOUNTED_BYTES[port.layer])
        move(tally, tally, (port.lossless or (0,))[0], octets, packets - counted)
        return packets

    def _settle(self, flows: Iterable[Flow]) -> None:
        now = self._now()
        for flow in flows:
            self._advance(flow, flow.progress_at(now))

    def _advance(self, flow: Flow, progress: float) -> None:
        if progress <= flow.progress:
            return
        for port in (flow.sender, flow.receiver):
            self._write(port)
        sender = self._tallies.setdefault(flow.sender.id, Tally())
        receiver = self._tallies.setdefault(flow.receiver.id, Tally())
        flow.advance(progress, sender, receiver)
