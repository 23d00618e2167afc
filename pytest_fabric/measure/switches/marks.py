"""What the queues of a switch marked while an incast went out of them."""

from __future__ import annotations

from pytest_fabric.measure.switches.far import Far, told
from pytest_fabric.measure.switches.reading import SECTIONS, Window, grown, peak
from pytest_fabric.measure.topics.heard import Outcomes, Unread
from pytest_fabric.results import Fact
from pytest_fabric.tools import sonic_wred


def ecn_marked(far: Far, port: str, window: Window) -> Fact:
    """Return the packets that lossless queues marked while an incast went out of the port."""
    why = _unmarked(far, window)
    if why is not None:
        return Fact(None, inapplicable=why)
    part = window.with_congestion()
    total, lines = 0, []
    for number in far.lossless:
        found = [_marked(port, number, one) for one in (part.before, part.after)]
        if found[0].since != found[1].since:
            raise Unread("somebody has cleared the marks in the run: run it again")
        values = [one.marked_packets for one in found]
        if None in values:
            raise Unread(
                f"the switch does not count the marks of queue {number}: let it (`counterpoll "
                "wredqueue enable`), or see not_available"
            )
        more = grown(f"marks of queue {number}", *values)
        total += more
        lines.append(f"queue {number} marked {more:,} packets{peak(port, number, window)}")
    return Fact(total, detail=tuple(lines))


def _unmarked(far: Far, window: Window) -> str | None:
    """Return why a port need not have marked anything, None where it must."""
    if not far.lossless or not far.has_ecn:
        return f"profile {far.profile.name} declares no lossless priority with ECN"
    if str(far.port) not in window.receivers:
        return "no incast of this run ended there: nothing had to be marked"
    if "marks" not in window.after:
        return "the site has captured no marks.txt (`wredstat -j`)"
    try:
        told(window.after, "marks", SECTIONS, sonic_wred.parse)
    except Unread as error:
        if error.kind in ("tool_missing", "not_supported"):
            return "this release of the switch does not tell marks (`wredstat`, from 202505 on)"
        raise
    return None


def _marked(port: str, number: int, outcomes: Outcomes) -> sonic_wred.Marks:
    rows = told(outcomes, "marks", SECTIONS, sonic_wred.parse)
    mine = [
        row
        for row in rows
        if row.port == port and row.number == number and row.kind in ("unicast", "all")
    ]
    if len(mine) != 1:
        raise Unread(
            f"expected marks of queue {number} of {port} once, found {len(mine) or 'none'}"
        )
    return mine[0]
