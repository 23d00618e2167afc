"""The directories of counters in sysfs, as fresh as a port's driver and the kernel keep them."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pytest_fabric.lab import drivers
from pytest_fabric.lab.filesystem import Entry, Unreadable
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

#: How long the kernel keeps what it has read of `hw_counters/`: its 10 ms, in whole ticks.
LIFESPAN_S = 0.012

#: Where a counter of errors of 16 bits sticks, and where one of 32 bits begins again.
FULL, BITS_32 = 2**16 - 1, 2**32

#: Where a counter that falls begins, and how many packets make it fall by one.
HIGH, PACKETS_PER_FALL = 2**31, 1000


def counters(
    port: Port,
    tally: Callable[[Port], Tally],
    written: Callable[[Port], Tally],
    uptime: Callable[[], float],
) -> dict[str, Entry]:
    """Return `counters` and `hw_counters`; a driver without a performance agent has but one.

    `tally` is what a port has moved, `written` what its card last wrote of that to memory.
    """
    shape = drivers.of(port)
    shown = tally if shape.is_hardware_live else written
    hardware = _cached(lambda: _entries(port, shape.hardware(port, shown(port)), tally), uptime)
    if not shape.pma(port, Tally()):
        return {"hw_counters": hardware}

    def pma() -> dict[str, Entry]:
        return _entries(port, shape.pma(port, tally(port)), tally)

    return {"counters": pma, "hw_counters": hardware}


def _cached(
    make: Callable[[], dict[str, Entry]], uptime: Callable[[], float]
) -> Callable[[], dict[str, Entry]]:
    """Return a directory that is made anew only when it is older than the kernel's cache."""
    made: list[tuple[float, dict[str, Entry]]] = []

    def directory() -> dict[str, Entry]:
        if not made or uptime() - made[0][0] > LIFESPAN_S:
            made[:] = [(uptime(), make())]
        return made[0][1]

    return directory


def _entries(
    port: Port, values: dict[str, int], tally: Callable[[Port], Tally]
) -> dict[str, Entry]:
    files: dict[str, Entry] = {name: str(value) for name, value in values.items()}
    for name, how in port.quirks.counters.items():
        if name in values:
            files[name] = _odd(how, values[name], tally(port))
    return files


def _odd(how: str, value: int, tally: Tally) -> Entry:
    """Return how a counter is read that is not as it should be."""
    if how == "unreadable":
        return Unreadable(errno.EINVAL)
    if how == "full":
        return str(FULL)
    if how == "falls":
        return str(max(0, HIGH - sum(tally.sent_packets) // PACKETS_PER_FALL))
    return str(value % BITS_32)
