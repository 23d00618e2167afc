"""What the switch end of each cable counted in a window: errors, drops, and pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fabric.measure.switches.far import Facts, Far, find, told
from pytest_fabric.measure.switches.marks import ecn_marked
from pytest_fabric.measure.switches.reading import SECTIONS as SECTIONS
from pytest_fabric.measure.switches.reading import WAIT as WAIT
from pytest_fabric.measure.switches.reading import Window as Window
from pytest_fabric.measure.switches.reading import grown, peak
from pytest_fabric.measure.topics.heard import Outcomes, Unread
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.said import UNLOADED
from pytest_fabric.tools import sonic_counters, sonic_pfc, sonic_queues, sonic_status
from pytest_fabric.tools.sonic_counters import PortCounters

METRICS = TOPICS["switch_window"]

#: Packets below which a window shows nothing: one ping of this program has 3,000.
MOVED = 1000

FORCED = (
    "this run has forced congestion, under which a lossless fabric must pause, and nothing was "
    "captured before that: capture `middle/`"
)


class Idle(Unread):
    """Raised when hardly anything went over a cable, so that its counters show nothing."""


def read_window(ends: Sequence[Far], window: Window, earlier: Facts | None = None) -> Facts:
    """Return by how much each end's counters grew; every metric has a value or its problem.

    `earlier` is what the run that is resumed has found: its growth counts, too.
    """
    before = earlier or {}
    return {str(far.port): _both(before.get(str(far.port), {}), far, window) for far in ends}


def _both(earlier: Mapping[str, Fact], far: Far, window: Window) -> Mapping[str, Fact]:
    """Return what an end counted in this window and in an earlier one, if there is one."""
    try:
        found = dict(_end(far, window))
    except Idle as error:
        where = far.cable.switch
        return earlier or dict.fromkeys(METRICS, Fact(None, f"{where}: {error}"))
    return {metric: _sum(earlier.get(metric), fact) for metric, fact in found.items()}


def _sum(earlier: Fact | None, fact: Fact) -> Fact:
    """Return the growth of two windows; a problem of either hides it."""
    if earlier is None or earlier.inapplicable or fact.problem:
        return fact
    if earlier.problem or fact.inapplicable:
        return earlier
    values = (earlier.value, fact.value)
    total = sum(value for value in values if isinstance(value, (int, float)))
    return Fact(total, detail=(*earlier.detail, *fact.detail))


def _end(far: Far, window: Window) -> Iterator[tuple[str, Fact]]:
    where = far.cable.switch
    try:
        status = told(window.after, "status", SECTIONS, sonic_status.parse)
        port = find(far, status).port
        where = f"{far.cable.place} ({port})"
        moved = sum(grown(name, *_counters(window, port, name)) for name in ("rx_ok", "tx_ok"))
        if moved < MOVED:
            raise Idle(
                f"expected {MOVED:,} packets or more over the cable, found {moved:,} in "
                f"{window.seconds:.0f} s: {UNLOADED}"
            )
    except Idle:
        raise
    except Unread as error:
        yield from dict.fromkeys(METRICS, Fact(None, f"{where}: {error}")).items()
        return
    shown = f"{moved:,} packets in {window.seconds:.0f} s"
    for metric, tell in TELL.items():
        try:
            fact = tell(far, port, window)
        except Unread as error:
            yield metric, Fact(None, f"{where}: {error}")
            continue
        detail = tuple(f"{where}: {line}" for line in (*fact.detail, shown))
        yield metric, Fact(fact.value, fact.problem, detail, fact.inapplicable)


def _counters(
    window: Window, port: str, name: str, section: str = "counters"
) -> tuple[float | None, float | None]:
    """Return a counter of a port at both ends of a window. Raises Unread."""
    found = []
    for outcomes in (window.before, window.after):
        rows = told(outcomes, section, SECTIONS, sonic_counters.parse)
        found.append(_of(rows, port))
    if found[0].since != found[1].since:
        raise Unread("somebody has cleared the counters in the run: run it again")
    return found[0].values.get(name), found[1].values.get(name)


def _of(rows: Sequence[PortCounters], port: str) -> PortCounters:
    mine = [row for row in rows if row.port == port]
    if len(mine) != 1:
        raise Unread(f"expected counters of {port} once, found {len(mine) or 'none'}")
    return mine[0]


def _rx_errors(far: Far, port: str, window: Window) -> Fact:
    return Fact(grown("RX_ERR", *_counters(window, port, "rx_errors")))


def _fec_uncorrected(far: Far, port: str, window: Window) -> Fact:
    try:
        values = _counters(window, port, "fec_uncorrected", "fec")
    except Unread as error:
        if error.kind != "not_supported":
            raise
        return Fact(None, inapplicable="this release of the switch shows no FEC counters")
    if values == (None, None):
        return Fact(None, inapplicable="the switch counts no FEC at this port")
    return Fact(grown("FEC_UNCORR", *values))


def _queue_drops(far: Far, port: str, window: Window) -> Fact:
    if not far.lossless:
        name = far.profile.name
        return Fact(None, inapplicable=f"profile {name} declares no lossless priority")
    total, lines = 0, []
    for number in far.lossless:
        values = [_dropped(port, number, one) for one in (window.before, window.after)]
        more = grown(f"drops of queue {number}", *values)
        total += more
        lines.append(f"queue {number} dropped {more:,} packets{peak(port, number, window)}")
    return Fact(total, detail=tuple(lines))


def _dropped(port: str, number: int, outcomes: Outcomes) -> int | None:
    rows = told(outcomes, "drops", SECTIONS, sonic_queues.parse)
    mine = [
        row
        for row in rows
        if row.port == port and row.number == number and row.kind in ("unicast", "all")
    ]
    if len(mine) != 1:
        raise Unread(f"expected queue {number} of {port} once, found {len(mine) or 'none'}")
    return mine[0].dropped_packets


def _pauses(direction: str, port: str, window: Window, lossless: Sequence[int]) -> Fact:
    """Return the pause frames of where no congestion was forced, which are never right."""
    quiet = window.without_congestion()
    if quiet is None:
        told = _paused(direction, port, window, lossless)
        shown = f"{', '.join(told.detail)}: {FORCED}"
        return Fact(None, inapplicable=shown) if told.value else told
    if window.forced:
        moved = sum(grown(name, *_counters(quiet, port, name)) for name in ("rx_ok", "tx_ok"))
        if moved < MOVED:
            why = f"{moved:,} packets before congestion was forced are too few to show pauses"
            return Fact(None, inapplicable=why)
    told = _paused(direction, port, quiet, lossless)
    before = ("before congestion was forced",) if window.forced else ()
    return replace(told, detail=(*told.detail, *before))


def _paused(direction: str, port: str, window: Window, lossless: Sequence[int]) -> Fact:
    before, after = (_frames(direction, port, one) for one in (window.before, window.after))
    lines, total = [], 0
    for priority, pair in enumerate(zip(before, after, strict=True)):
        if pair == (None, None) and priority not in lossless:
            continue
        more = grown(f"PFC{priority}", *pair)
        total += more
        if more:
            lines.append(f"PFC{priority} {direction} +{more:,}")
    return Fact(total, detail=tuple(lines))


def _frames(direction: str, port: str, outcomes: Outcomes) -> tuple[int | None, ...]:
    rows = told(outcomes, "pause", SECTIONS, sonic_pfc.parse)
    mine = [
        row.frames
        for row in rows
        if isinstance(row, sonic_pfc.PauseFrames)
        if row.port == port and row.direction == direction
    ]
    if len(mine) != 1:
        raise Unread(f"expected PFC {direction} of {port} once, found {len(mine) or 'none'}")
    return mine[0]


def _pause_sent(far: Far, port: str, window: Window) -> Fact:
    return _pauses("tx", port, window, far.lossless)


def _pause_received(far: Far, port: str, window: Window) -> Fact:
    return _pauses("rx", port, window, far.lossless)


TELL = {
    "switch.rx_errors": _rx_errors,
    "switch.fec_uncorrected": _fec_uncorrected,
    "switch.queue_drops": _queue_drops,
    "switch.pause_sent": _pause_sent,
    "switch.pause_received": _pause_received,
    "switch.ecn_marked": ecn_marked,
}
