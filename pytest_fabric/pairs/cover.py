"""Few pairs that reach everything: every port both near and far, and every two leaves.

Each port gets one peer on its own leaf and the others, three by default, across leaves. A slow port
then stands out among its peers, a slow uplink in pairs whose ports are good elsewhere, and a leaf
in everything that crosses it. A ring shows none of this: its neighbours hang on the same leaf.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, islice

from pytest_fabric.pairs.across import Crossing, match
from pytest_fabric.pairs.circle import circle
from pytest_fabric.pairs.group import Group
from pytest_fabric.pairs.mesh import Mesh
from pytest_fabric.results import Pair, Port


def cover(group: Group) -> list[Pair]:
    """Return `peers` peers of each port, both directions, such that all leaves meet.

    One peer is on the port's own leaf and the others are not, or as many as there are. Where that
    leaves out two leaves, they get a pair more. Where one leaf holds everything, or none is known,
    peers are spread over the group; ports without a known leaf count as a leaf of their own.
    """
    leaves = list(group.by_leaf().values())
    random = group.random()
    random.shuffle(leaves)
    for ports in leaves:
        random.shuffle(ports)
    near, far = Mesh(group.ports), Mesh(group.ports)
    for ports in leaves:
        _spread(near, ports, group.peers if len(leaves) == 1 else 1)
    if len(leaves) > 1:
        _cross(far, leaves, group.peers - 1)
    for client, peers in far.peers.items():
        near.peers[client].update(peers)
    return near.pairs()


def _spread(mesh: Mesh, ports: list[Port], wanted: int) -> None:
    """Give ports of one leaf their peers: matchings first, which leave few ports to fill up."""
    for matching in islice(circle(len(ports)), wanted):
        for one, other in matching:
            if mesh.may_join(ports[one], ports[other]):
                mesh.join(ports[one], ports[other])
    mesh.fill(ports, wanted, lambda _: ports)


def _cross(mesh: Mesh, leaves: list[list[Port]], wanted: int) -> None:
    """Give ports their peers on other leaves, and every two leaves a pair of ports."""
    leaf_of = {port: leaf for leaf, ports in enumerate(leaves) for port in ports}
    crossing = Crossing(mesh, leaf_of)
    for _ in range(wanted):
        match(crossing, leaves)
    for one, other in combinations(range(len(leaves)), 2):
        if not crossing.times(one, other):
            _meet(crossing, leaves[one], leaves[other])
    ports = list(leaf_of)

    @cache
    def elsewhere(leaf: int) -> list[Port]:
        return [port for port in ports if leaf_of[port] != leaf]

    mesh.fill(ports, wanted, lambda port: elsewhere(leaf_of[port]))


def _meet(crossing: Crossing, ones: list[Port], others: list[Port]) -> None:
    """Make peers of two ports that have few, one of each leaf."""
    others = sorted(others, key=crossing.mesh.count)
    for one in sorted(ones, key=crossing.mesh.count):
        other = next((other for other in others if crossing.may_join(one, other)), None)
        if other is not None:
            crossing.join(one, other)
            return
