"""The window of a pair: what both ends counted while their tools ran, and what they cannot tell."""

from __future__ import annotations

from pytest_fabric.counters import growth, per_priority, require
from pytest_fabric.errors import CounterError, MeasurementError
from pytest_fabric.measure import blame, window
from pytest_fabric.measure.context import Context, Side
from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import Growth, Snapshot


def window_of(context: Context, ran: blame.Ran) -> window.Window | MeasurementError:
    """Return what grew at both ends while the tools ran, or why that cannot be told."""
    grown: list[Growth] = []
    problems: list[dict[str, str]] = []
    seconds = 0.0
    sides = ((context.client, ran.client_sections), (context.server, ran.server_sections))
    for side, sections in sides:
        try:
            (first, early), (last, late) = (
                window.moment(which, sections, side.end.port, side.end.rdma)
                for which in ("before", "after")
            )
        except MeasurementError as error:
            return error
        deltas, wrong = growth(first, last)
        grown.extend(deltas)
        problems.append({**wrong, **_unknown(last), **_blind(side, deltas)})
        seconds = max(seconds, late - early)
    return window.Window(tuple(grown), window.joined(problems), seconds)


def _blind(side: Side, grown: tuple[Growth, ...]) -> dict[str, str]:
    """Return the pause of lossless priorities that an end cannot count: PFC is off there.

    mlx5 has a pause counter of a priority only while PFC is on for it. A driver that counts PFC as
    a whole only has none ever.
    """
    if not per_priority(side.end.rdma.driver, "pause"):
        return {}
    roce = side.end.rail.profile.roce
    name = str(side.end.port)
    counted = {one.priority for one in grown if one.meaning == "pause"}
    blind = [priority for priority in (roce.lossless if roce else ()) if priority not in counted]
    if not blind:
        return {}
    shown = ", ".join(str(priority) for priority in blind)
    return {"pause": f"{name}: no pause counter of lossless priority {shown}: is PFC on there?"}


def _unknown(shot: Snapshot) -> dict[str, str]:
    """Return the meanings that no counter of a port can tell: they are errors, not zero growth."""
    missing = {}
    for meaning in MEANINGS:
        try:
            require(shot, meaning)
        except CounterError as error:
            missing[meaning] = str(error)
    return missing
