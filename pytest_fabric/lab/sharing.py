"""Who gets how much of links that many want: max-min fairness, by filling all alike.

Bertsekas and Gallager, "Data Networks", 6.5.2: raise all rates together; a stream stops where one
of its links is full. The rest goes on with what is left.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

L = TypeVar("L", bound=Hashable)

#: Parts of a capacity below which a link is full: what rounding leaves.
FULL = 1e-9


@dataclass(frozen=True)
class Stream(Generic[L]):
    """What wants links: of each, `uses` says how much one unit of its rate takes.

    A stream of `weight` 2 is raised twice as fast as one of 1, as two queue pairs are.
    """

    uses: tuple[tuple[L, float], ...]
    weight: float = 1.0


def max_min(streams: Sequence[Stream[L]], capacities: Mapping[L, float]) -> list[float]:
    """Return the rate of each stream; every one must use a link that has a capacity.

    No link carries more than its capacity, and no stream could have more unless one that has no
    more per weight had less.
    """
    left = {link: capacities[link] for stream in streams for link, _ in stream.uses}
    wants = dict.fromkeys(left, 0.0)
    users: dict[L, list[int]] = {link: [] for link in left}
    for number, stream in enumerate(streams):
        for link, part in stream.uses:
            wants[link] += part * stream.weight
            users[link].append(number)
    rates: list[float | None] = [None] * len(streams)
    filled = dict.fromkeys(left, 0.0)
    order = {link: place for place, link in enumerate(left)}
    heap = [(_level(left[link], wants[link], 0.0), order[link], link) for link in left]
    heapq.heapify(heap)
    while heap:
        level, place, link = heapq.heappop(heap)
        present = [number for number in users[link] if rates[number] is None]
        if not present:
            continue
        now = _level(left[link], wants[link], filled[link])
        if now > level * (1 + FULL):
            heapq.heappush(heap, (now, place, link))  # others have stopped since
            continue
        for number in present:
            stream = streams[number]
            rates[number] = stream.weight * level
            for other, part in stream.uses:
                # What its streams took up to this level, then one fewer goes on.
                left[other] -= (level - filled[other]) * wants[other]
                filled[other] = level
                wants[other] -= part * stream.weight
    return [rate or 0.0 for rate in rates]


def _level(left: float, wants: float, filled: float) -> float:
    """Return the rate per weight at which a link is full."""
    return filled + max(0.0, left) / wants if wants > 0 else float("inf")
