"""Pause storms: when our own load holds up more than itself, it must end."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fabric.results import Growth, Measurement

#: A port that was paused for more of the time than this is held up by more than bursts.
PAUSED_SHARE = 0.2


def seen(record: Measurement, load: str) -> str | None:
    """Return the storm that a measurement's counters show, or None.

    The storm counters of a NIC end any load; long pauses end disruptive load only, since one slow
    receiver, which is what a full load is to find, holds up nobody but its sender.
    """
    seconds = record.settings.get("duration_s")
    if load == "light" or not isinstance(seconds, int | float):
        return None
    return storm(record.growth, seconds, load == "disruptive")


def storm(growth: Iterable[Growth], seconds: float, is_disruptive: bool) -> str | None:
    """Return the storm that counters show within a window of so many seconds, or None."""
    for grown in growth:
        if grown.meaning == "pause_storms" and grown.delta:
            return f"a pause storm shows: {grown}"
        paused = grown.delta / 1e6
        if is_disruptive and grown.meaning == "pause_duration" and paused > PAUSED_SHARE * seconds:
            return f"a pause storm shows: {grown.port} paused {paused:.1f} of {seconds:.1f} s"
    return None
