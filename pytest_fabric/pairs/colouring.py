"""Edge colouring: edges of one colour share no vertex, and there is at most one colour too many.

By Vizing's theorem a graph needs as many colours as its busiest vertex has edges, or one more. Two
swapped colours along a path keep to the smaller number nearly everywhere (always, in a bipartite
graph). An edge that is left moves to other places, a limited number of times; and where that does
not help, the fans of Misra and Gries keep to the larger number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

Edge = tuple[int, int]

#: How often the edges that are left may move, all together. Hard graphs need some twenty moves.
MOVES = 500


def colouring(count: int, edges: Sequence[Edge], random: Random) -> dict[Edge, int]:
    """Return a colour of each edge, by its vertices in order; no edge is twice."""
    degree = [0] * count
    for edge in edges:
        for vertex in edge:
            degree[vertex] += 1
    busiest = max(degree, default=0)
    must = len(edges) > busiest * (count // 2)  # a colour has at most half as many edges
    found = _Colouring(count, busiest, random, 0 if must else MOVES)
    shuffled = list(edges)
    random.shuffle(shuffled)
    for one, other in shuffled:
        found.add(one, other)
    return dict(found.edges())


class _Colouring:
    """A partial colouring: the neighbour of each vertex by colour, and its free colours as bits."""

    def __init__(self, count: int, busiest: int, random: Random, moves: int) -> None:
        self.few = (1 << busiest) - 1
        self.random = random
        self.moves = moves
        self.free = [(2 << busiest) - 1] * count
        self.at: list[dict[int, int]] = [{} for _ in range(count)]

    def edges(self) -> Iterator[tuple[Edge, int]]:
        """Yield each edge with its colour."""
        for one, colours in enumerate(self.at):
            yield from (((one, other), c) for c, other in colours.items() if one < other)

    def add(self, one: int, other: int) -> None:
        """Colour an edge."""
        while not (self._share(one, other) or self._swap(one, other)):
            if not self.moves:
                self._fan(one, other)
                return
            self.moves -= 1
            one, other = self._move(one, other)

    def _share(self, one: int, other: int) -> bool:
        """Colour an edge with a colour that both of its ends have free, if there is any."""
        both = self.free[one] & self.free[other] & self.few
        if both:
            self._set(one, other, _lowest(both))
        return bool(both)

    def _move(self, one: int, other: int) -> Edge:
        """Colour an edge with the colour of one beside it, and return that one instead.

        Another two colours are swapped as well: moves alone lead around an odd circle for ever.
        """
        if self.random.random() < 0.5:
            one, other = other, one
        colour = self._pick(self.free[other])
        third = self.at[one][colour]
        self._unset(one, third, colour)
        self._set(one, other, colour)
        mine, new = self._pick(self.free[one]), self._pick(~self.free[one])
        self._flip(self._path(one, new, mine), new, mine)
        return one, third

    def _pick(self, bits: int) -> int:
        return self.random.choice(list(_colours(bits & self.few)))

    def _swap(self, one: int, other: int) -> bool:
        """Colour an edge by swapping two colours along a path from its other end, if that works."""
        for mine in _colours(self.free[one] & self.few):
            for theirs in _colours(self.free[other] & self.few):
                path = self._path(other, mine, theirs)
                if path[-1] != one:
                    self._flip(path, mine, theirs)
                    self._set(one, other, mine)
                    return True
        return False

    def _fan(self, one: int, other: int) -> None:
        """Colour an edge by Misra and Gries: turn a fan of edges around its first end."""
        fan = [other]
        left = {neighbour: colour for colour, neighbour in self.at[one].items()}
        while True:
            free = self.free[fan[-1]]
            after = next((v for v, colour in left.items() if free >> colour & 1), None)
            if after is None:
                break
            del left[after]
            fan.append(after)
        mine, theirs = _lowest(self.free[one]), _lowest(self.free[fan[-1]])
        if not self.free[one] >> theirs & 1:
            self._flip(self._path(one, theirs, mine), theirs, mine)
        self._turn(one, fan[: self._end(one, fan, theirs) + 1], theirs)

    def _end(self, one: int, fan: Sequence[int], colour: int) -> int:
        """Return up to where a fan is still one after the swap, with the colour free at its end."""
        colour_to = {neighbour: c for c, neighbour in self.at[one].items()}
        for place, vertex in enumerate(fan):
            if self.free[vertex] >> colour & 1:
                return place
            after = fan[place + 1]
            if not self.free[vertex] >> colour_to[after] & 1:
                break
        raise AssertionError("a fan of Misra and Gries has no end")

    def _turn(self, one: int, fan: Sequence[int], colour: int) -> None:
        """Give each edge of a fan the colour of the next one, and the last one the new colour."""
        colour_to = {neighbour: c for c, neighbour in self.at[one].items()}
        colours = [*(colour_to[vertex] for vertex in fan[1:]), colour]
        for vertex in fan[1:]:
            self._unset(one, vertex, colour_to[vertex])
        for vertex, its in zip(fan, colours, strict=True):
            self._set(one, vertex, its)

    def _path(self, start: int, first: int, second: int) -> list[int]:
        """Return the vertices along edges of two colours in turn."""
        path = [start]
        while (after := self.at[path[-1]].get(first)) is not None:
            path.append(after)
            first, second = second, first
        return path

    def _flip(self, path: Sequence[int], first: int, second: int) -> None:
        """Swap the colours of a path that starts with the first one."""
        steps = list(pairwise(path))
        colours = [(first, second)[place % 2] for place in range(len(steps))]
        for (one, other), colour in zip(steps, colours, strict=True):
            self._unset(one, other, colour)
        for (one, other), colour in zip(steps, colours, strict=True):
            self._set(one, other, first + second - colour)

    def _set(self, one: int, other: int, colour: int) -> None:
        self.at[one][colour], self.at[other][colour] = other, one
        self.free[one] &= ~(1 << colour)
        self.free[other] &= ~(1 << colour)

    def _unset(self, one: int, other: int, colour: int) -> None:
        del self.at[one][colour], self.at[other][colour]
        self.free[one] |= 1 << colour
        self.free[other] |= 1 << colour


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _colours(bits: int) -> Iterator[int]:
    while bits:
        yield _lowest(bits)
        bits &= bits - 1
