"""Pause storms: when our own load holds up more than itself, it must end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_fabric.counters import growth
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import window
from pytest_fabric.measure.context import Side
from pytest_fabric.results import Growth, Measurement, Snapshot

#: A port that was paused for more of the time than this is held up by more than bursts.
PAUSED_SHARE = 0.2


def seen(record: Measurement, load: str) -> str | None:
    """Return the storm that a measurement met, or None.

    The storm counters of a NIC end any load; long pauses end disruptive load only, since one slow
    receiver, which is what a full load is to find, holds up nobody but its sender.
    """
    if record.error is not None and record.error.kind == "pause_storm":
        return record.error.message
    seconds = record.settings.get("duration_s")
    if load == "light" or not isinstance(seconds, int | float):
        return None
    receiver = record.target if record.settings.get("senders") else None
    return storm(unforced(record.growth, receiver), seconds, load == "disruptive")


def unforced(grown: Iterable[Growth], receiver: str | None) -> list[Growth]:
    """Return growth without the pauses that an incast forces on the senders to its receiver."""
    return [
        entry
        for entry in grown
        if receiver is None or entry.meaning != "pause_duration" or entry.port == receiver
    ]


def storm(grown: Iterable[Growth], seconds: float, is_disruptive: bool) -> str | None:
    """Return the storm that counters show within a window of so many seconds, or None."""
    for entry in grown:
        if entry.meaning == "pause_storms" and entry.delta:
            return f"a pause storm shows: {entry}"
        paused = entry.delta / 1e6
        if is_disruptive and entry.meaning == "pause_duration" and paused > PAUSED_SHARE * seconds:
            return f"a pause storm shows: {entry.port} paused {paused:.1f} of {seconds:.1f} s"
    return None


class Watch:
    """Looks at the pause counters of both ends of a run; each call compares with the one before.

    The senders of an incast are to be paused: only its `receiver` is looked at for long pauses.
    """

    def __init__(self, target: str, sides: Sequence[Side], receiver: str | None = None) -> None:
        self._target = target
        self._sides = sides
        self._receiver = receiver
        self._last: dict[str, tuple[Snapshot, float]] = {}

    def __call__(self) -> None:
        """Raise MeasurementError when a storm shows since the last call."""
        for side in self._sides:
            end = side.end
            now = window.read(side.session, end.port, end.rdma, end.rail.profile.sudo)
            before, self._last[str(end.port)] = self._last.get(str(end.port)), now
            if before is None:
                continue
            deltas, _ = growth(before[0], now[0])
            found = storm(
                unforced(deltas, self._receiver), max(0.1, now[1] - before[1]), is_disruptive=True
            )
            if found is not None:
                raise MeasurementError(self._target, "pause_storm", f"ended, since {found}")
