"""What flows get of the links they share, and how a fabric tells them that it is too much.

DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015): switches
mark what queues up, receivers answer marks with notifications (CNP), senders slow down. Where that
does not work, or too late, PFC (IEEE 802.1Qbb) pauses whatever sends into the full switch; where
that is off too, frames are dropped. InfiniBand has credits: a sender waits until it has some.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.lab.flow import CLEAR, Effect, Flow
from pytest_fabric.lab.leaf import Leaf
from pytest_fabric.lab.links import OWN, Link, Route, out
from pytest_fabric.lab.sharing import Stream, max_min

#: A link is congested where it is offered more than this part of what it carries.
FULL = 1.001

#: What DCQCN leaves of a link: the rates swing around the fair one. Engineering judgement.
CONTROLLED = 0.98
#: Share of packets that carry a mark: between the thresholds, and above the upper one.
MARKED, DEEPLY_MARKED = 0.005, 0.5
#: A receiver answers the marks of a queue pair at most every 50 us (the DCQCN paper, section 3).
NOTICES_PER_S = 1 / 50e-6
#: Part of the time in which PFC pauses senders whose notifications come late.
LATE_PAUSED = 0.1
#: How many times the share of those who slow down one keeps who does not. Engineering judgement:
#: DCQCN halves a rate at each notification, and recovers it within some milliseconds.
GREEDY = 4.0
#: Share of packets that a full queue drops: of senders that slow down, and of those that do not;
#: and what is left of the bandwidth of the latter, which send again all that follows a gap.
BURST_LOST, LOST, RESENT = 1e-5, 1e-3, 0.5


@dataclass(frozen=True)
class Outcome:
    """What a flow gets: the part of its own rate, and what it meets on the way."""

    share: float = 1.0
    effect: Effect = CLEAR


def outcomes(flows: Sequence[Flow], routes: Sequence[Route]) -> list[Outcome]:
    """Return what each flow gets where these and no other flows share links."""
    streams = [stream for route in routes for stream in route.streams]
    owners = [number for number, route in enumerate(routes) for _ in route.streams]
    capacities = {link: value for route in routes for link, value in route.capacities.items()}
    offered = max_min([_own(stream) for stream in streams], capacities)
    load = _load(streams, offered)
    if all(load[link] <= capacities[link] * FULL for link in load):
        found = zip(flows, _sums(flows, owners, offered), strict=True)
        return [Outcome(_part(rate, flow)) for flow, rate in found]
    leaves = {link: leaf for route in routes for link, leaf in route.leaves.items()}
    full = {link: leaves[link] for link in leaves if load[link] > capacities[link] * FULL}
    rates = max_min(
        [_pressing(s, flows[n], full) for s, n in zip(streams, owners, strict=True)], capacities
    )
    wanted, got = (_sums(flows, owners, each) for each in (offered, rates))
    met = [CLEAR] * len(flows)
    for stream, number in zip(streams, owners, strict=True):
        for link in (link for link, _ in stream.uses if link in full):
            flow = flows[number]
            excess = max(0.0, 1 - got[number] / wanted[number])
            met[number] = _worse(met[number], reaction(flow, full[link], excess))
    got, met = victims(flows, routes, full, wanted, got, met)
    return [
        Outcome(_part(rate, flow) * _kept(effect, rate / want), effect)
        for flow, rate, want, effect in zip(flows, got, wanted, _per_port(flows, met), strict=True)
    ]


def victims(
    flows: Sequence[Flow],
    routes: Sequence[Route],
    full: Mapping[Link, Leaf],
    wanted: Sequence[float],
    got: Sequence[float],
    met: Sequence[Effect],
) -> tuple[list[float], list[Effect]]:
    """Return rates and effects with those who only wait behind a paused link.

    A full link stops the links before it as a whole: a frame of the same priority that is going
    elsewhere stands in the same queue, and gets on as fast as the one in front.
    """
    slowest: dict[tuple[Link, int], float] = {}
    for number, route in enumerate(routes):
        effect = met[number]
        if max(effect.paused, effect.waiting) <= LATE_PAUSED:
            continue
        for link in _before(route, full):
            key = (link, flows[number].priority)
            slowest[key] = min(slowest.get(key, 1.0), got[number] / wanted[number])
    rates, effects = list(got), list(met)
    for number, (flow, route) in enumerate(zip(flows, routes, strict=True)):
        paused = [slowest.get((link, flow.priority), 1.0) for link in route.leaves]
        fits = min([*paused, slowest.get((out(flow), flow.priority), 1.0)])
        if fits >= rates[number] / wanted[number]:
            continue
        rates[number] = fits * wanted[number]
        stopped = Effect(paused=1 - fits) if flow.sender.is_ethernet else Effect(waiting=1 - fits)
        effects[number] = _worse(effects[number], stopped)
    return rates, effects


def _before(route: Route, full: Mapping[Link, Leaf]) -> list[Link]:
    """Return the links of a route that a full one behind them stops."""
    kinds = ("out", "up", "down", "in")
    last = max((kinds.index(link.kind) for link in route.leaves if link in full), default=0)
    return [link for link in route.capacities if link.kind in kinds[:last]]


def reaction(flow: Flow, leaf: Leaf, excess: float) -> Effect:
    """Return what a full link does to a flow that offers it too much.

    `leaf` sends into the link, `excess` is the part of the flow that does not fit.
    """
    if not flow.sender.is_ethernet:
        return Effect(waiting=excess)
    if excess and flow.receiver.takes < 1:
        return Effect(paused=excess, pausing=excess)
    priority = _arriving(flow)
    is_marked = _is_told(flow, leaf)
    slows = "rp" in flow.sender.ecn
    delays = any(port.edge.delays_notices for port in (flow.sender, flow.receiver))
    is_late = delays or flow.receiver.cnp[1] in (0, priority)
    is_lossless = priority in leaf.lossless and priority in flow.sender.lossless
    if is_marked and slows and not is_late:
        lost = 0.0 if is_lossless and leaf.has_headroom else BURST_LOST
        return Effect(MARKED, NOTICES_PER_S, lost=lost)
    told = Effect(DEEPLY_MARKED, NOTICES_PER_S, heeds=slows) if is_marked else CLEAR
    if not is_lossless:
        return replace(told, lost=LOST)
    lost = 0.0 if leaf.has_headroom else BURST_LOST
    return replace(told, paused=LATE_PAUSED if is_marked and slows else excess, lost=lost)


def _arriving(flow: Flow) -> int:
    """Return the priority of a flow behind its leaf."""
    return flow.priority if flow.sender.edge.keeps_class else 0


def _is_told(flow: Flow, leaf: Leaf) -> bool:
    """Return whether notifications tell the sender of a flow that a link of a leaf is full."""
    return _arriving(flow) in leaf.marks and "np" in flow.receiver.ecn


def _pressing(stream: Stream[Link], flow: Flow, full: Mapping[Link, Leaf]) -> Stream[Link]:
    """Return a stream with the weight it has where others slow down and its sender does not."""
    is_told = any(_is_told(flow, full[link]) for link, _ in stream.uses if link in full)
    if not is_told or "rp" in flow.sender.ecn or not flow.sender.is_ethernet:
        return stream
    return replace(stream, weight=stream.weight * GREEDY)


def _own(stream: Stream[Link]) -> Stream[Link]:
    """Return what a stream takes of the links where its sender limits itself."""
    return Stream(tuple(use for use in stream.uses if use[0].kind in OWN), stream.weight)


def _load(streams: Sequence[Stream[Link]], rates: Sequence[float]) -> Mapping[Link, float]:
    load: dict[Link, float] = defaultdict(float)
    for stream, rate in zip(streams, rates, strict=True):
        for link, part in stream.uses:
            load[link] += rate * part
    return load


def _sums(flows: Sequence[Flow], owners: Sequence[int], rates: Sequence[float]) -> list[float]:
    """Return the rate of all streams of each flow."""
    sums = [0.0] * len(flows)
    for number, rate in zip(owners, rates, strict=True):
        sums[number] += rate
    return sums


def _part(rate: float, flow: Flow) -> float:
    """Return the part of its own rate that a flow has: 1 where only rounding is missing."""
    part = rate / flow.wire_bps
    return 1.0 if part > 1 - 1e-9 else part


def _worse(one: Effect, other: Effect) -> Effect:
    return Effect(
        marked=max(one.marked, other.marked),
        notices=max(one.notices, other.notices),
        heeds=one.heeds and other.heeds,
        paused=max(one.paused, other.paused),
        lost=max(one.lost, other.lost),
        waiting=max(one.waiting, other.waiting),
        pausing=max(one.pausing, other.pausing),
    )


def _kept(effect: Effect, fits: float) -> float:
    """Return what is left of a rate, of which a part fits, when it is reached by marks or loss."""
    if effect.lost >= LOST:
        return RESENT
    return CONTROLLED if effect.marked and not effect.paused and fits * FULL < 1 else 1.0


def _per_port(flows: Sequence[Flow], met: Sequence[Effect]) -> list[Effect]:
    """Return the effects such that flows of one port do not count the same pause twice."""
    crowd: dict[object, int] = defaultdict(int)
    for flow in flows:
        crowd[flow.sender.id] += 1
    return [
        effect
        if crowd[flow.sender.id] == 1 or effect is CLEAR
        else replace(
            effect,
            paused=effect.paused / crowd[flow.sender.id],
            waiting=effect.waiting / crowd[flow.sender.id],
        )
        for flow, effect in zip(flows, met, strict=True)
    ]
