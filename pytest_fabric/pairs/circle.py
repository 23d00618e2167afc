"""The circle method: a full mesh in as few rounds as there can be."""

from __future__ import annotations

from collections.abc import Iterator


def circle(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield rounds of pairs of `range(count)` until each two have met once.

    An even count takes count - 1 rounds in which all are busy; an odd one takes count rounds, in
    each of which another one rests.
    """
    turning = count - 1 + count % 2
    for turn in range(turning if count > 1 else 0):
        fixed = [] if count % 2 else [(turn, turning)]
        steps = range(1, turning // 2 + 1)
        yield fixed + [((turn + step) % turning, (turn - step) % turning) for step in steps]
