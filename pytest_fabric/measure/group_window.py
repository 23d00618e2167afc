"""The window of a group: what all of its ports counted, and what that says against its values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.counters import refresh_s
from pytest_fabric.measure import window
from pytest_fabric.measure.settings import Settings
from pytest_fabric.measure.window import ABOVE_LINE, COUNTS_RESENDS, FOREIGN_SHARE, Window
from pytest_fabric.results import Bandwidth, Growth, Pair, Port
from pytest_fabric.units import render


@dataclass(frozen=True)
class Part:
    """What one pair of a group produced: `line_bps` is the slower declared speed of its ends."""

    pair: Pair
    settings: Settings
    row: Bandwidth
    mtu: int | None
    window: Window
    line_bps: float | None
    drivers: Mapping[str, str]
    began: float
    ended: float


def merged(windows: Sequence[Window]) -> Window:
    """Return the windows of a group as one.

    Several pairs may have read the same port, one after another: the one that opened first and
    closed last saw everything, so of each counter the largest growth counts.
    """
    found: dict[tuple[str, str], Growth] = {}
    for one in windows:
        for grown in one.growth:
            key = (grown.port, grown.name)
            if key not in found or grown.delta > found[key].delta:
                found[key] = grown
    growth = tuple(found[key] for key in sorted(found))
    problems = window.joined(one.problems for one in windows)
    return Window(growth, problems, max((one.duration_s for one in windows), default=0.0))


def doubts(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return why the values of a group must not be judged, if anything speaks against them.

    Beside what speaks against a pair (foreign traffic, traffic that went elsewhere, another class),
    held against the sum of all pairs of a port: clients that did not run at the same time.
    """
    seen = merged([part.window for part in parts])
    return (*_apart(parts), *_by_port(parts, seen), *_other_class(parts, seen))


def _apart(parts: Sequence[Part]) -> list[str]:
    """Return the pair whose counted middle has no traffic of another beside it all the time."""
    margin = (parts[0].settings.duration_s or 0) // 4
    found = []
    for what, moments in (
        ("started", {part.pair: part.began for part in parts}),
        ("ended", {part.pair: part.ended - _settles_s(part) for part in parts}),
    ):
        first = min(moments.values())
        late = max(moments, key=lambda pair: moments[pair])
        apart = moments[late] - first
        if apart > margin:
            found.append(
                f"{late} {what} {apart:.1f} s after the first, expected at most {margin} s, the "
                "part of its run that perftest does not count: they did not run at the same time"
            )
    return found[:1]


def _settles_s(part: Part) -> float:
    """Return how long a client waited for its counters after its tool had ended."""
    return refresh_s(part.drivers[str(part.pair.client)])


def _by_port(parts: Sequence[Part], seen: Window) -> Iterable[str]:
    """Yield what the byte counters of each port say against the sum of its pairs."""
    ends: dict[tuple[Port, str], list[Part]] = defaultdict(list)
    for part in parts:
        ends[window.sender(part.settings, part.pair), "tx"].append(part)
        ends[window.receiver(part.settings, part.pair), "rx"].append(part)
    for (port, direction), mine in ends.items():
        way = "sent" if direction == "tx" else "received"
        mtu = max((part.mtu or 0 for part in mine), default=0) or None
        moved = window.moved_bytes(seen.moved, port, direction, mtu)
        expected = sum(part.row.bytes * part.row.iterations for part in mine)
        line = mine[0].line_bps
        total = sum(part.row.average_bps / (part.settings.directions or 1) for part in mine)
        if line is not None and total > ABOVE_LINE * line:
            yield (
                f"{port} {way} {render(total, 'b/s')} by the sum of its pairs, more than its line "
                f"of {render(line, 'b/s')}: they did not run at the same time"
            )
        if moved is None:
            yield f"{port} has no counter of bytes or packets that proves its traffic"
        elif moved < expected:
            yield (
                f"{port} {way} {render(moved, 'B')} by its counters, expected at least "
                f"{expected:,} B: the traffic went elsewhere"
            )
        elif line is not None and mine[0].drivers[str(port)] not in COUNTS_RESENDS:
            own = sum(window.most_bytes(part.settings, part.row, part.mtu) for part in mine)
            allowed = FOREIGN_SHARE["bandwidth"] * line / 8 * seen.duration_s
            if moved - own > allowed:
                yield f"{port} {way} {moved - own:,.0f} B that are not ours: foreign traffic"


def _other_class(parts: Sequence[Part], seen: Window) -> list[str]:
    """Return the ports that moved too little on the declared priority, each once."""
    told: dict[str, None] = {}
    for part in parts:
        expected = part.row.bytes * part.row.iterations
        shares = window.class_shares(part.settings, part.pair, seen.moved, expected)
        told.update(dict.fromkeys(window.other_class(part.settings, shares)))
    return list(told)
