"""Matchings across leaves: as many ports as can be get one more peer on another leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fabric.pairs.mesh import Mesh
from pytest_fabric.results import Port


@dataclass(frozen=True)
class Crossing:
    """Peers on different leaves, and how often each two leaves met."""

    mesh: Mesh
    leaf_of: Mapping[Port, int]
    met: Counter[tuple[int, int]] = field(default_factory=Counter)

    def may_join(self, one: Port, other: Port) -> bool:
        """Tell whether two ports may become peers across leaves."""
        return self.leaf_of[one] != self.leaf_of[other] and self.mesh.may_join(one, other)

    def times(self, one: int, other: int) -> int:
        """Return how often two leaves met."""
        return self.met[min(one, other), max(one, other)]

    def join(self, one: Port, other: Port) -> None:
        """Make two ports peers."""
        self.mesh.join(one, other)
        self._count(one, other, 1)

    def part(self, one: Port, other: Port) -> None:
        """Undo a join."""
        self.mesh.part(one, other)
        self._count(one, other, -1)

    def _count(self, one: Port, other: Port, step: int) -> None:
        ends = self.leaf_of[one], self.leaf_of[other]
        self.met[min(ends), max(ends)] += step


def match(crossing: Crossing, leaves: Sequence[Sequence[Port]]) -> None:
    """Join ports of different leaves, each at most once, leaves that met least often first.

    The fullest leaf goes first, since the ports that it keeps for last have nobody to meet.
    """
    waiting = {leaf: list(ports) for leaf, ports in enumerate(leaves) if ports}
    joined: list[tuple[Port, Port]] = []
    alone: list[Port] = []
    while waiting:
        leaf = max(waiting, key=lambda leaf: len(waiting[leaf]))
        one = _take(waiting, leaf, waiting[leaf][0])
        other = next(_partners(crossing, one, waiting), None)
        if other is None:
            alone.append(one)
            continue
        crossing.join(one, _take(waiting, crossing.leaf_of[other], other))
        joined.append((one, other))
    while len(alone) > 1:
        _insert(crossing, alone.pop(), alone.pop(), joined)


def _take(waiting: dict[int, list[Port]], leaf: int, port: Port) -> Port:
    waiting[leaf].remove(port)
    if not waiting[leaf]:
        del waiting[leaf]
    return port


def _partners(crossing: Crossing, one: Port, waiting: dict[int, list[Port]]) -> Iterator[Port]:
    """Yield the waiting ports that may be met, the best first."""
    leaf = crossing.leaf_of[one]

    def rank(other: int) -> tuple[int, int]:
        return crossing.times(leaf, other), -len(waiting[other])

    for other in sorted((other for other in waiting if other != leaf), key=rank):
        yield from (port for port in waiting[other] if crossing.may_join(one, port))


def _insert(crossing: Crossing, one: Port, other: Port, joined: list[tuple[Port, Port]]) -> None:
    """Join two ports that found nobody, with each other or with two that part for it."""
    if crossing.may_join(one, other):
        crossing.join(one, other)
        return
    for place, (left, right) in enumerate(joined):
        for first, second in ((left, right), (right, left)):
            if crossing.may_join(one, first) and crossing.may_join(other, second):
                crossing.part(left, right)
                crossing.join(one, first)
                crossing.join(other, second)
                joined[place : place + 1] = [(one, first), (other, second)]
                return
