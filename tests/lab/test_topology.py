"""Leaves, spines and the flows that meet between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import mean

import pytest

from pytest_fabric.lab import links
from pytest_fabric.lab.flow import Flow
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.sharing import max_min
from pytest_fabric.lab.traffic import Traffic
from pytest_fabric.results import Port as PortId

from .clusters import INFINIBAND, ROCE, nodes, port
from .test_congestion import HEEDED, MARKED, NOTICES, PAUSED, PAUSES, grown
from .test_traffic import FULL, Watch, flow, run

LEAVES = 8
HOSTS = 32

#: Two leaves of four ports on one rail.
TWO = ROCE.replace(
    "rails:",
    """  gpu[005-008]:
    profile: roce
    rails:
      rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16, leaf: leaf-9}
rails:""",
)


def edge(text: str, place: str = "gpu001:rail0") -> tuple[float, ...]:
    return port(text, place).edge.uplinks


@pytest.mark.parametrize(
    ("text", "uplinks"),
    [
        (ROCE, 4),
        (TWO, 4),
        (TWO.replace("transport: lab\n", "transport: lab\nfabric: {oversubscription: 2}\n"), 2),
        (TWO.replace("transport: lab\n", "transport: lab\nfabric: {oversubscription: 3}\n"), 2),
        (INFINIBAND, 0),  # its only leaf
    ],
)
def test_a_leaf_has_as_many_uplinks_as_ports_by_its_oversubscription(
    text: str, uplinks: int
) -> None:
    place = "ib1:rail0" if text == INFINIBAND else "gpu001:rail0"

    assert edge(text, place) == (400e9,) * uplinks


def test_ports_of_a_leaf_are_counted() -> None:
    assert [node.ports[0].place for node in nodes(TWO).values()] == [0, 1, 2, 3, 0, 1, 2, 3]


def fabric(routing: str = "ecmp") -> list[list[Port]]:
    """Return 8 leaves with 32 ports and 32 uplinks of 400 Gb/s each."""
    like = port()
    leaf = replace(like.edge, uplinks=(400e9,) * HOSTS, routing=routing)
    return [
        [
            replace(like, id=PortId(f"n{i}-{j}", "r"), leaf=f"leaf-{i}", edge=leaf, place=j)
            for j in range(HOSTS)
        ]
        for i in range(LEAVES)
    ]


def permutation(leaves: Sequence[Sequence[Port]], queue_pairs: int, chance: Random) -> list[Flow]:
    """Return a flow of every port to one of another leaf, each port receiving once."""
    flows = []
    for place, senders in enumerate(leaves):
        receivers = list(leaves[(place + len(leaves) // 2) % len(leaves)])
        chance.shuffle(receivers)
        for sender, receiver in zip(senders, receivers, strict=True):
            hashes = tuple(chance.randrange(2**32) for _ in range(queue_pairs))
            flows.append(flow(sender, receiver, bps=FULL, hashes=hashes))
    return flows


def shares(flows: Sequence[Flow]) -> list[float]:
    """Return what each flow gets of its own rate, by max-min alone."""
    routes = [links.route(each) for each in flows]
    streams = [stream for route in routes for stream in route.streams]
    capacities = {link: value for route in routes for link, value in route.capacities.items()}
    rates = iter(max_min(streams, capacities))
    return [
        sum(next(rates) for _ in route.streams) / each.wire_bps
        for each, route in zip(flows, routes, strict=True)
    ]


@pytest.mark.parametrize(
    ("active", "queue_pairs", "average", "first", "below"),
    [
        (1.0, 1, 0.64, 0.20, 0.62),
        (1.0, 2, 0.77, 0.37, 0.67),
        (1.0, 4, 0.89, 0.57, 0.45),
        (1.0, 16, 0.986, 0.87, 0.06),
        (0.25, 1, 0.89, 0.33, 0.20),
        (0.05, 1, 0.975, 0.50, 0.05),
    ],
)
def test_perfect_fabric_under_ecmp_has_the_collisions_that_hashing_makes(
    active: float, queue_pairs: int, average: float, first: float, below: float
) -> None:
    """Mean, first percentile and the part below 92 % of a fabric that nothing is wrong with.

    Computed for the same fabric (8 leaves of 32 hosts, non-blocking, uniform hash, max-min share).
    """
    chance = Random(7)
    found: list[float] = []
    for _ in range(max(2, round(0.5 / active))):
        flows = permutation(fabric(), queue_pairs, chance)
        found += shares(chance.sample(flows, round(active * len(flows))))
    found.sort()

    assert mean(found) == pytest.approx(average, abs=0.03)
    assert found[len(found) // 100] == pytest.approx(first, abs=0.06)
    assert mean(share < 0.92 for share in found) == pytest.approx(below, abs=0.06)


@pytest.mark.parametrize("routing", ["adaptive", "spray"])
def test_other_routing_fills_all_links_alike(routing: str) -> None:
    assert shares(permutation(fabric(routing), 1, Random(1))) == pytest.approx([1.0] * 256)


def test_infiniband_is_routed_by_destination_and_a_permutation_fits() -> None:
    like = port(INFINIBAND, "ib1:rail0")
    leaves = [
        [replace(one, layer=like.layer, edge=replace(one.edge)) for one in leaf]
        for leaf in fabric()
    ]

    assert shares(permutation(leaves, 1, Random(1))) == pytest.approx([1.0] * 256)


def test_queue_pairs_spread_over_the_uplinks() -> None:
    ports = {node.name: node.ports[0] for node in nodes(TWO).values()}
    route = links.route(flow(ports["gpu001"], ports["gpu005"], hashes=tuple(range(8))))

    assert Counter(link.kind for link in route.leaves) == {"up": 4, "down": 4, "in": 1}
    assert sorted(stream.weight for stream in route.streams) == [2, 2, 2, 2]


def collision(traffic: Traffic, watch: Watch, *faults: str) -> dict[str, Port]:
    """Let two pairs use one uplink; a third starts on the same leaf and goes another way."""
    ports = {node.name: node.ports[0] for node in nodes(TWO, *faults).values()}
    flows = [
        flow(ports[f"gpu00{one}"], ports[f"gpu00{other}"], bps=FULL, hashes=(number,))
        for one, other, number in ((1, 5, 0), (2, 6, 4), (3, 7, 1))
    ]
    run(traffic, watch, *flows)
    rates = [each.average_bps() / FULL for each in flows]
    assert rates == [pytest.approx(0.49, abs=0.02)] * 2 + [1.0]
    return ports


def test_flows_that_collide_on_an_uplink_share_it_and_are_marked() -> None:
    watch = Watch()
    traffic = Traffic(watch)

    ports = collision(traffic, watch)

    for name in ("gpu001", "gpu002"):
        assert set(grown(traffic, ports[name])) == {HEEDED}
    for name in ("gpu005", "gpu006"):
        assert set(grown(traffic, ports[name])) == {MARKED, NOTICES}
    for name in ("gpu003", "gpu007"):
        assert grown(traffic, ports[name]) == {}


def test_who_shares_an_uplink_with_paused_senders_waits_behind_them() -> None:
    """Head-of-line blocking: the victim goes to a port that nobody else sends to."""
    watch = Watch()
    traffic = Traffic(watch)
    faults = ("ecn_np_off@gpu005:rail0",)
    ports = {node.name: node.ports[0] for node in nodes(TWO, *faults).values()}
    incast = [
        flow(ports[name], ports["gpu005"], bps=0.6 * FULL, hashes=(number,))
        for number, name in enumerate(("gpu001", "gpu002", "gpu003"))
    ]
    victim = flow(ports["gpu004"], ports["gpu006"], bps=0.3 * FULL, hashes=(0,))
    clean = flow(ports["gpu007"], ports["gpu008"], bps=FULL)

    run(traffic, watch, *incast, victim, clean)

    assert victim.average_bps() == pytest.approx(0.3 * FULL / 1.8, rel=0.02)
    assert set(grown(traffic, ports["gpu004"])) == {PAUSES, PAUSED}
    assert grown(traffic, ports["gpu006"]) == {}
    assert [grown(traffic, ports[name]) for name in ("gpu007", "gpu008")] == [{}, {}]


def test_victims_go_on_when_the_congestion_ends() -> None:
    watch = Watch()
    traffic = Traffic(watch)
    faults = ("ecn_np_off@gpu005:rail0",)
    ports = {node.name: node.ports[0] for node in nodes(TWO, *faults).values()}
    first, second = (
        flow(ports[name], ports["gpu005"], bps=0.6 * FULL, hashes=(number,))
        for number, name in enumerate(("gpu001", "gpu002"))
    )
    victim = flow(ports["gpu004"], ports["gpu006"], bps=0.3 * FULL, hashes=(0,))

    for each in (victim, first, second):
        traffic.start(each)
    assert victim.share == pytest.approx(1 / 1.2, rel=0.01)
    traffic.stop(second, complete=False)

    assert (first.share, victim.share) == (1, 1)
    assert not victim.effect.stops
