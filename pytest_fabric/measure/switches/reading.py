"""Readings of a switch's counters: the commands, the window between two of them, and growth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_fabric.measure.switches.far import told
from pytest_fabric.measure.topics.heard import Outcomes, Unread
from pytest_fabric.tools import (
    sonic_counters,
    sonic_pfc,
    sonic_queues,
    sonic_status,
    sonic_watermark,
    sonic_wred,
)

#: The commands by section; files that a site captures have these names.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "status": sonic_status.command(),
    "counters": sonic_counters.command(),
    "fec": sonic_counters.command("fec-stats"),
    "pause": sonic_pfc.command(),
    "drops": sonic_queues.command(),
    "peaks": sonic_watermark.command("queue_unicast"),
    "marks": sonic_wred.command(),
}

#: Seconds until what was counted is in the switch's database: it collects queues every 10 s, ports
#: every second (defaults of `counterpoll` in sonic-net/sonic-utilities).
REFRESH_S = 11

#: What stands before the second reading.
WAIT: Mapping[str, tuple[str, ...]] = {
    "wait": ("sleep", f"{REFRESH_S / 2:g}"),
    "wait-on": ("sleep", f"{REFRESH_S / 2:g}"),
}


@dataclass(frozen=True)
class Window:
    """Two readings of a switch, and the seconds between them.

    `forced` says that congestion was forced meanwhile, `quiet` is a reading right before that;
    `receivers` are the ports at which incasts ended.
    """

    before: Outcomes
    after: Outcomes
    seconds: float
    forced: bool = False
    quiet: Outcomes | None = None
    receivers: frozenset[str] = frozenset()

    def without_congestion(self) -> Window | None:
        """Return the part in which none was forced, None where it was not read apart."""
        if not self.forced:
            return self
        return None if self.quiet is None else replace(self, after=self.quiet, forced=False)

    def with_congestion(self) -> Window:
        """Return the part in which congestion was forced, all of it where nothing else is known."""
        return self if self.quiet is None else replace(self, before=self.quiet)


def grown(name: str, before: float | None, after: float | None) -> int:
    """Return the growth of a counter. Raises Unread where it is not there, or went back."""
    if before is None or after is None:
        raise Unread(f"the switch does not count {name}: see not_available")
    if after < before:
        raise Unread(
            f"{name} went back from {before:,.0f} to {after:,.0f}: somebody has cleared the "
            "counters, or the switch was restarted: run it again"
        )
    return int(after - before)


def peak(port: str, number: int, window: Window) -> str:
    """Return how full a queue was at most, for people: nothing is held against it."""
    try:
        marks = told(window.after, "peaks", SECTIONS, sonic_watermark.parse)
    except Unread:
        return ""  # information that a platform may not have
    peaks = [
        peak
        for mark in marks
        if mark.port == port
        for place, peak in zip(mark.numbers, mark.peak_bytes, strict=True)
        if place == number and peak is not None
    ]
    return f", at most {peaks[0]:,} B full" if peaks else ""
